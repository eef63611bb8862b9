"""The way into Postgres: a pool whose connections are all configured alike.

Three doors, from cheap to strict: :meth:`Database.statement` (each statement its own
transaction, one round trip), :meth:`Database.read` (one snapshot, read only) and
:meth:`Database.transaction`. Each hands out a :data:`Tx`, which callers pass to the store's
verbs and never look into.
"""

from __future__ import annotations

import asyncio
import json
import select
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import make_conninfo
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool

from hyphaedb.ending import end
from hyphaedb.store import vectors
from hyphaedb.store.faults import first_line, translate, translate_connect
from hyphaedb.store.server import Server, check_url, require
from hyphaedb.store.sql import query

#: A connection handed out by a :class:`Database`; opaque outside the store.
Tx = psycopg.AsyncConnection[tuple[Any, ...]]
Row = tuple[Any, ...]

CONNECT_TIMEOUT_S = 10
#: Longest wait for a free connection before the caller is told to come back.
POOL_TIMEOUT_S = 10.0
#: How long a caller waits before somebody asks whether there is still a server. A restart takes
#: about a second and is waited out; a pool that is only busy is waited for all the time above.
AWAY_S = 2.0
#: Patience of that question where nobody even refuses; libpq takes no less than two seconds.
ASK_TIMEOUT_S = 2
#: Longest pause within a transaction. All thinking is done before one begins, so only a process
#: that is frozen pauses so long, and its locks must not outlive it. Less than the default lease and
#: statement timeout, so whoever waits for such a lock, or takes over, outlasts it. Hence no lock
#: timeout: a wait for a lock is part of a statement.
IDLE_S = 20.0
#: The same within a read, which holds no lock anybody waits for but keeps old rows from vacuum: a
#: mirror of millions of cells is built between its statements.
READ_IDLE_S = 600
_BEGIN_READ = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
    f" SET LOCAL idle_in_transaction_session_timeout = '{READ_IDLE_S}s'"
).encode()
#: Statements prepared per connection; more than there are, so none is ever prepared twice.
PREPARED_MAX = 300


