"""What was read leaves a footprint soon after, whatever happens beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hyphaedb.engine.members import Members
from hyphaedb.engine.reader_trace import ReaderTrace
from hyphaedb.model import CellId
from hyphaedb.store import cells
from hyphaedb.store.pool import Database
from tests.engine.scenes import eventually, text
from tests.engine.world import World


class Library:
    """A world of one reader and some cells to read."""

    def __init__(self, world: World, found: list[CellId]) -> None:
        self.world = world
        self.cells = found

    @classmethod
    async def make(cls, database: Database, seed: int) -> Library:
        world = await World.make(database, seed, 1)
        await world.mesh.register("ann")
        await world.mesh.register("bob")
        stored = [await world.mesh.store(text("limits"), agent="ann") for _ in range(2)]
        return cls(world, [s.cell_id for s in stored])

    async def reads(self, trace: ReaderTrace, *read: CellId) -> None:
        reader = await Members(self.world.faces).active("bob")
        trace.note(reader, read, None)

    async def recalls(self) -> list[int]:
        """How often each cell was noted as read."""
        query = "SELECT recalls FROM hyphaedb.cell_stats WHERE mesh_id = %(mesh)s ORDER BY cell_id"
        return [r[0] for r in await self.world.rows(query)]

    @asynccontextmanager
    async def held(self, cell_id: CellId) -> AsyncIterator[None]:
        """Whoever notes that this cell was read waits meanwhile."""
        async with self.world.faces.database.transaction() as tx:
            await cells.hold_to_touch(tx, self.world.mesh_id, [cell_id])
            yield


async def test_what_is_read_while_notes_are_written_is_noted_too(database: Database) -> None:
    library = await Library.make(database, 4_301)
    trace = ReaderTrace(library.world.faces)
    async with library.held(library.cells[0]):
        await library.reads(trace, library.cells[0])
        await asyncio.sleep(0.8)
        await library.reads(trace, library.cells[1])

    async def both() -> bool:
        return await library.recalls() == [1, 1]

    await eventually(both, 5)


async def test_closing_waits_for_notes_that_are_being_written(database: Database) -> None:
    library = await Library.make(database, 4_302)
    trace = ReaderTrace(library.world.faces)
    async with library.held(library.cells[0]):
        await library.reads(trace, library.cells[0])
        await asyncio.sleep(0.8)
        closing = asyncio.create_task(trace.close())
        await asyncio.sleep(0.1)
    await closing

    assert await library.recalls() == [1, 0]


async def test_two_processes_that_note_the_same_cells_never_deadlock(database: Database) -> None:
    """Each writes several reads at once, and they read in opposite order."""
    library = await Library.make(database, 4_303)
    one, other = library.cells
    for _ in range(10):
        traces = [ReaderTrace(library.world.faces) for _ in range(2)]
        for trace, order in zip(traces, ((one, other), (other, one)), strict=True):
            for cell_id in order:
                await library.reads(trace, cell_id)
        await asyncio.gather(*(trace.close() for trace in traces))

    assert await library.recalls() == [20, 20]


async def test_a_cell_that_was_erased_since_leaves_no_word_for_the_worker(
    database: Database,
) -> None:
    """It would keep the touch for a cell that never comes."""
    library = await Library.make(database, 4_304)
    trace = ReaderTrace(library.world.faces)
    await library.reads(trace, *library.cells)
    await library.world.mesh.forget(library.cells[0])
    await trace.close()

    query = "SELECT subject FROM hyphaedb.signal WHERE mesh_id = %(mesh)s AND kind = 'recalled'"
    assert await library.world.rows(query) == [(library.cells[1],)]
