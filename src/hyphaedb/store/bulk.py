"""Many cells at once, for imports: one COPY and one statement a batch, about a fifth of the
work of storing them one by one. Every cell lands in the unindexed tail like any other."""

from __future__ import annotations

from collections.abc import Sequence

from hyphaedb.errors import Conflict
from hyphaedb.model import MeshId
from hyphaedb.store.cells import Inserted, cell_values
from hyphaedb.store.pool import Tx, rows, run
from hyphaedb.store.rows import CellRow, DiffRow
from hyphaedb.store.sql import query

#: Cells of one batch: enough to make the fixed cost small, little enough to hold in memory.
BATCH_MAX = 5_000

#: The staging table's columns and their types, in order.
_COLUMNS: tuple[tuple[str, str], ...] = (
    ("cell_id", "uuid"), ("layer", "int2"), ("type", "text"), ("body", "text"),
    ("agent_id", "uuid"), ("principal_id", "uuid"), ("holder_id", "uuid"), ("day", "int4"),
    ("session_id", "uuid"), ("session", "text"), ("tags", "text[]"), ("metadata", "jsonb"),
    ("ref", "text"), ("salience", "float4"), ("confidence", "float4"), ("standing", "text"),
    ("content_hash", "bytea"), ("windows", "int2"), ("replaces", "uuid"), ("sources", "uuid[]"),
    ("created_at", "timestamptz"), ("valid_from", "timestamptz"), ("expires_at", "timestamptz"),
    ("model_id", "uuid"), ("dimension", "int2"), ("e", "halfvec"), ("words", "text"),
    ("diff_id", "uuid"), ("diff_kind", "text"), ("about", "uuid"), ("generation", "int2"),
    ("cause", "text"), ("energy", "int4"), ("diff_expires_at", "timestamptz"),
)  # fmt: skip


async def insert_cells(
    tx: Tx, mesh_id: MeshId, cells: Sequence[tuple[CellRow, DiffRow | None]]
) -> list[Inserted]:
    """Write cells as ``insert_cell`` does, at most BATCH_MAX, and say of each what became of it.

    Needs a transaction: all are written or none. Raises Conflict where a text of the batch is
    erased by somebody else at the same moment.
    """
    if not cells:
        return []
    if len(cells) > BATCH_MAX:
        raise ValueError(f"at most {BATCH_MAX} cells a batch")
    await run(tx, query("bulk_stage"))
    await run(tx, query("bulk_clear"))
    async with tx.cursor() as cursor, cursor.copy(query("bulk_copy")) as copy:
        copy.set_types([kind for _, kind in _COLUMNS])
        for cell, diff in cells:
            values = cell_values(mesh_id, cell, diff)
            await copy.write_row([values[name] for name, _ in _COLUMNS])
    written = {r[0] for r in await rows(tx, query("bulk_insert"), {"mesh_id": mesh_id})}
    there = {
        (r[0], bytes(r[1])): Inserted(r[2], r[3], False)
        for r in await rows(tx, query("bulk_same"), {"mesh_id": mesh_id})
    }
    done = []
    for cell, _ in cells:
        if cell.cell_id in written:
            done.append(Inserted(cell.cell_id, cell.agent_id, True))
            continue
        same = there.get((cell.layer, cell.content_hash))
        if same is None:
            raise Conflict("A text is being imported and erased at once.", "Import it again.")
        done.append(same)
    return done
