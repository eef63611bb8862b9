"""forget: a pasted secret is gone from everywhere at once."""

from __future__ import annotations

import asyncio

import pytest

from hyphaedb.engine.failpoints import Failpoint
from hyphaedb.engine.pump import Pumped
from hyphaedb.engine.validator import differences
from hyphaedb.errors import NotFound
from hyphaedb.mesh import Mesh
from hyphaedb.model import Interests, NewCell
from hyphaedb.store import journal
from hyphaedb.store.pool import Database
from tests.engine.conftest import Place
from tests.engine.scenes import announce, inbox, listens, settled, tagged, text
from tests.engine.sleeper import Sleeper
from tests.engine.world import World

SECRET = "hunter2swordfish"


async def traces(database: Database) -> list[str]:
    """Every column of every table in which the secret still stands."""
    async with database.statement() as tx:
        columns = await (
            await tx.execute(
                b"""SELECT table_name, column_name FROM information_schema.columns
                    WHERE table_schema = 'hyphaedb' AND table_name IN (
                        SELECT tablename FROM pg_tables WHERE schemaname = 'hyphaedb')"""
            )
        ).fetchall()
        found = []
        for table, column in columns:
            query = f'SELECT 1 FROM hyphaedb."{table}" WHERE "{column}"::text ILIKE %s LIMIT 1'
            cursor = await tx.execute(query.encode(), [f"%{SECRET}%"])
            if await cursor.fetchone():
                found.append(f"{table}.{column}")
    return found


@pytest.fixture
async def mesh(place: Place) -> Mesh:
    opened = await place.open()
    await opened.register("ann")
    await listens(opened, "bob", "limits")
    return opened


async def test_no_column_of_any_table_holds_the_text_any_more(
    mesh: Mesh, database: Database
) -> None:
    """Delivered, drained into the index, leased by its reader and kept under a key: all gone."""
    cell = tagged("limits", f"the password is {SECRET}")
    stored = await mesh.store(cell, agent="ann", idempotency_key="k1")
    await settled(mesh)
    await mesh.inbox("bob", lease=True)
    assert await traces(database)

    assert await mesh.forget(stored.cell_id) == 1
    assert await traces(database) == []


async def test_a_cell_that_waits_for_its_wave_is_forgotten_too(
    place: Place, database: Database
) -> None:
    mesh = await place.open(worker=False)
    await mesh.register("ann")
    stored = await mesh.store(f"the password is {SECRET}", agent="ann")
    await mesh.forget(stored.cell_id)

    assert await traces(database) == []
    assert (await mesh.stats()).pending == 0


async def test_a_replaced_cell_is_forgotten_without_its_successor(mesh: Mesh) -> None:
    old = await announce(mesh, f"the password is {SECRET}", agent="ann")
    new = await mesh.supersede(old.cell_id, "the password is in the vault", agent="ann")
    await mesh.forget(old.cell_id)

    assert (await mesh.cell(new.cell_id)).body == "the password is in the vault"
    with pytest.raises(NotFound):
        await mesh.cell(old.cell_id)


async def test_an_inbox_no_longer_shows_it(mesh: Mesh) -> None:
    stored = await announce(mesh, tagged("limits", f"the password is {SECRET}"), agent="ann")
    other = tagged("limits")
    await announce(mesh, other, agent="ann")
    await mesh.forget(stored.cell_id)

    assert await inbox(mesh, "bob") == [other.body]


async def test_it_is_not_recalled(mesh: Mesh) -> None:
    stored = await announce(mesh, f"the password is {SECRET}", agent="ann")
    await mesh.forget(stored.cell_id)

    assert (await mesh.recall(f"the password is {SECRET}")).hits == ()


async def test_the_same_text_may_be_stored_again(mesh: Mesh) -> None:
    stored = await announce(mesh, "words", agent="ann")
    await mesh.forget(stored.cell_id)
    again = await announce(mesh, "words", agent="ann")

    assert again.cell_id != stored.cell_id


async def test_forgetting_twice_says_that_there_is_nothing(mesh: Mesh) -> None:
    stored = await announce(mesh, "words", agent="ann")
    await mesh.forget(stored.cell_id)

    with pytest.raises(NotFound):
        await mesh.forget(stored.cell_id)


async def _busy(database: Database, seed: int) -> tuple[World, NewCell]:
    """Bob listens; a secret and an innocent cell wait for their waves."""
    world = await World.make(database, seed, 1)
    await world.mesh.register("ann")
    await world.mesh.register("bob", interests=Interests(tags=("limits",)))
    innocent = tagged("limits")
    await world.mesh.store(innocent, agent="ann")
    return world, innocent


