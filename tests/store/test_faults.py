"""What the driver raises and what a caller sees: ours, with a way out, without SQL or SQLSTATE."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors as pg
from psycopg_pool import PoolTimeout

from hyphaedb.errors import Conflict, HyphaeError, Invalid, NotFound, Unavailable, Unsupported
from hyphaedb.store.faults import translate, translate_connect

WORTH_WAITING = (
    pg.DiskFull("could not extend file: No space left on device"),
    pg.QueryCanceled("canceling statement due to statement timeout"),
    pg.DeadlockDetected("deadlock detected"),
    pg.SerializationFailure("could not serialize access"),
    pg.AdminShutdown("terminating connection due to administrator command"),
    pg.CannotConnectNow("the database system is starting up"),
    pg.TooManyConnections("sorry, too many clients already"),
    pg.ReadOnlySqlTransaction("cannot execute INSERT in a read-only transaction"),
    psycopg.OperationalError("server closed the connection unexpectedly"),
    psycopg.InterfaceError("the connection is closed"),
    PoolTimeout("couldn't get a connection after 10.00 sec"),
)


@pytest.mark.parametrize("error", WORTH_WAITING, ids=lambda e: type(e).__name__)
def test_what_passes_by_itself_is_unavailable_and_says_when_to_come_back(
    error: psycopg.Error,
) -> None:
    found = translate(error)
    assert type(found) is Unavailable
    assert found.retry_after_s is not None
    assert found.remedy


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (pg.UniqueViolation("duplicate key value"), Conflict),
        (pg.ForeignKeyViolation("is not present in table"), NotFound),
        (pg.CheckViolation("violates check constraint"), Conflict),
        (pg.NumericValueOutOfRange("integer out of range"), Invalid),
        (pg.UntranslatableCharacter("\\u0000 cannot be converted to text"), Invalid),
        (pg.InsufficientPrivilege("permission denied for schema hyphaedb"), Unsupported),
        (pg.UndefinedTable('relation "hyphaedb.cell" does not exist'), Unsupported),
        (pg.SyntaxError("syntax error at or near"), HyphaeError),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_other_error_is_of_our_family(error: psycopg.Error, kind: type) -> None:
    found = translate(error)
    assert type(found) is kind
    assert found.remedy


def test_only_the_first_line_of_what_the_driver_said_is_passed_on() -> None:
    """The lines below it quote the statement."""
    found = translate(pg.UndefinedTable('relation "x" does not exist\nLINE 1: SELECT secret'))
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    "said",
    [
        'FATAL:  database "nothing" does not exist',
        'FATAL:  role "nobody" does not exist',
        'FATAL:  password authentication failed for user "ada"',
        "failed to resolve host 'nowhere.invalid': [Errno -2] Name or service not known",
        "fe_sendauth: no password supplied",
    ],
)
def test_a_refused_log_in_points_at_the_url(said: str) -> None:
    found = translate_connect(psycopg.OperationalError(said))
    assert type(found) is Invalid
    assert "HYPHAEDB_DATABASE_URL" in found.message
