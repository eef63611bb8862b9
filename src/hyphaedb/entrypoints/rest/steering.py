"""Routes that steer a mesh and say how it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from hyphaedb.entrypoints.rest.here import MeshHere, routes
from hyphaedb.entrypoints.rest.pages import PAGE_ITEMS, Cursor, Limit, page_of
from hyphaedb.model import Check, MeshInfo, MuteKind, Stats
from hyphaedb.wire.answers import Count, Mute, Page
from hyphaedb.wire.requests import MuteRequest, SettleRequest, ShadowRequest

router = routes("steering")


@router.post("/pause", operation_id="pause")
async def pause(mesh: MeshHere) -> MeshInfo:
    """Stop waves; stores are accepted and wait."""
    return await mesh.pause()


@router.post("/resume", operation_id="resume")
async def resume(mesh: MeshHere) -> MeshInfo:
    """Let waves run again; what waited goes first."""
    return await mesh.resume()


@router.post("/shadow", operation_id="shadow")
async def shadow(mesh: MeshHere, body: ShadowRequest) -> MeshInfo:
    """Record what would be delivered and deliver nothing."""
    return await mesh.shadow(body.on)


@router.post("/mutes", operation_id="mute")
async def mute(mesh: MeshHere, body: MuteRequest) -> Count:
    """Silence an agent's inbox, an author's diffs or a cell type; again is harmless."""
    await mesh.mute(body.kind, body.subject)
    return Count(count=1)


@router.delete("/mutes", operation_id="unmute")
async def unmute(
    mesh: MeshHere,
    kind: Annotated[MuteKind, Query(description="What is silenced.")],
    subject: Annotated[str, Query(description="Whom or which type.")],
) -> Count:
    """Undo a mute; what it kept back comes with the next sweep."""
    await mesh.unmute(kind, subject)
    return Count(count=1)


@router.get("/mutes", operation_id="mutes")
async def mutes(mesh: MeshHere, cursor: Cursor = None, limit: Limit = PAGE_ITEMS) -> Page[Mute]:
    """All mutes."""
    found = [Mute(kind=kind, subject=subject) for kind, subject in await mesh.mutes()]
    return page_of("mutes", found, lambda m: (m.kind, m.subject), cursor, limit)


@router.post("/sweeps", operation_id="sweep")
async def sweep(mesh: MeshHere) -> Count:
    """Run anti-entropy now; counts the deliveries it added."""
    return Count(count=await mesh.sweep())


@router.post("/settle", operation_id="settle")
async def settle(mesh: MeshHere, body: SettleRequest) -> Count:
    """Wait until nothing is pending; counts what still is when time is up."""
    return Count(count=await mesh.settle(timeout_s=body.timeout_s))


@router.post("/dead/retry", operation_id="retry_dead")
async def retry_dead(mesh: MeshHere) -> Count:
    """Give dead diffs another set of attempts; counts them."""
    return Count(count=await mesh.retry_dead())


@router.get("/stats", operation_id="stats")
async def stats(mesh: MeshHere) -> Stats:
    """Gauges of this mesh."""
    return await mesh.stats()


@router.get("/doctor", operation_id="doctor")
async def doctor(mesh: MeshHere) -> Page[Check]:
    """Look at everything that can be wrong and say what to do about it."""
    return Page(items=list(await mesh.doctor()))
