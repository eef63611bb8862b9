"""A worker in a thread of its own that stops at a failpoint until it is woken."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

from hyphaedb.engine.failpoints import Failpoint, Failpoints
from hyphaedb.engine.pump import Pumped
from hyphaedb.errors import HyphaeError
from hyphaedb.store.pool import Database
from tests.engine.world import World

_SECONDS = 30


class Sleeper:
    """Takes the mesh, begins a step and stops in the middle of it.

    A thread with its own event loop and connections: as in a paused process, nothing of it moves.
    """

    def __init__(self, url: str, world: World, place: Failpoint) -> None:
        self._url = url
        self._world = world
        self._failpoints = Failpoints({place: self._stop})
        self._asleep, self._awake = threading.Event(), threading.Event()
        self._task: asyncio.Task[Pumped | HyphaeError] | None = None

    async def falls_asleep(self) -> None:
        """Return once the worker has stopped in its step."""
        self._task = asyncio.create_task(asyncio.to_thread(self._work))
        assert await asyncio.to_thread(self._asleep.wait, _SECONDS)

    async def wakes_up(self) -> Pumped | HyphaeError:
        """Let it go on; what came of its step."""
        self._awake.set()
        assert self._task is not None
        return await self._task

    def _stop(self) -> None:
        self._asleep.set()
        self._awake.wait(_SECONDS)

    def _work(self) -> Pumped | HyphaeError:
        return asyncio.run(self._step())

    async def _step(self) -> Pumped | HyphaeError:
        database = await Database.open(self._url, pool_size=2)
        owner = self._world.owner()
        owner.context = replace(owner.context, database=database, failpoints=self._failpoints)
        try:
            assert await owner.take()
            return await owner.step(64)
        except HyphaeError as error:
            return error
        finally:
            await database.close()
