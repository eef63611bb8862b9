"""The story of section 5.1, on a real Postgres and with the embedder that ships.

Three agents have worked for a while: five cells between them. Then an architect decides on rate
limiting, addresses nobody, and the mesh works out whom it concerns.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from hyphaedb.config import Config
from hyphaedb.mesh import Wiring, open_mesh
from hyphaedb.model import CellType, NewCell, Route, Trace, Wait
from hyphaedb.providers.opening import open_embedder
from hyphaedb.verbs import Verbs

WORK = {
    "code-agent": (
        "The public API forwards every request of a client to the orders service.",
        "API handlers validate the request body before they call the service.",
    ),
    "review-agent": ("A pull request needs two approvals before it is merged.",),
    "test-agent": (
        "The browser tests run in headless Firefox and take eleven minutes.",
        "Snapshots of the checkout page are compared pixel by pixel.",
    ),
}
BREAKING_CHANGE = "A breaking change: existing clients of the API must change their code"
RATE_LIMIT = (
    "We limit the public API to 100 requests a minute for each client; beyond that it answers 429,"
    " so clients must slow down and retry."
)
UNRELATED = (
    "The office plants are watered on Mondays and Thursdays.",
    "Sourdough bread rises for twelve hours in a cool kitchen.",
    "The last ferry to the island leaves at half past nine in the evening.",
    "Her grandmother taught her to play the cello.",
    "Heavy snow is expected in the mountains from Friday on.",
)


async def announce(mesh: Verbs, body: str, *, agent: str) -> Trace:
    """Store what travels farthest (Table 1: a decision, s = 0.9), and return its settled wave."""
    cell = NewCell(body=body, type=CellType.DECISION, salience=0.9)
    stored = await mesh.store(cell, agent=agent, wait=Wait.DELIVERED)
    return await mesh.trace(stored.cell_id)


@pytest.fixture
def config(database_url: str) -> Config:
    """The shipped defaults; sweeps only when asked for, so that waves alone are looked at."""
    return Config(database_url=database_url, sweep_s=86_400)


@pytest.fixture
def mesh_name() -> str:
    return f"story-{uuid4().hex[:12]}"


@pytest.fixture(scope="module")
async def wiring() -> AsyncIterator[Wiring]:
    """The embedder that ships, loaded once for all tests here."""
    embedder = open_embedder("minilm")
    yield Wiring(embedder=embedder)
    await embedder.close()


@pytest.fixture
async def mesh(config: Config, mesh_name: str, wiring: Wiring) -> AsyncIterator[Verbs]:
    """The five cells of three agents, an architect without any, and the reviewer's beacon."""
    async with open_mesh(mesh=mesh_name, create=True, config=config, wiring=wiring) as opened:
        for agent, cells in WORK.items():
            await opened.register(agent)
            for body in cells:
                await opened.store(body, agent=agent, wait=Wait.DELIVERED)
        await opened.register("architect")
        await opened.beacon("review-agent", "breaking change", BREAKING_CHANGE)
        yield opened


async def test_earlier_work_disturbs_nobody(mesh: Verbs) -> None:
    for agent in WORK:
        assert (await mesh.inbox(agent)).items == ()


async def test_the_decision_reaches_the_agent_that_works_on_the_api(mesh: Verbs) -> None:
    """Nobody subscribed the code agent to anything: it is near by what it stored."""
    await announce(mesh, RATE_LIMIT, agent="architect")

    (item,) = (await mesh.inbox("code-agent")).items
    assert item.body == RATE_LIMIT
    assert item.author == "architect"
    assert item.route is Route.WAVE


async def test_the_trace_says_why_the_code_agent_received_it(mesh: Verbs) -> None:
    """The path begins at the decision, every hop costs energy, and its own work earned interest."""
    trace = await announce(mesh, RATE_LIMIT, agent="architect")

    (delivery,) = (one for one in trace.deliveries if one.agent == "code-agent")
    assert delivery.path[0].cell_id == trace.cell_id
    assert 0 < delivery.energy < trace.energy
    assert delivery.interest > 0
    assert delivery.score >= trace.gate


async def test_the_decision_reaches_the_reviewer_through_its_beacon(mesh: Verbs) -> None:
    await announce(mesh, RATE_LIMIT, agent="architect")

    (item,) = (await mesh.inbox("review-agent")).items
    assert item.route is Route.BEACON
    assert item.beacon == "breaking change"


async def test_the_decision_does_not_reach_the_test_agent(mesh: Verbs) -> None:
    """It is left alone, and the trace says with which score and why."""
    trace = await announce(mesh, RATE_LIMIT, agent="architect")

    assert (await mesh.inbox("test-agent")).items == ()
    (refused,) = (one for one in trace.refused if one.agent == "test-agent")
    assert refused.score < trace.gate


async def test_the_architect_does_not_hear_its_own_words(mesh: Verbs) -> None:
    trace = await announce(mesh, RATE_LIMIT, agent="architect")

    assert sorted(one.agent for one in trace.deliveries) == ["code-agent", "review-agent"]


async def test_five_unrelated_cells_deliver_to_nobody(mesh: Verbs) -> None:
    traces = [await announce(mesh, body, agent="architect") for body in UNRELATED]

    assert [trace.deliveries for trace in traces] == [()] * len(UNRELATED)


async def test_the_first_five_cells_of_an_evening_deliver_to_nobody(
    config: Config, mesh_name: str, wiring: Wiring
) -> None:
    """With five cells about five subjects nobody is crowned for being the least unfit."""
    async with open_mesh(mesh=mesh_name, create=True, config=config, wiring=wiring) as empty:
        for number, body in enumerate(UNRELATED):
            await empty.register(f"agent-{number}")
            trace = await announce(empty, body, agent=f"agent-{number}")
            assert trace.deliveries == ()
