"""Agents, their positions, where leaves hang in the graph, and beacons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from uuid import UUID, uuid5

from hyphaedb.errors import Conflict, NotFound
from hyphaedb.model import (
    AgentId,
    Beacon,
    BeaconId,
    CellId,
    CellType,
    Interests,
    MeshId,
    PrincipalId,
    PrincipalKind,
)
from hyphaedb.store.access import mesh_by_id
from hyphaedb.store.pool import Row, Tx, row, rows, run
from hyphaedb.store.rows import AgentRow, agent_of, single
from hyphaedb.store.sql import query
from hyphaedb.store.vectors import Vector

#: Most agents, positions, attachments and beacons of a mesh read at once.
AGENTS_MAX = 100_000
#: Trust of a principal nobody has vouched for, 0 to 1.
TRUST_AT_START = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class NewAgent:
    """An agent as it registers. ``interests`` None keeps what it declared before."""

    agent_id: AgentId
    principal_id: PrincipalId
    name: str
    kind: PrincipalKind = PrincipalKind.AGENT
    role: str | None = None
    instance: str | None = None
    interests: Interests | None = None
    interest: Vector | None = None
    attention: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """Where a holder stands (Eq. 2), a unit vector."""

    holder_id: UUID
    vector: Vector
    moved_at: datetime


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """The cells a leaf hangs on, and the position it was attached from."""

    layer: int
    leaf_id: UUID
    cell_ids: tuple[CellId, ...]
    vector: Vector
    attached_at: datetime


@dataclass(frozen=True, slots=True, eq=False)
class BeaconRow:
    """A beacon with its owner's id and its position."""

    beacon: Beacon
    agent_id: AgentId
    vector: Vector


def holder_of(mesh_id: MeshId, agent_id: AgentId, role: str | None) -> UUID:
    """Who owns the footprint: the role where there is one, else the agent itself."""
    return agent_id if role is None else uuid5(mesh_id, f"role\n{role}")


async def upsert_agent(
    tx: Tx, mesh_id: MeshId, agent: NewAgent, now: datetime
) -> tuple[AgentRow, bool]:
    """Register an agent by name; returns it and whether it is new.

    Again under the same name it comes back from retirement, with new interests where it states
    any. Raises Conflict where the name belongs to another role. Needs a transaction.
    """
    values = {
        "mesh_id": mesh_id,
        "agent_id": agent.agent_id,
        "principal_id": agent.principal_id,
        "holder_id": holder_of(mesh_id, agent.agent_id, agent.role),
        "name": agent.name,
        "kind": agent.kind.value,
        "role": agent.role,
        "instance": agent.instance,
        "attention": agent.attention,
        "trust": TRUST_AT_START,
        "now": now,
    }
    there = await find_agent(tx, mesh_id, agent.name)
    if there is None:
        declared = _declared(agent.interests or Interests(), agent.interest)
        if await run(tx, query("agent_add"), {**values, **declared}) > 0:
            return await agent_by_name(tx, mesh_id, agent.name), True
        there = await agent_by_name(tx, mesh_id, agent.name)
    if there.agent.role != agent.role:
        raise Conflict(
            f"The name {agent.name!r} belongs to an agent of role {there.agent.role!r}.",
            "Register under another name, or in that role.",
        )
    declared = _declared(agent.interests, agent.interest)
    renewed = {**values, **declared, "agent_id": there.agent.agent_id}
    await run(tx, query("agent_renew"), renewed)
    return await agent_by_name(tx, mesh_id, agent.name), False


def _declared(interests: Interests | None, vector: Vector | None) -> dict[str, object]:
    return {
        "interest_text": None if interests is None else interests.text,
        "interest_tags": None if interests is None else list(interests.tags),
        "interest_types": None if interests is None else [t.value for t in interests.types],
        "interest": vector,
    }


async def find_agent(tx: Tx, mesh_id: MeshId, name: str) -> AgentRow | None:
    """The agent of that name, or None."""
    found = await row(tx, query("agent_by_name"), {"mesh_id": mesh_id, "name": name})
    return None if found is None else agent_of(found)


