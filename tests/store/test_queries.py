"""Every named query is planned against the real schema, so a slip in one dies here."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from hyphaedb.store.access import MeshRow
from hyphaedb.store.pool import Database, Tx, rows
from hyphaedb.store.sql import QUERY_FILES, catalogue, composed, parse, query
from tests.store.scenery import NOW, unit

#: Not plannable: they make a temporary table, copy into it, or read from it.
STAGED = {"bulk_stage", "bulk_copy", "bulk_insert", "bulk_same", "bulk_clear"}
NUMBERS = {"layer": 0, "dimension": 8, "limit": 10, "rows": 100, "ef": 100}
CLAUSES = tuple(name for name in catalogue() if name.startswith("where_"))
FILTERS = (
    "where_standing", "where_as_of", "where_types", "where_tags", "where_metadata",
    "where_agents", "where_session", "where_ref", "where_since", "where_until",
)  # fmt: skip
HOLES = {
    "diffs": ("where_waiting", "where_live"),
    "inbox": ("where_best", "where_next"),
}
#: Lists that another query reads on from.
LISTS = ("search_nearest", "search_filtered", "search_exact", "search_scan", "search_words")
WITHIN = tuple(name for name, text in catalogue().items() if "{found}" in text)
WHOLE = tuple(n for n in catalogue() if n not in STAGED and n not in CLAUSES and n not in WITHIN)


def parameters(sql: bytes) -> dict[str, None]:
    return dict.fromkeys(re.findall(r"%\((\w+)\)b", sql.decode()))


async def plan(tx: Tx, sql: bytes, values: dict[str, object] | None = None) -> str:
    found = await rows(tx, b"EXPLAIN (COSTS OFF) " + sql, values or parameters(sql))
    return "\n".join(r[0] for r in found)


def numbers(*names: str) -> dict[str, int]:
    text = "".join(catalogue()[name] for name in names)
    return {hole: n for hole, n in NUMBERS.items() if "{" + hole + "}" in text}


@pytest.mark.parametrize("name", WHOLE)
async def test_a_named_query_plans(database: Database, name: str) -> None:
    text = catalogue()[name]
    async with database.statement() as tx:
        if "{where}" not in text:
            await plan(tx, query(name, **numbers(name)))
            return
        for clause in HOLES.get(name, FILTERS):
            await plan(tx, composed(name, (clause,), **numbers(name)))


@pytest.mark.parametrize("found", LISTS)
@pytest.mark.parametrize("name", WITHIN)
async def test_a_query_plans_with_every_list_within_it(
    database: Database, name: str, found: str
) -> None:
    async with database.statement() as tx:
        for clause in FILTERS:
            await plan(tx, composed(name, (clause,), found, **numbers(name, found)))


async def test_filters_compose_in_any_pair(database: Database) -> None:
    async with database.statement() as tx:
        for pair in combinations(FILTERS, 2):
            await plan(tx, composed("search_matching", pair, layer=0, limit=10))


async def test_staged_queries_run_on_an_empty_batch(database: Database, mesh: MeshRow) -> None:
    values = {"mesh_id": mesh.info.mesh_id}
    async with database.transaction() as tx:
        await tx.execute(query("bulk_stage"))
        for name in ("bulk_insert", "bulk_same"):
            assert await rows(tx, query(name), values) == []


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("name", ["search_nearest", "search_filtered"])
@pytest.mark.parametrize("within", [None, *WITHIN])
async def test_the_vector_search_uses_the_index_of_its_layer(
    database: Database, mesh: MeshRow, name: str, within: str | None, layer: int, generic: bool
) -> None:
    """Also within another query, and under a generic plan, which is what a prepared statement
    becomes."""
    outer, found = (name, None) if within is None else (within, name)
    sql = composed(outer, ("where_standing",), found, layer=layer, dimension=8, limit=10, ef=100)
    given = {"mesh_id": mesh.info.mesh_id, "e": unit(1), "now": NOW}
    values = {**parameters(sql), **{k: v for k, v in given.items() if k in parameters(sql)}}
    async with database.transaction() as tx:
        # Few rows are scanned faster; what is asked is whether the index can be used at all.
        await tx.execute("SET LOCAL enable_seqscan = off")
        await tx.execute("SET LOCAL enable_bitmapscan = off")
        await tx.execute("SET LOCAL enable_sort = off")
        if generic:
            await tx.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        assert f"cell_vector_l{layer}_d8" in await plan(tx, sql, values)


async def test_the_slow_truth_cannot_use_the_index(database: Database, mesh: MeshRow) -> None:
    sql = composed("search_scan", ("where_standing",), layer=0, dimension=8, limit=10)
    values = {"mesh_id": mesh.info.mesh_id, "e": unit(1), "now": NOW}
    async with database.transaction() as tx:
        await tx.execute("SET LOCAL enable_seqscan = off")
        assert "cell_vector_l0_d8" not in await plan(tx, sql, values)


@pytest.mark.parametrize("bad", [3, -1, "0", 0.0])
def test_only_whole_numbers_in_range_are_written_into_a_query(bad: object) -> None:
    with pytest.raises(ValueError, match="layer must be a whole number"):
        query("search_nearest", layer=bad)


def test_a_query_has_one_name_and_a_sentence() -> None:
    from importlib.resources import files

    for file in QUERY_FILES:
        text = (files("hyphaedb.store.sql") / file).read_text("utf-8")
        for block in re.split(r"^-- name: ", text, flags=re.MULTILINE)[1:]:
            name, _, rest = block.partition("\n")
            assert rest.startswith("-- "), f"{file}: {name} says nothing"


def test_a_name_written_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="written twice"):
        parse("-- name: a\n-- One.\nSELECT 1;\n-- name: a\n-- Two.\nSELECT 2;\n")


def test_queries_stay_short_enough_to_be_remembered_by_the_driver() -> None:
    """psycopg converts a query's parameters once only if the text is below 4 KB."""
    for name in WHOLE:
        assert len(catalogue()[name]) < 4000, name
