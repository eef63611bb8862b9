"""Bad input reads the same through every face, and leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

import httpx2
import pytest

from hyphaedb import sync
from hyphaedb.errors import FACES, HyphaeError, NotFound
from hyphaedb.mesh import Mesh
from hyphaedb.model import CellId, CellType, Filter, MuteKind, NewCell, Stats
from hyphaedb.remote import RemoteMesh
from hyphaedb.verbs import Verbs
from tests.entrypoints.conftest import Cli

NOBODY = CellId(UUID("00000000-0000-7000-8000-000000000000"))


@dataclass(frozen=True)
class Bad:
    """One mistake: as a verb, and as a command where a shell can make it."""

    verb: Callable[[Any], Any]
    code: str
    remedy: str
    command: tuple[str, ...] | None = None
    stdin: bytes = b""
    variables: dict[str, str] = field(default_factory=dict)


def stores(cell: NewCell | str, agent: str = "ada") -> Callable[[Any], Any]:
    return lambda mesh: mesh.store(cell, agent=agent)


#: What arrives where a type checker was not asked.
UNTYPED: Any = 123

BAD = {
    "empty": Bad(stores("  "), "invalid", "Pass some text", ("store", "  ", "-a", "ada")),
    "over-long": Bad(
        stores("x" * 8_001), "invalid", "8000", ("store", "-", "-a", "ada"), b"x" * 8_001
    ),
    "non-text": Bad(stores(NewCell(UNTYPED)), "invalid", "Pass a string"),
    "NUL": Bad(stores("a\x00b"), "invalid", "Remove it", ("store", "-", "-a", "ada"), b"a\x00b"),
    "half a character": Bad(stores("a\ud800"), "invalid", "valid Unicode"),
    "unknown type": Bad(
        stores(NewCell("x", cast(CellType, "gossip"))),
        "invalid",
        "decision, constraint",
        ("store", "x", "-a", "ada", "--type", "gossip"),
    ),
    "salience above 1": Bad(
        stores(NewCell("x", salience=1.5)),
        "invalid",
        "from 0 to 1",
        ("store", "x", "-a", "ada", "--salience", "1.5"),
    ),
    "salience that is no number": Bad(
        stores(NewCell("x", salience=float("nan"))),
        "invalid",
        "from 0 to 1",
        ("store", "x", "-a", "ada", "--salience", "nan"),
    ),
    "an agent that never registered": Bad(
        stores("x", "adda"), "not_found", "egister", ("store", "x", "-a", "adda")
    ),
    "an inbox of nobody": Bad(
        lambda mesh: mesh.inbox("adda"), "not_found", "egister", ("inbox", "adda")
    ),
    "an unknown cell": Bad(lambda mesh: mesh.cell(NOBODY), "not_found", "", ("cell", str(NOBODY))),
    "an unknown wave": Bad(
        lambda mesh: mesh.trace(NOBODY), "not_found", "", ("trace", str(NOBODY))
    ),
    "a filter with an unknown type": Bad(
        lambda mesh: mesh.recall("x", where=Filter(types=(cast(CellType, "gossip"),))),
        "invalid",
        "decision, constraint",
        ("recall", "x", "--type", "gossip"),
    ),
    "a recall of no hits": Bad(
        lambda mesh: mesh.recall("x", k=0), "invalid", "from 1", ("recall", "x", "-k", "0")
    ),
    "an empty question": Bad(
        lambda mesh: mesh.recall(" "), "invalid", "Pass some text", ("recall", " ")
    ),
    "a cursor before the first": Bad(
        lambda mesh: mesh.inbox("ada", after=-1),
        "invalid",
        "",
        ("inbox", "ada", "--after", "-1"),
    ),
    "a radius beyond the cosine": Bad(
        lambda mesh: mesh.beacon("ada", "b", "text", radius=2.0),
        "invalid",
        "",
        ("beacon", "add", "ada", "b", "text", "--radius", "2"),
    ),
    "a mute of an unknown type": Bad(
        lambda mesh: mesh.mute(MuteKind.TYPE, "gossip"),
        "invalid",
        "decision, constraint",
        ("mute", "type", "gossip"),
    ),
}

EXIT_CODES = {kind.code: face.exit_code for kind, face in FACES.items()}

Said = tuple[str, str, str]


def said(error: HyphaeError) -> Said:
    return error.code, error.message, error.remedy


async def refusal(asked: Awaitable[object]) -> Said:
    with pytest.raises(HyphaeError) as caught:
        await asked
    return said(caught.value)


async def known(mesh: Verbs) -> Stats:
    await mesh.register("ada")
    return await mesh.stats()


@pytest.mark.parametrize("name", BAD)
async def test_a_mistake_reads_the_same_here_over_http_and_blocking(
    name: str, local: Mesh, remote: RemoteMesh, server: str
) -> None:
    before = await known(local)
    bad = BAD[name]

    code, message, remedy = here = await refusal(bad.verb(local))

    assert code == bad.code
    assert bad.remedy in remedy
    assert message
    assert remedy
    assert await refusal(bad.verb(remote)) == here
    assert await asyncio.to_thread(_blocking, server, local.info.name, bad) == here
    after = await local.stats()
    assert (after.cells, after.agents, after.beacons) == (
        before.cells,
        before.agents,
        before.beacons,
    )


def _blocking(url: str, name: str, bad: Bad) -> Said:
    with sync.open_mesh(url, mesh=name) as mesh, pytest.raises(HyphaeError) as caught:
        bad.verb(mesh)
    return said(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, bad in BAD.items() if bad.command])
async def test_a_mistake_reads_the_same_on_the_command_line(
    name: str, local: Mesh, server: str, cli: Cli
) -> None:
    before = await known(local)
    bad = BAD[name]
    assert bad.command is not None
    code, message, remedy = await refusal(bad.verb(local))

    ran = await cli(*bad.command, "--json", stdin=bad.stdin, HYPHAEDB_URL=server)

    assert ran.out == ""
    assert (ran.problem["code"], ran.problem["detail"], ran.problem["remedy"]) == (
        code,
        message,
        remedy,
    )
    assert ran.code == EXIT_CODES[code]
    assert (await local.stats()).cells == before.cells


async def test_an_unknown_mesh_is_never_made_by_a_typo(
    server: str, http: httpx2.AsyncClient, mesh_name: str
) -> None:
    typo = mesh_name + "x"

    with pytest.raises(NotFound) as caught:
        await RemoteMesh.open(server, mesh=typo)

    assert mesh_name in caught.value.remedy, "it names what was probably meant"
    names = [m["name"] for m in (await http.get("/v1/meshes")).json()["items"]]
    assert typo not in names


async def test_an_unknown_mesh_is_the_same_error_on_the_command_line(
    server: str, mesh_name: str, cli: Cli
) -> None:
    with pytest.raises(NotFound) as caught:
        await RemoteMesh.open(server, mesh=mesh_name + "x")

    ran = await cli("stats", "--mesh", mesh_name + "x")

    assert ran.code == 66
    assert ran.err == f"error[not_found]: {caught.value.message} {caught.value.remedy}\n"
