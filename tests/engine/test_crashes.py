"""A worker may die anywhere: the next ends with the same deliveries, and nothing comes twice."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest

from hyphaedb.engine.failpoints import Failpoint
from hyphaedb.errors import LeaseLost
from hyphaedb.mesh import Mesh
from hyphaedb.model import Interests
from hyphaedb.store.pool import Database
from tests.engine.conftest import Clock, Place
from tests.engine.scenes import announce, eventually, inbox, listens, settled, tagged, text
from tests.engine.sleeper import Sleeper
from tests.engine.world import LEASE_S, Crash, Owner, Trap, World, differing, everything

IN_A_STEP = [
    Failpoint.AFTER_CLAIM,
    Failpoint.AFTER_FENCE,
    Failpoint.MID_BATCH,
    Failpoint.BEFORE_COMMIT,
    Failpoint.AFTER_COMMIT,
]
CELLS = [tagged("limits", f"{text('limits')} {i}") for i in range(6)]


async def busy(database: Database, seed: int, copy: int) -> World:
    """Three agents and six cells that wait for their waves."""
    world = await World.make(database, seed, copy)
    await world.mesh.register("ann")
    await world.mesh.register("bob", interests=Interests(tags=("limits",)))
    await world.mesh.register("cho", role="crew", interests=Interests(text="request quota"))
    for i, cell in enumerate(CELLS):
        await world.mesh.store(cell, agent="cho" if i == 3 else "ann")
    return world


async def taken(world: World, trap: Trap | None = None) -> Owner:
    """An owner that holds the mesh."""
    owner = world.owner(trap)
    assert await owner.take()
    return owner


async def lands(world: World) -> int:
    """Inbox rows of a world."""
    rows = await world.rows("SELECT count(*) FROM hyphaedb.inbox WHERE mesh_id = %(mesh)s")
    return int(rows[0][0])


@pytest.mark.parametrize("place", IN_A_STEP)
async def test_a_crash_in_a_step_leaves_no_trace(database: Database, place: Failpoint) -> None:
    seed = 4_100 + IN_A_STEP.index(place)
    wild, calm = await busy(database, seed, 1), await busy(database, seed, 2)
    trap = Trap()
    first = await taken(wild, trap)
    trap.set(place)
    with pytest.raises(Crash):
        await first.step(64)
    second = wild.owner()
    assert await second.take(dead=first.owner_id)
    await second.step(64)
    await (await taken(calm)).step(64)

    assert await lands(calm) > 0
    assert await differing(wild, calm) == []


async def test_a_crash_while_loading_leaves_a_mesh_that_can_be_taken(database: Database) -> None:
    wild, calm = await busy(database, 4_110, 1), await busy(database, 4_110, 2)
    trap = Trap()
    trap.set(Failpoint.DURING_REBUILD)
    first = wild.owner(trap)
    with pytest.raises(Crash):
        await first.take()
    second = wild.owner()
    assert await second.take(dead=first.owner_id)
    await second.step(64)
    await (await taken(calm)).step(64)

    assert await differing(wild, calm) == []


async def test_a_crash_during_the_drain_loses_no_vector(database: Database) -> None:
    world = await busy(database, 4_111, 1)
    trap = Trap()
    owner = await taken(world, trap)
    await owner.step(64)
    trap.set(Failpoint.DURING_DRAIN)
    with pytest.raises(Crash):
        await owner.drain()

    count = "SELECT count(*) FROM hyphaedb.{} WHERE mesh_id = %(mesh)s"
    assert await world.rows(count.format("fresh_vector")) == [(6,)]
    assert await owner.drain() == 6
    assert await world.rows(count.format("cell_vector")) == [(6,)]


async def test_a_crash_during_a_sweep_is_made_good_by_the_next(database: Database) -> None:
    wild, calm = await busy(database, 4_112, 1), await busy(database, 4_112, 2)
    trap = Trap()
    first = await taken(wild, trap)
    twin = await taken(calm)
    for world, owner in ((wild, first), (calm, twin)):
        await owner.step(64)
        world.clock.move(hours=1)
        await world.mesh.register("eve", interests=Interests(tags=("limits",)))
        await world.ask_for_sweep()
        await owner.step(64)
    trap.set(Failpoint.DURING_SWEEP)
    with pytest.raises(Crash):
        await first.sweep()
    second = wild.owner()
    await second.take(dead=first.owner_id)
    await second.step(64)
    await second.sweep()
    await twin.sweep()

    assert await differing(wild, calm) == []


async def test_a_lease_is_taken_over_only_when_it_ran_out(database: Database) -> None:
    world = await busy(database, 4_113, 1)
    await taken(world)
    second = world.owner()

    assert not await second.take()
    world.clock.move(seconds=LEASE_S - 1)
    assert not await second.take()
    world.clock.move(seconds=2)
    assert await second.take()


async def test_a_worker_paused_past_its_lease_writes_nothing(
    database: Database, database_url: str
) -> None:
    """It stops in the middle of a step; the clock moves, another takes over and does the work."""
    wild, calm = await busy(database, 4_114, 1), await busy(database, 4_114, 2)
    late = Sleeper(database_url, wild, Failpoint.AFTER_CLAIM)
    await late.falls_asleep()
    wild.clock.move(seconds=LEASE_S + 1)
    await (await taken(wild)).step(64)
    before = await everything(wild)
    outcome = await late.wakes_up()

    assert isinstance(outcome, LeaseLost)
    assert await everything(wild) == before
    calm.clock.move(seconds=LEASE_S + 1)
    await (await taken(calm)).step(64)
    assert await differing(wild, calm) == []


async def test_two_workers_of_one_mesh_deliver_everything_once(place: Place) -> None:
    one = await place.open()
    await one.register("ann")
    await listens(one, "bob", "limits")
    other = await place.open(one.info.name)
    cells = [tagged("limits") for _ in range(30)]
    for i, cell in enumerate(cells):
        await (one, other)[i % 2].store(cell, agent="ann")
    await settled(one)

    assert sorted(filter(None, await inbox(one, "bob"))) == sorted(c.body for c in cells)


async def test_a_worker_that_is_closed_hands_the_mesh_over(place: Place) -> None:
    one = await place.open()
    await one.register("ann")
    await listens(one, "bob", "limits")
    await announce(one, tagged("limits"), agent="ann")
    other = await place.open(one.info.name)
    await one.close()
    cell = tagged("limits")
    await announce(other, cell, agent="ann")

    assert (await inbox(other, "bob"))[-1] == cell.body


async def test_a_worker_whose_renewal_fails_takes_its_lease_anew(place: Place) -> None:
    trap = Trap()
    trap.set(Failpoint.DURING_RENEWAL)
    mesh = await place.open(failpoints=trap.failpoints, lease_s=0.3)
    await mesh.register("ann")
    await announce(mesh, "words", agent="ann")
    before = (await mesh.stats()).epoch
    await asyncio.sleep(0.5)
    await announce(mesh, "other words", agent="ann")

    assert (await mesh.stats()).epoch > before


async def test_a_diff_that_always_fails_is_set_aside_and_holds_nobody_up(
    place: Place, clock: Clock, database: Database
) -> None:
    """A vector of the wrong size, as only damage could leave it; the others travel on."""
    mesh = await place.open(attempts_max=2)
    await mesh.register("ann")
    await listens(mesh, "bob", "limits")
    await mesh.pause()
    await settled(mesh)
    cells = [tagged("limits") for _ in range(4)]
    stored = [await mesh.store(cell, agent="ann") for cell in cells]
    await _damage(database, stored[1].cell_id, "[1,0]")
    await mesh.resume()
    await eventually(lambda: _lands(mesh, 3))
    clock.move(minutes=1)
    await eventually(lambda: _dead(mesh))

    assert await inbox(mesh, "bob") == [c.body for c in cells if c is not cells[1]]
    assert "ValueError" in ((await mesh.trace(stored[1].cell_id)).error or "")


async def test_a_dead_diff_travels_once_the_cause_is_mended(
    place: Place, clock: Clock, database: Database
) -> None:
    mesh = await place.open(attempts_max=1)
    await mesh.register("ann")
    await listens(mesh, "bob", "limits")
    await mesh.pause()
    await settled(mesh)
    cell = tagged("limits")
    stored = await mesh.store(cell, agent="ann")
    await _damage(database, stored.cell_id, "[1,0]")
    await mesh.resume()
    await eventually(lambda: _dead(mesh))
    await _damage(database, stored.cell_id, f"[{','.join(['1'] + ['0'] * 63)}]")
    clock.move(minutes=1)

    assert await mesh.retry_dead() == 1
    await settled(mesh)
    assert await inbox(mesh, "bob") == [cell.body]


async def _damage(database: Database, cell_id: UUID, vector: str) -> None:
    async with database.statement() as tx:
        await tx.execute(
            b"UPDATE hyphaedb.fresh_vector SET e = %s::halfvec WHERE cell_id = %s",
            [vector, cell_id],
        )


async def _dead(mesh: Mesh) -> bool:
    return (await mesh.stats()).dead == 1


async def _lands(mesh: Mesh, items: int) -> bool:
    return len(await inbox(mesh, "bob")) == items
