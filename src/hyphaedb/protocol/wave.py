"""One propagation of one diff (paper, section 4.1, Algorithm 1), computed exactly.

Idea: because energy only says where to cut, the cells a diff reaches are the cells nearer than
E0, so they can be settled in the order of their cost. Every hop costs at least one unit, hence
nothing found from the bucket [b, b + 1) can land in it again: a bucket is final, and a wave takes
at most ceil(E0) steps of array work. The wave is *sans-IO*: it shows a frontier, is told the
links, and never asks anybody.

Departures from the paper, and what they cost. The printed recursion visits self-avoiding paths
and explodes (200,000 calls on 200 nodes); sharing its visited set would make the result depend on
the order of neighbours. Settling by cost delivers exactly the set the printed algorithm delivers
with a visited set per path, nested in E0 and in the budget. Two edges of the paper are kept: a
cell is reached only with energy strictly above 0, and h_max is tested on arrival, so hops <=
h_max - 1. All links of a cell are walked, not its K best. Scores do not appear here: whether a
cell relays is the caller's answer. The origin's answer must be yes; it knows what it stored.

If h_max binds (below ceil(E0)) cheapest-first is no longer enough, since a dearer path with fewer
hops may go farther. Then cells are re-opened: one step per hop count, a cell's cost improved as
often as a longer path is cheaper. The work is bounded by h_max times the links instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO
from hyphaedb.protocol.energy import ENERGY_MAX_MICRO

Ints = NDArray[np.int32]
Keys = NDArray[np.int64]

# A way of arrival as one number: cost (26 bits), hops (7), parent (30). The least number is the
# best way, with all ties decided, and one np.minimum.at relaxes every link at once.
_PARENT_BITS = 30
_COST_SHIFT = 37
_PARENT_MASK = 2**_PARENT_BITS - 1
_HOPS_MASK = 2 ** (_COST_SHIFT - _PARENT_BITS) - 1
# Links relaxed at a time: the arrays in between then stay in the cache.
_BLOCK_LINKS = 2**15
NODES_MAX = _PARENT_MASK

NO_PARENT = -1


@dataclass(frozen=True, slots=True)
class WaveLimits:
    """Bounds of one wave: cells settled, and h_max of Algorithm 1 (None: never binds)."""

    settled_max: int = 50_000
    hops_max: int | None = None


class Wave:
    """The walk of one diff over one layer of ``nodes`` rows.

    While not ``done``: look at ``frontier``, then call ``advance`` with the answers. Afterwards
    ``settled``, ``costs``, ``hops`` and ``parents`` stand side by side, ordered by (cost, hops,
    row). Every settled cell is in exactly one frontier; only under a binding h_max may it come
    again. With an energy of 0 nothing is settled, not even the origin.
    """

    def __init__(self, origin: int, energy_micro: int, limits: WaveLimits, nodes: int) -> None:
        if not 0 <= energy_micro <= ENERGY_MAX_MICRO:
            raise Invalid(
                f"An energy of {energy_micro} micro-units is outside 0..{ENERGY_MAX_MICRO}.",
                "Take it from initial_energy_micro.",
            )
        if not 0 <= origin < nodes <= NODES_MAX:
            raise Invalid(
                f"Origin {origin} is not one of {nodes} rows (at most {NODES_MAX}).",
                "Name a row of this layer.",
            )
        if limits.settled_max < 1 or (limits.hops_max is not None and limits.hops_max < 1):
            raise Invalid("A limit of the wave is below 1.", "Raise settled_max or hops_max.")
        self._energy = energy_micro
        self._limits = limits
        hops_max = limits.hops_max
        self._reopens = hops_max is not None and hops_max < -(-energy_micro // MICRO)
        # A row not reached has the way that just fails: one test then refuses what costs E0 or
        # more and what is no better than the way that is known.
        self._unreached = energy_micro << _COST_SHIFT
        self._best = np.full(nodes, self._unreached, dtype=np.int64)
        #: (nodes,) micro-units: whoever arrives at a row for more changes nothing. Read only.
        self.worth: Ints = np.full(nodes, energy_micro - 1, dtype=np.int32)
        self._open: Ints = np.empty(0, dtype=np.int32)  # reached, not settled
        self._steps: list[tuple[Ints, Keys]] = []  # what each frontier held, and how it came
        self._settled_count = 0
        self._final: tuple[Ints, Keys] | None = None  # settled rows and their ways, once over
        self.rounds = 0
        self.truncated: str | None = None
        self.done = energy_micro == 0
        self.frontier: Ints = np.empty(0, dtype=np.int32)
        #: Micro-units spent on the way to each row of the frontier.
        self.frontier_costs: Ints = self.frontier
        #: Which of the frontier can still cross the cheapest link; the others need no asking.
        self.frontier_pays = np.empty(0, dtype=np.bool_)
        if not self.done:
            self._best[origin] = _PARENT_MASK  # cost 0, no hops, no parent
            self.worth[origin] = 0
            self._open = np.array([origin], dtype=np.int32)
            self._show_next()

    def advance(
        self,
        relays: NDArray[np.bool_],
        positions: NDArray[Any],
        targets: NDArray[Any],
        costs: NDArray[Any],
    ) -> None:
        """Cross the links of the relaying cells of the frontier and settle what comes next.

        ``relays`` answers for each cell of the frontier. Link i leads from
        ``frontier[positions[i]]`` to row ``targets[i]`` for ``costs[i]``, from MICRO to
        COST_MAX_MICRO. Links of cells that do not relay may be left out, and so may those that
        arrive for more than the target is ``worth``: most lead to where the wave has been. Once
        ``truncated`` is set no link is read any more.
        """
        if self.done:
            raise Invalid("The wave is over.", "Stop when it says done.")
        if self.truncated is None:
            self._cross(relays & self.frontier_pays, positions, targets, costs)
        else:
            self._open = self._open[:0]
        self._show_next()

    def _cross(
        self,
        relays: NDArray[np.bool_],
        positions: NDArray[Any],
        targets: NDArray[Any],
        costs: NDArray[Any],
    ) -> None:
        """Relax links: every row found gets its best way of arrival and is open."""
        ways = self._steps[-1][1]
        # What all links out of a cell share: what was spent so far, one hop more, this parent.
        leaving = (ways & ~_PARENT_MASK) + (1 << _PARENT_BITS) + self.frontier
        np.putmask(leaving, ~relays, self._unreached)
        opened = [self._open]
        for start in range(0, len(targets), _BLOCK_LINKS):
            block = slice(start, start + _BLOCK_LINKS)
            to = targets[block]
            keys = (costs[block].astype(np.int64) << _COST_SHIFT) + leaving.take(positions[block])
            known = self._best.take(to)
            # A sum of more than 26 bits of cost runs into the sign, which unsigned is the top.
            better = (keys.view(np.uint64) < known.view(np.uint64)).nonzero()[0]
            keys, to, known = keys.take(better), to.take(better), known.take(better)
            np.minimum.at(self._best, to, keys)
            best = self._best.take(to)
            self.worth[to] = best >> _COST_SHIFT
            # Of all ways to a row the one that won names it; others would name it again.
            names = best == keys
            if not self._reopens:
                names &= known == self._unreached
            opened.append(to.take(names.nonzero()[0]))
        if len(opened) > 1:
            self._open = np.concatenate(opened).astype(np.int32, copy=False)

    def _show_next(self) -> None:
        """Settle the next bucket, or hop count, and make it the frontier; or finish."""
        reached, ways = self._open, self._best.take(self._open)
        self._open = reached[:0]
        if not self._reopens and reached.size:
            bucket = (int(ways.min()) >> _COST_SHIFT) // MICRO
            now = ways < ((bucket + 1) * MICRO << _COST_SHIFT)
            self._open = reached.take((~now).nonzero()[0])
            these = now.nonzero()[0]
            reached, ways = reached.take(these), ways.take(these)
        rows = _rows_in_order(reached, ways)
        room = self._limits.settled_max - self._settled_count
        if not self._reopens and rows.size > room:
            self.truncated = "settled_max"
            rows = rows[:room]
        self._settled_count += rows.size
        self.frontier = rows
        self.done = rows.size == 0
        if not self.done:
            self.rounds += 1
            ways = self._best.take(rows)
            self._steps.append((rows, ways))
            self.frontier_costs = _costs_of(ways)
            self.frontier_pays = self.frontier_costs < self._energy - MICRO
            if self._limits.hops_max is not None:
                self.frontier_pays &= _hops_of(ways) + 1 < self._limits.hops_max
        elif self._reopens and len(self._all_reached()) > self._limits.settled_max:
            self.truncated = "settled_max"

    def _all_reached(self) -> Ints:
        """Every row that was in a frontier, in the order of its best way."""
        if not self._steps:
            return np.empty(0, dtype=np.int32)
        rows = np.concatenate([rows for rows, _ in self._steps])
        return _rows_in_order(rows, self._best[rows]) if self._reopens else rows

    def _ended(self) -> tuple[Ints, Keys]:
        """Settled rows in order, and the best way to each."""
        if self._final is not None:
            return self._final
        settled = self._all_reached()[: self._limits.settled_max]
        final = settled, self._best.take(settled)
        if self.done:
            self._final = final
        return final

    @property
    def settled(self) -> Ints:
        """The rows the diff reached, origin first, by (cost, hops, row); at most settled_max."""
        return self._ended()[0]

    @property
    def costs(self) -> Ints:
        """Micro-units spent on the way to each settled row; what remains is the energy less it."""
        return _costs_of(self._ended()[1])

    def costs_at(self, rows: Ints, unsettled: int) -> Keys:
        """The same for these rows, ``unsettled`` for those the wave did not settle; same shape."""
        ways = self._best.take(rows)
        return np.where(self._are_settled(rows, ways), ways >> _COST_SHIFT, unsettled)

    @property
    def hops(self) -> Ints:
        """Links on the way to each settled row."""
        return _hops_of(self._ended()[1])

    @property
    def parents(self) -> Ints:
        """The row each settled row was reached from, NO_PARENT for the origin."""
        parents = self._ended()[1] & _PARENT_MASK
        return np.where(parents == _PARENT_MASK, NO_PARENT, parents).astype(np.int32)

    def path(self, row: int) -> list[int]:
        """The rows on the way from the origin to a settled row, both included."""
        rows = np.array([row])
        inside = 0 <= row < len(self._best)
        if not (inside and self._are_settled(rows, self._best.take(rows, mode="clip")).all()):
            raise Invalid(f"The wave did not settle row {row}.", "Ask for a settled row.")
        way = int(self._best[row])
        path = [row]
        while (parent := way & _PARENT_MASK) != _PARENT_MASK:
            if self._reopens:
                # A parent may have been improved since: the way it had one hop earlier counts.
                rows, ways = self._steps[((way >> _PARENT_BITS) & _HOPS_MASK) - 1]
                way = int(ways[rows == parent][0])
            else:
                way = int(self._best[parent])
            path.append(parent)
        return path[::-1]

    def _are_settled(self, rows: NDArray[Any], ways: Keys) -> NDArray[np.bool_]:
        """Whether rows are reached and no later in the order than the last settled one."""
        settled, final = self._ended()
        if not settled.size:
            return np.zeros(rows.shape, np.bool_)
        last = _in_order(settled[-1:], final[-1:])
        return np.asarray((ways < self._unreached) & (_in_order(rows, ways) <= last))


def _costs_of(ways: Keys) -> Ints:
    """The cost part of packed ways."""
    return np.asarray(ways >> _COST_SHIFT, dtype=np.int32)


def _hops_of(ways: Keys) -> Ints:
    """The hops part of packed ways."""
    return np.asarray((ways >> _PARENT_BITS) & _HOPS_MASK, dtype=np.int32)


def _in_order(rows: NDArray[Any], ways: Keys) -> Keys:
    """What the settle order sorts by, as one number: (cost, hops, row)."""
    return np.asarray((ways & ~_PARENT_MASK) | rows)


def _rows_in_order(rows: Ints, ways: Keys) -> Ints:
    """The distinct rows by (cost, hops, row)."""
    keys = _in_order(rows, ways)
    keys.sort()
    repeats = keys[1:] == keys[:-1]
    if repeats.any():
        keys = keys.compress(np.append(True, ~repeats))
    return np.asarray(keys & _PARENT_MASK, dtype=np.int32)
