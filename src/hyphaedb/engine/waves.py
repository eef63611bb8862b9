"""Running one wave over the mirror: the pump between the protocol's questions and the arrays.

The protocol never calls anything; this loop shows it what it asks for. Nothing here writes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyphaedb.engine.topology import Grid, Layer, Rows
from hyphaedb.protocol import decay, relevance
from hyphaedb.protocol.calibration import Baseline
from hyphaedb.protocol.wave import Wave, WaveLimits

#: Cost of a cell the wave did not settle: above every energy.
UNSETTLED = np.int64(2**62)


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished wave. ``settled`` in settling order; the other arrays are parallel to it."""

    energy: int
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

    def cost_of(self, rows: int) -> NDArray[np.int64]:
        """One cost a mirror row; UNSETTLED where the wave did not come."""
        every = np.full(rows, UNSETTLED, np.int64)
        every[self.settled] = self.costs
        return every


def run(
    layer: Layer,
    origin: int,
    probe: Grid,
    energy: int,
    *,
    base: Baseline,
    relay_min: float,
    dormancy: float,
    now_days: float,
    limits: WaveLimits,
) -> Ran:
    """The wave of ``probe`` from ``origin``.

    A cell relays if what travels is relevant to it (r >= ``relay_min``), if it still stands and
    is not dormant; the origin always does.
    """
    wave = Wave(origin, energy, limits, layer.count)
    cosines: list[NDArray[np.float32]] = []
    relayed: list[NDArray[np.bool_]] = []
    first = True
    while not wave.done:
        rows = wave.frontier
        near = layer.cosines(probe, rows)
        relays = relevance.relays(relevance.relevance(near, base), relay_min)
        relays &= layer.standing[rows]
        ages = np.maximum(now_days - layer.used_days[rows], 0.0)
        relays &= ~decay.dormants(layer.salience[rows], ages, dormancy)
        if first:
            relays[:] = True
            first = False
        cosines.append(near)
        relayed.append(relays)
        who = np.flatnonzero(relays).astype(np.int32)
        positions, targets, costs = layer.graph.neighbours(rows[who])
        wave.advance(relays, who[positions], targets, costs)
    settled = wave.settled
    return Ran(
        energy=energy,
        settled=settled,
        costs=wave.costs.astype(np.int64),
        hops=wave.hops,
        cosines=np.concatenate(cosines)[: len(settled)] if cosines else np.zeros(0, np.float32),
        relayed=np.concatenate(relayed)[: len(settled)] if relayed else np.zeros(0, np.bool_),
        rounds=wave.rounds,
        truncated=wave.truncated,
        wave=wave,
    )
