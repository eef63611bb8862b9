"""Engine tests work on a real Postgres with a clock they move and a small embedder of their own."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from hyphaedb.config import Config
from hyphaedb.engine.failpoints import NO_FAILPOINTS, Failpoints
from hyphaedb.mesh import Home, Mesh, Wiring
from hyphaedb.providers.embedding import Embedder
from tests.engine.lexical import Lexical


class Clock:
    """Stands still unless moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **units: float) -> None:
        """Let time pass."""
        self.now += timedelta(**units)


class Place:
    """Opens meshes in one database, as processes of their own would, and closes them after."""

    def __init__(self, url: str, clock: Clock) -> None:
        self.url = url
        self.clock = clock
        self.homes: list[Home] = []

    async def open(
        self,
        name: str | None = None,
        *,
        worker: bool = True,
        failpoints: Failpoints = NO_FAILPOINTS,
        embedder: Embedder | None = None,
        **settings: Any,
    ) -> Mesh:
        """A mesh (a fresh one unless named). Sweeps run only when asked for."""
        home = await self._home(failpoints, embedder or Lexical(), settings)
        return await home.mesh(name or f"mesh-{uuid4().hex[:12]}", create=True, worker=worker)

    async def again(self, name: str) -> Mesh:
        """A mesh that must be there already."""
        return await (await self._home(NO_FAILPOINTS, Lexical(), {})).mesh(name, worker=False)

    async def _home(
        self, failpoints: Failpoints, embedder: Embedder, settings: dict[str, Any]
    ) -> Home:
        defaults = {"sweep_s": 86_400.0, "poll_s": 0.05, "pool_size": 4}
        config = Config(database_url=self.url, **{**defaults, **settings})
        wiring = Wiring(
            clock=self.clock,
            rng=random.Random(uuid4().int),
            failpoints=failpoints,
            embedder=embedder,
            listens=False,
        )
        home = await Home.open(config, wiring=wiring, migrates=False)
        self.homes.append(home)
        return home

    async def close(self) -> None:
        for home in self.homes:
            await home.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def place(database_url: str, clock: Clock) -> AsyncIterator[Place]:
    opened = Place(database_url, clock)
    yield opened
    await opened.close()
