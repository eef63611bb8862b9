"""Cells: the acknowledged store in one statement, and what may happen to a cell afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from hyphaedb.errors import Conflict
from hyphaedb.model import AgentId, Cell, CellId, CellState, MeshId, SessionId
from hyphaedb.store.pool import Tx, row, rows, run
from hyphaedb.store.rows import CellRow, DiffRow, Footprint, Known, cell_of
from hyphaedb.store.sql import query
from hyphaedb.store.vectors import Vector

#: Looks for the cell that won a race before giving up: it may be erased between two looks.
SAME_TRIES = 5


@dataclass(frozen=True, slots=True)
class Inserted:
    """A stored cell. Not ``created`` means that this cell, by this author, said it before."""

    cell_id: CellId
    agent_id: AgentId
    created: bool


async def insert_cell(tx: Tx, mesh_id: MeshId, cell: CellRow, diff: DiffRow | None) -> Inserted:
    """Write a cell with statistics, vector, footprint, session and diff, in one statement.

    With a ``tx`` from ``Database.statement`` that is one round trip and one commit. Where an
    active cell of the same layer has the same content hash nothing is written and that one comes
    back, whoever wins among concurrent writers.
    """
    values = cell_values(mesh_id, cell, diff)
    for _ in range(SAME_TRIES):
        if await row(tx, query("cell_insert"), values) is not None:
            return Inserted(cell.cell_id, cell.agent_id, True)
        same = await row(
            tx,
            query("cell_same"),
            {"mesh_id": mesh_id, "layer": cell.layer, "content_hash": cell.content_hash},
        )
        if same is not None:
            return Inserted(same[0], same[1], False)
    raise Conflict("The same text is being stored and erased at once.", "Store it again.")


def cell_values(mesh_id: MeshId, cell: CellRow, diff: DiffRow | None) -> dict[str, Any]:
    """The parameters of ``cell_insert``; without a diff its id is None and the rest unused."""
    return {
        "mesh_id": mesh_id,
        "cell_id": cell.cell_id,
        "layer": cell.layer,
        "type": cell.type.value,
        "body": cell.body,
        "words": " ".join(cell.tags),
        "agent_id": cell.agent_id,
        "principal_id": cell.principal_id,
        "holder_id": cell.holder_id,
        "day": cell.day,
        "session_id": cell.session_id,
        "session": cell.session or "",
        "tags": list(cell.tags),
        "metadata": Jsonb(dict(cell.metadata)),
        "ref": cell.ref,
        "salience": cell.salience,
        "confidence": cell.confidence,
        "standing": cell.credit,
        "content_hash": cell.content_hash,
        "windows": cell.windows,
        "replaces": cell.replaces,
        "sources": list(cell.sources),
        "created_at": cell.created_at,
        "valid_from": cell.valid_from,
        "expires_at": cell.expires_at,
        "model_id": cell.model_id,
        "dimension": cell.dimension,
        "e": cell.vector,
        "diff_id": diff.diff_id if diff else None,
        "diff_kind": diff.kind.value if diff else "",
        "about": diff.about if diff else None,
        "generation": diff.generation if diff else 0,
        "cause": diff.cause if diff else None,
        "energy": diff.energy if diff else 0,
        "diff_expires_at": diff.expires_at if diff else cell.created_at,
    }


async def known(tx: Tx, mesh_id: MeshId, cell_ids: Sequence[CellId]) -> list[Known]:
    """Cells by id in the order asked; those that are not there are left out."""
    found = await rows(tx, query("cells"), {"mesh_id": mesh_id, "cell_ids": list(cell_ids)})
    return [Known(cell_of(r), *r[20:]) for r in found]


async def cells(tx: Tx, mesh_id: MeshId, cell_ids: Sequence[CellId]) -> list[Cell]:
    """The same, as the model's cells only."""
    return [k.cell for k in await known(tx, mesh_id, cell_ids)]


async def vectors(tx: Tx, mesh_id: MeshId, cell_ids: Sequence[CellId]) -> dict[CellId, Vector]:
    """Vectors by cell, wherever they are kept; a cell that is not there has none. For looking at
    single cells, as ``graph.load_vectors`` reads linked ones only."""
    found = await rows(tx, query("cell_vectors"), {"mesh_id": mesh_id, "cell_ids": list(cell_ids)})
    return {r[0]: r[1] for r in found}


async def hold(tx: Tx, mesh_id: MeshId, cell_ids: Sequence[CellId]) -> frozenset[CellId]:
    """Keep cells from being erased until ``tx`` ends; returns those that are still there."""
    found = await rows(tx, query("cell_hold"), {"mesh_id": mesh_id, "cell_ids": list(cell_ids)})
    return frozenset(r[0] for r in found)


async def hold_to_touch(tx: Tx, mesh_id: MeshId, cell_ids: Sequence[CellId]) -> frozenset[CellId]:
    """Lock all cells that are going to be touched in ``tx``, by several calls; returns those that
    are still there. Without it two such transactions may wait for each other in a ring."""
    found = await rows(
        tx, query("cell_hold_touch"), {"mesh_id": mesh_id, "cell_ids": list(cell_ids)}
    )
    return frozenset(r[0] for r in found)


