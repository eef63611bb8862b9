"""Embeddings from any server that speaks OpenAI's `POST /embeddings`.

OpenAI itself, or a compatible server (Ollama, vLLM, LM Studio, a gateway) at another base URL.
What a server says is never trusted: the answer's size, shape, order and numbers are checked, and
the API key is kept out of every error text.

The model's tokeniser is not known here, so texts are measured in UTF-8 bytes: no byte-level
tokeniser makes more tokens than a text has bytes. A body of 8,000 English characters stays one
window of OpenAI's 8,191 tokens; CJK text is cut about three times more often than it need be.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2
import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Conflict, HyphaeError, Invalid, Unavailable
from hyphaedb.providers.embedding import (
    OPENAI_URL,
    EmbedderSettings,
    PanelVectors,
    require_texts,
    unit_rows,
)
from hyphaedb.providers.retrying import PASSING_STATUSES, Retries

KNOWN_DIMENSIONS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
TEXTS_PER_REQUEST_MAX: Final = 128
"""Far below OpenAI's 2,048: a failed request repeats all its texts."""

BYTES_PER_REQUEST_MAX: Final = 250_000
"""OpenAI refuses a request of more than 300,000 tokens, and bytes bound tokens."""

ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
"""128 vectors of 4,096 numbers are about 12 MB of JSON; a larger answer is a fault or an attack."""

_KEY_SETTING: Final = "HYPHAEDB_EMBEDDER_KEY"
_URL_SETTING: Final = "HYPHAEDB_EMBEDDER_URL"
_DIMENSION_SETTING: Final = "HYPHAEDB_EMBEDDER_DIMENSION"


