"""Commands that keep running: ``up``, ``serve`` and ``work``; and the demo."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyphaedb.config import Config
from hyphaedb.entrypoints.cli import running
from hyphaedb.entrypoints.cli.calling import JsonOption, run
from hyphaedb.entrypoints.cli.logs import to_stderr
from hyphaedb.entrypoints.cli.place import settings
from hyphaedb.entrypoints.cli.printing import note, say, say_json
from hyphaedb.errors import Conflict, Unavailable

if TYPE_CHECKING:
    from hyphaedb.mesh import Home

log = logging.getLogger(__name__)

PortOption = Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")]
HostOption = Annotated[str | None, typer.Option(help="Address; of this machine only.")]

#: How long to wait before a database that is away is asked again.
AWAY_S = 2.0
#: What a shell expects of a program that an interrupt ended.
INTERRUPTED = 130


def add(app: typer.Typer) -> None:
    """Put these commands on the command line."""

    @app.command("up")
    def up(host: HostOption = None, port: PortOption = None, as_json: JsonOption = False) -> None:
        """Start everything: Postgres, a worker and the server. Begin here."""
        config = _config(host, port)
        _keep(_serve(config, worker=True, first_mesh=True, as_json=as_json))

    @app.command("serve")
    def serve(
        host: HostOption = None,
        port: PortOption = None,
        worker: Annotated[bool, typer.Option(help="Run waves in this process.")] = True,
        as_json: JsonOption = False,
    ) -> None:
        """Start the server; with --no-worker, waves are left to `hyphaedb work`."""
        config = _config(host, port)
        _keep(_serve(config, worker=worker, first_mesh=False, as_json=as_json))

    @app.command("work")
    def work(
        mesh: Annotated[str | None, typer.Option(help="Only this mesh; else every one.")] = None,
        as_json: JsonOption = False,
    ) -> None:
        """Run waves, until interrupted. Any number may run, on any machine."""
        _keep(_work(settings(), mesh, as_json))

    @app.command("demo")
    def demo(
        fast: Annotated[bool, typer.Option("--fast", help="Do not wait for the reader.")] = False,
        keep: Annotated[bool, typer.Option("--keep", help="Leave its mesh behind.")] = False,
        as_json: JsonOption = False,
    ) -> None:
        """Watch knowledge move between agents, on real text."""
        from hyphaedb.entrypoints.demo.main import run as show

        raise typer.Exit(run(show(settings(), as_json=as_json, fast=fast, keep=keep)))


def _config(host: str | None, port: int | None) -> Config:
    config = settings()
    return replace(
        config,
        host=config.host if host is None else host,
        port=config.port if port is None else port,
    )


def _keep(coroutine: Coroutine[Any, Any, int | None]) -> None:
    to_stderr(logging.INFO)
    code = run(coroutine)
    if code:
        raise typer.Exit(code)


@contextmanager
def _signals(stop: asyncio.Event) -> Iterator[list[int]]:
    """Let an interrupt or a polite kill set ``stop``; a second one acts at once."""
    came: list[int] = []
    loop = asyncio.get_running_loop()
    before: dict[signal.Signals, Any] = {}

    def caught(number: int, _: object) -> None:
        came.append(number)
        loop.call_soon_threadsafe(stop.set)
        for which, handler in before.items():
            signal.signal(which, handler)

    for which in (signal.SIGINT, signal.SIGTERM):
        before[which] = signal.signal(which, caught)
    try:
        yield came
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)


async def _serve(config: Config, *, worker: bool, first_mesh: bool, as_json: bool) -> int:
    from hyphaedb.entrypoints.rest.app import create_app
    from hyphaedb.entrypoints.rest.serving import bound, serve
    from hyphaedb.mesh import Home

    # First the port: whoever has it, nothing has been started yet.
    listener = bound(config.host, config.port)
    port = int(listener.getsockname()[1])
    stop = asyncio.Event()
    with _signals(stop) as came, listener:
        async with await Home.open(config) as home:
            made = await _first_mesh(home, config) if first_mesh else None
            app = create_app(home, config, worker=worker)
            with running.announced(config, config.host, port):
                _welcome(config, port, made, worker, as_json)
                working = [_waves(home, stop, None)] if worker else []
                await _together(stop, serve(app, listener, stop), *working)
    return INTERRUPTED if signal.SIGINT in came else 0


async def _together(stop: asyncio.Event, *parts: Coroutine[Any, Any, None]) -> None:
    """Run parts that end with ``stop``; the first to end, or to fail, ends the others."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.set()
        for task in tasks:
            await task


async def _waves(home: Home, stop: asyncio.Event, mesh: str | None) -> None:
    """Run waves until ``stop``. A database that is away is waited for, not died of."""
    while not stop.is_set():
        try:
            await home.work(stop, mesh)
        except Unavailable as error:
            log.warning("database_away", extra={"reason": error.message})
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), AWAY_S)


async def _first_mesh(home: Home, config: Config) -> str | None:
    """Make the configured mesh, or say how: beside others, a typo must not make one.

    The name that ships was typed by nobody, so it is made even where a demo or a script has
    left a mesh: every command without ``--mesh`` works in it.
    """
    there = [info.name for info in await home.meshes()]
    if config.mesh in there:
        return None
    if there and config.mesh != Config().mesh:
        note(
            f"There is no mesh named {config.mesh!r} yet, in which commands without --mesh would "
            f"work. If that is what you meant: hyphaedb mesh create {config.mesh}"
        )
        return None
    try:
        return (await home.create(config.mesh)).name
    except Conflict:  # another process was a moment faster
        return None


def _welcome(config: Config, port: int, made: str | None, worker: bool, as_json: bool) -> None:
    host = f"[{config.host}]" if ":" in config.host else config.host
    url = f"http://{host}:{port}"
    if as_json:
        say_json({"url": url, "mesh": config.mesh, "made": made is not None, "worker": worker})
        return
    place = "your Postgres" if config.database_url else "the embedded Postgres"
    waves = "waves run here" if worker else "waves are left to `hyphaedb work`"
    lines = [
        f"HyphaeDB is up at {url}, on {place}; {waves}.",
        *([f"Made the mesh {made!r}."] if made else []),
        "",
        "In another terminal:",
        "  hyphaedb agent add ada --interests 'the public API and its clients'",
        "  hyphaedb agent add bob",
        "  hyphaedb store 'The public API allows 100 requests a minute.' --agent bob -t decision",
        "  hyphaedb inbox ada",
        "",
        f"The HTTP interface is described at {url}/openapi.json. Ctrl-C ends it.",
    ]
    say(lines)
    sys.stdout.flush()


async def _work(config: Config, mesh: str | None, as_json: bool) -> int:
    from hyphaedb.mesh import Home

    stop = asyncio.Event()
    with _signals(stop) as came:
        async with await Home.open(config) as home:
            if as_json:
                say_json({"working": mesh or "every mesh"})
            else:
                say([f"Running the waves of {mesh or 'every mesh'}. Ctrl-C ends it."])
                sys.stdout.flush()
            await _waves(home, stop, mesh)
    return INTERRUPTED if signal.SIGINT in came else 0
