"""Migrations: whole or not at all, the same for everyone, refused where history differs."""

from __future__ import annotations

import asyncio
import hashlib

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from hyphaedb.errors import Conflict, HyphaeError, Unsupported
from hyphaedb.store import migrate
from hyphaedb.store.migrate import Migration
from hyphaedb.store.pool import Database, rows
from tests.store.scenery import NOW


def a_migration(version: int, text: str) -> Migration:
    data = text.encode()
    return Migration(version, f"step_{version}", data, hashlib.sha256(data).hexdigest())


ONE = a_migration(1, "CREATE TABLE hyphaedb.one (a integer)")
TWO = a_migration(2, "CREATE TABLE hyphaedb.two (a integer)")


async def opened(url: str) -> Database:
    return await Database.open(url, pool_size=4)


async def test_migrating_again_does_nothing(empty_url: str) -> None:
    database = await opened(empty_url)
    try:
        first = await migrate.migrate(database, NOW)
        second = await migrate.migrate(database, NOW)
        await migrate.require_current(database)
        known = await migrate.status(database)
    finally:
        await database.close()
    assert first == [m.version for m in migrate.shipped()]
    assert second == []
    assert [k.applied_at for k in known] == [NOW] * len(known)


async def test_many_processes_may_migrate_at_once(empty_url: str) -> None:
    databases = [await opened(empty_url) for _ in range(4)]
    try:
        done = await asyncio.gather(*(migrate.migrate(d, NOW, (ONE, TWO)) for d in databases))
    finally:
        for database in databases:
            await database.close()
    assert sorted(v for versions in done for v in versions) == [1, 2]


async def test_an_unmigrated_database_is_refused_with_the_command_to_run(empty_url: str) -> None:
    database = await opened(empty_url)
    try:
        with pytest.raises(Unsupported, match="hyphaedb db migrate"):
            await migrate.require_current(database)
    finally:
        await database.close()


async def test_a_changed_migration_is_refused(empty_url: str) -> None:
    database = await opened(empty_url)
    changed = a_migration(1, "CREATE TABLE hyphaedb.one (a bigint)")
    try:
        await migrate.migrate(database, NOW, (ONE,))
        with pytest.raises(Conflict, match="checksum"):
            await migrate.migrate(database, NOW, (changed,))
        with pytest.raises(Conflict, match="checksum"):
            await migrate.require_current(database, (changed,))
    finally:
        await database.close()


async def test_a_newer_schema_is_refused(empty_url: str) -> None:
    database = await opened(empty_url)
    try:
        await migrate.migrate(database, NOW, (ONE, TWO))
        with pytest.raises(Unsupported, match="Upgrade hyphaedb"):
            await migrate.require_current(database, (ONE,))
        with pytest.raises(Unsupported, match="Upgrade hyphaedb"):
            await migrate.migrate(database, NOW, (ONE,))
    finally:
        await database.close()


async def test_a_migration_that_breaks_off_leaves_nothing_and_may_run_again(empty_url: str) -> None:
    database = await opened(empty_url)
    broken = a_migration(2, "CREATE TABLE hyphaedb.two (a integer); SELECT 1/0")
    try:
        with pytest.raises(HyphaeError):
            await migrate.migrate(database, NOW, (ONE, broken))
        async with database.read() as tx:
            there = await rows(
                tx,
                b"SELECT to_regclass('hyphaedb.one') IS NULL, to_regclass('hyphaedb.two') IS NULL",
            )
        assert there == [(False, True)]
        assert await migrate.migrate(database, NOW, (ONE, TWO)) == [2]
    finally:
        await database.close()


async def test_a_role_that_may_not_install_pgvector_is_told_what_to_ask_for(empty_url: str) -> None:
    name = sql.Identifier("hyphaedb_plain_role")
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(name))
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'plain'").format(name))
    try:
        database = await opened(
            make_conninfo(empty_url, user="hyphaedb_plain_role", password="plain")
        )
        try:
            with pytest.raises(Unsupported, match="CREATE EXTENSION vector"):
                await migrate.migrate(database, NOW)
        finally:
            await database.close()
    finally:
        with psycopg.connect(empty_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP ROLE {}").format(name))


def test_the_shipped_migrations_are_numbered_without_gaps() -> None:
    assert [m.version for m in migrate.shipped()] == list(range(1, len(migrate.shipped()) + 1))
