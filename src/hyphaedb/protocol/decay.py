"""How salience fades (paper, section 5.4, Eq. 6).

Idea: s(t) = s0 * 0.99^days since the cell was last recalled and used, confirmed or referred to.
It is a function of two stored facts and the present time, computed where it is read: no job
rewrites rows, so no missed or repeated job can change a result.

Departure from the paper: there, gossip that passes also counts as an access. Here it does not,
or crowded regions would never fade. A dormant cell takes no part in gossip and is still found.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyphaedb.model import MICRO
from hyphaedb.protocol.geometry import quantise_micro

#: Eq. 6: what remains after a day without use. Half is gone after 69 days.
KEPT_PER_DAY = 0.99

#: Below this a cell is dormant: a fact of salience 0.6 after 178 unused days.
DORMANT_BELOW = 0.1


def saliences_at(s0: NDArray[Any], days: NDArray[Any]) -> NDArray[np.float64]:
    """Eq. 6 for arrays of saliences at last use and of days since. Never above ``s0``.

    Days below zero, which come from clocks that differ between machines, count as zero.
    """
    unused = np.maximum(np.asarray(days, dtype=np.float64), 0.0)
    return np.asarray(np.asarray(s0, dtype=np.float64) * KEPT_PER_DAY**unused)


def salience_at(s0: float, days: float) -> float:
    """Eq. 6 for one cell; the same value as ``saliences_at`` gives."""
    return float(saliences_at(np.array([s0]), np.array([days]))[0])


def awake_days(s0: NDArray[Any], threshold: float = DORMANT_BELOW) -> NDArray[np.float64]:
    """Days without use that cells of these saliences last; past them they are ``dormant``.

    Below zero for a cell that is dormant from the start, infinite where the threshold is 0.
    """
    least = (quantise_micro(threshold) - 0.5) / MICRO
    if least <= 0.0:
        return np.full(np.shape(s0), np.inf)
    with np.errstate(divide="ignore"):
        fade = np.log(np.asarray(s0, dtype=np.float64) / least)
    return np.asarray(fade / -math.log(KEPT_PER_DAY))


def dormant(s0: float, days: float, threshold: float = DORMANT_BELOW) -> bool:
    """Whether a cell has faded below the threshold, compared in micro-units."""
    return quantise_micro(salience_at(s0, days)) < quantise_micro(threshold)
