"""Bodies longer than the model's window: every word counts, and the reply can say how."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyphaedb.providers.embedding import Embedder
from hyphaedb.providers.windows import embed_bodies, split_windows
from hyphaedb.providers.wordpiece import bert_uncased


def tokens(text: str) -> int:
    return len(bert_uncased().ids(text))


def utf8_bytes(text: str) -> int:
    return len(text.encode())


async def test_a_short_body_is_one_window_and_its_plain_embedding(minilm: Embedder) -> None:
    vectors, windows = await embed_bodies(minilm, ["Sessions live in Redis."])
    assert windows == [1]
    assert np.array_equal(vectors, await minilm.embed(["Sessions live in Redis."]))


async def test_a_long_body_is_the_weighted_mean_of_its_windows(minilm: Embedder) -> None:
    body = "Redis keeps sessions. " * 60 + "The canteen serves soup. " * 20
    split = split_windows(body, minilm.measure, minilm.window_tokens)
    parts = await minilm.embed([window.text for window in split])
    mean = np.average(parts, axis=0, weights=[window.size for window in split])
    vectors, windows = await embed_bodies(minilm, ["short", body, "also short"])
    assert windows == [1, len(split), 1]
    assert vectors[1] @ (mean / np.linalg.norm(mean)) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)


async def test_the_end_of_a_long_body_still_counts(minilm: Embedder) -> None:
    start = "The build runs on two machines. " * 40
    about_soup, without = (
        await embed_bodies(minilm, [start + "Lentil soup is served at noon. " * 40, start])
    )[0]
    soup = (await minilm.embed(["Lentil soup for lunch"]))[0]
    assert about_soup @ soup > without @ soup + 0.2


async def test_no_bodies_give_no_vectors(minilm: Embedder) -> None:
    vectors, windows = await embed_bodies(minilm, [])
    assert vectors.shape == (0, 384)
    assert windows == []


async def test_a_long_body_without_a_space_is_embedded(minilm: Embedder) -> None:
    vectors, windows = await embed_bodies(minilm, ["記" * 1000, "a" * 8000])
    assert windows == [4, 1]  # a word beyond 100 characters is one unknown token
    assert np.isfinite(vectors).all()


def test_windows_are_of_nearly_equal_size() -> None:
    sizes = [window.size for window in split_windows("word " * 260, tokens, 254)]
    assert sizes == [130, 130]


@pytest.mark.parametrize("measure", [tokens, utf8_bytes])
@settings(deadline=None)  # the first text pays for the vocabulary
@given(text=st.text(min_size=1, max_size=400).filter(lambda text: bool(text.strip())))
def test_every_window_fits_is_not_blank_and_no_word_is_lost(
    measure: Callable[[str], int], text: str
) -> None:
    windows = split_windows(text, measure, 16)
    assert all(measure(window.text) == window.size <= 16 for window in windows)
    assert all(window.text.strip() for window in windows)
    assert "".join("".join(w.text for w in windows).split()) == "".join(text.split())
