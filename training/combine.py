"""Fits what turns the model's logits and the cues into calibrated chances, and the thresholds.

    python -m training.combine --model judge.onnx --nli train.jsonl --out judge-combiner.json

Only statements that the encoder was not trained on: the held-out part of train.jsonl, and template
pairs from the held-out words and templates. A third of them fits nothing but the temperature and
the thresholds. Features, and so the graph, the tokeniser and the cues, are those that ship.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hyphaedb.providers.combining import FEATURES, Combiner, features_of, read_combiner
from hyphaedb.providers.judge import OfflineJudge
from training.batches import CONTRADICTS, ENTAILS, nli_rows
from training.templates import made
from training.templates.sides import Relation
from training.train import auc

_CONTRADICTION, _DUPLICATE, _NEITHER, _NOT_CONTRADICTION = range(4)


@dataclass(frozen=True, slots=True)
class Seen:
    """A held-out pair's features and its outcome; the fourth is "some other than contradiction"."""

    features: NDArray[np.float64]
    outcome: int
    source: str


def collect(model: Path, nli: Path, templates: int, seed: int) -> list[Seen]:
    """Features of the held-out pairs. The pair's order is random, as in a memory."""
    judge = OfflineJudge(model, _blank())
    pairs: list[tuple[str, str, int, str]] = []
    for row in nli_rows(nli)[1]:
        # One direction of entailment is known; whether the other holds, nobody said.
        outcome = {CONTRADICTS: _CONTRADICTION, ENTAILS: _NOT_CONTRADICTION}
        pairs.append((row.a, row.b, outcome.get(row.target, _NEITHER), row.source))
    named = {Relation.CONTRADICTS: _CONTRADICTION, Relation.DUPLICATES: _DUPLICATE}
    pairs += [
        (pair.a, pair.b, named.get(pair.relation, _NEITHER), "templates")
        for pair in made(templates, seed, held_out=True)
    ]
    random.Random(seed).shuffle(pairs)
    found = []
    for number, (a, b, outcome_of, source) in enumerate(pairs):
        reading = judge.read(a, b)
        found.append(Seen(features_of(reading.cues, reading.logits), outcome_of, source))
        if number % 500 == 0:
            print(f"{number}/{len(pairs)}", file=sys.stderr, flush=True)
    return found


def _blank() -> Combiner:
    size = len(FEATURES)
    zero, one = np.zeros(size), np.ones(size)
    return Combiner(zero, one, np.zeros((size, 3)), np.zeros(3), 1.0, 0.9, 0.5, 0.9)


def _loss(scores: torch.Tensor, gold: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    shares = torch.log_softmax(scores, dim=1)
    partial = gold == _NOT_CONTRADICTION
    others = torch.logsumexp(shares[:, 1:], dim=1)
    known = shares.gather(1, gold.clamp(max=2)[:, None])[:, 0]
    return -(torch.where(partial, others, known) * weight).sum() / weight.sum()


def fit(seen: list[Seen], seed: int) -> dict[str, Any]:
    """Weights of the combiner. NLI weighs twice as much as templates: it is what people wrote."""
    torch.manual_seed(seed)
    x = np.stack([s.features for s in seen])
    mean, scale = x.mean(axis=0), x.std(axis=0) + 0.05
    inputs = torch.tensor(np.clip((x - mean) / scale, -4, 4), dtype=torch.float32)
    gold = torch.tensor([s.outcome for s in seen])
    templates = np.array([s.source == "templates" for s in seen])
    shares = np.where(templates, 1 / templates.sum(), 2 / (~templates).sum())
    weight = torch.tensor(shares * len(seen), dtype=torch.float32)
    net = nn.Linear(x.shape[1], 3)
    optimiser = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=0.1)
    for _ in range(600):
        # Noise: a cue must not weigh as much as it would if all texts were made of templates.
        noisy = inputs + 0.4 * torch.randn_like(inputs)
        loss = _loss(net(noisy), gold, weight)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return {
        "features": list(FEATURES),
        "mean": mean.tolist(),
        "scale": scale.tolist(),
        "weights": net.weight.detach().numpy().T.tolist(),
        "bias": net.bias.detach().numpy().tolist(),
        "temperature": 1.0,
        "judged_at": 0.9,
        "suspected_at": 0.5,
        "duplicates_at": 0.9,
    }


