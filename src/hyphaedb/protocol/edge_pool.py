"""One-way edges that only few cells have: a linked list per source, in flat arrays.

Idea: typed edges, bridges and forced entries touch a few per cent of the cells, some of them
heavily. A column for each in every row would be waste, a dictionary of lists could not be
gathered for a whole frontier at once. So each source has the place of its first edge, each edge
the place of the next; a gather walks all lists of a frontier in step, as many passes as the
longest has edges. It is a multiset of (source, target, cost); order has no meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]

NONE = -1
_FEWEST = 64


def grown(array: NDArray[Any], rows: int, fill: int) -> NDArray[Any]:
    """A copy of the array with room for ``rows`` rows, the new ones filled."""
    wider = np.full((rows, *array.shape[1:]), fill, dtype=array.dtype)
    wider[: len(array)] = array
    return wider


class EdgePool:
    """Edges (source, target, cost) by source. Rows and targets are the caller's to check."""

    def __init__(self, rows: int) -> None:
        self._head = np.full(rows, NONE, dtype=np.int32)
        self._next = np.full(_FEWEST, NONE, dtype=np.int32)
        self._edge = np.full((_FEWEST, 3), NONE, dtype=np.int32)
        self._free: list[int] = list(range(_FEWEST))

    def __len__(self) -> int:
        return len(self._next) - len(self._free)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self._head.nbytes + self._next.nbytes + self._edge.nbytes

    def grow(self, rows: int) -> None:
        """Room for sources up to ``rows``."""
        self._head = grown(self._head, rows, NONE)

    def add(self, source: int, target: int, cost: int) -> None:
        """Add one edge."""
        if not self._free:
            old = len(self._next)
            self._next = grown(self._next, 2 * old, NONE)
            self._edge = grown(self._edge, 2 * old, NONE)
            self._free.extend(range(old, 2 * old))
        place = self._free.pop()
        self._edge[place] = (source, target, cost)
        self._next[place] = self._head[source]
        self._head[source] = place

    def discard(self, source: int, target: int, cost: int) -> bool:
        """Take one such edge out; False if there is none."""
        before, place = NONE, int(self._head[source])
        while place != NONE:
            after = int(self._next[place])
            if self._edge[place, 1] == target and self._edge[place, 2] == cost:
                if before == NONE:
                    self._head[source] = after
                else:
                    self._next[before] = after
                self._edge[place] = NONE
                self._free.append(place)
                return True
            before, place = place, after
        return False

    def gather(self, sources: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
        """All edges out of ``sources``: positions into it, targets, costs."""
        place = self._head.take(sources)
        at = (place != NONE).nonzero()[0].astype(np.int32)
        place = place.take(at)
        positions = []
        places = []
        while at.size:
            positions.append(at)
            places.append(place)
            place = self._next.take(place)
            more = (place != NONE).nonzero()[0]
            at, place = at.take(more), place.take(more)
        if not places:
            return at, at, at
        edges = self._edge.take(np.concatenate(places), axis=0)
        return np.concatenate(positions), edges[:, 1], edges[:, 2]

    def edges(self) -> Ints:
        """Every edge: (k, 3) of source, target, cost."""
        return self._edge.compress(self._edge[:, 0] != NONE, axis=0)

    def touching(self, chosen: NDArray[np.bool_]) -> Ints:
        """The edges with a chosen end, as ``edges`` gives them."""
        edges = self.edges()
        return edges[chosen[edges[:, 0]] | chosen[edges[:, 1]]]
