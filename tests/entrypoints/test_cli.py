"""The command line as a person or a script meets it: real processes on a real database."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import pytest

from hyphaedb.config import Config
from hyphaedb.entrypoints.cli import running
from hyphaedb.errors import NotFound
from hyphaedb.mesh import Home, Mesh
from hyphaedb.model import CellId, CellType, DiffState, Interests, NewCell, Wait
from tests.entrypoints.conftest import COMMAND, COMMAND_S, Cli, environment

pytestmark = pytest.mark.slow

DECISION = "The public API allows 100 requests a minute for each client."


@pytest.fixture
async def team(home: Home, mesh_name: str) -> Mesh:
    """The mesh that the commands work in, with an author and a reader; no worker runs here."""
    mesh = await home.mesh(mesh_name, worker=False)
    await mesh.register("ada")
    await mesh.register("bob", interests=Interests("clients of the API"))
    await mesh.beacon("bob", "limits", "A limit on requests to the public API", radius=0.3)
    return mesh


@pytest.fixture
async def told(team: Mesh, home: Home, mesh_name: str) -> CellId:
    """A decision of ada's that has reached bob."""
    worked = await home.mesh(mesh_name)
    cell = NewCell(DECISION, salience=0.9, tags=("api",))
    stored = await worked.store(cell, agent="ada", wait=Wait.DELIVERED)
    await worked.close()
    assert (await team.receipt(stored.cell_id)).delivered == ("bob",)
    return stored.cell_id


@asynccontextmanager
async def running_command(
    config: Config, mesh: str, *arguments: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A command that keeps running while the block does; interrupted if the block did not."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        env=environment(config, mesh),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.communicate(), COMMAND_S)


async def first_line(process: asyncio.subprocess.Process) -> str:
    """What a command says once it runs."""
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), COMMAND_S)).decode()


