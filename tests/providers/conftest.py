"""One MiniLM for all tests here: loading it is the slow part."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from hyphaedb.providers.embedding import Embedder
from hyphaedb.providers.opening import open_embedder


@pytest.fixture(scope="session")
def minilm() -> Iterator[Embedder]:
    embedder = open_embedder("minilm")
    yield embedder
    asyncio.run(embedder.close())
