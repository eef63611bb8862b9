"""What fusion must know of its candidates, in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hyphaedb.model import AgentId, CellId, MeshId
from hyphaedb.store.pool import Tx, rows
from hyphaedb.store.rows import single
from hyphaedb.store.search import Clauses
from hyphaedb.store.sql import composed
from hyphaedb.store.vectors import Vector


@dataclass(frozen=True, slots=True)
class Facts:
    """One candidate; ``cosine`` is exact."""

    cell_id: CellId
    author: AgentId
    cosine: float
    salience: float
    used_at: datetime
    stands: bool


async def candidate_facts(
    tx: Tx, mesh_id: MeshId, cell_ids: Sequence[CellId], vector: Vector, clauses: Clauses
) -> list[Facts]:
    """Facts of those cells that are there and pass, in no order to rely on."""
    if clauses.impossible or not cell_ids:
        return []
    sql = composed("candidate_facts", clauses.names, dimension=vector.shape[0])
    values = {**clauses.values, "mesh_id": mesh_id, "cell_ids": list(cell_ids), "e": vector}
    return [
        Facts(r[0], r[1], 1.0 - r[2], single(r[3]), r[4], r[5]) for r in await rows(tx, sql, values)
    ]
