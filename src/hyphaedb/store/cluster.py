"""The files of the embedded Postgres: where they lie, how they are made, what is set in them.

A cluster is there whole or not at all, whatever interrupts its making; and as root, no directory
above it becomes readable to others.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

from hyphaedb.errors import Invalid

#: Our settings, included after the package's own. One machine, few users, much searching.
SETTINGS = """\
# Written by HyphaeDB at every start; put your own settings into postgresql.auto.conf.
listen_addresses = ''
unix_socket_permissions = 0700
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
#: How the name of a cluster begins that is still being made.
_MAKING = "postgres.new-"


def is_root() -> bool:
    """Whether the server will run as a user of its own, because Postgres refuses to be root."""
    return sys.platform != "win32" and os.geteuid() == 0


def place(home: Path) -> Path:
    """``home`` made if missing, and the cluster's directory inside it, which may be missing.

    Raises Invalid where ``home`` cannot be written or something else lies in the cluster's place.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not os.access(home, os.W_OK):
            raise PermissionError(f"{home} is not writable")
        cluster = home / "postgres"
        strange = cluster.exists() and not (cluster / "PG_VERSION").exists()
        strange = strange and any(cluster.iterdir())
    except OSError as error:
        raise Invalid(
            f"The data directory {home} cannot be used ({error.strerror or error}).",
            "Set HYPHAEDB_DATA_DIR to a directory this user may write.",
        ) from error
    if strange:
        raise Invalid(
            f"{cluster} is not empty and holds no Postgres data.",
            "Set HYPHAEDB_DATA_DIR to another directory; nothing was touched.",
        )
    return cluster


def make(cluster: Path, package: Any) -> None:
    """Make a cluster where there is none, whole or not at all.

    A kill or a full disk in the middle of it leaves files that no server starts on and that look
    like data. So it is made beside its place and moved there in one step; what an earlier try
    left is removed, for the register is held and whoever began it is gone.
    """
    for left in cluster.parent.glob(f"{_MAKING}*"):
        shutil.rmtree(left, ignore_errors=True)
    if (cluster / "PG_VERSION").exists():
        return
    making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=cluster.parent))
    try:
        package.get_server(making, cleanup_mode=None, start=False).ensure_pgdata_inited()
        configure(making)
        if cluster.exists():  # empty, or it would have been refused
            cluster.rmdir()
        making.rename(cluster)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def configure(cluster: Path) -> None:
    """Write our settings and have the server include them, last so that they win.

    What is right already is not written again: on a full disk the server still starts.
    """
    _write(cluster / _INCLUDE, SETTINGS)
    main = cluster / "postgresql.conf"
    line = f"include_if_exists '{_INCLUDE}'"
    text = main.read_text()
    if line not in text:
        _write(main, f"{text.rstrip()}\n{line}\n")


def _write(path: Path, text: str) -> None:
    """Make ``path`` say ``text``; a full disk or a kill leaves it as it was."""
    if path.exists() and path.read_text() == text:
        return
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text)
    if path.exists():
        shutil.copymode(path, fresh)
    if is_root():
        owner = path.parent.stat()
        os.chown(fresh, owner.st_uid, owner.st_gid)
    fresh.replace(path)


def modes(cluster: Path, package: Any) -> dict[Path, int]:
    """The permissions of every directory above the cluster and the wheel, where the package will
    widen them: as root it makes them readable to everybody."""
    if not is_root():
        return {}
    above = {*cluster.parents, *Path(package.__file__).resolve().parents}
    return {path: stat.S_IMODE(path.stat().st_mode) for path in above}


def close_again(modes: dict[Path, int]) -> None:
    """Undo the widening but for the right to pass through, which the server's user needs."""
    for path, mode in modes.items():
        passing = mode | stat.S_IXGRP | stat.S_IXOTH
        if stat.S_IMODE(path.stat().st_mode) != passing:
            path.chmod(passing)
