"""What became of a diff or a cell: its wave, its delivery log, who knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hyphaedb.model import MICRO, AgentId, CellId, Delivery, DiffId, MeshId, Route, Seen, Step
from hyphaedb.store.journal import WaveRow
from hyphaedb.store.pool import Row, Tx, row, rows
from hyphaedb.store.sql import query

#: Rows of one trace or log; a wave delivers to 2,000 agents at most.
LOG_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Delivered:
    """A receipt's parts: everyone a diff was delivered to, and those who have read it."""

    delivered: tuple[str, ...]
    read: tuple[str, ...]


async def wave_of(tx: Tx, mesh_id: MeshId, diff_id: DiffId) -> WaveRow | None:
    """What a diff's latest wave found; None before it ran."""
    found = await row(tx, query("wave"), {"mesh_id": mesh_id, "diff_id": diff_id})
    return None if found is None else WaveRow(diff_id, *found)


async def deliveries_of_diff(
    tx: Tx, mesh_id: MeshId, diff_id: DiffId, limit: int = LOG_MAX
) -> list[Delivery]:
    """One diff's deliveries, best score first, with their paths' headlines."""
    values = {"mesh_id": mesh_id, "diff_id": diff_id, "limit": limit}
    return await _deliveries(tx, mesh_id, await rows(tx, query("deliveries_of_diff"), values))


async def delivered_pairs(
    tx: Tx, mesh_id: MeshId, diff_ids: Sequence[DiffId], limit: int = 1_000_000
) -> set[tuple[DiffId, AgentId]]:
    """Which agents have which diffs (shadow ones too)."""
    values = {"mesh_id": mesh_id, "diff_ids": list(diff_ids), "limit": limit}
    return {(r[0], r[1]) for r in await rows(tx, query("delivered_pairs"), values)}


async def delivered_since(
    tx: Tx, mesh_id: MeshId, agent_ids: Sequence[AgentId], since: datetime
) -> dict[AgentId, int]:
    """How many deliveries each agent got since a moment; agents without any are left out."""
    values = {"mesh_id": mesh_id, "agent_ids": list(agent_ids), "since": since}
    return {r[0]: int(r[1]) for r in await rows(tx, query("delivered_since"), values)}


async def headlines(tx: Tx, mesh_id: MeshId, cell_ids: Sequence[CellId]) -> dict[CellId, str]:
    """The first line of each cell's body, at most 120 characters."""
    values = {"mesh_id": mesh_id, "cell_ids": list(cell_ids)}
    found = await rows(tx, query("headlines"), values)
    return {r[0]: headline(r[1]) for r in found}


def headline(body: str, chars_max: int = 120) -> str:
    """A body's first line, cut with an ellipsis where it is long."""
    line = body.strip().split("\n", 1)[0].strip()
    return line if len(line) <= chars_max else line[: chars_max - 1].rstrip() + "…"


async def who_saw(tx: Tx, mesh_id: MeshId, cell_id: CellId, limit: int = LOG_MAX) -> list[Seen]:
    """Who knows a cell, its author first. A role's recalls show at each of its instances."""
    values = {"mesh_id": mesh_id, "cell_id": cell_id, "limit": limit}
    return [Seen(*r) for r in await rows(tx, query("who_saw"), values)]


async def receipt(tx: Tx, mesh_id: MeshId, diff_id: DiffId) -> Delivered:
    """To whom a diff was delivered and who has read it, by name."""
    values = {"mesh_id": mesh_id, "diff_id": diff_id, "limit": LOG_MAX}
    found = await rows(tx, query("receipt"), values)
    return Delivered(tuple(r[0] for r in found), tuple(r[0] for r in found if r[1]))


async def _deliveries(tx: Tx, mesh_id: MeshId, found: Sequence[Row]) -> list[Delivery]:
    on_paths = {cell for r in found for cell in r[10]}
    lines = await headlines(tx, mesh_id, list(on_paths)) if on_paths else {}
    return [_delivery(r, lines) for r in found]


def _delivery(r: Row, lines: Mapping[CellId, str]) -> Delivery:
    return Delivery(
        diff_id=r[0],
        cell_id=r[1],
        agent_id=r[2],
        agent=r[3],
        route=Route(r[4]),
        score=r[5] / MICRO,
        relevance=r[6] / MICRO,
        interest=r[7] / MICRO,
        energy=r[8] / MICRO,
        hops=r[9],
        path=steps(r[10], r[11], lines),
        beacon=r[12],
        at=r[13],
        shadow=r[14],
    )


def steps(
    path: Sequence[Any], energies: Sequence[int], lines: Mapping[CellId, str]
) -> tuple[Step, ...]:
    """A path with headlines; a cell that was erased since is named as such."""
    return tuple(
        Step(CellId(cell), lines.get(CellId(cell), "(erased)"), energy / MICRO)
        for cell, energy in zip(path, energies, strict=True)
    )
