"""Anti-entropy: after a sweep nobody lacks what a wave would bring today; a second adds nothing.

Section 4.4 of the paper, docs/decisions/0008.
"""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from hyphaedb.engine.anti_entropy import Sweeper
from hyphaedb.engine.failpoints import Failpoint, Failpoints
from hyphaedb.errors import Conflict
from hyphaedb.mesh import Mesh
from hyphaedb.model import CellType, Interests, MuteKind, NewCell, Route
from hyphaedb.store.pool import Database
from tests.engine.conftest import Clock, Place
from tests.engine.scenes import (
    alike,
    announce,
    eventually,
    inbox,
    listens,
    routes,
    settled,
    tagged,
    text,
)
from tests.engine.world import World


@pytest.fixture
async def mesh(place: Place) -> Mesh:
    opened = await place.open()
    await opened.register("ann")
    return opened


async def test_a_late_agent_finds_the_earlier_decision_after_a_sweep(
    mesh: Mesh, clock: Clock
) -> None:
    """B registers an hour after A's decision, works beside it, and finds it in its inbox."""
    decision = NewCell(alike("login"), type=CellType.DECISION, salience=0.9)
    await announce(mesh, decision, agent="ann")
    clock.move(hours=1)
    await mesh.register("bob")
    for _ in range(6):
        await announce(mesh, alike("login"), agent="bob")
    assert await inbox(mesh, "bob") == []
    await mesh.sweep()

    assert await inbox(mesh, "bob") == [decision.body]
    assert await routes(mesh, "bob") == [Route.SWEEP]


async def test_a_further_sweep_writes_nothing(mesh: Mesh, clock: Clock) -> None:
    for _ in range(5):
        await announce(mesh, tagged("limits"), agent="ann")
    clock.move(hours=1)
    await listens(mesh, "bob", "limits")

    assert await mesh.sweep() == 5
    assert await mesh.sweep() == 0


async def test_a_newcomer_gets_the_best_of_the_past_and_no_more(place: Place, clock: Clock) -> None:
    mesh = await place.open(sweep_newcomer_items=3)
    await mesh.register("ann")
    for salience in (0.3, 0.9, 0.4, 0.8, 0.7):
        cell = NewCell(f"{salience} {text('limits')}", tags=("limits",), salience=salience)
        await announce(mesh, cell, agent="ann")
    clock.move(hours=1)
    await listens(mesh, "bob", "limits")
    await mesh.sweep()

    landed = await inbox(mesh, "bob")
    assert sorted((body or "")[:3] for body in landed) == ["0.7", "0.8", "0.9"]
    assert await mesh.sweep() == 0


async def test_what_comes_after_a_newcomer_is_not_counted_as_past(
    place: Place, clock: Clock
) -> None:
    """A long past used up the allowance; what a mute kept back since is owed in full."""
    mesh = await place.open(sweep_newcomer_items=2)
    await mesh.register("ann")
    for _ in range(30):
        await announce(mesh, tagged("limits"), agent="ann")
    clock.move(hours=1)
    await listens(mesh, "bob", "limits")
    await mesh.sweep()
    await mesh.mute("agent", "bob")  # type: ignore[arg-type]
    for _ in range(5):
        await announce(mesh, tagged("limits"), agent="ann")
    await mesh.unmute("agent", "bob")  # type: ignore[arg-type]
    await settled(mesh)

    assert len(await inbox(mesh, "bob")) == 7


async def test_a_newcomer_is_swept_without_being_asked_for(place: Place, clock: Clock) -> None:
    mesh = await place.open(sweep_s=0.05)
    await mesh.register("ann")
    cell = tagged("limits")
    await announce(mesh, cell, agent="ann")
    clock.move(hours=1)
    await listens(mesh, "bob", "limits")

    await eventually(lambda: _has(mesh, "bob", cell.body))
    assert await routes(mesh, "bob") == [Route.SWEEP]


async def _has(mesh: Mesh, agent: str, body: str) -> bool:
    return body in await inbox(mesh, agent)


async def test_an_agent_with_new_interests_is_swept_again(mesh: Mesh) -> None:
    await listens(mesh, "bob", "billing")
    cell = tagged("limits")
    await announce(mesh, cell, agent="ann")
    await mesh.register("bob", interests=Interests(tags=("limits",)))
    await mesh.sweep()

    assert await inbox(mesh, "bob") == [cell.body]


async def test_an_agent_that_drifted_in_gets_what_it_missed(place: Place) -> None:
    """Nobody asks for a sweep: moving into a neighbourhood is reason enough."""
    mesh = await place.open(sweep_s=0.05)
    await mesh.register("ann")
    await mesh.register("bob")
    await announce(mesh, alike("billing"), agent="bob")
    decision = NewCell(alike("login"), type=CellType.DECISION, salience=0.9)
    await announce(mesh, decision, agent="ann")
    assert await inbox(mesh, "bob") == []
    for _ in range(6):
        await announce(mesh, alike("login"), agent="bob")

    await eventually(lambda: _has(mesh, "bob", decision.body))


