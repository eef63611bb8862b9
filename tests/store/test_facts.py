"""What recall reads on from a list: neighbours in session and links, facts, whole cells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hyphaedb.model import CellState, CellType, Filter
from hyphaedb.store import bulk, cells, facts, graph, lexical, search
from hyphaedb.store.access import MeshRow
from hyphaedb.store.facts import Fact, Reach, Way
from hyphaedb.store.graph import NewLinks
from hyphaedb.store.pool import Database, Tx
from hyphaedb.store.rows import CellRow
from tests.store.scenery import NOW, a_cell, an_agent, later, unit

ALONE = Reach(session_seeds=0, session_width=1, link_seeds=0, link_width=1)


async def around(tx: Tx, mesh: MeshRow, cell: CellRow, reach: Reach, k: int = 1) -> list[Fact]:
    """The list of what is nearest to a cell's own vector, and what lies beside its first ones."""
    mesh_id = mesh.info.mesh_id
    listing = search.scan(mesh_id, 0, cell.vector, k, search.standing(mesh_id, NOW))
    return await facts.candidates(tx, listing, 0, cell.vector, reach, later(days=3))


async def test_neighbours_in_a_session_come_with_their_steps(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    reach = ALONE._replace(session_seeds=1, session_width=2)
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        talk = [a_cell(mesh, ada, f"turn {n}", session="talk", seed=n) for n in range(6)]
        alone = replace(a_cell(mesh, ada, "alone", seed=99), session_id=None)
        for cell in (*talk, alone):
            await cells.insert_cell(tx, mesh_id, cell, None)
        await cells.close_cell(tx, mesh_id, talk[3].cell_id, CellState.RETRACTED, NOW)
        third = await around(tx, mesh, talk[2], reach)
        none = await around(tx, mesh, alone, reach)
    places = {c.cell_id: n for n, c in enumerate(talk)}
    assert [(places[f.cell_id], f.way) for f in third[:1]] == [(2, Way.LIST)]
    assert {(places[f.cell_id], f.distance) for f in third[1:]} == {
        (1, -1),
        (0, -2),
        (4, 1),
        (5, 2),
    }
    assert {(f.way, f.place) for f in third[1:]} == {(Way.SESSION, 1)}
    assert [f.cell_id for f in none] == [alone.cell_id]


async def test_neighbours_over_links_are_the_cheapest_own_ones(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        made = [a_cell(mesh, ada, f"cell {n}", seed=n) for n in range(4)]
        await bulk.insert_cells(tx, mesh_id, [(cell, None) for cell in made])
        links = [NewLinks(n, c.cell_id, [], []) for n, c in enumerate(made[:3])]
        last = NewLinks(3, made[3].cell_id, [0, 1, 2], [3_000_000, 1_000_000, 2_000_000])
        await graph.insert_links(tx, mesh_id, 0, [*links, last])
        found = await around(tx, mesh, made[3], ALONE._replace(link_seeds=1, link_width=2))
    beside = [(f.cell_id, f.distance) for f in found if f.way is Way.LINK]
    assert sorted(beside, key=lambda b: b[1]) == [
        (made[1].cell_id, 1_000_000),
        (made[2].cell_id, 2_000_000),
    ]


async def test_only_the_first_places_of_a_list_bring_neighbours(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        talk = [a_cell(mesh, ada, f"turn {n}", session=f"talk {n % 4}", seed=n) for n in range(8)]
        for cell in talk:
            await cells.insert_cell(tx, mesh.info.mesh_id, cell, None)
        reach = ALONE._replace(session_seeds=2, session_width=1)
        found = await around(tx, mesh, talk[0], reach, k=4)
    assert [f.place for f in found if f.way is Way.LIST] == [1, 2, 3, 4]
    assert {f.place for f in found if f.way is Way.SESSION} <= {1, 2}


async def test_a_fact_tells_author_cosine_salience_and_days_without_use(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        cell = replace(a_cell(mesh, ada, "said once", seed=4), salience=0.25)
        await cells.insert_cell(tx, mesh_id, cell, None)
        [fact] = await around(tx, mesh, cell, ALONE)
    assert (fact.cell_id, fact.author, fact.stands) == (cell.cell_id, ada.agent.agent_id, True)
    assert fact.cosine == pytest.approx(1.0, abs=1e-3)
    assert fact.salience == pytest.approx(0.25)
    assert fact.idle_days == pytest.approx(3.0)


async def test_neighbours_pass_the_same_filter_as_the_list(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        kinds = (CellType.RISK, CellType.FACT, CellType.RISK)
        talk = [
            a_cell(mesh, ada, f"turn {n}", session="talk", seed=n, kind=kind)
            for n, kind in enumerate(kinds)
        ]
        for cell in talk:
            await cells.insert_cell(tx, mesh_id, cell, None)
        clauses = await search.resolve(tx, mesh_id, Filter(types=(CellType.RISK,)), now=NOW)
        listing = search.scan(mesh_id, 0, unit(0), 1, clauses)
        reach = ALONE._replace(session_seeds=1, session_width=2)
        found = await facts.candidates(tx, listing, 0, unit(0), reach, NOW)
    assert {f.cell_id for f in found} == {talk[0].cell_id, talk[2].cell_id}


async def test_cells_of_a_list_come_whole_and_in_its_order(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        for n in range(5):
            cell = a_cell(mesh, ada, f"cell {n}", seed=n, tags=("x",), session="talk")
            await cells.insert_cell(tx, mesh_id, cell, None)
        standing = search.standing(mesh_id, NOW)
        for listing in (
            search.scan(mesh_id, 0, unit(2), 3, standing),
            search.nearest(mesh_id, 0, unit(2), 3, standing),
        ):
            found = await facts.found_cells(tx, listing)
            near = await search.near(tx, listing)
            known = await cells.cells(tx, mesh_id, [n.cell_id for n in near])
            assert [c for c, _ in found] == known
            assert [x for _, x in found] == [n.cosine for n in near]
            assert found[0][0].body == "cell 2"


async def test_a_list_of_words_brings_its_coverage_and_an_exact_cosine(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        cell = a_cell(mesh, ada, "the quorum moved", seed=5)
        await cells.insert_cell(tx, mesh_id, cell, None)
        listing = lexical.search_words(
            mesh_id, 0, search.standing(mesh_id, NOW), 5, lexemes=["quorum"], weights=[1.0],
            any_of=["quorum"], all_of=(), length=2.0, length_share=0.0,
        )  # fmt: skip
        [fact] = await facts.candidates(tx, listing, 0, unit(5), ALONE, NOW)
        [(_, coverage)] = await lexical.covered(tx, listing)
    assert fact.worth == pytest.approx(coverage) == pytest.approx(0.6079271)
    assert fact.cosine == pytest.approx(1.0, abs=1e-3)


async def test_a_filter_nothing_can_pass_asks_nobody(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.statement() as tx:
        clauses = await search.resolve(tx, mesh_id, Filter(agents=("nobody",)), now=NOW)
        listing = search.nearest(mesh_id, 0, unit(1), 5, clauses)
        assert listing is None
        assert await facts.candidates(tx, listing, 0, unit(1), ALONE, NOW) == []
        assert await facts.found_cells(tx, listing) == []
        assert await search.near(tx, listing) == []
