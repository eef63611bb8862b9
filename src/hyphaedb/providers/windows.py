"""Embedding of bodies that are longer than the model's window.

A cell's body may hold 8,000 characters; MiniLM reads 254 tokens at once. The body is cut at white
space into windows of nearly equal size that fit, and its vector is their mean weighted by size,
scaled back to length 1. So no word is dropped, and every word counts alike. What it costs: a body
about several things lands between them, as the centroid of several topics does; the caller gets
the number of windows and passes it on to the author.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hyphaedb.providers.embedding import Embedder, unit_rows

_WORD_WITH_SPACE = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a body that fits the model, and its size as the embedder measures."""

    text: str
    size: int


#: Characters that are tokenised in about 0.2 ms.
_INLINE_CHARS_MAX = 2_000


async def embed_bodies(
    embedder: Embedder, texts: Sequence[str]
) -> tuple[NDArray[np.float32], list[int]]:
    """Vectors of shape (len(texts), dimension), rows of length 1, and each text's window count.

    A text that fits has one window and the very vector that `embedder.embed` gives. Errors are
    those of `Embedder.embed`, except that no text is too long. The caller bounds the texts.
    """
    if not texts:
        return np.empty((0, embedder.dimension), dtype=np.float32), []

    def split_all() -> list[list[Window]]:
        return [split_windows(text, embedder.measure, embedder.window_tokens) for text in texts]

    # In a thread: tokenising a bulk import takes seconds that the event loop must not lose. A
    # question is done in less time than the way to a thread and back takes.
    few = sum(map(len, texts)) <= _INLINE_CHARS_MAX
    split = split_all() if few else await asyncio.to_thread(split_all)
    windows = [window for body in split for window in body]
    vectors = await embedder.embed([window.text for window in windows])
    counts = [len(body) for body in split]
    if len(windows) == len(texts):
        return vectors, counts
    # A body without a single token still stands somewhere: it weighs 1, not 0.
    weights = np.array([max(window.size, 1) for window in windows], dtype=np.float32)
    bounds = np.concatenate(([0], np.cumsum(counts)))
    means = np.add.reduceat(vectors * weights[:, None], bounds[:-1], axis=0)
    for row, (start, stop) in enumerate(pairwise(bounds)):
        if stop - start == 1:
            means[row] = vectors[start]
    return unit_rows(means, embedder.model), counts


def split_windows(text: str, measure: Callable[[str], int], window: int) -> list[Window]:
    """The text as windows of at most `window` by `measure`; one window if the whole text fits.

    `measure` must be additive over pieces split at white space. A single character larger than
    the window stays whole, so the split always ends.
    """
    whole = measure(text)
    if whole <= window:
        return [Window(text, whole)]
    pieces = list(_pieces(text, measure, window))
    total = sum(piece.size for piece in pieces)
    # Equal windows: 260 tokens make 130 + 130, not 254 + 6, whose second vector would be noise.
    fair = total / -(-total // window)
    windows: list[Window] = []
    words: list[str] = []
    size = 0
    for piece in pieces:
        if words and (size >= fair or size + piece.size > window):
            windows.append(Window("".join(words), size))
            words, size = [], 0
        words.append(piece.text)
        size += piece.size
    windows.append(Window("".join(words), size))
    return windows


def _pieces(text: str, measure: Callable[[str], int], window: int) -> Iterator[Window]:
    """The words with the space behind them; a word beyond the window is cut into such pieces."""
    for match in _WORD_WITH_SPACE.finditer(text):
        word = match.group()
        size = measure(word)
        if size <= window:
            yield Window(word, size)
        else:
            # Without the space behind it, or a half could be nothing but space.
            yield from _halves(word.rstrip(), measure, window)


def _halves(word: str, measure: Callable[[str], int], window: int) -> Iterator[Window]:
    # A space after each part keeps `measure` additive where the parts are joined again.
    part = f"{word} "
    size = measure(part)
    if size <= window or len(word) < 2:
        yield Window(part, size)
        return
    middle = len(word) // 2
    yield from _halves(word[:middle], measure, window)
    yield from _halves(word[middle:], measure, window)
