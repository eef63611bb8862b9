"""Does the offline judge tell contradiction from agreement? (paper, section 5.2)

Every labelled pair is judged as the engine would judge two cells, at the thresholds that ship. The
baselines are what a memory without a judge has: closeness alone, and the cues alone by a fixed
rule. A label other than "contradiction" counts as none.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyphaedb import Config, embed_bodies, open_embedder
from hyphaedb.providers.cues import Cues
from hyphaedb.providers.judge import NAME, OfflineJudge, open_judge

#: Resamplings of an interval, and their seed: the same figures come out again.
_RESAMPLES, _SEED = 300, 0


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair with a person's word on whether its statements contradict."""

    source: str
    a: str
    b: str
    contradicts: bool


def load(path: Path) -> list[Labelled]:
    """The pairs of a file with one JSON object a line: source, a, b, label."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        source = str(row.get("source", path.stem))
        found.append(Labelled(source, row["a"], row["b"], row["label"] == "contradiction"))
    return found


async def evaluate(pairs: Sequence[Labelled]) -> dict[str, Any]:
    """The JSON object: figures of each source, of the baselines, and the time a pair took."""
    judge = open_judge()
    began, used = time.perf_counter(), time.process_time()
    chances, cues = _judged(judge, pairs)
    spent, used = time.perf_counter() - began, time.process_time() - used
    close = await _cosines(pairs)
    ruled = np.array([rule_of(c) for c in cues])
    gold = np.array([pair.contradicts for pair in pairs])
    sources = np.array([pair.source for pair in pairs])
    result: dict[str, Any] = {
        "judge": NAME,
        "judged_at": judge.judged_at,
        "suspected_at": judge.suspected_at,
        "ms_per_pair": round(1e3 * spent / max(len(pairs), 1), 2),
        "cpu_ms_per_pair": round(1e3 * used / max(len(pairs), 1), 2),
        "sources": {},
        "baselines": {"cosine": {}, "cues": {}},
    }
    for source in dict.fromkeys(sources.tolist()):
        part = sources == source
        figures = _figures(chances[part], gold[part], judge.judged_at)
        figures["suspected"] = _at(chances[part], gold[part], judge.suspected_at)
        result["sources"][source] = figures
        # The threshold of closeness is the best on the very pairs: it is given every advantage.
        best = _best_threshold(close[part], gold[part])
        result["baselines"]["cosine"][source] = _figures(close[part], gold[part], best)
        result["baselines"]["cues"][source] = _figures(ruled[part], gold[part], 0.5)
    await judge.close()
    return result


def _judged(
    judge: OfflineJudge, pairs: Sequence[Labelled]
) -> tuple[NDArray[np.float64], list[Cues]]:
    chances, cues = np.empty(len(pairs)), []
    for number, pair in enumerate(pairs):
        reading = judge.read(pair.a, pair.b)
        chances[number] = reading.contradiction
        cues.append(reading.cues)
        if number % 100 == 0 and sys.stderr.isatty():
            print(f"judged {number} of {len(pairs)}", end="\r", file=sys.stderr)
    return chances, cues


async def _cosines(pairs: Sequence[Labelled]) -> NDArray[np.float64]:
    embedder = open_embedder(Config().embedder)
    rows = []
    for side in ([pair.a for pair in pairs], [pair.b for pair in pairs]):
        texts = [text or "." for text in side]
        parts = [
            (await embed_bodies(embedder, texts[start : start + 256]))[0]
            for start in range(0, len(texts), 256)
        ]
        rows.append(np.concatenate(parts))
    await embedder.close()
    cosines: NDArray[np.float64] = (rows[0] * rows[1]).sum(axis=1, dtype=np.float64)
    return cosines


def rule_of(cues: Cues) -> float:
    """The cues by a fixed rule: how strongly they speak, times how much the texts share."""
    ours, theirs = cues.permissions
    spoken = (
        1.0 * (cues.clash is not None)
        + 1.0 * bool(cues.retired)
        + 0.9 * (cues.opposites is not None)
        + 0.7 * cues.negation_parity
        + 0.7 * bool(ours and theirs and ours != theirs)
        + 0.2 * bool(cues.slot[0] and cues.slot[1])
    )
    against = 0.5 * (cues.scopes is not None) + 0.5 * cues.split_in_time + 0.3 * cues.hedged
    return float(max(spoken - against, 0.0) * (0.2 + cues.containment))


def _figures(
    scores: NDArray[np.float64], gold: NDArray[np.bool_], threshold: float
) -> dict[str, Any]:
    """AUC and average precision with 95 % intervals, and what is flagged at the threshold."""
    found: dict[str, Any] = {"n": len(gold), "contradictions": int(gold.sum())}
    if gold.any() and not gold.all():
        rng = np.random.default_rng(_SEED)
        drawn = [rng.integers(0, len(gold), len(gold)) for _ in range(_RESAMPLES)]
        mixed = [d for d in drawn if gold[d].any() and not gold[d].all()]
        for name, measure in (("auc", auc), ("ap", average_precision)):
            found[name] = round(measure(scores, gold), 4)
            resampled = [measure(scores[d], gold[d]) for d in mixed]
            found[f"{name}_ci"] = [
                round(float(x), 4) for x in np.percentile(resampled, [2.5, 97.5])
            ]
    else:
        # One class only (monli): there is nothing to rank, only false alarms to count.
        found |= {"auc": None, "ap": None}
    return found | _at(scores, gold, threshold)


def _at(scores: NDArray[np.float64], gold: NDArray[np.bool_], threshold: float) -> dict[str, Any]:
    flagged = scores >= threshold
    hits = int((flagged & gold).sum())
    precision = hits / flagged.sum() if flagged.any() else None
    recall = hits / gold.sum() if gold.any() else None
    return {
        "precision": None if precision is None else round(float(precision), 4),
        "recall": None if recall is None else round(float(recall), 4),
        "f1": round(2 * hits / max(int(flagged.sum() + gold.sum()), 1), 4),
        "flagged": int(flagged.sum()),
        "flagged_share": round(float(flagged.mean()), 4),
    }


def auc(scores: NDArray[np.float64], gold: NDArray[np.bool_]) -> float:
    """Chance that a contradiction scores above another pair; ties count half."""
    place = np.unique(scores, return_inverse=True)[1]
    counts = np.bincount(place)
    rank = np.cumsum(counts) - (counts - 1) / 2
    positive = int(gold.sum())
    above = rank[place[gold]].sum() - positive * (positive + 1) / 2
    return float(above / (positive * (len(gold) - positive)))


def average_precision(scores: NDArray[np.float64], gold: NDArray[np.bool_]) -> float:
    """Mean of the precision at every contradiction, best score first."""
    ranked = gold[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    return float(precision[ranked].mean())


def _best_threshold(scores: NDArray[np.float64], gold: NDArray[np.bool_]) -> float:
    if not gold.any():
        return float(np.quantile(scores, 0.5))
    tried = np.unique(np.quantile(scores, np.linspace(0, 1, 101)))
    return float(max(tried, key=lambda t: _at(scores, gold, float(t))["f1"]))


def main(pairs: Path) -> None:
    """Print the JSON object for the pairs in this file."""
    print(json.dumps(asyncio.run(evaluate(load(pairs)))))
