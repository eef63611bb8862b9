"""The graph in bulk: what was written comes back as arrays, in order, across block borders."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

import numpy as np
import pytest

from hyphaedb.model import CellId, CellState, EdgeKind
from hyphaedb.store import bulk, cells, graph, search
from hyphaedb.store.access import MeshRow
from hyphaedb.store.graph import Edge, NewLinks, Panel
from hyphaedb.store.pool import Database, Tx, rows
from hyphaedb.store.rows import CellRow
from tests.store.scenery import NOW, a_cell, an_agent, later


async def linked(tx: Tx, mesh: MeshRow, count: int) -> tuple[list[CellRow], list[NewLinks]]:
    """Linked cells with between none and three links each."""
    ada = await an_agent(tx, mesh, "ada")
    made = [a_cell(mesh, ada, f"cell {n}", seed=n) for n in range(count)]
    for start in range(0, count, bulk.BATCH_MAX):
        batch = made[start : start + bulk.BATCH_MAX]
        await bulk.insert_cells(tx, mesh.info.mesh_id, [(cell, None) for cell in batch])
    links = [
        NewLinks(n, cell.cell_id, list(range(n % 4)), [1_000_000 + k for k in range(n % 4)])
        for n, cell in enumerate(made)
    ]
    await graph.insert_links(tx, mesh.info.mesh_id, 0, links)
    return made, links


def ids(found: graph.Ids) -> list[UUID]:
    return [UUID(bytes=bytes(row)) for row in found]


async def test_vectors_come_in_ordinal_order_whether_indexed_or_fresh(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        made, _ = await linked(tx, mesh, 60)
        await search.drain(tx, mesh.info.mesh_id, 25)
        found = await graph.load_vectors(tx, mesh.info.mesh_id, 0, 8)
    assert found.ordinals.tolist() == list(range(60))
    assert ids(found.cell_ids) == [c.cell_id for c in made]
    assert np.abs(found.vectors - np.array([c.vector for c in made])).max() < 1e-3
    assert found.vectors.dtype == np.float32


async def test_links_come_as_they_were_written_empty_ones_too(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        _, links = await linked(tx, mesh, 30)
        found = await graph.load_links(tx, mesh.info.mesh_id, 0)
    for n, link in enumerate(links):
        own = slice(found.offsets[n], found.offsets[n + 1])
        assert found.targets[own].tolist() == list(link.targets)
        assert found.costs[own].tolist() == list(link.costs)


@pytest.mark.slow
async def test_loading_crosses_block_borders(database: Database, mesh: MeshRow) -> None:
    count = 2 * graph.BLOCK + 3
    async with database.transaction() as tx:
        await linked(tx, mesh, count)
        vectors = await graph.load_vectors(tx, mesh.info.mesh_id, 0, 8)
        links = await graph.load_links(tx, mesh.info.mesh_id, 0)
        standing = await graph.load_standing(tx, mesh.info.mesh_id, 0)
        footprints = await graph.load_footprints(tx, mesh.info.mesh_id)
    for ordinals in (vectors.ordinals, links.ordinals, standing.ordinals):
        assert ordinals.tolist() == list(range(count))
    assert len({bytes(row) for row in footprints.cell_ids}) == count


async def test_an_empty_mesh_loads_as_empty_arrays(database: Database, mesh: MeshRow) -> None:
    async with database.read() as tx:
        vectors = await graph.load_vectors(tx, mesh.info.mesh_id, 0, 8)
        links = await graph.load_links(tx, mesh.info.mesh_id, 0)
        footprints = await graph.load_footprints(tx, mesh.info.mesh_id)
        standing = await graph.load_standing(tx, mesh.info.mesh_id, 0)
    assert vectors.vectors.shape == (0, 8)
    assert (links.offsets.tolist(), links.targets.tolist()) == ([0], [])
    assert (footprints.holder_ids.shape, standing.active.shape) == ((0, 16), (0,))


async def test_a_cells_standing_says_salience_use_and_state(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        made, _ = await linked(tx, mesh, 3)
        bob = await an_agent(tx, mesh, "bob")
        await cells.close_cell(tx, mesh_id, made[1].cell_id, CellState.RETRACTED, NOW)
        await cells.mark_used(
            tx, mesh_id, bob.holder_id, [made[2].cell_id], day=1, now=later(days=1)
        )
        found = await graph.load_standing(tx, mesh_id, 0)
    assert found.active.tolist() == [True, False, True]
    assert found.saliences.tolist() == pytest.approx([0.6] * 3)
    assert found.used_at_s.tolist() == [NOW.timestamp()] * 2 + [later(days=1).timestamp()]


async def test_footprints_say_who_did_what_with_which_cell(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        made, _ = await linked(tx, mesh, 2)
        bob = await an_agent(tx, mesh, "bob")
        cell_id = made[0].cell_id
        await cells.touch(tx, mesh_id, bob.holder_id, [cell_id], day=4, session_id=None, now=NOW)
        await cells.confirm(tx, mesh_id, cell_id, bob.holder_id, 5, NOW)
        found = await graph.load_footprints(tx, mesh_id)
    by_pair = {
        (holder, cell): (int(day), int(flags))
        for holder, cell, day, flags in zip(
            ids(found.holder_ids), ids(found.cell_ids), found.days, found.flags, strict=True
        )
    }
    assert by_pair[bob.holder_id, cell_id] == (5, graph.RECALLED + graph.CONFIRMED)
    assert by_pair[made[1].holder_id, made[1].cell_id] == (1, graph.CREATED)


async def test_linking_leaves_out_what_is_linked_or_gone(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        made, _ = await linked(tx, mesh, 2)
        again = [
            NewLinks(7, made[0].cell_id, [1], [1_000_000]),
            NewLinks(8, CellId(uuid4()), [1], [1_000_000]),
        ]
        assert await graph.insert_links(tx, mesh_id, 0, again) == 0


async def test_edges_and_links_show_as_one_edge_table(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        made, _ = await linked(tx, mesh, 2)
        edge = Edge(uuid4(), 0, made[0].cell_id, made[1].cell_id, EdgeKind.CAUSAL, 0.5,
                    2_000_000, None, False, NOW)  # fmt: skip
        await graph.insert_edges(tx, mesh_id, [edge, edge])
        [loaded] = await graph.load_edges(tx, mesh_id)
        shown = await rows(
            tx,
            b"""SELECT src, dst, kind, omega::float8, cost FROM hyphaedb.topology_edge
                WHERE mesh_id = %(m)b ORDER BY kind""",
            {"m": mesh_id},
        )
    assert loaded == edge
    assert shown == [
        (made[0].cell_id, made[1].cell_id, "causal", 0.5, 2_000_000),
        (made[1].cell_id, made[0].cell_id, "semantic", 1.0, 1_000_000),
    ]


async def test_a_panel_version_is_drawn_once(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        assert await graph.latest_panel(tx, mesh_id) is None
        panels = [Panel(v, 11, (CellId(uuid4()),), 40, NOW) for v in (1, 1, 2)]
        put = [await graph.put_panel(tx, mesh_id, panel) for panel in panels]
        latest = await graph.latest_panel(tx, mesh_id)
    assert put == [True, False, True]
    assert latest == panels[2]


async def test_an_edge_put_again_changes_its_weight(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        one, two = a_cell(mesh, ada, "one"), a_cell(mesh, ada, "two")
        for cell in (one, two):
            await cells.insert_cell(tx, mesh_id, cell, None)
        edge = Edge(uuid4(), 0, one.cell_id, two.cell_id, EdgeKind.CAUSAL, 1.0, 1_000_000, None,
                    False, NOW)  # fmt: skip
        lighter = replace(edge, edge_id=uuid4(), omega=0.25, cost=4_000_000, bandwidth=3)
        ids = [await graph.put_edge(tx, mesh_id, e) for e in (edge, lighter)]
        [found] = await graph.load_edges(tx, mesh_id)
    assert ids == [edge.edge_id] * 2
    assert (found.omega, found.cost, found.bandwidth) == (0.25, 4_000_000, 3)
