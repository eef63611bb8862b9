"""One HTTP connection to a HyphaeDB server: calls, pages, and every fault as one of our errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlsplit
from uuid import UUID

import httpx2
from pydantic import ValidationError

from hyphaedb.errors import HyphaeError, Invalid, Unavailable
from hyphaedb.wire.answers import Count, Page, plain, read, sent
from hyphaedb.wire.problems import PROBLEM_TYPE, Problem, error_of

T = TypeVar("T")

#: How long a connection may take to come up. A server on this machine answers in milliseconds.
CONNECT_S = 5.0
#: How long an ordinary answer may take: above the server's own statement timeout, so that its
#: explanation arrives before this side gives up without one.
ANSWER_S = 40.0
#: Pages a list may have. At 500 items a page that is more than a mesh is built for; past it the
#: server repeats itself.
PAGES_MAX = 2_000

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def part(value: object) -> str:
    """One path segment, with everything escaped that would end it; raises Invalid for what no
    path can hold."""
    if isinstance(value, UUID):
        return str(value)
    name = named(value)
    if name in ("", ".", ".."):
        raise Invalid(f"{name!r} is no name.", "Use a plain name.")
    return quote(name, safe="")


def named(value: object) -> str:
    """A name as it can stand in a URL; raises Invalid for what is no text."""
    if not isinstance(value, str):
        raise Invalid(f"A name or id is {type(value).__name__}, not text.", "Pass a string.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid(
            "A name or id holds half a character (a lone surrogate).", "Send valid Unicode."
        ) from None
    return value


def _host(url: str) -> str:
    """The host of a server's address; raises Invalid for what is none."""
    try:
        parts = urlsplit(url)
        named_port = parts.port  # looked at because a port out of range shows only here
        found = parts.hostname if parts.scheme in ("http", "https") else None
        httpx2.URL(url)
    except (ValueError, httpx2.InvalidURL):
        found, named_port = None, None
    if not found or named_port == 0:
        raise Invalid(f"{url!r} is not the address of a server.", "Use http://HOST:PORT.")
    return found


