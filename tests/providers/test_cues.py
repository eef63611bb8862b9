"""What can be read off two statements without a model."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hyphaedb.providers.cues import Cues, read_cues, reason_of
from hyphaedb.providers.quantities import Bound, Dimension, amounts, spelled_alike


def _no_vector(_: str) -> NDArray[np.float32]:
    return np.zeros(1, np.float32)


def cues_of(first: str, second: str) -> Cues:
    return read_cues(first, second, _no_vector)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the timeout is 5 s", "the timeout is 5000 ms"),
        ("uploads up to 1 GB", "uploads up to 1024 MB"),
        ("backups run every 24 hours", "backups run daily"),
        ("wait for half an hour", "wait for 30 minutes"),
        ("a limit of 5,000 rows", "a limit of 5k rows"),
        ("three replicas", "3 replicas"),
        ("Python 3.11 is used", "Python 3.11.4 is used"),
        ("sprints take two weeks", "sprints take 14 days"),
    ],
)
def test_equal_amounts_in_other_units_agree(one: str, other: str) -> None:
    cues = cues_of(one, other)
    assert cues.clash is None
    assert cues.agreements == 1


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("the timeout is 10 s", "the timeout is 30 s", "10 s against 30 s"),
        ("it takes 4 minutes", "it takes half an hour", "4 minutes against half an hour"),
        ("backups run every 6 hours", "backups run once a day", "every 6 hours against once a day"),
        ("it needs Python 3.11", "it needs Python 3.12", "3.11 against 3.12"),
        ("the release is on Monday", "the release is on Friday", "Monday against Friday"),
        ("cover at least 80 % of the lines", "coverage is 60 %", "80 % against 60 %"),
    ],
)
def test_amounts_that_cannot_both_hold_clash(one: str, other: str, reason: str) -> None:
    assert reason_of(cues_of(one, other)) == reason


def test_a_bound_and_an_amount_within_it_agree() -> None:
    assert cues_of("the queue holds at most 100 jobs", "the queue holds 20 jobs").clash is None


def test_amounts_of_different_kinds_are_not_compared() -> None:
    assert cues_of("the timeout is 10 s", "the limit is 30 MB").clash is None


def test_a_value_that_was_given_up_is_not_the_value_that_holds() -> None:
    cues = cues_of("the limit went from 10 MB to 20 MB", "the limit is 20 MB")
    assert cues.clash is None
    assert cues.retired == ""


def test_who_still_names_what_was_given_up_is_told_so() -> None:
    cues = cues_of("sessions live in Redis", "we moved sessions from Redis to Memcached")
    assert cues.retired == "Redis"
    assert "Redis" in reason_of(cues)


def test_only_the_statement_that_tells_of_a_change_has_the_cue() -> None:
    assert cues_of("sessions live in Redis", "sessions no longer live in Redis").change == (
        False,
        True,
    )


def test_a_double_negation_is_even() -> None:
    assert not cues_of("it is not true that it does not work", "it works").negation_parity
    assert cues_of("it does not work", "it works").negation_parity


def test_opposites_are_named() -> None:
    assert cues_of("caching is enabled", "caching is disabled").opposites == ("enabled", "disabled")


def test_opposites_that_both_texts_hold_say_nothing() -> None:
    both = "reads are enabled and writes are disabled"
    assert cues_of(both, "writes are disabled, reads are enabled").opposites is None


@pytest.mark.parametrize(
    ("text", "permission"),
    [
        ("you must sign commits", "must"),
        ("you must not sign commits", "must_not"),
        ("you may sign commits", "may"),
        ("you do not have to sign commits", "may"),
        ("it is not forbidden to sign commits", "may"),
        ("it is not allowed to sign commits", "must_not"),
        ("commits are signed", ""),
    ],
)
def test_rules_are_read_as_must_may_or_must_not(text: str, permission: str) -> None:
    assert cues_of(text, "x").permissions[0] == permission


def test_different_places_are_seen() -> None:
    assert cues_of("staging uses 2 nodes", "production uses 9 nodes").scopes == (
        "staging",
        "production",
    )
    assert cues_of("staging uses 2 nodes", "staging uses 9 nodes").scopes is None


def test_until_and_since_split_the_time() -> None:
    assert cues_of("until v2 it was XML", "since v2 it is JSON").split_in_time


def test_cues_do_not_depend_on_the_order() -> None:
    first, second = "the limit is 10 MB since May", "no limit of 20 MB may be set"
    one, other = cues_of(first, second), cues_of(second, first)
    assert one.clash is not None
    assert other.clash == one.clash[::-1]
    assert (one.agreements, one.overlap, one.negation_parity, one.split_in_time) == (
        other.agreements,
        other.overlap,
        other.negation_parity,
        other.split_in_time,
    )


def test_a_version_with_a_lower_bound_is_a_bound() -> None:
    (version,) = amounts("needs Node 18.2 or newer")
    assert version.dimension is Dimension.VERSION
    assert version.bound is Bound.AT_LEAST


def test_a_text_full_of_figures_is_read_in_bounded_time_and_number() -> None:
    assert len(amounts(" ".join(str(n) for n in range(5_000)))) == 32


def test_a_text_without_words_has_cues_too() -> None:
    cues = cues_of("…", "")
    assert cues.overlap == 0.0
    assert reason_of(cues) == ""


def test_equal_amounts_are_spelled_alike_and_others_left_alone() -> None:
    first, second = "wait 5 s, at most 15 s", "wait for 5000 ms and for 1 GB"
    assert spelled_alike(first, second) == (first, "wait for 5 s and for 1 GB")
    assert spelled_alike(second, first) == ("wait for 5 s and for 1 GB", first)
