"""Everything that may touch one cell at once, at once: nobody waits in a ring."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from hyphaedb.model import CellId, CellState
from hyphaedb.store import access, bulk, cells, graph, search
from hyphaedb.store.access import MeshPart, MeshRow
from hyphaedb.store.graph import NewLinks
from hyphaedb.store.pool import Database, Tx
from tests.store.scenery import NOW, a_cell, an_agent

CELLS = 40


async def test_erasing_reading_confirming_closing_and_draining_never_deadlock(
    database: Database, mesh: MeshRow
) -> None:
    """A deadlock would end one of them as Unavailable."""
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
        made = [a_cell(mesh, ada, f"contended {n}", seed=n) for n in range(CELLS)]
        await bulk.insert_cells(tx, mesh_id, [(cell, None) for cell in made])
        links = [NewLinks(n, c.cell_id, [], []) for n, c in enumerate(made)]
        await graph.insert_links(tx, mesh_id, 0, links)
    ids = [c.cell_id for c in made]

    async def each(order: list[CellId], act: Callable[[Tx, CellId], Awaitable[object]]) -> None:
        for cell_id in order:
            async with database.transaction() as tx:
                await act(tx, cell_id)

    async def touch(tx: Tx, _: CellId) -> None:
        await cells.touch(tx, mesh_id, bob.holder_id, ids, day=1, session_id=None, now=NOW)

    async def use(tx: Tx, _: CellId) -> None:
        await cells.mark_used(tx, mesh_id, bob.holder_id, ids[::-1], day=1, now=NOW)

    async def confirm(tx: Tx, cell_id: CellId) -> bool:
        return await cells.confirm(tx, mesh_id, cell_id, bob.holder_id, 1, NOW)

    async def close(tx: Tx, cell_id: CellId) -> bool:
        return await cells.close_cell(tx, mesh_id, cell_id, CellState.SUPERSEDED, NOW)

    async def drain(tx: Tx, _: CellId) -> int:
        return await search.drain(tx, mesh_id, 4)

    async def forget(tx: Tx, cell_id: CellId) -> bool:
        return await cells.forget(tx, mesh_id, cell_id)

    await asyncio.gather(
        each(ids, touch),
        each(ids, use),
        each(ids, confirm),
        each(ids[::2], close),
        each(ids, drain),
        each(ids, drain),
        each(ids, forget),
        each(ids[::-1], forget),
    )
    async with database.read() as tx:
        assert await cells.cells(tx, mesh_id, ids) == []
        assert await cells.vectors(tx, mesh_id, ids) == {}


async def test_a_drop_and_a_reader_never_wait_for_each_other_in_a_ring(
    database: Database, mesh: MeshRow
) -> None:
    """Also where the server goes by the order on disk, which is not that of ids."""
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        made = [a_cell(mesh, ada, f"scattered {n}", seed=n) for n in range(CELLS)]
        random.Random(5).shuffle(made)
        for cell in made:
            await bulk.insert_cells(tx, mesh_id, [(cell, None)])
    ids = sorted(c.cell_id for c in made)

    async def drop() -> int:
        async with database.transaction() as tx:
            # As it may plan on a large table; on this small one it would not.
            await tx.execute(b"SET LOCAL enable_indexscan = off")
            return await access.drop_part(tx, mesh_id, MeshPart.CELLS)

    async def touch() -> None:
        async with database.transaction() as tx:
            await cells.touch(tx, mesh_id, ada.holder_id, ids, day=1, session_id=None, now=NOW)

    async with database.transaction() as tx:
        # The drop gets half of them and waits; the reader comes after it.
        await cells.hold(tx, mesh_id, [made[CELLS // 2].cell_id])
        dropping = asyncio.create_task(drop())
        await asyncio.sleep(0.2)
        touching = asyncio.create_task(touch())
        await asyncio.sleep(0.2)
    await touching
    assert await dropping == CELLS
