"""What one would do without a wave, on the same vectors and in the same run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.metrics import Matrix, best_threshold, routing

#: The plain vote: how many nearest cells, and the power of their cosine.
_NEAREST, _POWER = 80, 8

Vectors = NDArray[np.float32]


def baselines(
    learn: Vectors, learn_gold: NDArray[np.bool_], push: Vectors, push_gold: NDArray[np.bool_]
) -> dict[str, dict[str, Any]]:
    """Figures of the four baselines; every threshold is fixed on the learn side."""
    everyone = np.ones_like(push_gold)
    centroids = learn_gold.T.astype(np.float32) @ learn
    lengths = np.linalg.norm(centroids, axis=1, keepdims=True)
    centroids = np.divide(centroids, lengths, where=lengths > 0, out=np.zeros_like(centroids))
    near = (push @ centroids.T).astype(np.float64)
    gate = best_threshold((learn @ centroids.T).astype(np.float64), learn_gold)
    ranks = np.argsort(np.argsort(-near, axis=1, kind="stable"), axis=1, kind="stable")
    votes, vote_gate = _vote(learn, learn_gold, push)
    return {
        "broadcast": routing(everyone.astype(np.float64), everyone, push_gold),
        "position_cosine": routing(near, near >= gate, push_gold),
        "centroid_top3": routing(near, ranks < 3, push_gold),
        "knn_footprint": routing(votes, votes >= vote_gate, push_gold),
    }


def _vote(learn: Vectors, gold: NDArray[np.bool_], push: Vectors) -> tuple[Matrix, float]:
    """Votes of the exact nearest learnt cells, and the gate by leave-one-out on the learn side."""
    among = learn @ learn.T
    np.fill_diagonal(among, -1.0)
    gate = best_threshold(_shares(among, gold), gold)
    return _shares(push @ learn.T, gold), gate


def _shares(cosines: Vectors, gold: NDArray[np.bool_]) -> Matrix:
    k = min(_NEAREST, cosines.shape[1])
    nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
    weights = np.maximum(np.take_along_axis(cosines, nearest, axis=1), 0.0) ** _POWER
    shares = np.einsum("ik,ikt->it", weights, gold[nearest].astype(np.float32))
    return np.asarray(shares / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12), np.float64)
