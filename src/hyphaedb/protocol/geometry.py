"""Directions, closeness and an agent's position (paper, Eq. 1 and 2).

Idea: everything a mesh compares is a unit vector, and closeness is the cosine. A replay must
give the same scores on any machine, but a float sum depends on the order in which a BLAS adds.
So vectors may be put on a *grid*: whole multiples of 1/4064 in int16. A product of two such rows
is a sum of integers that stays below 2^24, where float32 is exact, so every order of addition,
every thread count and every machine gives the same bits, and a row takes two bytes a number.

Departures from the paper. The grid moves a cosine by about 0.00006 (at most 0.0005 in 384
dimensions), well below what any gate resolves. In Eq. 2 the age may be counted in days of the
agent's own activity, whatever the caller passes: a holiday should not blur a position. The paper
says nothing of an agent with no weight at all; here it has no position.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO

#: Steps per unit on the grid. With d numbers a gridded row is no longer than GRID + sqrt(d)/2;
#: squared, that must stay below 2^24 for float32 to hold every partial sum: d <= 4096.
GRID = 4064
DIMENSION_MAX = 4096

# Rows turned to float32 at a time: 256 rows of 384 numbers are 400 KB and stay in the cache,
# which makes the exact product as fast as a plain one over float32 rows.
_BLOCK_ROWS = 256

Vectors = NDArray[Any]


def to_grid(rows: Vectors) -> NDArray[np.int16]:
    """Unit rows on the grid of whole 1/GRID steps, in int16; rounds half to even."""
    if rows.shape[-1] > DIMENSION_MAX:
        raise Invalid(
            f"A vector of {rows.shape[-1]} numbers is longer than {DIMENSION_MAX}.",
            "Ask the embedder for a smaller dimension.",
        )
    return np.rint(np.asarray(rows, dtype=np.float64) * GRID).astype(np.int16)


def cosine(
    vec: Vectors, rows: Vectors, index: NDArray[np.integer[Any]] | None = None
) -> NDArray[np.float32]:
    """Cosines of one unit vector (d,) with unit rows (n, d), or with ``rows[index]`` only.

    Over gridded int16 rows the answer is the same on every machine. Over float rows each answer
    depends on its own row alone, not on where the row stands or what stands beside it. Never
    outside [-1, 1].
    """
    gridded = rows.dtype == np.int16
    probe = np.asarray(vec, dtype=np.float32)
    if gridded:
        probe = (vec if vec.dtype == np.int16 else to_grid(vec)).astype(np.float32)
    count = len(rows) if index is None else len(index)
    out = np.empty(count, dtype=np.float32)
    block = np.empty((min(count, _BLOCK_ROWS), rows.shape[1]), dtype=np.float32)
    for start in range(0, count, _BLOCK_ROWS):
        stop = min(count, start + _BLOCK_ROWS)
        part = block[: stop - start]
        part[:] = rows[start:stop] if index is None else rows[index[start:stop]]
        if gridded:
            np.dot(part, probe, out=out[start:stop])
        else:
            np.einsum("ij,j->i", part, probe, out=out[start:stop])
    if gridded:
        out /= np.float32(GRID * GRID)
    return np.clip(out, -1.0, 1.0, out=out)


def cosine_matrix(one: Vectors, other: Vectors) -> NDArray[np.float32]:
    """Cosines (n, k) of every row of ``one`` (n, d) with every row of ``other`` (k, d).

    Both gridded or both float. For decisions that are taken once and stored: only gridded rows
    give the same bits everywhere. Not clamped.
    """
    left = np.asarray(one, dtype=np.float32)
    right = left if other is one else np.asarray(other, dtype=np.float32)
    product = left @ right.T
    if one.dtype == np.int16:
        product /= np.float32(GRID * GRID)
    return product


def quantise_micro(x: float) -> int:
    """A cosine or score in whole micro-units: clamped to [-1, 1], rounded half to even.

    Raises Invalid for NaN, which no gate could judge.
    """
    if math.isnan(x):
        raise Invalid("A score is not a number.", "Check the vectors it was computed from.")
    return round(min(1.0, max(-1.0, float(x))) * MICRO)


def quantise_micros(x: Vectors) -> NDArray[np.int64]:
    """``quantise_micro`` of every element."""
    wide = np.asarray(x, dtype=np.float64)
    if np.isnan(wide).any():
        raise Invalid("A score is not a number.", "Check the vectors it was computed from.")
    return np.rint(np.clip(wide, -1.0, 1.0) * MICRO).astype(np.int64)


def weights(saliences: Vectors, ages_days: Vectors, lam: float) -> NDArray[np.float64]:
    """The weights of Eq. 2, w = s * exp(-lam * age), for any shape. An age below 0 counts as 0.

    Ages below zero come from clocks that differ between machines; they must not weigh more than
    the present.
    """
    ages = np.maximum(np.asarray(ages_days, dtype=np.float64), 0.0)
    return np.asarray(np.asarray(saliences, dtype=np.float64) * np.exp(-lam * ages))


def position(
    vectors: Vectors, saliences: Vectors, ages_days: Vectors, lam: float
) -> NDArray[np.float32] | None:
    """An agent's place (Eq. 2): the unit centroid (d,) of its cells (n, d), float32.

    None when there is nothing to stand on: no cell, no weight, or cells that cancel out.
    Rows may be float or gridded; only their directions count.
    """
    weight = weights(saliences, ages_days, lam)
    if weight.size == 0:
        return None
    scale = 1.0 / GRID if vectors.dtype == np.int16 else 1.0
    total = (np.asarray(vectors, dtype=np.float64) * (weight * scale)[:, None]).sum(axis=0)
    length = math.sqrt(float((total * total).sum()))
    # Weights of 1e-300 would overflow on division; what is that faint is no position either.
    if not length > 1e-12:
        return None
    return np.asarray(total / length, dtype=np.float32)
