"""Leases and signals: one worker at a time owns a mesh, and hears what the faces changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from hyphaedb.errors import LeaseLost
from hyphaedb.model import MeshId
from hyphaedb.store.pool import Tx, row, rows, run
from hyphaedb.store.sql import query


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner's row: who holds the mesh, until when, and the counters only it moves.
    ``documents`` and ``lexemes`` are the totals behind the term statistics."""

    owner: UUID | None
    host: str | None
    pid: int | None
    pid_started: float | None
    epoch: int
    lease_until: datetime | None
    seq: int
    dot: int
    next_ordinal: int
    graph_epoch: int
    documents: int
    lexemes: int
    swept_at: datetime | None


@dataclass(frozen=True, slots=True)
class Signal:
    """A change the owner's mirror does not know yet."""

    signal_id: UUID
    kind: str
    subject: UUID
    other: UUID | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Work:
    """A mesh where something waits, and who would do it."""

    mesh_id: MeshId
    owner: UUID | None
    lease_until: datetime | None


async def acquire_lease(
    tx: Tx,
    mesh_id: MeshId,
    *,
    owner: UUID,
    host: str,
    pid: int,
    pid_started: float,
    now: datetime,
    lease_s: float,
    dead_owner: UUID | None = None,
) -> int | None:
    """Take a mesh: the new epoch, or None where somebody else holds it.

    Free means without owner, with a lease that ran out, or held by ``dead_owner``, which the
    caller has seen to be gone. Taking it again raises the epoch again.
    """
    values = {
        "mesh_id": mesh_id,
        "owner": owner,
        "host": host,
        "pid": pid,
        "pid_started": pid_started,
        "now": now,
        "until": now + timedelta(seconds=lease_s),
        "dead_owner": dead_owner,
    }
    found = await row(tx, query("lease_take"), values)
    return None if found is None else int(found[0])


async def renew_lease(tx: Tx, mesh_id: MeshId, owner: UUID, epoch: int, until: datetime) -> None:
    """Hold on to a mesh until a moment; raises LeaseLost where it has another owner."""
    values = {"mesh_id": mesh_id, "owner": owner, "epoch": epoch, "until": until}
    if await run(tx, query("lease_renew"), values) == 0:
        raise lease_lost()


async def release_lease(tx: Tx, mesh_id: MeshId, owner: UUID, epoch: int) -> bool:
    """Give a mesh back; False where it was not held in that epoch any more."""
    values = {"mesh_id": mesh_id, "owner": owner, "epoch": epoch}
    return await run(tx, query("lease_release"), values) > 0


async def owner_of(tx: Tx, mesh_id: MeshId) -> Owner | None:
    """The owner's row; None where there is no such mesh."""
    found = await row(tx, query("owner_of"), {"mesh_id": mesh_id})
    return None if found is None else Owner(*found)


async def set_swept(tx: Tx, mesh_id: MeshId, epoch: int, at: datetime) -> None:
    """Record when a sweep began; raises LeaseLost by an old epoch."""
    if await run(tx, query("swept"), {"mesh_id": mesh_id, "epoch": epoch, "at": at}) == 0:
        raise lease_lost()


async def emit(
    tx: Tx,
    mesh_id: MeshId,
    *,
    signal_id: UUID,
    kind: str,
    subject: UUID,
    other: UUID | None,
    now: datetime,
) -> None:
    """Tell the owner of a change, in the transaction that makes it. ``signal_id`` is a UUIDv7:
    signals are read in its order."""
    values = {
        "mesh_id": mesh_id,
        "signal_id": signal_id,
        "kind": kind,
        "subject": subject,
        "other": other,
        "at": now,
    }
    await run(tx, query("signal_emit"), values)


async def signals(tx: Tx, mesh_id: MeshId, limit: int = 1_000) -> list[Signal]:
    """Signals that wait, oldest first; they stay until cleared."""
    found = await rows(tx, query("signals"), {"mesh_id": mesh_id, "limit": limit})
    return [Signal(*r) for r in found]


async def clear_signals(tx: Tx, mesh_id: MeshId, signal_ids: Sequence[UUID]) -> list[Signal]:
    """Take signals away by id; returns those that were still there, oldest first."""
    values = {"mesh_id": mesh_id, "signal_ids": list(signal_ids)}
    found = await rows(tx, query("signals_clear"), values)
    return sorted((Signal(*r) for r in found), key=lambda s: s.signal_id)


async def meshes_with_work(tx: Tx, now: datetime, limit: int = 100) -> list[Work]:
    """Meshes where diffs, signals or unindexed vectors wait."""
    found = await rows(tx, query("meshes_with_work"), {"now": now, "limit": limit})
    return [Work(*r) for r in found]


def lease_lost() -> LeaseLost:
    """The error every fenced verb raises."""
    return LeaseLost(
        "Another worker owns the mesh now; nothing was written.",
        "Drop what is held in memory and take the lease again.",
    )
