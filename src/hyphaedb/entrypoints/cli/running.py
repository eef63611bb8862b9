"""The note a running server leaves: where it listens, for the commands beside it.

It holds no secret: which database it serves is told by a hash of the URL, so that a command with
another database does not end up at this one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hyphaedb.config import Config
from hyphaedb.entrypoints.cli.printing import note

NAME = "server.json"


@dataclass(frozen=True, slots=True)
class Running:
    """A server on this machine."""

    pid: int
    host: str
    port: int
    database: str

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def _path(config: Config) -> Path:
    import platformdirs

    where = Path(config.data_dir) if config.data_dir else platformdirs.user_data_path("hyphaedb")
    return where.expanduser() / NAME


def _database(config: Config) -> str:
    if not config.database_url:
        return "embedded"
    return hashlib.sha256(config.database_url.encode()).hexdigest()[:16]


def find(config: Config) -> Running | None:
    """The server of this database on this machine, if its process lives."""
    path = _path(config)
    try:
        said = json.loads(path.read_text())
        found = Running(
            int(said["pid"]), str(said["host"]), int(said["port"]), str(said["database"])
        )
        if not 0 < found.port < 65_536:
            raise ValueError(found.port)
        alive = _alive(found.pid)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, ArithmeticError):
        note(f"{path} cannot be read and is ignored.")
        return None
    if not alive:
        note(f"The server that left {path} is gone; opening the database itself.")
        return None
    return found if found.database == _database(config) else None


@contextmanager
def announced(config: Config, host: str, port: int) -> Iterator[None]:
    """Leave the note while the block runs. Without a place to write it, say so and go on."""
    path = _path(config)
    mine = {"pid": os.getpid(), "host": host, "port": port, "database": _database(config)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(mine))
        fresh.replace(path)  # whole or not at all, whoever reads meanwhile
    except OSError as error:
        note(f"{path} cannot be written ({error.strerror}); give other commands --url.")
    try:
        yield
    finally:
        with suppress(OSError, ValueError, KeyError):
            if json.loads(path.read_text())["pid"] == os.getpid():
                path.unlink()


def _alive(pid: int) -> bool:
    import psutil

    return bool(psutil.pid_exists(pid))
