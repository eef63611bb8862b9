"""The graph: links, edges, footprints, the panel and term counts, read in bulk.

Columns cross the driver as a few long byte strings, 4,096 rows each, and numpy reads them in
one pass: 100,000 cells load in about a second, where rows one by one take several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hyphaedb.model import CellId, EdgeKind, MeshId
from hyphaedb.store.pool import Row, Tx, row, rows, run
from hyphaedb.store.rows import single
from hyphaedb.store.sql import query
from hyphaedb.store.vectors import Vector, matrix

#: Rows in one byte string: 4,096 vectors of 1,536 numbers are 12 MB.
BLOCK = 4_096
EDGES_MAX = 1_000_000

T = TypeVar("T", bound=np.generic)

Ints = NDArray[np.int32]
#: Ids as rows of 16 bytes.
Ids = NDArray[np.uint8]

CREATED, RECALLED, USED, CONFIRMED = 1, 2, 4, 8


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Linked cells of one layer by rising ordinal: (n,), (n, 16) and (n, dimension)."""

    ordinals: Ints
    cell_ids: Ids
    vectors: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Own links of one layer by rising ordinal. Row i owns
    ``targets[offsets[i]:offsets[i + 1]]`` and as many costs (micro-units)."""

    ordinals: Ints
    offsets: NDArray[np.int64]
    targets: Ints
    costs: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Linked cells of one layer by rising ordinal, (n,) each: salience as it was stored, when the
    cell was last used in seconds since 1970, and whether it is active."""

    ordinals: Ints
    saliences: NDArray[np.float32]
    used_at_s: NDArray[np.float64]
    active: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Footprints:
    """All footprints of a mesh: (n, 16), (n, 16), (n,), (n,). Flags are CREATED, RECALLED, USED
    and CONFIRMED, added."""

    holder_ids: Ids
    cell_ids: Ids
    days: Ints
    flags: Ints


@dataclass(frozen=True, slots=True)
class NewLinks:
    """A new cell's own links: target ordinals with their hop costs in micro-units."""

    ordinal: int
    cell_id: CellId
    targets: Sequence[int]
    costs: Sequence[int]


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed edge or a bridge; ``cost`` in micro-units, ``bandwidth`` None is unlimited."""

    edge_id: UUID
    layer: int
    src: CellId
    dst: CellId
    kind: EdgeKind
    omega: float
    cost: int
    bandwidth: int | None
    bridge: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Panel:
    """The calibration panel: which cells, drawn with which seed from how many."""

    version: int
    seed: int
    cell_ids: tuple[CellId, ...]
    drawn_from: int
    created_at: datetime


async def load_vectors(tx: Tx, mesh_id: MeshId, layer: int, dimension: int) -> Vectors:
    """Linked cells with their vectors, indexed and fresh alike."""
    blocks = await _blocks(tx, "graph_vectors", mesh_id, layer)
    return Vectors(
        _numbers(blocks, 0, ">i4", np.int32),
        _ids(blocks, 1),
        matrix([b[2] for b in blocks], dimension),
    )


async def load_links(tx: Tx, mesh_id: MeshId, layer: int) -> Links:
    """Own links as they were written; targets may name cells that are gone."""
    blocks = await _blocks(tx, "graph_links", mesh_id, layer)
    counts = _numbers(blocks, 1, ">i4", np.int32)
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    ordinals = _numbers(blocks, 0, ">i4", np.int32)
    return Links(ordinals, offsets, _arrays(blocks, 2, counts), _arrays(blocks, 3, counts))


async def load_standing(tx: Tx, mesh_id: MeshId, layer: int) -> Standing:
    """What waves must know of linked cells beyond their vectors."""
    blocks = await _blocks(tx, "graph_standing", mesh_id, layer)
    return Standing(
        _numbers(blocks, 0, ">i4", np.int32),
        _numbers(blocks, 1, ">f4", np.float32),
        _numbers(blocks, 2, ">f8", np.float64),
        _numbers(blocks, 3, "?", np.bool_),
    )


async def load_footprints(tx: Tx, mesh_id: MeshId) -> Footprints:
    """All footprints of a mesh, by holder and cell."""
    blocks: list[Row] = []
    holder, cell = UUID(int=0), UUID(int=0)
    sql = query("graph_footprints", limit=BLOCK)
    while True:
        values = {"mesh_id": mesh_id, "after_holder": holder, "after_cell": cell}
        block = await row(tx, sql, values)
        if block is None or block[0] is None:
            break
        blocks.append(block)
        holder, cell = UUID(bytes=block[0][-16:]), UUID(bytes=block[1][-16:])
    days, flags = (_numbers(blocks, column, ">i4", np.int32) for column in (2, 3))
    return Footprints(_ids(blocks, 0), _ids(blocks, 1), days, flags)


async def _blocks(tx: Tx, name: str, mesh_id: MeshId, layer: int) -> list[Row]:
    """All blocks of one layer; the first column holds ordinals, of which the last leads on."""
    blocks: list[Row] = []
    after = -1
    sql = query(name, layer=layer, limit=BLOCK)
    while True:
        block = await row(tx, sql, {"mesh_id": mesh_id, "after": after})
        if block is None or block[0] is None:
            return blocks
        blocks.append(block)
        after = int.from_bytes(block[0][-4:], "big")


def _numbers(blocks: Sequence[Row], column: int, wire: str, kind: type[T]) -> NDArray[T]:
    joined = b"".join(b[column] for b in blocks)
    return np.frombuffer(joined, dtype=wire).astype(kind)


def _ids(blocks: Sequence[Row], column: int) -> Ids:
    joined = b"".join(b[column] for b in blocks)
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, 16)


def _arrays(blocks: Sequence[Row], column: int, counts: Ints) -> Ints:
    """The elements of concatenated ``array_send`` outputs.

    Each is a head of 12 bytes, 8 more where it has elements, then a length word before each
    element: in words of four bytes that is 3, or 5 + 2n.
    """
    words = np.frombuffer(b"".join(b[column] for b in blocks), dtype=">i4")
    sizes = np.where(counts > 0, 5 + 2 * counts.astype(np.int64), 3)
    starts = np.cumsum(sizes) - sizes
    total = int(counts.sum())
    within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return words[np.repeat(starts, counts) + 6 + 2 * within].astype(np.int32)


async def insert_links(tx: Tx, mesh_id: MeshId, layer: int, links: Sequence[NewLinks]) -> int:
    """Write new cells' links; cells that are linked already or gone are left out."""
    if not links:
        return 0
    ends, end = [], 0
    for link in links:
        end += len(link.targets)
        ends.append(end)
    values = {
        "mesh_id": mesh_id,
        "layer": layer,
        "ordinals": [n.ordinal for n in links],
        "cell_ids": [n.cell_id for n in links],
        "link_froms": [0, *ends[:-1]],
        "link_tos": ends,
        "targets": [int(t) for n in links for t in n.targets],
        "costs": [int(c) for n in links for c in n.costs],
    }
    return await run(tx, query("links_insert"), values)


