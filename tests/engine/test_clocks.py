"""Clocks of several machines differ, and may be set back: nothing waits for them to agree."""

from __future__ import annotations

from hyphaedb.store.pool import Database
from tests.engine.scenes import inbox, listens, tagged
from tests.engine.world import World


async def test_a_worker_whose_clock_is_behind_delivers_at_once(database: Database) -> None:
    world = await World.make(database, 4_401, 1)
    await world.mesh.register("ann")
    await listens(world.mesh, "bob", "limits")
    cell = tagged("limits")
    await world.mesh.store(cell, agent="ann")
    world.clock.move(hours=-1)
    owner = world.owner()
    await owner.take()

    assert (await owner.step(64)).settled == 1
    assert await inbox(world.mesh, "bob") == [cell.body]


async def test_the_order_of_an_inbox_is_that_of_arrival_whatever_the_clock_says(
    database: Database,
) -> None:
    world = await World.make(database, 4_402, 1)
    await world.mesh.register("ann")
    await listens(world.mesh, "bob", "limits")
    owner = world.owner()
    await owner.take()
    bodies = []
    for hours in (0, -2, 3, -5):
        world.clock.move(hours=hours)
        cell = tagged("limits")
        bodies.append(cell.body)
        await world.mesh.store(cell, agent="ann")
        await owner.step(64)

    assert await inbox(world.mesh, "bob") == bodies
