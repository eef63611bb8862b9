"""Rows of the database as values: the small ones only the engine needs, and the model's own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from hyphaedb.model import (
    Agent,
    AgentId,
    Cell,
    CellId,
    CellState,
    CellType,
    DiffId,
    DiffKind,
    DiffState,
    Interests,
    Metadata,
    PrincipalId,
    PrincipalKind,
    SessionId,
)
from hyphaedb.store.vectors import Vector


@dataclass(frozen=True, slots=True, eq=False)
class CellRow:
    """Everything about a new cell but its diff. ``holder_id`` is the author's; ``day`` the
    holder's active day; ``session_id`` is derived from the session's name by the caller;
    ``content_hash`` is what makes two cells of one layer the same."""

    cell_id: CellId
    layer: int
    type: CellType
    body: str
    agent_id: AgentId
    principal_id: PrincipalId
    holder_id: UUID
    day: int
    session_id: SessionId | None
    session: str | None
    tags: tuple[str, ...]
    metadata: Metadata
    ref: str | None
    salience: float
    confidence: float
    content_hash: bytes
    windows: int
    replaces: CellId | None
    sources: tuple[CellId, ...]
    created_at: datetime
    valid_from: datetime
    expires_at: datetime | None
    model_id: UUID
    dimension: int
    vector: Vector
    credit: str = "provisional"


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A diff to append. ``energy`` is in micro-units; ``cause`` makes a derived one unique."""

    diff_id: DiffId
    kind: DiffKind
    cell_id: CellId
    agent_id: AgentId
    layer: int
    energy: int
    created_at: datetime
    expires_at: datetime
    about: CellId | None = None
    generation: int = 0
    cause: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A cell with what the store knows beyond the model: whose, how used, with which credit."""

    cell: Cell
    holder_id: UUID
    principal_id: PrincipalId
    session_id: SessionId | None
    credit: str
    windows: int
    lexemes: int
    recalls: int
    recalled_at: datetime | None
    used_at: datetime


@dataclass(frozen=True, slots=True)
class Footprint:
    """One holder on one cell; the day is the holder's latest active day with it."""

    holder_id: UUID
    cell_id: CellId
    day: int
    created_at: datetime | None
    recalled_at: datetime | None
    used_at: datetime | None
    confirmed_at: datetime | None
    recalled_in: SessionId | None


@dataclass(frozen=True, slots=True, eq=False)
class AgentRow:
    """An agent with what the engine needs: holder, principal, interest vector, attention."""

    agent: Agent
    principal_id: PrincipalId
    holder_id: UUID
    interest: Vector | None
    attention: int | None


@dataclass(frozen=True, slots=True, eq=False)
class PendingRow:
    """A diff that waits (or is swept again), with everything its wave needs. ``holder_id`` is of
    who caused it, ``author_holder`` of who wrote the cell; ``recalled`` holds what the causer had
    recalled in the cell's session (at most 500); ``ordinal`` is None until the cell is linked."""

    diff_id: DiffId
    kind: DiffKind
    cell_id: CellId
    about: CellId | None
    layer: int
    generation: int
    cause: str | None
    agent_id: AgentId
    agent: str
    holder_id: UUID
    energy: int
    attempt: int
    created_at: datetime
    expires_at: datetime
    type: CellType
    salience: float
    tags: tuple[str, ...]
    ref: str | None
    state: CellState
    author_id: AgentId
    author: str
    author_holder: UUID
    principal_id: PrincipalId
    session_id: SessionId | None
    sources: tuple[CellId, ...]
    replaces: CellId | None
    lexemes: int
    cell_created_at: datetime
    cell_expires_at: datetime | None
    ordinal: int | None
    fresh: bool
    recalled: tuple[CellId, ...]
    vector: Vector
    diff_state: DiffState
    dot: int | None


def single(value: float) -> float:
    """A float4 as it was written: 0.6, not 0.6000000238."""
    return round(value, 6)


def cell_of(row: tuple[Any, ...]) -> Cell:
    """The first 20 columns of query ``cells`` as a Cell."""
    return Cell(
        cell_id=row[0],
        agent_id=row[1],
        agent=row[2],
        session=row[3],
        type=CellType(row[4]),
        layer=row[5],
        body=row[6],
        tags=tuple(row[7]),
        metadata=row[8],
        ref=row[9],
        salience=single(row[10]),
        confidence=single(row[11]),
        state=CellState(row[12]),
        created_at=row[13],
        valid_from=row[14],
        valid_to=row[15],
        expires_at=row[16],
        confirmations=row[17],
        replaces=row[18],
        sources=tuple(row[19]),
    )


def agent_of(row: tuple[Any, ...]) -> AgentRow:
    """A row of the agent queries as an AgentRow."""
    agent = Agent(
        agent_id=row[0],
        name=row[1],
        kind=PrincipalKind(row[2]),
        role=row[3],
        instance=row[4],
        interests=Interests(row[5], tuple(row[6]), tuple(CellType(t) for t in row[7])),
        active_days=row[8],
        muted=row[9],
        registered_at=row[10],
        retired_at=row[11],
    )
    return AgentRow(agent, row[12], row[13], row[14], row[15])


def pending_of(r: tuple[Any, ...]) -> PendingRow:
    """A row of query ``diffs`` as a PendingRow."""
    return PendingRow(
        diff_id=r[0],
        kind=DiffKind(r[1]),
        cell_id=r[2],
        about=r[3],
        layer=r[4],
        generation=r[5],
        cause=r[6],
        agent_id=r[7],
        agent=r[8],
        holder_id=r[9],
        energy=r[10],
        attempt=r[11],
        created_at=r[12],
        expires_at=r[13],
        type=CellType(r[14]),
        salience=single(r[15]),
        tags=tuple(r[16]),
        ref=r[17],
        state=CellState(r[18]),
        author_id=r[19],
        author=r[20],
        author_holder=r[21],
        principal_id=r[22],
        session_id=r[23],
        sources=tuple(r[24]),
        replaces=r[25],
        lexemes=r[26],
        cell_created_at=r[27],
        cell_expires_at=r[28],
        ordinal=r[29],
        fresh=r[30],
        recalled=tuple(r[31]),
        vector=r[32],
        diff_state=DiffState(r[33]),
        dot=r[35],
    )