def _chances(found: dict[str, Any], seen: list[Seen]) -> NDArray[np.float64]:
    combiner = read_combiner(json.dumps(found))
    return np.stack([combiner.chances(s.features) for s in seen])


def calibrate(found: dict[str, Any], seen: list[Seen]) -> None:
    """The temperature with the least log loss of contradiction, each kind of source half."""
    gold = np.array([s.outcome == _CONTRADICTION for s in seen])
    templates = np.array([s.source == "templates" for s in seen])
    losses: dict[float, float] = {}
    for temperature in np.arange(0.6, 2.6, 0.1):
        found["temperature"] = float(temperature)
        p = np.clip(_chances(found, seen)[:, 0], 1e-6, 1 - 1e-6)
        loss = -np.where(gold, np.log(p), np.log(1 - p))
        losses[float(temperature)] = float(loss[templates].mean() + loss[~templates].mean())
    found["temperature"] = round(min(losses.items(), key=lambda at: at[1])[0], 2)


def thresholds(found: dict[str, Any], seen: list[Seen], judged: float, suspected: float) -> None:
    """The lowest chances at which precision, measured on both kinds of sources apart, is at least
    what is asked; the stricter of the two."""
    p = _chances(found, seen)
    outcome = np.array([s.outcome for s in seen])
    templates = np.array([s.source == "templates" for s in seen])
    for name, wanted in (("judged_at", judged), ("suspected_at", suspected)):
        found[name] = max(
            _lowest(p[part, 0], outcome[part] == _CONTRADICTION, wanted)
            for part in (templates, ~templates)
        )
    found["duplicates_at"] = _lowest(p[templates, 1], outcome[templates] == _DUPLICATE, judged)


def _lowest(p: NDArray[np.float64], gold: NDArray[np.bool_], wanted: float) -> float:
    for threshold in np.arange(0.2, 0.99, 0.01):
        flagged = p >= threshold
        if flagged.sum() >= 20 and gold[flagged].mean() >= wanted:
            return round(float(threshold), 2)
    return 0.99


def tell(found: dict[str, Any], seen: list[Seen]) -> None:
    """Figures on pairs that fitted neither the weights nor, strictly, anything else."""
    p = _chances(found, seen)[:, 0].astype(np.float32)
    odds = np.array([s.features[0] for s in seen], np.float32)
    gold = np.array([s.outcome == _CONTRADICTION for s in seen])
    for source in sorted({s.source for s in seen}):
        part = np.array([s.source == source for s in seen])
        line = f"{source:10s} n {part.sum():4d} auc {auc(p[part], gold[part]):.3f}"
        line += f" (encoder alone {auc(odds[part], gold[part]):.3f})"
        for name in ("judged_at", "suspected_at"):
            flagged = p[part] >= found[name]
            right = gold[part][flagged].mean() if flagged.any() else float("nan")
            recall = flagged[gold[part]].mean()
            false = flagged[~gold[part]].mean()
            line += f" | {name} {found[name]}: P {right:.2f} R {recall:.2f} FPR {false:.3f}"
        print(line, flush=True)


def main() -> None:
    """Fit from the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.combine")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--nli", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--templates", type=int, default=2_500)
    parser.add_argument("--judged", type=float, default=0.80, help="precision from which to judge")
    parser.add_argument("--suspected", type=float, default=0.60, help="precision to suspect at")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    seen = collect(asked.model, asked.nli, asked.templates, asked.seed)
    third = len(seen) // 3
    found = fit(seen[third:], asked.seed)
    calibrate(found, seen[:third])
    thresholds(found, seen[:third], asked.judged, asked.suspected)
    tell(found, seen[:third])
    rounded = {
        name: np.round(value, 5).tolist()
        if isinstance(value, list) and name != "features"
        else value
        for name, value in found.items()
    }
    asked.out.write_text(json.dumps(rounded) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
