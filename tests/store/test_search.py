"""Recall's lists: index and tail together equal the exact scan; filters, the drain."""

from __future__ import annotations

import numpy as np
import pytest

from hyphaedb.model import CellId, CellState, CellType, Filter
from hyphaedb.store import bulk, cells, graph, search
from hyphaedb.store.access import MeshRow
from hyphaedb.store.graph import NewLinks
from hyphaedb.store.pool import Database, Tx, rows
from hyphaedb.store.rows import AgentRow, CellRow
from tests.store.scenery import NOW, a_cell, an_agent, later, unit


async def populated(tx: Tx, mesh: MeshRow, count: int, *, linked: int) -> list[CellRow]:
    """Cells with vectors of their own, the first of them linked, so that they can be drained."""
    ada = await an_agent(tx, mesh, "ada")
    made = [a_cell(mesh, ada, f"cell {n}", seed=n) for n in range(count)]
    await bulk.insert_cells(tx, mesh.info.mesh_id, [(cell, None) for cell in made])
    links = [NewLinks(n, c.cell_id, [], []) for n, c in enumerate(made[:linked])]
    await graph.insert_links(tx, mesh.info.mesh_id, 0, links)
    return made


async def test_index_and_tail_together_find_what_the_exact_scan_finds(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        await populated(tx, mesh, 600, linked=500)
        assert await search.drain(tx, mesh_id, 1_000) == 500
        standing = search.standing(mesh_id, NOW)
        found = wanted = 0
        for seed in range(1_000, 1_020):
            near = await search.near(tx, search.nearest(mesh_id, 0, unit(seed), 10, standing))
            truth = await search.near(tx, search.scan(mesh_id, 0, unit(seed), 10, standing))
            wanted += len(truth)
            found += len({n.cell_id for n in near} & {n.cell_id for n in truth})
            assert [n.cosine for n in near] == sorted((n.cosine for n in near), reverse=True)
    assert found / wanted >= 0.97


async def test_a_cell_is_found_by_its_author_right_after_the_store(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        await populated(tx, mesh, 50, linked=50)
        await search.drain(tx, mesh_id, 100)
        bob = await an_agent(tx, mesh, "bob")
    mine = a_cell(mesh, bob, "Just stored.", seed=77)
    async with database.statement() as tx:
        await cells.insert_cell(tx, mesh_id, mine, None)
        [first, *_] = await search.near(
            tx, search.nearest(mesh_id, 0, mine.vector, 5, search.standing(mesh_id, NOW))
        )
    assert first.cell_id == mine.cell_id
    assert first.cosine == pytest.approx(1.0, abs=1e-3)


async def test_the_drain_takes_linked_cells_only_and_loses_none(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        made = await populated(tx, mesh, 20, linked=15)
        moved = [await search.drain(tx, mesh_id, 10) for _ in range(3)]
        tail = await search.tail_count(tx, mesh_id)
        capped = await search.tail_count(tx, mesh_id, 3)
        vectors = await cells.vectors(tx, mesh_id, [c.cell_id for c in made])
        waiting = await rows(
            tx, b"SELECT cell_id FROM hyphaedb.fresh_vector WHERE mesh_id = %(m)b", {"m": mesh_id}
        )
    assert moved == [10, 5, 0]
    assert (tail, capped, len(vectors)) == (5, 3, 20)
    assert {w[0] for w in waiting} == {c.cell_id for c in made[15:]}


async def test_a_long_list_widens_the_index_search(database: Database, mesh: MeshRow) -> None:
    """One pass of the index finds as many rows as it looks at, so a list of 150 needs more than
    the hundred that is the session's rule."""
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        await populated(tx, mesh, 400, linked=400)
        await search.drain(tx, mesh_id, 1_000)
    async with database.statement() as tx:
        # Without iteration a search that was not widened stops short.
        await tx.execute("SET hnsw.iterative_scan = off")
        await tx.execute("SET enable_seqscan = off")
        await tx.execute("SET enable_sort = off")
        near = await search.near(
            tx, search.nearest(mesh_id, 0, unit(1), 150, search.standing(mesh_id, NOW))
        )
        [(ef,)] = await rows(tx, b"SELECT current_setting('hnsw.ef_search')")
        await tx.execute("SET hnsw.iterative_scan = relaxed_order")
        await tx.execute("RESET enable_seqscan")
        await tx.execute("RESET enable_sort")
    assert len(near) == 150
    assert ef == "100"


async def test_the_tail_holds_only_what_stands(database: Database, mesh: MeshRow) -> None:
    """So that the plain search need not look at the cells behind it."""
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        made = await populated(tx, mesh, 3, linked=0)
        closed = made[1].cell_id
        await cells.close_cell(tx, mesh_id, closed, CellState.SUPERSEDED, NOW)
        tail = await search.tail_count(tx, mesh_id)
        vectors = await cells.vectors(tx, mesh_id, [closed])
    assert (tail, set(vectors)) == (2, {closed})


async def test_another_meshs_cells_are_never_found(database: Database, mesh: MeshRow) -> None:
    """Meshes share the index: it is walked on until enough of one's own are found."""
    from datetime import UTC, datetime
    from uuid import uuid4

    from hyphaedb.model import MeshId
    from hyphaedb.store import access

    async with database.transaction() as tx:
        await populated(tx, mesh, 300, linked=300)
        await search.drain(tx, mesh.info.mesh_id, 1_000)
        other = await access.create_mesh(
            tx, MeshId(uuid4()), f"other-{uuid4().hex[:8]}", "test", 8, {}, datetime.now(UTC)
        )
        ada = await an_agent(tx, other, "ada")
        mine = [a_cell(other, ada, f"mine {n}", seed=5_000 + n) for n in range(5)]
        await bulk.insert_cells(tx, other.info.mesh_id, [(cell, None) for cell in mine])
        links = [NewLinks(n, c.cell_id, [], []) for n, c in enumerate(mine)]
        await graph.insert_links(tx, other.info.mesh_id, 0, links)
        await search.drain(tx, other.info.mesh_id, 100)
        standing = search.standing(other.info.mesh_id, NOW)
        near = await search.near(tx, search.nearest(other.info.mesh_id, 0, unit(1), 10, standing))
    assert {n.cell_id for n in near} == {c.cell_id for c in mine}


async def test_closed_and_expired_cells_are_found_only_by_who_asks_for_them(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        standing, closed, expiring = (
            a_cell(mesh, ada, "stands", seed=1),
            a_cell(mesh, ada, "closed", seed=2),
            a_cell(mesh, ada, "expires", seed=3, expires_at=later(days=1)),
        )
        for cell in (standing, closed, expiring):
            await cells.insert_cell(tx, mesh_id, cell, None)
        await cells.close_cell(tx, mesh_id, closed.cell_id, CellState.SUPERSEDED, later(hours=2))

        async def found(wanted: Filter, **when: object) -> set[CellId]:
            clauses = await search.resolve(tx, mesh_id, wanted, **when)  # type: ignore[arg-type]
            near = await search.near(tx, search.nearest(mesh_id, 0, unit(9), 10, clauses))
            assert {n.cell_id for n in near} == set(await search.matching(tx, mesh_id, 0, clauses))
            return {n.cell_id for n in near}

        now = await found(Filter(), now=later(days=2))
        everything = await found(Filter(include_inactive=True), now=later(days=2))
        then = await found(Filter(), now=later(days=2), as_of=later(hours=1))
    assert now == {standing.cell_id}
    assert everything == {standing.cell_id, closed.cell_id, expiring.cell_id}
    assert then == {standing.cell_id, closed.cell_id, expiring.cell_id}


async def filterable(tx: Tx, mesh: MeshRow, ada: AgentRow, bob: AgentRow) -> dict[str, CellRow]:
    made = {
        "risk": a_cell(mesh, ada, "a", seed=1, kind=CellType.RISK, tags=("api", "PROJ-123")),
        "fact": a_cell(mesh, bob, "b", seed=2, tags=("api",), metadata={"pr": {"id": 7}}),
        "old": a_cell(mesh, bob, "c", seed=3, session="monday", ref="branch", at=later(days=-9)),
    }
    for cell in made.values():
        await cells.insert_cell(tx, mesh.info.mesh_id, cell, None)
    return made


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (Filter(types=(CellType.RISK,)), {"risk"}),
        (Filter(types=(CellType.RISK, CellType.FACT)), {"risk", "fact", "old"}),
        (Filter(tags=("api",)), {"risk", "fact"}),
        (Filter(tags=("api", "PROJ-123")), {"risk"}),
        (Filter(metadata={"pr": {"id": 7}}), {"fact"}),
        (Filter(agents=("bob",)), {"fact", "old"}),
        (Filter(agents=("nobody",)), set()),
        (Filter(session="monday"), {"old"}),
        (Filter(session="tuesday"), set()),
        (Filter(ref="branch"), {"old"}),
        (Filter(since=NOW), {"risk", "fact"}),
        (Filter(until=NOW), {"old"}),
        (Filter(agents=("bob",), tags=("api",), since=NOW), {"fact"}),
    ],
)
async def test_a_filter_restricts_every_list_alike(
    database: Database, mesh: MeshRow, wanted: Filter, names: set[str]
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
        made = await filterable(tx, mesh, ada, bob)
        clauses = await search.resolve(tx, mesh_id, wanted, now=NOW)
        near = await search.near(tx, search.nearest(mesh_id, 0, unit(9), 10, clauses))
        scan = await search.near(tx, search.scan(mesh_id, 0, unit(9), 10, clauses))
        match = await search.matching(tx, mesh_id, 0, clauses)
    expected = {made[name].cell_id for name in names}
    assert {n.cell_id for n in near} == expected
    assert {n.cell_id for n in scan} == expected
    assert set(match) == expected
    assert clauses.narrow


async def test_given_cells_are_measured_exactly(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        made = await populated(tx, mesh, 30, linked=15)
        await search.drain(tx, mesh_id, 100)
        chosen = made[10:20]
        standing = search.standing(mesh_id, NOW)
        ids = [c.cell_id for c in chosen]
        near = await search.near(tx, search.exact(mesh_id, 0, ids, unit(3), 4, standing))
    cosines = np.array([float(c.vector @ unit(3)) for c in chosen])
    best = [chosen[i].cell_id for i in np.argsort(-cosines)[:4]]
    assert [n.cell_id for n in near] == best
    assert [n.cosine for n in near] == pytest.approx(sorted(cosines, reverse=True)[:4], abs=2e-3)