async def test_a_sweep_brings_nothing_that_no_longer_stands(mesh: Mesh, clock: Clock) -> None:
    old = await announce(mesh, tagged("limits"), agent="ann")
    gone = await announce(mesh, tagged("limits"), agent="ann")
    new = tagged("limits")
    await mesh.supersede(old.cell_id, new, agent="ann")
    await mesh.retract(gone.cell_id, agent="ann", reason="wrong")
    await settled(mesh)
    clock.move(hours=1)
    await listens(mesh, "bob", "limits")
    await mesh.sweep()

    assert await inbox(mesh, "bob") == [new.body]


async def test_a_sweep_brings_nothing_that_has_expired(mesh: Mesh, clock: Clock) -> None:
    soon = NewCell(text("limits"), tags=("limits",), expires_at=clock.now.replace(hour=10))
    await announce(mesh, soon, agent="ann")
    clock.move(hours=2)
    await listens(mesh, "bob", "limits")

    assert await mesh.sweep() == 0


async def test_a_diff_beyond_its_time_to_live_is_not_swept(mesh: Mesh, clock: Clock) -> None:
    await announce(mesh, tagged("limits"), agent="ann")
    clock.move(days=31)
    await listens(mesh, "bob", "limits")

    assert await mesh.sweep() == 0


async def test_a_newcomer_is_swept_even_if_the_worker_died_before(database: Database) -> None:
    """The signal was taken in and cleared; only the owner's memory knew, and that is gone."""
    world = await World.make(database, 4_001, 1)
    await world.mesh.register("ann")
    await world.mesh.store(tagged("limits"), agent="ann")
    first = world.owner()
    await first.take()
    await first.step(64)
    world.clock.move(hours=1)
    await world.mesh.register("bob", interests=Interests(tags=("limits",)))
    await first.step(64)

    second = world.owner()
    await second.take(dead=first.owner_id)
    assert await second.sweep() == 1


async def test_an_owner_of_a_swept_mesh_need_not_sweep_it_again(database: Database) -> None:
    world = await World.make(database, 4_002, 1)
    await world.mesh.register("ann")
    first = world.owner()
    await first.take()
    await first.step(64)
    await first.sweep()

    second = world.owner()
    await second.take(dead=first.owner_id)
    assert second.pump is not None
    assert second.pump.newcomers == set()


async def test_a_sweep_that_was_asked_for_is_asked_for_until_it_is_done(
    database: Database,
) -> None:
    world = await World.make(database, 4_003, 1)
    await world.mesh.register("bob", interests=Interests(tags=("limits",)))
    await world.mesh.register("ann")
    first = world.owner()
    await first.take()
    await world.ask_for_sweep()
    await first.step(64)
    second = world.owner()
    await second.take(dead=first.owner_id)
    await second.step(64)

    assert second.pump is not None
    assert len(second.pump.asked) == 1
    await second.sweep()
    assert second.pump.asked == set()
    assert await world.rows("SELECT 1 FROM hyphaedb.signal WHERE mesh_id = %(mesh)s") == []


async def test_a_cell_retracted_while_a_sweep_is_under_way_is_not_brought_after_all(
    database: Database,
) -> None:
    """Whoever got it now would never hear that it was taken back."""
    world = await World.make(database, 4_004, 1)
    await world.mesh.register("ann")
    stored = await world.mesh.store(tagged("limits"), agent="ann")
    owner = world.owner()
    await owner.take()
    await owner.step(64)
    world.clock.move(hours=1)
    await world.mesh.register("bob", interests=Interests(tags=("limits",)))
    await owner.step(64)
    pump = owner.pump
    assert pump is not None

    async def meanwhile() -> None:
        with contextlib.suppress(Conflict):  # the sweep comes to the retraction itself, too
            await world.mesh.retract(stored.cell_id, agent="ann", reason="wrong")
        await pump.step(64)

    await Sweeper(owner.context, pump, meanwhile).run()
    assert await inbox(world.mesh, "bob") == []


async def test_closing_does_not_wait_for_a_sweep_and_the_next_owner_ends_it(
    place: Place,
) -> None:
    """A sweep of a large mesh takes minutes."""
    opened: list[Mesh] = []
    closing: list[asyncio.Task[None]] = []

    def close() -> None:
        if not closing:
            closing.append(asyncio.create_task(opened[0].close()))

    mesh = await place.open(failpoints=Failpoints({Failpoint.DURING_SWEEP: close}))
    opened.append(mesh)
    await mesh.register("ann")
    await listens(mesh, "bob", "limits")
    await mesh.mute(MuteKind.AGENT, "bob")
    await mesh.store_many([tagged("limits") for _ in range(80)], agent="ann")
    await settled(mesh)
    await mesh.unmute(MuteKind.AGENT, "bob")

    async def closed() -> bool:
        return bool(closing) and closing[0].done()

    await eventually(closed)
    other = await place.open(mesh.info.name, worker=False)
    assert 0 < len(await inbox(other, "bob")) < 80
    successor = await place.open(mesh.info.name)
    await settled(successor)
    assert len(await inbox(successor, "bob")) == 80
