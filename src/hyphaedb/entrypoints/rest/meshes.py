"""Routes for meshes themselves, and for whoever watches over the server."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response, status
from pydantic import BaseModel

from hyphaedb.entrypoints.rest.here import MeshHere, MeshName, ServedHere
from hyphaedb.entrypoints.rest.pages import PAGE_ITEMS, Cursor, Limit, page_of
from hyphaedb.entrypoints.rest.problems import documented
from hyphaedb.model import Check, MeshInfo
from hyphaedb.wire.answers import Count, Page
from hyphaedb.wire.requests import NewMesh

router = APIRouter()

#: Whoever asks whether a server is ready gives up soon; a pool's own patience is longer.
READY_S = 3.0


class Health(BaseModel):
    """That this is a HyphaeDB server and it is alive."""

    status: str = "ok"
    service: str = "hyphaedb"


@router.get("/healthz", operation_id="healthz", tags=["server"])
async def healthz() -> Health:
    """Whether the process answers at all. Asks nothing of the database."""
    return Health()


@router.get(
    "/readyz",
    operation_id="readyz",
    tags=["server"],
    responses={status.HTTP_503_SERVICE_UNAVAILABLE: {"model": Page[Check]}},
)
async def readyz(at: ServedHere, response: Response) -> Page[Check]:
    """Whether the server can do its work: 200 with the checks, or 503 with what fails."""
    try:
        async with asyncio.timeout(READY_S):
            checks = list(await at.home.ready())
    except TimeoutError:
        detail = f"The database did not answer within {READY_S:.0f} s."
        checks = [Check("database", False, detail, "Check that it runs; `hyphaedb doctor` looks.")]
    if not all(check.ok for check in checks):
        response.status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    return Page(items=checks)


meshes = APIRouter(prefix="/v1/meshes", tags=["meshes"], responses=documented())


@meshes.get("", operation_id="list_meshes")
async def list_meshes(
    at: ServedHere, cursor: Cursor = None, limit: Limit = PAGE_ITEMS
) -> Page[MeshInfo]:
    """All meshes, by name."""
    return page_of("meshes", await at.home.meshes(), lambda m: (m.name,), cursor, limit)


@meshes.post("", operation_id="create_mesh", status_code=status.HTTP_201_CREATED)
async def create_mesh(at: ServedHere, body: NewMesh) -> MeshInfo:
    """Make a mesh for the server's embedding model; a taken name is a conflict."""
    return await at.home.create(body.name)


@meshes.delete("/{mesh}", operation_id="drop_mesh")
async def drop_mesh(mesh: MeshName, at: ServedHere) -> Count:
    """Erase a mesh and everything in it, for good; counts its cells. Long on a large one."""
    return Count(count=await at.drop(mesh))


@meshes.get("/{mesh}", operation_id="info")
async def info(mesh: MeshHere) -> MeshInfo:
    """The mesh as it was when this server opened it; `stats` has what changes."""
    return mesh.info
