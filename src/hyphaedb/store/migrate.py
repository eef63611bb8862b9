"""Migrations: numbered SQL files, applied in order, each whole or not at all.

The files under ``sql/migrations`` are history: once released they never change, and the recorded
sha256 says so if one does. An interrupted migration leaves nothing behind because each file runs
in one transaction together with its receipt.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

import psycopg
from psycopg import errors as pg

from hyphaedb.errors import Conflict, Unsupported
from hyphaedb.store.faults import first_line
from hyphaedb.store.pool import Database, Tx, rows, run
from hyphaedb.store.sql import query

_FILE = re.compile(r"^(\d{4})_([a-z0-9_]+)\.sql$")
#: Key of the advisory lock: any constant no other program is likely to use ("hyphaedb", folded).
LOCK_KEY = 0x6879_7068_6165_6462

_SCHEMA = b"""
CREATE SCHEMA IF NOT EXISTS hyphaedb;
CREATE TABLE IF NOT EXISTS hyphaedb.migration (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its number, its name and the sha256 of its bytes."""

    version: int
    name: str
    sql: bytes
    checksum: str


@dataclass(frozen=True, slots=True)
class Applied:
    """One line of ``status``: a migration and when it was applied here, None if it was not."""

    version: int
    name: str
    applied_at: datetime | None


@cache
def shipped() -> tuple[Migration, ...]:
    """The migrations of this version, in order."""
    found = []
    for entry in (files("hyphaedb.store.sql") / "migrations").iterdir():
        match = _FILE.match(entry.name)
        if match:
            data = entry.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            found.append(Migration(int(match[1]), match[2], data, digest))
    return tuple(sorted(found, key=lambda m: m.version))


async def status(
    database: Database, migrations: tuple[Migration, ...] | None = None
) -> list[Applied]:
    """What has been applied and what waits, oldest first; raises as :func:`require_current` does
    for a schema that is newer than this version or whose history was changed."""
    known = shipped() if migrations is None else migrations
    async with database.statement() as tx:
        applied = await _recorded(tx)
    _compare(known, applied)
    return [Applied(m.version, m.name, applied.get(m.version, (None, None))[1]) for m in known]


async def migrate(
    database: Database, now: datetime, migrations: tuple[Migration, ...] | None = None
) -> list[int]:
    """Bring the schema up to this version; returns the numbers applied now (often none).

    Any number of processes may call it at once: an advisory lock lets one work and the others
    find nothing left to do. Raises Conflict for changed history, Unsupported for a newer schema
    or where pgvector may not be installed by this role.
    """
    known = shipped() if migrations is None else migrations
    async with database.transaction() as tx:
        # Another's migration may take its time, and this one waits for it.
        await tx.execute("SET LOCAL statement_timeout = 0")
        await run(tx, query("lock_migrations"), {"key": LOCK_KEY})
        _compare(known, await _recorded(tx))
        await _prepare(tx)
    done = []
    for migration in known:
        async with database.transaction() as tx:
            await tx.execute("SET LOCAL statement_timeout = 0")
            await run(tx, query("lock_migrations"), {"key": LOCK_KEY})
            # Read again under the lock: another process may have been quicker.
            if migration.version in await _recorded(tx):
                continue
            await tx.execute(migration.sql)
            await run(
                tx,
                query("migration_record"),
                {
                    "version": migration.version,
                    "name": migration.name,
                    "checksum": migration.checksum,
                    "now": now,
                },
            )
            done.append(migration.version)
    await database.refresh()
    return done


async def require_current(
    database: Database, migrations: tuple[Migration, ...] | None = None
) -> None:
    """Refuse a schema that is older, newer or other than this version's."""
    waiting = [m.version for m in await status(database, migrations) if m.applied_at is None]
    if waiting:
        raise Unsupported(
            f"The database's schema is behind this version: {len(waiting)} migrations wait.",
            "Run `hyphaedb db migrate`.",
        )


async def _recorded(tx: Tx) -> dict[int, tuple[str, datetime]]:
    there = await rows(tx, query("migration_table"))
    if not there[0][0]:
        return {}
    return {r[0]: (r[2], r[3]) for r in await rows(tx, query("migrations_applied"))}


def _compare(known: tuple[Migration, ...], applied: dict[int, tuple[str, datetime]]) -> None:
    newest = max((m.version for m in known), default=0)
    if applied and max(applied) > newest:
        raise Unsupported(
            f"The database's schema ({max(applied)}) is newer than this HyphaeDB ({newest}).",
            "Upgrade hyphaedb to the version that migrated the database.",
        )
    for migration in known:
        found = applied.get(migration.version)
        if found is not None and found[0] != migration.checksum:
            raise Conflict(
                f"Migration {migration.version:04d}_{migration.name} is not the one that was"
                " applied here: its checksum differs.",
                "Install a released hyphaedb; released migrations never change.",
            )


async def _prepare(tx: Tx) -> None:
    try:
        await tx.execute("CREATE EXTENSION IF NOT EXISTS vector")
        await tx.execute(_SCHEMA)
    except pg.InsufficientPrivilege as error:
        raise Unsupported(
            f"This database role may not prepare the database ({first_line(error)}).",
            "Let an administrator run CREATE EXTENSION vector in it and grant CREATE on it.",
        ) from error
    except (pg.UndefinedFile, psycopg.NotSupportedError) as error:
        raise Unsupported(
            f"pgvector cannot be installed on this server ({first_line(error)}).",
            "Install pgvector 0.8.4 or newer on it, or leave HYPHAEDB_DATABASE_URL empty.",
        ) from error
