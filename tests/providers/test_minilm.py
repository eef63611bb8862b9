"""The default embedder: right vectors, whatever else is in the call."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from hyphaedb.errors import Invalid, Unavailable, Unsupported
from hyphaedb.providers.embedding import (
    Embedder,
    EmbedderSettings,
    panel_texts,
    shipped_panel,
)
from hyphaedb.providers.minilm import require_sha256, verified_weights
from hyphaedb.providers.opening import open_embedder

ONNX = importlib.util.find_spec("onnx") is not None
TEXTS = (
    "Sessions live in Redis.",
    "We keep user sessions in a Redis store, with a time to live of one day.",
    "The canteen serves soup on Mondays.",
    "x",
    " ".join(["A long note about the migration of the billing database to another region."] * 15),
    "SELECT id FROM cell WHERE layer = 0;",
)


async def test_a_vector_does_not_depend_on_its_batch_mates(minilm: Embedder) -> None:
    together = await minilm.embed(TEXTS)
    alone = np.vstack([await minilm.embed([text]) for text in TEXTS])
    assert np.sum(together * alone, axis=1).min() > 0.99999


async def test_vectors_come_in_the_order_of_the_texts(minilm: Embedder) -> None:
    forwards = await minilm.embed(TEXTS)
    backwards = await minilm.embed(TEXTS[::-1])
    assert np.sum(forwards * backwards[::-1], axis=1).min() > 0.99999


async def test_rows_have_length_one_and_the_promised_shape(minilm: Embedder) -> None:
    vectors = await minilm.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), minilm.dimension) == (6, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)


async def test_no_texts_give_no_vectors(minilm: Embedder) -> None:
    assert (await minilm.embed([])).shape == (0, 384)


async def test_like_statements_are_closer_than_unlike_ones(minilm: Embedder) -> None:
    redis, redis_again, soup, *_ = await minilm.embed(TEXTS)
    assert redis @ redis_again > 0.7
    assert redis @ soup < 0.2


async def test_known_cosines_of_the_original_model_are_met(minilm: Embedder) -> None:
    """The model card's own example; all-MiniLM-L6-v2 in float32 gives 0.6660, 0.1046, 0.1411."""
    weather, sunny, stadium = await minilm.embed(
        [
            "The weather is lovely today.",
            "It's so sunny outside!",
            "He drove to the stadium.",
        ]
    )
    found = [weather @ sunny, weather @ stadium, sunny @ stadium]
    assert found == pytest.approx([0.6660, 0.1046, 0.1411], abs=0.01)


async def test_a_text_of_invisible_characters_still_has_a_place(minilm: Embedder) -> None:
    assert np.isfinite(await minilm.embed(["\u200b\u200b"])).all()


async def test_a_blank_text_is_refused_by_its_number(minilm: Embedder) -> None:
    with pytest.raises(Invalid, match="Text 2 of 2 is blank"):
        await minilm.embed(["words", " \n"])


async def test_a_text_beyond_the_window_is_never_cut_silently(minilm: Embedder) -> None:
    with pytest.raises(Invalid, match="255 tokens"):
        await minilm.embed(["word " * 255])
    assert len(await minilm.embed(["word " * 254])) == 1


async def test_the_event_loop_stays_free_while_the_model_runs(minilm: Embedder) -> None:
    await minilm.warm()
    running = asyncio.create_task(minilm.embed(["word " * 200] * 4))
    turns = 0
    while not running.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 5


async def test_a_query_does_not_wait_for_the_whole_of_a_bulk_import(minilm: Embedder) -> None:
    bulk = asyncio.create_task(minilm.embed(["word " * 200] * 6))
    await asyncio.sleep(0)
    await minilm.embed(["where do sessions live"])
    assert not bulk.done()
    await bulk


async def test_the_shipped_panel_is_what_its_texts_embed_to(minilm: Embedder) -> None:
    shipped = shipped_panel("minilm")
    assert shipped is not None
    computed = await minilm.embed(panel_texts())
    assert (shipped * computed).sum(axis=1).min() > 0.9999


async def test_the_panel_is_read_once(minilm: Embedder) -> None:
    panel = await minilm.panel()
    assert panel is not None
    assert panel.shape == (256, 384)
    assert await minilm.panel() is panel


async def test_the_panel_s_statements_are_unrelated(minilm: Embedder) -> None:
    """A panel of like texts would make everything look related, or nothing."""
    panel = await minilm.panel()
    assert panel is not None
    cosines = (panel @ panel.T)[np.triu_indices(len(panel), 1)]
    assert cosines.mean() < 0.12
    assert cosines.max() < 0.65


async def test_a_closed_embedder_says_so() -> None:
    embedder = open_embedder("minilm")
    await embedder.close()
    await embedder.close()
    with pytest.raises(Unavailable, match="closed"):
        await embedder.embed(["words"])


def test_other_weights_than_the_tested_ones_are_refused(tmp_path: Path) -> None:
    weights = tmp_path / "model.onnx"
    weights.write_bytes(verified_weights().read_bytes()[:-1] + b"!")
    with pytest.raises(Unsupported, match=r"not the tested one.*pip install"):
        require_sha256(weights, "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6")


@pytest.mark.skipif(ONNX, reason="the package onnx is installed")
def test_the_fast_form_without_its_extra_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"hyphaedb\[fast\]"):
        open_embedder("minilm-fast", EmbedderSettings(cache_dir=tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(not ONNX, reason="needs the package onnx (the extra fast)")
async def test_the_fast_form_is_close_to_the_default_and_kept(
    minilm: Embedder, tmp_path: Path
) -> None:
    fast = open_embedder("minilm-fast", EmbedderSettings(cache_dir=tmp_path))
    together = await fast.embed(TEXTS)
    alone = np.vstack([await fast.embed([text]) for text in TEXTS])
    await fast.close()
    assert np.array_equal(together, alone)
    assert np.sum(together * await minilm.embed(TEXTS), axis=1).min() > 0.97
    assert len(os.listdir(tmp_path)) == 1
