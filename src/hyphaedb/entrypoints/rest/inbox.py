"""Routes for what arrived, and the two streams of what arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from hyphaedb.entrypoints.rest.here import AgentName, MeshHere, ServedHere, routes
from hyphaedb.errors import HyphaeError, Invalid
from hyphaedb.model import InboxItem, InboxPage, Trace
from hyphaedb.verbs import Verbs
from hyphaedb.wire.answers import Count, text
from hyphaedb.wire.problems import problem_of
from hyphaedb.wire.requests import AcknowledgeRequest, LeaseRequest

T = TypeVar("T")

router = routes("delivery")

#: When a browser should reconnect after a lost stream.
RETRY_MS = 1_000

#: More digits than any id has; beyond some thousand Python itself refuses to read them.
_ID_DIGITS_MAX = 20

Budget = Annotated[int | None, Query()]


@router.get("/agents/{agent}/inbox", operation_id="inbox")
async def inbox(
    mesh: MeshHere,
    agent: AgentName,
    items: Budget = None,
    tokens: Budget = None,
    after: Annotated[int | None, Query(description="Leave out up to this cursor.")] = None,
    bodies: bool = True,
) -> InboxPage:
    """Unread items within a budget: corrections first, then by score and salience."""
    return await mesh.inbox(agent, items=items, tokens=tokens, after=after, bodies=bodies)


@router.post("/agents/{agent}/inbox/leases", operation_id="lease_inbox")
async def lease_inbox(mesh: MeshHere, agent: AgentName, body: LeaseRequest) -> InboxPage:
    """The same, hidden from other readers until acknowledged or the lease ends."""
    return await mesh.inbox(agent, lease=True, **body.given())


@router.post("/agents/{agent}/inbox/acknowledgements", operation_id="acknowledge")
async def acknowledge(mesh: MeshHere, agent: AgentName, body: AcknowledgeRequest) -> Count:
    """Mark items as read; counts those that were not read before."""
    return Count(count=await mesh.acknowledge(agent, body.cursors))


def _after(
    after: Annotated[int | None, Query(description="Begin after this id.")] = None,
    last_event_id: Annotated[str | None, Header(description="The last id that came.")] = None,
) -> int | None:
    """Where a stream begins; the header, which a reconnecting client sends, wins."""
    if last_event_id is None:
        return after
    if not last_event_id.isdecimal() or len(last_event_id) > _ID_DIGITS_MAX:
        raise Invalid(
            f"Last-Event-ID is {last_event_id[:40]!r}.",
            "Send the id of the last event, or none to begin with what is new.",
        )
    return int(last_event_id)


After = Annotated[int | None, Depends(_after)]


async def _reader(mesh: MeshHere, agent: AgentName) -> Verbs:
    """The mesh, once the agent is known to it: a stream's status is sent before its first event."""
    await mesh.inbox(agent, items=1, bodies=False)
    return mesh


@router.get(
    "/agents/{agent}/inbox/stream", operation_id="follow", response_class=EventSourceResponse
)
async def follow(
    mesh: Annotated[Verbs, Depends(_reader)], agent: AgentName, after: After, at: ServedHere
) -> AsyncIterator[ServerSentEvent]:
    """New items as they land: `item` events whose id is the cursor; a `problem` event ends it."""
    items = mesh.follow(agent, after=after)
    async for event in _events(items, at.stopping, "item", _item):
        yield event


@router.get("/waves/stream", operation_id="waves", response_class=EventSourceResponse)
async def waves(mesh: MeshHere, after: After, at: ServedHere) -> AsyncIterator[ServerSentEvent]:
    """Settled waves as they settle: `wave` events whose id is the dot to resume from."""
    async for event in _events(mesh.waves(after=after), at.stopping, "wave", _wave):
        yield event


def _item(item: InboxItem) -> tuple[int, object]:
    return item.cursor, item


def _wave(wave: tuple[int, Trace]) -> tuple[int, object]:
    return wave


async def _events(
    source: AsyncIterator[T],
    stopping: asyncio.Event,
    name: str,
    parts: Callable[[T], tuple[int, object]],
) -> AsyncIterator[ServerSentEvent]:
    """A source as events until the server stops or a fault ends it.

    The framework takes one event at a time, one waiting, and sends a heartbeat while there is
    none: a slow reader holds back the source instead of filling memory.
    """
    yield ServerSentEvent(comment="open", retry=RETRY_MS)
    stop = asyncio.ensure_future(stopping.wait())
    try:
        while True:
            coming = asyncio.ensure_future(anext(source))
            try:
                await asyncio.wait((coming, stop), return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    return
                number, value = parts(coming.result())
            finally:
                coming.cancel()
            yield ServerSentEvent(event=name, id=str(number), raw_data=text(value))
    except StopAsyncIteration:
        return
    except HyphaeError as error:
        yield ServerSentEvent(event="problem", raw_data=text(problem_of(error)))
    finally:
        stop.cancel()
