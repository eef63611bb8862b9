"""Fine-tunes the cross-encoder: first on NLI alone, then on NLI and templates together.

    python -m training.train nli   --nli train.jsonl --out nli.pt --epochs 1
    python -m training.train mixed --nli train.jsonl --start nli.pt --out judge.pt

Both phases are deterministic for a seed and a number of threads.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from training.batches import CONTRADICTS, NOT_CONTRADICTION, Row, batches, nli_rows, turned
from training.encoder import CrossEncoder, from_minilm

BATCH = 32
_WARM_SHARE = 0.06


def loss_of(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy over three classes; for rows only known not to contradict, -log(1 - p)."""
    partial = targets == NOT_CONTRADICTION
    losses = []
    if (~partial).any():
        losses.append(
            nn.functional.cross_entropy(
                logits[~partial], targets[~partial], label_smoothing=smoothing, reduction="sum"
            )
        )
    if partial.any():
        others = torch.logsumexp(logits[partial][:, :CONTRADICTS], dim=1)
        losses.append((torch.logsumexp(logits[partial], dim=1) - others).sum())
    return torch.stack(losses).sum() / len(targets)


def fit(
    model: CrossEncoder, epochs: Sequence[Sequence[Row]], rate: float, seed: int, dropout: float
) -> None:
    """Runs through the epochs in turn; the rate warms up, then falls to zero as a cosine."""
    learned = [p for p in model.parameters() if p.requires_grad]
    head = {id(p) for part in (model.head, model.logits) for p in part.parameters()}
    optimiser = torch.optim.AdamW(
        [
            {"params": [p for p in learned if id(p) not in head], "scale": 1.0},
            {"params": [p for p in learned if id(p) in head], "scale": 5.0},
        ],
        lr=rate,
        weight_decay=0.01,
        fused=True,
    )
    chance = random.Random(seed)
    steps = sum(math.ceil(len(rows) / BATCH) for rows in epochs)
    done, began, running = 0, time.monotonic(), 0.0
    model.train()
    for rows in epochs:
        for members, ids, second, real in batches(rows, BATCH, chance):
            share = done / steps
            level = min(1.0, share / _WARM_SHARE) * 0.5 * (1 + math.cos(math.pi * share))
            for group in optimiser.param_groups:
                group["lr"] = rate * level * group["scale"]
            with torch.autocast("cpu", torch.bfloat16):
                logits = model(ids, second, real, dropout)
            targets = torch.tensor([rows[m].target for m in members])
            loss = loss_of(logits.float(), targets, smoothing=0.05)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimiser.step()
            done, running = done + 1, running + loss.item()
            if done % 50 == 0:
                spent = time.monotonic() - began
                print(f"{done}/{steps} loss {running / 50:.4f} {spent:.0f}s", flush=True)
                running = 0.0


def logits_of(model: CrossEncoder, rows: Sequence[Row]) -> NDArray[np.float32]:
    """Directed logits of the rows, shape (rows, 3), in the rows' order."""
    model.eval()
    found = np.empty((len(rows), 3), np.float32)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for members, ids, second, real in batches(rows, 64, None):
            found[members] = model(ids, second, real).float().numpy()
    return found


def auc(scores: NDArray[np.floating[Any]], positive: NDArray[np.bool_]) -> float:
    """Chance that a positive scores above a negative; ties count half."""
    ranks = np.unique(scores, return_inverse=True)[1]
    counts = np.bincount(ranks)
    mean_rank = np.cumsum(counts) - (counts - 1) / 2
    above = mean_rank[ranks[positive]].sum() - positive.sum() * (positive.sum() + 1) / 2
    return float(above / (positive.sum() * (~positive).sum()))


def contradiction(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Log-odds of the third class against the other two."""
    odds: NDArray[np.float32] = logits[:, CONTRADICTS] - np.logaddexp(logits[:, 0], logits[:, 1])
    return odds


def tell(model: CrossEncoder, rows: Sequence[Row]) -> None:
    """Prints AUC of contradiction (mean of both directions) and accuracy for each source."""
    for source in sorted({row.source for row in rows}):
        part = [row for row in rows if row.source == source]
        there, back = logits_of(model, part), logits_of(model, [turned(row) for row in part])
        gold = np.array([row.target for row in part])
        score = (contradiction(there) + contradiction(back)) / 2
        known = gold != NOT_CONTRADICTION
        right = (there.argmax(1) == gold)[known].mean()
        print(
            f"{source:14s} n {len(part):5d} auc {auc(score, gold == CONTRADICTS):.3f}"
            f" accuracy {right:.3f}",
            flush=True,
        )


def main() -> None:
    """One phase, from the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.train")
    parser.add_argument("phase", choices=["nli", "mixed"])
    parser.add_argument("--nli", type=Path, required=True)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--templates", type=int, default=12_000, help="template pairs an epoch")
    parser.add_argument("--nli-share", type=float, default=0.5, help="of the NLI rows, an epoch")
    parser.add_argument("--rate", type=float, default=6e-5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    model = from_minilm(asked.seed)
    if asked.start is not None:
        model.load_state_dict(torch.load(asked.start))
    learn, held = nli_rows(asked.nli)
    chance = random.Random(asked.seed)
    epochs: list[list[Row]] = []
    for number in range(asked.epochs):
        rows = [row if chance.random() < 0.7 else turned(row) for row in learn]
        if asked.phase == "mixed":
            from training.templates import generate

            rows = chance.sample(rows, int(len(rows) * asked.nli_share))
            rows += generate(asked.templates, seed=asked.seed * 1_000 + number)
        epochs.append(rows)
    if asked.phase == "mixed":
        from training.templates import generate_held_out

        held = held + generate_held_out(1_500, seed=asked.seed)
    print(f"rows an epoch {[len(rows) for rows in epochs]}, held out {len(held)}", file=sys.stderr)
    fit(model, epochs, asked.rate, asked.seed, dropout=0.1)
    torch.save(model.state_dict(), asked.out)
    tell(model, held)


if __name__ == "__main__":
    main()
