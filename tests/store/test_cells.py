"""Storing: one statement, one cell for one text, confirmations that count once."""

from __future__ import annotations

import asyncio

from hyphaedb.model import CellState
from hyphaedb.store import agents, cells, journal, traces
from hyphaedb.store.access import MeshRow
from hyphaedb.store.pool import Database
from tests.store.scenery import NOW, a_cell, a_diff, an_agent, later


async def test_a_stored_cell_comes_back_as_it_was_written(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        cell = a_cell(mesh, ada, "Rate limit is 100 rps.", tags=("api",), metadata={"pr": 7},
                      ref="main", session="monday")  # fmt: skip
        await cells.insert_cell(tx, mesh.info.mesh_id, cell, a_diff(cell))
        [found] = await cells.cells(tx, mesh.info.mesh_id, [cell.cell_id])
    assert (found.body, found.tags, found.metadata, found.ref, found.session) == (
        "Rate limit is 100 rps.", ("api",), {"pr": 7}, "main", "monday"
    )  # fmt: skip
    assert (found.agent, found.salience, found.confidence) == ("ada", 0.6, 0.7)
    assert (found.state, found.created_at, found.confirmations) == (CellState.ACTIVE, NOW, 0)


async def test_a_store_is_one_statement_and_durable_on_return(
    database: Database, mesh: MeshRow
) -> None:
    """Cell, statistics, vector, footprint, session and diff are there after one round trip."""
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
    cell = a_cell(mesh, ada, "One statement.", session="s")
    async with database.statement() as tx:
        await cells.insert_cell(tx, mesh.info.mesh_id, cell, a_diff(cell))
    async with database.read() as tx:
        [row] = await journal.pending(tx, mesh.info.mesh_id, 10, NOW)
        [footprint] = await cells.cell_footprints(tx, mesh.info.mesh_id, cell.cell_id)
        vectors = await cells.vectors(tx, mesh.info.mesh_id, [cell.cell_id])
    assert (row.cell_id, row.author, row.fresh, row.ordinal) == (cell.cell_id, "ada", True, None)
    assert footprint.created_at == NOW
    assert abs(vectors[cell.cell_id] - cell.vector).max() < 1e-3


async def test_eight_writers_of_one_text_make_one_cell(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        writers = [await an_agent(tx, mesh, f"writer-{n}") for n in range(8)]

    async def store(n: int) -> cells.Inserted:
        cell = a_cell(mesh, writers[n], "The deploy needs two approvals.")
        async with database.statement() as tx:
            return await cells.insert_cell(tx, mesh.info.mesh_id, cell, a_diff(cell))

    done = await asyncio.gather(*(store(n) for n in range(8)))
    assert sum(d.created for d in done) == 1
    assert len({(d.cell_id, d.agent_id) for d in done}) == 1
    async with database.read() as tx:
        assert await journal.count_pending(tx, mesh.info.mesh_id, 100) == 1


async def test_the_same_text_may_stand_again_once_the_first_is_closed(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        first, second = a_cell(mesh, ada, "Freeze is on."), a_cell(mesh, ada, "Freeze is on.")
        await cells.insert_cell(tx, mesh.info.mesh_id, first, None)
        closed = [
            await cells.close_cell(tx, mesh.info.mesh_id, first.cell_id, state, later(hours=1))
            for state in (CellState.SUPERSEDED, CellState.RETRACTED)
        ]
        again = await cells.insert_cell(tx, mesh.info.mesh_id, second, None)
        [old] = await cells.cells(tx, mesh.info.mesh_id, [first.cell_id])
    assert closed == [True, False]
    assert again.created
    assert (old.state, old.valid_to) == (CellState.SUPERSEDED, later(hours=1))


async def test_a_confirmation_counts_once_a_holder_and_never_for_the_author(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        bob = await an_agent(tx, mesh, "bob-1", role="builder")
        mate = await an_agent(tx, mesh, "bob-2", role="builder")
        cell = a_cell(mesh, ada, "Confirmed by others only.")
        await cells.insert_cell(tx, mesh.info.mesh_id, cell, None)
        counted = [
            await cells.confirm(tx, mesh.info.mesh_id, cell.cell_id, who.holder_id, 1, NOW)
            for who in (ada, bob, bob, mate)
        ]
        [found] = await cells.cells(tx, mesh.info.mesh_id, [cell.cell_id])
    assert counted == [False, True, False, False]
    assert found.confirmations == 1


async def test_recalling_leaves_a_footprint_with_day_and_session(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
        cell = a_cell(mesh, ada, "Read me.", session="reading")
        await cells.insert_cell(tx, mesh.info.mesh_id, cell, None)
        for day in (3, 2):
            await cells.touch(tx, mesh.info.mesh_id, bob.holder_id, [cell.cell_id], day=day,
                              session_id=cell.session_id, now=later(hours=day))  # fmt: skip
        await cells.mark_used(
            tx, mesh.info.mesh_id, bob.holder_id, [cell.cell_id], day=3, now=later(days=1)
        )
        [found] = await cells.known(tx, mesh.info.mesh_id, [cell.cell_id])
        footprints = await cells.cell_footprints(tx, mesh.info.mesh_id, cell.cell_id)
        seen = await traces.who_saw(tx, mesh.info.mesh_id, cell.cell_id)
    [print_] = [f for f in footprints if f.holder_id == bob.holder_id]
    assert (found.recalls, found.used_at) == (2, later(days=1))
    assert (print_.day, print_.recalled_in, print_.created_at) == (3, cell.session_id, None)
    assert [(s.agent, s.author, s.recalled_at is not None) for s in seen] == [
        ("ada", True, False),
        ("bob", False, True),
    ]


async def test_readers_of_overlapping_cells_do_not_deadlock(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        made = [a_cell(mesh, ada, f"cell {n}") for n in range(20)]
        for cell in made:
            await cells.insert_cell(tx, mesh.info.mesh_id, cell, None)
    ids = [c.cell_id for c in made]

    async def read(order: list) -> None:  # type: ignore[type-arg]
        for _ in range(10):
            async with database.statement() as tx:
                await cells.touch(tx, mesh.info.mesh_id, ada.holder_id, order, day=1,
                                  session_id=None, now=NOW)  # fmt: skip

    await asyncio.gather(*(read(ids[n:] + ids[:n]) if n % 2 else read(ids[::-1]) for n in range(6)))
    async with database.read() as tx:
        known = await cells.known(tx, mesh.info.mesh_id, ids)
    assert {k.recalls for k in known} == {60}


async def test_an_idempotency_key_keeps_its_first_answer(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        put = [
            await cells.keep_answer(tx, mesh.info.mesh_id, "store:ada", "k", digest, answer, NOW)
            for digest, answer in ((b"1", {"n": 1}), (b"2", {"n": 2}))
        ]
        assert put == [True, False]
        assert await cells.answer(tx, mesh.info.mesh_id, "store:ada", "k") == (b"1", {"n": 1})
        assert await cells.answer(tx, mesh.info.mesh_id, "store:bob", "k") is None
        assert await cells.expire_answers(tx, mesh.info.mesh_id, later(days=1)) == 1


async def test_a_new_instance_of_a_role_starts_on_the_roles_day(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        one = await an_agent(tx, mesh, "scout-1", role="scout")
        days = [
            await agents.touch_day(tx, mesh.info.mesh_id, one.holder_id, later(days=d).date())
            for d in (0, 0, 1, 5)
        ]
        two = await an_agent(tx, mesh, "scout-2", role="scout")
    assert days == [1, 1, 2, 3]
    assert (two.holder_id, two.agent.active_days) == (one.holder_id, 3)
