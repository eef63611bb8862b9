"""Faults as problem+json: ours by their table, the framework's as ours, and the one catch-all."""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hyphaedb.errors import FACES, HyphaeError, Invalid, NotFound, Unavailable
from hyphaedb.wire.answers import text
from hyphaedb.wire.problems import PROBLEM_TYPE, Problem, invalid_of, problem_of

_WHAT_IT_TAKES = "/openapi.json says what each path takes."

log = logging.getLogger(__name__)


def problem_response(error: HyphaeError, status: int | None = None) -> Response:
    """An error as a response; ``status`` only where HTTP itself has a more exact one."""
    problem = problem_of(error)
    if status is not None:
        problem = problem.model_copy(update={"status": status})
    headers = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    return Response(text(problem), problem.status, headers, PROBLEM_TYPE)


async def _ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, HyphaeError)
    return problem_response(error)


async def _malformed(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return problem_response(invalid_of(error.errors(), skip=1))


async def _framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        where = f"There is nothing at {request.url.path}."
        return problem_response(NotFound(where, "/openapi.json lists every path."))
    unreadable = error.status_code == 400  # a body that ends the framework's parser
    remedy = "Send one well-formed JSON object." if unreadable else _WHAT_IT_TAKES
    detail = "The request cannot be read." if unreadable else f"{error.detail}."
    response = problem_response(Invalid(detail, remedy), error.status_code)
    response.headers.update(error.headers or {})
    return response


def install(app: FastAPI) -> None:
    """Let every fault below ``app`` come out as problem+json."""
    app.add_exception_handler(HyphaeError, _ours)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _framework)
    app.add_middleware(CatchAll)


class CatchAll:
    """The outermost face: what nobody foresaw is logged once and answered without its insides."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            # Only a server that stops does this, to requests that outlast its patience.
            if not begun:
                away = Unavailable(
                    "The server stopped before this request was done.",
                    "Send it again to the next one; with an Idempotency-Key nothing happens twice.",
                    retry_after_s=1.0,
                )
                await problem_response(away)(scope, receive, send)
        except Exception:
            log.exception("request_failed", extra={"path": scope["path"]})
            if not begun:
                fault = HyphaeError(
                    "HyphaeDB met a fault of its own.",
                    "The server's log has the details; please report them.",
                )
                await problem_response(fault)(scope, receive, send)


def documented() -> dict[int | str, dict[str, Any]]:
    """The problem responses every route may give, for OpenAPI."""
    shape = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {
        face.http_status: {
            "model": Problem,
            "description": face.title,
            "content": {PROBLEM_TYPE: shape},
        }
        for face in FACES.values()
    }