async def agent_by_name(tx: Tx, mesh_id: MeshId, name: str) -> AgentRow:
    """The agent of that name; raises NotFound, naming close ones, or that the mesh is gone."""
    found = await find_agent(tx, mesh_id, name)
    if found is not None:
        return found
    await mesh_by_id(tx, mesh_id)  # Where the mesh is gone, that is what is said.
    there = [a.agent.name for a in await agents(tx, mesh_id, limit=5_000)]
    close = get_close_matches(name, there, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    raise NotFound(f"There is no agent named {name!r} here.", f"Register it first.{hint}")


async def agents(
    tx: Tx, mesh_id: MeshId, *, after: str = "", limit: int = AGENTS_MAX, retired: bool = False
) -> list[AgentRow]:
    """Agents by name, those behind ``after``."""
    values = {"mesh_id": mesh_id, "after": after, "limit": limit, "retired": retired}
    return [agent_of(r) for r in await rows(tx, query("agents"), values)]


async def retire(tx: Tx, mesh_id: MeshId, agent_id: AgentId, now: datetime) -> bool:
    """An agent leaves and receives no more; False where it already had."""
    values = {"mesh_id": mesh_id, "agent_id": agent_id, "now": now}
    return await run(tx, query("agent_retire"), values) > 0


async def touch_day(tx: Tx, mesh_id: MeshId, holder_id: UUID, today: date) -> int:
    """A holder is active today; returns its count of active days, today included."""
    values = {"mesh_id": mesh_id, "holder_id": holder_id, "today": today}
    found = await row(tx, query("holder_days"), values)
    assert found is not None
    if found[1] is not None and found[1] >= today:
        return int(found[0])
    await run(tx, query("holder_day"), values)
    found = await row(tx, query("holder_days"), values)
    assert found is not None
    return int(found[0])


async def put_position(
    tx: Tx, mesh_id: MeshId, holder_id: UUID, vector: Vector, now: datetime
) -> None:
    """Write where a holder stands."""
    values = {"mesh_id": mesh_id, "holder_id": holder_id, "e": vector, "now": now}
    await run(tx, query("position_put"), values)


async def remove_position(tx: Tx, mesh_id: MeshId, holder_id: UUID) -> None:
    """A holder stands nowhere any more; it hangs nowhere either, unless it is attached anew."""
    await run(tx, query("position_remove"), {"mesh_id": mesh_id, "holder_id": holder_id})


async def positions(tx: Tx, mesh_id: MeshId) -> list[Position]:
    """Where all holders stand."""
    values = {"mesh_id": mesh_id, "limit": AGENTS_MAX}
    return [Position(*r) for r in await rows(tx, query("positions"), values)]


async def put_attachments(tx: Tx, mesh_id: MeshId, attachments: Sequence[Attachment]) -> None:
    """Write where leaves hang, each replacing what was there."""
    values = [
        {
            "mesh_id": mesh_id,
            "layer": a.layer,
            "leaf_id": a.leaf_id,
            "cell_ids": list(a.cell_ids),
            "e": a.vector,
            "now": a.attached_at,
        }
        for a in sorted(attachments, key=lambda a: (a.layer, a.leaf_id))
    ]
    if values:
        async with tx.cursor() as cursor:
            await cursor.executemany(query("attachment_put"), values)


async def attachments(tx: Tx, mesh_id: MeshId) -> list[Attachment]:
    """Where all leaves hang."""
    values = {"mesh_id": mesh_id, "limit": AGENTS_MAX}
    found = await rows(tx, query("attachments"), values)
    return [Attachment(r[0], r[1], tuple(r[2]), r[3], r[4]) for r in found]


async def put_beacon(
    tx: Tx, mesh_id: MeshId, agent_id: AgentId, beacon: Beacon, vector: Vector
) -> BeaconId:
    """Set up a beacon, or reshape the agent's beacon of that name; returns the id it has."""
    values = {
        "mesh_id": mesh_id,
        "beacon_id": beacon.beacon_id,
        "agent_id": agent_id,
        "name": beacon.name,
        "text": beacon.text,
        "radius": beacon.radius,
        "types": [t.value for t in beacon.types],
        "tags": list(beacon.tags),
        "e": vector,
        "now": beacon.created_at,
    }
    found = await row(tx, query("beacon_put"), values)
    assert found is not None
    return BeaconId(found[0])


async def beacons(tx: Tx, mesh_id: MeshId, agent_id: AgentId | None = None) -> list[BeaconRow]:
    """Beacons of a mesh, or of one agent."""
    values = {"mesh_id": mesh_id, "agent_id": agent_id, "limit": AGENTS_MAX}
    return [_beacon(r) for r in await rows(tx, query("beacons"), values)]


async def remove_beacon(tx: Tx, mesh_id: MeshId, agent_id: AgentId, name: str) -> BeaconId | None:
    """Take a beacon down; its id, or None where there was none of that name."""
    values = {"mesh_id": mesh_id, "agent_id": agent_id, "name": name}
    found = await row(tx, query("beacon_remove"), values)
    return None if found is None else BeaconId(found[0])


def _beacon(r: Row) -> BeaconRow:
    types = tuple(CellType(t) for t in r[5])
    beacon = Beacon(r[0], r[1], r[2], r[3], single(r[4]), types, tuple(r[6]), r[7])
    return BeaconRow(beacon, r[8], r[9])