def _carried(name: str, value: object) -> str:
    """A header's value, refused here where HTTP could not carry it unchanged."""
    whole = isinstance(value, str) and value.isascii() and value.isprintable()
    if not isinstance(value, str) or not whole or value != value.strip():
        raise Invalid(
            f"The header {name} cannot carry that value.",
            "Use letters, digits and punctuation; a UUID will do.",
        )
    return value


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a server is and the pool of connections to it."""

    url: str
    client: httpx2.AsyncClient

    @classmethod
    def to(cls, url: str, *, api_key: str | None = None) -> Connection:
        """A connection to the server at ``url``; nothing is sent yet. Raises Invalid."""
        host = _host(url)
        headers = {"Accept": f"application/json, {PROBLEM_TYPE}"}
        if api_key:
            headers["Authorization"] = _carried("Authorization", f"Bearer {api_key}")
        client = httpx2.AsyncClient(
            base_url=url.rstrip("/"),
            headers=headers,
            timeout=httpx2.Timeout(ANSWER_S, connect=CONNECT_S),
            # A proxy meant for the outside must not catch what goes to this machine.
            trust_env=host not in _LOOPBACK,
        )
        return cls(url, client)

    async def call(
        self,
        method: str,
        path: str,
        answer: type[T],
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        patience_s: float = ANSWER_S,
    ) -> T:
        """Send one request and read its answer; raises the error the server reported.

        Query parameters that are None are left out. ``patience_s`` is how long the answer may
        take to begin.
        """
        request = self._request(method, path, query, body, headers, patience_s)
        try:
            response = await self.client.send(request)
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error
        self._raise_for(response)
        return read(answer, response.content)

    async def pages(self, path: str, page: type[Page[T]], **query: Any) -> tuple[T, ...]:
        """All items of a list that the server hands out in pages."""
        items: list[T] = []
        cursor: str | None = None
        for _ in range(PAGES_MAX):
            got = await self.call("GET", path, page, query={**query, "cursor": cursor})
            items.extend(got.items)
            cursor = got.next
            if cursor is None:
                return tuple(items)
        raise Unavailable(
            f"The list at {path} does not end.", "Report this: the server repeats its cursors."
        )

    @asynccontextmanager
    async def events(
        self, path: str, *, last_id: int | None, quiet_s: float
    ) -> AsyncIterator[httpx2.EventSource]:
        """An open stream of server-sent events after ``last_id``.

        Raises Unavailable when nothing, not even a heartbeat, comes for ``quiet_s``.
        """
        headers = {"Accept": "text/event-stream"}
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        request = self._request("GET", path, None, None, headers, quiet_s)
        try:
            response = await self.client.send(request, stream=True)
            try:
                if response.is_error:
                    await response.aread()
                    self._raise_for(response)
                yield httpx2.EventSource(response)
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error

    async def close(self) -> None:
        """Let go of all connections."""
        await self.client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: object,
        headers: Mapping[str, str] | None,
        patience_s: float,
    ) -> httpx2.Request:
        carried = {name: _carried(name, value) for name, value in (headers or {}).items()}
        content: bytes | None = None
        if body is not None:
            content = sent(body)
            carried["Content-Type"] = "application/json"
        return self.client.build_request(
            method,
            path,
            params={k: v for k, v in (query or {}).items() if v is not None},
            content=content,
            headers=carried,
            timeout=httpx2.Timeout(patience_s, connect=CONNECT_S),
        )

    def _raise_for(self, response: httpx2.Response) -> None:
        if response.is_success:
            return
        try:
            problem = Problem.model_validate_json(response.content)
        except ValidationError:
            raise Unavailable(
                f"{self.url} answered {response.status_code} without saying why.",
                "See that the address is that of a HyphaeDB server and nothing stands between.",
            ) from None
        raise error_of(problem)

    def _unreachable(self, error: httpx2.HTTPError) -> HyphaeError:
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return Unavailable(
                f"No server answers at {self.url}.",
                "Start it with: hyphaedb up",
                retry_after_s=1.0,
            )
        if isinstance(error, httpx2.TimeoutException):
            return Unavailable(
                f"The server at {self.url} took too long to answer.",
                "Try again; `hyphaedb doctor` says what it is busy with.",
                retry_after_s=1.0,
            )
        return Unavailable(
            f"The connection to {self.url} broke: {type(error).__name__}.",
            "Try again; what was acknowledged is stored.",
            retry_after_s=1.0,
        )


@dataclass(frozen=True, slots=True)
class Branch:
    """The calls below one path of a server."""

    connection: Connection
    root: str

    async def get(self, path: str, answer: type[T], **query: Any) -> T:
        """Read one thing; parameters that are None are left out."""
        return await self.connection.call("GET", self.root + path, answer, query=query)

    async def post(self, path: str, answer: type[T], body: object = None, **more: Any) -> T:
        """Send a request body of model values; ``more`` as :meth:`Connection.call` takes it."""
        said = None if body is None else plain(body)
        return await self.connection.call("POST", self.root + path, answer, body=said, **more)

    async def put(self, path: str, answer: type[T], body: object) -> T:
        """Set a thing to what the body says."""
        return await self.connection.call("PUT", self.root + path, answer, body=plain(body))

    async def pages(self, path: str, page: type[Page[T]], **query: Any) -> tuple[T, ...]:
        """All items of a list."""
        return await self.connection.pages(self.root + path, page, **query)

    async def count(self, method: str, path: str, body: object = None, **more: Any) -> int:
        """Do something and hear how many things it touched."""
        said = None if body is None else plain(body)
        got = await self.connection.call(method, self.root + path, Count, body=said, **more)
        return got.count
