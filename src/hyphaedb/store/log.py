"""The delivery log as the engine asks it: who has heard of a cell, how much somebody got."""

from __future__ import annotations

from collections.abc import Sequence

from hyphaedb.model import AgentId, CellId, DiffId, MeshId
from hyphaedb.store.pool import Tx, row, rows
from hyphaedb.store.sql import query

#: Agents that may have heard of one cell; more than a mesh is meant for.
RECIPIENTS_MAX = 100_000


async def recipients(tx: Tx, mesh_id: MeshId, cell_id: CellId) -> list[AgentId]:
    """Live agents that received any diff of a cell, or touched it: whom a correction concerns."""
    values = {"mesh_id": mesh_id, "cell_id": cell_id, "limit": RECIPIENTS_MAX}
    return [AgentId(r[0]) for r in await rows(tx, query("recipients"), values)]


async def count_deliveries(tx: Tx, mesh_id: MeshId, cell_id: CellId) -> int:
    """Deliveries of a cell's diffs."""
    values = {"mesh_id": mesh_id, "cell_id": cell_id}
    found = await row(tx, query("deliveries_count"), values)
    return int(found[0]) if found else 0


async def count_swept(tx: Tx, mesh_id: MeshId) -> int:
    """Deliveries that sweeps added, ever."""
    found = await row(tx, query("swept_count"), {"mesh_id": mesh_id})
    return int(found[0]) if found else 0


async def past_counts(tx: Tx, mesh_id: MeshId) -> dict[AgentId, int]:
    """What sweeps brought each agent from before it registered; agents without any left out."""
    return {
        AgentId(r[0]): int(r[1]) for r in await rows(tx, query("past_counts"), {"mesh_id": mesh_id})
    }


async def hold_diffs(tx: Tx, mesh_id: MeshId, diff_ids: Sequence[DiffId]) -> frozenset[DiffId]:
    """Keep diffs from being erased until ``tx`` ends; returns those that are still there."""
    values = {"mesh_id": mesh_id, "diff_ids": list(diff_ids)}
    return frozenset(DiffId(r[0]) for r in await rows(tx, query("diffs_hold"), values))
