"""A database that goes away and comes back, seen from outside a server."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from hyphaedb.config import Config
from hyphaedb.errors import HyphaeError, Unavailable
from hyphaedb.mesh import Home, Wiring
from hyphaedb.model import Wait
from hyphaedb.remote import RemoteMesh
from hyphaedb.store import embedded
from tests.entrypoints.conftest import serving

pytestmark = pytest.mark.slow

#: Longest the server may need to notice that the database is back.
BACK_S = 60
#: A server that is gone is not waited for as long as one that is busy (POOL_TIMEOUT_S).
REFUSED_S = 7


@pytest.fixture
def postgres() -> Iterator[Path]:
    """A Postgres that this test alone may stop."""
    with tempfile.TemporaryDirectory(prefix="hyphaedb-outage-") as name:
        where = Path(name)
        yield where
        embedded.stop(where)


async def stored_in_the_end(mesh: RemoteMesh, body: str) -> str:
    """Store as a patient client does: again after every answer that says later."""
    async with asyncio.timeout(BACK_S):
        while True:
            try:
                stored = await mesh.store(body, agent="ada", wait=Wait.DELIVERED)
            except Unavailable as away:
                await asyncio.sleep(away.retry_after_s or 0.5)
            else:
                assert stored.receipt is not None
                return str(stored.receipt.state)


async def test_a_server_says_so_while_its_database_is_away_and_works_again_by_itself(
    postgres: Path, wiring: Wiring
) -> None:
    config = Config(database_url=await asyncio.to_thread(embedded.start, postgres))
    async with await Home.open(config, wiring=wiring) as home:
        await home.create("outage")
        async with (
            serving(home, config) as url,
            httpx2.AsyncClient(trust_env=False, timeout=BACK_S) as http,
        ):
            mesh = await RemoteMesh.open(url, mesh="outage")
            await mesh.register("ada")
            before = await mesh.store("What was acknowledged is safe.", agent="ada")

            await asyncio.to_thread(embedded.stop, postgres)

            began = time.monotonic()
            with pytest.raises(HyphaeError) as caught:
                await mesh.store("This one is refused.", agent="ada")
            assert caught.value.code == "unavailable"
            assert caught.value.remedy
            assert time.monotonic() - began < REFUSED_S
            assert (await http.get(f"{url}/readyz")).status_code == 503
            assert (await http.get(f"{url}/healthz")).status_code == 200

            await asyncio.to_thread(embedded.start, postgres)

            assert await stored_in_the_end(mesh, "Work goes on where it was.") == "done"
            assert (await mesh.cell(before.cell_id)).body == "What was acknowledged is safe."
            assert (await http.get(f"{url}/readyz")).status_code == 200
            await mesh.close()
