"""What is bounded, and what happens when the database goes away in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from hyphaedb.errors import LimitReached, Unavailable
from hyphaedb.mesh import Home, Mesh
from hyphaedb.model import NewCell
from tests.engine.conftest import Clock, Place
from tests.engine.lexical import Lexical
from tests.engine.scenes import announce, eventually, inbox, listens, settled, tagged, text


async def test_beyond_the_backlog_new_writes_wait_outside(place: Place) -> None:
    mesh = await place.open(worker=False, pending_max=3)
    await mesh.register("ann")
    for _ in range(3):
        await mesh.store(text("limits"), agent="ann")

    with pytest.raises(LimitReached) as caught:
        await mesh.store(text("limits"), agent="ann")
    assert caught.value.retry_after_s
    assert (await mesh.stats()).pending == 3


async def test_a_batch_that_would_overfill_the_backlog_is_refused_whole(place: Place) -> None:
    mesh = await place.open(worker=False, pending_max=3)
    await mesh.register("ann")

    with pytest.raises(LimitReached):
        await mesh.store_many([NewCell(text("limits")) for _ in range(4)], agent="ann")
    assert (await mesh.stats()).cells == 0


async def test_an_accepted_diff_is_never_dropped_to_make_room(place: Place) -> None:
    mesh = await place.open(worker=False, pending_max=3)
    await mesh.register("ann")
    await listens(mesh, "bob", "limits")
    cells = [tagged("limits") for _ in range(5)]
    accepted = []
    for cell in cells:
        try:
            await mesh.store(cell, agent="ann")
            accepted.append(cell.body)
        except LimitReached:
            continue
    worker = await place.open(mesh.info.name)
    await settled(worker)
    await mesh.store(cells[4], agent="ann")
    await settled(worker)

    assert await inbox(mesh, "bob") == [*accepted, cells[4].body]


async def test_a_full_tail_refuses_new_writes(place: Place) -> None:
    mesh = await place.open(worker=False, tail_max=2)
    await mesh.register("ann")
    for _ in range(2):
        await mesh.store(text("limits"), agent="ann")

    with pytest.raises(LimitReached) as caught:
        await mesh.store(text("limits"), agent="ann")
    assert "index" in caught.value.message


async def test_the_worker_drains_the_tail(place: Place) -> None:
    mesh = await place.open()
    await mesh.register("ann")
    for _ in range(5):
        await mesh.store(text("limits"), agent="ann")

    async def drained() -> bool:
        return (await mesh.stats()).tail == 0

    await eventually(drained)
    assert len((await mesh.recall(text("limits"), k=10)).hits) == 5


@dataclass(frozen=True, slots=True)
class Fragile:
    """A mesh in a database of its own, which may be taken away and given back."""

    mesh: Mesh
    home: Home
    server_url: str
    database: str

    def goes_away(self) -> None:
        """Nobody can connect any more, and whoever was is thrown out."""
        admin(self.server_url, f"ALTER DATABASE {self.database} WITH ALLOW_CONNECTIONS false")
        admin(
            self.server_url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname = '{self.database}' AND pid <> pg_backend_pid()",
        )

    def comes_back(self) -> None:
        """Connections are let in again."""
        admin(self.server_url, f"ALTER DATABASE {self.database} WITH ALLOW_CONNECTIONS true")


@pytest.fixture
async def fragile(server_url: str, template: str, clock: Clock) -> AsyncIterator[Fragile]:
    name = f"hyphaedb_fragile_{uuid4().hex[:12]}"
    admin(server_url, f"CREATE DATABASE {name} TEMPLATE {template}")
    place = Place(make_conninfo(server_url, dbname=name), clock)
    mesh = await place.open()
    await mesh.register("ann")
    await listens(mesh, "bob", "limits")
    yield Fragile(mesh, place.homes[-1], server_url, name)
    await place.close()
    admin(server_url, f"DROP DATABASE {name} WITH (FORCE)")


def admin(url: str, statement: str) -> None:
    """Run a statement from outside the database it is about."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


async def test_without_its_database_a_mesh_says_unavailable(fragile: Fragile) -> None:
    await asyncio.to_thread(fragile.goes_away)
    with pytest.raises(Unavailable) as caught:
        await fragile.mesh.store("words", agent="ann")
    await asyncio.to_thread(fragile.comes_back)

    assert caught.value.retry_after_s


async def test_work_resumes_by_itself_when_the_database_is_back(fragile: Fragile) -> None:
    """Taken away in the middle of a burst; what was acknowledged is delivered, each once."""
    mesh = fragile.mesh
    cells = [tagged("limits") for _ in range(60)]
    accepted: list[str] = []

    async def burst() -> None:
        for cell in cells:
            try:
                await mesh.store(cell, agent="ann")
            except Unavailable:
                return
            accepted.append(cell.body)

    storing = asyncio.create_task(burst())
    await eventually(lambda: _lands(mesh))
    await asyncio.to_thread(fragile.goes_away)
    await storing
    await asyncio.sleep(0.3)
    await asyncio.to_thread(fragile.comes_back)
    await eventually(lambda: _back(mesh))
    await settled(mesh)

    landed = await inbox(mesh, "bob")
    assert len(landed) == len(set(landed))
    assert set(accepted) <= set(landed)


async def _lands(mesh: Mesh) -> bool:
    return len(await inbox(mesh, "bob")) > 0


async def _back(mesh: Mesh) -> bool:
    try:
        return (await mesh.stats()).cells >= 0
    except Unavailable:
        return False


async def test_a_worker_of_all_meshes_outlives_the_database_being_away(fragile: Fragile) -> None:
    """The loop behind `hyphaedb work`."""
    name = fragile.mesh.info.name
    await fragile.mesh.close()
    stop = asyncio.Event()
    working = asyncio.create_task(fragile.home.work(stop))
    await asyncio.to_thread(fragile.goes_away)
    await asyncio.sleep(0.3)
    assert not working.done()
    await asyncio.to_thread(fragile.comes_back)
    await eventually(lambda: _opens(fragile.home, name))
    mesh = await fragile.home.mesh(name, worker=False)
    await announce(mesh, tagged("limits"), agent="ann")
    stop.set()
    await working

    assert len(await inbox(mesh, "bob")) == 1


async def _opens(home: Home, name: str) -> bool:
    try:
        return bool(await home.mesh(name, worker=False))
    except Unavailable:
        return False


async def test_a_worker_of_all_meshes_passes_over_those_of_another_model(place: Place) -> None:
    class Other(Lexical):
        model = "another-model"

    foreign = await place.open(worker=False, embedder=Other())
    await foreign.register("ann")
    await foreign.store("words", agent="ann")
    mesh = await place.open(worker=False)
    await mesh.register("ann")
    stop = asyncio.Event()
    working = asyncio.create_task(place.homes[-1].work(stop))
    stored = await announce(mesh, "words", agent="ann")
    stop.set()
    await working

    assert stored.receipt is not None
    assert (await foreign.stats()).pending == 1
