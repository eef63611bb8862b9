"""What an operator may do to a mesh: mute, pause, shadow; and what an agent's attention bounds."""

from __future__ import annotations

import pytest

from hyphaedb.mesh import Mesh
from hyphaedb.model import CellType, MuteKind, NewCell, Refusal, Route
from tests.engine.conftest import Clock, Place
from tests.engine.scenes import announce, eventually, inbox, listens, routes, settled, tagged, text


@pytest.fixture
async def mesh(place: Place) -> Mesh:
    """Ann and cho write; bob listens for limits."""
    opened = await place.open()
    await opened.register("ann")
    await opened.register("cho")
    await listens(opened, "bob", "limits")
    return opened


MUTES = [
    (MuteKind.AGENT, "bob"),
    (MuteKind.AUTHOR, "ann"),
    (MuteKind.TYPE, CellType.FACT.value),
]


@pytest.mark.parametrize(("kind", "subject"), MUTES)
async def test_a_mute_keeps_deliveries_back(mesh: Mesh, kind: MuteKind, subject: str) -> None:
    await mesh.mute(kind, subject)
    stored = await announce(mesh, tagged("limits"), agent="ann")

    assert await inbox(mesh, "bob") == []
    refused = (await mesh.trace(stored.cell_id)).refused
    assert {r.agent: r.reason for r in refused}["bob"] is Refusal.MUTED


@pytest.mark.parametrize(("kind", "subject"), MUTES)
async def test_lifting_a_mute_brings_what_it_kept_back(
    mesh: Mesh, kind: MuteKind, subject: str
) -> None:
    await mesh.mute(kind, subject)
    cell = tagged("limits")
    await announce(mesh, cell, agent="ann")
    await mesh.unmute(kind, subject)
    await settled(mesh)

    assert await inbox(mesh, "bob") == [cell.body]
    assert await routes(mesh, "bob") == [Route.SWEEP]


async def test_a_muted_author_is_the_only_one_silenced(mesh: Mesh) -> None:
    await mesh.mute(MuteKind.AUTHOR, "ann")
    cell = tagged("limits")
    await announce(mesh, cell, agent="cho")

    assert await inbox(mesh, "bob") == [cell.body]


async def test_a_muted_agent_still_hears_corrections_of_what_it_has(mesh: Mesh) -> None:
    old = await announce(mesh, tagged("limits"), agent="ann")
    await mesh.mute(MuteKind.AGENT, "bob")
    await mesh.retract(old.cell_id, agent="ann", reason="wrong")
    await settled(mesh)

    assert await routes(mesh, "bob") == [Route.WAVE, Route.LOG]


async def test_muting_twice_and_unmuting_twice_is_harmless(mesh: Mesh) -> None:
    await mesh.mute(MuteKind.AGENT, "bob")
    await mesh.mute(MuteKind.AGENT, "bob")
    assert await mesh.mutes() == [(MuteKind.AGENT, "bob")]
    await mesh.unmute(MuteKind.AGENT, "bob")
    await mesh.unmute(MuteKind.AGENT, "bob")

    assert await mesh.mutes() == []


async def test_a_paused_mesh_accepts_stores_and_runs_no_wave(mesh: Mesh) -> None:
    assert (await mesh.pause()).paused
    await mesh.store(tagged("limits"), agent="ann")
    await mesh.settle(timeout_s=0.3)

    assert (await mesh.stats()).pending == 1
    assert await inbox(mesh, "bob") == []


async def test_resuming_runs_what_waited_in_order(mesh: Mesh) -> None:
    await mesh.pause()
    cells = [tagged("limits") for _ in range(5)]
    for cell in cells:
        await mesh.store(cell, agent="ann")
    assert not (await mesh.resume()).paused
    await settled(mesh)

    assert await inbox(mesh, "bob") == [c.body for c in cells]


async def test_what_is_recalled_while_paused_is_found(mesh: Mesh) -> None:
    await mesh.pause()
    body = text("limits")
    await mesh.store(body, agent="ann")

    assert [h.cell.body for h in (await mesh.recall(body, k=1)).hits] == [body]


