"""The score and its gates: exact, bounded, and never better for being compared with worse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyphaedb.errors import Invalid
from hyphaedb.protocol.calibration import Baseline
from hyphaedb.protocol.relevance import (
    NEAR_PANEL,
    PAPER,
    RECEIVERS_LEAST,
    SHIPPED,
    SIGMA_MIN,
    Weights,
    delivers,
    nearness,
    receiver_relevance,
    relay_cosine,
    relays,
    relevance,
    score,
)

BASE = Baseline(mean=0.1, deviation=0.1)
UNIT = st.floats(0.0, 1.0)
COSINES = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1.0, 1.0))


def everyone(cosines: np.ndarray) -> np.ndarray:
    return np.ones(len(cosines), dtype=np.bool_)


def test_nearness_is_one_half_where_it_is_asked_for() -> None:
    assert nearness(np.array([2.5]), 2.5)[0] == 0.5


def test_relevance_is_one_half_at_two_and_a_half_deviations() -> None:
    at = BASE.mean + NEAR_PANEL * BASE.deviation
    assert relevance(np.array([at]), BASE)[0] == pytest.approx(0.5)


def test_relevance_of_a_cosine_far_out_is_finite() -> None:
    steep = Baseline(mean=0.0, deviation=0.02)
    assert np.isfinite(relevance(np.array([-1.0, 1.0]), steep)).all()


def test_the_paper_preset_is_its_equation() -> None:
    sigma = score(np.array([0.5]), np.array([0.4]), 0.9, PAPER)
    assert sigma.tolist() == [510_000]


def test_the_shipped_score_is_a_sum_of_whole_numbers() -> None:
    sigma = score(np.array([0.3333334]), np.array([0.6666667]), 0.7)
    assert sigma.tolist() == [(250 * 333_333 + 650 * 666_667 + 100 * 700_000) // 1000]


@given(UNIT, UNIT, UNIT)
def test_a_score_lies_between_nothing_and_one(r: float, iota: float, salience: float) -> None:
    for weights in (PAPER, SHIPPED):
        sigma = int(score(np.array([r]), np.array([iota]), salience, weights)[0])
        assert 0 <= sigma <= 1_000_000


@given(UNIT, UNIT, UNIT, UNIT)
def test_more_interest_never_scores_less(r: float, a: float, b: float, salience: float) -> None:
    low, high = sorted((a, b))
    sigma = score(np.array([r, r]), np.array([low, high]), salience)
    assert sigma[0] <= sigma[1]


def test_a_score_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(Invalid):
        score(np.array([np.nan]), np.array([0.0]), 0.5)


@pytest.mark.parametrize("parts", [(500, 500, 1), (-100, 1000, 100), (0, 0, 0)])
def test_weights_that_do_not_add_up_are_refused(parts: tuple[int, int, int]) -> None:
    with pytest.raises(Invalid):
        Weights(*parts)


def test_a_score_on_the_gate_is_delivered_and_one_below_is_not() -> None:
    gate = round(SIGMA_MIN * 1_000_000)
    assert delivers(np.array([gate - 1, gate])).tolist() == [False, True]


@given(st.floats(-1, 1), st.floats(0.02, 0.5), st.floats(0, 1), st.floats(-1, 1))
def test_the_cosine_that_relays_is_the_gate_turned_round(
    mean: float, deviation: float, relay_min: float, cosine: float
) -> None:
    """A wave compares cosines with one number; the slow truth puts each through the curve."""
    base = Baseline(mean, deviation)
    least = relay_cosine(base, relay_min)
    if abs(cosine - least) > 1e-9 or math.isinf(least):
        passes = bool(relays(relevance(np.array([cosine]), base), relay_min)[0])
        assert passes == (cosine > least)


def test_a_gate_of_nothing_lets_every_cell_relay() -> None:
    assert relay_cosine(BASE, 0.0) == -math.inf


def test_a_cell_on_the_relay_gate_passes_the_diff_on() -> None:
    assert relays(np.array([0.1499994, 0.15, 0.9])).tolist() == [False, True, True]


def test_a_receiver_without_a_position_has_no_relevance() -> None:
    r = receiver_relevance(np.array([0.9, 0.9]), BASE, np.array([True, False]))
    assert r[0] > 0.9
    assert r[1] == 0.0


@given(COSINES)
def test_comparison_among_receivers_only_ever_lowers(cosines: np.ndarray) -> None:
    assert (receiver_relevance(cosines, BASE, everyone(cosines)) <= relevance(cosines, BASE)).all()


def test_fewer_than_eight_receivers_are_not_compared() -> None:
    cosines = np.full(RECEIVERS_LEAST - 1, 0.6)
    assert (receiver_relevance(cosines, BASE, everyone(cosines)) == relevance(cosines, BASE)).all()


def test_nobody_is_crowned_for_being_the_least_unfit() -> None:
    """The best of fifty receivers who all stand far off stays as irrelevant as it is."""
    cosines = np.linspace(-0.05, 0.05, 50)
    assert receiver_relevance(cosines, BASE, everyone(cosines)).max() < 0.05


def test_a_receiver_who_stands_out_keeps_its_relevance() -> None:
    cosines = np.append(np.full(29, 0.15), 0.6)
    r = receiver_relevance(cosines, BASE, everyone(cosines))
    assert r[-1] > 0.9
    assert r[:-1].max() < 0.15


@given(COSINES, st.randoms(use_true_random=False))
def test_the_order_of_receivers_changes_no_relevance(cosines: np.ndarray, rng: object) -> None:
    order = np.arange(len(cosines))
    rng.shuffle(order)  # type: ignore[attr-defined]
    forward = receiver_relevance(cosines, BASE, everyone(cosines))
    shuffled = receiver_relevance(cosines[order], BASE, everyone(cosines))
    assert (forward[order] == shuffled).all()
