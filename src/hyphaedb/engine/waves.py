"""Running one wave over the mirror: the pump between the protocol's questions and the arrays.

The protocol never calls anything; this loop shows it what it asks for. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyphaedb.engine.topology import Grid, Layer, Rows
from hyphaedb.protocol import relevance
from hyphaedb.protocol.calibration import Baseline
from hyphaedb.protocol.wave import Wave, WaveLimits

_NONE = np.zeros(0, np.float32)
#: Cost of a cell the wave did not settle: above every energy.
UNSETTLED: Final = 2**62


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished wave. ``settled`` in settling order; the other arrays are parallel to it."""

    energy: int
    base: Baseline
    settled: Rows
    costs: NDArray[np.int64]
    hops: NDArray[np.int32]
    cosines: NDArray[np.float32]
    relayed: NDArray[np.bool_]
    rounds: int
    truncated: str | None
    wave: Wave

    def path(self, row: int) -> list[int]:
        """Rows from the origin to ``row``."""
        return [int(r) for r in self.wave.path(row)]

    def costs_at(self, rows: Sequence[int]) -> list[int]:
        """What it cost to come to these settled rows."""
        return [int(c) for c in self.costs_of(np.array(rows, np.int32))]

    def costs_of(self, rows: Rows) -> NDArray[np.int64]:
        """What it cost to come to rows, any shape; UNSETTLED where the wave did not come."""
        return self.wave.costs_at(rows, UNSETTLED)


def run(
    layer: Layer,
    origin: int,
    probe: Grid,
    energy: int,
    *,
    base: Baseline,
    relay_min: float,
    now_days: float,
    limits: WaveLimits,
    near_all: NDArray[np.float32] | None = None,
) -> Ran:
    """The wave of ``probe`` from ``origin``.

    A cell relays if what travels is relevant to it (r >= ``relay_min``), if it still stands and
    is not dormant; the origin always does. ``near_all`` are the probe's cosines with every row,
    where linking has computed them already.
    """
    least = np.float32(relevance.relay_cosine(base, relay_min))
    wave = Wave(origin, energy, limits, layer.count)
    cosines: list[NDArray[np.float32]] = []
    relayed: list[NDArray[np.bool_]] = []
    first = True
    while not wave.done:
        rows = wave.frontier
        near = layer.cosines(probe, rows) if near_all is None else near_all.take(rows)
        relays = near >= least
        relays &= layer.relays_until.take(rows) >= now_days
        if first:
            relays[:] = True
            first = False
        cosines.append(near)
        relayed.append(relays)
        who = (relays & wave.frontier_pays).nonzero()[0].astype(np.int32)
        if len(who):
            spent = wave.frontier_costs.take(who)
            positions, targets, costs = layer.graph.neighbours(rows.take(who), spent, wave.worth)
            positions = who.take(positions)
        else:
            positions = targets = costs = who
        wave.advance(relays, positions, targets, costs)
    settled = wave.settled
    return Ran(
        energy=energy,
        base=base,
        settled=settled,
        costs=wave.costs.astype(np.int64),
        hops=wave.hops,
        cosines=_clamped(np.concatenate(cosines)[: len(settled)]) if cosines else _NONE,
        relayed=np.concatenate(relayed)[: len(settled)] if relayed else np.zeros(0, np.bool_),
        rounds=wave.rounds,
        truncated=wave.truncated,
        wave=wave,
    )


def _clamped(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """A gridded row may be a little longer than 1, and a product with itself too."""
    return np.minimum(np.maximum(cosines, -1.0), 1.0)
