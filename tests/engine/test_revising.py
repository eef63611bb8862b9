"""What happens to a cell after it was stored, and who hears of it."""

from __future__ import annotations

import asyncio

import pytest

from hyphaedb.errors import Conflict, Invalid, NotFound
from hyphaedb.mesh import Mesh
from hyphaedb.model import CellState, DiffKind, NewCell, Refusal, Route
from hyphaedb.store import cells
from hyphaedb.store.pool import Database
from tests.engine.conftest import Place
from tests.engine.scenes import alike, announce, inbox, listens, routes, settled, tagged, text


@pytest.fixture
async def mesh(place: Place) -> Mesh:
    """Ann writes; bob listens for limits; cho for billing."""
    opened = await place.open()
    await opened.register("ann")
    await listens(opened, "bob", "limits")
    await listens(opened, "cho", "billing")
    return opened


@pytest.mark.parametrize("verb", ["update", "supersede"])
async def test_whoever_had_received_a_cell_hears_what_replaced_it(mesh: Mesh, verb: str) -> None:
    """By the delivery log, whatever the new text is about."""
    old = await announce(mesh, tagged("limits"), agent="ann")
    await getattr(mesh, verb)(old.cell_id, NewCell("quite another matter"), agent="ann")
    await settled(mesh)

    assert (await inbox(mesh, "bob"))[1:] == ["quite another matter"]
    assert (await routes(mesh, "bob"))[1:] == [Route.LOG]
    assert await inbox(mesh, "cho") == []


async def test_whoever_had_received_a_cell_hears_that_it_was_retracted(mesh: Mesh) -> None:
    old = await announce(mesh, tagged("limits"), agent="ann")
    await mesh.retract(old.cell_id, agent="ann", reason="measured wrongly")
    await settled(mesh)

    page = await mesh.inbox("bob")
    assert [(i.kind, i.reason) for i in sorted(page.items, key=lambda i: i.cursor)] == [
        (DiffKind.CREATED, None),
        (DiffKind.RETRACTED, "measured wrongly"),
    ]
    assert (await mesh.trace(old.cell_id)).reason == "measured wrongly"
    assert await inbox(mesh, "cho") == []


async def test_the_reason_of_a_retraction_counts_in_the_budget_of_an_inbox(mesh: Mesh) -> None:
    """It is read with the item, so it takes its place among the tokens."""
    old = await announce(mesh, tagged("limits"), agent="ann")
    await mesh.retract(old.cell_id, agent="ann", reason="measured wrongly, " * 50)
    await settled(mesh)

    page = await mesh.inbox("bob", tokens=50)
    assert [i.kind for i in page.items] == [DiffKind.RETRACTED]
    assert page.omitted == 1


async def test_whoever_vouched_for_a_cell_hears_that_it_was_retracted(mesh: Mesh) -> None:
    old = await announce(mesh, tagged("limits"), agent="ann")
    await mesh.confirm(old.cell_id, agent="bob")
    await mesh.retract(old.cell_id, agent="ann", reason="measured wrongly")
    await settled(mesh)

    assert Route.LOG in await routes(mesh, "bob")


async def test_the_author_hears_when_another_retracts_its_cell(mesh: Mesh) -> None:
    old = await announce(mesh, tagged("limits"), agent="ann")
    await mesh.retract(old.cell_id, agent="cho", reason="it never was so")
    await settled(mesh)

    assert await routes(mesh, "ann") == [Route.LOG]


async def test_a_cell_retracted_before_its_wave_reaches_nobody(mesh: Mesh) -> None:
    await mesh.pause()
    await settled_signals(mesh)
    old = await mesh.store(tagged("limits"), agent="ann")
    await mesh.retract(old.cell_id, agent="ann", reason="too early")
    await mesh.resume()
    await settled(mesh)

    assert await inbox(mesh, "bob") == []


async def test_of_a_cell_replaced_before_its_wave_only_the_new_text_travels(mesh: Mesh) -> None:
    await mesh.pause()
    await settled_signals(mesh)
    old = await mesh.store(tagged("limits"), agent="ann")
    new = tagged("limits")
    await mesh.supersede(old.cell_id, new, agent="ann")
    await mesh.resume()
    await settled(mesh)

    assert await inbox(mesh, "bob") == [new.body]


async def test_a_correction_of_a_correction_under_way_is_not_lost(mesh: Mesh) -> None:
    """Both wait in one batch; whoever had the first text must end with the last."""
    first = await announce(mesh, tagged("limits"), agent="ann")
    await mesh.pause()
    await settled_signals(mesh)
    second = await mesh.supersede(first.cell_id, NewCell("the second text"), agent="ann")
    await mesh.supersede(second.cell_id, NewCell("the third text"), agent="ann")
    await mesh.resume()
    await settled(mesh)

    assert (await inbox(mesh, "bob"))[-1] == "the third text"


async def settled_signals(mesh: Mesh) -> None:
    """The worker has taken in what was said so far, though diffs may wait."""
    await mesh.settle(timeout_s=0.5)


async def test_a_replaced_cell_is_no_longer_valid(mesh: Mesh) -> None:
    old = await announce(mesh, text("limits"), agent="ann")
    new = await mesh.update(old.cell_id, "said better", agent="ann")

    before = await mesh.cell(old.cell_id)
    after = await mesh.cell(new.cell_id)
    assert before.state is CellState.SUPERSEDED
    assert before.valid_to is not None
    assert (after.replaces, after.state) == (old.cell_id, CellState.ACTIVE)


async def test_new_words_keep_what_the_cell_is_tagged_and_marked_with(mesh: Mesh) -> None:
    cell = NewCell("on a branch", tags=("limits",), ref="feature/x", metadata={"file": "a.py"})
    old = await announce(mesh, cell, agent="ann")
    new = await mesh.cell((await mesh.update(old.cell_id, "reworded", agent="ann")).cell_id)

    assert (new.tags, new.ref, new.metadata) == (("limits",), "feature/x", {"file": "a.py"})


