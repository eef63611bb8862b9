"""The yardstick of stores and recalls: one plain Postgres table with an HNSW index.

The same text and vector, the index that the mesh's own layer 0 has, and nothing else: no links, no
diffs, no words, no footprints.
"""

from __future__ import annotations

from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hyphaedb.store.pool import Database, Tx, rows, run

_MAKE = (
    b"""CREATE TABLE bare (id uuid PRIMARY KEY, body text NOT NULL, type text NOT NULL,
        created_at timestamptz NOT NULL, e halfvec(384) NOT NULL)""",
    b"ALTER TABLE bare ALTER COLUMN e SET STORAGE PLAIN",
    b"""INSERT INTO bare SELECT c.cell_id, c.body, c.type, c.created_at, v.e::halfvec(384)
        FROM hyphaedb.cell c JOIN hyphaedb.cell_vector v USING (mesh_id, cell_id)""",
    b"CREATE INDEX ON bare USING hnsw (e halfvec_cosine_ops) WITH (m = 24, ef_construction = 128)",
)
_INSERT = b"""INSERT INTO bare (id, body, type, created_at, e)
VALUES (%(id)s, %(body)s, 'fact', '2026-01-01', %(e)s::halfvec)"""
_NEAREST = b"""SELECT id, body, e <=> %(e)s::halfvec FROM bare
ORDER BY e <=> %(e)s::halfvec LIMIT 10"""

Vector = NDArray[np.float32]


async def make(database: Database) -> None:
    """The table with every cell of the mesh, indexed in bulk. Takes minutes for 100,000."""
    connection = await database.connect()
    try:
        await connection.execute(b"SET statement_timeout = 0")
        for statement in _MAKE:
            await connection.execute(statement)
    finally:
        await connection.close()


async def insert(database: Database, row_id: UUID, body: str, vector: Vector) -> None:
    """One row, durable and in the index on return."""
    async with database.statement() as tx:
        await run(tx, _INSERT, {"id": row_id, "body": body, "e": vector})


async def widen(tx: Tx) -> None:
    """Search as widely as the mesh does, on this connection."""
    await tx.execute(b"SET hnsw.ef_search = 100")


async def nearest(tx: Tx, vector: Vector) -> list[UUID]:
    """The ten nearest rows with their texts."""
    return [r[0] for r in await rows(tx, _NEAREST, {"e": vector})]
