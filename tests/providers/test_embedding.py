"""Choosing an embedder: what is named is what is opened, and nothing falls back."""

from __future__ import annotations

import numpy as np
import pytest

from hyphaedb.errors import Invalid, Unavailable
from hyphaedb.providers.embedding import (
    EmbedderSettings,
    panel_texts,
    unit_rows,
)
from hyphaedb.providers.opening import open_embedder


def test_the_recorded_name_opens_the_same_embedder_again() -> None:
    settings = EmbedderSettings(key="k")
    for spec in ("minilm", "openai:text-embedding-3-small"):
        assert open_embedder(spec, settings).model == spec


@pytest.mark.parametrize("spec", ["", "MiniLM", "openai", "openai:", "word2vec", "minilm:large"])
def test_an_unknown_embedder_is_an_error_that_names_the_known_ones(spec: str) -> None:
    with pytest.raises(Invalid, match="minilm-fast or openai:MODEL"):
        open_embedder(spec)


def test_openai_without_a_key_says_what_to_set() -> None:
    with pytest.raises(Invalid, match="HYPHAEDB_EMBEDDER_KEY"):
        open_embedder("openai:text-embedding-3-small")


def test_a_compatible_server_needs_no_key_but_a_dimension() -> None:
    url = "http://127.0.0.1:11434/v1"
    with pytest.raises(Invalid, match="HYPHAEDB_EMBEDDER_DIMENSION"):
        open_embedder("openai:nomic-embed-text", EmbedderSettings(url=url))
    opened = open_embedder("openai:nomic-embed-text", EmbedderSettings(url=url, dimension=768))
    assert opened.dimension == 768


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host/v1", "http://", "http://[::1"])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(Invalid, match="HYPHAEDB_EMBEDDER_URL"):
        open_embedder("openai:m", EmbedderSettings(url=url, key="k", dimension=8))


@pytest.mark.parametrize("key", ["sk secret", "sk-secret\nx", "sk-sécret"])
def test_a_key_that_cannot_be_one_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(Invalid, match="HYPHAEDB_EMBEDDER_KEY") as caught:
        open_embedder("openai:text-embedding-3-small", EmbedderSettings(key=key))
    assert "cret" not in str(caught.value)


def test_settings_do_not_show_the_key() -> None:
    assert "sk-secret" not in repr(EmbedderSettings(key="sk-secret"))


def test_the_panel_has_256_different_short_statements() -> None:
    texts = panel_texts()
    assert len(set(texts)) == len(texts) == 256
    assert all(20 <= len(text) <= 120 for text in texts)


@pytest.mark.parametrize("row", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_vector_without_a_direction_is_refused(row: list[float]) -> None:
    with pytest.raises(Unavailable, match="without a direction"):
        unit_rows(np.array([[1.0, 0.0], row]), "m")
