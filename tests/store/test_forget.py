"""Forgetting: after it, no row of any table holds the text, however it got there."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from psycopg import sql

from hyphaedb.model import AgentId, CellId, Route
from hyphaedb.store import agents, cells, graph, inbox, journal, lexical, search, traces
from hyphaedb.store.access import MeshRow
from hyphaedb.store.agents import Attachment
from hyphaedb.store.graph import NewLinks, Panel
from hyphaedb.store.journal import NewDelivery
from hyphaedb.store.pool import Database, Tx, rows
from hyphaedb.store.rows import DiffRow
from tests.store.scenery import NOW, a_cell, a_diff, an_agent, unit

SECRET = "zxqvsecret"


async def tables_that_say(tx: Tx, text: str) -> set[str]:
    """Every table of the schema with a row whose text form contains the text."""
    found = set()
    names = await rows(
        tx,
        b"""SELECT relname FROM pg_class
            WHERE relnamespace = 'hyphaedb'::regnamespace AND relkind = 'r'""",
    )
    for (name,) in names:
        cursor = await tx.execute(
            sql.SQL("SELECT 1 FROM hyphaedb.{} t WHERE strpos(lower(t::text), %s) > 0").format(
                sql.Identifier(name)
            ),
            (text.lower(),),
        )
        if await cursor.fetchone():
            found.add(name)
    return found


async def spread(tx: Tx, mesh: MeshRow) -> tuple[CellId, DiffRow, AgentId]:
    """A secret that was stored, linked, indexed, delivered, answered about and attached to."""
    mesh_id = mesh.info.mesh_id
    ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
    cell = a_cell(mesh, ada, f"The key is {SECRET}", tags=(SECRET,), metadata={"k": SECRET})
    other = a_cell(mesh, ada, "The key is elsewhere", seed=2)
    diff = a_diff(cell)
    await cells.insert_cell(tx, mesh_id, other, None)
    await cells.insert_cell(tx, mesh_id, cell, diff)
    links = [NewLinks(0, other.cell_id, [], []), NewLinks(1, cell.cell_id, [0], [1_500_000])]
    await graph.insert_links(tx, mesh_id, 0, links)
    await graph.count_terms(tx, mesh_id, [other.cell_id, cell.cell_id])
    await graph.put_panel(tx, mesh_id, Panel(1, 7, (other.cell_id, cell.cell_id), 2, NOW))
    hung = Attachment(0, bob.holder_id, (cell.cell_id, other.cell_id), unit(3), NOW)
    await agents.put_attachments(tx, mesh_id, [hung])
    delivery = NewDelivery(
        diff.diff_id, bob.agent.agent_id, cell.cell_id, Route.WAVE, 900_000, 800_000, 0,
        5_000_000, 1, (cell.cell_id,), (7_000_000,), None, False, NOW + timedelta(days=30),
    )  # fmt: skip
    await journal.record_deliveries(tx, mesh_id, [delivery], seq=0, now=NOW)
    await journal.fail(tx, mesh_id, diff.diff_id, f"could not: {SECRET}", next_at=NOW, dead=False)
    await cells.touch(tx, mesh_id, bob.holder_id, [cell.cell_id], day=1, session_id=None, now=NOW)
    answer = {"cell_id": str(cell.cell_id), "body": SECRET}
    await cells.keep_answer(tx, mesh_id, "store:ada", "key-1", b"hash", answer, NOW)
    return cell.cell_id, diff, bob.agent.agent_id


async def test_a_forgotten_text_is_in_no_table(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        cell_id, diff, bob = await spread(tx, mesh)
        assert await tables_that_say(tx, SECRET) >= {"cell", "term", "diff", "idempotency"}
    async with database.transaction() as tx:
        assert await cells.forget(tx, mesh_id, cell_id)
    async with database.read() as tx:
        assert await tables_that_say(tx, SECRET) == set()
        assert await inbox.best(tx, mesh_id, bob, limit=10, now=NOW) == []
        assert await traces.deliveries_of_diff(tx, mesh_id, diff.diff_id) == []
        standing = search.standing(mesh_id, NOW)
        left = search.nearest(mesh_id, 0, unit(0), 10, standing)
        assert len(await search.near(tx, left)) == 1
        panel = await graph.latest_panel(tx, mesh_id)
        assert panel is not None
        assert cell_id not in panel.cell_ids
        [hung] = await agents.attachments(tx, mesh_id)
        assert cell_id not in hung.cell_ids


async def test_an_indexed_vector_is_forgotten_too(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        cell_id, _, _ = await spread(tx, mesh)
        assert await search.drain(tx, mesh_id, 10) == 2
        assert await cells.forget(tx, mesh_id, cell_id)
        assert await cells.vectors(tx, mesh_id, [cell_id]) == {}


async def test_words_are_counted_down_only_where_they_were_counted(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        cell_id, _, _ = await spread(tx, mesh)
        ada = await agents.agent_by_name(tx, mesh_id, "ada")
        unlinked = a_cell(mesh, ada, "A key that was never linked", seed=5)
        await cells.insert_cell(tx, mesh_id, unlinked, None)
        before = await lexical.count_words(tx, mesh_id, "key elsewhere")
        await cells.forget(tx, mesh_id, unlinked.cell_id)
        between = await lexical.count_words(tx, mesh_id, "key elsewhere")
        await cells.forget(tx, mesh_id, cell_id)
        [(documents,)] = await rows(
            tx,
            b"SELECT documents FROM hyphaedb.term WHERE mesh_id = %(m)b AND lexeme = 'key'",
            {"m": mesh_id},
        )
    assert before == between
    assert documents == 1


async def test_forgetting_waits_for_the_wave_under_way(database: Database, mesh: MeshRow) -> None:
    """The owner's row is the first lock of both, so neither can deadlock the other."""
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        cell_id, _, _ = await spread(tx, mesh)

    async def forget() -> bool:
        async with database.transaction() as tx:
            return await cells.forget(tx, mesh_id, cell_id)

    async with database.transaction() as tx:
        await journal.fence(tx, mesh_id, 0, seq=1)
        task = asyncio.create_task(forget())
        alive = await cells.hold(tx, mesh_id, [cell_id])
    assert await task
    assert alive == {cell_id}
    async with database.transaction() as tx:
        assert await cells.hold(tx, mesh_id, [cell_id]) == frozenset()


async def test_forgetting_what_is_not_there_says_so(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        assert not await cells.forget(tx, mesh.info.mesh_id, CellId(mesh.model_id))
