"""One real Postgres for all tests: HYPHAEDB_TEST_DATABASE_URL, or an embedded one for the run.

A template database is migrated once; every module works on a clone of it, every test in a mesh of
its own. Nothing is mocked.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from hyphaedb.model import MeshId
from hyphaedb.store import access, embedded, indexes, migrate
from hyphaedb.store.access import MeshRow
from hyphaedb.store.pool import Database

#: Small vectors keep store tests quick; 384 is what the shipped embedder makes.
DIMENSION = 8
DIMENSIONS = (DIMENSION, 384)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The driver runs on asyncio, so that is what the tests run on."""
    return "asyncio"


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A Postgres with pgvector for this run, and a role that may make databases."""
    given = os.environ.get("HYPHAEDB_TEST_DATABASE_URL")
    if given:
        yield given
        return
    home = Path(tempfile.mkdtemp(prefix="hyphaedb-tests-"))
    try:
        yield embedded.start(home)
    finally:
        embedded.stop(home)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def template(server_url: str) -> Iterator[str]:
    """The name of a migrated database that others are cloned from."""
    name = f"hyphaedb_template_{uuid4().hex[:12]}"
    _run(server_url, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    asyncio.run(_migrate(make_conninfo(server_url, dbname=name)))
    yield name
    _run(server_url, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def database_url(server_url: str, template: str) -> Iterator[str]:
    """A migrated database for one module."""
    name = f"hyphaedb_test_{uuid4().hex[:12]}"
    clone = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    _run(server_url, clone.format(sql.Identifier(name), sql.Identifier(template)))
    yield make_conninfo(server_url, dbname=name)
    _run(server_url, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def empty_url(server_url: str) -> Iterator[str]:
    """A database that was never migrated, for one test."""
    name = f"hyphaedb_empty_{uuid4().hex[:12]}"
    _run(server_url, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield make_conninfo(server_url, dbname=name)
    _run(server_url, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The module's database, opened for one test."""
    opened = await Database.open(database_url, pool_size=10)
    yield opened
    await opened.close()


@pytest.fixture
async def mesh(database: Database) -> MeshRow:
    """A fresh mesh of small vectors."""
    mesh_id = MeshId(uuid4())
    async with database.transaction() as tx:
        return await access.create_mesh(
            tx, mesh_id, f"mesh-{mesh_id.hex[:12]}", "test", DIMENSION, {}, datetime.now(UTC)
        )


def _run(url: str, statement: sql.Composed) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


async def _migrate(url: str) -> None:
    database = await Database.open(url, pool_size=2)
    try:
        await migrate.migrate(database, datetime.now(UTC))
        for dimension in DIMENSIONS:
            await indexes.ensure_vector_index(database, dimension)
    finally:
        await database.close()