async def test_a_mute_lifted_during_a_pause_is_made_good_afterwards(place: Place) -> None:
    """The sweep that it asks for may not deliver yet; it must not be forgotten either."""
    mesh = await place.open(sweep_s=0.05)
    await mesh.register("ann")
    await listens(mesh, "bob", "limits")
    await mesh.mute(MuteKind.AGENT, "bob")
    cell = tagged("limits")
    await announce(mesh, cell, agent="ann")
    await mesh.pause()
    await mesh.unmute(MuteKind.AGENT, "bob")
    await settled(mesh)
    await mesh.resume()
    await eventually(lambda: _has(mesh, "bob", cell.body))


async def _has(mesh: Mesh, agent: str, body: str) -> bool:
    return body in await inbox(mesh, agent)


async def test_shadow_mode_records_deliveries_and_makes_none(mesh: Mesh) -> None:
    assert (await mesh.shadow(True)).shadow
    stored = await announce(mesh, tagged("limits"), agent="ann")

    trace = await mesh.trace(stored.cell_id)
    assert [(d.agent, d.shadow) for d in trace.deliveries] == [("bob", True)]
    assert await inbox(mesh, "bob") == []


async def test_after_shadow_mode_new_cells_are_delivered(mesh: Mesh) -> None:
    await mesh.shadow(True)
    await announce(mesh, tagged("limits"), agent="ann")
    await mesh.shadow(False)
    cell = tagged("limits")
    await announce(mesh, cell, agent="ann")

    assert await inbox(mesh, "bob") == [cell.body]


async def test_attention_bounds_what_waves_deliver_in_an_hour(mesh: Mesh) -> None:
    await listens(mesh, "eve", "limits", attention=2)
    for _ in range(4):
        await announce(mesh, tagged("limits"), agent="ann")

    assert len(await inbox(mesh, "eve")) == 2
    assert len(await inbox(mesh, "bob")) == 4


async def test_attention_holds_within_one_batch(mesh: Mesh) -> None:
    await listens(mesh, "eve", "limits", attention=2)
    await mesh.store_many([tagged("limits") for _ in range(10)], agent="ann")
    await settled(mesh)

    assert len(await inbox(mesh, "eve")) == 2


async def test_the_trace_says_that_attention_was_used_up(mesh: Mesh) -> None:
    await listens(mesh, "eve", "limits", attention=1)
    await announce(mesh, tagged("limits"), agent="ann")
    stored = await announce(mesh, tagged("limits"), agent="ann")

    refused = (await mesh.trace(stored.cell_id)).refused
    assert {r.agent: r.reason for r in refused}["eve"] is Refusal.BANDWIDTH


async def test_whoever_a_sweep_told_later_is_no_longer_among_the_refused(
    mesh: Mesh, clock: Clock
) -> None:
    await listens(mesh, "eve", "limits", attention=1)
    await announce(mesh, tagged("limits"), agent="ann")
    stored = await announce(mesh, tagged("limits"), agent="ann")
    clock.move(hours=2)
    await mesh.sweep()

    trace = await mesh.trace(stored.cell_id)
    assert {d.agent: d.route for d in trace.deliveries}["eve"] is Route.SWEEP
    assert "eve" not in {r.agent for r in trace.refused}
    assert "eve" in {s.agent for s in await mesh.who_saw(stored.cell_id) if s.delivered_at}


async def test_a_sweep_does_not_go_beyond_an_agents_attention(mesh: Mesh) -> None:
    await listens(mesh, "eve", "limits", attention=2)
    for _ in range(4):
        await announce(mesh, tagged("limits"), agent="ann")

    assert await mesh.sweep() == 0


async def test_what_exceeded_the_attention_comes_in_a_later_hour_best_first(
    mesh: Mesh, clock: Clock
) -> None:
    await listens(mesh, "eve", "limits", attention=2)
    for salience in (0.9, 0.9, 0.3, 0.6, 0.5):
        cell = NewCell(text("limits"), tags=("limits",), salience=salience)
        await announce(mesh, cell, agent="ann")
    clock.move(hours=2)

    assert await mesh.sweep() == 2
    scores = [i.score for i in (await mesh.inbox("eve", after=0, items=500)).items]
    assert len(scores) == 4
    clock.move(hours=2)
    assert await mesh.sweep() == 1
