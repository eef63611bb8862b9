"""Salience fades as a function of stored facts and the time asked for (Eq. 6, invariant I16)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.protocol.decay import awake_days, dormant, salience_at, saliences_at

SALIENCES = st.floats(0, 1)
DAYS = st.floats(0, 4000)


def test_equation_six() -> None:
    assert salience_at(0.8, 0.0) == 0.8
    assert salience_at(0.8, 1.0) == pytest.approx(0.792)
    assert salience_at(1.0, 69.0) == pytest.approx(0.5, abs=0.001)


@given(SALIENCES, DAYS, DAYS)
def test_it_does_not_matter_how_often_it_is_computed_on_the_way(
    s0: float, one: float, other: float
) -> None:
    """I16: no job's schedule can change a result, because there is nothing to schedule."""
    in_steps = salience_at(salience_at(s0, one), other)
    assert in_steps == pytest.approx(salience_at(s0, one + other), rel=1e-9, abs=1e-300)
    assert salience_at(s0, one) == salience_at(s0, one)


@given(SALIENCES, DAYS, DAYS)
def test_it_only_ever_falls(s0: float, one: float, other: float) -> None:
    sooner, later = sorted((one, other))
    assert s0 >= salience_at(s0, sooner) >= salience_at(s0, later) >= 0.0


def test_a_last_use_in_the_future_counts_as_now() -> None:
    assert salience_at(0.7, -5.0) == 0.7


def test_a_cell_is_dormant_below_the_threshold_and_not_at_it() -> None:
    assert not dormant(0.1, 0.0)
    assert dormant(0.0999, 0.0)
    assert dormant(0.6, 179.0)
    assert not dormant(0.6, 178.0)
    assert dormant(0.5, 0.0, threshold=0.6)


@given(st.lists(st.tuples(SALIENCES, DAYS)))
def test_many_at_once_are_the_same_as_one_by_one(cells: list[tuple[float, float]]) -> None:
    s0, days = (np.array([cell[i] for cell in cells]) for i in (0, 1))
    assert saliences_at(s0, days).tolist() == [salience_at(*cell) for cell in cells]


@given(st.floats(0.001, 1), st.floats(0.001, 1), st.floats(0.001, 100))
def test_a_cell_turns_dormant_on_the_day_that_was_computed_for_it(
    s0: float, threshold: float, days: float
) -> None:
    """The slow truth: Eq. 6 at every moment, beside the one moment the mirror keeps."""
    last = float(awake_days(np.array([s0]), threshold)[0])
    assert dormant(s0, max(last, 0.0) + days, threshold)
    if last > days:
        assert not dormant(s0, last - days, threshold)


def test_without_a_threshold_nothing_is_ever_dormant() -> None:
    assert awake_days(np.array([0.0, 0.5]), 0.0).tolist() == [np.inf, np.inf]
    assert not dormant(0.0, 1e6, 0.0)


def test_a_cell_without_salience_was_never_awake() -> None:
    assert awake_days(np.array([0.0])).tolist() == [-np.inf]
    assert dormant(0.0, 0.0)
