"""The graph a wave walks: one layer's links, and the reverse links derived from them.

Idea: a cell writes its own links once, to cells that stood before it. A wave must also get back,
so a cell lists, besides its own M links, the M cheapest cells that link *to* it (by cost, then
by lower index). Its list is a function of the set of live links and of nothing else: a graph
built at once and one grown and pruned step by step are the same, and so is every replay.

Where this departs from HNSW (Malkov and Yashunin, 2020), and what it costs. There a full list is
pruned by what it happens to hold: the result depends on history, and a cell may be left that
nobody leads to. Here pruning has no memory, and there is one rule more: a cell that stands on the
list of none of its targets is *forced* onto the list of the cheapest, beyond M if need be. So
every cell has a link both ways with an earlier one, and by induction a layer in which every cell
but the first has a link of its own is strongly connected. The price: a list may be longer than
2M by entries that are somebody's only way in (measured on real text: 2 % of 100,000 cells, 29 on
the longest list). An own link whose reverse was pruned goes one way.

A cell is known by its row, 0..n-1, in the order of its links; a removed cell keeps its row as a
tombstone. Costs are micro-units, MICRO..COST_MAX_MICRO. Edges of other kinds (typed edges,
bridges) are never pruned and go one way each. A removal scans the layer's own links once,
because links beyond the M cheapest are not kept twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO
from hyphaedb.protocol.edge_pool import EdgePool, grown
from hyphaedb.protocol.energy import COST_MAX_MICRO
from hyphaedb.protocol.links import label_components

Ints = NDArray[np.int32]

NO_LINK = -1
#: More would not fit the byte that counts the lists a cell stands on.
LINKS_MAX = 127

# Cost in an empty place. Dearer than any link, so the dearest entry of a list is found by max.
_EMPTY = 2**30
# At most an eighth of the rows idle; each row is copied about nine times on the way to any size.
_GROWTH = 1.12
_FEWEST_ROWS = 64
# Rows gathered at a time, so that what is copied twice is still in the cache.
_BLOCK_ROWS = 512


class Adjacency:
    """The graph of one layer. ``links_max`` is M: at most M own links a cell."""

    def __init__(self, links_max: int, rows: int = _FEWEST_ROWS) -> None:
        if not 1 <= links_max <= LINKS_MAX:
            raise Invalid(
                f"{links_max} links a cell is outside 1..{LINKS_MAX}.",
                "Change the setting links_per_cell.",
            )
        self.links_max = links_max
        self._n = 0
        # Own links in the first M columns, reverse links in the last M: the neighbours of a
        # frontier are then one gather of whole rows.
        self._targets = np.full((rows, 2 * links_max), NO_LINK, dtype=np.int32)
        self._costs = np.full((rows, 2 * links_max), _EMPTY, dtype=np.int32)
        self._listings = np.zeros(rows, dtype=np.uint8)  # reverse lists a cell stands on
        self._live = np.zeros(rows, dtype=np.bool_)
        self._edges = EdgePool(rows)
        self._entries = EdgePool(rows)  # forced ones
        self._forced: dict[int, tuple[int, int]] = {}  # cell -> on whose list, at what cost

    @classmethod
    def bulk(
        cls,
        links_max: int,
        targets: NDArray[Any],
        costs: NDArray[Any],
        live: NDArray[np.bool_] | None = None,
    ) -> Self:
        """The graph with these own links: (n, <= M) rows, NO_LINK where there is none.

        ``live`` marks the rows that stand (all, if left out); links of and to the others are
        dropped. Raises Invalid for a link that does not lead to an earlier row, a repeated
        link, or a cost out of range.
        """
        n, width = targets.shape
        _check_links(targets, costs, links_max, np.arange(n)[:, None])
        graph = cls(links_max, max(_FEWEST_ROWS, n + n // 50))
        graph._n = n
        graph._live[:n] = True if live is None else live
        stands = np.append(graph.live, False)[targets] & graph.live[:, None]
        graph._targets[:n, :width] = np.where(stands, targets, NO_LINK)
        graph._costs[:n, :width] = np.where(stands, costs, _EMPTY)
        everybody = np.arange(n)
        graph._derive_reverse(everybody)
        graph._settle_forced(everybody)
        return graph

    def __len__(self) -> int:
        """Rows, tombstones included."""
        return self._n

    @property
    def live(self) -> NDArray[np.bool_]:
        """Which rows stand; a view to read from."""
        return self._live[: self._n]

    @property
    def forced_count(self) -> int:
        """Cells that stand on a list only because they were forced onto it."""
        return len(self._forced)

    @property
    def bytes(self) -> int:
        """Memory of the arrays, idle rows included."""
        own = (self._targets, self._costs, self._listings, self._live)
        return sum(array.nbytes for array in own) + self._edges.nbytes + self._entries.nbytes

    def append(self, targets: NDArray[Any], costs: NDArray[Any]) -> int:
        """Add a cell with these own links, at most M; its row.

        Links to tombstones are dropped, as ``remove`` would have done. Raises Invalid as
        ``bulk`` does; nothing is changed then.
        """
        new, m = self._n, self.links_max
        _check_links(targets[None, :], costs[None, :], m, new)
        stands = (targets != NO_LINK) & self._live[targets]
        to, cost = targets[stands], costs[stands]
        if new == len(self._live):
            self._grow(int(new * _GROWTH) + 1)
        self._n += 1
        self._live[new] = True
        self._targets[new, : to.size] = to
        self._costs[new, : to.size] = cost
        # The dearest entry of each list makes room if the new one is cheaper; the new cell has
        # the highest index, so it loses every tie.
        entries = _rank(self._costs[to, m:], self._targets[to, m:])
        place = entries.argmax(axis=1)
        wins = _rank(cost, np.int64(new)) < entries.max(axis=1)
        row, column = to[wins], place[wins] + m
        evicted = self._targets[row, column]
        evicted = evicted[evicted != NO_LINK]
        self._targets[row, column] = new
        self._costs[row, column] = cost[wins]
        np.subtract.at(self._listings, evicted, 1)
        self._listings[new] = row.size
        self._settle_forced(np.append(evicted, new))
        return new

    def remove(self, indexes: Iterable[int]) -> None:
        """Turn cells into tombstones: their links, links to them and edges at them are gone.

        Tombstones among them are passed over. Raises Invalid for a row that never was.
        """
        gone = np.unique(np.fromiter(indexes, dtype=np.int64))
        if gone.size and not 0 <= gone[0] <= gone[-1] < self._n:
            raise Invalid(f"A row is outside 0..{self._n - 1}.", "Name cells of this layer.")
        gone = gone[self._live[gone]]
        if not gone.size:
            return
        m = self.links_max
        is_gone = np.zeros(self._n, dtype=np.bool_)
        is_gone[gone] = True
        named = self._targets[gone, :m]
        heirs = np.unique(named[named != NO_LINK])
        listed = self._targets[gone, m:]
        row, column = self._own_links_to(is_gone)
        self._unforce(np.concatenate((gone, row)))
        for pool in (self._edges, self._entries):
            for edge in pool.touching(is_gone).tolist():
                pool.discard(*edge)
        np.subtract.at(self._listings, listed[listed != NO_LINK], 1)
        self._targets[row, column] = NO_LINK
        self._costs[row, column] = _EMPTY
        self._targets[gone] = NO_LINK
        self._costs[gone] = _EMPTY
        moved = self._derive_reverse(heirs[~is_gone[heirs]])
        self._live[gone] = False
        self._listings[gone] = 0
        self._settle_forced(np.concatenate((row, moved)))

    def add_edge(self, source: int, target: int, cost: int) -> None:
        """Add a one-way edge of another kind; the same edge twice counts twice."""
        ends = (source, target)
        if source == target or not all(0 <= end < self._n and self._live[end] for end in ends):
            raise Invalid(
                f"An edge {source} -> {target} does not join two live cells.",
                "Name two different cells of this layer that were not removed.",
            )
        if not MICRO <= cost <= COST_MAX_MICRO:
            raise Invalid(f"A cost of {cost} is out of range.", "Take it from link_cost_micro.")
        self._edges.add(source, target, cost)

    def remove_edge(self, source: int, target: int, cost: int) -> None:
        """Take out one edge that ``add_edge`` added. Raises Invalid if there is none."""
        if not (0 <= source < self._n and self._edges.discard(source, target, cost)):
            raise Invalid(
                f"There is no edge {source} -> {target} of cost {cost}.",
                "Name the edge with the cost it was added with.",
            )

    def neighbours(
        self,
        frontier: NDArray[Any],
        spent: NDArray[Any] | None = None,
        worth: NDArray[Any] | None = None,
    ) -> tuple[Ints, Ints, Ints]:
        """All ways out of these rows: positions into ``frontier``, targets and costs, int32.

        Own, reverse and forced links and edges, in no order to rely on. With ``spent``, one cost
        a row of the frontier, and ``worth``, one a row of the layer, own and reverse links that
        arrive for more than their target is worth may be left out: of a wave's links nineteen
        of twenty, before anything is done with them.
        """
        found = [pool.gather(frontier) for pool in (self._edges, self._entries) if len(pool)]
        width = 2 * self.links_max
        for start in range(0, len(frontier), _BLOCK_ROWS):
            rows = frontier[start : start + _BLOCK_ROWS]
            targets = self._targets.take(rows, axis=0)
            costs = self._costs.take(rows, axis=0)
            if spent is None or worth is None:
                is_way = targets != NO_LINK
            else:
                # An empty place is dearer than any worth, so it does not matter what -1 reads.
                arrival = costs + spent[start : start + len(rows), None]
                is_way = arrival <= worth.take(targets, mode="clip")
            # Places and take: picking by a boolean mask is five times slower.
            place = is_way.ravel().nonzero()[0]
            at = (place // width + start).astype(np.int32)
            found.append((at, targets.take(place), costs.take(place)))
        if len(found) == 1:
            return found[0]
        none = (np.empty(0, dtype=np.int32),) * 3
        columns = zip(*(found or [none]), strict=True)
        at, to, cost = (np.concatenate(column) for column in columns)
        return at, to, cost

    def components(self) -> Ints:
        """A label for every row: the lowest row it hangs together with, NO_LINK for tombstones.

        Only links that go both ways count, so two cells of one label can reach each other.
        """
        listed = self._targets[: self._n, self.links_max :]
        row, column = np.nonzero(listed != NO_LINK)
        edges = self._edges.edges()
        there = (edges[:, 0].astype(np.int64) << 32) | edges[:, 1]
        back = (edges[:, 1].astype(np.int64) << 32) | edges[:, 0]
        edges = np.concatenate((edges[np.isin(there, back)], self._entries.edges()))
        labels = label_components(
            self._n,
            np.concatenate((row, edges[:, 0])),
            np.concatenate((listed[row, column], edges[:, 1])),
        )
        labels[~self.live] = NO_LINK
        return labels

    def _own_links_to(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Row and column of every own link that leads to a chosen row, in row order."""
        lookup = np.append(chosen, False)  # NO_LINK is the last place: never chosen
        hits = [np.empty(0, dtype=np.int64)]
        for start in range(0, self._n, _BLOCK_ROWS):
            own = self._targets[start : min(self._n, start + _BLOCK_ROWS), : self.links_max]
            hits.append(np.flatnonzero(lookup.take(own)) + start * self.links_max)
        return np.divmod(np.concatenate(hits), self.links_max)

    def _derive_reverse(self, listing: NDArray[Any]) -> NDArray[Any]:
        """Write the reverse lists of these rows by the rule; every row that left or joined one."""
        m = self.links_max
        before = self._targets[listing, m:]
        before = before[before != NO_LINK]
        np.subtract.at(self._listings, before, 1)
        self._targets[listing, m:] = NO_LINK
        self._costs[listing, m:] = _EMPTY
        chosen = np.zeros(self._n, dtype=np.bool_)
        chosen[listing] = True
        source, column = self._own_links_to(chosen)
        target, cost = self._targets[source, column], self._costs[source, column]
        # Sources ascend already, so a stable sort by target and cost leaves ties in their order.
        order = np.argsort((target.astype(np.int64) << 31) | cost, kind="stable")
        source, target, cost = source[order], target[order], cost[order]
        first = np.flatnonzero(np.diff(target, prepend=NO_LINK))
        place = np.arange(target.size) - np.repeat(first, np.diff(first, append=target.size))
        kept = place < m
        source, target, place = source[kept], target[kept], place[kept] + m
        self._targets[target, place] = source
        self._costs[target, place] = cost[kept]
        np.add.at(self._listings, source, 1)
        return np.concatenate((before, source))

    def _settle_forced(self, cells: NDArray[Any]) -> None:
        """Bring the forced entries of these rows in line with the rule."""
        self._unforce(cells)
        lost = np.unique(cells[self._live[cells] & (self._listings[cells] == 0)])
        m = self.links_max
        cheapest = _rank(self._costs[lost, :m], self._targets[lost, :m]).min(axis=1)
        for cell, best in zip(lost.tolist(), cheapest.tolist(), strict=True):
            target, cost = best & 0xFFFFFFFF, best >> 32
            if cost <= COST_MAX_MICRO:  # else it has no link of its own left
                self._entries.add(target, cell, cost)
                self._forced[cell] = (target, cost)

    def _unforce(self, cells: NDArray[Any]) -> None:
        """Take the forced entries of these rows away."""
        for cell in self._forced.keys() & set(cells.tolist()):
            target, cost = self._forced.pop(cell)
            self._entries.discard(target, cell, cost)

    def _grow(self, rows: int) -> None:
        """Room for ``rows`` rows."""
        self._targets = grown(self._targets, rows, NO_LINK)
        self._costs = grown(self._costs, rows, _EMPTY)
        self._listings = grown(self._listings, rows, 0)
        self._live = grown(self._live, rows, 0)
        self._edges.grow(rows)
        self._entries.grow(rows)


def _rank(costs: NDArray[Any], indexes: NDArray[Any] | np.int64) -> NDArray[np.int64]:
    """One number that orders by cost, then by index; empty places come last."""
    return (costs.astype(np.int64) << 32) + indexes


def _check_links(targets: NDArray[Any], costs: NDArray[Any], links_max: int, own: Any) -> None:
    """Refuse rows of own links that are malformed; ``own`` is each row's index."""
    if targets.shape != costs.shape or targets.shape[1] > links_max:
        raise Invalid(
            f"Links of shape {targets.shape} with costs {costs.shape} do not fit {links_max}.",
            "Give one cost a link and at most links_max links a cell.",
        )
    is_link = targets != NO_LINK
    in_order = np.sort(targets, axis=1)
    repeated = (in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] != NO_LINK)
    if ((targets < NO_LINK) | (targets >= own)).any() or repeated.any():
        raise Invalid(
            "A link does not lead to an earlier cell, or two lead to the same.",
            "Link each cell to different cells that were there before it.",
        )
    if (is_link & ((costs < MICRO) | (costs > COST_MAX_MICRO))).any():
        raise Invalid("A link's cost is out of range.", "Take costs from link_costs_micro.")
