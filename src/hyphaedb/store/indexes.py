"""The HNSW indexes: one per layer and dimension, never one per mesh.

They are partial, on a literal layer and dimension, over an expression that fixes the dimension of
a column that fits any. Meshes of one dimension share them; thousands of indexes would cost every
insert and every plan.
"""

from __future__ import annotations

import psycopg

from hyphaedb.store.faults import translate
from hyphaedb.store.pool import IDLE_S, Database, rows, run
from hyphaedb.store.sql import RENDERED, query

#: m and ef_construction by layer (the paper's section 3.4).
BUILD: tuple[tuple[int, int], ...] = ((24, 128), (16, 100), (8, 64))
#: halfvec indexes take up to 4,000 dimensions; fewer are allowed by the schema.
LOCK_KEY = 0x6879_7068_6165_6978


def index_name(layer: int, dimension: int) -> str:
    """The name of the index of a layer and dimension."""
    return f"cell_vector_l{layer}_d{dimension}"


async def ensure_vector_index(database: Database, dimension: int) -> list[str]:
    """Build the three indexes of a dimension where they are missing; returns those built.

    Takes minutes on a large table and blocks writes into it meanwhile (stores go to the tail and
    do not notice). An index that an interrupted build left unusable is built again.
    """
    _check(dimension)
    built = []
    connection = await database.connect()
    try:
        await connection.execute(b"SET statement_timeout = 0")
        # The lock below belongs to the session: one that is frozen between two builds must end too.
        await connection.execute(f"SET idle_session_timeout = '{IDLE_S}s'".encode())
        await run(connection, query("lock_session"), {"key": LOCK_KEY})
        usable = {r[0]: r[1] for r in await rows(connection, query("vector_indexes"))}
        for layer, (m, ef_construction) in enumerate(BUILD):
            name = index_name(layer, dimension)
            if usable.get(name):
                continue
            await connection.execute(f"DROP INDEX IF EXISTS hyphaedb.{name}".encode())
            await connection.execute(
                f"CREATE INDEX {name} ON hyphaedb.cell_vector"
                f" USING hnsw ((e::halfvec({dimension})) halfvec_cosine_ops)"
                f" WITH (m = {m}, ef_construction = {ef_construction})"
                f" WHERE layer = {layer} AND dimension = {dimension}".encode()
            )
            built.append(name)
    except psycopg.Error as error:
        raise translate(error) from error
    finally:
        await connection.close()
    return built


async def drop_vector_index(database: Database, dimension: int) -> None:
    """Take the indexes of a dimension away, before a bulk import; searches stay right, slowly."""
    _check(dimension)
    async with database.statement() as tx:
        for layer in range(len(BUILD)):
            await tx.execute(
                f"DROP INDEX IF EXISTS hyphaedb.{index_name(layer, dimension)}".encode()
            )


def _check(dimension: int) -> None:
    low, high = RENDERED["dimension"]
    if not isinstance(dimension, int) or not low <= dimension <= high:
        raise ValueError(f"dimension must be a whole number from {low} to {high}")


async def missing(database: Database, dimension: int) -> list[str]:
    """The indexes of a dimension that are not there, or that an interrupted build left unusable."""
    _check(dimension)
    async with database.statement() as tx:
        usable = {r[0]: r[1] for r in await rows(tx, query("vector_indexes"))}
    names = [index_name(layer, dimension) for layer in range(len(BUILD))]
    return [n for n in names if not usable.get(n)]