class Database:
    """One process's connections to one Postgres. Made by :meth:`open`, safe for many tasks."""

    def __init__(self, url: str, pool_size: int, statement_timeout_s: float, idle_s: float) -> None:
        self.url = url
        self.server = Server(0, None, None, None, None)
        self._timeout_ms = str(round(statement_timeout_s * 1000))
        self._idle_ms = str(round(idle_s * 1000))
        self._patient: set[asyncio.Timeout] = set()
        self._asking: asyncio.Task[None] | None = None
        self._away = ""
        self._pool = AsyncConnectionPool[Tx](
            make_conninfo(url, connect_timeout=CONNECT_TIMEOUT_S, application_name="hyphaedb"),
            min_size=min(2, pool_size),
            max_size=pool_size,
            timeout=POOL_TIMEOUT_S,
            # The pauses between its tries double, and a caller who waits begins a row of its own.
            # So a row ends soon: after an hour's outage the next try must not be an hour away.
            reconnect_timeout=POOL_TIMEOUT_S,
            kwargs={"autocommit": True},
            configure=self._configure,
            open=False,
        )

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        pool_size: int = 8,
        statement_timeout_s: float = 30.0,
        idle_s: float = IDLE_S,
    ) -> Database:
        """Connect and check the server.

        The server ends a statement after ``statement_timeout_s``, and a transaction in which
        nothing happens for ``idle_s``; whoever was in it gets Unavailable.

        Raises Invalid for a URL that is wrong, Unavailable for a server that is away,
        Unsupported for one that is too old. The schema may still be missing: see migrate.
        """
        check_url(url)
        database = cls(url, pool_size, statement_timeout_s, idle_s)
        await database.refresh()
        try:
            await database._pool.open(wait=False)
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Give every connection back. Statements under way are allowed to end."""
        if self._asking is not None:
            await end(self._asking)
        await self._pool.close()

    async def refresh(self) -> None:
        """Ask the server again what it is, and renew pooled connections (after a migration)."""
        connection = await self.connect()
        try:
            cursor = await connection.execute(query("server_facts"))
            row = await cursor.fetchone()
        finally:
            await connection.close()
        assert row is not None
        server = Server(*row)
        require(server)
        changed = server != self.server
        self.server = server
        if changed and not self._pool.closed:
            await self._pool.drain()

    async def connect(self) -> Tx:
        """A configured connection of the caller's own, outside the pool; the caller closes it."""
        try:
            connection = await psycopg.AsyncConnection.connect(
                make_conninfo(
                    self.url, connect_timeout=CONNECT_TIMEOUT_S, application_name="hyphaedb"
                ),
                autocommit=True,
            )
            try:
                await self._configure(connection)
            except BaseException:
                # Also when the caller is cancelled: nobody else knows of this connection.
                await connection.close()
                raise
        except psycopg.Error as error:
            raise translate_connect(error) from error
        return connection

    @asynccontextmanager
    async def statement(self) -> AsyncIterator[Tx]:
        """Each statement is a transaction of its own: one round trip, durable on return."""
        try:
            async with self._lend() as connection:
                yield connection
        except psycopg.Error as error:
            raise translate(error) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """All or nothing (READ COMMITTED); rolls back on any exception."""
        try:
            async with self._lend() as connection, connection.transaction():
                yield connection
        except psycopg.Error as error:
            raise translate(error) from error

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Tx]:
        """One snapshot for several reads (REPEATABLE READ); writes are refused."""
        try:
            async with self._lend() as connection:
                await connection.execute(_BEGIN_READ, prepare=False)
                try:
                    yield connection
                finally:
                    if not connection.closed:
                        await connection.rollback()
        except psycopg.Error as error:
            raise translate(error) from error

    @asynccontextmanager
    async def _lend(self) -> AsyncIterator[Tx]:
        """A connection from the pool that was alive a moment ago.

        After a restart of the server every idle one is dead: each is found by a look at its
        socket and replaced, so that callers meet the restart only if they were within a statement.
        """
        connection = await self._take()
        for _ in range(self._pool.max_size):
            if _is_silent(connection):
                break
            await connection.close()
            await self._pool.putconn(connection)
            connection = await self._take()
        try:
            yield connection
        finally:
            await self._pool.putconn(connection)

    async def _take(self) -> Tx:
        """A connection from the pool; raises OperationalError once it is known that no server
        is there, PoolTimeout when the pool stays busy."""
        if self._pool.get_stats().get("pool_available", 0):
            return await self._pool.getconn()
        try:
            async with asyncio.timeout(None) as patience:
                ask = asyncio.get_running_loop().call_later(AWAY_S, self._ask, patience)
                try:
                    return await self._pool.getconn()
                finally:
                    ask.cancel()
                    self._patient.discard(patience)
        except TimeoutError:
            raise psycopg.OperationalError(self._away) from None

    def _ask(self, patience: asyncio.Timeout) -> None:
        """Find out whether there is a server, once for all who wait by then."""
        self._patient.add(patience)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.get_running_loop().create_task(self._end_if_away())

    async def _end_if_away(self) -> None:
        """End the waits when nothing answers. A server that refuses in words of its own (it starts,
        or has no connection left) is there and worth waiting for."""
        try:
            connection = await psycopg.AsyncConnection.connect(
                make_conninfo(self.url, connect_timeout=ASK_TIMEOUT_S, application_name="hyphaedb")
            )
        except psycopg.Error as error:
            if "FATAL:" in str(error):
                return
            self._away = first_line(error)
            now = asyncio.get_running_loop().time()
            # Each is ended once: a wait that is about to end cannot be ended again.
            while self._patient:
                self._patient.pop().reschedule(now)
        else:
            await connection.close()

    async def _configure(self, connection: Tx) -> None:
        connection.prepared_max = PREPARED_MAX
        places = ["hyphaedb", "public"]
        if self.server.vector_schema and self.server.vector_schema not in places:
            places.append('"' + self.server.vector_schema.replace('"', '""') + '"')
        await connection.execute(
            query("configure"),
            {
                "search_path": ", ".join(places),
                "statement_timeout": self._timeout_ms,
                "idle_timeout": self._idle_ms,
            },
            prepare=False,
        )
        if self.server.halfvec_oid is not None:
            set_json_loads(_loads, connection)
            adapters: AdaptersMap = connection.adapters
            vectors.register(adapters, self.server.halfvec_oid)


def _loads(text: str | bytes) -> Any:
    """Most cells have no metadata, and a parser takes its time to find that out."""
    return {} if text == b"{}" else json.loads(text)


def _is_silent(connection: Tx) -> bool:
    """Whether nothing has arrived on an idle connection; what arrives there is the server's end.
    A look at the socket costs a few microseconds, a test query would cost a round trip a use."""
    look = select.poll()
    look.register(connection.fileno(), select.POLLIN)
    return not look.poll(0)


@asynccontextmanager
async def pipelined(tx: Tx) -> AsyncIterator[None]:
    """Statements inside are sent without waiting for one another's answers, one round trip for
    all that return nothing. Row counts are not known inside; a fault shows at the end at latest.
    """
    async with tx.pipeline():
        yield


async def rows(tx: Tx, sql: bytes, values: Mapping[str, Any] | None = None) -> list[Row]:
    """All rows of a query, in binary."""
    cursor = await tx.execute(sql, values, binary=True)
    return await cursor.fetchall()


async def row(tx: Tx, sql: bytes, values: Mapping[str, Any] | None = None) -> Row | None:
    """The first row of a query, or None."""
    cursor = await tx.execute(sql, values, binary=True)
    return await cursor.fetchone()


async def run(tx: Tx, sql: bytes, values: Mapping[str, Any] | None = None) -> int:
    """Run a statement that returns nothing; how many rows it touched."""
    cursor = await tx.execute(sql, values, binary=True)
    return cursor.rowcount


def columns(items: Sequence[Row], width: int) -> list[list[Any]]:
    """Rows turned into columns for ``unnest``; ``width`` empty lists where there are no rows."""
    return (
        [list(column) for column in zip(*items, strict=True)]
        if items
        else [[] for _ in range(width)]
    )
