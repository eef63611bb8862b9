"""What befalls the processes: the server they share dies and nobody is there to start it again, a
caller loses patience while a mesh opens, or uses it after its end."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hyphaedb.config import Config
from hyphaedb.errors import Unavailable
from hyphaedb.mesh import Home, Mesh, Wiring, open_mesh
from tests.engine.lexical import Lexical

#: How long a mesh may need to be well again after its server died.
AGAIN_S = 30.0


@pytest.fixture
def config() -> Iterator[Config]:
    """An embedded server of its own."""
    with tempfile.TemporaryDirectory(prefix="hyphaedb-hostile-") as name:
        yield Config(data_dir=name, sweep_s=86_400.0, pool_size=2)


def kill_server(config: Config) -> None:
    note = Path(config.data_dir) / "postgres" / "postmaster.pid"
    os.kill(int(note.read_text().splitlines()[0]), signal.SIGKILL)


async def stored(mesh: Mesh, body: str) -> None:
    """Store a text, as often as the mesh says that it is away."""
    while True:
        try:
            await mesh.store(body, agent="ann")
        except Unavailable:
            await asyncio.sleep(0.2)
        else:
            return


async def test_an_embedded_server_that_is_killed_comes_back_by_itself(config: Config) -> None:
    """Nobody else would start it: every later command goes to the process that waits for it."""
    async with await Home.open(config, wiring=Wiring(embedder=Lexical())) as home:
        mesh = await home.mesh("a", create=True)
        await mesh.register("ann")
        await mesh.store("stored before", agent="ann")

        for body in ("after one kill", "after another"):
            kill_server(config)
            async with asyncio.timeout(AGAIN_S):
                await stored(mesh, body)
                assert await mesh.settle(timeout_s=AGAIN_S) == 0

        found = await mesh.recall("stored after before", floor=0.0)
        assert len(found.hits) == 3
        assert all(check.ok for check in await mesh.doctor())
    assert not (Path(config.data_dir) / "postgres" / "postmaster.pid").exists(), "it was stopped"


@pytest.mark.parametrize("after_s", [0.001, 0.01, 0.03, 0.06])
async def test_an_opening_that_is_given_up_leaves_nothing_running(
    database_url: str, after_s: float
) -> None:
    before = asyncio.all_tasks()
    opening = asyncio.ensure_future(
        open_mesh(database_url, mesh="b", create=True, wiring=Wiring(embedder=Lexical()))
    )
    await asyncio.sleep(after_s)

    opening.cancel()

    with suppress(asyncio.CancelledError):
        await (await opening).close()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_a_mesh_that_was_closed_says_that_it_is(database_url: str) -> None:
    mesh = await open_mesh(database_url, mesh="c", create=True, wiring=Wiring(embedder=Lexical()))
    await mesh.register("ann")
    await mesh.close()

    for late in (mesh.stats(), mesh.recall("x"), mesh.inbox("ann"), mesh.store("x", agent="ann")):
        with pytest.raises(Unavailable, match="is closed"):
            await late
