"""The journal: the fence, deliveries that land once, diffs that settle, fail and live again."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from hyphaedb.errors import LeaseLost
from hyphaedb.model import CellId, DiffId, DiffState, Route, Step
from hyphaedb.store import cells, inbox, jobs, journal, traces
from hyphaedb.store.access import MeshRow
from hyphaedb.store.journal import NewDelivery, WaveRow
from hyphaedb.store.pool import Database, Tx
from hyphaedb.store.rows import AgentRow, CellRow, DiffRow
from tests.store.scenery import NOW, a_cell, a_diff, an_agent, later


async def stored(tx: Tx, mesh: MeshRow, author: AgentRow, body: str) -> tuple[CellRow, DiffRow]:
    cell = a_cell(mesh, author, body)
    diff = a_diff(cell)
    await cells.insert_cell(tx, mesh.info.mesh_id, cell, diff)
    return cell, diff


def a_delivery(
    diff: DiffRow, agent: AgentRow, path: tuple[CellId, ...] = (), *, shadow: bool = False
) -> NewDelivery:
    energies = tuple(7_000_000 - 1_000_000 * n for n in range(len(path)))
    return NewDelivery(
        diff.diff_id, agent.agent.agent_id, diff.cell_id, Route.WAVE, 712_345, 800_000, 300_000,
        5_500_000, len(path), path, energies, None, shadow, diff.expires_at,
    )  # fmt: skip


async def test_an_old_epoch_writes_nothing(database: Database, mesh: MeshRow) -> None:
    """A worker paused past its lease finds the fence shut, and its transaction is gone."""
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        _, diff = await stored(tx, mesh, ada, "Fenced.")
        old = await lease(tx, mesh)
        new = await lease(tx, mesh)
    assert old is not None
    assert new == old + 1

    async def settle(epoch: int) -> None:
        async with database.transaction() as tx:
            counters = await journal.fence(tx, mesh_id, epoch, seq=1, dots=1)
            await journal.record_deliveries(
                tx, mesh_id, [a_delivery(diff, ada)], seq=counters.seq, now=NOW
            )
            await journal.settle(tx, mesh_id, {diff.diff_id: counters.dot + 1}, NOW)

    with pytest.raises(LeaseLost):
        await settle(old)
    async with database.read() as tx:
        assert await traces.deliveries_of_diff(tx, mesh_id, diff.diff_id) == []
    await settle(new)
    async with database.read() as tx:
        assert len(await traces.deliveries_of_diff(tx, mesh_id, diff.diff_id)) == 1


async def lease(tx: Tx, mesh: MeshRow) -> int | None:
    owner = await jobs.owner_of(tx, mesh.info.mesh_id)
    assert owner is not None
    return await jobs.acquire_lease(
        tx, mesh.info.mesh_id, owner=uuid4(), host="here", pid=1, pid_started=0.0, now=NOW,
        lease_s=30, dead_owner=owner.owner,
    )  # fmt: skip


async def test_the_fence_counts_in_commit_order_and_gives_back_what_rolls_back(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id

    async def reserve(fails: bool) -> journal.Counters | None:
        try:
            async with database.transaction() as tx:
                counters = await journal.fence(tx, mesh_id, 0, seq=10, dots=2, ordinals=3)
                if fails:
                    raise RuntimeError
                return counters
        except RuntimeError:
            return None

    first = await reserve(False)
    assert await reserve(True) is None
    others = await asyncio.gather(*(reserve(False) for _ in range(4)))
    assert first == journal.Counters(0, 0, 0, 0)
    assert sorted(c.dot for c in others if c) == [2, 4, 6, 8]
    assert sorted(c.ordinal for c in others if c) == [3, 6, 9, 12]


async def test_a_replayed_delivery_lands_once(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        readers = [await an_agent(tx, mesh, f"reader-{n}") for n in range(5)]
        origin, diff = await stored(tx, mesh, ada, "Deliver me once.\nSecond line.")
        given = [a_delivery(diff, r, (origin.cell_id,) * n) for n, r in enumerate(readers)]
        first = await journal.record_deliveries(tx, mesh_id, given[:3], seq=100, now=NOW)
        again = await journal.record_deliveries(tx, mesh_id, given, seq=200, now=NOW)
        third = await journal.record_deliveries(tx, mesh_id, given, seq=300, now=NOW)
        log = await traces.deliveries_of_diff(tx, mesh_id, diff.diff_id)
    assert [x.seq for x in first] == [101, 102, 103]
    assert sorted((x.agent_id, x.seq) for x in again) == sorted(
        [(readers[3].agent.agent_id, 201), (readers[4].agent.agent_id, 202)]
    )
    assert third == []
    by_name = {d.agent: d for d in log}
    assert by_name["reader-0"].path == ()
    assert by_name["reader-2"].path == (
        Step(origin.cell_id, "Deliver me once.", 7.0),
        Step(origin.cell_id, "Deliver me once.", 6.0),
    )
    assert (by_name["reader-1"].score, by_name["reader-1"].energy) == (0.712345, 5.5)


async def test_a_shadow_delivery_is_recorded_and_lands_nowhere(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
        _, diff = await stored(tx, mesh, ada, "In the shadow.")
        landed = await journal.record_deliveries(
            tx, mesh_id, [a_delivery(diff, bob, shadow=True)], seq=0, now=NOW
        )
        [logged] = await traces.deliveries_of_diff(tx, mesh_id, diff.diff_id)
        waiting = await inbox.best(tx, mesh_id, bob.agent.agent_id, limit=5, now=NOW)
        receipt = await traces.receipt(tx, mesh_id, diff.diff_id)
    assert (landed, waiting, receipt.delivered) == ([], [], ())
    assert logged.shadow


async def test_two_thousand_deliveries_are_one_statement(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        made = [await stored(tx, mesh, ada, f"diff {n}") for n in range(100)]
        readers = [await an_agent(tx, mesh, f"reader-{n}") for n in range(20)]
        given = [a_delivery(d, r, (c.cell_id,)) for c, d in made for r in readers]
        landed = await journal.record_deliveries(tx, mesh_id, given, seq=0, now=NOW)
    assert sorted(x.seq for x in landed) == list(range(1, 2001))


async def test_a_pending_diff_says_what_its_causer_had_recalled_in_the_session(
    database: Database, mesh: MeshRow
) -> None:
    """So that nobody is told, as news, what it has just read and stored again."""
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
        source = a_cell(mesh, bob, "Known before.")
        await cells.insert_cell(tx, mesh_id, source, None)
        derived = a_cell(mesh, ada, "Stored upon it.", session="work", tags=("a", "b"))
        await cells.touch(tx, mesh_id, ada.holder_id, [source.cell_id], day=1,
                          session_id=derived.session_id, now=NOW)  # fmt: skip
        diff = a_diff(derived)
        await cells.insert_cell(tx, mesh_id, derived, diff)
        [row] = await journal.pending(tx, mesh_id, 10, NOW)
    assert row.diff_id == diff.diff_id
    assert row.recalled == (source.cell_id,)
    assert (row.tags, row.salience, row.energy) == (("a", "b"), 0.6, 7_750_000)
    assert (row.agent, row.author, row.holder_id) == ("ada", "ada", ada.holder_id)


async def test_a_diff_settles_once_with_its_dot(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        made = [await stored(tx, mesh, ada, f"settle {n}") for n in range(3)]
        dots = {diff.diff_id: n + 1 for n, (_, diff) in enumerate(made)}
        counts = [await journal.settle(tx, mesh_id, dots, NOW) for _ in range(2)]
        live = await journal.live(tx, mesh_id, after_dot=1, limit=10, now=NOW)
        expired = await journal.live(tx, mesh_id, after_dot=0, limit=10, now=later(days=31))
        assert await journal.pending(tx, mesh_id, 10, NOW) == []
    assert counts == [3, 0]
    assert [(r.diff_id, r.dot) for r in live] == [(made[1][1].diff_id, 2), (made[2][1].diff_id, 3)]
    assert expired == []


async def test_a_failed_diff_waits_its_time_dies_and_may_live_again(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        _, diff = await stored(tx, mesh, ada, "Hard to settle.")
        await journal.fail(
            tx, mesh_id, diff.diff_id, "x" * 9000, next_at=later(hours=1), dead=False
        )
        now = await journal.pending(tx, mesh_id, 10, NOW)
        [then] = await journal.pending(tx, mesh_id, 10, later(hours=2))
        await journal.fail(tx, mesh_id, diff.diff_id, "again", next_at=later(hours=3), dead=True)
        [dead] = await journal.dead(tx, mesh_id)
        revived = await journal.retry_dead(tx, mesh_id, later(days=1))
        [back] = await journal.pending(tx, mesh_id, 10, later(days=1))
    assert now == []
    assert then.attempt == 1
    assert (dead.error, dead.attempt) == ("again", 2)
    assert (revived, back.attempt) == (1, 0)


async def test_a_derived_diff_is_unique_by_its_cause(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        cell, _ = await stored(tx, mesh, ada, "Cause.")
        appended = [
            await journal.append_diff(tx, mesh_id, a_diff(cell, cause="contradiction:1:2"))
            for _ in range(2)
        ]
        states = [d.state for d in await journal.diffs_of_cell(tx, mesh_id, cell.cell_id)]
    assert appended == [True, False]
    assert states == [DiffState.PENDING] * 2


async def test_the_backlog_is_counted_no_further_than_asked(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        for n in range(5):
            await stored(tx, mesh, ada, f"backlog {n}")
        counted = [await journal.count_pending(tx, mesh.info.mesh_id, n) for n in (3, 100)]
    assert counted == [3, 5]


async def test_a_waves_record_is_replaced_by_its_replay(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        _, diff = await stored(tx, mesh, ada, "Waved twice.")
        first, again = (
            WaveRow(diff.diff_id, settled, 2, 250_000, None, False,
                    [{"hops": 1}], [{"agent": "bob"}], 9, NOW)
            for settled in (3, 4)
        )  # fmt: skip
        await journal.record_waves(tx, mesh_id, [first])
        await journal.record_waves(tx, mesh_id, [again])
        found = await traces.wave_of(tx, mesh_id, diff.diff_id)
        none = await traces.wave_of(tx, mesh_id, DiffId(uuid4()))
    assert found == again
    assert none is None


async def test_what_an_agent_received_lately_is_counted_for_its_attention(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
        made = [await stored(tx, mesh, ada, f"attention {n}") for n in range(3)]
        for n, (_, diff) in enumerate(made):
            await journal.record_deliveries(
                tx, mesh_id, [a_delivery(diff, bob)], seq=n, now=NOW + timedelta(hours=n)
            )
        ids = [ada.agent.agent_id, bob.agent.agent_id]
        counted = await traces.delivered_since(tx, mesh_id, ids, later(minutes=30))
        pairs = await traces.delivered_pairs(tx, mesh_id, [d.diff_id for _, d in made])
    assert counted == {bob.agent.agent_id: 2}
    assert pairs == {(d.diff_id, bob.agent.agent_id) for _, d in made}