class TestOneShot:
    async def test_with_no_worker_running_a_store_pumps_until_its_own_diff_has_settled(
        self, team: Mesh, cli: Cli
    ) -> None:
        ran = await cli("store", DECISION, "--agent", "ada", "--type", "decision", "--json")

        assert ran.code == 0, ran.err
        assert ran.json["state"] == "done"
        assert ran.json["receipt"]["delivered"] == ["bob"]
        receipt = await team.receipt(CellId(UUID(ran.json["cell_id"])))
        assert (receipt.state, receipt.delivered) == (DiffState.DONE, ("bob",))

    async def test_the_body_comes_from_standard_input(self, team: Mesh, cli: Cli) -> None:
        ran = await cli("store", "-", "--agent", "ada", "--json", stdin="Größe: 3 µm\n".encode())

        assert (await team.cell(CellId(UUID(ran.json["cell_id"])))).body == "Größe: 3 µm"

    @pytest.mark.usefixtures("team")
    async def test_bytes_that_are_no_text_are_refused(self, cli: Cli) -> None:
        refused = await cli("store", "-", "--agent", "ada", stdin=b"\xff\xfe")

        assert refused.code == 64
        assert refused.err.startswith("error[invalid]: Standard input is not UTF-8.")

    @pytest.mark.usefixtures("told")
    async def test_an_inbox_is_read_and_acknowledged(self, team: Mesh, cli: Cli) -> None:
        read, whole = await asyncio.gather(cli("inbox", "bob"), cli("inbox", "bob", "--json"))
        cursor = str(whole.json["items"][0]["cursor"])
        marked = await cli("acknowledge", "bob", cursor, "--json")

        for part in (DECISION[:40], "from ada", "score", "beacon", "ago"):
            assert part in read.out
        assert marked.json == {"acknowledged": 1}
        assert (await cli("acknowledge", "bob", cursor)).out.startswith(
            "Marked none: nothing unread"
        )
        assert (await team.inbox("bob")).unread == 0

    async def test_a_trace_tells_who_received_who_did_not_and_why_in_80_columns(
        self, told: CellId, cli: Cli
    ) -> None:
        read, whole = await asyncio.gather(
            cli("trace", str(told)), cli("trace", str(told), "--json")
        )

        assert read.code == 0
        assert max(len(line) for line in read.out.splitlines()) <= 80
        assert "\x1b" not in read.out
        for part in ("Energy", "gate", "settled", "bob", "by its beacon", "Not delivered", "ada"):
            assert part in read.out
        assert {r["agent"]: r["reason"] for r in whole.json["refused"]} == {"ada": "own_knowledge"}

    async def test_a_trace_says_of_whoever_was_below_the_gate_how_near_it_was(
        self, team: Mesh, home: Home, mesh_name: str, cli: Cli
    ) -> None:
        """Both parts of the score stand whole in the line, for the interest mostly decides."""
        await team.register("a-cook-with-a-name-of-many-letters", interests=Interests("soups"))
        worked = await home.mesh(mesh_name)
        stored = await worked.store(DECISION, agent="ada", wait=Wait.DELIVERED)
        await worked.close()

        read = await cli("trace", str(stored.cell_id))

        assert re.search(
            r"score \d\.\d\d \(relevance \d\.\d\d, interest \d\.\d\d\)$", read.out, re.M
        )
        assert max(len(line) for line in read.out.splitlines()) <= 80

    @pytest.mark.usefixtures("team")
    async def test_an_agent_is_shown_with_all_that_it_declared(self, cli: Cli) -> None:
        shown = await cli(
            "agent", "add", "cy", "--interests", "soups", "--tag", "food", "-t", "risk"
        )

        assert "tags: food; types: risk; soups" in shown.out

    async def test_what_is_stored_is_found_and_says_who_saw_it(
        self, told: CellId, cli: Cli
    ) -> None:
        found, read, seen = await asyncio.gather(
            cli("recall", "how many requests?", "--tag", "api", "--json"),
            cli("recall", "how many requests?"),
            cli("who-saw", str(told), "--json"),
        )

        assert [hit["cell"]["cell_id"] for hit in found.json["hits"]] == [str(told)]
        assert read.out.startswith("1. ")
        assert DECISION in read.out
        assert {s["agent"] for s in seen.json["seen"]} == {"ada", "bob"}

    @pytest.mark.usefixtures("team")
    async def test_recall_can_be_held_to_the_session_a_cell_came_from(self, cli: Cli) -> None:
        """Another thing than the session that asks."""
        stored = await cli("store", DECISION, "--agent", "ada", "--session", "monday", "--json")

        asked = ("recall", "how many requests?", "--session", "tuesday", "--json", "--from-session")
        found, missed = [await cli(*asked, session) for session in ("monday", "tuesday")]

        assert [h["cell"]["cell_id"] for h in found.json["hits"]] == [stored.json["cell_id"]]
        assert missed.json["hits"] == []

    async def test_an_update_keeps_what_it_does_not_say_anew(
        self, team: Mesh, told: CellId, cli: Cli
    ) -> None:
        ran = await cli("update", str(told), "Two hundred.", "-a", "ada", "-t", "risk", "--json")

        new = await team.cell(CellId(UUID(ran.json["cell_id"])))
        assert (new.type, new.salience, new.tags) == (CellType.RISK, 0.9, ("api",))

    @pytest.mark.usefixtures("team")
    async def test_whoever_reads_that_a_cell_was_taken_back_reads_why(
        self, told: CellId, cli: Cli
    ) -> None:
        ran = await cli("retract", str(told), "--agent", "ada", "--reason", "Nobody measured it.")
        inbox = await cli("inbox", "bob")
        asked = await cli("recall", "something else", "--agent", "bob", "--floor", "0")

        assert ran.out.startswith(f"Taken back: {told}")
        assert "reason: Nobody measured it." in inbox.out
        assert f"retracted: {DECISION[:40]}" in asked.out

    async def test_a_forgotten_cell_is_gone_from_everywhere(
        self, team: Mesh, told: CellId, cli: Cli
    ) -> None:
        assert (await cli("forget", str(told), "--json")).json == {"erased": 1}

        with pytest.raises(NotFound):
            await team.cell(told)
        assert (await team.inbox("bob")).items == ()

    async def test_many_cells_come_from_a_file_of_json_lines(
        self, team: Mesh, cli: Cli, tmp_path: Path
    ) -> None:
        lines = [json.dumps({"body": f"Service {n} owns table {n}."}) for n in range(5)]
        file = tmp_path / "cells.jsonl"
        file.write_text("\n".join([*lines, "", lines[0]]))

        ran = await cli("import", str(file), "--agent", "ada", "--json")

        assert ran.code == 0, ran.err
        assert (ran.json["created"], sum(ran.json.values())) == (5, 6)
        assert (await team.stats()).cells == 5

    async def test_a_bad_line_of_a_file_is_named_and_nothing_of_its_batch_stored(
        self, team: Mesh, cli: Cli, tmp_path: Path
    ) -> None:
        file = tmp_path / "cells.jsonl"
        file.write_text('{"body": "Fine."}\n{"boddy": "Not fine."}\n')

        refused = await cli("import", str(file), "--agent", "ada")

        assert refused.code == 64
        assert "Line 2" in refused.err
        assert (await team.stats()).cells == 0

    async def test_a_paused_mesh_takes_a_store_and_does_not_wait(
        self, team: Mesh, cli: Cli
    ) -> None:
        assert (await cli("pause", "--json")).json["paused"] is True

        ran = await cli("store", DECISION, "--agent", "ada", "--json")

        assert (ran.code, ran.json["state"]) == (0, "pending")
        assert (await team.stats()).pending == 1

    async def test_doctor_says_of_each_thing_how_it_is(self, cli: Cli) -> None:
        looked = await cli("doctor", "--json")

        assert looked.code == 0, looked.out
        assert all(check["ok"] for check in looked.json["checks"])


