"""From a stored cell to the inboxes of the agents it concerns."""

from __future__ import annotations

import asyncio

import pytest

from hyphaedb.errors import Conflict
from hyphaedb.mesh import Mesh
from hyphaedb.model import (
    CellType,
    DiffState,
    Interests,
    NewCell,
    PrincipalKind,
    Route,
    StoreOutcome,
)
from tests.engine.conftest import Place
from tests.engine.scenes import alike, announce, inbox, listens, routes, settled, tagged, text


@pytest.fixture
async def mesh(place: Place) -> Mesh:
    """Ann writes; bob listens for limits."""
    opened = await place.open()
    await opened.register("ann")
    await listens(opened, "bob", "limits")
    return opened


async def test_a_stored_cell_lands_in_the_inbox_of_the_agent_it_concerns(mesh: Mesh) -> None:
    cell = tagged("limits")
    await announce(mesh, cell, agent="ann")

    assert await inbox(mesh, "bob") == [cell.body]


async def test_work_on_the_same_subject_is_reason_enough(mesh: Mesh) -> None:
    """Nobody declared anything: eve receives because of what she stored herself."""
    await mesh.register("eve")
    for _ in range(6):
        await announce(mesh, alike("login"), agent="eve")
    news = NewCell(alike("login"), type=CellType.DECISION, salience=0.9)
    await announce(mesh, news, agent="ann")

    assert (await inbox(mesh, "eve"))[-1:] == [news.body]
    assert (await routes(mesh, "eve"))[-1:] == [Route.WAVE]


async def test_an_agent_never_receives_its_own_knowledge(mesh: Mesh) -> None:
    await announce(mesh, tagged("limits"), agent="bob")

    assert await inbox(mesh, "bob") == []


async def test_an_agent_without_any_interest_in_it_is_left_alone(mesh: Mesh) -> None:
    await listens(mesh, "cho", "billing")
    await announce(mesh, tagged("limits"), agent="ann")

    assert await inbox(mesh, "cho") == []


async def test_the_receipt_names_who_received_and_who_has_read(mesh: Mesh) -> None:
    stored = await announce(mesh, tagged("limits"), agent="ann")
    page = await mesh.inbox("bob")
    await mesh.acknowledge("bob", [page.cursor])

    receipt = await mesh.receipt(stored.cell_id)
    assert (receipt.delivered, receipt.read) == (("bob",), ("bob",))


async def test_the_same_text_by_another_agent_confirms_the_cell(mesh: Mesh) -> None:
    body = text("limits")
    first = await announce(mesh, body, agent="ann")
    again = await mesh.store(body, agent="bob")

    assert (again.outcome, again.cell_id) == (StoreOutcome.CONFIRMED, first.cell_id)
    assert (await mesh.cell(first.cell_id)).confirmations == 1


async def test_the_same_text_by_its_author_is_a_repeat(mesh: Mesh) -> None:
    body = text("limits")
    first = await announce(mesh, body, agent="ann")
    again = await mesh.store(body, agent="ann")

    assert (again.outcome, again.cell_id) == (StoreOutcome.REPEATED, first.cell_id)
    assert (await mesh.cell(first.cell_id)).confirmations == 0


async def test_a_repeat_travels_no_second_time(mesh: Mesh) -> None:
    cell = tagged("limits")
    await announce(mesh, cell, agent="ann")
    await mesh.store(cell, agent="ann")
    await settled(mesh)

    assert await inbox(mesh, "bob") == [cell.body]


async def test_a_request_sent_twice_gets_the_same_answer(mesh: Mesh) -> None:
    first = await mesh.store("once", agent="ann", idempotency_key="k1")
    again = await mesh.store("once", agent="ann", idempotency_key="k1")

    assert again == first


async def test_another_request_under_the_same_key_is_a_conflict(mesh: Mesh) -> None:
    await mesh.store("once", agent="ann", idempotency_key="k1")

    with pytest.raises(Conflict):
        await mesh.store("something else", agent="ann", idempotency_key="k1")
    assert (await mesh.stats()).cells == 1


async def test_keys_of_two_agents_do_not_meet(mesh: Mesh) -> None:
    one = await mesh.store("ann's words", agent="ann", idempotency_key="k1")
    other = await mesh.store("bob's words", agent="bob", idempotency_key="k1")

    assert one.cell_id != other.cell_id


async def test_eight_stores_at_once_under_one_key_make_one_cell(mesh: Mesh) -> None:
    stored = await asyncio.gather(
        *(mesh.store("at once", agent="ann", idempotency_key="k8") for _ in range(8))
    )

    assert len({s.cell_id for s in stored}) == 1
    assert (await mesh.stats()).cells == 1


async def test_eight_agents_who_say_the_same_at_once_make_one_cell(mesh: Mesh) -> None:
    names = [f"agent-{i}" for i in range(8)]
    for name in names:
        await mesh.register(name)
    stored = await asyncio.gather(*(mesh.store("all agree", agent=n) for n in names))

    (cell_id,) = {s.cell_id for s in stored}
    assert (await mesh.cell(cell_id)).confirmations == 7


