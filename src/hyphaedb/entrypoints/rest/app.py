"""The HTTP application: its routes, its border and its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from hyphaedb.config import Config
from hyphaedb.entrypoints.rest import agents, cells, inbox, meshes, problems, steering
from hyphaedb.entrypoints.rest.guard import Guard, require_loopback
from hyphaedb.entrypoints.rest.here import Served
from hyphaedb.entrypoints.rest.segments import Segments
from hyphaedb.mesh import Home


def create_app(home: Home, config: Config, *, worker: bool = True) -> FastAPI:
    """An application over an open home, which stays open when the application ends.

    With ``worker`` the meshes it opens run their waves in this process. Raises Forbidden when
    ``config.host`` is not an address of this machine alone.
    """
    require_loopback(config.host)
    state = Served(home, worker)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await state.close()

    app = FastAPI(
        title="HyphaeDB",
        summary="Shared memory for teams of agents in which knowledge moves.",
        version=version("hyphaedb"),
        lifespan=lifespan,
        # Their pages load scripts from an address of others; the description itself stays here.
        docs_url=None,
        redoc_url=None,
    )
    app.state.served = state
    for router in (
        meshes.router,
        meshes.meshes,
        agents.router,
        cells.router,
        inbox.router,
        steering.router,
    ):
        app.include_router(router)
    app.add_middleware(Segments)
    app.add_middleware(Guard)
    problems.install(app)
    return app
