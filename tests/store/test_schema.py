"""The schema keeps the rules that let it spread over machines by mesh."""

from __future__ import annotations

from hyphaedb.store.pool import Database, rows

#: Shaped as reference tables, or the migrator's own.
WITHOUT_MESH = {"migration", "model"}


async def asked(database: Database, sql: str) -> list[tuple[str, ...]]:
    async with database.statement() as tx:
        return await rows(tx, sql.encode())


async def test_mesh_id_is_the_first_column_of_every_table_index_and_foreign_key(
    database: Database,
) -> None:
    tables = await asked(
        database,
        """SELECT c.relname, a.attname FROM pg_class c
           JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
           WHERE c.relnamespace = 'hyphaedb'::regnamespace AND c.relkind = 'r'""",
    )
    keys = await asked(
        database,
        """SELECT t.relname, c.relname, a.attname FROM pg_index i
           JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
           JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree'
           LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
           WHERE c.relnamespace = 'hyphaedb'::regnamespace""",
    )
    foreign = await asked(
        database,
        """SELECT t.relname, k.conname, a.attname FROM pg_constraint k
           JOIN pg_class t ON t.oid = k.conrelid
           JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.conkey[1]
           WHERE k.connamespace = 'hyphaedb'::regnamespace AND k.contype = 'f'""",
    )
    assert {t[0] for t in tables if t[1] != "mesh_id"} == WITHOUT_MESH
    assert [
        k for k in (*keys, *foreign) if k[2] != "mesh_id" and k[0] not in {*WITHOUT_MESH, "mesh"}
    ] == []


async def test_no_trigger_sequence_or_volatile_default_is_there(database: Database) -> None:
    triggers = await asked(
        database,
        """SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
           WHERE c.relnamespace = 'hyphaedb'::regnamespace AND NOT t.tgisinternal""",
    )
    sequences = await asked(
        database,
        """SELECT relname FROM pg_class
           WHERE relnamespace = 'hyphaedb'::regnamespace AND relkind = 'S'""",
    )
    defaults = await asked(
        database,
        """SELECT c.relname FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid
           WHERE c.relnamespace = 'hyphaedb'::regnamespace""",
    )
    assert (triggers, sequences, defaults) == ([], [], [])


async def test_no_query_reads_the_servers_clock() -> None:
    from hyphaedb.store.sql import catalogue

    for name, text in catalogue().items():
        lowered = text.lower()
        for clock in ("now()", "current_timestamp", "clock_timestamp", "random()", "gen_random"):
            assert clock not in lowered, name


async def test_only_cell_vector_has_vector_indexes(database: Database) -> None:
    found = await asked(
        database,
        """SELECT DISTINCT t.relname FROM pg_index i
           JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
           JOIN pg_am m ON m.oid = c.relam AND m.amname = 'hnsw'""",
    )
    assert found == [("cell_vector",)]


async def test_the_view_shows_links_and_edges_as_the_papers_edge_table(database: Database) -> None:
    found = await asked(
        database,
        """SELECT attname FROM pg_attribute
           WHERE attrelid = 'hyphaedb.topology_edge'::regclass AND attnum > 0 ORDER BY attnum""",
    )
    assert [r[0] for r in found] == [
        "mesh_id", "layer", "src", "dst", "kind", "omega", "bandwidth", "cost"
    ]  # fmt: skip
