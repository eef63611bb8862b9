"""The command line as a person or a script meets it: real processes, one database a module."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pytest

from hyphaedb.config import Config
from hyphaedb.entrypoints.cli import running
from tests.entrypoints.conftest import COMMAND, COMMAND_S, Cli, environment

pytestmark = pytest.mark.slow

DECISION = "The public API allows 100 requests a minute for each client."
WATCHED = "A limit on requests to the public API"


@pytest.fixture
def team(cli: Cli) -> Cli:
    """A command line whose mesh has an author and a reader with a beacon."""
    assert cli("agent", "add", "ada", "--json").code == 0
    assert cli("agent", "add", "bob", "--interests", "clients of the API", "--json").code == 0
    placed = cli("beacon", "add", "bob", "limits", WATCHED, "--radius", "0.3", "--json")
    assert placed.code == 0, placed.err
    return cli


@contextmanager
def up(config: Config, mesh: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A server started with ``hyphaedb up``; ended with an interrupt if the block did not."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        env=environment(config, mesh),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=COMMAND_S)


class TestOneShot:
    def test_with_no_worker_running_a_store_pumps_until_its_own_diff_has_settled(
        self, team: Cli
    ) -> None:
        stored = team("store", DECISION, "--agent", "ada", "--type", "decision", "--json")
        assert stored.code == 0, stored.err
        cell = stored.json["cell_id"]

        receipt = team("receipt", cell, "--json").json

        assert receipt["state"] == "done"
        assert receipt["delivered"] == ["bob"]

    def test_the_body_comes_from_standard_input(self, team: Cli) -> None:
        stored = team("store", "-", "--agent", "ada", "--json", stdin="Größe: 3 µm\n".encode())

        assert team("cell", stored.json["cell_id"], "--json").json["body"] == "Größe: 3 µm"

    def test_bytes_that_are_no_text_are_refused(self, team: Cli) -> None:
        refused = team("store", "-", "--agent", "ada", stdin=b"\xff\xfe")

        assert refused.code == 64
        assert refused.err.startswith("error[invalid]: Standard input is not UTF-8.")

    def test_an_inbox_is_read_acknowledged_and_empty(self, team: Cli) -> None:
        team("store", DECISION, "--agent", "ada", "--salience", "0.9")

        told = team("inbox", "bob")
        page = team("inbox", "bob", "--json").json
        cursor = str(page["items"][0]["cursor"])
        marked = team("acknowledge", "bob", cursor, "--json")

        for part in (DECISION[:40], "from ada", "score", "beacon", "ago"):
            assert part in told.out
        assert marked.json == {"acknowledged": 1}
        assert team("inbox", "bob").out.startswith("Nothing new")

    def test_a_trace_tells_who_received_who_did_not_and_why_in_80_columns(self, team: Cli) -> None:
        team("agent", "add", "cook", "--interests", "recipes for soup and bread")
        cell = team("store", DECISION, "--agent", "ada", "--json").json["cell_id"]

        told = team("trace", cell)
        whole = team("trace", cell, "--json").json

        assert told.code == 0
        assert max(len(line) for line in told.out.splitlines()) <= 80
        assert "\x1b" not in told.out
        assert "Energy" in told.out
        assert "bob" in told.out
        assert "by its beacon" in told.out
        assert "Not delivered" in told.out
        assert {r["agent"] for r in whole["refused"]} >= {"cook"}

    def test_what_is_stored_is_found_and_says_who_saw_it(self, team: Cli) -> None:
        cell = team("store", DECISION, "--agent", "ada", "--tag", "api", "--json").json["cell_id"]

        found = team("recall", "how many requests?", "--tag", "api", "--json").json
        seen = team("who-saw", cell, "--json").json["seen"]

        assert [hit["cell"]["cell_id"] for hit in found["hits"]] == [cell]
        assert {s["agent"] for s in seen} == {"ada", "bob"}
        assert "1. " in team("recall", "how many requests?").out

    def test_a_forgotten_cell_is_gone_from_everywhere(self, team: Cli) -> None:
        cell = team("store", "The password is swordfish.", "--agent", "ada", "--json").json

        assert team("forget", cell["cell_id"], "--json").code == 0

        assert team("cell", cell["cell_id"]).code == 66
        assert team("recall", "password", "--json").json["hits"] == []

    def test_many_cells_come_from_a_file_of_json_lines(self, team: Cli, tmp_path: Path) -> None:
        lines = [json.dumps({"body": f"Service {n} owns table {n}.", "tags": ["map"]})
                 for n in range(5)]  # fmt: skip
        file = tmp_path / "cells.jsonl"
        file.write_text("\n".join([*lines, "", lines[0]]))

        first = team("import", str(file), "--agent", "ada", "--json")

        assert first.code == 0, first.err
        assert sum(first.json.values()) == 6
        assert first.json["created"] == 5

    def test_a_bad_line_of_a_file_is_named(self, team: Cli, tmp_path: Path) -> None:
        file = tmp_path / "cells.jsonl"
        file.write_text('{"body": "Fine."}\n{"boddy": "Not fine."}\n')

        refused = team("import", str(file), "--agent", "ada")

        assert refused.code == 64
        assert "Line 2" in refused.err
        assert team("stats", "--json").json["cells"] == 0

    def test_steering_is_seen_in_the_gauges(self, cli: Cli) -> None:
        assert cli("pause", "--json").json["paused"] is True
        assert cli("stats", "--json").json["paused"] is True
        assert cli("resume", "--json").json["paused"] is False
        assert cli("shadow", "--json").json["shadow"] is True
        assert cli("shadow", "--off", "--json").json["shadow"] is False

    def test_a_paused_mesh_takes_a_store_and_does_not_wait(self, team: Cli) -> None:
        team("pause")

        stored = team("store", DECISION, "--agent", "ada", "--json")

        assert (stored.code, stored.json["state"]) == (0, "pending")

    def test_doctor_says_of_each_thing_how_it_is(self, cli: Cli) -> None:
        looked = cli("doctor", "--json")

        assert looked.code == 0, looked.out
        assert all(check["ok"] for check in looked.json["checks"])


class TestMistakes:
    def test_a_mistake_in_the_call_is_told_like_any_other(self, cli: Cli) -> None:
        refused = cli("store", "x")

        assert refused.code == 64
        assert refused.err.startswith("error[invalid]: Missing option '--agent'")
        assert "hyphaedb store --help" in refused.err
        assert refused.out == ""

    def test_with_json_it_is_a_problem_object(self, cli: Cli) -> None:
        refused = cli("inboxx", "--json")

        assert refused.code == 64
        assert refused.problem["code"] == "invalid"

    def test_an_id_that_is_none_is_refused(self, cli: Cli) -> None:
        refused = cli("trace", "abc")

        assert refused.code == 64
        assert "Give an id as HyphaeDB printed it" in refused.err

    def test_a_server_that_was_named_and_is_not_there_is_an_error(self, cli: Cli) -> None:
        refused = cli("stats", "--url", "http://127.0.0.1:9")

        assert refused.code == 69
        assert refused.err.endswith("Start it with: hyphaedb up\n")

    def test_a_variable_that_is_no_setting_is_refused(self, cli: Cli) -> None:
        refused = cli("stats", HYPHAEDB_PROT="1")

        assert refused.code == 64
        assert "HYPHAEDB_PROT" in refused.err

    def test_no_secret_is_shown(self, cli: Cli, config: Config) -> None:
        shown = cli("config", "--json")

        assert shown.json["database_url"] == "***"
        assert config.database_url not in shown.out


class TestServer:
    def test_commands_find_the_server_that_is_up_and_an_interrupt_ends_it_cleanly(
        self, config: Config, mesh_name: str, team: Cli
    ) -> None:
        with up(config, mesh_name, "up", "--port", "0", "--json") as process:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            found = running.find(config)
            assert found is not None
            assert found.url == said["url"]

            stored = team("store", DECISION, "--agent", "ada", "--wait", "--json")
            assert stored.json["receipt"]["delivered"] == ["bob"]

            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=COMMAND_S)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert running.find(config) is None

    def test_a_note_of_a_server_that_is_gone_is_ignored_with_a_word(
        self, config: Config, cli: Cli
    ) -> None:
        gone = subprocess.Popen(["true"])
        gone.wait()
        note = Path(config.data_dir) / running.NAME
        note.parent.mkdir(parents=True, exist_ok=True)
        left = {"pid": gone.pid, "host": "127.0.0.1", "port": 9, "database": "embedded"}
        note.write_text(json.dumps(left))

        looked = cli("stats", "--json")

        assert looked.code == 0
        assert looked.json["cells"] == 0
        assert "is gone" in looked.err

    def test_a_port_that_is_taken_says_what_to_do(self, cli: Cli) -> None:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]

            refused = cli("up", "--port", str(port))

        assert refused.code == 69
        assert f"Port {port} on 127.0.0.1 is in use" in refused.err
        assert "--port" in refused.err

    def test_an_address_others_could_reach_is_refused(self, cli: Cli) -> None:
        refused = cli("serve", "--host", "0.0.0.0", "--port", "0")  # noqa: S104  the point

        assert refused.code == 77
        assert "until there are keys" in refused.err

    def test_a_worker_of_its_own_runs_what_waits(
        self, config: Config, mesh_name: str, team: Cli
    ) -> None:
        team("pause")
        cell = team("store", DECISION, "--agent", "ada", "--json").json["cell_id"]
        with up(config, mesh_name, "work", "--json") as process:
            assert process.stdout is not None
            process.stdout.readline()
            team("resume")
            assert team("settle", "--json").json == {"pending": 0}
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=COMMAND_S)
        assert process.returncode == 0
        assert team("receipt", cell, "--json").json["delivered"] == ["bob"]


class TestHomes:
    def test_a_mesh_is_made_and_listed(self, cli: Cli, mesh_name: str) -> None:
        made = cli("mesh", "create", f"{mesh_name}-2", "--json")

        assert UUID(made.json["mesh_id"]).int
        names = {m["name"] for m in cli("mesh", "list", "--json").json["meshes"]}
        assert {mesh_name, f"{mesh_name}-2"} <= names
        assert cli("mesh", "create", f"{mesh_name}-2").code == 65

    def test_the_schema_is_migrated_once(self, cli: Cli, empty_url: str) -> None:
        before = cli("db", "status", "--json", HYPHAEDB_DATABASE_URL=empty_url).json
        applied = cli("db", "migrate", "--json", HYPHAEDB_DATABASE_URL=empty_url).json
        again = cli("db", "migrate", "--json", HYPHAEDB_DATABASE_URL=empty_url).json

        assert all(m["applied_at"] is None for m in before["migrations"])
        assert applied["applied"] == [m["version"] for m in before["migrations"]]
        assert again["applied"] == []
