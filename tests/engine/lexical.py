"""An embedder for engine tests: bags of words in 64 dimensions, and sentences to go with it.

A real implementation of the Embedder protocol, only small: every word has a random direction of
its own, a text is the sum of its words. Texts that share words are near, others are not, and a
thousand of them cost milliseconds.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIMENSION = 64

TOPICS = {
    "limits": "api requests minute client limit burst quota throttle retry header window gateway",
    "billing": "invoice customer tax currency refund ledger payment month discount receipt vat due",
    "search": "index query ranking token synonym recall shard relevance document stemming facet",
    "login": "password session cookie token expiry single sign identity role lockout reset factor",
    "deploy": "release canary rollback cluster image pipeline stage traffic health probe drain",
}
WORDS = {topic: words.split() for topic, words in TOPICS.items()}


def sentence(rng: random.Random, topic: str, words: int = 8) -> str:
    """A new text about a topic: most of its words, and one nobody else uses."""
    chosen = rng.sample(WORDS[topic], words)
    return f"{' '.join(chosen)} n{rng.getrandbits(40):x}"


class Lexical:
    """See the module; deterministic, so two of them are the same model."""

    model = "lexical-test"
    dimension = DIMENSION
    window_tokens = 4_000

    def __init__(self) -> None:
        self._words: dict[str, NDArray[np.float64]] = {}
        self._panel: NDArray[np.float32] | None = None

    def measure(self, text: str) -> int:
        return len(text.split())

    def _word(self, word: str) -> NDArray[np.float64]:
        if word not in self._words:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            self._words[word] = np.random.default_rng(seed).standard_normal(DIMENSION)
        return self._words[word]

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), DIMENSION))
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row += self._word(word)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows.astype(np.float32)

    async def panel(self) -> NDArray[np.float32] | None:
        if self._panel is None:
            rng = random.Random(7)
            texts = [" ".join(f"p{rng.randrange(4_000)}" for _ in range(8)) for _ in range(64)]
            self._panel = await self.embed(texts)
        return self._panel

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None