@pytest.mark.parametrize("verb", ["update", "supersede"])
async def test_a_cell_is_replaced_once(mesh: Mesh, verb: str) -> None:
    old = await announce(mesh, text("limits"), agent="ann")
    await mesh.supersede(old.cell_id, "the first to replace it", agent="ann")

    with pytest.raises(Conflict):
        await getattr(mesh, verb)(old.cell_id, "the second", agent="bob")


async def test_a_cell_is_retracted_once(mesh: Mesh) -> None:
    old = await announce(mesh, text("limits"), agent="ann")
    await mesh.retract(old.cell_id, agent="ann", reason="wrong")

    with pytest.raises(Conflict):
        await mesh.retract(old.cell_id, agent="bob", reason="wrong")


async def test_a_refused_replacement_leaves_the_old_cell_standing(mesh: Mesh) -> None:
    """The new text stands already: nothing is closed for it."""
    old = await announce(mesh, text("limits"), agent="ann")
    other = text("billing")
    await announce(mesh, other, agent="ann")

    with pytest.raises(Conflict):
        await mesh.supersede(old.cell_id, other, agent="ann")
    assert (await mesh.cell(old.cell_id)).state is CellState.ACTIVE


async def test_a_confirmation_counts_once_an_agent(mesh: Mesh) -> None:
    old = await announce(mesh, text("limits"), agent="ann")
    for agent in ("bob", "bob", "cho"):
        await mesh.confirm(old.cell_id, agent=agent)

    assert (await mesh.cell(old.cell_id)).confirmations == 2


async def test_the_author_does_not_confirm_itself(mesh: Mesh) -> None:
    old = await announce(mesh, text("limits"), agent="ann")

    assert (await mesh.confirm(old.cell_id, agent="ann")).confirmations == 0


async def test_whoever_confirmed_a_cell_earned_an_interest_in_its_place(mesh: Mesh) -> None:
    """The confirmation came before the cell was linked; it must not be lost on the way."""
    await mesh.register("eve")
    await mesh.pause()
    await settled_signals(mesh)
    stored = [await mesh.store(alike("login"), agent="ann") for _ in range(4)]
    for one in stored:
        await mesh.confirm(one.cell_id, agent="eve")
    await settled_signals(mesh)
    await mesh.resume()
    await settled(mesh)
    trace = await mesh.trace((await announce(mesh, alike("login"), agent="ann")).cell_id)

    interests = {d.agent: d.interest for d in trace.deliveries}
    interests |= {r.agent: r.interest for r in trace.refused}
    assert interests["eve"] > 0.3


async def test_a_related_cell_is_reached_over_the_edge(mesh: Mesh) -> None:
    """Two cells about different things; a strong edge makes them neighbours of the wave."""
    far = await announce(mesh, text("deploy"), agent="bob")
    near = await announce(mesh, text("limits"), agent="ann")
    reached = (await mesh.trace(near.cell_id)).settled
    await mesh.relate(near.cell_id, far.cell_id, omega=1.0)
    await settled(mesh)
    news = await mesh.supersede(near.cell_id, text("limits"), agent="ann")
    await mesh.relate(news.cell_id, far.cell_id, omega=1.0)
    await settled(mesh)

    assert reached >= 1
    assert (await mesh.stats()).components == 1


async def test_an_edge_is_walked_by_the_next_wave(mesh: Mesh) -> None:
    """Related before the worker saw either cell, the edge is there when the first wave runs."""
    await mesh.pause()
    await settled_signals(mesh)
    hub = await mesh.store(text("deploy"), agent="bob")
    origin = await mesh.store(tagged("limits"), agent="cho")
    await mesh.relate(origin.cell_id, hub.cell_id, omega=1.0)
    await mesh.resume()
    await settled(mesh)
    trace = await mesh.trace(origin.cell_id)

    cheapest = min(hop.energy_least for hop in trace.hops if hop.hops == 1)
    assert trace.energy - cheapest == pytest.approx(1.0)


async def test_an_edge_needs_two_cells_and_a_weight(mesh: Mesh) -> None:
    one = await announce(mesh, text("limits"), agent="ann")
    other = await announce(mesh, text("limits"), agent="ann")

    with pytest.raises(Invalid):
        await mesh.relate(one.cell_id, one.cell_id)
    with pytest.raises(Invalid):
        await mesh.relate(one.cell_id, other.cell_id, omega=0.0)


async def test_a_correction_reaches_an_agent_that_was_turned_away_by_the_gate(mesh: Mesh) -> None:
    """What the log does not name goes by the wave, and is judged like any other cell."""
    old = await announce(mesh, tagged("billing"), agent="ann")
    trace = await mesh.trace(old.cell_id)
    assert "bob" in {r.agent for r in trace.refused if r.reason is not Refusal.OWN}
    new = await mesh.supersede(old.cell_id, tagged("limits"), agent="ann")
    await settled(mesh)

    assert "bob" in {d.agent for d in (await mesh.trace(new.cell_id)).deliveries}


async def test_an_edge_to_a_cell_that_is_being_erased_finds_it_gone(
    mesh: Mesh, database: Database
) -> None:
    one, other = [await announce(mesh, text("limits"), agent="ann") for _ in range(2)]
    async with database.transaction() as tx:
        assert await cells.forget(tx, mesh.info.mesh_id, other.cell_id)
        relating = asyncio.create_task(mesh.relate(one.cell_id, other.cell_id))
        await asyncio.sleep(0.3)

    with pytest.raises(NotFound, match="erased a moment ago"):
        await relating
