"""Beacons: standing subscriptions to a region, whether or not a wave gets there."""

from __future__ import annotations

import pytest

from hyphaedb.errors import NotFound
from hyphaedb.mesh import Mesh
from hyphaedb.model import CellType, NewCell, Route
from tests.engine.conftest import Place
from tests.engine.scenes import announce, inbox, routes, settled, text

ABOUT = "release canary rollback cluster image pipeline"


@pytest.fixture
async def mesh(place: Place) -> Mesh:
    """Ann writes; bob has stored nothing and watches deployments."""
    opened = await place.open()
    await opened.register("ann")
    await opened.register("bob")
    return opened


async def test_a_beacon_fires_for_what_lands_in_its_region(mesh: Mesh) -> None:
    await mesh.beacon("bob", "deploys", ABOUT, radius=0.5)
    await announce(mesh, ABOUT + " stage", agent="ann")

    assert await routes(mesh, "bob") == [Route.BEACON]
    assert (await mesh.inbox("bob")).items[0].beacon == "deploys"


async def test_a_beacon_does_not_fire_outside_its_region(mesh: Mesh) -> None:
    await mesh.beacon("bob", "deploys", ABOUT, radius=0.5)
    await announce(mesh, text("billing"), agent="ann")

    assert await inbox(mesh, "bob") == []


async def test_a_beacon_asks_for_its_types_and_tags(mesh: Mesh) -> None:
    await mesh.beacon("bob", "deploys", ABOUT, radius=0.4, types=(CellType.RISK,), tags=("prod",))
    await announce(mesh, NewCell(ABOUT + " one", type=CellType.RISK), agent="ann")
    await announce(mesh, NewCell(ABOUT + " two", tags=("prod",)), agent="ann")
    wanted = NewCell(ABOUT + " three", type=CellType.RISK, tags=("prod", "eu"))
    await announce(mesh, wanted, agent="ann")

    assert await inbox(mesh, "bob") == [wanted.body]


async def test_a_beacon_of_the_same_name_is_moved(mesh: Mesh) -> None:
    first = await mesh.beacon("bob", "watch", ABOUT, radius=0.5)
    again = await mesh.beacon("bob", "watch", "invoice customer tax currency", radius=0.5)
    await announce(mesh, ABOUT + " stage", agent="ann")

    assert again.beacon_id == first.beacon_id
    assert [b.text for b in await mesh.beacons("bob")] == ["invoice customer tax currency"]
    assert await inbox(mesh, "bob") == []


async def test_a_beacon_that_was_removed_fires_no_more(mesh: Mesh) -> None:
    await mesh.beacon("bob", "deploys", ABOUT, radius=0.5)
    await mesh.remove_beacon("bob", "deploys")
    await announce(mesh, ABOUT + " stage", agent="ann")

    assert await inbox(mesh, "bob") == []
    with pytest.raises(NotFound):
        await mesh.remove_beacon("bob", "deploys")


async def test_a_beacon_does_not_fire_for_its_owners_own_words(mesh: Mesh) -> None:
    await mesh.beacon("bob", "deploys", ABOUT, radius=0.5)
    await announce(mesh, ABOUT + " stage", agent="bob")

    assert await inbox(mesh, "bob") == []


async def test_a_dry_run_shows_what_a_beacon_would_have_caught(mesh: Mesh) -> None:
    near = await announce(mesh, ABOUT + " stage", agent="ann")
    await announce(mesh, text("billing"), agent="ann")
    matches = await mesh.beacon_dry_run(ABOUT, radius=0.5)

    assert [m.cell_id for m in matches] == [near.cell_id]
    assert matches[0].cosine >= 0.5


async def test_a_dry_run_catches_what_the_beacon_then_does(mesh: Mesh) -> None:
    """The same radius, filters and cosine on both sides."""
    bodies = [f"{ABOUT} {' '.join(text('billing').split()[:n])}" for n in (1, 4, 8, 16)]
    await mesh.beacon("bob", "deploys", ABOUT, radius=0.6)
    for body in bodies:
        await announce(mesh, body, agent="ann")
    matches = await mesh.beacon_dry_run(ABOUT, radius=0.6)

    caught = {(await mesh.cell(m.cell_id)).body for m in matches}
    assert caught == set(await inbox(mesh, "bob"))


async def test_a_dry_run_delivers_nothing(mesh: Mesh) -> None:
    await announce(mesh, ABOUT + " stage", agent="ann")
    await mesh.beacon_dry_run(ABOUT, radius=0.5)
    await settled(mesh)

    assert (await mesh.stats()).deliveries == 0


async def test_a_new_beacon_finds_earlier_cells_after_a_sweep(mesh: Mesh) -> None:
    body = ABOUT + " stage"
    await announce(mesh, body, agent="ann")
    await mesh.beacon("bob", "deploys", ABOUT, radius=0.5)
    await mesh.sweep()

    assert await inbox(mesh, "bob") == [body]
