"""Full text: counts of linked cells, coverage by weight, odd words that do no harm."""

from __future__ import annotations

import pytest

from hyphaedb.model import CellId, Filter
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


async def counts(tx: Tx, mesh: MeshRow, text: str) -> dict[str, int]:
    found = await lexical.count_words(tx, mesh.info.mesh_id, text)
    return {w.lexeme: w.documents for w in found.words}


async def covering(
    tx: Tx, mesh: MeshRow, text: str, *, all_of: bool = False, share: float = 0.0, k: int = 10
) -> list[tuple[CellId, float]]:
    """Every lexeme of a text with the same weight; read by any of them, or by all together."""
    words = await lexical.count_words(tx, mesh.info.mesh_id, text)
    lexemes = [w.lexeme for w in words.words]
    listing = lexical.search_words(
        mesh.info.mesh_id,
        0,
        search.standing(mesh.info.mesh_id, NOW),
        k,
        lexemes=lexemes,
        weights=[1.0] * len(lexemes),
        any_of=() if all_of else lexemes,
        all_of=lexemes if all_of else (),
        length=words.length,
        length_share=share,
    )
    return await lexical.covered(tx, listing)


def ids(found: list[tuple[CellId, float]]) -> list[CellId]:
    return [f[0] for f in found]


async def test_lexemes_are_counted_over_linked_cells_only(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        await library(tx, mesh, ["the quorum moved", "a quorum, again the quorum"])
        ada = await an_agent(tx, mesh, "ada")
        fresh = a_cell(mesh, ada, "quorum, not linked yet")
        await cells.insert_cell(tx, mesh.info.mesh_id, fresh, None)
        counted = await counts(tx, mesh, "The quorum of novelties moved")
        words = await lexical.count_words(tx, mesh.info.mesh_id, "quorum")
    assert counted == {"quorum": 2, "novelti": 0, "move": 1}
    assert (words.documents, words.length) == (2, 1.5)


async def test_a_cell_that_says_more_of_the_words_covers_more(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        bodies = ["raft log", "raft quorum log", "nothing here", "raft raft raft"]
        made = await library(tx, mesh, bodies)
        found = await covering(tx, mesh, "raft quorum log")
        both = await covering(tx, mesh, "raft log", all_of=True)
    assert ids(found) == [made[1].cell_id, made[0].cell_id, made[3].cell_id]
    assert found[0][1] == pytest.approx(3 * 0.6079271)
    assert found[2][1] == pytest.approx(0.83, abs=0.05)
    assert set(ids(both)) == {made[0].cell_id, made[1].cell_id}


async def test_length_counts_against_a_cell_by_its_share(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        long = "raft " + " ".join(f"filler{n}" for n in range(29))
        made = await library(tx, mesh, [long, "raft snapshot"])
        even = await covering(tx, mesh, "raft")
        damped = await covering(tx, mesh, "raft", share=0.25)
    assert even[0][1] == pytest.approx(even[1][1])
    assert ids(damped) == [made[1].cell_id, made[0].cell_id]


async def test_words_match_across_inflection_in_tags_and_within_paths(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        cell = a_cell(mesh, ada, "Deployments were failing, see docs/PROJ-77/notes", tags=("ops",))
        await cells.insert_cell(tx, mesh.info.mesh_id, cell, None)
        found = [
            ids(await covering(tx, mesh, text, all_of=True))
            for text in ("deployment fails", "PROJ-77", "ops", "unrelated")
        ]
    assert found == [[cell.cell_id]] * 3 + [[]]


@pytest.mark.parametrize("text", ["", "the of and", "!!! ???", "' \\ ' | & !(", "a" * 5000])
async def test_a_text_without_words_finds_nothing_and_breaks_nothing(
    database: Database, mesh: MeshRow, text: str
) -> None:
    async with database.transaction() as tx:
        await library(tx, mesh, ["something else entirely"])
        assert await covering(tx, mesh, text) == []


async def test_quotes_and_backslashes_are_searched_as_they_are(
    database: Database, mesh: MeshRow
) -> None:
    odd = r"see C:\temp\o'brien\x.txt and http://a.b/c'd?e=\f"
    async with database.transaction() as tx:
        made = await library(tx, mesh, [odd])
        found = await covering(tx, mesh, odd, all_of=True)
    assert ids(found) == [made[0].cell_id]


async def test_filters_restrict_and_the_limit_cuts(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        await library(tx, mesh, [f"raft {n}" for n in range(5)])
        mesh_id = mesh.info.mesh_id
        nobody = await search.resolve(tx, mesh_id, Filter(agents=("nobody",)), now=NOW)
        none = lexical.search_words(
            mesh_id, 0, nobody, 5, lexemes=["raft"], weights=[1.0], any_of=["raft"],
            all_of=(), length=1.0, length_share=0.0,
        )  # fmt: skip
        two = await covering(tx, mesh, "raft", k=2)
    assert none is None
    assert len(two) == 2
