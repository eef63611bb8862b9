"""``hyphaedb import``: many cells from a file of JSON lines, with progress."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Annotated

import typer

from hyphaedb.entrypoints.cli.calling import command
from hyphaedb.entrypoints.cli.knowledge import Author
from hyphaedb.entrypoints.cli.printing import note
from hyphaedb.entrypoints.cli.progress import Progress
from hyphaedb.errors import HyphaeError, Invalid, LimitReached
from hyphaedb.model import NewCell, Stored, StoreOutcome
from hyphaedb.verbs import Verbs

#: Cells of one transaction: some seconds of embedding, so that progress is seen.
BATCH_CELLS = 200
#: Below the server's body limit, which a batch of long cells would meet first.
BATCH_BYTES = 600_000
#: Waits for a full backlog to drain before the import gives up; ten minutes at the server's pace.
WAITS_MAX = 120


def add(app: typer.Typer) -> None:
    """Put this command on the command line."""

    @command(app, "import", show=_told, pumps=True)
    async def import_(
        mesh: Verbs,
        file: Annotated[str, typer.Argument(help="JSON lines, each a cell; - for stdin.")],
        agent: Author,
        session: Annotated[str | None, typer.Option(help="The session they come from.")] = None,
    ) -> dict[str, int]:
        """Store many cells. A line is an object with `body` and, if you like, `type`, `salience`,
        `confidence`, `tags`, `metadata`, `ref`, `session`, `valid_from` and `expires_at`.
        """
        with ExitStack() as stack:
            source = _opened(stack, file)
            progress = stack.enter_context(Progress("storing", _length(file)))
            return await _import(mesh, source, agent, session, progress)


async def _import(
    mesh: Verbs, source: IO[bytes], agent: str, session: str | None, progress: Progress
) -> dict[str, int]:
    counts: Counter[StoreOutcome] = Counter()
    try:
        for cells, size in _batches(source):
            stored = await _patiently(mesh, cells, agent, session)
            counts.update(one.outcome for one in stored)
            progress.advance(size)
    except HyphaeError:
        if counts:
            note(f"{_summary(_named(counts))} before the error; again is harmless.")
        raise
    return _named(counts)


async def _patiently(
    mesh: Verbs, cells: list[NewCell], agent: str, session: str | None
) -> list[Stored]:
    """Store one batch, giving a full backlog time to drain."""
    for _ in range(WAITS_MAX):
        try:
            return list(await mesh.store_many(cells, agent=agent, session=session))
        except LimitReached as full:
            await asyncio.sleep(full.retry_after_s or 1.0)
    return list(await mesh.store_many(cells, agent=agent, session=session))


def _batches(source: IO[bytes]) -> Iterator[tuple[list[NewCell], int]]:
    """Cells in batches, with the bytes they took; raises Invalid with the line's number."""
    from pydantic import ValidationError

    from hyphaedb.wire.problems import invalid_of
    from hyphaedb.wire.requests import CellBody

    cells: list[NewCell] = []
    size = 0
    for number, line in enumerate(source, 1):
        if not line.strip():
            continue
        if cells and (len(cells) == BATCH_CELLS or size + len(line) > BATCH_BYTES):
            yield cells, size
            cells, size = [], 0
        try:
            cells.append(CellBody.model_validate_json(line).to_model())
        except ValidationError as error:
            invalid = invalid_of(error.errors())
            raise Invalid(f"Line {number}: {invalid.message}", invalid.remedy) from None
        size += len(line)
    if cells:
        yield cells, size


def _opened(stack: ExitStack, file: str) -> IO[bytes]:
    if file == "-":
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(file).open("rb"))
    except OSError as error:
        raise Invalid(f"{file}: {error.strerror}.", "Name a file that can be read.") from None


def _length(file: str) -> int | None:
    return None if file == "-" or not Path(file).is_file() else Path(file).stat().st_size


def _named(counts: Counter[StoreOutcome]) -> dict[str, int]:
    return {outcome.value: counts[outcome] for outcome in StoreOutcome}


def _told(counts: dict[str, int]) -> list[str]:
    return [f"{_summary(counts)}."]


def _summary(counts: dict[str, int]) -> str:
    return "Stored: " + ", ".join(f"{number:,} {name}" for name, number in counts.items())
