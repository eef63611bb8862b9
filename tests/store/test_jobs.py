"""Leases: one owner a mesh, taken over when free, lapsed or dead; and signals to the owner."""

from __future__ import annotations

import asyncio
from datetime import datetime
from uuid import UUID, uuid4

import pytest

from hyphaedb.errors import LeaseLost
from hyphaedb.store import cells, jobs
from hyphaedb.store.access import MeshRow
from hyphaedb.store.pool import Database, Tx
from tests.store.scenery import NOW, a_cell, a_diff, an_agent, fresh_id, later


async def take(
    tx: Tx, mesh: MeshRow, owner: UUID, now: datetime = NOW, dead: UUID | None = None
) -> int | None:
    return await jobs.acquire_lease(
        tx, mesh.info.mesh_id, owner=owner, host="host", pid=7, pid_started=1.5, now=now,
        lease_s=30, dead_owner=dead,
    )  # fmt: skip


async def test_of_many_workers_one_gets_the_mesh(database: Database, mesh: MeshRow) -> None:
    async def one() -> int | None:
        async with database.transaction() as tx:
            return await take(tx, mesh, uuid4())

    epochs = await asyncio.gather(*(one() for _ in range(8)))
    assert sorted(e for e in epochs if e is not None) == [1]


async def test_a_lease_is_taken_over_when_it_lapsed_or_its_owner_is_dead(
    database: Database, mesh: MeshRow
) -> None:
    first, second, third = uuid4(), uuid4(), uuid4()
    async with database.transaction() as tx:
        epochs = [
            await take(tx, mesh, first),
            await take(tx, mesh, second, later(seconds=29)),
            await take(tx, mesh, second, later(seconds=30)),
            await take(tx, mesh, third, later(seconds=31)),
            await take(tx, mesh, third, later(seconds=31), dead=first),
            await take(tx, mesh, third, later(seconds=31), dead=second),
        ]
    assert epochs == [1, None, 2, None, None, 3]


async def test_only_the_owner_of_the_epoch_renews_and_releases(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    first, second = uuid4(), uuid4()
    async with database.transaction() as tx:
        await take(tx, mesh, first)
        await jobs.renew_lease(tx, mesh_id, first, 1, later(seconds=60))
        assert await take(tx, mesh, second, later(seconds=59)) is None
        assert await take(tx, mesh, second, later(seconds=60)) == 2
        with pytest.raises(LeaseLost):
            await jobs.renew_lease(tx, mesh_id, first, 1, later(seconds=90))
        with pytest.raises(LeaseLost):
            await jobs.set_swept(tx, mesh_id, 1, NOW)
        released = [
            await jobs.release_lease(tx, mesh_id, owner, epoch)
            for owner, epoch in ((first, 1), (second, 2))
        ]
        row = await jobs.owner_of(tx, mesh_id)
    assert released == [False, True]
    assert row is not None
    assert (row.owner, row.lease_until, row.epoch) == (None, None, 2)


async def test_signals_are_taken_once_in_their_order(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        subjects = [uuid4() for _ in range(5)]
        for subject in subjects:
            await jobs.emit(tx, mesh_id, signal_id=fresh_id(), kind="agent", subject=subject,
                            other=None, now=NOW)  # fmt: skip
        seen = await jobs.signals(tx, mesh_id)
        first = await jobs.signals(tx, mesh_id, limit=3)
        cleared = await jobs.clear_signals(tx, mesh_id, [s.signal_id for s in first])
        rest = await jobs.signals(tx, mesh_id)
        again = await jobs.clear_signals(tx, mesh_id, [s.signal_id for s in first])
    assert [s.subject for s in seen] == subjects
    assert [s.subject for s in (*first, *rest)] == subjects
    assert cleared == first
    assert again == []


async def test_a_signal_outlives_a_worker_that_rolls_back(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        await jobs.emit(tx, mesh_id, signal_id=fresh_id(), kind="mute", subject=uuid4(),
                        other=None, now=NOW)  # fmt: skip

    async def taken_and_lost() -> None:
        async with database.transaction() as tx:
            [waiting] = await jobs.signals(tx, mesh_id)
            assert await jobs.clear_signals(tx, mesh_id, [waiting.signal_id]) == [waiting]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await taken_and_lost()
    async with database.transaction() as tx:
        assert len(await jobs.signals(tx, mesh_id)) == 1


async def test_meshes_with_work_are_found_by_what_waits_in_them(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        before = {w.mesh_id for w in await jobs.meshes_with_work(tx, NOW)}
        ada = await an_agent(tx, mesh, "ada")
        cell = a_cell(mesh, ada, "Work.")
        await cells.insert_cell(tx, mesh_id, cell, a_diff(cell))
        after = {w.mesh_id for w in await jobs.meshes_with_work(tx, NOW)}
    assert mesh_id not in before
    assert mesh_id in after
