"""The journal: diffs that wait, the fence, deliveries with their inbox rows, settled diffs.

Every transaction of a worker begins with :func:`fence`. From then until it ends nobody can take
the mesh over, so what it writes is written by the owner or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from hyphaedb.model import (
    AgentId,
    BeaconId,
    CellId,
    DiffId,
    DiffKind,
    DiffState,
    MeshId,
    Route,
)
from hyphaedb.store.jobs import lease_lost
from hyphaedb.store.pool import Row, Tx, row, rows, run
from hyphaedb.store.rows import DiffRow, PendingRow, pending_of
from hyphaedb.store.sql import composed, query

#: An error text is kept short: it is read by people, and may come from far below.
ERROR_CHARS_MAX = 500


@dataclass(frozen=True, slots=True)
class Counters:
    """Where the owner's counters stood before a fence moved them: the next inbox seq is
    ``seq + 1``, the next dot ``dot + 1``, the next link ordinal ``ordinal``. ``graph_epoch`` is
    the new one."""

    seq: int
    dot: int
    ordinal: int
    graph_epoch: int


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery to record; scores and energies in micro-units. ``path`` runs from the origin
    to the last cell before the agent, ``energies`` says what was left on arrival at each."""

    diff_id: DiffId
    agent_id: AgentId
    cell_id: CellId
    route: Route
    score: int
    relevance: int
    interest: int
    energy: int
    hops: int
    path: tuple[CellId, ...]
    energies: tuple[int, ...]
    beacon_id: BeaconId | None
    shadow: bool
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class WaveRow:
    """What a wave found. ``gate`` in micro-units; ``hops`` and ``refused`` are JSON values."""

    diff_id: DiffId
    settled: int
    rounds: int
    gate: int
    truncated: str | None
    shadow: bool
    hops: Sequence[Mapping[str, Any]]
    refused: Sequence[Mapping[str, Any]]
    graph_epoch: int
    run_at: datetime


@dataclass(frozen=True, slots=True)
class Landed:
    """A delivery that was new, and its place in the inbox."""

    diff_id: DiffId
    agent_id: AgentId
    seq: int


@dataclass(frozen=True, slots=True)
class DiffInfo:
    """A diff as it stands. ``energy`` in micro-units."""

    diff_id: DiffId
    kind: DiffKind
    cell_id: CellId
    about: CellId | None
    layer: int
    generation: int
    agent_id: AgentId
    energy: int
    state: DiffState
    attempt: int
    error: str | None
    dot: int | None
    created_at: datetime
    settled_at: datetime | None
    expires_at: datetime
    reason: str | None


@dataclass(frozen=True, slots=True)
class DeadDiff:
    """A diff that was given up, with its reason."""

    diff_id: DiffId
    cell_id: CellId
    kind: DiffKind
    attempt: int
    error: str | None
    created_at: datetime


async def fence(
    tx: Tx,
    mesh_id: MeshId,
    epoch: int,
    *,
    seq: int = 0,
    dots: int = 0,
    ordinals: int = 0,
    graph_epochs: int = 0,
) -> Counters:
    """Prove ownership and reserve numbers; raises LeaseLost where the epoch is an old one.

    Dots are gapless if every reserved one is used. Inbox numbers only have to rise: what a
    replay does not use stays unused.
    """
    values = {
        "mesh_id": mesh_id,
        "epoch": epoch,
        "seq": seq,
        "dots": dots,
        "ordinals": ordinals,
        "graph_epochs": graph_epochs,
    }
    found = await row(tx, query("fence"), values)
    if found is None:
        raise lease_lost()
    return Counters(*found)


async def append_diff(tx: Tx, mesh_id: MeshId, diff: DiffRow) -> bool:
    """Append a diff; False where its id or its cause has one already (nothing changes)."""
    values = {
        "mesh_id": mesh_id,
        "diff_id": diff.diff_id,
        "kind": diff.kind.value,
        "cell_id": diff.cell_id,
        "about": diff.about,
        "layer": diff.layer,
        "generation": diff.generation,
        "cause": diff.cause,
        "reason": diff.reason,
        "agent_id": diff.agent_id,
        "energy": diff.energy,
        "created_at": diff.created_at,
        "expires_at": diff.expires_at,
    }
    return await run(tx, query("diff_append"), values) > 0


async def pending(tx: Tx, mesh_id: MeshId, limit: int, now: datetime) -> list[PendingRow]:
    """Diffs whose time has come, oldest first, at most ``limit``."""
    values = {"mesh_id": mesh_id, "limit": limit, "now": now}
    found = await rows(tx, composed("diffs", ("where_waiting",)), values)
    return [pending_of(r) for r in sorted(found, key=lambda r: (r[34], r[0]))]


async def live(
    tx: Tx, mesh_id: MeshId, *, after_dot: int, limit: int, now: datetime
) -> list[PendingRow]:
    """Settled diffs that have not expired, by dot, those behind ``after_dot``."""
    values = {"mesh_id": mesh_id, "after": after_dot, "limit": limit, "now": now}
    found = await rows(tx, composed("diffs", ("where_live",)), values)
    return [pending_of(r) for r in sorted(found, key=lambda r: r[35])]


async def count_pending(tx: Tx, mesh_id: MeshId, limit: int) -> int:
    """How many diffs wait, counted no further than ``limit``."""
    found = await row(tx, query("pending_count"), {"mesh_id": mesh_id, "limit": limit})
    return int(found[0]) if found else 0


