"""What several statements say together: the one nearest to all others, with its evidence.

Nothing is written anew, so nothing can be made up: the pattern is a statement that was made, and
says how many others say alike. What it costs: a pattern is never more general than the best of its
statements. How close "alike" is depends on the embedder; its panel of unrelated statements gives
the yardstick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyphaedb.providers.embedding import Embedder

EVIDENCE_MIN: Final = 3
"""Crystallisation needs three statements; fewer share nothing that is a pattern."""

STATEMENTS_MAX: Final = 200
"""200 by 200 cosines; more evidence than this does not move the centre."""

_PANEL_SHARE: Final = 0.999
_ALIKE_WITHOUT_PANEL: Final = 0.5
_ALIKE_MAX: Final = 0.6
"""However close the panel's own statements come, paraphrases of one statement lie above this."""


@dataclass(frozen=True, slots=True)
class Centre:
    """The most central statement and those that say alike, by position, itself included.

    `closeness` is the mean cosine of the others among them to it.
    """

    position: int
    alike: tuple[int, ...]
    closeness: float


async def alike_from(embedder: Embedder) -> float:
    """The cosine from which two statements say alike: what one unrelated pair in a thousand of the
    panel reaches."""
    panel = await embedder.panel()
    if panel is None or len(panel) < EVIDENCE_MIN:
        return _ALIKE_WITHOUT_PANEL
    cosines = panel @ panel.T
    unrelated = cosines[np.triu_indices(len(panel), k=1)]
    return min(float(np.quantile(unrelated, _PANEL_SHARE)), _ALIKE_MAX)


def centre_of(vectors: NDArray[np.float32], alike: float) -> Centre | None:
    """The statement with the most others at cosine `alike` or above, at equal numbers the closest.

    `vectors` has shape (n, d), rows of length 1. None if fewer than `EVIDENCE_MIN` say alike.
    """
    if len(vectors) < EVIDENCE_MIN:
        return None
    cosines = vectors @ vectors.T
    near = cosines >= alike
    np.fill_diagonal(near, val=True)
    counts = near.sum(axis=1)
    closeness = (cosines * near).sum(axis=1) / counts
    best = max(
        range(len(vectors)), key=lambda at: (counts[at], round(float(closeness[at]), 6), -at)
    )
    if counts[best] < EVIDENCE_MIN:
        return None
    others = [int(at) for at in np.flatnonzero(near[best]) if at != best]
    mean = float(cosines[best, others].mean())
    return Centre(best, tuple(sorted([best, *others])), mean)


def worded(body: str, evidence: int, of: int) -> str:
    """The pattern's words: the statement, and how many of how many say alike."""
    return f"{body.strip()} (Said alike in {evidence} of {of} statements.)"


def confidence_of(evidence: Sequence[int], of: int, closeness: float) -> float:
    """Grows with the number of statements, their share of all and their closeness; below 1."""
    known = len(evidence) / (len(evidence) + 1)
    return round(max(0.0, min(1.0, known * (len(evidence) / of) * closeness)), 3)
