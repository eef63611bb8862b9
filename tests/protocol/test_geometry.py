"""Directions, exact cosines and an agent's position (Eq. 2)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO
from hyphaedb.protocol.geometry import (
    DIMENSION_MAX,
    GRID,
    cosine,
    cosine_matrix,
    position,
    quantise_micro,
    quantise_micros,
    to_grid,
    weights,
)
from tests.protocol.graphs import normalised


def directions(count: int, dimension: int, seed: int = 0) -> np.ndarray:
    return normalised(np.random.default_rng(seed).standard_normal((count, dimension)))


def test_a_vector_too_long_for_exact_sums_is_refused() -> None:
    with pytest.raises(Invalid):
        to_grid(np.zeros(DIMENSION_MAX + 1))


@pytest.mark.parametrize("dimension", [1, 3, 384, DIMENSION_MAX])
def test_a_gridded_cosine_is_the_exact_sum_of_whole_numbers(dimension: int) -> None:
    """The largest sums there are: rows that are equal or opposite, in every dimension allowed."""
    rows = to_grid(directions(8, dimension))
    rows = np.concatenate((rows, -rows))
    for probe in rows:
        exact = [sum(int(a) * int(b) for a, b in zip(probe, row, strict=True)) for row in rows]
        expected = [np.float32(np.float32(s) / np.float32(GRID * GRID)) for s in exact]
        assert cosine(probe, rows).tolist() == np.clip(expected, -1.0, 1.0).tolist()


@pytest.mark.parametrize("dimension", [2, 384, 1536, DIMENSION_MAX])
def test_no_partial_sum_of_gridded_rows_can_leave_the_whole_numbers_of_float32(
    dimension: int,
) -> None:
    """By Cauchy and Schwarz it is enough that no row's square does, where rounding adds most."""
    steps = math.floor(GRID / math.sqrt(dimension)) + 0.5
    longest = np.append(np.full(dimension - 1, steps / GRID), 0.0)
    longest[-1] = math.sqrt(max(0.0, 1.0 - float((longest**2).sum())))
    for row in (longest, *directions(20, dimension)):
        assert (to_grid(row).astype(np.int64) ** 2).sum() <= 2**24


def test_gridded_cosines_do_not_depend_on_the_order_of_the_numbers_or_rows() -> None:
    """So neither on a BLAS, its threads, nor the machine."""
    rows = to_grid(directions(1_000, 384))
    shuffled = np.random.default_rng(2).permutation(384)
    expected = cosine(rows[7], rows)
    assert np.array_equal(cosine(rows[7][shuffled], rows[:, shuffled]), expected)
    assert np.array_equal(cosine(rows[7], rows[::-1]), expected[::-1])
    assert np.array_equal(cosine_matrix(rows[7:8], rows)[0].clip(-1, 1), expected)


def test_float_cosines_do_not_depend_on_the_company_a_row_keeps() -> None:
    rows = directions(700, 384)
    expected = cosine(rows[7], rows)
    assert np.array_equal(np.concatenate([cosine(rows[7], row[None]) for row in rows]), expected)


def test_cosines_of_an_index_are_those_of_its_rows() -> None:
    rows = to_grid(directions(1_000, 32))
    index = np.random.default_rng(3).integers(0, 1_000, 600).astype(np.int32)
    assert np.array_equal(cosine(rows[0], rows, index), cosine(rows[0], rows)[index])
    assert cosine(rows[0], rows, index[:0]).shape == (0,)


def test_the_grid_costs_less_than_a_thousandth() -> None:
    rows = directions(2_000, 384)
    exact = rows.astype(np.float64) @ rows[0].astype(np.float64)
    assert np.abs(cosine(rows[0], to_grid(rows)) - exact).max() < 1e-3
    assert np.abs(cosine(rows[0], rows) - exact).max() < 1e-6


@given(st.floats(-2, 2))
def test_a_score_is_rounded_half_to_even_in_micro_units(x: float) -> None:
    micro = quantise_micro(x)
    clamped = Fraction(min(1.0, max(-1.0, x)) * MICRO)
    assert abs(micro - clamped) <= Fraction(1, 2)
    assert abs(micro - clamped) < Fraction(1, 2) or micro % 2 == 0
    assert quantise_micros(np.array([x])).tolist() == [micro]


def test_a_score_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(Invalid):
        quantise_micro(math.nan)
    with pytest.raises(Invalid):
        quantise_micros(np.array([0.0, math.nan]))


def test_weights_are_salience_times_decay() -> None:
    found = weights(np.array([0.5, 0.5, 1.0]), np.array([0.0, 10.0, 20.0]), 0.1)
    assert np.allclose(found, [0.5, 0.5 * math.exp(-1.0), math.exp(-2.0)])


def test_an_age_in_the_future_weighs_as_the_present() -> None:
    assert weights(np.array([0.5]), np.array([-3.0]), 0.1).tolist() == [0.5]


def test_a_position_is_the_unit_centroid_and_leans_to_recent_work() -> None:
    vectors = np.eye(2, dtype=np.float32)
    place = position(vectors, np.array([0.8, 0.8]), np.array([0.0, 10.0]), 0.1)
    assert place is not None
    assert place.dtype == np.float32
    assert np.allclose(place, np.array([1.0, math.exp(-1.0)]) / math.hypot(1.0, math.exp(-1.0)))


def test_gridded_cells_give_the_same_position_up_to_the_grid() -> None:
    vectors = directions(20, 64)
    saliences, ages = np.linspace(0.1, 1, 20), np.linspace(0, 30, 20)
    fine = position(vectors, saliences, ages, 0.1)
    coarse = position(to_grid(vectors), saliences, ages, 0.1)
    assert fine is not None
    assert coarse is not None
    assert np.allclose(fine, coarse, atol=2e-3)


@pytest.mark.parametrize(
    ("vectors", "saliences"),
    [
        (np.empty((0, 2)), np.empty(0)),
        (np.eye(2), np.zeros(2)),
        (np.array([[1.0, 0.0], [-1.0, 0.0]]), np.ones(2)),
    ],
    ids=["no cells", "no weight", "cells that cancel out"],
)
def test_who_has_nothing_to_stand_on_has_no_position(
    vectors: np.ndarray, saliences: np.ndarray
) -> None:
    assert position(vectors, saliences, np.zeros(len(vectors)), 0.1) is None
