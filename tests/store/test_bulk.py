"""Importing: a batch is written as single stores would be, or not at all."""

from __future__ import annotations

import pytest

from hyphaedb.store import bulk, cells, journal, search
from hyphaedb.store.access import MeshRow
from hyphaedb.store.pool import Database
from tests.store.scenery import NOW, a_cell, a_diff, an_agent


async def test_a_batch_is_stored_like_single_cells(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        made = [
            a_cell(mesh, ada, f"imported {n}", tags=("t",), metadata={"n": n}, session="import")
            for n in range(5)
        ]
        batch = [(cell, a_diff(cell) if n % 2 else None) for n, cell in enumerate(made)]
        done = await bulk.insert_cells(tx, mesh_id, batch)
        found = await cells.cells(tx, mesh_id, [c.cell_id for c in made])
        waiting = await journal.count_pending(tx, mesh_id, 100)
        tail = await search.tail_count(tx, mesh_id)
    assert [(d.cell_id, d.created) for d in done] == [(c.cell_id, True) for c in made]
    assert [(f.body, f.tags, f.metadata, f.session) for f in found] == [
        (f"imported {n}", ("t",), {"n": n}, "import") for n in range(5)
    ]
    assert (waiting, tail) == (2, 5)


async def test_what_was_there_or_comes_twice_is_named_instead_of_copied(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
        old = a_cell(mesh, ada, "known")
        await cells.insert_cell(tx, mesh_id, old, None)
        batch = [a_cell(mesh, bob, body) for body in ("known", "new", "new")]
        done = await bulk.insert_cells(tx, mesh_id, [(cell, None) for cell in batch])
        again = await bulk.insert_cells(tx, mesh_id, [(a_cell(mesh, bob, "newer"), None)])
    assert [(d.cell_id, d.created) for d in done] == [
        (old.cell_id, False), (batch[1].cell_id, True), (batch[1].cell_id, False),
    ]  # fmt: skip
    assert again[0].created


async def test_an_empty_batch_and_one_too_large(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        assert await bulk.insert_cells(tx, mesh.info.mesh_id, []) == []
        cell = a_cell(mesh, ada, "many", at=NOW)
        with pytest.raises(ValueError, match="at most 5000"):
            await bulk.insert_cells(tx, mesh.info.mesh_id, [(cell, None)] * 5001)
