"""Who receives a diff, and who passes it on (paper, section 4.2, Algorithm 1, lines 8 to 11).

The whole law. δ is the diff, u a cell, a receiver's position or the text of its interest:

1. z(u) = (cos(δ, u) - mean) / sd over the mesh's panel, both with a floor (`calibration`).
2. near(z, at) = 1 / (1 + exp(-1.7 (z - at))), the logistic curve that follows the normal one.
3. r = near(z(u), 2.5). A cell relays when r >= relay_min.
4. From 8 placed receivers on: r = min(r, near(z among the receivers, 1)). It may only fall, so
   nobody is crowned for being the least unfit.
5. Declared ι: 1 when a tag or type names the cell, else near(z(text of the interest), 2.5), this z
   by the embedder's own panel (`calibration.declared_baseline`).
6. Earned ι of a: w(v) = max(z(v), 0)^5 over the 80 nearest settled cells that any receiver has
   touched; ι = Σw that a touched / (Σw + 2^5), times near(z of a's nearest cell, 1).
7. ι = max(declared, earned, youth r). youth is the weight of the shipped panel in the mesh's
   calibration, 0 from 200 cells on, and 1 for a receiver that declared and touched nothing.
8. σ = 0.25 r + 0.65 ι + 0.10 s, in whole micro-units. It is delivered when σ >= 0.40.

Departures from the paper. Its one gate σ_min decides over relay and delivery; gated relays leave
energy nothing to decide, so these are two questions here. Its r is the raw cosine (see
`calibration`) and its ι only declared (see `interest`). Its weights are the preset `PAPER`; the
shipped ones lean on footprints, because a position between several topics says little. What the
constants were chosen on, and how flat the optimum is: docs/decisions/0004-relevance.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO
from hyphaedb.protocol.calibration import DEVIATION_LEAST, Baseline, standardise
from hyphaedb.protocol.geometry import quantise_micro, quantise_micros

#: Where r is one half: the z at which a position is as likely right as wrong.
NEAR_PANEL: Final = 2.5

#: The same among the receivers: one standard deviation above the mean of all of them.
NEAR_RECEIVERS: Final = 1.0

#: Fewer receivers than this have no spread worth the name.
RECEIVERS_LEAST: Final = 8

#: The logistic curve with this slope follows the normal distribution to within 0.01.
LOGISTIC_SLOPE: Final = 1.7

#: The shipped gate. From 0.36 to 0.42 the mean F1 of the learn sides is within 0.006 of the best.
SIGMA_MIN: Final = 0.40

#: The shipped relay gate, z of 1.48: it spares more than nine relays of ten and costs no delivery.
#: At z = 2 a quarter of the nearest cells of a small mesh go missing.
RELAY_MIN: Final = 0.15

_THOUSAND: Final = 1000

Vectors = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of σ in thousandths, which add up to 1000, so that scores are whole numbers."""

    relevance: int
    interest: int
    salience: int

    def __post_init__(self) -> None:
        parts = (self.relevance, self.interest, self.salience)
        if min(parts) < 0 or sum(parts) != _THOUSAND:
            raise Invalid(
                f"The weights {parts} are not thousandths that add up to 1000.",
                "Give three numbers from 0 to 1000 whose sum is 1000, as 250, 650 and 100.",
            )


#: Section 4.2: 0.6 r + 0.3 ι + 0.1 s. The paper gives no gate for it.
PAPER: Final = Weights(600, 300, 100)
SHIPPED: Final = Weights(250, 650, 100)


def nearness(z: Vectors, at: float) -> NDArray[np.float64]:
    """The logistic curve in z, one half at ``at``; values in (0, 1), same shape."""
    bounded = np.clip(LOGISTIC_SLOPE * (np.asarray(z, dtype=np.float64) - at), -60.0, 60.0)
    return np.asarray(1.0 / (1.0 + np.exp(-bounded)))


def relevance(cosines: Vectors, base: Baseline) -> NDArray[np.float64]:
    """r of cells, by their cosines with the diff; values in (0, 1), same shape."""
    return nearness(standardise(cosines, base), NEAR_PANEL)


def receiver_relevance(
    cosines: Vectors, base: Baseline, placed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """r of receivers (n,), by the cosines of their positions; 0 where ``placed`` is false.

    The receivers must be those with a footprint of their own (a role once, not each of its
    instances), or many alike would pass for the mean of all.
    """
    r = np.where(placed, relevance(cosines, base), 0.0)
    if np.count_nonzero(placed) < RECEIVERS_LEAST:
        return r
    # Sorted, so that the mean does not depend on the order in which receivers registered.
    peers = np.sort(np.asarray(cosines, dtype=np.float64)[placed])
    among = Baseline(float(peers.mean()), max(float(peers.std()), DEVIATION_LEAST))
    return np.minimum(r, nearness(standardise(cosines, among), NEAR_RECEIVERS))


def score(
    r: Vectors, interest: Vectors, salience: float, weights: Weights = SHIPPED
) -> NDArray[np.int64]:
    """σ of each receiver in micro-units, 0 to 1,000,000.

    ``r`` and ``interest`` (n,) and ``salience`` lie in [0, 1]; each is rounded to micro-units
    first and the rest is whole numbers, rounded down, so equal inputs meet a gate equally on
    every machine. Raises Invalid for NaN.
    """
    total = (
        weights.relevance * quantise_micros(r)
        + weights.interest * quantise_micros(interest)
        + weights.salience * quantise_micro(salience)
    )
    return np.asarray(total // _THOUSAND, dtype=np.int64)


def delivers(scores: NDArray[np.int64], sigma_min: float = SIGMA_MIN) -> NDArray[np.bool_]:
    """Whether each score (micro-units) reaches the gate (units)."""
    return np.asarray(scores >= quantise_micro(sigma_min))


def relay_cosine(base: Baseline, relay_min: float = RELAY_MIN) -> float:
    """The cosine from which on a cell relays: where `relays` of `relevance` turns true.

    A wave meets thousands of cells, so the curve is turned round once instead. In [-inf, inf].
    """
    least = (quantise_micro(relay_min) - 0.5) / MICRO
    if least <= 0.0:
        return -math.inf
    if least >= 1.0:
        return math.inf
    z = NEAR_PANEL + math.log(least / (1.0 - least)) / LOGISTIC_SLOPE
    return base.mean + base.deviation * z


def relays(r: Vectors, relay_min: float = RELAY_MIN) -> NDArray[np.bool_]:
    """Whether cells of this r pass the diff on. The origin always does; ask only for the others."""
    return np.asarray(quantise_micros(r) >= quantise_micro(relay_min))
