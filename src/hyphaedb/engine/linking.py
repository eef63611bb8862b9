"""A new cell finds its place: exact nearest cells, a diverse choice among them, costs for good.

Candidates come from an exact scan of the mirror, not from pgvector: the scan is shared by a whole
batch, sees the cells of the same batch, and gives the same answer every time, where an HNSW
index differs from build to build. It costs about 0.2 microseconds a row and batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyphaedb.engine.topology import Grid, Layer, Rows
from hyphaedb.protocol import geometry, links
from hyphaedb.protocol.energy import link_costs_micro


@dataclass(frozen=True, slots=True)
class Choice:
    """The own links of a new cell: rows, cheapest first as chosen, and their costs."""

    targets: Rows
    costs: NDArray[np.int32]


class Linker:
    """Links the cells of one batch in order. Make one per batch: it scans the mirror once."""

    def __init__(
        self, layer: Layer, vectors: Grid, *, candidates: int, links_max: int, omega_min: float
    ) -> None:
        self._layer = layer
        self._vectors = vectors
        self._candidates = candidates
        self._links_max = links_max
        self._omega_min = omega_min
        self._before = layer.count
        self._products = layer.products(vectors)
        self._products[~layer.graph.live[: layer.count]] = -2.0

    def choose(self, position: int, added: Sequence[int]) -> Choice:
        """Links for the cell at ``position`` of the batch.

        ``added`` holds the rows that earlier cells of this batch got; they are candidates too.
        """
        cosines = self._products[:, position]
        rows = np.arange(self._before, dtype=np.int32)
        if len(cosines) > self._candidates:
            rows = _largest(cosines, self._candidates)
        near = cosines[rows]
        if added:
            fresh = np.array(added, np.int32)
            rows = np.concatenate([rows, fresh])
            near = np.concatenate([near, self._layer.cosines(self._vectors[position], fresh)])
        # Ties go to the newest, so that a burst of equal texts makes a chain and not a star.
        order = np.lexsort((-rows, -near))[: self._candidates]
        order = order[near[order] > -2.0]
        rows, near = rows[order], near[order]
        if len(rows) == 0:
            none = np.zeros(0, np.int32)
            return Choice(none, none)
        picked = links.select(self._layer.vectors[rows], near, self._links_max)
        costs = link_costs_micro(near[picked], self._omega_min)
        return Choice(rows[picked].astype(np.int32), costs)


def _largest(cosines: NDArray[np.float32], k: int) -> Rows:
    """Rows of the k largest cosines, ties to the newest row; in no order.

    On the grid a cosine is a whole number of steps, so cosine and row fit one exact integer.
    """
    steps = np.rint(cosines * np.float32(geometry.GRID * geometry.GRID)).astype(np.int64)
    keys = (steps << 31) + np.arange(len(cosines), dtype=np.int64)
    return np.argpartition(keys, len(keys) - k)[-k:].astype(np.int32)


def gridded(vectors: NDArray[np.float32]) -> Grid:
    """Unit vectors on the mirror's grid."""
    return geometry.to_grid(vectors)
