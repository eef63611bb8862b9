"""Real kills: SIGKILL at every failpoint, SIGSTOP past the lease, a Postgres that is shot down."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from hyphaedb.config import Config
from hyphaedb.engine.failpoints import Failpoint
from hyphaedb.errors import Unavailable
from hyphaedb.mesh import Home, Mesh, Wiring
from hyphaedb.model import Interests, MuteKind
from hyphaedb.store import embedded
from tests.engine.lexical import Lexical
from tests.engine.scenes import eventually, inbox, listens, settled, tagged

KILLS = 5


async def opened(url: str, name: str, *, worker: bool, lease_s: float = 30.0) -> tuple[Home, Mesh]:
    """A mesh as a process with a real clock has it."""
    config = Config(database_url=url, lease_s=lease_s, poll_s=0.05, sweep_s=86_400, pool_size=4)
    home = await Home.open(config, wiring=Wiring(embedder=Lexical(), listens=False))
    return home, await home.mesh(name, create=True, worker=worker)


@pytest.fixture
async def mesh(database_url: str) -> AsyncIterator[Mesh]:
    """Ann writes, bob listens; nobody in this process works."""
    home, mesh = await opened(database_url, f"kill-{uuid4().hex[:12]}", worker=False)
    await mesh.register("ann")
    await listens(mesh, "bob", "limits")
    yield mesh
    await home.close()


def start(url: str, mesh: Mesh, place: str, after: int = 1) -> subprocess.Popen[bytes]:
    """A worker process of its own."""
    arguments = [url, mesh.info.name, place, str(after)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.engine.killed_worker", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


async def ends(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process to end; its return code. One that does not is killed after a while."""
    try:
        return await asyncio.to_thread(process.wait, 40)
    except subprocess.TimeoutExpired:
        process.terminate()
        return await asyncio.to_thread(process.wait, 10)


async def one_cell_is_past(url: str, mesh: Mesh) -> str | None:
    """A cell that was delivered before anybody was killed."""
    home, worker = await opened(url, mesh.info.name, worker=True)
    cell = tagged("limits")
    await worker.store(cell, agent="ann")
    await settled(worker)
    await home.close()
    return cell.body


async def sweep_is_asked_for(mesh: Mesh, kill: int) -> None:
    """A newcomer that lacks what is past, and the request to sweep."""
    await listens(mesh, f"late-{kill}", "limits")
    await mesh.mute(MuteKind.AGENT, "bob")
    await mesh.unmute(MuteKind.AGENT, "bob")


async def parts(mesh: Mesh) -> int:
    """Parts of the graph, once the worker has loaded it: there may have been nothing to settle."""
    for _ in range(1_500):
        components = (await mesh.stats()).components
        if components is not None:
            return components
        await asyncio.sleep(0.02)
    raise AssertionError("The successor did not take the mesh over within half a minute.")


@pytest.mark.slow
@pytest.mark.parametrize("place", list(Failpoint))
async def test_five_kills_at_a_failpoint_lose_nothing_and_double_nothing(
    mesh: Mesh, database_url: str, place: Failpoint
) -> None:
    bodies = [await one_cell_is_past(database_url, mesh)]
    for kill in range(KILLS):
        cells = [tagged("limits") for _ in range(4)]
        bodies += [c.body for c in cells]
        for cell in cells:
            await mesh.store(cell, agent="ann")
        if place is Failpoint.DURING_SWEEP:
            await sweep_is_asked_for(mesh, kill)
        once = place in (Failpoint.DURING_SWEEP, Failpoint.DURING_REBUILD)
        process = start(database_url, mesh, place.value, 1 if once else 1 + kill % 2)
        assert await ends(process) == -signal.SIGKILL
    home, successor = await opened(database_url, mesh.info.name, worker=True)
    await settled(successor)

    landed = await inbox(mesh, "bob")
    assert landed == bodies
    assert await parts(successor) == 1
    await home.close()


async def test_a_worker_stopped_past_its_lease_writes_nothing_when_it_goes_on(
    mesh: Mesh, database_url: str
) -> None:
    """SIGSTOP, a take-over after the lease, SIGCONT: the epoch it had writes no row any more."""
    stale = start(database_url, mesh, Failpoint.DURING_RENEWAL.value, 1_000)
    await eventually(lambda: _owned(mesh))
    stale.send_signal(signal.SIGSTOP)
    epoch = (await mesh.stats()).epoch
    home, successor = await opened(database_url, mesh.info.name, worker=True)
    cells = [tagged("limits") for _ in range(5)]
    for cell in cells:
        await successor.store(cell, agent="ann")
    await settled(successor)
    stale.send_signal(signal.SIGCONT)
    await asyncio.sleep(1.0)
    stale.kill()
    await ends(stale)

    stats = await successor.stats()
    assert stats.epoch == epoch + 1
    assert await inbox(mesh, "bob") == [c.body for c in cells]
    await home.close()


async def _owned(mesh: Mesh) -> bool:
    return (await mesh.stats()).worker is not None


async def test_a_dead_owner_is_replaced_without_waiting_for_its_lease(
    mesh: Mesh, database_url: str
) -> None:
    """The process is seen to be gone, so nobody waits 30 s."""
    dead = start(database_url, mesh, "none")
    await eventually(lambda: _owned(mesh))
    dead.kill()
    await ends(dead)
    home, successor = await opened(database_url, mesh.info.name, worker=True)
    cell = tagged("limits")
    begun = datetime.now(UTC)
    await successor.store(cell, agent="ann", wait="delivered", timeout_s=20)  # type: ignore[arg-type]

    assert (datetime.now(UTC) - begun).total_seconds() < 10
    assert await inbox(mesh, "bob") == [cell.body]
    await home.close()


@pytest.fixture
async def own_server() -> AsyncIterator[tuple[Path, str]]:
    """A Postgres that only this test uses."""
    home = Path(tempfile.mkdtemp(prefix="hyphaedb-shot-"))
    yield home, await asyncio.to_thread(embedded.start, home)
    await asyncio.to_thread(embedded.stop, home)
    shutil.rmtree(home, ignore_errors=True)


async def test_a_postgres_shot_down_in_the_middle_loses_nothing_acknowledged(
    own_server: tuple[Path, str],
) -> None:
    """Immediate stop: no checkpoint, every connection torn. Work goes on by itself afterwards."""
    where, url = own_server
    home, mesh = await opened(url, "shot", worker=True)
    await mesh.register("ann")
    await mesh.register("bob", interests=Interests(tags=("limits",)))
    accepted: list[str] = []

    async def burst() -> None:
        while True:
            cell = tagged("limits")
            try:
                await mesh.store(cell, agent="ann")
            except Unavailable:
                return
            accepted.append(cell.body)

    storing = asyncio.create_task(burst())
    await eventually(lambda: _lands(mesh))
    postmaster = int((where / "postgres" / "postmaster.pid").read_text().split()[0])
    os.kill(postmaster, signal.SIGQUIT)
    await storing
    await asyncio.to_thread(embedded.start, where)
    await eventually(lambda: _back(mesh), seconds=30)
    await settled(mesh)

    landed = await inbox(mesh, "bob")
    assert len(landed) == len(set(landed))
    assert set(accepted) <= set(landed)
    await home.close()
    await asyncio.to_thread(embedded.stop, where)


async def _lands(mesh: Mesh) -> bool:
    return len(await inbox(mesh, "bob")) > 5


async def _back(mesh: Mesh) -> bool:
    try:
        return (await mesh.stats()).cells >= 0
    except Unavailable:
        return False
