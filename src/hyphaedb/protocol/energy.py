"""How far a diff may travel, and what a hop costs (paper, section 4.2, Eq. 5, Table 1).

Idea: energy is a *radius*. A diff starts with E0 = E_base * sqrt(s) * mu and pays 1/omega for
every hop it goes, so it reaches whatever lies nearer than E0. All of it is kept in whole
micro-units, and a link's cost is computed once and stored, so that a replay is exact.

Departures from the paper. The energy is copied to every branch, as Algorithm 1 does; so
Proposition 2 (at most E0 * mean omega nodes) does not hold, and the amount of work is bounded by
an explicit budget instead (see ``wave``). A contradiction is about two cells: it takes the larger
multiplier of the two and the paper's bonus of 1.5. Weights are rounded to micro-units before the
cost is taken, and rounded up, so no path is ever cheaper than the exact one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO, CellType
from hyphaedb.protocol.geometry import quantise_micro, quantise_micros

#: Table 1: decisions and constraints are for everybody, tasks for the desk beside.
MULTIPLIERS: dict[CellType, float] = {
    CellType.DECISION: 2.0,
    CellType.CONSTRAINT: 2.0,
    CellType.RISK: 1.5,
    CellType.PATTERN: 1.5,
    CellType.LESSON: 1.2,
    CellType.FACT: 1.0,
    CellType.PREFERENCE: 0.8,
    CellType.CONTEXT: 0.5,
    CellType.TASK: 0.3,
}

#: Section 5.2: contradictions travel half as far again.
CONTRADICTION_FACTOR = 1.5

#: Section 4.3: what a promoted diff gets on top, in units.
PROMOTION_BONUS = 5.0

#: A wave packs cost, hops and parent into one int64; cost has 26 bits, so 67.1 units. The
#: largest energy of the shipped settings is 30 (a contradicted decision), 35 with a promotion.
ENERGY_MAX_MICRO = 2**26 - 1

#: Dearer links are stored as this: no wave has the energy to cross them.
COST_MAX_MICRO = ENERGY_MAX_MICRO


def initial_energy_micro(
    salience: float,
    types: Sequence[CellType],
    *,
    e_base: float = 10.0,
    promoted: bool = False,
) -> int:
    """E0 of a diff (Eq. 5) in micro-units, 0..ENERGY_MAX_MICRO.

    ``types`` holds the type of the cell, or those of both cells of a contradiction. A salience
    of 0 gives 0: such a diff reaches nobody. Raises Invalid outside the ranges.
    """
    if not 0.0 <= salience <= 1.0:
        raise Invalid(f"Salience {salience} is outside 0..1.", "Give a salience from 0 to 1.")
    if len(types) not in (1, 2):
        raise Invalid(
            f"{len(types)} types were given for one diff.",
            "Give the type of the cell, or both types of a contradiction.",
        )
    energy = e_base * math.sqrt(salience) * max(MULTIPLIERS[kind] for kind in types)
    if len(types) == 2:
        energy *= CONTRADICTION_FACTOR
    if promoted:
        energy += PROMOTION_BONUS
    if not 0.0 <= energy * MICRO <= ENERGY_MAX_MICRO:
        raise Invalid(
            f"An initial energy of {energy:.1f} is outside 0..{ENERGY_MAX_MICRO / MICRO:.1f}.",
            "Lower the setting energy_base.",
        )
    return round(energy * MICRO)


def omega_of_cosine(cosine: float, omega_min: float) -> float:
    """Weight of a semantic link: the cosine, clamped to [omega_min, 1].

    The cosine itself, not (1 + cosine) / 2: that saturates, and everything reaches everything.
    """
    return max(omega_min, min(1.0, cosine))


def link_cost_micro(omega: float) -> int:
    """Cost of crossing a link of weight omega in (0, 1]: its inverse, rounded up, MICRO or more.

    What no energy can pay is stored as COST_MAX_MICRO. Raises Invalid outside (0, 1].
    """
    if not 0.0 < omega <= 1.0:
        raise Invalid(
            f"A link weight of {omega} is outside (0, 1].", "Give a weight above 0 and up to 1."
        )
    parts = max(1, quantise_micro(omega))
    return min(COST_MAX_MICRO, -(-MICRO * MICRO // parts))


def link_costs_micro(cosines: NDArray[Any], omega_min: float) -> NDArray[np.int32]:
    """``link_cost_micro(omega_of_cosine(c, omega_min))`` of every cosine, int32."""
    link_cost_micro(omega_min)  # refuses a least weight that is itself out of range
    omega = np.clip(np.asarray(cosines, dtype=np.float64), omega_min, 1.0)
    parts = np.maximum(1, quantise_micros(omega))
    costs = np.minimum(COST_MAX_MICRO, -(-MICRO * MICRO // parts))
    return np.asarray(costs, dtype=np.int32)