async def confirm(
    tx: Tx, mesh_id: MeshId, cell_id: CellId, holder_id: UUID, day: int, now: datetime
) -> bool:
    """A holder vouches for a cell; returns whether it counted (first time, not the author)."""
    values = {
        "mesh_id": mesh_id,
        "cell_id": cell_id,
        "holder_id": holder_id,
        "day": day,
        "now": now,
    }
    return await run(tx, query("cell_confirm"), values) > 0


async def close_cell(
    tx: Tx, mesh_id: MeshId, cell_id: CellId, state: CellState, now: datetime
) -> bool:
    """End an active cell's validity at ``now``; False where it no longer stood."""
    values = {"mesh_id": mesh_id, "cell_id": cell_id, "state": state.value, "now": now}
    return await row(tx, query("cell_close"), values) is not None


async def touch(
    tx: Tx,
    mesh_id: MeshId,
    holder_id: UUID,
    cell_ids: Sequence[CellId],
    *,
    day: int,
    session_id: SessionId | None,
    now: datetime,
) -> None:
    """Recalled cells: recalls + 1, and the reader's footprint with its day and session."""
    values = {
        "mesh_id": mesh_id,
        "holder_id": holder_id,
        "cell_ids": list(cell_ids),
        "day": day,
        "session_id": session_id,
        "now": now,
    }
    await run(tx, query("cell_touch"), values)


async def mark_used(
    tx: Tx, mesh_id: MeshId, holder_id: UUID, cell_ids: Sequence[CellId], *, day: int, now: datetime
) -> None:
    """Cells a holder cited or stored upon: in its footprint, and their fading starts anew."""
    values = {
        "mesh_id": mesh_id,
        "holder_id": holder_id,
        "cell_ids": list(cell_ids),
        "day": day,
        "now": now,
    }
    await run(tx, query("cell_used"), values)


async def cell_footprints(
    tx: Tx, mesh_id: MeshId, cell_id: CellId, limit: int = 1_000
) -> list[Footprint]:
    """Who touched a cell, at most ``limit`` holders. For looking at one cell: a mirror reads all
    footprints in blocks, see ``graph.load_footprints``."""
    values = {"mesh_id": mesh_id, "cell_id": cell_id, "limit": limit}
    return [Footprint(*r) for r in await rows(tx, query("cell_footprints"), values)]


async def answer(
    tx: Tx, mesh_id: MeshId, scope: str, key: str
) -> tuple[bytes, Mapping[str, Any]] | None:
    """(request hash, answer) kept under an idempotency key."""
    values = {"mesh_id": mesh_id, "scope": scope, "key": key}
    found = await row(tx, query("answer_get"), values)
    return None if found is None else (bytes(found[0]), found[1])


async def keep_answer(
    tx: Tx,
    mesh_id: MeshId,
    scope: str,
    key: str,
    request_hash: bytes,
    answer: Mapping[str, Any],
    now: datetime,
) -> bool:
    """Keep an answer under its key; False where the key was used before (nothing changes)."""
    values = {
        "mesh_id": mesh_id,
        "scope": scope,
        "key": key,
        "request_hash": request_hash,
        "answer": Jsonb(dict(answer)),
        "now": now,
    }
    return await run(tx, query("answer_put"), values) > 0


async def expire_answers(tx: Tx, mesh_id: MeshId, before: datetime, limit: int = 1_000) -> int:
    """Drop answers kept before a moment, at most ``limit``; returns how many went."""
    values = {"mesh_id": mesh_id, "before": before, "limit": limit}
    return await run(tx, query("answers_expire"), values)


async def hold_to_forget(tx: Tx, mesh_id: MeshId, cell_id: CellId) -> bool:
    """Keep everybody from a cell until ``tx`` ends: what is then read of it is all there will be.
    False where there is none."""
    await row(tx, query("forget_lock"), {"mesh_id": mesh_id})
    values = {"mesh_id": mesh_id, "cell_id": cell_id}
    return await row(tx, query("forget_hold"), values) is not None


async def forget(tx: Tx, mesh_id: MeshId, cell_id: CellId) -> bool:
    """Erase a cell and every trace of its text; False where there was none. Needs a transaction.

    Its diffs, deliveries, inbox rows, vectors, links, footprints and answers go with it, and its
    words leave the term counts. Ids of it may stay in other rows; ids are no text.
    """
    values = {"mesh_id": mesh_id, "cell_id": cell_id}
    if not await hold_to_forget(tx, mesh_id, cell_id):
        return False
    await run(tx, query("forget_terms"), values)
    await run(tx, query("forget_answers"), values)
    await run(tx, query("forget_panel"), values)
    await run(tx, query("forget_attachments"), values)
    await run(tx, query("forget_cell"), values)
    return True
