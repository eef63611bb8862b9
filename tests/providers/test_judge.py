"""The judge that ships: obvious pairs, and what a caller may rely on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from hyphaedb.errors import Unavailable, Unsupported
from hyphaedb.model import CellType
from hyphaedb.providers.judge import OfflineJudge, open_judge, require_judge, verified_judge
from hyphaedb.providers.passages import best_passages
from hyphaedb.providers.reasoner import Direction, Label, Pair, Statement

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def judge() -> Iterator[OfflineJudge]:
    opened = open_judge()
    yield opened
    asyncio.run(opened.close())


def pair(first: str, second: str, days_later: float = 1.0) -> Pair:
    later = MONDAY + timedelta(days=days_later)
    return Pair(
        Statement(first, CellType.DECISION, MONDAY), Statement(second, CellType.DECISION, later)
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "The request timeout of the gateway is 10 s.",
            "The gateway has a request timeout of 30 s.",
        ),
        ("Sessions are stored in Redis.", "Sessions are stored in Memcached."),
        ("The importer is written in Go.", "The importer is written in Rust."),
        ("You must not deploy on Fridays.", "Feel free to deploy on Fridays."),
        ("Dark mode is enabled.", "Dark mode is turned off."),
        ("The migration is done.", "The migration has not started yet."),
        ("All services use TLS.", "None of the services uses TLS."),
    ],
)
async def test_what_excludes_each_other_is_called_so(
    judge: OfflineJudge, first: str, second: str
) -> None:
    (verdict,) = await judge.judge([pair(first, second)])
    assert verdict.label is Label.CONTRADICTS
    assert verdict.reason


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The gateway has a timeout of 5 s.", "The timeout of the gateway is 5000 ms."),
        ("Sessions are stored in Redis.", "Invoices are sent by mail on the first of the month."),
        ("Staging runs on Postgres 15.", "Production runs on Postgres 16."),
        ("The billing worker is written in Go.", "The search worker is written in Rust."),
        ("The search index is rebuilt on Sundays.", "The search index has nine shards."),
    ],
)
async def test_what_can_both_hold_is_at_most_suspected(
    judge: OfflineJudge, first: str, second: str
) -> None:
    (verdict,) = await judge.judge([pair(first, second)])
    assert verdict.label in (Label.COMPATIBLE, Label.DUPLICATES) or verdict.suspected


async def test_the_same_in_other_words_is_a_duplicate(judge: OfflineJudge) -> None:
    (verdict,) = await judge.judge(
        [pair("We use Kafka as the message broker.", "Kafka is the message broker that we use.")]
    )
    assert verdict.label is Label.DUPLICATES


async def test_a_later_statement_that_tells_of_a_change_replaces_the_earlier(
    judge: OfflineJudge,
) -> None:
    old, new = "Sessions are stored in Redis.", "We moved sessions from Redis to Memcached."
    (verdict,) = await judge.judge([pair(old, new)])
    assert (verdict.label, verdict.direction) == (Label.SUPERSEDES, Direction.SECOND_REPLACES)
    (verdict,) = await judge.judge([pair(new, old, days_later=-1.0)])
    assert (verdict.label, verdict.direction) == (Label.SUPERSEDES, Direction.FIRST_REPLACES)


async def test_an_earlier_statement_replaces_nothing_that_was_said_after_it(
    judge: OfflineJudge,
) -> None:
    """Somebody went back: that is a contradiction to look at, not a supersession."""
    old, new = "Sessions are stored in Redis.", "We moved sessions from Redis to Memcached."
    (verdict,) = await judge.judge([pair(old, new, days_later=-1.0)])
    assert (verdict.label, verdict.direction) == (Label.CONTRADICTS, Direction.NONE)


async def test_a_verdict_names_what_speaks_for_it(judge: OfflineJudge) -> None:
    (verdict,) = await judge.judge([pair("The cache TTL is 10 s.", "The cache TTL is 30 s.")])
    assert verdict.reason == "10 s against 30 s"


async def test_verdicts_do_not_depend_on_what_else_is_asked(judge: OfflineJudge) -> None:
    pairs = [
        pair("The cache TTL is 10 s.", "The cache TTL is 30 s."),
        pair("Backups are encrypted.", "The logo is blue. " * 40),
        pair("You may skip the review.", "A review is compulsory."),
    ]
    together = await judge.judge(pairs)
    alone = [(await judge.judge([one]))[0] for one in reversed(pairs)]
    assert together == tuple(reversed(alone))


def test_a_reading_is_the_same_each_time_and_from_either_side(judge: OfflineJudge) -> None:
    first, second = "The port is 8080.", "The service listens on port 9090."
    one, again, turned = (
        judge.read(first, second),
        judge.read(first, second),
        judge.read(second, first),
    )
    assert np.array_equal(one.logits, again.logits)
    assert one.contradiction == again.contradiction
    assert turned.contradiction == pytest.approx(one.contradiction, abs=1e-4)


@pytest.mark.parametrize("text", ["…", "\u200b", "word " * 3_000, "x" * 8_000, "日本語のテキスト"])
def test_any_text_gets_a_chance_between_0_and_1(judge: OfflineJudge, text: str) -> None:
    reading = judge.read(text, "The port is 8080.")
    assert 0.0 <= reading.contradiction <= 1.0
    assert 0.0 <= reading.duplicate <= 1.0


def test_the_passage_that_speaks_of_the_same_matter_is_read() -> None:
    filler = "The weather was fine and nobody had anything to add. " * 60
    ours, _ = best_passages(f"{filler}The port is 8080. {filler}", "The port is 9090.", 120)
    assert "The port is 8080." in ours
    assert len(ours) < 1_000


def test_a_contradiction_is_found_in_a_long_text(judge: OfflineJudge) -> None:
    filler = "The weather was fine and nobody had anything to add. " * 60
    long = f"{filler}The port of the gateway is 8080. {filler}"
    assert judge.read(long, "The port of the gateway is 9090.").cues.clash is not None


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "judge.onnx"
    content = bytearray(verified_judge().read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(Unsupported, match="not the tested one"):
        require_judge(damaged)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="missing"):
        require_judge(tmp_path / "judge.onnx")


async def test_a_closed_judge_says_so() -> None:
    opened = open_judge()
    await opened.close()
    await opened.close()
    with pytest.raises(Unavailable):
        await opened.judge([pair("a", "b")])
