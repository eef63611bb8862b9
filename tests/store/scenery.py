"""Cells, agents and diffs for store tests: small, seeded, told apart by number."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np

from hyphaedb.model import AgentId, CellId, CellType, DiffId, DiffKind, PrincipalId, SessionId
from hyphaedb.store import agents
from hyphaedb.store.access import MeshRow
from hyphaedb.store.agents import NewAgent
from hyphaedb.store.pool import Tx
from hyphaedb.store.rows import AgentRow, CellRow, DiffRow
from hyphaedb.store.vectors import Vector

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
_started = 0


def later(**units: float) -> datetime:
    """A moment after NOW."""
    return NOW + timedelta(**units)


def fresh_id() -> UUID:
    """An id that sorts after every earlier one of this process, as a UUIDv7 does."""
    global _started
    _started += 1
    return UUID(int=(_started << 80) | (uuid4().int & ((1 << 80) - 1)))


def unit(seed: int, dimension: int = 8) -> Vector:
    """A unit vector."""
    vector = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return vector / np.linalg.norm(vector)


async def an_agent(tx: Tx, mesh: MeshRow, name: str, role: str | None = None) -> AgentRow:
    """A registered agent."""
    new = NewAgent(AgentId(fresh_id()), PrincipalId(fresh_id()), name, role=role)
    row, _ = await agents.upsert_agent(tx, mesh.info.mesh_id, new, NOW)
    return row


def a_cell(
    mesh: MeshRow,
    author: AgentRow,
    body: str,
    *,
    seed: int = 0,
    cell_id: CellId | None = None,
    kind: CellType = CellType.FACT,
    tags: tuple[str, ...] = (),
    metadata: dict[str, object] | None = None,
    ref: str | None = None,
    session: str | None = None,
    layer: int = 0,
    at: datetime = NOW,
    expires_at: datetime | None = None,
) -> CellRow:
    """A cell as the engine would hand it over."""
    return CellRow(
        cell_id=cell_id or CellId(fresh_id()),
        layer=layer,
        type=kind,
        body=body,
        agent_id=author.agent.agent_id,
        principal_id=author.principal_id,
        holder_id=author.holder_id,
        day=1,
        session_id=session_id(session) if session else None,
        session=session,
        tags=tags,
        metadata=metadata or {},
        ref=ref,
        salience=0.6,
        confidence=0.7,
        content_hash=hashlib.sha256(body.encode()).digest(),
        windows=1,
        replaces=None,
        sources=(),
        created_at=at,
        valid_from=at,
        expires_at=expires_at,
        model_id=mesh.model_id,
        dimension=mesh.info.dimension,
        vector=unit(seed, mesh.info.dimension),
    )


def session_id(name: str) -> SessionId:
    """A session's id follows from its name."""
    return SessionId(UUID(bytes=hashlib.sha256(name.encode()).digest()[:16]))


def a_diff(
    cell: CellRow, *, kind: DiffKind = DiffKind.CREATED, cause: str | None = None
) -> DiffRow:
    """A diff about a cell, by its author."""
    return DiffRow(
        diff_id=DiffId(fresh_id()),
        kind=kind,
        cell_id=cell.cell_id,
        agent_id=cell.agent_id,
        layer=cell.layer,
        energy=7_750_000,
        created_at=cell.created_at,
        expires_at=cell.created_at + timedelta(days=30),
        cause=cause,
    )
