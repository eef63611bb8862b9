"""What was recalled leaves a footprint: reading moves the reader (Eq. 2) and is counted.

Written behind the answer, in small batches, so that a recall costs no commit. A crash can lose
the last half second of footprints of *reading*; nothing that was stored.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from hyphaedb.engine.context import Context
from hyphaedb.engine.signals import SignalKind, emit
from hyphaedb.engine.wakeups import WORK
from hyphaedb.errors import HyphaeError
from hyphaedb.model import CellId, SessionId
from hyphaedb.store import cells
from hyphaedb.store.rows import AgentRow

logger = logging.getLogger(__name__)

_FLUSH_S = 0.5
#: Recalls that may wait; beyond it the oldest are dropped, with a word in the log.
_WAITING_MAX = 1_000


@dataclass(frozen=True, slots=True)
class _Read:
    reader: AgentRow
    cell_ids: tuple[CellId, ...]
    session: SessionId | None


class ReaderTrace:
    """Notes recalls of one mesh and writes them down soon after."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._waiting: list[_Read] = []
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def note(self, reader: AgentRow, cell_ids: Sequence[CellId], session: SessionId | None) -> None:
        """Remember that ``reader`` was shown these cells."""
        if len(self._waiting) >= _WAITING_MAX:
            logger.warning("recall.untraced mesh=%s reads=1", self._context.info.name)
            self._waiting.pop(0)
        self._waiting.append(_Read(reader, tuple(cell_ids), session))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._later(), name="hyphaedb-reader-trace")

    async def close(self) -> None:
        """Write what waits and stop; what is being written is waited for."""
        self._closing.set()
        if self._task is not None:
            await self._task

    async def _later(self) -> None:
        # Again for what was read while the last batch was being written.
        while self._waiting:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), _FLUSH_S)
            await self._flush()

    async def _flush(self) -> None:
        reads, self._waiting = self._waiting, []
        if not reads:
            return
        context = self._context
        mesh_id, now = context.info.mesh_id, context.now()
        try:
            async with context.database.transaction() as tx:
                # All at once and in one order, or two batches wait for each other in a ring.
                held = await cells.hold_to_touch(
                    tx, mesh_id, sorted({c for read in reads for c in read.cell_ids})
                )
                for read in reads:
                    await cells.touch(
                        tx,
                        mesh_id,
                        read.reader.holder_id,
                        read.cell_ids,
                        day=read.reader.agent.active_days,
                        session_id=read.session,
                        now=now,
                    )
                    for cell_id in held.intersection(read.cell_ids):
                        await emit(tx, context, SignalKind.RECALLED, cell_id, read.reader.holder_id)
        except HyphaeError as error:
            logger.warning(
                "recall.untraced mesh=%s reads=%d why=%s",
                context.info.name,
                len(reads),
                error.message,
            )
            return
        context.wakeups.ring(WORK, mesh_id)
