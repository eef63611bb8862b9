"""From the model's logits and the cues to calibrated chances: a linear layer of 84 numbers.

Three outcomes for an unordered pair: the two exclude each other, say the same, or neither. The
weights, the temperature and the thresholds are fitted on statements that neither the encoder nor
the templates' learning side has seen, and ship as one small JSON file. A hidden layer was tried:
better on templates (AUC 0.87 for 0.85), worse on every text that no template made.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyphaedb.providers.cues import Cues
from hyphaedb.providers.quantities import Dimension

FEATURES: Final = (
    "odds", "odds_gap", "entails_most", "entails_least", "amount_clash", "version_or_date_clash",
    "amounts_agree", "opposites", "negation_parity", "both_negated", "permission_clash",
    "scopes_differ", "split_in_time", "hedged", "names_differ", "retired", "change_on_one_side",
    "overlap", "containment", "slot_on_both", "slot_likeness", "length_ratio", "clash_and_overlap",
    "slot_share",
    "amounts_on_one_side",
    "odds_if_amounts_agree",
    "odds_if_scopes_differ",
)  # fmt: skip
_ARRAYS: Final = ("mean", "scale", "weights", "bias")
CONTRADICTS: Final = 0
DUPLICATES: Final = 1


@dataclass(frozen=True, slots=True)
class Combiner:
    """A linear layer over standardised features, and the thresholds that ship with it.

    `judged_at` and `suspected_at` are chances of contradiction: from the first on a pair is judged,
    between the two it is suspected. `duplicates_at` is the chance from which two are the same.
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    temperature: float
    judged_at: float
    suspected_at: float
    duplicates_at: float

    def chances(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chances of (contradiction, duplicate, neither), shape (3,); they add up to 1."""
        x = np.clip((features - self.mean) / self.scale, -4.0, 4.0)
        scores = x @ self.weights + self.bias
        scores = np.exp((scores - scores.max()) / self.temperature)
        shares: NDArray[np.float64] = scores / scores.sum()
        return shares


def read_combiner(text: str) -> Combiner:
    """The combiner in a JSON text as `training/combine.py` writes it. `ValueError` if its shape is
    not that of the features here."""
    found: dict[str, Any] = json.loads(text)
    if tuple(found["features"]) != FEATURES:
        raise ValueError("The combiner was fitted to other features than these.")
    numbers = {name: np.array(found[name], np.float64) for name in _ARRAYS}
    return Combiner(
        mean=numbers["mean"],
        scale=numbers["scale"],
        weights=numbers["weights"],
        bias=numbers["bias"],
        temperature=float(found["temperature"]),
        judged_at=float(found["judged_at"]),
        suspected_at=float(found["suspected_at"]),
        duplicates_at=float(found["duplicates_at"]),
    )


def features_of(cues: Cues, logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """The features of a pair in the order of `FEATURES`. `logits`: (2, 3), first to second and
    back, of (entails, neutral, contradicts). The same for a pair turned round."""
    wide = logits.astype(np.float64)
    odds = wide[:, 2] - np.logaddexp(wide[:, 0], wide[:, 1])
    entails = wide[:, 0] - np.logaddexp(wide[:, 1], wide[:, 2])
    exact = (Dimension.VERSION, Dimension.DATE, Dimension.DAY)
    clash = cues.clash
    agree = cues.agreements > 0 and clash is None
    dated = clash is not None and clash[0].dimension in exact
    ours, theirs = cues.permissions
    longest = max(len(cues.slot[0].split()), len(cues.slot[1].split()))
    both = bool(cues.slot[0] and cues.slot[1])
    return np.array(
        [
            odds.mean(),
            abs(odds[0] - odds[1]),
            entails.max(),
            entails.min(),
            clash is not None and not dated,
            dated,
            agree,
            cues.opposites is not None,
            cues.negation_parity,
            bool(cues.negations[0] and cues.negations[1]),
            bool(ours and theirs and ours != theirs and "must_not" in (ours, theirs)),
            cues.scopes is not None,
            cues.split_in_time,
            cues.hedged,
            cues.names_differ,
            bool(cues.retired),
            cues.change[0] != cues.change[1],
            cues.overlap,
            cues.containment,
            both,
            cues.slot_similarity if both else 0.0,
            cues.length_ratio,
            cues.overlap if clash is not None else 0.0,
            longest / 12,
            cues.amounts_on_one_side,
            # What the model holds against a pair counts less where units or places explain it.
            max(odds.mean(), 0.0) if agree else 0.0,
            max(odds.mean(), 0.0) if cues.scopes is not None else 0.0,
        ],
        np.float64,
    )