async def record_waves(tx: Tx, mesh_id: MeshId, waves: Sequence[WaveRow]) -> None:
    """Keep what waves found, for their traces; one wave a diff."""
    if not waves:
        return
    values = {
        "mesh_id": mesh_id,
        "diff_ids": [w.diff_id for w in waves],
        "settleds": [w.settled for w in waves],
        "rounds": [w.rounds for w in waves],
        "gates": [w.gate for w in waves],
        "truncateds": [w.truncated for w in waves],
        "shadows": [w.shadow for w in waves],
        "hops": [Jsonb(list(w.hops)) for w in waves],
        "refused": [Jsonb(list(w.refused)) for w in waves],
        "graph_epochs": [w.graph_epoch for w in waves],
        "run_ats": [w.run_at for w in waves],
    }
    await run(tx, query("waves_record"), values)


async def record_deliveries(
    tx: Tx, mesh_id: MeshId, deliveries: Sequence[NewDelivery], *, seq: int, now: datetime
) -> list[Landed]:
    """Record deliveries and fill inboxes, numbered from ``seq + 1``; returns the new ones.

    Whatever an agent has of a diff already is left alone, so a replay returns nothing. Shadow
    deliveries are recorded and land nowhere. ``seq`` must have been reserved by :func:`fence`.
    """
    if not deliveries:
        return []
    ends, end = [], 0
    for d in deliveries:
        end += len(d.path)
        ends.append(end)
    values = {
        "mesh_id": mesh_id,
        "diff_ids": [d.diff_id for d in deliveries],
        "agent_ids": [d.agent_id for d in deliveries],
        "cell_ids": [d.cell_id for d in deliveries],
        "routes": [d.route.value for d in deliveries],
        "scores": [d.score for d in deliveries],
        "relevances": [d.relevance for d in deliveries],
        "interests": [d.interest for d in deliveries],
        "energies": [d.energy for d in deliveries],
        "hops": [d.hops for d in deliveries],
        "path_froms": [0, *ends[:-1]],
        "path_tos": ends,
        "paths": [cell for d in deliveries for cell in d.path],
        "path_energies": [energy for d in deliveries for energy in d.energies],
        "beacon_ids": [d.beacon_id for d in deliveries],
        "shadows": [d.shadow for d in deliveries],
        "expires": [d.expires_at for d in deliveries],
        "seq": seq,
        "now": now,
    }
    found = await rows(tx, query("deliveries_record"), values)
    return [Landed(*r) for r in found]


async def settle(tx: Tx, mesh_id: MeshId, dots: Mapping[DiffId, int], now: datetime) -> int:
    """Diffs whose waves are done, each with its dot; returns how many were still pending."""
    values = {
        "mesh_id": mesh_id,
        "diff_ids": list(dots.keys()),
        "dots": list(dots.values()),
        "now": now,
    }
    return await run(tx, query("diffs_settle"), values)


async def fail(
    tx: Tx, mesh_id: MeshId, diff_id: DiffId, error: str, *, next_at: datetime, dead: bool
) -> bool:
    """A wave failed: one attempt more, tried again at ``next_at``, or set aside as dead."""
    values = {
        "mesh_id": mesh_id,
        "diff_id": diff_id,
        "error": error[:ERROR_CHARS_MAX],
        "state": (DiffState.DEAD if dead else DiffState.PENDING).value,
        "next_at": next_at,
    }
    return await run(tx, query("diff_fail"), values) > 0


async def retry_dead(
    tx: Tx, mesh_id: MeshId, now: datetime, diff_id: DiffId | None = None, limit: int = 1_000
) -> int:
    """Give dead diffs (or one) another life; returns how many."""
    values = {"mesh_id": mesh_id, "diff_id": diff_id, "now": now, "limit": limit}
    return await run(tx, query("diffs_retry"), values)


async def dead(tx: Tx, mesh_id: MeshId, limit: int = 100) -> list[DeadDiff]:
    """Diffs that were given up."""
    found = await rows(tx, query("diffs_dead"), {"mesh_id": mesh_id, "limit": limit})
    return [DeadDiff(r[0], r[1], DiffKind(r[2]), r[3], r[4], r[5]) for r in found]


async def diff_by_id(tx: Tx, mesh_id: MeshId, diff_id: DiffId) -> DiffInfo | None:
    """One diff as it stands."""
    found = await row(tx, query("diff_by_id"), {"mesh_id": mesh_id, "diff_id": diff_id})
    return None if found is None else _info(found)


async def diffs_of_cell(
    tx: Tx, mesh_id: MeshId, cell_id: CellId, limit: int = 100
) -> list[DiffInfo]:
    """A cell's diffs, oldest first."""
    values = {"mesh_id": mesh_id, "cell_id": cell_id, "limit": limit}
    return [_info(r) for r in await rows(tx, query("diffs_of_cell"), values)]


def _info(r: Row) -> DiffInfo:
    return DiffInfo(
        diff_id=r[0],
        kind=DiffKind(r[1]),
        cell_id=r[2],
        about=r[3],
        layer=r[4],
        generation=r[5],
        agent_id=r[6],
        energy=r[7],
        state=DiffState(r[8]),
        attempt=r[9],
        error=r[10],
        dot=r[11],
        created_at=r[12],
        settled_at=r[13],
        expires_at=r[14],
        reason=r[15],
    )