async def insert_edges(tx: Tx, mesh_id: MeshId, edges: Sequence[Edge]) -> None:
    """Write typed edges and bridges; one that is there already (pair and kind) stays as it is."""
    if edges:
        async with tx.cursor() as cursor:
            values = [_edge_values(mesh_id, edge) for edge in edges]
            await cursor.executemany(query("edge_insert"), values)


async def put_edge(tx: Tx, mesh_id: MeshId, edge: Edge) -> UUID:
    """Add a typed edge, or change the weight of the one there is; returns the id it has."""
    found = await row(tx, query("edge_put"), _edge_values(mesh_id, edge))
    assert found is not None, "an upsert returns its row"
    return UUID(bytes=found[0].bytes)


def _edge_values(mesh_id: MeshId, edge: Edge) -> dict[str, object]:
    return {
        "mesh_id": mesh_id,
        "edge_id": edge.edge_id,
        "layer": edge.layer,
        "src": edge.src,
        "dst": edge.dst,
        "kind": edge.kind.value,
        "omega": edge.omega,
        "cost": edge.cost,
        "bandwidth": edge.bandwidth,
        "bridge": edge.bridge,
        "now": edge.created_at,
    }


async def load_edges(tx: Tx, mesh_id: MeshId) -> list[Edge]:
    """All typed edges and bridges of a mesh."""
    found = await rows(tx, query("edges"), {"mesh_id": mesh_id, "limit": EDGES_MAX})
    return [
        Edge(r[0], r[1], r[2], r[3], EdgeKind(r[4]), single(r[5]), r[6], r[7], r[8], r[9])
        for r in found
    ]


async def put_panel(tx: Tx, mesh_id: MeshId, panel: Panel) -> bool:
    """Keep a panel; False where its version was drawn already."""
    values = {
        "mesh_id": mesh_id,
        "version": panel.version,
        "seed": panel.seed,
        "cell_ids": list(panel.cell_ids),
        "drawn_from": panel.drawn_from,
        "now": panel.created_at,
    }
    return await run(tx, query("panel_put"), values) > 0


async def latest_panel(tx: Tx, mesh_id: MeshId) -> Panel | None:
    """The latest panel; None before one was drawn. Erased cells are missing from it."""
    found = await row(tx, query("panel"), {"mesh_id": mesh_id})
    return None if found is None else Panel(found[0], found[1], tuple(found[2]), *found[3:])


async def count_terms(tx: Tx, mesh_id: MeshId, cell_ids: Sequence[CellId]) -> None:
    """Newly linked cells enter the term statistics. Once a cell, in the transaction that links
    it: erasing a linked cell takes its words out again."""
    if cell_ids:
        await run(tx, query("terms_count"), {"mesh_id": mesh_id, "cell_ids": list(cell_ids)})
