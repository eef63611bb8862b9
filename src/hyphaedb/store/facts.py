"""What recall reads on from a list, in the same statement: facts for fusion, or whole cells."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from hyphaedb.model import AgentId, Cell, CellId
from hyphaedb.store.pool import Tx, rows
from hyphaedb.store.rows import cell_of
from hyphaedb.store.search import Listing
from hyphaedb.store.sql import composed
from hyphaedb.store.vectors import Vector


class Way(StrEnum):
    """How a candidate was found: in the list itself, or beside one of its first cells."""

    LIST = "list"
    SESSION = "session"
    LINK = "link"


# The enum's own look-up costs more than reading the row.
_WAYS = {way.value: way for way in Way}


class Reach(NamedTuple):
    """How many of a list's first cells bring neighbours, and how many each: in its session that
    many before and after it, over its cheapest own links that many in all."""

    session_seeds: int
    session_width: int
    link_seeds: int
    link_width: int


class Fact(NamedTuple):
    """One way to a candidate.

    ``place`` is the one in the list, from 1, of the cell itself or of the one it lies beside;
    ``distance`` the steps in the session (negative is before) or the hop's cost in micro-units.
    ``cosine`` is exact, in [-1, 1]; ``worth`` the list's own measure, 0 for neighbours.
    """

    place: int
    way: Way
    distance: int
    cell_id: CellId
    author: AgentId
    cosine: float
    worth: float
    salience: float
    idle_days: float
    stands: bool


async def candidates(
    tx: Tx, listing: Listing | None, layer: int, vector: Vector, reach: Reach, now: datetime
) -> list[Fact]:
    """Every way to every candidate that passes the list's filter: first the list in its order,
    then the neighbours by the places of those they lie beside."""
    if listing is None:
        return []
    numbers = {**listing.numbers, "layer": layer, "dimension": vector.shape[0]}
    sql = composed("candidates", listing.clauses, listing.query, **numbers)
    values: Mapping[str, Any] = {
        **listing.values,
        **reach._asdict(),
        "e": vector,
        "asked_at": now,
    }
    return [Fact(r[0], _WAYS[r[1]], *r[2:]) for r in await rows(tx, sql, values)]


async def found_cells(tx: Tx, listing: Listing | None) -> list[tuple[Cell, float]]:
    """The cells of a list of vectors with their cosines, in its order."""
    if listing is None:
        return []
    sql = composed("found_cells", listing.clauses, listing.query, **listing.numbers)
    return [(cell_of(r), 1.0 - r[20]) for r in await rows(tx, sql, listing.values)]
