"""Energy and hop costs (Eq. 5, Table 1)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO, CellType
from hyphaedb.protocol.energy import (
    COST_MAX_MICRO,
    ENERGY_MAX_MICRO,
    MULTIPLIERS,
    initial_energy_micro,
    link_cost_micro,
    link_costs_micro,
    omega_of_cosine,
)

#: Table 1's column "typical E0", which is s = 0.9; the paper prints 7 for 7.59.
TYPICAL = {
    CellType.DECISION: 19,
    CellType.CONSTRAINT: 19,
    CellType.RISK: 14,
    CellType.PATTERN: 14,
    CellType.LESSON: 11,
    CellType.FACT: 9,
    CellType.PREFERENCE: 7,
    CellType.CONTEXT: 5,
    CellType.TASK: 3,
}


@pytest.mark.parametrize("kind", CellType)
def test_the_paper_s_table(kind: CellType) -> None:
    assert abs(initial_energy_micro(0.9, [kind]) - TYPICAL[kind] * MICRO) <= MICRO


def test_every_type_has_its_multiplier() -> None:
    assert set(MULTIPLIERS) == set(CellType)


def test_energy_is_base_times_root_of_salience_times_multiplier() -> None:
    assert initial_energy_micro(0.25, [CellType.RISK], e_base=8.0) == 6 * MICRO
    assert initial_energy_micro(0.0, [CellType.DECISION]) == 0


def test_a_contradiction_takes_the_larger_multiplier_and_half_as_much_again() -> None:
    pair = [CellType.FACT, CellType.DECISION]
    assert initial_energy_micro(1.0, pair) == initial_energy_micro(1.0, pair[::-1]) == 30 * MICRO
    assert initial_energy_micro(1.0, [CellType.FACT, CellType.FACT]) == 15 * MICRO


def test_a_promoted_diff_gets_five_units_more() -> None:
    plain = initial_energy_micro(0.6, [CellType.LESSON])
    assert initial_energy_micro(0.6, [CellType.LESSON], promoted=True) == plain + 5 * MICRO


def test_the_largest_shipped_energy_fits() -> None:
    pair = [CellType.DECISION, CellType.CONSTRAINT]
    largest = initial_energy_micro(1.0, pair, e_base=20.0, promoted=True)
    assert largest == 65 * MICRO <= ENERGY_MAX_MICRO


def test_an_energy_that_does_not_fit_is_refused_with_the_limit_named() -> None:
    with pytest.raises(Invalid, match=r"67\.1"):
        initial_energy_micro(1.0, [CellType.DECISION], e_base=40.0)


@pytest.mark.parametrize("salience", [-0.1, 1.1, float("nan")])
def test_a_salience_out_of_range_is_refused(salience: float) -> None:
    with pytest.raises(Invalid):
        initial_energy_micro(salience, [CellType.FACT])


@pytest.mark.parametrize("count", [0, 3])
def test_a_diff_is_about_one_cell_or_a_pair(count: int) -> None:
    with pytest.raises(Invalid):
        initial_energy_micro(0.5, [CellType.FACT] * count)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(CellType))
def test_more_salience_never_means_less_energy(one: float, other: float, kind: CellType) -> None:
    low, high = sorted((one, other))
    assert initial_energy_micro(low, [kind]) <= initial_energy_micro(high, [kind])


@given(st.integers(1, MICRO))
def test_a_cost_is_the_inverse_weight_rounded_up(parts: int) -> None:
    cost = link_cost_micro(parts / MICRO)
    exact = Fraction(MICRO * MICRO, parts)
    assert cost == COST_MAX_MICRO < exact or exact <= cost < exact + 1
    assert cost >= MICRO


@pytest.mark.parametrize(
    ("omega", "cost"), [(1.0, MICRO), (0.5, 2 * MICRO), (0.3, 3_333_334), (0.05, 20 * MICRO)]
)
def test_costs_by_example(omega: float, cost: int) -> None:
    assert link_cost_micro(omega) == cost


@pytest.mark.parametrize("omega", [0.0, -0.5, 1.01, float("nan")])
def test_a_weight_out_of_range_is_refused(omega: float) -> None:
    with pytest.raises(Invalid):
        link_cost_micro(omega)


def test_a_weight_too_faint_to_count_costs_what_nobody_can_pay() -> None:
    assert link_cost_micro(1e-9) == COST_MAX_MICRO >= ENERGY_MAX_MICRO


def test_the_weight_of_a_semantic_link_is_its_cosine_within_bounds() -> None:
    assert [omega_of_cosine(c, 0.05) for c in (-0.2, 0.05, 0.7, 1.0001)] == [0.05, 0.05, 0.7, 1.0]


@given(st.lists(st.floats(-1, 1, width=32)), st.floats(0.001, 1))
def test_all_costs_at_once_are_the_costs_one_by_one(cosines: list[float], least: float) -> None:
    found = link_costs_micro(np.array(cosines, dtype=np.float32), least)
    assert found.dtype == np.int32
    assert found.tolist() == [link_cost_micro(omega_of_cosine(c, least)) for c in cosines]
