"""What every route starts from: the mesh its path names."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Request
from pydantic import AfterValidator

from hyphaedb.entrypoints.rest.problems import documented
from hyphaedb.entrypoints.rest.segments import unescaped
from hyphaedb.errors import LimitReached
from hyphaedb.mesh import Home, Mesh
from hyphaedb.verbs import Verbs

#: Meshes one server keeps open. Each holds a mirror in memory, about 2 KB a cell.
OPEN_MESHES_MAX = 64


@dataclass(slots=True)
class Served:
    """What one server serves. ``worker`` says whether waves run in this process."""

    home: Home
    worker: bool
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _open: dict[str, Mesh] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def mesh(self, name: str) -> Verbs:
        """A mesh, opened at its first use and kept; NotFound for one nobody made."""
        if name not in self._open:
            async with self._opening:
                if name not in self._open:
                    if len(self._open) >= OPEN_MESHES_MAX:
                        raise LimitReached(
                            f"This server has {OPEN_MESHES_MAX} meshes open.",
                            "Serve the others from another process: hyphaedb serve --port PORT.",
                        )
                    self._open[name] = await self.home.mesh(name, worker=self.worker)
        return self._open[name]

    async def drop(self, name: str) -> int:
        """Erase a mesh for good; returns the number of its cells."""
        try:
            await self._let_go(name)
            return await self.home.drop(name)
        finally:
            # A request in between may have opened what was being erased.
            await self._let_go(name)

    async def _let_go(self, name: str) -> None:
        async with self._opening:
            mesh = self._open.pop(name, None)
        if mesh is not None:
            await mesh.close()

    async def close(self) -> None:
        """Close what was opened here; the home stays open for whoever opened it."""
        while self._open:
            _, mesh = self._open.popitem()
            await mesh.close()


def served(request: Request) -> Served:
    """The state of the server that got the request."""
    state: Served = request.app.state.served
    return state


ServedHere = Annotated[Served, Depends(served)]

#: Names in a path: a slash within one is sent as %2F.
MeshName = Annotated[str, AfterValidator(unescaped), Path(description="The mesh.")]
AgentName = Annotated[str, AfterValidator(unescaped), Path(description="The agent.")]


async def _mesh_here(mesh: MeshName, at: ServedHere) -> Verbs:
    return await at.mesh(mesh)


#: The mesh of the path; NotFound for one nobody made.
MeshHere = Annotated[Verbs, Depends(_mesh_here)]

IdempotencyKey = Annotated[
    str | None,
    Header(description="The same key again gets the first answer again and stores nothing."),
]


def routes(tag: str) -> APIRouter:
    """A router below one mesh whose routes document every problem they may answer with."""
    return APIRouter(prefix="/v1/meshes/{mesh}", tags=[tag], responses=documented())