class _PassingFault(Exception):
    """Something that may be gone at the next attempt; `what` completes "the server …"."""

    def __init__(self, what: str, retry_after_s: float | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.retry_after_s = retry_after_s


class OpenAIEmbedder:
    """One model behind one `/embeddings` endpoint. Requests of one call follow one another."""

    def __init__(
        self,
        name: str,
        settings: EmbedderSettings,
        rng: random.Random,
        retries: Retries | None = None,
    ) -> None:
        """`name` is the server's name of the model. Raises `Invalid` for an unusable setting."""
        self._name: Final = name
        self._rng: Final = rng
        self._retries: Final = retries or Retries()
        self._settings: Final = settings
        self._dimension: Final = _dimension_of(name, settings.dimension)
        self._key: Final = _usable_key(settings)
        self._url: Final = _endpoint(settings.url)
        self._panel: Final = PanelVectors()
        headers = {"content-type": "application/json"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        # Half of the whole, so that a connection that hangs leaves time for one more attempt.
        self._attempt_timeout_s: Final = settings.timeout_s / 2
        self._client: Final = httpx2.AsyncClient(
            headers=headers, timeout=httpx2.Timeout(self._attempt_timeout_s)
        )

    @property
    def model(self) -> str:
        """The spec, "openai:MODEL"."""
        return f"openai:{self._name}"

    @property
    def dimension(self) -> int:
        """The model's own dimension, or the one that was set."""
        return self._dimension

    @property
    def window_tokens(self) -> int:
        """The setting; 8,191 unless the server reads less."""
        return self._settings.window_tokens

    def measure(self, text: str) -> int:
        """UTF-8 bytes: never fewer than the tokens of a byte-level tokeniser."""
        return len(text.encode("utf-8", "surrogatepass"))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`. A passing fault is retried within the total timeout."""
        require_texts(texts)
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        for start, stop in self._requests(texts):
            vectors[start:stop] = await self._with_retries(texts[start:stop])
        return vectors

    async def panel(self) -> NDArray[np.float32]:
        """Vectors of the shipped panel: two requests at the first call."""
        return await self._panel.of(self)

    async def warm(self) -> None:
        """Embeds one word, so that a wrong key, URL or dimension shows at once."""
        await self.embed(["warm"])

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    def _requests(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        start = size = 0
        for position, text in enumerate(texts):
            length = self.measure(text)
            if length > self.window_tokens:
                raise Invalid(
                    f"Text {position + 1} of {len(texts)} has {length} bytes; the window of"
                    f" {self.model} is set to {self.window_tokens}.",
                    "Shorten it, or pass it through embed_bodies, which averages over windows.",
                )
            full = position - start == TEXTS_PER_REQUEST_MAX
            if full or (position > start and size + length > BYTES_PER_REQUEST_MAX):
                yield start, position
                start, size = position, 0
            size += length
        if start < len(texts):
            yield start, len(texts)

    async def _with_retries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        fault = _PassingFault(f"did not answer within {self._settings.timeout_s:g} s")
        attempts = 0
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._settings.timeout_s
        pause_s = 0.0
        # A pause that ends after the deadline is not waited for: the caller hears at once, and
        # hears for how long the server asked to be left alone.
        while attempts < self._retries.attempts_max and clock() + pause_s < deadline:
            await asyncio.sleep(pause_s)
            attempts += 1
            try:
                async with asyncio.timeout_at(deadline):
                    body = await self._post(texts)
                return self._vectors(body, len(texts))
            except TimeoutError:
                break
            except _PassingFault as passing:
                fault = passing
                pause_s = self._retries.pause_after_s(attempts, fault.retry_after_s, self._rng)
        raise Unavailable(
            f"The embedding server at {self._url.host} {fault.what}"
            f" ({attempts} attempts, model {self._name}).",
            "Check that it runs and is reachable, then try again; nothing was stored.",
            retry_after_s=fault.retry_after_s or self._retries.pause_max_s,
        )

    async def _post(self, texts: Sequence[str]) -> bytes:
        request: dict[str, object] = {
            "model": self._name,
            "input": list(texts),
            "encoding_format": "float",
        }
        # Only OpenAI's third generation is known to shorten vectors; others refuse the field.
        native = KNOWN_DIMENSIONS.get(self._name)
        if self._name.startswith("text-embedding-3-") and self._dimension != native:
            request["dimensions"] = self._dimension
        try:
            async with self._client.stream(
                "POST", self._url, content=json.dumps(request).encode()
            ) as response:
                body = await self._bounded(response)
        except httpx2.TimeoutException:
            raise _PassingFault(f"did not answer within {self._attempt_timeout_s:g} s") from None
        except httpx2.RequestError as error:
            # Only the kind of fault: the text of some carries the request's headers.
            raise _PassingFault(f"could not be reached ({type(error).__name__})") from None
        if response.status_code == httpx2.codes.OK:
            return body
        raise self._refusal(response, body)

    async def _bounded(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > ANSWER_BYTES_MAX:
                raise self._malformed(f"more than {ANSWER_BYTES_MAX // 2**20} MB")
        return bytes(body)

    def _refusal(self, response: httpx2.Response, body: bytes) -> HyphaeError | _PassingFault:
        status = response.status_code
        if status in (401, 403):
            # The server's own words are left out: some repeat a part of the key.
            return Unavailable(
                f"The embedding server at {self._url.host} refused the API key ({status}).",
                f"Set {_KEY_SETTING} to a key that may use the model {self._name}.",
            )
        said = self._said(body)
        if status in PASSING_STATUSES and "insufficient_quota" not in said:
            return _PassingFault(f"answered {status}{said}", _retry_after_s(response.headers))
        return Unavailable(
            f"The embedding server at {self._url.host} answered {status}{said}.",
            f"Check the model's name ({self._name}), {_URL_SETTING} and the account behind the"
            " key; nothing was stored.",
        )

    def _said(self, body: bytes) -> str:
        """What the server gave as its reason, short and without the key; empty if nothing."""
        text = " ".join(body[:2000].decode("utf-8", "replace").split())
        if self._key is not None:
            text = text.replace(self._key, "[key]")
        return f": {text[:200]}" if text else ""

    def _vectors(self, body: bytes, expected: int) -> NDArray[np.float32]:
        """The answer's vectors in the order of the texts; every way it can be wrong is named."""
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise _PassingFault("answered with a text that is not JSON") from None
        try:
            items = answer["data"]
            found = {item["index"]: item["embedding"] for item in items}
            rows = [found[index] for index in range(expected)]
            if len(items) != expected or not all(isinstance(row, list) for row in rows):
                raise ValueError
            lengths = {len(row) for row in rows} - {self._dimension}
            if lengths:
                raise self._other_dimension(max(lengths))
            vectors = np.array(rows, dtype=np.float64)
            if vectors.shape != (expected, self._dimension):
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise self._malformed(f"something that is not {expected} embeddings") from None
        return unit_rows(vectors, self.model)

    def _other_dimension(self, found: int) -> Conflict:
        return Conflict(
            f"The model {self._name} answered {found} numbers where the mesh has"
            f" {self._dimension}.",
            "Use the model the mesh was made with: vectors of different models cannot be compared."
            f" For a new mesh set {_DIMENSION_SETTING}={found}.",
        )

    def _malformed(self, what: str) -> Unavailable:
        return Unavailable(
            f"The embedding server at {self._url.host} answered {what}.",
            f"Check that {_URL_SETTING} names an OpenAI-compatible server, with its /v1.",
        )


def _dimension_of(name: str, wanted: int | None) -> int:
    native = KNOWN_DIMENSIONS.get(name)
    if wanted is None and native is None:
        raise Invalid(
            f"How many numbers the model {name} answers is not known here.",
            f"Set {_DIMENSION_SETTING} to it (its card or documentation says).",
        )
    dimension = wanted if wanted is not None else native
    if dimension is None or dimension < 1:
        raise Invalid(
            f"An embedding of {dimension} numbers does not exist.",
            f"Set {_DIMENSION_SETTING} to the model's dimension, or leave it out.",
        )
    return dimension


def _usable_key(settings: EmbedderSettings) -> str | None:
    key = (settings.key or "").strip()
    if not key and settings.url.rstrip("/") == OPENAI_URL:
        raise Invalid(
            "OpenAI's embeddings need an API key, and none is set.",
            f"Set {_KEY_SETTING}, or {_URL_SETTING} for a compatible server, or use minilm,"
            " which needs no key.",
        )
    if not (key.isascii() and (key.isprintable() or not key)) or " " in key:
        raise Invalid(
            "The API key for embeddings holds characters that no key has (spaces, control signs).",
            f"Set {_KEY_SETTING} again, without quotes or line breaks.",
        )
    return key or None


def _endpoint(base: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base.rstrip("/") + "/embeddings")
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise Invalid(
            "The embedding server's base URL is not an http(s) address.",
            f"Set {_URL_SETTING}, as in {OPENAI_URL} or http://127.0.0.1:11434/v1.",
        )
    return url


def _retry_after_s(headers: httpx2.Headers) -> float | None:
    """Retry-After in seconds. A date counts from the answer's own Date, so no clock is needed."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value[:6])
    try:
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, wait.total_seconds())
