"""A new cell finds its place: exact nearest cells, a diverse choice among them, costs for good.

Candidates come from an exact scan of the mirror, not from pgvector: the scan is shared by a whole
batch, sees the cells of the same batch, and gives the same answer every time, where an HNSW
index differs from build to build. It costs about 0.2 microseconds a row and batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyphaedb.engine.topology import Grid, Layer, Rows
from hyphaedb.protocol import geometry, links
from hyphaedb.protocol.energy import link_costs_micro

#: Cosine of a row that was removed: below every real one.
GONE = np.float32(-2.0)
#: Rows of which the largest cosine is taken at a time.
_BLOCK = 16


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
        """``vectors`` are the cells to be linked; each takes the layer's next row in turn."""
        self._layer = layer
        self._candidates = candidates
        self._links_max = links_max
        self._omega_min = omega_min
        self._before = layer.count
        # With the rows there are and with each other, which is all a cell's wave will ask too.
        self._cosines = np.empty((len(vectors), self._before + len(vectors)), np.float32)
        layer.products(vectors, out=self._cosines[:, : self._before])
        self._cosines[:, self._before :] = geometry.cosine_matrix(vectors, vectors)
        live = layer.graph.live[: self._before]
        if not live.all():
            self._cosines[:, : self._before][:, ~live] = GONE

    def cosines(self, position: int) -> NDArray[np.float32]:
        """Cosines of the cell at ``position`` with every row up to its own; not clamped, and
        GONE for rows that were removed."""
        return self._cosines[position, : self._before + position + 1]

    def choose(self, position: int) -> Choice:
        """Links for the cell at ``position``; those before it in the batch are linked already."""
        cosines = self.cosines(position)[:-1]
        rows = _candidates(cosines, self._candidates)
        near = cosines[rows]
        # Ties go to the newest, so that a burst of equal texts makes a chain and not a star.
        order = np.lexsort((-rows, -near))[: self._candidates]
        order = order[near[order] > GONE]
        rows, near = rows[order], near[order]
        if len(rows) == 0:
            none = np.zeros(0, np.int32)
            return Choice(none, none)
        picked = links.select(self._layer.vectors[rows], near, self._links_max)
        costs = link_costs_micro(near[picked], self._omega_min)
        return Choice(rows[picked], costs)


def _candidates(cosines: NDArray[np.float32], k: int) -> Rows:
    """Rows among which the k largest cosines are, with all that tie with the last; no order.

    The k-th largest of the blocks' maxima is a bound that k rows reach, so two quick passes leave
    a few hundred rows to sort, where a partition of all would take ten times as long. A block
    takes every ``blocks``-th row: maxima of long rows are vectorised, those of short ones not.
    """
    blocks = len(cosines) // _BLOCK
    if blocks <= k:
        return np.arange(len(cosines), dtype=np.int32)
    highest = cosines[: blocks * _BLOCK].reshape(_BLOCK, blocks).max(axis=0)
    bound = np.partition(highest, blocks - k)[blocks - k]
    return np.flatnonzero(cosines >= bound).astype(np.int32)


def gridded(vectors: NDArray[np.float32]) -> Grid:
    """Unit vectors on the mirror's grid."""
    return geometry.to_grid(vectors)
