"""Commands that put knowledge in, take it out and ask for it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, cast

import typer

from hyphaedb.entrypoints.cli import show_cells
from hyphaedb.entrypoints.cli.calling import an_id, command, told
from hyphaedb.errors import Invalid
from hyphaedb.model import (
    Cell,
    CellId,
    CellType,
    EdgeKind,
    Filter,
    NewCell,
    Recalled,
    RecallMode,
    Receipt,
    Stored,
    Wait,
)
from hyphaedb.verbs import Verbs

Body = Annotated[str, typer.Argument(help="The text, or - to read it from standard input.")]
Author = Annotated[str, typer.Option("--agent", "-a", help="Who says it; must be registered.")]
Type = Annotated[str, typer.Option("--type", "-t", help="One of the nine cell types.")]
Tags = Annotated[list[str], typer.Option("--tag", help="A tag; may be given again.")]
Salience = Annotated[float, typer.Option(help="How much it matters, from 0 to 1.")]
OtherType = Annotated[
    str | None, typer.Option("--type", "-t", help="Another cell type than the old one's.")
]
OtherSalience = Annotated[float | None, typer.Option(help="Another salience than the old one's.")]
INACTIVE = "Replaced, retracted and expired ones too."
Id = Annotated[str, typer.Argument(metavar="CELL", help="The id of a cell.")]


def body_text(argument: str) -> str:
    """The text itself, or standard input for ``-``; raises Invalid for bytes that are no text."""
    if argument != "-":
        return argument
    try:
        return sys.stdin.buffer.read().decode().strip()
    except UnicodeDecodeError:
        raise Invalid("Standard input is not UTF-8.", "Convert it to UTF-8 first.") from None


def metadata(pairs: Sequence[str]) -> dict[str, Any]:
    """``name=value`` options; a value that is JSON counts as such, any other as text."""
    from hyphaedb.wire.answers import parsed

    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Invalid(f"{pair!r} is no metadata.", "Give --meta NAME=VALUE.")
        try:
            found[name] = parsed(value)
        except Invalid:
            found[name] = value
    return found


def moment(text: str | None, option: str) -> datetime | None:
    """A time as ISO 8601 has it, without a zone in the local one; raises Invalid."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        # A zone that is named stays: near the ends of the calendar another cannot say the time.
        return found if found.tzinfo is not None else found.astimezone()
    except (ValueError, OverflowError):
        raise Invalid(f"{option} is {text!r}.", "Give a time such as 2026-01-31T12:00.") from None


def a_type(text: str) -> CellType:
    """A cell type, or the text as it is: the service says which there are."""
    return CellType(text) if text in list(CellType) else cast(CellType, text)


def add(app: typer.Typer) -> None:
    """Put these commands on the command line."""
    _writing(app)
    _replacing(app)
    _asking(app)


def _writing(app: typer.Typer) -> None:
    @command(app, "store", show=show_cells.stored, pumps=True)
    async def store(
        mesh: Verbs,
        body: Body,
        agent: Author,
        type: Type = CellType.FACT.value,  # noqa: A002  the option's name
        salience: Salience = 0.6,
        confidence: Annotated[float, typer.Option(help="How sure it is, 0 to 1.")] = 0.7,
        tag: Tags = [],  # noqa: B006  Typer makes a fresh list
        meta: Annotated[list[str], typer.Option(help="NAME=VALUE; may be given again.")] = [],  # noqa: B006
        ref: Annotated[str | None, typer.Option(help="Branch or commit it holds for.")] = None,
        session: Annotated[str | None, typer.Option(help="The session it comes from.")] = None,
        source: Annotated[list[str], typer.Option(help="A cell it rests on.")] = [],  # noqa: B006
        key: Annotated[str | None, typer.Option(help="Idempotency key.")] = None,
        wait: Annotated[bool, typer.Option("--wait", help="Wait for its wave.")] = False,
    ) -> Stored:
        """Store a cell and publish it."""
        cell = NewCell(
            body=body_text(body),
            type=a_type(type),
            salience=salience,
            confidence=confidence,
            tags=tuple(tag),
            metadata=metadata(meta),
            ref=ref,
            session=session,
            sources=tuple(an_id(one) for one in source),
        )
        waiting = Wait.DELIVERED if wait else Wait.ACCEPTED
        return await mesh.store(cell, agent=agent, idempotency_key=key, wait=waiting)

    @command(app, "forget", show=told("Erased, with {} deliveries."), key="erased")
    async def forget(mesh: Verbs, cell: Id) -> int:
        """Erase a cell everywhere at once, inboxes included.

        Postgres's files and backups hold the bytes until a vacuum, a checkpoint and their own end.
        """
        return await mesh.forget(an_id(cell))

    @command(app, "confirm", show=show_cells.cell)
    async def confirm(mesh: Verbs, cell: Id, agent: Author) -> Cell:
        """Say that an agent independently holds a cell to be true."""
        return await mesh.confirm(an_id(cell), agent=agent)

    @command(app, "relate", show=told("Related."), key="related")
    async def relate(
        mesh: Verbs,
        src: Id,
        dst: Id,
        kind: Annotated[EdgeKind, typer.Option(help="What the edge says.")] = EdgeKind.CAUSAL,
        omega: Annotated[float, typer.Option(help="Its weight; a hop costs 1 over it.")] = 1.0,
    ) -> bool:
        """Add a typed edge between two cells; again changes its weight."""
        await mesh.relate(an_id(src), an_id(dst), kind=kind, omega=omega)
        return True


