"""The word vectors inside the embedder's file, read without running the embedder.

The offline judge stands on the same 30,522 word vectors as the default embedder, and it was trained
with them held fixed. So they are not shipped twice: they are mapped from the embedder's own file,
at places that hold for exactly the file whose sha256 is checked first.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyphaedb.providers.minilm import DIMENSION, verified_weights

_PIECES: Final = 30_522
_NUMBERS_AT: Final = 161_538
_SCALES_AT: Final = 11_882_049


class WordTable:
    """Vectors of word pieces by their id; pages come from the file as they are needed."""

    def __init__(self) -> None:
        """Maps the table. `Unsupported` where the file is not the tested one."""
        weights = verified_weights()
        self._numbers = np.memmap(
            weights, np.int8, mode="r", offset=_NUMBERS_AT, shape=(_PIECES, DIMENSION)
        )
        with weights.open("rb") as file:
            file.seek(_SCALES_AT)
            self._scales = np.frombuffer(file.read(4 * _PIECES), dtype="<f4")[:, None]

    def rows(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Vectors of shape (len(ids), 384), as the model adds them up; not of length 1."""
        found: NDArray[np.float32] = self._numbers[ids].astype(np.float32) * self._scales[ids]
        return found

    def phrase(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """The mean of the pieces' vectors at length 1; zeros where there is no piece."""
        if not ids:
            return np.zeros(DIMENSION, np.float32)
        mean = self.rows(ids).mean(axis=0)
        unit: NDArray[np.float32] = mean / max(float(np.linalg.norm(mean)), 1e-9)
        return unit


@functools.cache
def word_table() -> WordTable:
    """The table, mapped once a process."""
    return WordTable()