class TestMistakes:
    async def test_a_mistake_in_the_call_is_told_like_any_other(self, cli: Cli) -> None:
        refused = await cli("store", "x")

        assert refused.code == 64
        assert refused.err.startswith("error[invalid]: Missing option '--agent'")
        assert "hyphaedb store --help" in refused.err
        assert refused.out == ""

    async def test_with_json_it_is_a_problem_object(self, cli: Cli) -> None:
        refused = await cli("inboxx", "--json")

        assert refused.code == 64
        assert refused.problem["code"] == "invalid"

    @pytest.mark.parametrize(
        ("given", "where"),
        [
            (("--mesh", "x", "stats"), "hyphaedb COMMAND … --mesh"),
            (("agent", "--url", "http://127.0.0.1:9", "list"), "hyphaedb agent COMMAND … --url"),
        ],
    )
    async def test_a_shared_option_before_the_command_is_told_its_place(
        self, cli: Cli, given: tuple[str, ...], where: str
    ) -> None:
        refused = await cli(*given)

        assert refused.code == 64
        assert f"Put it behind: {where}" in refused.err

    async def test_an_id_that_is_none_is_refused(self, cli: Cli) -> None:
        refused = await cli("trace", "abc")

        assert refused.code == 64
        assert "Give an id as HyphaeDB printed it" in refused.err

    async def test_a_server_that_was_named_and_is_not_there_is_an_error(self, cli: Cli) -> None:
        refused = await cli("stats", "--url", "http://127.0.0.1:9")

        assert refused.code == 69
        assert refused.err.endswith("Start it with: hyphaedb up\n")

    async def test_a_variable_that_is_no_setting_is_refused(self, cli: Cli) -> None:
        refused = await cli("stats", HYPHAEDB_PROT="1")

        assert refused.code == 64
        assert "HYPHAEDB_PROT" in refused.err

    async def test_no_secret_is_shown(self, cli: Cli, config: Config) -> None:
        shown = await cli("config", "--json")

        assert shown.json["database_url"] == "***"
        assert config.database_url not in shown.out


