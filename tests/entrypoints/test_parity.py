"""No verb exists at one face only: each is compared with the one list, hyphaedb/verbs.py."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, Final

import pytest
import typer

from hyphaedb.config import Config
from hyphaedb.entrypoints.cli import app as command_line
from hyphaedb.entrypoints.rest.app import create_app
from hyphaedb.errors import Forbidden
from hyphaedb.mesh import Home, Mesh
from hyphaedb.remote import RemoteMesh
from hyphaedb.sync import SyncMesh
from hyphaedb.verbs import Verbs

ROOT: Final = Path(__file__).resolve().parents[2]
VERBS = sorted(name for name in vars(Verbs) if not name.startswith("_"))

#: `info` is a property of an opened mesh and `close` ends one: a server has the first as a
#: resource, and neither means anything to a command.
NO_ROUTE = {"close"}
NO_COMMAND = {"info", "close"}

#: Commands whose name is not the verb's.
COMMANDS = {
    "register": "agent add",
    "agents": "agent list",
    "retire": "agent retire",
    "store_many": "import",
    "beacon": "beacon add",
    "beacon_dry_run": "beacon try",
    "beacons": "beacon list",
    "remove_beacon": "beacon remove",
}

#: Operations of the server that are no verb of a mesh, and why.
BESIDE_THE_VERBS = {
    "healthz": "whether the process answers",
    "readyz": "whether it can do its work",
    "list_meshes": "meshes themselves belong to the home",
    "create_mesh": "meshes themselves belong to the home",
    "drop_mesh": "meshes themselves belong to the home",
    "lease_inbox": "inbox with a lease writes, so it is a POST",
}


def commands(group: Any, path: str = "") -> dict[str, set[str]]:
    """All commands below a group by the words one types, each with its options."""
    found: dict[str, set[str]] = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found |= commands(command, f"{path}{name} ")
        else:
            found[path + name] = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
    return found


@pytest.fixture
async def operations(home: Home, config: Config) -> set[str]:
    paths = create_app(home, config).openapi()["paths"]
    return {operation["operationId"] for path in paths.values() for operation in path.values()}


@pytest.mark.parametrize("kind", [Mesh, RemoteMesh])
@pytest.mark.parametrize("verb", VERBS)
def test_an_implementation_takes_exactly_what_the_verb_promises(kind: type, verb: str) -> None:
    promised = getattr(Verbs, verb)
    made = getattr(kind, verb)
    if isinstance(promised, property):
        assert isinstance(made, property)
    else:
        assert inspect.signature(made) == inspect.signature(promised)


@pytest.mark.parametrize("verb", VERBS)
def test_the_blocking_facade_has_every_verb(verb: str) -> None:
    assert hasattr(SyncMesh, verb)


@pytest.mark.parametrize("verb", sorted(set(VERBS) - NO_COMMAND))
def test_every_verb_is_a_command(verb: str) -> None:
    assert COMMANDS.get(verb, verb.replace("_", "-")) in commands(
        typer.main.get_command(command_line)
    )


def spoken() -> set[str]:
    """Every command line that a message or a page tells somebody to type."""
    texts = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    said = re.compile(r"(?:`|^    |: )hyphaedb ([a-z-]+[^`\n]*)", re.MULTILINE)
    return {line for text in texts for line in said.findall(text.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("line", sorted(spoken()))
def test_a_command_that_somebody_is_told_to_type_exists_with_its_options(line: str) -> None:
    known = commands(typer.main.get_command(command_line))
    words = [word.strip('",.') for word in line.split()]
    found = next((w for w in (" ".join(words[:2]), words[0]) if w in known), None)
    assert found is not None
    told = set(re.findall(r"(?<=\s)--[a-z-]+", line)) - {"--help"}
    assert told <= known[found]


async def test_every_verb_is_an_operation_of_the_server(operations: set[str]) -> None:
    assert operations - set(BESIDE_THE_VERBS) == set(VERBS) - NO_ROUTE


async def test_a_server_is_refused_an_address_others_could_reach(home: Home) -> None:
    with pytest.raises(Forbidden) as caught:
        create_app(home, Config(host="0.0.0.0"))  # noqa: S104  the point of the test
    assert "until there are keys" in caught.value.message
