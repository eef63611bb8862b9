"""Erasing a mesh whole: nobody works it meanwhile, and no step of it is long.

Whoever drops a mesh takes its lease first, so a late worker's writes meet a newer epoch, and
pauses it, so that no other worker begins on what is left. Each batch renews the lease and is
refused like any worker's write once another owner has it. A drop that is cut off leaves a paused
mesh with fewer cells; dropping it again ends what was begun.
"""

from __future__ import annotations

import contextlib
import os
import socket
from datetime import timedelta
from uuid import UUID

import psutil

from hyphaedb.engine.identity import Clock
from hyphaedb.errors import Conflict, HyphaeError
from hyphaedb.model import MeshInfo
from hyphaedb.store import access, jobs
from hyphaedb.store.pool import Database


async def drop(
    database: Database, info: MeshInfo, owner: UUID, clock: Clock, lease_s: float
) -> int:
    """Erase a mesh and everything in it for good; returns how many cells that were.

    Raises Conflict while a worker of somebody else owns the mesh, LeaseLost if one takes it
    meanwhile.
    """
    epoch = await _take(database, info, owner, clock, lease_s)
    try:
        return await _erase(database, info, owner, epoch, clock, lease_s)
    except BaseException:
        # Or whoever tries again is told to stop himself.
        with contextlib.suppress(HyphaeError):
            async with database.transaction() as tx:
                await jobs.release_lease(tx, info.mesh_id, owner, epoch)
        raise


async def _erase(
    database: Database, info: MeshInfo, owner: UUID, epoch: int, clock: Clock, lease_s: float
) -> int:
    erased = 0
    for part in access.MeshPart:
        while True:
            async with database.transaction() as tx:
                until = clock() + timedelta(seconds=lease_s)
                await jobs.renew_lease(tx, info.mesh_id, owner, epoch, until)
                gone = await access.drop_part(tx, info.mesh_id, part)
            if gone == 0:
                break
            erased += gone if part is access.MeshPart.CELLS else 0
    async with database.transaction() as tx:
        # The owner's row first, as everybody does who locks both.
        until = clock() + timedelta(seconds=lease_s)
        await jobs.renew_lease(tx, info.mesh_id, owner, epoch, until)
        await access.drop_mesh(tx, info.mesh_id)
    return erased


async def _take(
    database: Database, info: MeshInfo, owner: UUID, clock: Clock, lease_s: float
) -> int:
    async with database.transaction() as tx:
        epoch = await jobs.acquire_lease(
            tx,
            info.mesh_id,
            owner=owner,
            host=socket.gethostname(),
            pid=os.getpid(),
            pid_started=psutil.Process().create_time(),
            now=clock(),
            lease_s=lease_s,
        )
        if epoch is not None:
            await access.set_paused(tx, info.mesh_id, True)
            return epoch
        holder = await jobs.owner_of(tx, info.mesh_id)
    who = f"process {holder.pid} on {holder.host}" if holder else "another process"
    raise Conflict(
        f"{who[0].upper()}{who[1:]} runs the waves of mesh {info.name!r}.",
        f"Stop it, or let its server drop the mesh; if it is gone, try again in {lease_s:.0f} s.",
    )
