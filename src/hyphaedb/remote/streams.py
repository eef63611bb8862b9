"""Streams that outlive a broken connection: they reconnect after the last event they handed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

from hyphaedb.errors import HyphaeError, LeaseLost, LimitReached, Unavailable
from hyphaedb.remote.connection import Connection
from hyphaedb.wire.answers import read
from hyphaedb.wire.problems import Problem, error_of

T = TypeVar("T")

#: Silence after which a connection counts as dead: three of the server's heartbeats.
QUIET_S = 45.0
#: The wait before the first reconnect; it doubles up to the longest.
BACKOFF_S = 0.2
BACKOFF_LONGEST_S = 10.0
#: Reconnects in a row without one event; about a minute, a restart of the server included.
RECONNECTS_MAX = 12

#: Errors that pass: the stream goes on where it was. Any other ends it.
_PASSING = (Unavailable, LimitReached, LeaseLost)


async def resumable(
    connection: Connection, path: str, kind: type[T], *, after: int | None
) -> AsyncGenerator[tuple[int, T], None]:
    """Events of a stream with their ids, each once and in order, across reconnects.

    Raises the last error after ``RECONNECTS_MAX`` failures in a row, any lasting one at once.
    """
    failures = 0
    while True:
        try:
            async with connection.events(path, last_id=after, quiet_s=QUIET_S) as source:
                async for event in source:
                    if event.event == "problem":
                        raise error_of(read(Problem, event.data))
                    if event.data:
                        after, failures = _cursor(event.id), 0
                        yield after, read(kind, event.data)
        except _PASSING as error:
            failures += 1
            if failures > RECONNECTS_MAX:
                raise
            await asyncio.sleep(_pause_s(failures, error))
        else:
            # The server ended the stream, as it does when it stops: give the next one time.
            failures += 1
            if failures > RECONNECTS_MAX:
                raise Unavailable(
                    f"{connection.url} keeps ending the stream.",
                    "See in the server's log why it stops.",
                )
            await asyncio.sleep(_pause_s(failures, None))


def _pause_s(failures: int, error: HyphaeError | None) -> float:
    asked = (error.retry_after_s if error else None) or 0.0
    backoff = BACKOFF_S * float(2 ** (failures - 1))
    return min(BACKOFF_LONGEST_S, max(asked, backoff))


def _cursor(event_id: str) -> int:
    if not event_id.isdecimal():
        raise Unavailable(
            f"The server sent an event with the id {event_id!r}.",
            "Use the same version of hyphaedb on both sides.",
        )
    return int(event_id)