async def test_a_batch_is_stored_in_order_and_all_of_it_travels(mesh: Mesh) -> None:
    cells = [tagged("limits") for _ in range(20)]
    stored = await mesh.store_many(cells, agent="ann", session="import")
    await settled(mesh)

    assert [(await mesh.cell(s.cell_id)).body for s in stored] == [c.body for c in cells]
    assert await inbox(mesh, "bob") == [c.body for c in cells]


async def test_a_batch_with_one_bad_cell_stores_nothing(mesh: Mesh) -> None:
    with pytest.raises(Exception, match="empty"):
        await mesh.store_many([tagged("limits"), NewCell(" ")], agent="ann")

    assert (await mesh.stats()).cells == 0


async def test_without_a_worker_a_store_that_waits_says_pending(place: Place) -> None:
    mesh = await place.open(worker=False)
    await mesh.register("ann")
    stored = await mesh.store("words", agent="ann", wait="delivered", timeout_s=0.1)  # type: ignore[arg-type]

    assert (stored.state, stored.receipt) == (DiffState.PENDING, None)


async def test_interest_declared_in_words_is_heard(mesh: Mesh) -> None:
    await mesh.register("eve", interests=Interests(text="invoice currency refund ledger payment"))
    about = "invoice currency refund ledger payment"
    await announce(mesh, NewCell(about, type=CellType.DECISION, salience=0.9), agent="ann")

    assert await inbox(mesh, "eve") == [about]


async def test_a_declared_type_names_every_cell_of_it(mesh: Mesh) -> None:
    await mesh.register("eve", interests=Interests(types=(CellType.RISK,)))
    await announce(mesh, NewCell("a risk of some kind", type=CellType.RISK), agent="ann")
    await announce(mesh, NewCell("a fact of some kind", type=CellType.FACT), agent="ann")

    assert await inbox(mesh, "eve") == ["a risk of some kind"]


async def test_a_ticket_in_the_text_is_a_tag(mesh: Mesh) -> None:
    await listens(mesh, "eve", "PROJ-123")
    await announce(mesh, "PROJ-123 is blocked by the vendor", agent="ann")

    assert await inbox(mesh, "eve") == ["PROJ-123 is blocked by the vendor"]


@pytest.mark.parametrize("kind", [PrincipalKind.TOOL, PrincipalKind.IMPORT])
async def test_whoever_only_writes_receives_nothing(mesh: Mesh, kind: PrincipalKind) -> None:
    await mesh.register("feed", kind=kind, interests=Interests(tags=("limits",)))
    await announce(mesh, tagged("limits"), agent="ann")

    assert await inbox(mesh, "feed") == []


async def test_a_person_receives_like_an_agent(mesh: Mesh) -> None:
    await mesh.register("eve", kind=PrincipalKind.HUMAN, interests=Interests(tags=("limits",)))
    cell = tagged("limits")
    await announce(mesh, cell, agent="ann")

    assert await inbox(mesh, "eve") == [cell.body]


async def test_instances_of_a_role_share_what_they_know(mesh: Mesh) -> None:
    """A new instance of the crew stands where the crew stands, and hears what concerns it."""
    await mesh.register("crew-1", role="crew", instance="1")
    for _ in range(6):
        await announce(mesh, alike("login"), agent="crew-1")
    await mesh.register("crew-2", role="crew", instance="2")
    news = NewCell(alike("login"), type=CellType.DECISION, salience=0.9)
    await announce(mesh, news, agent="ann")

    assert news.body in await inbox(mesh, "crew-2")


async def test_what_one_instance_learns_reaches_the_others_of_its_role(mesh: Mesh) -> None:
    """A shared footprint is not a shared head: the author alone has nothing to hear."""
    for number in "12":
        await mesh.register(
            f"crew-{number}", role="crew", instance=number, interests=Interests(tags=("limits",))
        )
    told = tagged("limits")
    await announce(mesh, told, agent="crew-1")

    assert await inbox(mesh, "crew-1") == []
    assert await inbox(mesh, "crew-2") == [told.body]


async def test_a_retired_agent_receives_no_more(mesh: Mesh) -> None:
    await mesh.retire("bob")
    await announce(mesh, tagged("limits"), agent="ann")

    assert await inbox(mesh, "bob") == []


async def test_a_retired_agent_may_not_store(mesh: Mesh) -> None:
    await mesh.retire("ann")

    with pytest.raises(Conflict):
        await mesh.store("words", agent="ann")


async def test_registering_again_brings_an_agent_back(mesh: Mesh) -> None:
    await mesh.retire("bob")
    await mesh.register("bob")
    cell = tagged("limits")
    await announce(mesh, cell, agent="ann")

    assert await inbox(mesh, "bob") == [cell.body]
