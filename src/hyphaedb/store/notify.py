"""Wake-ups: NOTIFY outside every write transaction, rarely, and never relied upon.

A NOTIFY inside a write transaction makes all commits of the database queue up behind each other
(measured: 3,493 transactions a second fell to 441 with 32 writers). So one notifier a process
fires at once when it has been quiet, then at most ten times a second; whoever listens also looks
by itself from time to time, because a wake-up may be lost with its connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

import psycopg
from psycopg import sql

from hyphaedb.ending import end
from hyphaedb.errors import HyphaeError
from hyphaedb.store.faults import translate
from hyphaedb.store.pool import Database, Tx, row
from hyphaedb.store.sql import query

#: Channel on which workers hear that something waits.
WORK = "hyphaedb_work"
#: Channel on which readers hear that inboxes were filled.
INBOX = "hyphaedb_inbox"
#: Least time between two notifications of one process.
QUIET_S = 0.1


class Notifier:
    """Sends wake-ups from a task of its own; ``poke`` never blocks and never fails."""

    def __init__(self, database: Database, quiet_s: float = QUIET_S) -> None:
        self._database = database
        self._quiet_s = quiet_s
        self._wanted: set[str] = set()
        self._awake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def poke(self, channel: str) -> None:
        """Ask for a wake-up on a channel: sent now, or with the next batch."""
        self._wanted.add(channel)
        self._awake.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Stop; what was asked for and not sent is found by the listeners' own looking."""
        if self._task is not None:
            await end(self._task)
            self._task = None

    async def _run(self) -> None:
        while True:
            await self._awake.wait()
            self._awake.clear()
            channels, self._wanted = self._wanted, set()
            # A database that is away has no listeners to wake either.
            with suppress(HyphaeError):
                async with self._database.statement() as tx:
                    for channel in sorted(channels):
                        await row(tx, query("notify"), {"channel": channel})
            await asyncio.sleep(self._quiet_s)


async def listen(database: Database, channels: Sequence[str]) -> AsyncGenerator[str, None]:
    """Channels as they are notified, on a connection of its own; first an empty string, once
    the ear is open, so that the caller can look for what came before.

    Raises Unavailable when the connection is lost; the caller listens again.
    """
    connection: Tx = await database.connect()
    try:
        for channel in channels:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        yield ""
        async for note in connection.notifies():
            yield note.channel
    except psycopg.Error as error:
        raise translate(error) from error
    finally:
        await connection.close()
