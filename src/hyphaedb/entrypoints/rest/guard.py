"""The border of a server without keys: this machine only, small bodies only.

A page in a browser can make it call any address, and DNS rebinding can make its own name point at
127.0.0.1. So the name a client used must be one of the loopback's, with our port, and a page's
origin must be ours.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hyphaedb.entrypoints.rest.problems import problem_response
from hyphaedb.errors import Forbidden, HyphaeError, Invalid, TooLarge

LOOPBACK = ("127.0.0.1", "localhost", "::1")

#: Above the largest honest request: a batch of short cells. A cell's body is 8,000 characters.
BODY_BYTES_MAX = 1_000_000
#: How long a body may take to arrive: from this machine it takes milliseconds.
BODY_S = 20.0


def require_loopback(host: str) -> None:
    """Refuse to listen where others could connect; raises Forbidden."""
    if host not in LOOPBACK:
        raise Forbidden(
            f"HyphaeDB does not listen on {host}: until there are keys, "
            "anybody who can connect can do everything.",
            "Use 127.0.0.1, and an SSH tunnel from other machines.",
        )


class Guard:
    """Refuses foreign names and origins, and reads bodies up to the limit before anything else."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = _foreign(headers, scope["server"][1]) or _too_long(headers)
        if refusal is None:
            try:
                async with asyncio.timeout(BODY_S):
                    body = await _body(receive)
            except TimeoutError:
                await problem_response(_too_slow(), HTTPStatus.REQUEST_TIMEOUT)(
                    scope, receive, send
                )
                return
            if isinstance(body, HyphaeError):
                refusal = body
            else:
                await self._app(scope, _replayed(body, receive), send)
                return
        await problem_response(refusal)(scope, receive, send)


def _foreign(headers: Headers, port: int) -> HyphaeError | None:
    if not _is_here(f"http://{headers.get('host', '')}", port):
        return Forbidden(
            f"This server is not called {headers.get('host', '')!r}.",
            f"Call it 127.0.0.1:{port}.",
        )
    origin = headers.get("origin")
    if origin is not None and not _is_here(origin, port):
        return Forbidden(
            f"Pages from {origin} may not talk to this server.",
            "Call it from a program, or from a page it served itself.",
        )
    return None


def _is_here(url: str, port: int) -> bool:
    try:
        parts = urlsplit(url)
        bare = url == f"http://{parts.netloc}" and parts.username is None
        return bare and parts.hostname in LOOPBACK and (parts.port or 80) == port
    except ValueError:
        return False


def _too_long(headers: Headers) -> HyphaeError | None:
    announced = headers.get("content-length", "0")
    if not announced.isdecimal():
        return Invalid(f"Content-Length is {announced[:40]!r}.", "Send the number of bytes.")
    # A number of more digits than the limit is not worth reading.
    digits = announced.lstrip("0")
    over = len(digits) > len(str(BODY_BYTES_MAX)) or int(digits or "0") > BODY_BYTES_MAX
    return _over() if over else None


def _too_slow() -> Invalid:
    return Invalid(
        f"The request did not arrive within {BODY_S:.0f} s.",
        "Send it whole; Content-Length may announce more than was sent.",
    )


def _over() -> TooLarge:
    return TooLarge(
        f"The request is larger than {BODY_BYTES_MAX:,} bytes.",
        "Send fewer cells at a time.",
    )


async def _body(receive: Receive) -> list[Message] | HyphaeError:
    """The messages of a request up to its end; an error when they are too long together."""
    messages: list[Message] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if size > BODY_BYTES_MAX:
            return _over()
        if message["type"] != "http.request" or not message.get("more_body", False):
            return messages


def _replayed(messages: list[Message], receive: Receive) -> Receive:
    waiting = iter(messages)

    async def replay() -> Message:
        return next(waiting, None) or await receive()

    return replay
