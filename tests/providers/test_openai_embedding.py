"""The network embedder against a real server that misbehaves in every way seen in the wild."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import numpy as np
import pytest
from numpy.typing import NDArray

from hyphaedb.errors import Conflict, HyphaeError, Invalid, Unavailable
from hyphaedb.providers.embedding import EmbedderSettings
from hyphaedb.providers.openai_embedding import OpenAIEmbedder
from hyphaedb.providers.retrying import Retries
from tests.providers.scripted_server import Answer, Script, embeddings, serving, vector

DIMENSION = 8
KEY = "sk-verysecret"
FAST = Retries(attempts_max=4, pause_s=0.01, pause_max_s=0.04)


@pytest.fixture
def server() -> Iterator[Script]:
    with serving(DIMENSION) as script:
        yield script


@asynccontextmanager
async def client(
    script: Script, *, timeout_s: float = 10.0, name: str = "m"
) -> AsyncIterator[OpenAIEmbedder]:
    settings = EmbedderSettings(
        url=script.url, key=KEY, dimension=DIMENSION, window_tokens=4000, timeout_s=timeout_s
    )
    opened = OpenAIEmbedder(name, settings, random.Random(7), FAST)
    yield opened
    await opened.close()


@pytest.fixture
async def embedder(server: Script) -> AsyncIterator[OpenAIEmbedder]:
    async with client(server) as opened:
        yield opened


def expected(texts: list[str]) -> NDArray[np.float64]:
    rows = np.array([vector(text, DIMENSION) for text in texts])
    unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


async def failure(embedder: OpenAIEmbedder) -> HyphaeError:
    with pytest.raises(HyphaeError) as caught:
        await embedder.embed(["a", "bb"])
    assert KEY not in f"{caught.value!r} {caught.value.__cause__!r}"
    return caught.value


async def test_a_request_is_the_one_openai_documents(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    vectors = await embedder.embed(["a", "bb"])
    (seen,) = server.seen
    assert seen.path == "/v1/embeddings"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body == {"model": "m", "input": ["a", "bb"], "encoding_format": "float"}
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(expected(["a", "bb"]), abs=1e-6)


async def test_fewer_dimensions_are_asked_of_openai_s_third_generation(server: Script) -> None:
    async with client(server, name="text-embedding-3-small") as opened:
        await opened.embed(["a"])
    assert server.seen[0].body["dimensions"] == DIMENSION


async def test_vectors_are_put_in_the_order_of_the_texts(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    texts = ["a", "bb", "ccc"]
    server.answers = [embeddings(texts, DIMENSION, reverse=True)]
    assert await embedder.embed(texts) == pytest.approx(expected(texts), abs=1e-6)


async def test_requests_are_bounded_in_texts_and_in_bytes(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    texts = ["x" * (number % 50 + 1) for number in range(200)] + ["y" * 4000] * 100
    assert await embedder.embed(texts) == pytest.approx(expected(texts), abs=1e-6)
    assert len(server.seen) == 3
    assert all(len(seen.texts) <= 128 for seen in server.seen)
    assert all(sum(map(len, seen.texts)) <= 250_000 for seen in server.seen)
    assert [text for seen in server.seen for text in seen.texts] == texts


@pytest.mark.parametrize(
    "fault",
    [
        Answer(429, b"slow down"),
        Answer(500, b"oops"),
        Answer(503),
        Answer(200, b'{"data": [{"index": 0, "embedd'),
        Answer(200, b'{"data": [', claimed=500),
    ],
    ids=["429", "500", "503", "truncated JSON", "connection lost mid-answer"],
)
async def test_a_passing_fault_is_retried(
    server: Script, embedder: OpenAIEmbedder, fault: Answer
) -> None:
    server.answers = [fault, fault]
    assert await embedder.embed(["a"]) == pytest.approx(expected(["a"]), abs=1e-6)
    assert len(server.seen) == 3


async def test_attempts_are_bounded_and_the_last_fault_is_named(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    server.answers = [Answer(500, b"out of memory")] * 9
    error = await failure(embedder)
    assert isinstance(error, Unavailable)
    assert "answered 500: out of memory (4 attempts, model m)" in error.message
    assert error.retry_after_s is not None
    assert len(server.seen) == 4


async def test_a_hanging_server_is_tried_again(server: Script) -> None:
    server.answers = [Answer(delay_s=5.0)]
    async with client(server, timeout_s=1.0) as opened:
        assert len(await opened.embed(["a"])) == 1


async def test_a_server_that_keeps_hanging_is_given_up_in_time(server: Script) -> None:
    server.answers = [Answer(delay_s=5.0)] * 4
    began = time.monotonic()
    async with client(server, timeout_s=0.4) as opened:
        error = await failure(opened)
    assert isinstance(error, Unavailable)
    assert "did not answer within" in error.message
    assert time.monotonic() - began < 2.0


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with serving(DIMENSION) as gone:
        pass
    async with client(gone) as opened:
        error = await failure(opened)
    assert isinstance(error, Unavailable)
    assert "could not be reached (ConnectError)" in error.message


async def test_retry_after_is_honoured(server: Script, embedder: OpenAIEmbedder) -> None:
    server.answers = [Answer(429, headers={"Retry-After": "1"})]
    began = time.monotonic()
    await embedder.embed(["a"])
    assert time.monotonic() - began >= 1.0


async def test_retry_after_as_a_date_counts_from_the_answer_s_own_date(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    day = "Mon, 01 Jan 2024"
    headers = {"Date": f"{day} 00:00:00 GMT", "Retry-After": f"{day} 00:01:30 GMT"}
    server.answers = [Answer(429, headers=headers)]
    assert (await failure(embedder)).retry_after_s == 90.0


@pytest.mark.parametrize("value", ["soon", "-1", "1e400", "Mon, 99 Jan"])
async def test_a_retry_after_that_says_nothing_is_ignored(
    server: Script, embedder: OpenAIEmbedder, value: str
) -> None:
    server.answers = [Answer(429, headers={"Retry-After": value})]
    assert len(await embedder.embed(["a"])) == 1


async def test_a_pause_beyond_the_timeout_is_reported_at_once_instead_of_waited_for(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    server.answers = [Answer(429, headers={"Retry-After": "3600"})]
    began = time.monotonic()
    error = await failure(embedder)
    assert time.monotonic() - began < 1.0
    assert error.retry_after_s == 3600.0
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_named_as_such_and_never_shown(
    server: Script, embedder: OpenAIEmbedder, status: int
) -> None:
    server.answers = [Answer(status, f"Incorrect API key: {KEY}".encode())]
    error = await failure(embedder)
    assert "refused the API key" in error.message
    assert "HYPHAEDB_EMBEDDER_KEY" in error.remedy
    assert len(server.seen) == 1


async def test_a_request_the_server_refuses_is_not_repeated_and_its_reason_is_shown(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    server.answers = [Answer(404, f"no such model; you sent {KEY}".encode())]
    error = await failure(embedder)
    assert "answered 404: no such model; you sent [key]" in error.message
    assert len(server.seen) == 1


async def test_a_spent_quota_is_not_a_passing_fault(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    server.answers = [Answer(429, b'{"error": {"code": "insufficient_quota"}}')]
    assert "insufficient_quota" in (await failure(embedder)).message
    assert len(server.seen) == 1


async def test_another_dimension_is_a_conflict_that_names_the_way_out(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    server.answers = [embeddings(["a", "bb"], 5)]
    error = await failure(embedder)
    assert isinstance(error, Conflict)
    assert error.message == "The model m answered 5 numbers where the mesh has 8."
    assert "HYPHAEDB_EMBEDDER_DIMENSION=5" in error.remedy


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "null"])
async def test_a_number_that_is_none_is_refused(
    server: Script, embedder: OpenAIEmbedder, number: str
) -> None:
    row = f"[{number}, 1, 1, 1, 1, 1, 1, 1]"
    items = ", ".join(f'{{"index": {index}, "embedding": {row}}}' for index in (0, 1))
    server.answers = [Answer(200, f'{{"data": [{items}]}}'.encode())]
    assert isinstance(await failure(embedder), Unavailable)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        [{"index": 0, "embedding": [1.0] * DIMENSION}],
        [{"index": 0, "embedding": [1.0] * DIMENSION}] * 2,
        [{"index": index, "embedding": [1.0] * DIMENSION} for index in range(3)],
        [{"index": index, "embedding": "AACAPw=="} for index in range(2)],
        [{"index": index, "embedding": [[1.0]] * DIMENSION} for index in range(2)],
        [1, 2],
    ],
    ids=["null", "none", "too few", "twice", "too many", "base64", "nested", "no objects"],
)
async def test_an_answer_of_another_form_is_refused(
    server: Script, embedder: OpenAIEmbedder, data: object
) -> None:
    server.answers = [Answer(200, json.dumps({"data": data}).encode())]
    error = await failure(embedder)
    assert isinstance(error, Unavailable)
    assert "HYPHAEDB_EMBEDDER_URL" in error.remedy


async def test_a_text_beyond_the_window_is_refused_before_anything_is_sent(
    server: Script, embedder: OpenAIEmbedder
) -> None:
    with pytest.raises(Invalid, match="Text 2 of 2 has 4001 bytes"):
        await embedder.embed(["a", "x" * 4001])
    assert server.seen == []


async def test_calls_at_the_same_time_each_get_their_own_vectors(embedder: OpenAIEmbedder) -> None:
    texts = ["x" * number for number in range(1, 11)]
    rows = await asyncio.gather(*(embedder.embed([text]) for text in texts))
    assert np.vstack(rows) == pytest.approx(expected(texts), abs=1e-6)
