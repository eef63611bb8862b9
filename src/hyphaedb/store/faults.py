"""Postgres's errors as HyphaeDB's: no SQLSTATE and no driver exception leaves the store."""

from __future__ import annotations

import psycopg
from psycopg import errors as pg
from psycopg_pool import PoolClosed, PoolTimeout

from hyphaedb.errors import Conflict, HyphaeError, Invalid, NotFound, Unavailable, Unsupported

#: Waiting this long is worth it where the server was restarting or busy, in seconds.
RETRY_S = 1.0


def first_line(error: BaseException) -> str:
    """What the driver said, cut to its first line: enough to act on, no query text."""
    text = str(error).strip()
    return text.splitlines()[0][:300] if text else type(error).__name__


def translate(error: psycopg.Error) -> HyphaeError:
    """The error a caller may see for one the driver raised."""
    said = first_line(error)
    if isinstance(error, pg.DiskFull):
        return Unavailable(
            f"The database's disk is full ({said}).",
            "Free space on the database's disk; what was acknowledged is safe.",
            retry_after_s=10 * RETRY_S,
        )
    if isinstance(error, pg.QueryCanceled):
        return Unavailable(
            f"The database gave up on a statement ({said}).",
            "Try again, or raise HYPHAEDB_STATEMENT_TIMEOUT_S.",
            retry_after_s=RETRY_S,
        )
    if isinstance(error, pg.IdleInTransactionSessionTimeout):
        return Unavailable(
            f"The database ended a transaction in which nothing happened ({said}).",
            "Try again; nothing of it was written. The process must have stood still meanwhile.",
            retry_after_s=RETRY_S,
        )
    if isinstance(error, (pg.DeadlockDetected, pg.SerializationFailure, pg.LockNotAvailable)):
        return Unavailable(
            f"Two transactions stood in each other's way ({said}).",
            "Try again.",
            retry_after_s=RETRY_S,
        )
    if isinstance(error, (pg.UndefinedTable, pg.UndefinedColumn, pg.InvalidSchemaName)):
        return Unsupported(
            f"The database's schema is not the one this version needs ({said}).",
            "Run `hyphaedb db migrate`.",
        )
    if isinstance(error, pg.ForeignKeyViolation):
        # Nothing is referred to that was not looked up before: it went between look and write.
        return NotFound(
            f"What this refers to was erased a moment ago ({said}).",
            "Look again: a cell, an agent or the whole mesh is gone.",
        )
    if isinstance(error, psycopg.IntegrityError):
        return Conflict(f"The database refused a contradiction ({said}).", "Read it again first.")
    if isinstance(error, psycopg.DataError):
        return Invalid(f"The database refused a value ({said}).", "Correct the value.")
    if isinstance(error, pg.InsufficientPrivilege):
        return Unsupported(
            f"The database role may not do this ({said}).",
            "Grant it, or use a role that owns the hyphaedb schema.",
        )
    if isinstance(error, pg.ReadOnlySqlTransaction):
        return Unavailable(
            f"The database takes no writes ({said}).",
            "Point HYPHAEDB_DATABASE_URL at the primary server.",
            retry_after_s=RETRY_S,
        )
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return _unconnected(error, said)
    return HyphaeError(f"The database refused a statement ({said}).", "Report this as a bug.")


def _unconnected(error: psycopg.Error, said: str) -> Unavailable:
    """There was no connection to be had, or it broke."""
    if isinstance(error, PoolClosed):
        return Unavailable(
            "The mesh, or the home it belongs to, is closed.", "Open it again with open_mesh()."
        )
    if isinstance(error, PoolTimeout):
        return Unavailable(
            f"The database cannot be reached, or all connections to it are busy ({said}).",
            "Check that it runs; under load, raise HYPHAEDB_POOL_SIZE or send less at a time.",
            retry_after_s=RETRY_S,
        )
    return Unavailable(
        f"The database cannot be reached ({said}).",
        "Check that it runs and that HYPHAEDB_DATABASE_URL is right, then try again.",
        retry_after_s=RETRY_S,
    )


def translate_connect(error: psycopg.Error) -> HyphaeError:
    """The same for the first connection, where a wrong URL must be told from a server that is away.

    libpq gives no SQLSTATE for a refused log-in, so its wording decides; where that is translated
    the answer falls back to Unavailable with the server's own words.
    """
    said = first_line(error)
    # libpq's line ends with the server's FATAL; the earlier part names the socket or host.
    wrong = (
        "does not exist",
        "authentication failed",
        "failed to resolve host",
        "could not translate host name",
        "no password supplied",
        "no pg_hba.conf",
    )
    if any(sign in str(error) for sign in wrong):
        return Invalid(
            f"HYPHAEDB_DATABASE_URL does not lead to a database ({said}).",
            "Correct the host, the database, the user or the password in it.",
        )
    return translate(error)
