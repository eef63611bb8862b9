"""Footprints in the mirror: who touched which cell, as linked lists in flat arrays.

A wave asks for the touches of the cells it settled; following the lists for all of them at once
takes as many numpy steps as the longest list has entries, and a touch costs 17 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: A touch that was only a recall moves the reader; it shows no interest (protocol/interest.py).
RECALLED = 1
KNOWS = 2


@dataclass(frozen=True, slots=True)
class Touched:
    """Touches of some cells as parallel arrays; ``places`` index into the list asked for."""

    places: NDArray[np.int32]
    holders: NDArray[np.int32]
    days: NDArray[np.int32]
    strengths: NDArray[np.uint8]


class Touches:
    """All footprints of one layer. ``holder`` is a row of the roster, ``day`` its active day."""

    def __init__(self, cells: int) -> None:
        self._head = np.full(max(cells, 1), -1, np.int32)
        self._cell = np.empty(64, np.int32)
        self._next = np.empty(64, np.int32)
        self._holder = np.empty(64, np.int32)
        self._day = np.empty(64, np.int32)
        self._strength = np.empty(64, np.uint8)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def _grow_cells(self, row: int) -> None:
        if row >= len(self._head):
            head = np.full(
                max(row + 1, len(self._head) + len(self._head) // 16 + 1024), -1, np.int32
            )
            head[: len(self._head)] = self._head
            self._head = head

    def put(self, row: int, holder: int, day: int, strength: int) -> None:
        """Record a touch; a later one of the same holder raises day and strength, never lowers."""
        self._grow_cells(row)
        entry = int(self._head[row])
        while entry >= 0:
            if self._holder[entry] == holder:
                self._day[entry] = max(int(self._day[entry]), day)
                self._strength[entry] = max(int(self._strength[entry]), strength)
                return
            entry = int(self._next[entry])
        if self._count == len(self._cell):
            for name in ("_cell", "_next", "_holder", "_day", "_strength"):
                old = getattr(self, name)
                setattr(
                    self, name, np.concatenate([old, np.empty(max(64, len(old) // 8), old.dtype)])
                )
        entry = self._count
        self._cell[entry], self._holder[entry] = row, holder
        self._day[entry], self._strength[entry] = day, strength
        self._next[entry] = self._head[row]
        self._head[row] = entry
        self._count += 1

    def load(
        self,
        rows: NDArray[np.int32],
        holders: NDArray[np.int32],
        days: NDArray[np.int32],
        strengths: NDArray[np.uint8],
    ) -> None:
        """Replace everything by these touches, each (row, holder) at most once."""
        n = len(rows)
        if n:
            self._grow_cells(int(rows.max()))
        self._head[:] = -1
        order = np.argsort(rows, kind="stable")
        sorted_rows = rows[order]
        self._cell, self._holder = sorted_rows.astype(np.int32), holders[order].astype(np.int32)
        self._day, self._strength = days[order].astype(np.int32), strengths[order].astype(np.uint8)
        self._next = np.arange(1, n + 1, dtype=np.int32)
        if n:
            last = np.append(sorted_rows[1:] != sorted_rows[:-1], True)
            self._next[last] = -1
            first = np.append(True, sorted_rows[1:] != sorted_rows[:-1])
            self._head[sorted_rows[first]] = np.flatnonzero(first).astype(np.int32)
        self._count = n

    def of(self, rows: NDArray[np.int32]) -> Touched:
        """The touches of ``rows``; ``places`` index into ``rows``."""
        if len(rows) and rows.max() >= len(self._head):
            self._grow_cells(int(rows.max()))
        entries = self._head.take(rows)
        places = (entries >= 0).nonzero()[0].astype(np.int32)
        entries = entries.take(places)
        found_places, found = [places], [entries]
        while len(entries):
            following = self._next.take(entries)
            more = (following >= 0).nonzero()[0]
            places, entries = places.take(more), following.take(more)
            found_places.append(places)
            found.append(entries)
        every = np.concatenate(found)
        return Touched(
            np.concatenate(found_places),
            self._holder.take(every),
            self._day.take(every),
            self._strength.take(every),
        )

    def known_to(self, row: int) -> frozenset[int]:
        """The holders that made, used or confirmed the cell of one row."""
        found = []
        entry = int(self._head[row]) if row < len(self._head) else -1
        while entry >= 0:
            if self._strength[entry] >= KNOWS:
                found.append(int(self._holder[entry]))
            entry = int(self._next[entry])
        return frozenset(found)

    def held_by(self, holder: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows a holder touched and the day of each: what its position is made of (Eq. 2)."""
        mine = np.flatnonzero(self._holder[: self._count] == holder)
        live = mine[self._cell[mine] >= 0]
        return self._cell[live], self._day[live]

    def known_by(self, holders: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(cells, holders) of what these holders know: made, used or confirmed."""
        n = self._count
        knows = (self._strength[:n] >= KNOWS) & (self._cell[:n] >= 0)
        mine = np.flatnonzero(knows & np.isin(self._holder[:n], holders))
        return self._cell[mine], self._holder[mine]

    def drop_cell(self, row: int) -> None:
        """Forget every touch of a cell."""
        if row >= len(self._head):
            return
        entry = int(self._head[row])
        while entry >= 0:
            self._cell[entry] = -1
            entry = int(self._next[entry])
        self._head[row] = -1

    @property
    def bytes(self) -> int:
        """Memory held by the arrays."""
        arrays = (self._head, self._cell, self._next, self._holder, self._day, self._strength)
        return sum(int(a.nbytes) for a in arrays)
