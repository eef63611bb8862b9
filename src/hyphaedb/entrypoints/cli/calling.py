"""From a verb to a command: options, connection, pumping and printing, written once.

A command is an async function whose first parameter is the mesh. :func:`command` adds
``--mesh``, ``--url`` and ``--json`` to its options, opens the mesh, and prints what it returns.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar, cast
from uuid import UUID

import typer

from hyphaedb.entrypoints.cli.place import Place, opened
from hyphaedb.entrypoints.cli.printing import say, say_json
from hyphaedb.entrypoints.cli.pumping import settled, spread
from hyphaedb.errors import Invalid
from hyphaedb.model import CellId, Stored
from hyphaedb.sync import runner
from hyphaedb.verbs import Verbs

P = ParamSpec("P")
T = TypeVar("T")

Show = Callable[[T], Iterable[str]]

MeshOption = Annotated[
    str | None, typer.Option("--mesh", metavar="NAME", help="The mesh to work in.")
]
UrlOption = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="A HyphaeDB server to ask.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_SHARED = (
    inspect.Parameter("mesh_name", inspect.Parameter.KEYWORD_ONLY, default=None,
                      annotation=MeshOption),
    inspect.Parameter("url", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=UrlOption),
    inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False,
                      annotation=JsonOption),
)  # fmt: skip


def told(template: str) -> Callable[[object], list[str]]:
    """A ``show`` that puts the answer into a sentence."""
    return lambda answer: [template.format(answer)]


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a loop of its own."""
    with runner() as loop:
        return loop.run(coroutine)


def command(
    app: typer.Typer,
    name: str,
    *,
    show: Show[T],
    key: str | None = None,
    pumps: bool = False,
    exit_code: Callable[[T], int] | None = None,
) -> Callable[[Callable[Concatenate[Verbs, P], Awaitable[T]]], Callable[..., None]]:
    """Register an async function of a mesh as the command ``name``.

    ``show`` turns its answer into lines; ``key`` names the answer in JSON where it is no object.
    With ``pumps`` a mesh opened here runs waves, and what the command made is waited for.
    ``exit_code`` reads the answer where success is not all there is to say.
    """

    def register(verb: Callable[Concatenate[Verbs, P], Awaitable[T]]) -> Callable[..., None]:
        ask: Callable[..., Awaitable[T]] = verb

        async def once(place: Place, arguments: dict[str, Any]) -> T:
            async with opened(place, pumps=pumps) as at:
                answer = await ask(at.mesh, **arguments)
                if not pumps or not at.here or at.mesh.info.paused:
                    return answer
                if isinstance(answer, Stored):
                    return cast(T, await settled(at.mesh, answer))
                await spread(at.mesh)
                return answer

        def call(**arguments: Any) -> None:
            place = _place(arguments)
            answer = run(once(place, arguments))
            if place.as_json:
                say_json(answer if key is None else {key: answer})
            else:
                say(show(answer))
            if exit_code is not None:
                raise typer.Exit(exit_code(answer))

        return _registered(app, name, verb, call)

    return register


def streaming(
    app: typer.Typer, name: str, *, show: Show[T]
) -> Callable[[Callable[Concatenate[Verbs, P], AsyncIterator[T]]], Callable[..., None]]:
    """The same for a stream: an answer is printed when it comes, in JSON one object a line."""

    def register(verb: Callable[Concatenate[Verbs, P], AsyncIterator[T]]) -> Callable[..., None]:
        ask: Callable[..., AsyncIterator[T]] = verb

        async def endless(place: Place, arguments: dict[str, Any]) -> None:
            async with opened(place, pumps=True) as at:
                async for answer in ask(at.mesh, **arguments):
                    if place.as_json:
                        say_json(answer)
                    else:
                        say(show(answer))

        def call(**arguments: Any) -> None:
            place = _place(arguments)
            run(endless(place, arguments))

        return _registered(app, name, verb, call)

    return register


def _place(arguments: dict[str, Any]) -> Place:
    return Place(arguments.pop("mesh_name"), arguments.pop("url"), arguments.pop("as_json"))


def _registered(
    app: typer.Typer, name: str, verb: Callable[..., Any], call: Callable[..., None]
) -> Callable[..., None]:
    signature = inspect.signature(verb, eval_str=True)
    own = list(signature.parameters.values())[1:]
    parameters = [*(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own), *_SHARED]
    # Typer reads a command's options from these three.
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    call.__doc__ = verb.__doc__
    app.command(name)(call)
    return call


def an_id(text: str) -> CellId:
    """An id from the command line; raises Invalid."""
    try:
        return CellId(UUID(text))
    except ValueError:
        raise Invalid(f"{text!r} is no id.", "Give an id as HyphaeDB printed it.") from None
