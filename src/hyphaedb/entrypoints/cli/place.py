"""Where a command works: a server it was told of, the one running here, or the database itself."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from hyphaedb.config import Config, load
from hyphaedb.entrypoints.cli import running
from hyphaedb.entrypoints.cli.printing import note
from hyphaedb.errors import Unavailable
from hyphaedb.verbs import Verbs


@dataclass(frozen=True, slots=True)
class Place:
    """What the options ``--mesh``, ``--url`` and ``--json`` said."""

    mesh: str | None
    url: str | None
    as_json: bool


@dataclass(frozen=True, slots=True)
class Opened:
    """A mesh to work in. ``here`` says that its database was opened by this process."""

    mesh: Verbs
    here: bool


def settings() -> Config:
    """The settings of this process; raises Invalid for a bad variable."""
    return load(os.environ)


def server_url(place: Place, config: Config) -> str | None:
    """The server to ask: the one named, else the one running here on the same database."""
    if place.url or config.url:
        return place.url or config.url
    found = running.find(config)
    return found.url if found else None


@asynccontextmanager
async def opened(place: Place, *, pumps: bool) -> AsyncIterator[Opened]:
    """The mesh of a command. With ``pumps`` and no server, waves run in this process."""
    config = settings()
    name = place.mesh or config.mesh
    mesh = await _behind_a_server(place, config, name)
    here = mesh is None
    if mesh is None:
        # Only now: the engine and its embedder take a second that a server spares.
        from hyphaedb.mesh import open_mesh

        mesh = await open_mesh(mesh=name, config=config, worker=pumps)
    try:
        yield Opened(mesh, here)
    finally:
        await mesh.close()


async def _behind_a_server(place: Place, config: Config, name: str) -> Verbs | None:
    url = server_url(place, config)
    if url is None:
        return None
    from hyphaedb.remote import RemoteMesh

    try:
        return await RemoteMesh.open(url, mesh=name)
    except Unavailable:
        if place.url or config.url:
            raise
        note(f"The server that was running at {url} does not answer; opening the database itself.")
        return None
