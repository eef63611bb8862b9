"""The mirror of one layer: vectors, graph and footprints of a mesh, in memory.

A cache of the database, rebuilt from it and checked against it (engine/validator.py); losing it
loses nothing. Vectors stand on the grid of protocol/geometry.py: two bytes a number, finer than
float16 near 1, and every product of two of them is exact, so a wave replays bit for bit on any
machine. A row is a cell in link-ordinal order.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hyphaedb.engine.idindex import IdIndex
from hyphaedb.engine.touches import Touches
from hyphaedb.protocol import decay, geometry
from hyphaedb.protocol.adjacency import Adjacency

Vectors = NDArray[np.float32]
Grid = NDArray[np.int16]
Rows = NDArray[np.int32]

#: Rows added at a time when an array is full: 3 % keeps the slack small, the copy rare.
_GROW_SHARE, _GROW_LEAST = 32, 1024
#: Rows turned to float32 and multiplied at a time: 256 rows of 384 numbers are 400 KB, which with
#: what is read beside them stays in a core's cache.
_BLOCK = 256
DAY_S = 86_400.0
_BY_ROW = ("vectors", "ids", "ordinals", "salience", "used_days", "standing", "relays_until")


def days_of(moment: datetime) -> float:
    """Days since 1970: how the mirror keeps the time a cell was last used."""
    return moment.timestamp() / DAY_S


class Layer:
    """One layer of one mesh. Not safe for threads: its owner is one pump."""

    def __init__(
        self,
        number: int,
        dimension: int,
        links_per_cell: int,
        rows: int = 0,
        dormancy: float = decay.DORMANT_BELOW,
    ) -> None:
        self.number = number
        self.dimension = dimension
        self._dormancy = dormancy
        capacity = rows + _GROW_LEAST
        self.count = 0
        #: Cells that were not erased; a reloaded mirror has no other rows.
        self.alive = 0
        self.vectors: Grid = np.zeros((capacity, dimension), np.int16)
        self.ordinals = np.zeros(capacity, np.int32)
        self.salience = np.zeros(capacity, np.float32)
        self.used_days = np.zeros(capacity, np.float32)
        self.standing = np.zeros(capacity, np.bool_)
        # What a wave asks of every cell it comes to, in one number: the day a cell falls dormant
        # unless it is used again, and the distant past for one that no longer stands.
        self.relays_until = np.zeros(capacity, np.float32)
        self.ids = np.zeros((capacity, 16), np.uint8)
        self.index = IdIndex(self.ids[:0])
        self.graph = Adjacency(links_per_cell)
        self.touches = Touches(capacity)

    def load(
        self,
        ids: NDArray[np.uint8],
        vectors: Grid,
        ordinals: Rows,
        salience: NDArray[np.float32],
        used_days: NDArray[np.float32],
        standing: NDArray[np.bool_],
    ) -> None:
        """Take all cells of the layer, in ordinal order; links and touches come after."""
        n = len(ids)
        self.count = self.alive = n
        spare = _GROW_LEAST
        self.vectors = np.zeros((n + spare, self.dimension), np.int16)
        self.vectors[:n] = vectors
        self.ids = np.zeros((n + spare, 16), np.uint8)
        self.ids[:n] = ids
        for name, source in (
            ("ordinals", ordinals),
            ("salience", salience),
            ("used_days", used_days),
            ("standing", standing),
            ("relays_until", self._until(salience, used_days, standing)),
        ):
            array = np.zeros(n + spare, source.dtype)
            array[:n] = source
            setattr(self, name, array)
        self.index = IdIndex(self.ids[:n])
        self.touches = Touches(n + spare)

    def _reserve(self) -> None:
        capacity = len(self.vectors)
        if self.count < capacity:
            return
        capacity += max(_GROW_LEAST, capacity // _GROW_SHARE)
        for name in _BY_ROW:
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), old.dtype)
            new[: self.count] = old[: self.count]
            setattr(self, name, new)

    def append(
        self,
        cell_id: UUID,
        ordinal: int,
        vector: Grid,
        targets: Rows,
        costs: Rows,
        salience: float,
        used: datetime,
    ) -> int:
        """Add a linked cell; returns its row. ``targets`` are rows, ``costs`` micro-units."""
        self._reserve()
        row = self.count
        self.vectors[row] = vector
        self.ids[row] = np.frombuffer(cell_id.bytes, np.uint8)
        self.ordinals[row] = ordinal
        self.salience[row] = salience
        self.used_days[row] = days_of(used)
        self.count += 1
        self.alive += 1
        self.stand(row, True)
        self.index.add(self.ids, row)
        added = self.graph.append(targets, costs)
        assert added == row, "graph and vectors grow together"
        return row

    def row(self, cell_id: UUID) -> int | None:
        """The row of a cell, or None where the layer has no such cell, or has it no more."""
        row = self.index.row(cell_id)
        return row if row is not None and self.graph.live[row] else None

    def cell_id(self, row: int) -> UUID:
        """The id of the cell in a row."""
        return UUID(bytes=self.ids[row].tobytes())

    def rows_of_ordinals(self, ordinals: Rows) -> Rows:
        """Rows of link ordinals; -1 where that cell is gone."""
        known = self.ordinals[: self.count]
        places = np.searchsorted(known, ordinals).astype(np.int32)
        inside = np.minimum(places, max(self.count - 1, 0))
        found = (places < self.count) & (ordinals >= 0)
        if self.count:
            found &= known[inside] == ordinals
        return np.where(found, inside, -1).astype(np.int32)

    def forget(self, row: int) -> None:
        """Take a cell out: its vector is blanked, its links and touches go."""
        self.graph.remove(np.array([row], np.int32))
        self.touches.drop_cell(row)
        self.vectors[row] = 0
        self.alive -= 1
        self.stand(row, False)

    def stand(self, row: int, standing: bool) -> None:
        """Whether a cell stands; one that was superseded or retracted relays no more."""
        self.standing[row] = standing
        self._date(row)

    def use(self, row: int, day: float) -> None:
        """A cell was used on a day (see :func:`days_of`); an earlier one changes nothing."""
        self.used_days[row] = max(float(self.used_days[row]), day)
        self._date(row)

    def _date(self, row: int) -> None:
        one = slice(row, row + 1)
        self.relays_until[one] = self._until(
            self.salience[one], self.used_days[one], self.standing[one]
        )

    def _until(
        self,
        salience: NDArray[np.float32],
        used_days: NDArray[np.float32],
        standing: NDArray[np.bool_],
    ) -> NDArray[np.float32]:
        """The day each cell stops relaying; -inf for those that do not relay at all."""
        awake = decay.awake_days(salience, self._dormancy)
        until = np.where(standing & (awake >= 0.0), used_days + awake, -np.inf)
        return until.astype(np.float32)

    def cosines(self, vector: Grid, rows: Rows) -> NDArray[np.float32]:
        """Cosines of a gridded unit vector with some rows, exact and so always the same bits."""
        return geometry.cosine(vector, self.vectors, rows)

    def products(
        self, vectors: Grid, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """(b, n) cosines of b gridded unit vectors with every row: the exact scan behind linking.

        One pass reads the mirror once for the whole batch. Not clamped. Written into ``out``
        where that is given.
        """
        if out is None:
            out = np.empty((len(vectors), self.count), np.float32)
        probes = vectors.astype(np.float32)
        block = np.empty((_BLOCK, self.dimension), np.float32)
        for start in range(0, self.count, _BLOCK):
            stop = min(start + _BLOCK, self.count)
            part = block[: stop - start]
            part[:] = self.vectors[start:stop]
            here = out[:, start:stop]
            np.matmul(probes, part.T, out=here)
            here /= np.float32(geometry.GRID * geometry.GRID)
        return out

    @property
    def bytes(self) -> int:
        """Memory held for this layer, slack included."""
        held = sum(int(getattr(self, name).nbytes) for name in _BY_ROW)
        return held + self.index.bytes + self.graph.bytes + self.touches.bytes
