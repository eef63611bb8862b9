"""The way into Postgres: what is refused at the door, and what every error turns into."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from hyphaedb.errors import HyphaeError, Invalid, Unavailable, Unsupported
from hyphaedb.store.access import MeshRow
from hyphaedb.store.pool import AWAY_S, Database, row, rows, run
from hyphaedb.store.server import Server, require


@pytest.mark.parametrize("url", ["mysql://a/b", "localhost:5432", "postgresql://a:b@c:port/d"])
async def test_what_is_no_postgres_url_is_refused_by_name(url: str) -> None:
    with pytest.raises(Invalid, match="HYPHAEDB_DATABASE_URL"):
        await Database.open(url)


async def test_a_url_to_a_database_that_is_not_there_says_so(server_url: str) -> None:
    with pytest.raises(Invalid, match="no_such_database"):
        await Database.open(make_conninfo(server_url, dbname="no_such_database"))


async def test_a_server_that_is_away_is_unavailable() -> None:
    with pytest.raises(Unavailable) as caught:
        await Database.open("postgresql://nobody@127.0.0.1:1/nothing")
    assert caught.value.retry_after_s is not None


async def test_an_error_never_shows_the_password() -> None:
    with pytest.raises(Unavailable) as caught:
        await Database.open("postgresql://nobody:s3cret@127.0.0.1:1/nothing")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("server", "says"),
    [
        (Server(140_011, "0.8.5", "0.8.5", "public", 1), "15 is the oldest"),
        (Server(180_004, None, None, None, None), "no pgvector"),
        (Server(180_004, None, "0.8.3", None, None), "0.8.4"),
        (Server(180_004, "0.8.2", "0.8.5", "public", 1), "ALTER EXTENSION"),
    ],
)
def test_an_old_server_or_pgvector_is_refused_with_the_way_out(server: Server, says: str) -> None:
    with pytest.raises(Unsupported, match=says):
        require(server)


@pytest.mark.parametrize("version", ["0.8.4", "0.8.10", "0.9.0", "1.0"])
def test_a_newer_pgvector_will_do(version: str) -> None:
    require(Server(150_000, version, version, "public", 1))


async def test_a_database_with_an_old_pgvector_is_refused_at_the_door(empty_url: str) -> None:
    """Older ones can damage their indexes under vacuum."""
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("UPDATE pg_extension SET extversion = '0.8.3' WHERE extname = 'vector'")
    with pytest.raises(Unsupported, match=r"0\.8\.3"):
        await Database.open(empty_url)


async def test_a_connection_the_server_ended_is_not_handed_out_again(database: Database) -> None:
    """Work resumes by itself when the server is back: every door survives a killed backend."""
    for _ in range(3):
        async with database.statement() as tx:
            await row(tx, b"SELECT 1")
        await kill_backends(database)
        async with database.statement() as tx:
            assert await row(tx, b"SELECT 1") == (1,)
        await kill_backends(database)
        async with database.transaction() as tx:
            assert await row(tx, b"SELECT 2") == (2,)
        await kill_backends(database)
        async with database.read() as tx:
            assert await row(tx, b"SELECT 3") == (3,)


async def test_a_connection_lost_within_a_transaction_is_unavailable(database: Database) -> None:
    async def cut_off() -> None:
        async with database.transaction() as tx:
            await kill_backends(database)
            await row(tx, b"SELECT 1")

    with pytest.raises(Unavailable):
        await cut_off()


async def kill_backends(database: Database) -> None:
    connection = await database.connect()
    try:
        await connection.execute(
            """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()"""
        )
    finally:
        await connection.close()


async def test_a_statement_that_takes_too_long_is_unavailable(database_url: str) -> None:
    database = await Database.open(database_url, pool_size=2, statement_timeout_s=0.05)
    try:
        with pytest.raises(Unavailable, match="STATEMENT_TIMEOUT"):
            async with database.statement() as tx:
                await row(tx, b"SELECT pg_sleep(10)")
    finally:
        await database.close()


async def test_a_frozen_transaction_is_ended_and_its_locks_fall(
    database: Database, database_url: str, mesh: MeshRow
) -> None:
    """A process that stands still between two statements must not keep others from their work."""
    touch = b"UPDATE hyphaedb.mesh SET paused = true WHERE mesh_id = %(m)b"
    values = {"m": mesh.info.mesh_id}
    frozen = await Database.open(database_url, pool_size=2, idle_s=0.2)

    async def freeze() -> None:
        async with frozen.transaction() as tx:
            await run(tx, touch, values)
            async with asyncio.timeout(10), database.statement() as other:
                await run(other, touch, values)  # waits for the frozen one's lock
            await run(tx, touch, values)

    try:
        with pytest.raises(Unavailable, match="nothing of it was written"):
            await freeze()
        async with frozen.statement() as tx:
            assert await row(tx, b"SELECT 1") == (1,)
    finally:
        await frozen.close()


async def test_every_connection_bounds_its_statements_and_its_pauses(database: Database) -> None:
    bounds = b"""SELECT current_setting('statement_timeout'),
                        current_setting('idle_in_transaction_session_timeout')"""
    async with database.statement() as tx:
        pooled = await row(tx, bounds)
    own = await database.connect()
    try:
        assert pooled == await row(own, bounds) == ("30s", "20s")
    finally:
        await own.close()


async def test_a_read_may_think_longer_for_nobody_waits_for_it(database_url: str) -> None:
    """A mirror is built while its snapshot is open."""
    impatient = await Database.open(database_url, pool_size=2, idle_s=0.1)
    try:
        for _ in range(8):  # more often than it takes the driver to prepare a statement
            async with impatient.read() as tx:
                pass
        async with impatient.read() as tx:
            await asyncio.sleep(0.5)
            assert await row(tx, b"SELECT 1") == (1,)
    finally:
        await impatient.close()


async def test_a_pool_that_is_only_busy_is_waited_for(database_url: str) -> None:
    """Longer than it takes to notice a server that is gone."""
    small = await Database.open(database_url, pool_size=1)
    try:
        async with small.statement():
            waiting = asyncio.create_task(answered(small))
            await asyncio.sleep(AWAY_S + 0.5)
            assert not waiting.done()
        assert await waiting
    finally:
        await small.close()


async def answered(database: Database) -> bool:
    async with database.statement() as tx:
        return await row(tx, b"SELECT true") == (True,)


async def test_a_read_shows_one_snapshot_and_refuses_writes(
    database: Database, mesh: MeshRow
) -> None:
    steer = b"UPDATE hyphaedb.mesh SET paused = NOT paused WHERE mesh_id = %(m)b"
    paused = b"SELECT paused FROM hyphaedb.mesh WHERE mesh_id = %(m)b"
    values = {"m": mesh.info.mesh_id}
    async with database.read() as tx:
        before = await row(tx, paused, values)
        async with database.statement() as other:
            await run(other, steer, values)
        assert await row(tx, paused, values) == before
    with pytest.raises(HyphaeError):
        async with database.read() as tx:
            await run(tx, steer, values)


async def test_a_failed_transaction_leaves_nothing(database: Database, mesh: MeshRow) -> None:
    values = {"m": mesh.info.mesh_id}

    async def slip() -> None:
        async with database.transaction() as tx:
            await run(tx, b"DELETE FROM hyphaedb.mesh WHERE mesh_id = %(m)b", values)
            await row(tx, b"SELECT 1/0")

    with pytest.raises(Invalid):
        await slip()
    async with database.statement() as tx:
        found = await rows(tx, b"SELECT 1 FROM hyphaedb.mesh WHERE mesh_id = %(m)b", values)
    assert found == [(1,)]


async def test_more_tasks_than_connections_wait_their_turn(database: Database) -> None:
    async def one(n: int) -> int:
        async with database.statement() as tx:
            found = await row(tx, b"SELECT %(n)b::integer", {"n": n})
        assert found is not None
        return int(found[0])

    assert await asyncio.gather(*(one(n) for n in range(50))) == list(range(50))
