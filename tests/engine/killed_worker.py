"""A worker process that kills itself (SIGKILL) the n-th time it meets a failpoint.

Run as ``python -m tests.engine.killed_worker URL MESH FAILPOINT N``. With ``none`` for a failpoint
it works until it is stopped from outside.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from hyphaedb.config import Config
from hyphaedb.engine.failpoints import NO_FAILPOINTS, Failpoint, Failpoints
from hyphaedb.mesh import Home, Wiring
from tests.engine.lexical import Lexical

#: Small batches and short waits, so that every place is met within a second.
SETTINGS = {"batch_diffs": 2, "drain_batch": 1, "poll_s": 0.05, "sweep_s": 86_400.0}


def killing(place: Failpoint, after: int) -> Failpoints:
    """Failpoints that kill this process when ``place`` is met for the n-th time."""
    met = 0

    def kill() -> None:
        nonlocal met
        met += 1
        if met >= after:
            os.kill(os.getpid(), signal.SIGKILL)

    return Failpoints({place: kill})


async def main(url: str, mesh: str, place: str, after: int) -> None:
    """Work until killed."""
    failpoints = NO_FAILPOINTS if place == "none" else killing(Failpoint(place), after)
    lease_s = 0.3 if place == Failpoint.DURING_RENEWAL.value else 30.0
    config = Config(database_url=url, lease_s=lease_s, **SETTINGS)  # type: ignore[arg-type]
    wiring = Wiring(embedder=Lexical(), failpoints=failpoints, listens=False)
    async with await Home.open(config, wiring=wiring, migrates=False) as home:
        await home.mesh(mesh)
        await asyncio.sleep(60)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
