"""Many who wait while their server goes away: each is told once, and work can go on after it."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from hyphaedb.ending import end
from hyphaedb.errors import Unavailable
from hyphaedb.store.pool import AWAY_S, Database, row

PORT = 5432


class Door:
    """A socket before the real server, which can be taken away and put back."""

    def __init__(self, real: str) -> None:
        self._real = real
        # A path of its own: the name of a socket may have no more than about 100 bytes.
        self.where = Path(tempfile.mkdtemp(prefix="hyphaedb-door-"))
        self._server: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return make_conninfo(self._real, host=str(self.where), port=PORT)

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._enter, self.where / f".s.PGSQL.{PORT}")

    async def close(self) -> None:
        """Nobody gets in any more, and whoever was in is thrown out."""
        assert self._server is not None
        self._server.close()
        (self.where / f".s.PGSQL.{PORT}").unlink(missing_ok=True)
        await end(*self._passing)

    async def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parts = conninfo_to_dict(self._real)
        socket = f"{parts['host']}/.s.PGSQL.{parts.get('port', PORT)}"
        there, back = await asyncio.open_unix_connection(socket)
        for source, sink in ((reader, back), (there, writer)):
            task = asyncio.create_task(_pass(source, sink))
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)


async def _pass(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while part := await source.read(65_536):
            sink.write(part)
            await sink.drain()
    except ConnectionError:
        return
    finally:
        sink.close()


@pytest.fixture
async def door(database_url: str) -> AsyncIterator[Door]:
    door = Door(database_url)
    await door.open()
    yield door
    await door.close()
    shutil.rmtree(door.where)


async def test_all_who_wait_for_a_server_that_is_gone_are_told(door: Door) -> None:
    """They came one after another, so some are asked about while others are being told."""
    said: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context))
    database = await Database.open(door.url, pool_size=2)
    await asyncio.gather(*(answers(database) for _ in range(2)))
    await door.close()

    waiting = []
    for _ in range(600):
        waiting.append(asyncio.create_task(answers(database)))
        await asyncio.sleep(0.0005)
    told = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), AWAY_S + 5)

    assert [type(word) for word in told] == [Unavailable] * len(waiting)
    await door.open()
    assert await answers(database)
    await database.close()
    assert said == []


async def answers(database: Database) -> bool:
    async with database.statement() as tx:
        return await row(tx, b"SELECT true") == (True,)


async def test_a_task_that_lost_its_cancellation_is_ended_all_the_same() -> None:
    """What it waits for is done in the turn in which it is cancelled."""
    loop = asyncio.get_running_loop()
    given = loop.create_future()

    async def endless() -> None:
        await asyncio.wait_for(given, 10)
        await asyncio.Event().wait()

    task = asyncio.create_task(endless())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    given.set_result(None)
    await asyncio.wait_for(end(task), 5)

    assert task.cancelled()


async def test_what_an_ended_task_raised_is_not_raised_by_who_ends_it() -> None:
    async def breaks() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            raise ValueError("its own affair")

    task = asyncio.create_task(breaks())
    await asyncio.sleep(0)
    await end(task)

    assert isinstance(task.exception(), ValueError)
