"""The offline reasoner: titles, patterns and judging without a network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import pytest

from hyphaedb.errors import Unavailable
from hyphaedb.model import CellType
from hyphaedb.providers.embedding import Embedder
from hyphaedb.providers.offline_reasoner import OfflineReasoner
from hyphaedb.providers.opening import open_embedder
from hyphaedb.providers.reasoner import Direction, Judge, Label, Pair, Statement, Verdict
from hyphaedb.providers.titling import TITLE_CHARS_MAX, count_terms, title_of

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ALIKE = (
    "The staging database runs out of connections every Monday.",
    "The connection pool of the staging database is exhausted on Monday mornings.",
    "On Mondays staging has no database connections left.",
    "Staging runs out of database connections on Mondays.",
)
UNRELATED = (
    "The logo of the shop is blue.",
    "Kafka keeps its messages for seven days.",
    "The Android build needs Java 17.",
)


def said(*bodies: str) -> list[Statement]:
    return [Statement(body, CellType.FACT, NOW) for body in bodies]


class Contradicting:
    """A judge that finds every pair with one certain statement contradictory."""

    def __init__(self, body: str) -> None:
        self.body = body
        self.closed = False

    @property
    def name(self) -> str:
        return "certain"

    async def judge(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        return tuple(
            Verdict(
                Label.CONTRADICTS
                if self.body in (pair.first.body, pair.second.body)
                else Label.COMPATIBLE,
                Direction.NONE,
                0.9,
                "told so",
            )
            for pair in pairs
        )

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    opened = open_embedder("minilm")
    yield opened
    await opened.close()


@pytest.fixture
async def reasoner(embedder: Embedder) -> OfflineReasoner:
    return OfflineReasoner(embedder)


async def test_a_pattern_is_the_most_central_statement_with_its_evidence(
    reasoner: OfflineReasoner,
) -> None:
    pattern = await reasoner.generalise(said(*ALIKE, UNRELATED[0]))
    assert pattern is not None
    assert pattern.body.removesuffix(" (Said alike in 4 of 5 statements.)") in ALIKE
    assert pattern.evidence == (0, 1, 2, 3)
    assert 0.3 < pattern.confidence < 1.0


@pytest.mark.parametrize("bodies", [UNRELATED, ALIKE[:2], (*ALIKE[:2], *UNRELATED), ()])
async def test_there_is_no_pattern_below_three_statements_that_say_alike(
    reasoner: OfflineReasoner, bodies: tuple[str, ...]
) -> None:
    assert await reasoner.generalise(said(*bodies)) is None


async def test_what_contradicts_the_central_statement_is_no_evidence_for_it(
    embedder: Embedder,
) -> None:
    never = "The staging database never runs out of connections on Mondays."
    judge: Judge = Contradicting(never)
    pattern = await OfflineReasoner(embedder, judge).generalise(said(*ALIKE, never))
    assert pattern is None or 4 not in pattern.evidence


async def test_more_evidence_makes_a_pattern_surer(reasoner: OfflineReasoner) -> None:
    few = await reasoner.generalise(said(*ALIKE[:3]))
    more = await reasoner.generalise(said(*ALIKE))
    assert few is not None
    assert more is not None
    assert few.confidence < more.confidence


async def test_without_a_judge_pairs_stay_open(reasoner: OfflineReasoner) -> None:
    first, second = said(*ALIKE[:2])
    with pytest.raises(Unavailable, match="stay open"):
        await reasoner.judge([Pair(first, second)])


async def test_the_injected_judge_judges_is_named_and_closed(embedder: Embedder) -> None:
    judge = Contradicting(ALIKE[0])
    reasoner = OfflineReasoner(embedder, judge)
    first, second = said(*ALIKE[:2])
    (verdict,) = await reasoner.judge([Pair(first, second)])
    assert verdict.label is Label.CONTRADICTS
    assert reasoner.name.endswith("+certain")
    await reasoner.close()
    assert judge.closed


async def test_a_title_names_what_the_statements_share(reasoner: OfflineReasoner) -> None:
    title = (await reasoner.title(said(*ALIKE))).text.lower()
    assert "staging" in title
    assert "database" in title
    assert "the" not in title.split()


async def test_statements_without_words_are_untitled(reasoner: OfflineReasoner) -> None:
    assert (await reasoner.title(said("42 + 42", "?"))).text == "Untitled"


async def test_nothing_is_spent(reasoner: OfflineReasoner) -> None:
    assert reasoner.spent.requests == 0


def test_a_word_of_the_whole_mesh_names_no_scene() -> None:
    scenes = [
        [f"The billing service handles {topic} in step {n}" for n in range(3)]
        for topic in ("refunds", "invoices", "taxes", "coupons")
    ]
    background = count_terms(scenes)
    assert "refunds" in title_of(scenes[0], background).lower()
    assert "refunds" not in title_of(scenes[1], background).lower()


def test_one_long_statement_does_not_name_a_scene_alone() -> None:
    bodies = ["cats " * 200, "dogs bark", "dogs sleep", "dogs run"]
    assert title_of(bodies, count_terms([bodies])).lower().startswith("dogs")


def test_a_title_is_short_and_the_same_for_the_same_statements() -> None:
    bodies = ["x" * 300 + " pneumonoultramicroscopic silicovolcanoconiosis resilience"] * 2
    background = count_terms([bodies])
    title = title_of(bodies, background)
    assert 0 < len(title) <= TITLE_CHARS_MAX
    assert title == title_of(list(reversed(bodies)), background)