async def _replacement(
    mesh: Verbs, cell: CellId, body: str, kind: str | None, salience: float | None, tag: list[str]
) -> NewCell | str:
    """The new words with what was said anew beside them; what was not stays as it was."""
    words = body_text(body)
    if kind is None and salience is None and not tag:
        return words
    old = await mesh.cell(cell)
    return NewCell(
        words,
        type=old.type if kind is None else a_type(kind),
        salience=old.salience if salience is None else salience,
        confidence=old.confidence,
        tags=tuple(tag) or old.tags,
        metadata=old.metadata,
        ref=old.ref,
    )


def _replacing(app: typer.Typer) -> None:
    @command(app, "update", show=show_cells.stored, pumps=True)
    async def update(
        mesh: Verbs,
        cell: Id,
        body: Body,
        agent: Author,
        type: OtherType = None,  # noqa: A002
        salience: OtherSalience = None,
        tag: Tags = [],  # noqa: B006
    ) -> Stored:
        """Say the same thing better: what is not said anew stays as it was."""
        old = an_id(cell)
        new = await _replacement(mesh, old, body, type, salience, tag)
        return await mesh.update(old, new, agent=agent)

    @command(app, "supersede", show=show_cells.stored, pumps=True)
    async def supersede(
        mesh: Verbs,
        cell: Id,
        body: Body,
        agent: Author,
        type: OtherType = None,  # noqa: A002
        salience: OtherSalience = None,
        tag: Tags = [],  # noqa: B006
    ) -> Stored:
        """Overturn a cell, as `update` does, and tell everyone who had received it."""
        old = an_id(cell)
        new = await _replacement(mesh, old, body, type, salience, tag)
        return await mesh.supersede(old, new, agent=agent)

    @command(app, "retract", show=show_cells.retracted, pumps=True)
    async def retract(
        mesh: Verbs,
        cell: Id,
        agent: Author,
        reason: Annotated[str, typer.Option(help="Why it is taken back.")],
    ) -> Stored:
        """Take a cell back: everyone who had received it is told, and why."""
        return await mesh.retract(an_id(cell), agent=agent, reason=reason)


def _asking(app: typer.Typer) -> None:
    @command(app, "recall", show=show_cells.recalled)
    async def recall(
        mesh: Verbs,
        query: Annotated[str, typer.Argument(help="What to look for; - reads standard input.")],
        agent: Annotated[str | None, typer.Option("--agent", "-a", help="Who asks.")] = None,
        session: Annotated[str | None, typer.Option(help="The session asking.")] = None,
        k: Annotated[int | None, typer.Option("-k", help="Hits at most.")] = None,
        mode: Annotated[RecallMode, typer.Option(help="Which lists to ask.")] = RecallMode.FULL,
        type: Annotated[list[str], typer.Option("--type", "-t", help="Only this type.")] = [],  # noqa: A002, B006
        tag: Annotated[list[str], typer.Option(help="Only with this tag.")] = [],  # noqa: B006
        meta: Annotated[list[str], typer.Option(help="Only with NAME=VALUE.")] = [],  # noqa: B006
        by: Annotated[list[str], typer.Option(help="Only by this agent.")] = [],  # noqa: B006
        from_session: Annotated[str | None, typer.Option(help="Only from this session.")] = None,
        ref: Annotated[str | None, typer.Option(help="Only this branch or commit.")] = None,
        since: Annotated[str | None, typer.Option(help="Not older than this time.")] = None,
        until: Annotated[str | None, typer.Option(help="Not younger than this time.")] = None,
        inactive: Annotated[bool, typer.Option("--inactive", help=INACTIVE)] = False,
        as_of: Annotated[str | None, typer.Option(help="As it was at this time.")] = None,
        floor: Annotated[float | None, typer.Option(help="Least evidence of an answer.")] = None,
        tokens: Annotated[int | None, typer.Option(help="Token budget.")] = None,
    ) -> Recalled:
        """Ask: the cells that answer, best first."""
        where = Filter(
            types=tuple(a_type(one) for one in type),
            tags=tuple(tag),
            metadata=metadata(meta),
            agents=tuple(by),
            session=from_session,
            ref=ref,
            since=moment(since, "--since"),
            until=moment(until, "--until"),
            include_inactive=inactive,
        )
        return await mesh.recall(
            body_text(query),
            agent=agent,
            session=session,
            k=k,
            mode=mode,
            where=where,
            as_of=moment(as_of, "--as-of"),
            floor=floor,
            tokens=tokens,
        )

    @command(app, "cell", show=show_cells.cell)
    async def cell(mesh: Verbs, cell: Id) -> Cell:
        """Show one cell, whatever its state."""
        return await mesh.cell(an_id(cell))

    @command(app, "receipt", show=show_cells.receipt)
    async def receipt(mesh: Verbs, cell: Id) -> Receipt:
        """What became of a cell: delivered to whom, read by whom."""
        return await mesh.receipt(an_id(cell))
