"""Does an asked question find its evidence? Conversations as meshes, questions with gold turns.

Every turn is a cell of its speaker, stored in its session; every question is asked of the real
engine with the floor off. Baselines of the same run see the same turns: BM25, the embedder's
cosine, and their reciprocal rank fusion.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.packs import read_lines
from evals.remembering import RememberingEmbedder
from hyphaedb import Config, NewCell, Verbs, Wiring, embed_bodies, open_embedder, open_mesh

DEPTHS = (5, 10, 20)
ALL = "all_but_adversarial"
_SETTLE_S = 1_800.0
#: BM25's usual constants, and rank fusion's.
_K1, _B, _RRF = 1.2, 0.75, 60
_WORD = re.compile(r"[a-z0-9]+")


def evaluate_lists(
    questions: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[str]]
) -> dict[str, dict[str, float]]:
    """recall@k by category: the share of a question's evidence among the first k, on average."""
    figures: dict[str, dict[str, float]] = {}
    for depth in DEPTHS:
        found: dict[str, list[float]] = defaultdict(list)
        for question, answer in zip(questions, answers, strict=True):
            gold = set(question["evidence"])
            share = len(gold & set(answer[:depth])) / len(gold)
            found[question["category"]].append(share)
            if question["category"] != "adversarial":
                found[ALL].append(share)
        figures[f"recall_at_{depth}"] = {
            name: round(float(np.mean(shares)), 4) for name, shares in sorted(found.items())
        }
    return figures


async def evaluate(data: Path) -> dict[str, Any]:
    """The JSON object of a directory with cells.jsonl and questions.jsonl."""
    cells: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for cell in read_lines(data / "cells.jsonl"):
        cells[cell["conv"]].append(cell)
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for question in read_lines(data / "questions.jsonl"):
        known = {c["dia_id"] for c in cells[question["conv"]]}
        question["evidence"] = [e for e in question["evidence"] if e in known]
        if question["evidence"]:
            asked[question["conv"]].append(question)
    embedder = RememberingEmbedder(open_embedder(Config().embedder))
    questions: list[dict[str, Any]] = []
    lists: dict[str, list[list[str]]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="hyphaedb-eval-", ignore_cleanup_errors=True) as home:
        for conv in sorted(asked):
            print(f"{conv}: {len(cells[conv])} cells …", file=sys.stderr, flush=True)
            config, wiring = Config(data_dir=home), Wiring(embedder=embedder)
            async with open_mesh(mesh=conv, create=True, config=config, wiring=wiring) as mesh:
                ids = await _store(mesh, cells[conv])
                lists["hyphaedb"] += await _ask(mesh, asked[conv], ids)
            for name, found in (await _baselines(embedder, cells[conv], asked[conv])).items():
                lists[name] += found
            questions += asked[conv]
    await embedder.close()
    result: dict[str, Any] = {"pack": "locomo", "n": len(questions)}
    result |= evaluate_lists(questions, lists.pop("hyphaedb"))
    result["baselines"] = {n: evaluate_lists(questions, found) for n, found in lists.items()}
    return result


def _text(cell: Mapping[str, Any]) -> str:
    caption = cell.get("image_caption")
    return f"{cell['text']} [{caption}]" if caption else str(cell["text"])


async def _store(mesh: Verbs, cells: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Store every turn in order; returns dia_id by cell id. Equal turns share a cell."""
    for speaker in sorted({c["speaker"] for c in cells}):
        await mesh.register(speaker)
    ids: dict[str, str] = {}
    for cell in cells:
        stored = await mesh.store(
            NewCell(_text(cell), session=f"{cell['conv']}/{cell['session']}"),
            agent=cell["speaker"],
        )
        ids.setdefault(str(stored.cell_id), cell["dia_id"])
    if await mesh.settle(timeout_s=_SETTLE_S):
        raise SystemExit("The cells did not settle in time.")
    return ids


async def _ask(
    mesh: Verbs, questions: Sequence[Mapping[str, Any]], ids: Mapping[str, str]
) -> list[list[str]]:
    """dia_ids found for each question, best first."""
    answers = []
    for question in questions:
        found = await mesh.recall(question["question"], k=max(DEPTHS), floor=0.0, tokens=200_000)
        answers.append([ids[str(h.cell.cell_id)] for h in found.hits])
    return answers


async def _baselines(
    embedder: RememberingEmbedder,
    cells: Sequence[Mapping[str, Any]],
    questions: Sequence[Mapping[str, Any]],
) -> dict[str, list[list[str]]]:
    # With the speaker in front, as one would index turns without agents: it serves all three.
    texts = [f"{c['speaker']}: {_text(c)}" for c in cells]
    vectors, _ = await embed_bodies(embedder, texts)
    asked, _ = await embed_bodies(embedder, [q["question"] for q in questions])
    bm25 = _bm25(texts, [q["question"] for q in questions])
    near = (asked @ vectors.T).astype(np.float64)
    names = [c["dia_id"] for c in cells]
    ranks = [np.argsort(np.argsort(-s, axis=1, kind="stable"), axis=1) for s in (bm25, near)]
    fused = sum(1.0 / (_RRF + 1 + r) for r in ranks)
    return {
        name: [[names[i] for i in np.argsort(-row, kind="stable")[: max(DEPTHS)]] for row in scores]
        for name, scores in (("bm25", bm25), ("cosine", near), ("rank_fusion", np.asarray(fused)))
    }


def _bm25(texts: Sequence[str], questions: Sequence[str]) -> NDArray[np.float64]:
    """Plain BM25, (questions, texts)."""
    words = [_WORD.findall(t.lower()) for t in texts]
    counts = [Counter(w) for w in words]
    mean = sum(map(len, words)) / max(1, len(words))
    holds: dict[str, list[int]] = defaultdict(list)
    for i, count in enumerate(counts):
        for word in count:
            holds[word].append(i)
    scores = np.zeros((len(questions), len(texts)))
    for q, question in enumerate(questions):
        for word in set(_WORD.findall(question.lower())):
            rows = holds.get(word, [])
            idf = math.log(1 + (len(texts) - len(rows) + 0.5) / (len(rows) + 0.5))
            for i in rows:
                often = counts[i][word]
                length = 1 - _B + _B * len(words[i]) / mean
                scores[q, i] += idf * often * (_K1 + 1) / (often + _K1 * length)
    return scores


def main(data: Path) -> None:
    """Print the JSON object of the pack in a directory, or in its folder ``locomo``."""
    within = data / "locomo"
    pack = within if (within / "cells.jsonl").exists() else data
    print(json.dumps(asyncio.run(evaluate(pack))))
