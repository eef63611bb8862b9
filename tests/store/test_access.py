"""Meshes are made on purpose, found by name, steered, muted, and go whole."""

from __future__ import annotations

from uuid import uuid4

import pytest

from hyphaedb.errors import Conflict, NotFound
from hyphaedb.model import MeshId, MuteKind
from hyphaedb.store import access, cells, indexes
from hyphaedb.store.access import MeshRow
from hyphaedb.store.pool import Database, rows
from tests.store.scenery import NOW, a_cell, a_diff, an_agent


async def test_a_mesh_keeps_its_model_and_dimension(database: Database) -> None:
    name = f"payments-{uuid4().hex[:8]}"
    async with database.transaction() as tx:
        made = await access.create_mesh(tx, MeshId(uuid4()), name, "minilm", 384, {"a": 1}, NOW)
        found = await access.mesh_by_name(tx, name)
        by_id = await access.mesh_by_id(tx, made.info.mesh_id)
    assert made == found == by_id
    assert (found.info.model, found.info.dimension, found.settings) == ("minilm", 384, {"a": 1})
    assert (found.info.paused, found.info.shadow) == (False, False)


async def test_a_name_is_taken_once(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        with pytest.raises(Conflict):
            await access.create_mesh(tx, MeshId(uuid4()), mesh.info.name, "other", 16, {}, NOW)


async def test_a_typo_names_the_mesh_that_was_meant_and_makes_none(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        with pytest.raises(NotFound, match=mesh.info.name):
            await access.mesh_by_name(tx, mesh.info.name[:-1])
        with pytest.raises(NotFound):
            await access.mesh_by_id(tx, MeshId(uuid4()))


async def test_pause_and_shadow_are_set_one_by_one(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        await access.set_paused(tx, mesh_id, True)
        await access.set_shadow(tx, mesh_id, True)
        await access.set_paused(tx, mesh_id, False)
        found = await access.mesh_by_id(tx, mesh_id)
    assert (found.info.paused, found.info.shadow) == (False, True)


async def test_mutes_are_added_listed_and_lifted(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        await an_agent(tx, mesh, "bob")
        added = [await access.add_mute(tx, mesh_id, MuteKind.AGENT, "bob", NOW) for _ in range(2)]
        bob = await an_agent(tx, mesh, "bob")
        listed = await access.mutes(tx, mesh_id)
        lifted = [await access.remove_mute(tx, mesh_id, MuteKind.AGENT, "bob") for _ in range(2)]
    assert (added, lifted) == ([True, False], [True, False])
    assert listed == [(MuteKind.AGENT, "bob")]
    assert bob.agent.muted


async def test_a_dropped_mesh_leaves_no_row(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        cell = a_cell(mesh, ada, "gone with the mesh", session="s")
        await cells.insert_cell(tx, mesh_id, cell, a_diff(cell))
        await tx.execute(b"DELETE FROM hyphaedb.mesh WHERE mesh_id = %s", [mesh_id])
        names = await rows(
            tx,
            b"""SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relnamespace = 'hyphaedb'::regnamespace AND c.relkind = 'r'
                  AND a.attname = 'mesh_id'""",
        )
        for (table,) in names:
            left = await rows(
                tx,
                f"SELECT 1 FROM hyphaedb.{table} WHERE mesh_id = %(m)b".encode(),
                {"m": mesh_id},
            )
            assert left == [], table


async def test_vector_indexes_are_made_once_and_taken_away(database: Database) -> None:
    built = await indexes.ensure_vector_index(database, 24)
    again = await indexes.ensure_vector_index(database, 24)
    await indexes.drop_vector_index(database, 24)
    rebuilt = await indexes.ensure_vector_index(database, 24)
    assert built == [f"cell_vector_l{layer}_d24" for layer in range(3)]
    assert again == []
    assert rebuilt == built


async def test_counts_follow_what_is_there(database: Database, mesh: MeshRow) -> None:
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        cell = a_cell(mesh, ada, "counted")
        await cells.insert_cell(tx, mesh.info.mesh_id, cell, a_diff(cell))
        counted = await access.counts(tx, mesh.info.mesh_id, NOW)
    assert counted == access.Counts(1, 1, 0, 1, 1, 0, 0, 0)
