"""The real embedder with a memory, so that variants and baselines embed each text once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hyphaedb import Embedder


class RememberingEmbedder:
    """An embedder whose answers are kept for the length of a run."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def window_tokens(self) -> int:
        return self._embedder.window_tokens

    def measure(self, text: str) -> int:
        return self._embedder.measure(text)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        missing = list(dict.fromkeys(t for t in texts if t not in self._known))
        if missing:
            for text, vector in zip(missing, await self._embedder.embed(missing), strict=True):
                self._known[text] = vector
        return np.stack([self._known[t] for t in texts])

    async def panel(self) -> NDArray[np.float32] | None:
        return await self._embedder.panel()

    async def warm(self) -> None:
        await self._embedder.warm()

    async def close(self) -> None:
        await self._embedder.close()
