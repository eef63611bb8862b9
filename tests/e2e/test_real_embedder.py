"""The main road with the embedder that ships: the same meaning in other words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from hyphaedb.config import Config
from hyphaedb.mesh import Wiring, open_mesh
from hyphaedb.model import CellType, Interests, NewCell, Route, Wait
from hyphaedb.providers.opening import open_embedder
from hyphaedb.verbs import Verbs

LOGIN = (
    "Session cookies are signed and expire after twelve hours.",
    "Five wrong passwords lock an account for a quarter of an hour.",
    "Single sign-on goes through the company's identity provider.",
    "A password reset link is valid for ten minutes and can be used once.",
)
DECISION = NewCell(
    "Everybody must sign in with a second factor; a password alone is no longer enough.",
    type=CellType.DECISION,
    salience=0.9,
)


@pytest.fixture(scope="module")
async def wiring() -> AsyncIterator[Wiring]:
    embedder = open_embedder("minilm")
    yield Wiring(embedder=embedder)
    await embedder.close()


@pytest.fixture
async def mesh(database_url: str, wiring: Wiring) -> AsyncIterator[Verbs]:
    """Ann keeps the log-in; bob keeps the canteen."""
    config = Config(database_url=database_url, sweep_s=86_400)
    name = f"real-{uuid4().hex[:12]}"
    async with open_mesh(mesh=name, create=True, config=config, wiring=wiring) as opened:
        for agent in ("ann", "bob", "architect"):
            await opened.register(agent)
        for body in LOGIN:
            await opened.store(body, agent="ann", wait=Wait.DELIVERED)
        for body in ("Lunch is served from noon.", "The soup of the day is on the board."):
            await opened.store(body, agent="bob", wait=Wait.DELIVERED)
        yield opened


async def bodies(mesh: Verbs, agent: str) -> list[str | None]:
    return [item.body for item in (await mesh.inbox(agent)).items]


async def test_a_decision_in_other_words_reaches_whoever_works_on_it(mesh: Verbs) -> None:
    await mesh.store(DECISION, agent="architect", wait=Wait.DELIVERED)

    assert await bodies(mesh, "ann") == [DECISION.body]
    assert await bodies(mesh, "bob") == []


async def test_a_late_agent_finds_the_decision_after_a_sweep(mesh: Verbs) -> None:
    await mesh.store(DECISION, agent="architect", wait=Wait.DELIVERED)
    await mesh.register("eve", interests=Interests(text="two-factor authentication of users"))
    await mesh.sweep()

    found = {item.body: item.route for item in (await mesh.inbox("eve")).items}
    assert found.pop(DECISION.body) is Route.SWEEP
    assert set(found) <= set(LOGIN)  # nothing of the canteen


async def test_a_beacon_catches_what_its_dry_run_showed(mesh: Verbs) -> None:
    text = "how employees authenticate"
    await mesh.store(DECISION, agent="architect", wait=Wait.DELIVERED)
    shown = [m.headline for m in await mesh.beacon_dry_run(text, radius=0.3)]
    await mesh.beacon("bob", "sign-in", text, radius=0.3)
    await mesh.sweep()

    assert DECISION.body in shown
    caught = {body for body in await bodies(mesh, "bob") if body in {*LOGIN, DECISION.body}}
    assert caught == set(shown) & {*LOGIN, DECISION.body}


async def test_whoever_had_the_decision_hears_that_it_was_overturned(mesh: Verbs) -> None:
    stored = await mesh.store(DECISION, agent="architect", wait=Wait.DELIVERED)
    await mesh.supersede(stored.cell_id, "The kitchen gets a new oven instead.", agent="architect")
    assert await mesh.settle() == 0

    routes = {item.body: item.route for item in (await mesh.inbox("ann")).items}
    assert routes["The kitchen gets a new oven instead."] is Route.LOG


async def test_a_store_is_recalled_at_once_and_by_its_meaning(mesh: Verbs) -> None:
    await mesh.store(DECISION, agent="architect")
    found = await mesh.recall("Do we need 2FA to log in?", k=2)

    assert DECISION.body in [hit.cell.body for hit in found.hits]


async def test_in_a_mesh_of_one_subject_whoever_declared_it_hears_of_it(
    database_url: str, wiring: Wiring
) -> None:
    """Where every cell is about the API no cell stands out, and yet all of them were asked for."""
    config = Config(database_url=database_url, sweep_s=86_400)
    name = f"api-{uuid4().hex[:12]}"
    api = (
        "API handlers validate the request body.",
        "The public API drops the field order_id: every client has to change.",
        "Clients of the public API authenticate with a token.",
    )
    async with open_mesh(mesh=name, create=True, config=config, wiring=wiring) as narrow:
        for agent in ("planner", "bob"):
            await narrow.register(agent)
        for body in api:
            await narrow.store(body, agent="planner", wait=Wait.DELIVERED)
        await narrow.register("ada", interests=Interests(text="the public API and its clients"))
        await narrow.register("eve", interests=Interests(text="the menu of the canteen"))
        limit = "The public API allows 100 requests a minute."
        await narrow.store(NewCell(limit, type=CellType.DECISION), agent="bob", wait=Wait.DELIVERED)

        assert limit in await bodies(narrow, "ada")
        assert await bodies(narrow, "eve") == []
