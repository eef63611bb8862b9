"""Steering a mesh: pause, shadow, mute; sweep and settle on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hyphaedb.engine import validation
from hyphaedb.engine.context import Context
from hyphaedb.engine.signals import SignalKind, emit
from hyphaedb.engine.wakeups import WORK
from hyphaedb.errors import Unavailable
from hyphaedb.model import CellType, MeshInfo, MuteKind
from hyphaedb.store import access, jobs, journal, log
from hyphaedb.store.pool import Tx

_LOOK_S = 0.02
#: Longest wait for another process's worker to carry out a sweep.
_SWEEP_WAIT_S = 120.0
_COUNT_MAX = 1_000_000


class Steering:
    """What an operator may do to a mesh as a whole."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def pause(self, paused: bool) -> MeshInfo:
        """Stop or resume waves."""
        mesh_id = self._context.info.mesh_id
        async with self._context.database.transaction() as tx:
            await access.set_paused(tx, mesh_id, paused)
            await self._tell(tx, SignalKind.ROSTER)
        self._ring()
        return await self._info()

    async def shadow(self, on: bool) -> MeshInfo:
        """Record without delivering, or deliver again."""
        mesh_id = self._context.info.mesh_id
        wanted = validation.flag(on, "shadow")
        async with self._context.database.transaction() as tx:
            await access.set_shadow(tx, mesh_id, wanted)
            await self._tell(tx, SignalKind.ROSTER)
        self._ring()
        return await self._info()

    async def mute(self, kind: MuteKind, subject: str) -> None:
        """Silence an agent, an author or a type."""
        kind, subject = self._mute(kind, subject)
        context = self._context
        async with context.database.transaction() as tx:
            await access.add_mute(tx, context.info.mesh_id, kind, subject, context.now())
            await self._tell(tx, SignalKind.ROSTER)
        self._ring()

    async def unmute(self, kind: MuteKind, subject: str) -> None:
        """Undo a mute."""
        kind, subject = self._mute(kind, subject)
        context = self._context
        async with context.database.transaction() as tx:
            if await access.remove_mute(tx, context.info.mesh_id, kind, subject):
                await self._tell(tx, SignalKind.ROSTER)
                await self._tell(tx, SignalKind.SWEEP)
        self._ring()

    async def mutes(self) -> Sequence[tuple[MuteKind, str]]:
        """All mutes."""
        async with self._context.database.statement() as tx:
            return await access.mutes(tx, self._context.info.mesh_id)

    async def sweep(self) -> int:
        """Run a full sweep; returns the deliveries it added."""
        context = self._context
        mesh_id = context.info.mesh_id
        async with context.database.transaction() as tx:
            before = await log.count_swept(tx, mesh_id)
            await self._tell(tx, SignalKind.SWEEP)
        self._ring()
        loop = asyncio.get_running_loop()
        end = loop.time() + _SWEEP_WAIT_S
        while loop.time() < end:
            async with context.database.statement() as tx:
                waiting = await jobs.signals(tx, mesh_id, 1_000)
                if not waiting:
                    return await log.count_swept(tx, mesh_id) - before
            await asyncio.sleep(_LOOK_S)
        raise Unavailable(
            f"No worker swept within {_SWEEP_WAIT_S:.0f} s.",
            "Start one with `hyphaedb work`; the sweep is noted and will run then.",
        )

    async def settle(self, timeout_s: float) -> int:
        """Wait until no diff and no signal waits; returns the diffs that still do."""
        context = self._context
        mesh_id = context.info.mesh_id
        loop = asyncio.get_running_loop()
        end = loop.time() + validation.seconds(timeout_s, "timeout_s")
        while True:
            async with context.database.statement() as tx:
                pending = await journal.count_pending(tx, mesh_id, _COUNT_MAX)
                signals = await jobs.signals(tx, mesh_id, 1)
            if (pending == 0 and not signals) or loop.time() >= end:
                return pending
            self._ring()
            await asyncio.sleep(_LOOK_S)

    async def retry_dead(self) -> int:
        """Give dead diffs another set of attempts."""
        context = self._context
        async with context.database.transaction() as tx:
            revived = await journal.retry_dead(tx, context.info.mesh_id, context.now())
        self._ring()
        return revived

    def _mute(self, kind: MuteKind, subject: str) -> tuple[MuteKind, str]:
        kind = validation.member(MuteKind, kind, "kind of mute")
        if kind is MuteKind.TYPE:
            return kind, validation.member(CellType, subject, "cell type").value
        return kind, validation.name(subject, "agent name")

    async def _info(self) -> MeshInfo:
        async with self._context.database.statement() as tx:
            return (await access.mesh_by_id(tx, self._context.info.mesh_id)).info

    async def _tell(self, tx: Tx, kind: SignalKind) -> None:
        """Leave a signal about the mesh itself."""
        await emit(tx, self._context, kind, self._context.info.mesh_id)

    def _ring(self) -> None:
        self._context.wakeups.ring(WORK, self._context.info.mesh_id)
