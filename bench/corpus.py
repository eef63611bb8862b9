"""Topical cells by the hundred thousand: real texts first, then mixes of real neighbours.

A mix takes two or three near neighbours among the real vectors, weighs them at random, adds a
little noise and is brought back to length 1: it lies where real texts lie, and its neighbourhood
looks like theirs. Random vectors would hide every fault of a graph and make every wave tiny. Its
body is made of its parents' words, so full text has something to find. Everything is seeded and
kept in a cache outside the project.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hyphaedb.entrypoints.demo import sample
from hyphaedb.providers.opening import open_embedder
from hyphaedb.providers.windows import embed_bodies

#: Real texts used at most; embedding them takes some minutes, once.
REAL_MAX = 10_000
#: Cells beyond the mesh: what the benches store and ask.
SPARE = 32_000
AGENTS = 20
_NEIGHBOURS = 16
_NOISE = 0.5
_WORDS_MAX = 60
#: An agent notes a few sentences; and embedding long texts would take half an hour.
_CHARS_MAX = 300
_SEED = 7
_PACKS = ("k8s_notes", "arrow_commits", "office_reports", "locomo", "keps")

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Cells in the order in which they are stored. ``authors`` numbers each cell's agent: agents
    work on topics, so that footprints are as local as those of a team."""

    texts: tuple[str, ...]
    vectors: Vectors
    authors: NDArray[np.int64]
    real: int
    sources: tuple[str, ...]
    panel: Vectors

    def describe(self, size: int) -> dict[str, object]:
        """What a result must say of its data."""
        return {
            "cells": size,
            "dimension": int(self.vectors.shape[1]),
            "real": min(self.real, size),
            "mixes": max(0, size - self.real),
            "sources": list(self.sources),
            "embedder": "minilm, computed beforehand and looked up",
        }


class Lookup:
    """An embedder that knows the corpus by heart: what remains is the cost of the store."""

    def __init__(self, corpus: Corpus) -> None:
        self.model = "minilm"
        self.dimension = int(corpus.vectors.shape[1])
        self.window_tokens = 10**6
        self._corpus = corpus
        self._rows = {text: row for row, text in enumerate(corpus.texts)}

    def measure(self, text: str) -> int:
        """One token a text: all fit one window."""
        return min(1, len(text))

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts of the corpus."""
        return self._corpus.vectors[[self._rows[text] for text in texts]]

    async def panel(self) -> Vectors | None:
        """The panel that ships with the embedder."""
        return self._corpus.panel

    async def warm(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to let go."""


def load(cache: Path, packs: Path | None, size: int) -> Corpus:
    """``size`` cells and SPARE more, from the cache or made now."""
    cache.mkdir(parents=True, exist_ok=True)
    texts, sources = _real_texts(packs)
    kept = cache / f"real-{len(texts)}.npy"
    panel, made = asyncio.run(_embedded([] if kept.exists() else texts))
    if made is not None:
        np.save(kept, made)
    real: Vectors = np.load(kept)
    assert panel is not None, "the default embedder ships a panel"
    bodies, vectors = _filled_up(texts, real, size + SPARE)
    anchors = real[np.random.default_rng(_SEED).integers(0, len(real), AGENTS)]
    authors = (vectors @ anchors.T).argmax(axis=1)
    return Corpus(tuple(bodies), vectors, authors, len(real), sources, panel)


def _real_texts(packs: Path | None) -> tuple[list[str], tuple[str, ...]]:
    """Distinct texts in an order of their own, and where they are from."""
    found: dict[str, None] = {}
    sources = []
    for name in _PACKS if packs is not None else ():
        assert packs is not None
        lines = [p for p in sorted((packs / name).glob("*.jsonl")) if "questions" not in p.name]
        for path in lines:
            for line in path.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                text = ". ".join(str(record[k]) for k in ("title", "text") if record.get(k))
                found[" ".join(text.split())[:_CHARS_MAX]] = None
        if lines:
            sources.append(name)
    if not found:
        proposals = sample.load()
        for proposal in (*proposals.earlier, *proposals.later):
            found[" ".join(proposal.body.split())[:_CHARS_MAX]] = None
        sources.append("the demo's proposals")
    texts = [t for t in found if len(t) > 20]
    order = np.random.default_rng(_SEED).permutation(len(texts))[:REAL_MAX]
    return [texts[i] for i in order], tuple(sources)


async def _embedded(texts: list[str]) -> tuple[Vectors | None, Vectors | None]:
    """The embedder's panel, and the vectors of the texts (None for no texts)."""
    embedder = open_embedder("minilm")
    try:
        parts = [
            (await embed_bodies(embedder, texts[start : start + 256]))[0]
            for start in range(0, len(texts), 256)
        ]
        return await embedder.panel(), np.concatenate(parts) if parts else None
    finally:
        await embedder.close()


def _filled_up(texts: list[str], real: Vectors, count: int) -> tuple[list[str], Vectors]:
    """The real cells, then mixes up to ``count``."""
    more = count - len(real)
    if more <= 0:
        return texts[:count], real[:count]
    rng = np.random.default_rng(_SEED + 1)
    near = _neighbours(real)
    first = rng.integers(0, len(real), more)
    picks = rng.integers(0, near.shape[1], (more, 2))
    parents = np.stack([first, near[first, picks[:, 0]], near[first, picks[:, 1]]], axis=1)
    weights = rng.dirichlet((2.0, 1.0, 1.0), more).astype(np.float32)
    # Half of them have two parents only.
    weights[: more // 2, 2] = 0.0
    made = np.einsum("ij,ijk->ik", weights, real[parents], dtype=np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    noise = rng.standard_normal(made.shape, dtype=np.float32) / np.sqrt(made.shape[1])
    made += np.float32(_NOISE) * noise
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    bodies = [_mixed([texts[p] for p in row[:2]], n) for n, row in enumerate(parents.tolist())]
    return texts + bodies, np.concatenate([real, made])


def _neighbours(real: Vectors) -> NDArray[np.int64]:
    """The nearest other real vectors of each."""
    width = min(_NEIGHBOURS, len(real) - 1)
    out = np.empty((len(real), width), np.int64)
    for start in range(0, len(real), 512):
        part = real[start : start + 512] @ real.T
        part[np.arange(len(part)), np.arange(start, start + len(part))] = -2.0
        out[start : start + len(part)] = np.argpartition(-part, width - 1, axis=1)[:, :width]
    return out


def _mixed(parents: Sequence[str], number: int) -> str:
    """Words of the parents in turn, and a number so that no two cells say the same."""
    words = [w for pair in zip(*(p.split() for p in parents), strict=False) for w in pair]
    return f"{' '.join(words[:_WORDS_MAX])} (variant {number})"
