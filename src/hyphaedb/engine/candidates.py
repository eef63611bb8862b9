"""The candidate lists of a recall and their fusion into one order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from hyphaedb.engine.context import Context
from hyphaedb.model import CellId, RecallMode
from hyphaedb.store import search
from hyphaedb.store.pool import Tx
from hyphaedb.store.search import Clauses
from hyphaedb.store.vectors import Vector

#: Candidates of each list; beyond them the score of a list adds nothing that lasts.
DEPTH = 100


@dataclass(frozen=True, slots=True)
class Found:
    """One candidate with its score and the parts that made it."""

    cell_id: CellId
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The best candidates, best first, and how many fell below the floor."""

    best: tuple[Found, ...]
    below_floor: int


async def gather(
    tx: Tx,
    context: Context,
    query: str,
    vector: Vector,
    k: int,
    mode: RecallMode,
    clauses: Clauses,
    floor: float,
    now: datetime,
) -> Gathered:
    """Ask the lists that ``mode`` names and fuse them."""
    near = await search.nearest(tx, context.info.mesh_id, 0, vector, max(k, DEPTH), clauses)
    found = [Found(n.cell_id, n.cosine, {"cosine": n.cosine}) for n in near]
    kept = [f for f in found if f.score >= floor]
    return Gathered(tuple(kept[:k]), len(found) - len(kept))
