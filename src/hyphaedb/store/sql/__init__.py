"""Named queries: every statement HyphaeDB sends lives in a ``.sql`` file beside this one.

A query is a block that opens with ``-- name: xyz`` and a sentence of comment; its parameters are
written ``%(name)s`` so that the text can be pasted into psql with ``\\set``-like replacement.
They travel in binary. The few numbers of :data:`RENDERED` are the only
other holes: a partial HNSW index, and a plan that knows its limits, need literals in the text, so
they are rendered here, from whole numbers in their range and from nothing else.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

#: Ranges of the numbers that may be written into a query's text.
RENDERED: dict[str, tuple[int, int]] = {
    "layer": (0, 2),
    "dimension": (8, 3500),
    "limit": (1, 100_000),
    "rows": (1, 10_000),
    "ef": (1, 1_000),
}

QUERY_FILES = (
    "access.sql",
    "agents.sql",
    "bulk.sql",
    "cells.sql",
    "facts.sql",
    "forget.sql",
    "graph.sql",
    "inbox.sql",
    "jobs.sql",
    "journal.sql",
    "log.sql",
    "search.sql",
    "server.sql",
    "traces.sql",
)

_NAME = re.compile(r"^-- name: ([a-z][a-z0-9_]*)\s*$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_SPACE = re.compile(r"\s+")


def parse(text: str) -> dict[str, str]:
    """The queries of one file by name; raises ValueError where a name occurs twice."""
    parts = _NAME.split(text)
    found: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if name in found:
            raise ValueError(f"query {name} is written twice")
        # One line without comments: psycopg remembers how to convert texts below 4 KB only.
        found[name] = _SPACE.sub(" ", _COMMENT.sub("", body)).strip().rstrip(";")
    return found


@cache
def catalogue() -> dict[str, str]:
    """Every named query of the package as one line of SQL with its holes still open."""
    queries: dict[str, str] = {}
    for file in QUERY_FILES:
        for name, text in parse((files(__name__) / file).read_text("utf-8")).items():
            if name in queries:
                raise ValueError(f"query {name} is written twice")
            queries[name] = text
    return queries


def _rendered(text: str, numbers: dict[str, int]) -> str:
    for hole, number in numbers.items():
        low, high = RENDERED[hole]
        if not isinstance(number, int) or not low <= number <= high:
            raise ValueError(f"{hole} must be a whole number from {low} to {high}, not {number!r}")
        text = text.replace("{" + hole + "}", str(number))
    return text


@lru_cache(maxsize=None, typed=True)
def query(name: str, **numbers: int) -> bytes:
    """One query ready to send: holes filled, parameters marked for binary transfer."""
    return _rendered(catalogue()[name], numbers).replace(")s", ")b").encode()


@lru_cache(maxsize=None, typed=True)
def composed(
    name: str, clauses: tuple[str, ...], found: str | None = None, **numbers: int
) -> bytes:
    """A query whose ``{where}`` is filled with named clauses, joined by AND in the order given,
    and whose ``{found}`` is the query of that name, under the same clauses."""
    where = "".join(f" AND {catalogue()[clause]}" for clause in clauses)
    text = catalogue()[name]
    if found is not None:
        text = text.replace("{found}", catalogue()[found])
    text = text.replace("{where}", where)
    return _rendered(text, numbers).replace(")s", ")b").encode()
