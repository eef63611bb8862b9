"""Moving the unindexed tail into the index, off everybody's path.

An insert into an HNSW index costs milliseconds of the server's CPU, so it happens here, in small
batches on a connection of its own, beside the pump and not before it. Recall scans the tail
exactly, so nothing depends on how fast this is; only its cost does.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from hyphaedb.engine.context import Context
from hyphaedb.engine.failpoints import Failpoint
from hyphaedb.errors import HyphaeError
from hyphaedb.store import search
from hyphaedb.store.indexes import drop_vector_index, ensure_vector_index

logger = logging.getLogger(__name__)

#: Pause between batches while the tail is short: drains it soon, and leaves the server alone.
_CALM_S = 0.05
_FAULT_S = 1.0
#: A tail of this many normal ones is an import, if no more than this many times its length is
#: indexed already: below that a rebuild is cheaper than inserting, by measurement.
_BULK_TAILS = 3
_BULK_SHARE = 4
#: Rows moved at a time without an index, and how often, before the index is built.
_REBUILD_BATCH = 5_000
_REBUILD_BATCHES_MAX = 1_000


class Drainer:
    """Drains one mesh while ``epoch`` says that this process owns it."""

    def __init__(self, context: Context, epoch: Callable[[], int | None]) -> None:
        self._context = context
        self._epoch = epoch

    async def run(self, stopping: asyncio.Event) -> None:
        """Drain until ``stopping`` is set."""
        while not stopping.is_set():
            pause_s = self._context.config.poll_s
            try:
                if await self.drain_once():
                    tail = await self._tail()
                    pause_s = 0.0 if tail > self._context.config.tail_normal else _CALM_S
            except HyphaeError as error:
                logger.warning("drain.fault mesh=%s why=%s", self._context.info.name, error.message)
                pause_s = _FAULT_S
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), pause_s)

    async def drain_once(self) -> int:
        """Move one batch; returns how many rows went."""
        context, epoch = self._context, self._epoch()
        if epoch is None:
            return 0
        mesh_id = context.info.mesh_id
        async with context.database.statement() as tx:
            if not await search.tail_count(tx, mesh_id, 1):
                return 0
        if await self._bulk():
            return await self._rebuild()
        async with context.database.transaction() as tx:
            # Not the fence: it would hold the owner's row for as long as the index takes, and
            # the pump with it. Moving a row twice is impossible, whoever does it.
            moved = await search.drain(tx, mesh_id, context.config.drain_batch)
            context.failpoints.hit(Failpoint.DURING_DRAIN)
        return moved

    async def _bulk(self) -> bool:
        """Whether the tail is an import: so long, beside what is indexed, that building the
        index anew costs less than inserting into it (0.4 ms a row against 5)."""
        context = self._context
        least = _BULK_TAILS * context.config.tail_normal
        async with context.database.statement() as tx:
            tail = await search.tail_count(tx, context.info.mesh_id, least)
            if tail < least:
                return False
            most = _BULK_SHARE * tail
            return await search.indexed_count(tx, context.info.dimension, most) < most

    async def _rebuild(self) -> int:
        """Move the whole tail without the index, then build the index; recall stays right
        meanwhile, and slow. A crash in between leaves a missing index, which the next start of a
        worker builds."""
        context = self._context
        moved = 0
        logger.info("drain.rebuild mesh=%s", context.info.name)
        await drop_vector_index(context.database, context.info.dimension)
        try:
            for _ in range(_REBUILD_BATCHES_MAX):
                async with context.database.transaction() as tx:
                    batch = await search.drain(tx, context.info.mesh_id, _REBUILD_BATCH)
                moved += batch
                if batch == 0:
                    break
        finally:
            await ensure_vector_index(context.database, context.info.dimension)
        return moved

    async def _tail(self) -> int:
        context = self._context
        async with context.database.statement() as tx:
            most = context.config.tail_normal + 1
            return await search.tail_count(tx, context.info.mesh_id, most)
