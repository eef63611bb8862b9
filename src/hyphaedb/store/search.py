"""Recall's lists: nearest vectors, exact or by the index, under a filter; and the tail's drain.

A filter is a set of named clauses. Where few cells pass it (:func:`matching`) their vectors are
measured one by one; where many do, the index scan goes on until enough have passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from hyphaedb.model import CellId, Filter, MeshId
from hyphaedb.store.pool import Tx, row, rows, run
from hyphaedb.store.sql import composed, query
from hyphaedb.store.vectors import Vector

#: Up to this many matching cells an exact scan of them is quicker than a filtered index scan,
#: and never misses.
EXACT_MAX = 5_000
#: The index search looks at twice as many candidates as must be right, a hundred at least.
EF_LEAST, EF_MOST = 100, 1_000

_STANDING = ("where_standing",)


@dataclass(frozen=True, slots=True)
class Near:
    """A cell and its cosine to the query, in [-1, 1]."""

    cell_id: CellId
    cosine: float


@dataclass(frozen=True, slots=True, eq=False)
class Clauses:
    """A filter made ready: named clauses and their values. ``narrow`` says it has more than the
    demand that cells stand now; ``impossible`` that no cell can pass (an unknown author)."""

    names: tuple[str, ...]
    values: dict[str, Any]
    narrow: bool
    impossible: bool


async def resolve(
    tx: Tx, mesh_id: MeshId, wanted: Filter, *, now: datetime, as_of: datetime | None = None
) -> Clauses:
    """A filter with names looked up. ``as_of`` asks for what was valid then."""
    names: list[str] = []
    values: dict[str, Any] = {"mesh_id": mesh_id}
    impossible = False
    if as_of is not None:
        names.append("where_as_of")
        values["as_of"] = as_of
    elif not wanted.include_inactive:
        names.append("where_standing")
        values["now"] = now
    base = len(names)
    if wanted.types:
        names.append("where_types")
        values["types"] = [t.value for t in wanted.types]
    if wanted.tags:
        names.append("where_tags")
        values["tags"] = list(wanted.tags)
    if wanted.metadata:
        names.append("where_metadata")
        values["metadata"] = Jsonb(dict(wanted.metadata))
    if wanted.agents:
        asked = {"mesh_id": mesh_id, "names": list(wanted.agents)}
        found = [r[0] for r in await rows(tx, query("filter_agents"), asked)]
        names.append("where_agents")
        values["agent_ids"] = found
        impossible |= not found
    if wanted.session is not None:
        asked = {"mesh_id": mesh_id, "name": wanted.session}
        found = [r[0] for r in await rows(tx, query("filter_sessions"), asked)]
        names.append("where_session")
        values["session_ids"] = found
        impossible |= not found
    if wanted.ref is not None:
        names.append("where_ref")
        values["ref"] = wanted.ref
    if wanted.since is not None:
        names.append("where_since")
        values["since"] = wanted.since
    if wanted.until is not None:
        names.append("where_until")
        values["until"] = wanted.until
    return Clauses(tuple(names), values, len(names) > base or as_of is not None, impossible)


def with_any_tag(clauses: Clauses, tags: Sequence[str]) -> Clauses:
    """The same filter, for cells that also carry one of these tags; no tags change nothing."""
    if not tags:
        return clauses
    names = (*clauses.names, "where_any_tag")
    values = {**clauses.values, "any_tags": list(tags)}
    return Clauses(names, values, True, clauses.impossible)


def standing(mesh_id: MeshId, now: datetime) -> Clauses:
    """No filter but that cells stand now; needs no look-up."""
    return Clauses(_STANDING, {"mesh_id": mesh_id, "now": now}, False, False)


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """A list that may be read alone or within another statement (see ``facts``): a query of
    search.sql with its clauses, its numbers and its values."""

    query: str
    clauses: tuple[str, ...]
    numbers: dict[str, int]
    values: dict[str, Any]


def nearest(
    mesh_id: MeshId,
    layer: int,
    vector: Vector,
    k: int,
    clauses: Clauses,
    *,
    sure: int | None = None,
) -> Listing | None:
    """The ``k`` nearest cells that pass, indexed and fresh, nearest first. Approximate: of the
    first ``sure`` (all, if left out) the index finds about 99 of 100, of the others nine of ten;
    what is in the tail is never missed. None where no cell can pass."""
    if clauses.impossible:
        return None
    plain = clauses.names == _STANDING
    numbers = {
        "layer": layer,
        "dimension": vector.shape[0],
        "limit": k,
        "ef": min(max(EF_LEAST, 2 * (k if sure is None else sure)), EF_MOST),
    }
    values = {**clauses.values, "mesh_id": mesh_id, "e": vector}
    return Listing("search_nearest" if plain else "search_filtered", clauses.names, numbers, values)


def exact(
    mesh_id: MeshId,
    layer: int,
    cell_ids: Sequence[CellId],
    vector: Vector,
    k: int,
    clauses: Clauses,
) -> Listing | None:
    """The ``k`` nearest among given cells, which pass ``clauses``; exact. None without cells."""
    if not cell_ids:
        return None
    numbers = {"layer": layer, "dimension": vector.shape[0], "limit": k}
    values = {**clauses.values, "mesh_id": mesh_id, "cell_ids": list(cell_ids), "e": vector}
    return Listing("search_exact", clauses.names, numbers, values)


def scan(mesh_id: MeshId, layer: int, vector: Vector, k: int, clauses: Clauses) -> Listing | None:
    """The slow truth of :func:`nearest`: measures every vector of the mesh. For tests, probes
    and meshes so small that the index, shared with others, would miss them."""
    if clauses.impossible:
        return None
    numbers = {"layer": layer, "dimension": vector.shape[0], "limit": k}
    values = {**clauses.values, "mesh_id": mesh_id, "e": vector}
    return Listing("search_scan", clauses.names, numbers, values)


async def near(tx: Tx, listing: Listing | None) -> list[Near]:
    """The cells of a list of vectors with their cosines, in its order."""
    if listing is None:
        return []
    sql = composed(listing.query, listing.clauses, **listing.numbers)
    return [Near(r[0], 1.0 - r[1]) for r in await rows(tx, sql, listing.values)]


async def matching(
    tx: Tx, mesh_id: MeshId, layer: int, clauses: Clauses, limit: int = EXACT_MAX + 1
) -> list[CellId]:
    """Cells that pass a filter, at most ``limit``: more than EXACT_MAX says use the index."""
    if clauses.impossible:
        return []
    sql = composed("search_matching", clauses.names, layer=layer, limit=limit)
    return [r[0] for r in await rows(tx, sql, {**clauses.values, "mesh_id": mesh_id})]


async def drain(tx: Tx, mesh_id: MeshId, batch: int) -> int:
    """Move up to ``batch`` linked vectors into the index, oldest first; returns how many. Costs
    about 4 ms each. Two at once share the work; neither waits for whoever holds a row."""
    return await run(tx, query("tail_drain"), {"mesh_id": mesh_id, "limit": batch})


async def tail_count(tx: Tx, mesh_id: MeshId, limit: int = 20_001) -> int:
    """How many vectors wait for the index, counted no further than ``limit``."""
    found = await row(tx, query("tail_count"), {"mesh_id": mesh_id, "limit": limit})
    return int(found[0]) if found else 0


async def indexed_count(tx: Tx, dimension: int, limit: int) -> int:
    """How many vectors of a dimension are indexed, over all meshes, counted up to ``limit``."""
    values = {"dimension": dimension, "limit": limit}
    found = await row(tx, query("indexed_count"), values)
    return int(found[0]) if found else 0
