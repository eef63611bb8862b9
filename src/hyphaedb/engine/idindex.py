"""Cell id to mirror row in 28 bytes a cell.

A dictionary of ids costs about 170 bytes a cell, a twelfth of the whole mirror. The low 64 bits
of a UUIDv7 are nearly all random, so a sorted array of them finds the row; the full id is
compared, so two ids with equal low halves are told apart. New rows wait in a small dictionary
until there are enough to sort them in.
"""

from __future__ import annotations

from uuid import UUID

import numpy as np
from numpy.typing import NDArray

#: Rows that wait unsorted; sorting 100,000 keys costs about 8 ms, so it happens rarely.
_WAITING_MAX = 4_096


class IdIndex:
    """Rows by cell id; rows are added once each, in any order."""

    def __init__(self, ids: NDArray[np.uint8]) -> None:
        """``ids`` is (n, 16) and uint8: row i's id in network byte order."""
        self._ids = ids
        self._waiting: dict[bytes, int] = {}
        self._sort(len(ids))

    def _sort(self, rows: int) -> None:
        low = np.ascontiguousarray(self._ids[:rows, 8:]).view(">u8").ravel().astype(np.uint64)
        self._rows = np.argsort(low, kind="stable").astype(np.int32)
        self._keys = low[self._rows]

    def add(self, ids: NDArray[np.uint8], row: int) -> None:
        """Take in ``row``; ``ids`` is the array that now holds it (it may have moved)."""
        self._ids = ids
        self._waiting[ids[row].tobytes()] = row
        if len(self._waiting) >= _WAITING_MAX:
            self._sort(row + 1)
            self._waiting.clear()

    def row(self, cell_id: UUID) -> int | None:
        """The row of a cell, or None."""
        key = cell_id.bytes
        waiting = self._waiting.get(key)
        if waiting is not None:
            return waiting
        low = np.uint64(int.from_bytes(key[8:], "big"))
        place = int(np.searchsorted(self._keys, low))
        while place < len(self._keys) and self._keys[place] == low:
            row = int(self._rows[place])
            if self._ids[row].tobytes() == key:
                return row
            place += 1
        return None

    @property
    def bytes(self) -> int:
        """Memory held, the waiting rows estimated at a dictionary's price."""
        return int(self._keys.nbytes + self._rows.nbytes) + 170 * len(self._waiting)