class TestServer:
    @pytest.mark.usefixtures("team")
    async def test_commands_find_the_server_that_is_up_and_an_interrupt_ends_it_cleanly(
        self, config: Config, mesh_name: str, cli: Cli
    ) -> None:
        async with running_command(config, mesh_name, "up", "--port", "0", "--json") as process:
            said = json.loads(await first_line(process))
            found = running.find(config)
            assert found is not None
            assert found.url == said["url"]

            ran = await cli("store", DECISION, "--agent", "ada", "--wait", "--json")
            assert ran.json["receipt"]["delivered"] == ["bob"]

            process.send_signal(signal.SIGINT)
            _, err = await asyncio.wait_for(process.communicate(), COMMAND_S)
        assert process.returncode == 130
        assert b"Traceback" not in err
        assert running.find(config) is None

    async def test_a_note_of_a_server_that_is_gone_is_ignored_with_a_word(
        self, config: Config, cli: Cli
    ) -> None:
        gone = await asyncio.create_subprocess_exec("true")
        await gone.wait()
        note = Path(config.data_dir) / running.NAME
        note.parent.mkdir(parents=True, exist_ok=True)
        left = {"pid": gone.pid, "host": "127.0.0.1", "port": 9, "database": "embedded"}
        note.write_text(json.dumps(left))

        looked = await cli("stats", "--json")

        assert looked.code == 0
        assert looked.json["cells"] == 0
        assert "is gone" in looked.err

    @pytest.mark.parametrize(("wanted", "made"), [("default", True), ("a typo", False)])
    async def test_up_beside_other_meshes_makes_the_one_that_ships_and_no_other(
        self, wanted: str, made: bool, config: Config, home: Home, mesh_name: str
    ) -> None:
        """A demo may have left a mesh first; the commands that `up` proposes must work after it."""
        async with running_command(config, wanted, "up", "--port", "0", "--json") as process:
            assert json.loads(await first_line(process))["made"] is made
        names = {info.name for info in await home.meshes()}
        assert mesh_name in names
        assert (wanted in names) is made

    async def test_a_port_that_is_taken_says_what_to_do(self, cli: Cli) -> None:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]

            refused = await cli("up", "--port", str(port))

        assert refused.code == 69
        assert f"Port {port} on 127.0.0.1 is in use" in refused.err
        assert "--port" in refused.err

    async def test_an_address_others_could_reach_is_refused(self, cli: Cli) -> None:
        refused = await cli("serve", "--host", "0.0.0.0", "--port", "0")  # noqa: S104  the point

        assert refused.code == 77
        assert "until there are keys" in refused.err

    async def test_a_worker_of_its_own_runs_what_waits_and_ends_when_told(
        self, config: Config, mesh_name: str, team: Mesh
    ) -> None:
        stored = await team.store(DECISION, agent="ada")
        async with running_command(config, mesh_name, "work", "--json") as process:
            await first_line(process)
            assert await team.settle(timeout_s=COMMAND_S) == 0
            process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(process.communicate(), COMMAND_S)
        assert process.returncode == 0
        assert (await team.receipt(stored.cell_id)).delivered == ("bob",)


class TestHomes:
    async def test_a_mesh_is_made_once_and_listed(self, cli: Cli, mesh_name: str) -> None:
        made = await cli("mesh", "create", f"{mesh_name}-2", "--json")
        listed, again = await asyncio.gather(
            cli("mesh", "list", "--json"), cli("mesh", "create", f"{mesh_name}-2")
        )

        assert made.json["name"] == f"{mesh_name}-2"
        assert {mesh_name, f"{mesh_name}-2"} <= {m["name"] for m in listed.json["meshes"]}
        assert again.code == 65

    async def test_a_mesh_is_dropped_only_by_who_says_so_twice(
        self, cli: Cli, mesh_name: str
    ) -> None:
        unsure = await cli("mesh", "drop", mesh_name)
        assert unsure.code == 64
        assert "--yes" in unsure.err
        assert mesh_name in [
            m["name"] for m in (await cli("mesh", "list", "--json")).json["meshes"]
        ]

        dropped = await cli("mesh", "drop", mesh_name, "--yes", "--json")

        assert dropped.json == {"mesh": mesh_name, "cells": 0}
        assert (await cli("mesh", "drop", mesh_name, "--yes")).code == 66

    async def test_the_schema_is_migrated_when_asked_and_once(
        self, cli: Cli, empty_url: str
    ) -> None:
        before = await cli("db", "status", "--json", HYPHAEDB_DATABASE_URL=empty_url)
        applied = await cli("db", "migrate", "--json", HYPHAEDB_DATABASE_URL=empty_url)
        again = await cli("db", "migrate", "--json", HYPHAEDB_DATABASE_URL=empty_url)

        assert all(m["applied_at"] is None for m in before.json["migrations"])
        assert applied.json["applied"] == [m["version"] for m in before.json["migrations"]]
        assert again.json["applied"] == []
