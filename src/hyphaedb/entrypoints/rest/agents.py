"""Routes for those who take part, and their standing subscriptions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from hyphaedb.entrypoints.rest.here import AgentName, MeshHere, routes
from hyphaedb.entrypoints.rest.pages import PAGE_ITEMS, Cursor, Limit, page_of
from hyphaedb.model import Agent, Beacon, BeaconMatch
from hyphaedb.wire.answers import Count, Page
from hyphaedb.wire.requests import BeaconRequest, DryRunRequest, Registration

router = routes("agents")


@router.post("/agents", operation_id="register")
async def register(mesh: MeshHere, body: Registration) -> Agent:
    """Make an agent known; again with the same name updates what is given, nothing else."""
    interests = body.interests.to_model() if body.interests is not None else None
    return await mesh.register(**body.given("interests"), interests=interests)


@router.get("/agents", operation_id="agents")
async def agents(mesh: MeshHere, cursor: Cursor = None, limit: Limit = PAGE_ITEMS) -> Page[Agent]:
    """All registered agents by name, retired ones included."""
    return page_of("agents", await mesh.agents(), lambda a: (a.name,), cursor, limit)


@router.post("/agents/{agent}/retire", operation_id="retire")
async def retire(mesh: MeshHere, agent: AgentName) -> Agent:
    """Stop deliveries to an agent for good; its footprint and its cells stay."""
    return await mesh.retire(agent)


@router.put("/beacons", operation_id="beacon")
async def beacon(mesh: MeshHere, body: BeaconRequest) -> Beacon:
    """Place a standing subscription; again with the same name moves it."""
    return await mesh.beacon(body.agent, **body.given("agent"))


@router.delete("/beacons", operation_id="remove_beacon")
async def remove_beacon(mesh: MeshHere, agent: str, name: str) -> Count:
    """Take a beacon away; what it delivered stays."""
    await mesh.remove_beacon(agent, name)
    return Count(count=1)


@router.get("/beacons", operation_id="beacons")
async def beacons(
    mesh: MeshHere,
    agent: Annotated[str | None, Query(description="Only this agent's.")] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE_ITEMS,
) -> Page[Beacon]:
    """Beacons of one agent, or all, by agent and name."""
    found = await mesh.beacons(agent)
    return page_of("beacons", found, lambda b: (b.agent, b.name), cursor, limit)


@router.post("/beacons/dry-runs", operation_id="beacon_dry_run")
async def beacon_dry_run(mesh: MeshHere, body: DryRunRequest) -> Page[BeaconMatch]:
    """What such a beacon would have caught of the stored cells, nearest first."""
    return Page(items=list(await mesh.beacon_dry_run(**body.given())))