async def test_the_mirror_holds_it_no_longer(database: Database) -> None:
    world, _ = await _busy(database, 4_201)
    stored = await world.mesh.store(text("login"), agent="ann")
    owner = world.owner()
    await owner.take()
    await owner.step(64)
    await world.mesh.forget(stored.cell_id)
    await owner.step(64)

    assert owner.pump is not None
    assert owner.pump.mirror.layers[0].row(stored.cell_id) is None
    assert await differences(owner.pump.mirror, database) == []


@pytest.mark.parametrize("place", [Failpoint.AFTER_CLAIM, Failpoint.AFTER_FENCE])
async def test_a_cell_may_be_forgotten_while_its_wave_is_under_way(
    database: Database, database_url: str, place: Failpoint
) -> None:
    """Before the write it is simply no longer there; within it, erasing waits for the commit."""
    world, innocent = await _busy(database, 4_202 + (place is Failpoint.AFTER_FENCE))
    stored = await world.mesh.store(tagged("limits", f"it is {SECRET}"), agent="ann")
    worker = Sleeper(database_url, world, place)
    await worker.falls_asleep()
    forgetting = asyncio.create_task(world.mesh.forget(stored.cell_id))
    await asyncio.sleep(0.2)
    step = await worker.wakes_up()
    await forgetting
    owner = world.owner()
    world.clock.move(minutes=1)
    await owner.take()
    await owner.step(64)

    assert isinstance(step, Pumped)
    assert await traces(database) == []
    assert await inbox(world.mesh, "bob") == [innocent.body]
    assert owner.pump is not None
    assert await differences(owner.pump.mirror, database) == []


async def vectors_of(database: Database, mesh: Mesh, table: str) -> list[object]:
    """The vectors that a table of places holds for a mesh."""
    async with database.statement() as tx:
        cursor = await tx.execute(
            f"SELECT e FROM hyphaedb.{table} JOIN hyphaedb.agent a USING (mesh_id)"
            " WHERE a.agent_id = %s".encode(),
            [(await mesh.agents())[0].agent_id],
        )
        return [r[0] for r in await cursor.fetchall()]


async def test_a_position_made_of_nothing_else_is_erased_as_well(
    mesh: Mesh, database: Database
) -> None:
    """A position is the mean of what its holder touched: of one cell it is that cell's vector."""
    stored = await announce(mesh, f"the password is {SECRET}", agent="ann")
    assert len(await vectors_of(database, mesh, "agent_position")) == 1
    await mesh.forget(stored.cell_id)
    await settled(mesh)

    assert await vectors_of(database, mesh, "agent_position") == []
    [ann] = [a.agent_id for a in await mesh.agents() if a.name == "ann"]
    async with database.statement() as tx:
        cursor = await tx.execute("SELECT 1 FROM hyphaedb.attachment WHERE leaf_id = %s", [ann])
        assert await cursor.fetchall() == []


async def test_whoever_had_touched_it_stands_where_the_rest_is(
    mesh: Mesh, database: Database
) -> None:
    """As if the erased cell had never been, for its author and for a reader of it."""
    kept = await announce(mesh, text("limits"), agent="ann")
    [alone] = await vectors_of(database, mesh, "agent_position")
    stored = await announce(mesh, f"the password is {SECRET}", agent="ann")
    await mesh.confirm(stored.cell_id, agent="bob")
    await settled(mesh)
    assert len(await vectors_of(database, mesh, "agent_position")) == 2
    await mesh.forget(stored.cell_id)
    await settled(mesh)

    assert (await mesh.cell(kept.cell_id)).body
    assert await vectors_of(database, mesh, "agent_position") == [alone]


async def test_a_reader_who_came_while_erasing_waited_keeps_no_position_made_of_it(
    database: Database,
) -> None:
    """The worker holds its row, forgetting waits, bob reads, and the worker takes that in."""
    world = await World.make(database, 4_204, 1)
    await world.mesh.register("ann")
    await world.mesh.register("bob")
    stored = await world.mesh.store(f"the password is {SECRET}", agent="ann")
    owner = world.owner()
    await owner.take()
    await owner.step(64)
    reader = Mesh(world.faces, None)
    async with database.transaction() as tx:
        await journal.fence(tx, world.mesh_id, 1)
        forgetting = asyncio.create_task(world.mesh.forget(stored.cell_id))
        await asyncio.sleep(0.2)
        assert (await reader.recall(f"the password is {SECRET}", agent="bob")).hits
        await reader.close()
        step = asyncio.create_task(owner.step(64))
        await asyncio.sleep(0.2)
    await asyncio.gather(forgetting, step)
    await owner.step(64)

    assert await vectors_of(database, world.mesh, "agent_position") == []
