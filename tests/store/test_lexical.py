"""Full text: rare words weigh more, common ones are dropped, odd ones do no harm."""

from __future__ import annotations

import pytest

from hyphaedb.model import Filter
from hyphaedb.store import cells, graph, lexical, search
from hyphaedb.store.access import MeshRow
from hyphaedb.store.graph import NewLinks
from hyphaedb.store.pool import Database, Tx
from hyphaedb.store.rows import CellRow
from tests.store.scenery import NOW, a_cell, an_agent


async def library(tx: Tx, mesh: MeshRow, bodies: list[str]) -> list[CellRow]:
    """Linked cells, so that their words are counted."""
    ada = await an_agent(tx, mesh, "ada")
    made = [a_cell(mesh, ada, body) for body in bodies]
    for cell in made:
        await cells.insert_cell(tx, mesh.info.mesh_id, cell, None)
    links = [NewLinks(n, c.cell_id, [], []) for n, c in enumerate(made)]
    await graph.insert_links(tx, mesh.info.mesh_id, 0, links)
    await graph.count_terms(tx, mesh.info.mesh_id, [c.cell_id for c in made])
    return made


async def asked(tx: Tx, mesh: MeshRow, text: str) -> list[lexical.Scored]:
    words = await lexical.query_words(tx, mesh.info.mesh_id, text)
    standing = search.standing(mesh.info.mesh_id, NOW)
    return await lexical.search_words(tx, mesh.info.mesh_id, 0, words, 10, standing)


async def test_a_rare_word_weighs_more_than_a_common_one(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        bodies = [f"database note number {n}" for n in range(9)] + ["the raft quorum moved"]
        made = await library(tx, mesh, bodies)
        found = await asked(tx, mesh, "quorum of the database")
        words = await lexical.query_words(tx, mesh.info.mesh_id, "quorum of the database")
    assert found[0].cell_id == made[9].cell_id
    assert words.words[0].lexeme == "quorum"


async def test_words_match_across_inflection_and_in_tags(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        cell = a_cell(mesh, ada, "Deployments were failing", tags=("PROJ-123",))
        await cells.insert_cell(tx, mesh.info.mesh_id, cell, None)
        found = [
            [s.cell_id for s in await asked(tx, mesh, q)]
            for q in ("deployment fails", "PROJ-123", "unrelated")
        ]
    assert found == [[cell.cell_id], [cell.cell_id], []]


async def test_a_word_in_most_cells_is_dropped_where_others_say_more(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        await library(tx, mesh, [f"cluster event {n}" for n in range(40)] + ["cluster quorum"])
        both = await lexical.query_words(tx, mesh.info.mesh_id, "cluster quorum")
        alone = await lexical.query_words(tx, mesh.info.mesh_id, "cluster")
    assert [w.lexeme for w in both.words] == ["quorum"]
    assert [w.lexeme for w in alone.words] == ["cluster"]


@pytest.mark.parametrize("text", ["", "the of and", "!!! ???", "' \\ ' | & !(", "a" * 5000])
async def test_a_query_without_words_finds_nothing_and_breaks_nothing(
    database: Database, mesh: MeshRow, text: str
) -> None:
    async with database.transaction() as tx:
        await library(tx, mesh, ["something else entirely"])
        assert await asked(tx, mesh, text) == []


async def test_quotes_and_backslashes_are_searched_as_they_are(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        made = await library(tx, mesh, [r"see C:\temp\o'brien\x.txt and http://a.b/c'd?e=\f"])
        found = await asked(tx, mesh, r"C:\temp\o'brien\x.txt http://a.b/c'd?e=\f")
    assert [s.cell_id for s in found] == [made[0].cell_id]


async def test_a_long_query_is_cut_to_its_rarest_words(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        made = await library(tx, mesh, [" ".join(f"word{n}" for n in range(40))])
        words = await lexical.query_words(
            tx, mesh.info.mesh_id, " ".join(f"word{n}" for n in range(40))
        )
        clauses = await search.resolve(tx, mesh.info.mesh_id, Filter(agents=("ada",)), now=NOW)
        found = await lexical.search_words(tx, mesh.info.mesh_id, 0, words, 10, clauses)
    assert len(words.words) == lexical.WORDS_MAX
    assert [s.cell_id for s in found] == [made[0].cell_id]
