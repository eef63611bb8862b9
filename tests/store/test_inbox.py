"""Inboxes: best first or in order, leased to one reader, read once, gone when expired."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hyphaedb.model import InboxState, Route
from hyphaedb.store import cells, inbox, journal, traces
from hyphaedb.store.access import MeshRow
from hyphaedb.store.journal import NewDelivery
from hyphaedb.store.pool import Database, Tx
from hyphaedb.store.rows import AgentRow
from tests.store.scenery import NOW, a_cell, a_diff, an_agent, later

SCORES = (500_000, 900_000, 700_000)


async def filled(tx: Tx, mesh: MeshRow) -> AgentRow:
    """Bob with three items from Ada: numbers 1, 2, 3 with scores .5, .9, .7."""
    mesh_id = mesh.info.mesh_id
    ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
    for n, score in enumerate(SCORES):
        cell = a_cell(mesh, ada, f"Item {n}\nwith a body", session="s", ref="main")
        diff = replace(a_diff(cell), expires_at=later(days=n + 1))
        await cells.insert_cell(tx, mesh_id, cell, diff)
        delivery = NewDelivery(
            diff.diff_id, bob.agent.agent_id, cell.cell_id, Route.WAVE, score, 1, 1, 1, 1,
            (cell.cell_id,), (5_000_000,), None, False, diff.expires_at,
        )  # fmt: skip
        await journal.record_deliveries(tx, mesh_id, [delivery], seq=n, now=later(minutes=n))
    return bob


async def test_a_page_is_best_first_and_says_where_each_item_comes_from(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        bob = await filled(tx, mesh)
        page = await inbox.best(tx, mesh.info.mesh_id, bob.agent.agent_id, limit=2, now=NOW)
    assert [r.item.cursor for r in page] == [2, 3]
    item = page[0].item
    assert (item.headline, item.body, item.author) == ("Item 1", "Item 1\nwith a body", "ada")
    assert (item.session, item.ref, item.score, item.route) == ("s", "main", 0.9, Route.WAVE)
    assert (item.state, item.path[0].headline, item.path[0].energy) == (
        InboxState.UNREAD, "Item 1", 5.0,
    )  # fmt: skip


async def test_a_stream_goes_on_behind_its_cursor_in_order(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        bob = await filled(tx, mesh)
        read = {"tx": tx, "mesh_id": mesh.info.mesh_id, "agent_id": bob.agent.agent_id}
        first = await inbox.waiting_after(**read, after=0, limit=2, now=NOW)  # type: ignore[arg-type]
        rest = await inbox.waiting_after(**read, after=2, limit=9, now=NOW)  # type: ignore[arg-type]
    assert [r.item.cursor for r in first] == [1, 2]
    assert [r.item.cursor for r in rest] == [3]


async def test_two_readers_never_lease_the_same_item(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        bob = (await filled(tx, mesh)).agent.agent_id

    async def lease() -> list[int]:
        async with database.transaction() as tx:
            return await inbox.lease(tx, mesh_id, bob, [1, 2, 3], until=later(minutes=5), now=NOW)

    got = await asyncio.gather(*(lease() for _ in range(5)))
    assert sorted(seq for seqs in got for seq in seqs) == [1, 2, 3]


async def test_a_lease_that_lapsed_is_found_again(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        bob = (await filled(tx, mesh)).agent.agent_id
        await inbox.lease(tx, mesh_id, bob, [1, 2], until=later(minutes=5), now=NOW)
        hidden = await inbox.best(tx, mesh_id, bob, limit=9, now=later(minutes=4))
        lapsed = await inbox.best(tx, mesh_id, bob, limit=9, now=later(minutes=5))
        unread = await inbox.unread(tx, mesh_id, bob, NOW)
    assert [r.item.cursor for r in hidden] == [3]
    assert [r.item.cursor for r in lapsed] == [2, 3, 1]
    assert unread == 3


async def test_an_item_is_read_once_and_shows_in_the_receipt(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        bob = (await filled(tx, mesh)).agent.agent_id
        before = await inbox.best(tx, mesh_id, bob, limit=9, now=NOW)
        acked = await inbox.ack(tx, mesh_id, bob, [2, 99], later(hours=1))
        again = await inbox.ack(tx, mesh_id, bob, [2], later(hours=2))
        leased = await inbox.lease(tx, mesh_id, bob, [2], until=later(hours=9), now=NOW)
        after = await inbox.best(tx, mesh_id, bob, limit=9, now=NOW)
        [cell_id] = [r.item.cell_id for r in before if r.item.cursor == 2]
        [(_, diff_id)] = acked
        receipt = await traces.receipt(tx, mesh_id, diff_id)
        seen = await traces.who_saw(tx, mesh_id, cell_id)
    assert [seq for seq, _ in acked] == [2]
    assert (again, leased) == ([], [])
    assert {r.item.cursor for r in after} == {1, 3}
    assert {r.item.state for r in after} == {InboxState.UNREAD}
    assert (receipt.delivered, receipt.read) == (("bob",), ("bob",))
    assert [(s.agent, s.read_at) for s in seen] == [("ada", None), ("bob", later(hours=1))]


async def test_expired_items_are_neither_shown_nor_kept(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        bob = (await filled(tx, mesh)).agent.agent_id
        shown = await inbox.best(tx, mesh_id, bob, limit=9, now=later(days=2))
        gone = [await inbox.expire(tx, mesh_id, later(days=2), limit=1) for _ in range(3)]
        left = await inbox.best(tx, mesh_id, bob, limit=9, now=NOW)
        log = await traces.deliveries_of_diff(tx, mesh_id, left[0].item.diff_id)
    assert [r.item.cursor for r in shown] == [3]
    assert gone == [1, 1, 0]
    assert [r.item.cursor for r in left] == [3]
    assert len(log) == 1
