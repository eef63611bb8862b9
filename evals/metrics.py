"""Figures of a routing run: what was delivered against who should have heard."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Resamplings of the bootstrap interval, and its seed: the same figures come out again.
_RESAMPLES, _SEED = 1_000, 0

Matrix = NDArray[np.float64]


def routing(
    scores: Matrix, delivered: NDArray[np.bool_], gold: NDArray[np.bool_]
) -> dict[str, Any]:
    """Micro F1 with a 95 % interval, precision, recall, MAP, recall@3, deliveries an item.

    All three are items x teams with teams by name. ``scores`` rank the teams of an item; equals
    (above all the teams without a score) come by name.
    """
    hits = (delivered & gold).sum(axis=1).astype(float)
    sent, wanted = delivered.sum(axis=1).astype(float), gold.sum(axis=1).astype(float)
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(gold, order, axis=1)
    precision_at = np.cumsum(ranked, axis=1) / np.arange(1, gold.shape[1] + 1)
    average = (precision_at * ranked).sum(axis=1) / np.maximum(wanted, 1)
    rng = np.random.default_rng(_SEED)
    resampled = []
    for _ in range(_RESAMPLES):
        drawn = rng.integers(0, len(hits), len(hits))
        resampled.append(_f1(hits[drawn].sum(), sent[drawn].sum(), wanted[drawn].sum()))
    low, high = np.percentile(resampled, [2.5, 97.5])
    return {
        "f1": _rounded(_f1(hits.sum(), sent.sum(), wanted.sum())),
        "f1_ci": [_rounded(low), _rounded(high)],
        "precision": _rounded(hits.sum() / max(sent.sum(), 1)),
        "recall": _rounded(hits.sum() / max(wanted.sum(), 1)),
        "map": _rounded(average.mean()),
        "recall_at_3": _rounded((ranked[:, :3].sum(axis=1) / np.maximum(wanted, 1)).mean()),
        "deliveries_per_item": _rounded(sent.mean()),
    }


def best_threshold(scores: Matrix, gold: NDArray[np.bool_]) -> float:
    """The threshold with the best micro F1 on these scores; ask it of the learn side only."""
    best, found = -1.0, 0.0
    for threshold in np.unique(np.quantile(scores, np.linspace(0.3, 1.0, 400))):
        chosen = scores >= threshold
        f1 = _f1((chosen & gold).sum(), chosen.sum(), gold.sum())
        if f1 > best:
            best, found = f1, float(threshold)
    return found


def _f1(hits: float, sent: float, wanted: float) -> float:
    return float(2 * hits / max(sent + wanted, 1))


def _rounded(value: float) -> float:
    return round(float(value), 4)
