"""Inboxes: what waits for an agent, leased while it reads, read once it says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hyphaedb.model import (
    MICRO,
    AgentId,
    CellId,
    CellType,
    DiffId,
    DiffKind,
    InboxItem,
    InboxState,
    MeshId,
    Route,
)
from hyphaedb.store.pool import Tx, row, rows, run
from hyphaedb.store.rows import single
from hyphaedb.store.sql import composed, query
from hyphaedb.store.traces import headline, headlines, steps

#: Items of one page at most, whatever is asked for.
PAGE_MAX = 500


@dataclass(frozen=True, slots=True)
class InboxRow:
    """An item with what ranking needs. ``item.unattested`` is True: the store cannot vouch."""

    item: InboxItem
    salience: float
    used_at: datetime


async def best(
    tx: Tx, mesh_id: MeshId, agent_id: AgentId, *, limit: int, now: datetime
) -> list[InboxRow]:
    """What waits (unread, or leased and lapsed, and not expired), best score first."""
    return await _page(tx, mesh_id, agent_id, "where_best", {"limit": limit, "now": now})


async def waiting_after(
    tx: Tx, mesh_id: MeshId, agent_id: AgentId, *, after: int, limit: int, now: datetime
) -> list[InboxRow]:
    """What waits behind a cursor, in the order it came: for streams."""
    values = {"limit": limit, "now": now, "after": after}
    return await _page(tx, mesh_id, agent_id, "where_next", values)


async def _page(
    tx: Tx, mesh_id: MeshId, agent_id: AgentId, clause: str, values: dict[str, Any]
) -> list[InboxRow]:
    limit = min(values["limit"], PAGE_MAX)
    asked = {"mesh_id": mesh_id, "agent_id": agent_id, **values, "limit": limit}
    found = await rows(tx, composed("inbox", (clause,)), asked)
    on_paths = {cell for r in found for cell in r[17]}
    lines = await headlines(tx, mesh_id, list(on_paths)) if on_paths else {}
    if clause == "where_best":
        found.sort(key=lambda r: (-r[10], r[0]))
    else:
        found.sort(key=lambda r: r[0])
    return [_row(r, lines) for r in found]


async def lease(
    tx: Tx,
    mesh_id: MeshId,
    agent_id: AgentId,
    seqs: Sequence[int],
    *,
    until: datetime,
    now: datetime,
) -> list[int]:
    """Hide items from the agent's other readers until a moment; returns those obtained. Two
    readers at once never obtain the same item."""
    values = {
        "mesh_id": mesh_id,
        "agent_id": agent_id,
        "seqs": list(seqs),
        "until": until,
        "now": now,
    }
    return sorted(r[0] for r in await rows(tx, query("inbox_lease"), values))


async def ack(
    tx: Tx, mesh_id: MeshId, agent_id: AgentId, seqs: Sequence[int], now: datetime
) -> list[tuple[int, DiffId]]:
    """Items that were read; returns (number, diff) of those that were not read before."""
    values = {"mesh_id": mesh_id, "agent_id": agent_id, "seqs": list(seqs), "now": now}
    return sorted((r[0], r[1]) for r in await rows(tx, query("inbox_ack"), values))


async def unread(
    tx: Tx, mesh_id: MeshId, agent_id: AgentId, now: datetime, limit: int = 10_000
) -> int:
    """How many items wait (leased ones too), counted no further than ``limit``."""
    values = {"mesh_id": mesh_id, "agent_id": agent_id, "now": now, "limit": limit}
    found = await row(tx, query("inbox_unread"), values)
    return int(found[0]) if found else 0


async def expire(tx: Tx, mesh_id: MeshId, now: datetime, limit: int = 1_000) -> int:
    """Remove items past their time, at most ``limit``; deliveries stay on record."""
    return await run(tx, query("inbox_expire"), {"mesh_id": mesh_id, "now": now, "limit": limit})


def _row(r: tuple[Any, ...], lines: dict[CellId, str]) -> InboxRow:
    item = InboxItem(
        cursor=r[0],
        diff_id=r[1],
        cell_id=r[2],
        kind=DiffKind(r[3]),
        state=InboxState(r[4]),
        type=CellType(r[5]),
        headline=headline(r[6]),
        body=r[6],
        author=r[7],
        session=r[8],
        ref=r[9],
        score=r[10] / MICRO,
        route=Route(r[11]),
        beacon=r[12],
        confirmations=r[13],
        unattested=True,
        created_at=r[14],
        delivered_at=r[15],
        expires_at=r[16],
        path=steps(r[17], r[18], lines),
        reason=r[21],
    )
    return InboxRow(item, single(r[19]), r[20])
