"""What a server must be before anything is asked of it: its address, its version, its pgvector."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg.conninfo import conninfo_to_dict

from hyphaedb.errors import Invalid, Unsupported
from hyphaedb.store.faults import first_line

#: Postgres 15, and the first pgvector whose vacuum leaves an HNSW index whole.
SERVER_LEAST = 150_000
VECTOR_LEAST = (0, 8, 4)


@dataclass(frozen=True, slots=True)
class Server:
    """What the server said about itself. ``halfvec_oid`` is None until pgvector is installed."""

    version: int
    vector: str | None
    vector_available: str | None
    vector_schema: str | None
    halfvec_oid: int | None


def require(server: Server) -> None:
    """Refuse a server too old for HyphaeDB (Unsupported, with the way out)."""
    if server.version < SERVER_LEAST:
        raise Unsupported(
            f"The server is Postgres {server.version // 10_000}; 15 is the oldest that will do.",
            "Use a newer server, or leave HYPHAEDB_DATABASE_URL empty for the embedded one.",
        )
    found = server.vector or server.vector_available
    if found is None:
        raise Unsupported(
            "The server has no pgvector.",
            "Install pgvector 0.8.4 or newer on it, or leave HYPHAEDB_DATABASE_URL empty.",
        )
    parts = tuple(int(p) if p.isdigit() else 0 for p in found.split("."))
    if parts < VECTOR_LEAST:
        raise Unsupported(
            f"The server has pgvector {found}; below 0.8.4 a vacuum can damage its indexes.",
            "Install pgvector 0.8.4 or newer, then run ALTER EXTENSION vector UPDATE.",
        )


def check_url(url: str) -> None:
    """Refuse what is no Postgres URL (Invalid); says nothing about whether a server answers."""
    way_out = "Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or leave it empty."
    if "=" not in url and not url.startswith(("postgresql://", "postgres://")):
        raise Invalid("HYPHAEDB_DATABASE_URL is no Postgres URL.", way_out)
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise Invalid(
            f"HYPHAEDB_DATABASE_URL is no Postgres URL ({first_line(error)}).", way_out
        ) from error
    ports = str(parts.get("port") or "5432").split(",")
    if not all(port.isdigit() for port in ports if port):
        raise Invalid(f"HYPHAEDB_DATABASE_URL has port {parts['port']!r}.", way_out)
