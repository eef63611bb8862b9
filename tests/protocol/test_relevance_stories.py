"""Small meshes told in sentences, embedded by the real embedder and judged by the shipped law.

Every mesh here is far too young to have a panel of its own. All its cells count as settled, as
they do in a wave over so few.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from hyphaedb.protocol.calibration import baseline, calibrate
from hyphaedb.protocol.geometry import cosine, position
from hyphaedb.protocol.interest import claim, declared_interest, earned_interest, interest
from hyphaedb.protocol.relevance import delivers, receiver_relevance, score
from hyphaedb.providers.opening import open_embedder

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Agent:
    """What an agent stored or confirmed, and what it declared when it registered."""

    cells: Sequence[str] = ()
    wants: str = ""
    tags: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    stands_at: str = ""


@dataclass(frozen=True)
class Story:
    """A mesh, a new cell, and who must hear of it: exactly these."""

    agents: Mapping[str, Agent]
    author: str
    tells: str
    reach: frozenset[str]
    salience: float = 0.7
    type: str = "fact"
    tags: frozenset[str] = frozenset()


def story(author: str, tells: str, reach: str, agents: dict[str, Agent], **more: object) -> Story:
    return Story(agents, author, tells, frozenset(reach.split()), **more)  # type: ignore[arg-type]


API_TEAM = {
    "code": Agent(
        (
            "The REST API lists orders at /v1/orders and pages with a cursor.",
            "API clients authenticate with a bearer token in the Authorization header.",
        )
    ),
    "test": Agent(
        (
            "Screenshot tests of the settings page are flaky in Firefox.",
            "The end-to-end suite drives the login form with a headless browser.",
        )
    ),
    "review": Agent(("Pull requests need a description that says why, not only what.",)),
}

STORIES = {
    "a rate limit reaches the agent who works on the API, not the one who tests pages": story(
        "architect",
        "Decision: the public API limits every client to 100 requests a minute and answers 429.",
        "code",
        API_TEAM,
        salience=0.9,
        type="decision",
    ),
    "one stored cell is enough to be found by its own topic": story(
        "architect",
        "API requests without a valid bearer token are answered with 401 from now on.",
        "code",
        {"code": Agent(API_TEAM["code"].cells[1:]), "test": API_TEAM["test"]},
    ),
    "five unrelated cells deliver to nobody": story(
        "intern",
        "The coffee machine on the second floor is being descaled today.",
        "",
        {
            "backend": Agent(("Invoices are numbered without gaps inside one fiscal year.",)),
            "mobile": Agent(("The iOS app crashes when the camera permission is denied.",)),
            "data": Agent(("The churn model is retrained every Sunday night.",)),
            "ops": Agent(("TLS certificates are renewed thirty days before they expire.",)),
            "docs": Agent(("The style guide asks for short sentences in the active voice.",)),
        },
    ),
    "what touches none of three trades is kept from all of them": story(
        "bot",
        "The marathon closes the streets around the office on Sunday.",
        "",
        API_TEAM,
        salience=0.9,
    ),
    "a lone colleague in another trade is not crowned for being the only one": story(
        "writer",
        "The chapter on the siege of Vienna needs a map of the city walls.",
        "",
        {"cook": Agent(("Braise the lamb shanks for three hours at low heat.",))},
    ),
    "of two agents the one at work on the broken thing hears of it": story(
        "monitor",
        "Payment webhooks fail since noon: the provider changed the format of its signature.",
        "payments",
        {
            "payments": Agent(
                (
                    "Webhooks of the payment provider are verified by their HMAC signature.",
                    "A failed card payment is retried three times over five days.",
                )
            ),
            "search": Agent(
                (
                    "The search index is rebuilt every night at two.",
                    "Synonyms for product names live in a file that editors maintain.",
                )
            ),
        },
    ),
    "a support desk: the one who handles refunds hears of the new refund limit": story(
        "lead",
        "Refunds up to 150 euros may now be granted without asking the team lead.",
        "refunds",
        {
            "refunds": Agent(("Refunds above 50 euros need the approval of the team lead.",)),
            "shipping": Agent(("Parcels to Norway need a customs form in three copies.",)),
            "onboarding": Agent(("New customers get a call in their first week.",)),
            "hardware": Agent(("The router blinks orange when its firmware is damaged.",)),
        },
    ),
    "a research team: both who study sleep hear of the sleep result, the geologist does not": story(
        "reader",
        "A new trial finds that evening light delays sleep by forty minutes in adults.",
        "sleep-a sleep-b",
        {
            "sleep-a": Agent(("Blue light in the evening lowers melatonin and delays sleep.",)),
            "sleep-b": Agent(("Adults who sleep under six hours react as slowly as the drunk.",)),
            "geology": Agent(("The basalt layer below the lake is eleven metres thick.",)),
        },
    ),
    "a declared interest is met by its text without any footprint": story(
        "scanner",
        "The login form lets an attacker inject SQL through the user name.",
        "security",
        {
            "security": Agent(wants="Security holes: SQL injection, cross-site scripting, leaks."),
            "design": Agent(wants="Colours, spacing and typography of the user interface."),
        },
    ),
    "a declared tag names the cell whatever its text": story(
        "planner",
        "Moved to the next sprint.",
        "tracker",
        {"tracker": Agent(tags=frozenset({"PROJ-123"})), "other": Agent(tags=frozenset({"X-1"}))},
        tags=frozenset({"PROJ-123"}),
    ),
    "declared types narrow a text and do not replace it": story(
        "scanner",
        "The login form lets an attacker inject SQL through the user name.",
        "",
        {"security": Agent(wants="SQL injection in login forms", types=frozenset({"decision"}))},
    ),
    "an agent known only by its position is judged by it": story(
        "dba",
        "Vacuum on the orders table has not run for a week and queries are slow.",
        "near",
        {
            "near": Agent(stands_at="PostgreSQL performance: vacuum, indexes and slow queries"),
            "far": Agent(stands_at="Translating the help pages into Portuguese"),
        },
    ),
}


class Embedded:
    """Every sentence of every story, and the shipped panel."""

    def __init__(self, rows: dict[str, Vectors], panel: Vectors) -> None:
        self.rows = rows
        self.panel = panel

    def of(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.rows[t] for t in texts]) if texts else self.panel[:0]


def sentences(told: Story) -> list[str]:
    texts = [told.tells]
    for agent in told.agents.values():
        texts += [*agent.cells, *([agent.wants] if agent.wants else [])]
        texts += [agent.stands_at] if agent.stands_at else []
    return texts


@pytest.fixture(scope="module")
def embedded() -> Embedded:
    texts = sorted({t for told in STORIES.values() for t in sentences(told)})

    async def run() -> Embedded:
        embedder = open_embedder("minilm")
        try:
            panel = await embedder.panel()
            assert panel is not None
            return Embedded(dict(zip(texts, await embedder.embed(texts), strict=True)), panel)
        finally:
            await embedder.close()

    return asyncio.run(run())


@dataclass
class Judged:
    """The columns of the law, one row an agent."""

    names: list[str]
    r: NDArray[np.float64]
    earned: NDArray[np.float64]
    interest: NDArray[np.float64]
    score: NDArray[np.int64]
    reach: frozenset[str] = field(default_factory=frozenset)


def judge(told: Story, embedded: Embedded) -> Judged:
    names = list(told.agents)
    agents = [told.agents[n] for n in names]
    diff = embedded.of([told.tells])[0]
    cells = list(dict.fromkeys(c for a in agents for c in a.cells))
    rows = embedded.of(cells)
    calibration = calibrate(rows, embedded.panel)
    base = baseline(diff, calibration)

    stands = [embedded.of(a.cells or ([a.stands_at] if a.stands_at else [])) for a in agents]
    places = [position(s, np.ones(len(s)), np.zeros(len(s)), 0.1) for s in stands]
    placed = np.array([p is not None for p in places])
    cosines = np.array([0.0 if p is None else cosine(diff, p[None, :])[0] for p in places])
    r = receiver_relevance(cosines, base, placed)

    touched = [(cells.index(c), h) for h, a in enumerate(agents) for c in a.cells]
    at, holders = np.array(touched, dtype=np.int64).reshape(-1, 2).T
    earned = earned_interest(
        cosine(diff, rows), base, at, holders, np.ones(len(at)), np.ones(len(agents), bool)
    )
    claims = [claim(a.tags, a.types, bool(a.wants), told.tags, told.type) for a in agents]
    wants = np.array([cosine(diff, embedded.of([a.wants]))[0] if a.wants else 0.0 for a in agents])
    declared = declared_interest(
        wants, base, np.array([n for n, _ in claims]), np.array([t for _, t in claims])
    )
    known = np.array([bool(a.cells or a.wants or a.tags or a.types) for a in agents])
    iota = interest(declared, earned, r, known, 1.0 - calibration.own_share)
    scores = score(r, iota, told.salience)
    reach = frozenset(n for n, yes in zip(names, delivers(scores), strict=True) if yes)
    return Judged(names, r, earned, iota, scores, reach)


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str, embedded: Embedded) -> None:
    """A new cell reaches exactly those whose work or words it is about."""
    judged = judge(STORIES[name], embedded)
    assert judged.reach == STORIES[name].reach, judged
