"""Which cells a new cell links to, and how a layer is kept in one piece.

Idea: the graph is ours, not the index's. Linking every cell to its K nearest falls apart on
topical text: on 4,000 points in 60 topics it left 40 islands. HNSW's selection (Malkov and
Yashunin, 2020, Algorithm 4) links into different directions instead: a candidate that lies nearer
to a link already chosen than to the new cell is passed over, and passed-over ones only fill up.

Departures. Candidates come in one fixed order, nearest first and newest first among equals, so
that a burst of identical texts forms a chain and does not pile up on one cell (a wave crosses
M of them a hop; repeats that become confirmations never form one). And connection, which the
selection makes likely, is made certain: components are counted and joined by bridges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid
from hyphaedb.protocol.geometry import cosine_matrix

#: Selection compares all candidates with each other; beyond this its product is the slow part.
CANDIDATES_MAX = 1024

#: A component's cells that are tried as its end of a bridge, and the largest component's as the
#: other end. Beyond these an even spread stands for all: a bridge need not be the shortest.
_SPREAD_SMALL = 64
_SPREAD_LARGEST = 4096


@dataclass(frozen=True, slots=True)
class Bridge:
    """A pair of cells to be joined both ways, and how close they are."""

    near: int
    far: int
    cosine: float


def select(vectors: NDArray[Any], cosines: NDArray[Any], m: int) -> NDArray[np.intp]:
    """Positions of the up to ``m`` candidates to link to, ascending.

    ``vectors`` (C, d) are the candidates' unit rows, ``cosines`` (C,) theirs with the new cell,
    in falling order; equals come newest first. All are taken if there are no more than ``m``.
    """
    count = len(cosines)
    if count > CANDIDATES_MAX or m < 1:
        raise Invalid(
            f"{count} candidates for {m} links are out of range.",
            f"Give at most {CANDIDATES_MAX} candidates and ask for one link or more.",
        )
    if count <= m:
        return np.arange(count)
    if (np.diff(cosines) > 0).any():
        raise Invalid("Candidates are not nearest first.", "Sort them by falling cosine.")
    among = cosine_matrix(vectors, vectors)
    nearest_chosen = np.full(count, -np.inf, dtype=np.float32)
    chosen = np.zeros(count, dtype=np.bool_)
    left = m
    for candidate in range(count):
        if cosines[candidate] > nearest_chosen[candidate]:
            chosen[candidate] = True
            left -= 1
            if not left:
                break
            np.maximum(nearest_chosen, among[candidate], out=nearest_chosen)
    chosen[np.flatnonzero(~chosen)[:left]] = True
    return np.flatnonzero(chosen)


def label_components(count: int, sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int32]:
    """For each of ``count`` nodes the lowest node it hangs together with, by any chain of edges.

    Every round hooks the higher of two roots under the lower and then shortens all chains to
    their root; the rounds needed grow with the logarithm of the largest component.
    """
    labels = np.arange(count, dtype=np.int32)
    one, other = labels[sources], labels[targets]
    while True:
        one, other = labels[one], labels[other]
        apart = one != other
        if not apart.any():
            return labels
        one, other = one[apart], other[apart]
        np.minimum.at(labels, np.maximum(one, other), np.minimum(one, other))
        shorter = labels[labels]
        while not np.array_equal(shorter, labels):
            labels, shorter = shorter, shorter[shorter]


def bridges(labels: NDArray[Any], vectors: NDArray[Any]) -> list[Bridge]:
    """Pairs that join every component to the largest one; none if there is but one.

    ``labels`` (n,) as ``label_components`` gives them, below 0 for rows that do not count;
    ``vectors`` (n, d) the unit rows. For each component in the order of its label: the nearest
    pair, the lowest rows among equals; of large components an even spread of cells is tried.
    The largest component is the one with the lowest label among equals.
    """
    live = np.flatnonzero(labels >= 0)
    order = live[np.argsort(labels[live], kind="stable")]
    names, first, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    if len(names) < 2:
        return []
    largest = int(sizes.argmax())
    parts = [order[start : start + size] for start, size in zip(first, sizes, strict=True)]
    anchors = _spread(parts[largest], _SPREAD_LARGEST)
    ground = vectors[anchors]
    found = []
    for part in parts[:largest] + parts[largest + 1 :]:
        ends = _spread(part, _SPREAD_SMALL)
        closeness = cosine_matrix(vectors[ends], ground)
        near, far = divmod(int(closeness.argmax()), len(anchors))
        found.append(Bridge(int(ends[near]), int(anchors[far]), float(closeness[near, far])))
    return found


def _spread(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """All rows, or ``most`` of them at even distances, first and last included."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]
