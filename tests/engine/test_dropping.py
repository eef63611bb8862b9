"""A mesh is erased whole, by whoever owns it, and nothing else goes with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

import pytest

from hyphaedb.engine.dropping import drop
from hyphaedb.errors import Conflict, HyphaeError, NotFound, Unavailable
from hyphaedb.model import MuteKind, NewCell
from hyphaedb.store import cells
from hyphaedb.store.pool import Database, rows
from tests.engine.conftest import Place
from tests.engine.scenes import announce, listens, tagged

TABLES = b"""SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             JOIN pg_attribute a ON a.attrelid = c.oid
             WHERE n.nspname = 'hyphaedb' AND c.relkind = 'r' AND a.attname = 'mesh_id'"""


async def left_in(database: Database, mesh_id: object) -> dict[str, int]:
    """How many rows of a mesh each table holds, those that hold none left out."""
    found = {}
    async with database.statement() as tx:
        for (table,) in await rows(tx, TABLES):
            count = f"SELECT count(*) FROM hyphaedb.{table} WHERE mesh_id = %(m)b".encode()
            found[table] = (await rows(tx, count, {"m": mesh_id}))[0][0]
    return {table: count for table, count in found.items() if count}


async def test_nothing_of_it_is_left_in_any_table_and_its_name_is_free(
    place: Place, database: Database
) -> None:
    mesh = await place.open()
    await mesh.register("ann")
    await listens(mesh, "bob", "limits")
    await mesh.beacon("bob", "all", "words to wait for")
    await mesh.mute(MuteKind.AUTHOR, "cho")
    for _ in range(3):
        await announce(mesh, tagged("limits"), agent="ann")
    await mesh.recall("limits", agent="bob", session="today")
    before = await left_in(database, mesh.info.mesh_id)
    assert {"cell", "delivery", "inbox", "link", "beacon", "mute", "term"} <= set(before)

    assert await place.homes[0].drop(mesh.info.name) == before["cell"]

    assert await left_in(database, mesh.info.mesh_id) == {}
    with pytest.raises(NotFound):
        await place.homes[0].drop(mesh.info.name)
    assert (await place.homes[0].create(mesh.info.name)).mesh_id != mesh.info.mesh_id


async def test_another_mesh_of_the_database_keeps_all_it_has(
    place: Place, database: Database
) -> None:
    goes, stays = await place.open(), await place.open()
    for mesh in (goes, stays):
        await mesh.register("ann")
        await announce(mesh, NewCell("The same text in both."), agent="ann")
    await stays.close()
    before = await left_in(database, stays.info.mesh_id)

    await place.homes[0].drop(goes.info.name)

    assert await left_in(database, stays.info.mesh_id) == before


async def test_it_is_refused_while_another_process_runs_its_waves(place: Place) -> None:
    mesh = await place.open()
    await mesh.register("ann")
    await announce(mesh, tagged("limits"), agent="ann")

    await place.again(mesh.info.name)
    with pytest.raises(Conflict, match="runs the waves") as caught:
        await place.homes[-1].drop(mesh.info.name)

    assert "Stop it" in caught.value.remedy
    assert (await mesh.stats()).cells == 1


async def test_whoever_has_it_open_elsewhere_hears_that_it_is_gone(place: Place) -> None:
    mesh = await place.open()
    await mesh.register("ann")
    elsewhere = await place.again(mesh.info.name)

    await place.homes[0].drop(mesh.info.name)

    with pytest.raises(HyphaeError):
        await asyncio.wait_for(elsewhere.store("Too late.", agent="ann"), 10)
    with pytest.raises(NotFound):
        await elsewhere.stats()


async def test_whoever_follows_it_elsewhere_hears_that_it_is_gone(place: Place) -> None:
    mesh = await place.open()
    await mesh.register("ann")
    elsewhere = await place.again(mesh.info.name)
    streams: list[asyncio.Future[object]] = [
        asyncio.ensure_future(anext(elsewhere.follow("ann"))),
        asyncio.ensure_future(anext(elsewhere.waves())),
    ]
    await asyncio.sleep(0.1)
    assert not any(stream.done() for stream in streams)

    await place.homes[0].drop(mesh.info.name)

    for stream in streams:
        with pytest.raises(NotFound, match="no mesh"):
            await asyncio.wait_for(stream, 10)


@pytest.mark.parametrize("verb", ["inbox", "register", "recall", "store"])
async def test_every_verb_of_who_has_it_open_elsewhere_says_what_is_gone(
    place: Place, verb: str
) -> None:
    """Not that an agent is unknown, who would then be told to register."""
    mesh = await place.open()
    await mesh.register("ann")
    elsewhere = await place.again(mesh.info.name)
    await place.homes[0].drop(mesh.info.name)

    verbs: dict[str, Callable[[], Awaitable[object]]] = {
        "inbox": lambda: elsewhere.inbox("ann"),
        "register": lambda: elsewhere.register("ann"),
        "recall": lambda: elsewhere.recall("limits", agent="ann"),
        "store": lambda: elsewhere.store("words", agent="ann"),
    }
    with pytest.raises(NotFound, match="mesh"):
        await verbs[verb]()


async def test_a_process_that_works_it_ends_and_says_why(place: Place) -> None:
    mesh = await place.open()
    await place.again(mesh.info.name)
    stop = asyncio.Event()
    working = asyncio.create_task(place.homes[1].work(stop, mesh.info.name))
    await asyncio.sleep(0.3)

    await place.homes[0].drop(mesh.info.name)

    with pytest.raises(NotFound, match="no mesh named"):
        await asyncio.wait_for(working, 10)


async def test_a_drop_that_failed_leaves_the_mesh_to_whoever_tries_again(
    place: Place, database: Database, database_url: str
) -> None:
    """It gives back the lease, or the next would be told to stop the first, itself."""
    mesh = await place.open(worker=False)
    await mesh.register("ann")
    stored = await mesh.store("words", agent="ann")
    hasty = await Database.open(database_url, pool_size=2, statement_timeout_s=0.3)
    try:
        async with database.transaction() as tx:
            assert await cells.hold(tx, mesh.info.mesh_id, [stored.cell_id])
            with pytest.raises(Unavailable):
                await drop(hasty, mesh.info, uuid4(), place.clock, 30.0)
    finally:
        await hasty.close()

    assert await place.homes[0].drop(mesh.info.name) == 1
