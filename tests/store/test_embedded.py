"""The embedded server: shared by processes, outliving the kill of any, losing nothing."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from hyphaedb.errors import Invalid, Unavailable
from hyphaedb.store import embedded

#: Another process that uses the server until its standard input closes.
USER = """
import sys
from pathlib import Path
from hyphaedb.store import embedded
print(embedded.start(Path(sys.argv[1])), flush=True)
sys.stdin.read()
if len(sys.argv) < 3:
    embedded.stop(Path(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    """One data directory for the module: making one is the slow part."""
    parent = Path(tempfile.mkdtemp(prefix="hyphaedb-embedded-"))
    yield parent / "data"
    shutil.rmtree(parent, ignore_errors=True)


@pytest.fixture
def home(shared: Path) -> Iterator[Path]:
    """The module's data directory with no server on it, before and after."""
    yield shared
    for _ in range(3):
        embedded.stop(shared)


def another(home: Path, *how: str) -> tuple[subprocess.Popen[str], str]:
    """A second process on the same server, and the URL it was given."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", USER, str(home), *how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def leave(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=30)


def answers(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


def postmaster(home: Path) -> int:
    return int((home / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def test_the_last_to_leave_stops_the_server(home: Path) -> None:
    url = embedded.start(home)
    process, other_url = another(home)
    assert other_url == url
    assert embedded.stop(home) is False
    assert answers(url)
    leave(process)
    assert not answers(url)


def test_each_start_of_one_process_counts(home: Path) -> None:
    url = embedded.start(home)
    assert embedded.start(home) == url
    assert embedded.stop(home) is False
    assert answers(url)
    assert embedded.stop(home) is True
    assert not answers(url)


def test_a_killed_process_neither_stops_the_server_nor_keeps_it_for_ever(home: Path) -> None:
    process, url = another(home)
    assert embedded.start(home) == url
    process.kill()
    leave(process)
    assert answers(url)
    assert embedded.stop(home) is True
    assert not answers(url)


def test_a_process_that_forgets_to_leave_leaves_at_its_end(home: Path) -> None:
    process, url = another(home, "forgets")
    assert answers(url)
    leave(process)
    assert not answers(url)


def test_what_was_acknowledged_is_there_after_a_stop_and_after_a_kill(home: Path) -> None:
    url = embedded.start(home)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS kept")
        connection.execute("CREATE TABLE kept (n integer)")
        connection.execute("INSERT INTO kept VALUES (1)")
    assert embedded.stop(home) is True
    url = embedded.start(home)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO kept VALUES (2)")
        os.kill(postmaster(home), signal.SIGKILL)
    url = embedded.start(home)
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute("SELECT n FROM kept ORDER BY n").fetchall() == [(1,), (2,)]
    embedded.stop(home)
    assert embedded.stop(home) is True


def test_a_server_that_died_is_revived_by_one_of_its_users_and_stopped_by_the_last(
    home: Path,
) -> None:
    url = embedded.start(home)
    process, _ = another(home)
    assert embedded.revive(home) is False, "it is well"
    os.kill(postmaster(home), signal.SIGKILL)
    assert embedded.revive(home) is True
    assert answers(url)
    assert embedded.stop(home) is False
    leave(process)
    assert not answers(url), "whoever leaves last stops it, whoever brought it back"
    assert embedded.revive(home) is False, "who has left brings nothing back"
    assert not answers(url)


def test_our_settings_are_in_force_and_it_listens_on_no_address(home: Path) -> None:
    url = embedded.start(home)
    with psycopg.connect(url) as connection:
        shown = {
            name: connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
            for name in ("shared_buffers", "jit", "synchronous_commit", "listen_addresses")
        }
    assert shown == {
        "shared_buffers": ("256MB",),
        "jit": ("off",),
        "synchronous_commit": ("on",),
        "listen_addresses": ("",),
    }


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root only")
def test_as_root_directories_above_the_data_become_passable_not_readable(home: Path) -> None:
    parent = home.parent
    parent.chmod(0o700)
    embedded.start(home)
    assert stat.S_IMODE(parent.stat().st_mode) == 0o711


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "thesis.txt").write_text("mine")
    with pytest.raises(Invalid, match="HYPHAEDB_DATA_DIR"):
        embedded.start(tmp_path)
    assert (tmp_path / "postgres" / "thesis.txt").read_text() == "mine"


def test_a_data_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Invalid, match="HYPHAEDB_DATA_DIR"):
        embedded.start(tmp_path / "file" / "below")


def test_a_server_that_will_not_start_shows_the_end_of_its_log(home: Path) -> None:
    embedded.start(home)
    embedded.stop(home)
    (home / "postgres" / "postgresql.auto.conf").write_text("shared_buffers = 'nonsense'\n")
    with pytest.raises(Unavailable, match="nonsense") as caught:
        embedded.start(home)
    assert "HYPHAEDB_DATABASE_URL" in caught.value.remedy
    (home / "postgres" / "postgresql.auto.conf").write_text("")
    assert answers(embedded.start(home))


#: Begins a first start.
INTERRUPTED = """
import sys
from pathlib import Path
from hyphaedb.store import embedded
embedded.start(Path(sys.argv[1]))
"""


def first_start_interrupted(home: Path) -> None:
    """Kill a first start, and every process it started, in the middle of making the cluster."""
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", INTERRUPTED, str(home)])
    try:
        deadline = time.monotonic() + 60
        while not list(home.glob("postgres*/global/pg_control")):
            assert process.poll() is None, "it was over before it could be interrupted"
            assert time.monotonic() < deadline
            time.sleep(0.001)
    finally:
        starter = psutil.Process(process.pid)
        for each in [*starter.children(recursive=True), starter]:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        process.wait(timeout=30)


def test_a_first_start_that_was_killed_is_begun_again(tmp_path: Path) -> None:
    """Half a cluster has a version and looks like data, and no server ever starts on it."""
    first_start_interrupted(tmp_path)
    try:
        assert answers(embedded.start(tmp_path))
    finally:
        embedded.stop(tmp_path)
    assert sorted(p.name for p in tmp_path.glob("postgres*")) == ["postgres"]


def test_a_register_that_a_power_cut_emptied_is_begun_again(home: Path) -> None:
    embedded.start(home)
    (home / "users.json").write_text("")
    assert embedded.start(home)
    assert embedded.stop(home) is True


def test_settings_that_are_right_are_not_written_again(home: Path) -> None:
    """A full disk must not keep the server from starting."""
    embedded.start(home)
    embedded.stop(home)
    written = {p: p.stat().st_mtime_ns for p in (home / "postgres").glob("*.conf")}
    embedded.start(home)
    assert {p: p.stat().st_mtime_ns for p in written} == written


def test_a_start_that_fails_says_what_the_command_said(tmp_path: Path) -> None:
    """The wheel only logs it, by the page."""
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("18\n")
    (tmp_path / "postgres" / "postgresql.conf").write_text("")
    with pytest.raises(Unavailable, match=r"pg_ctl ended with status 1\. It said: ") as caught:
        embedded.start(tmp_path)
    assert "Command '(" not in caught.value.message
