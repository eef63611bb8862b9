"""Admission: when the backlog is full, new writes wait outside instead of being dropped inside.

Counting on every store would cost more than the store, so a process counts once a second or
every 256 cells, adds what it let in since, and counts anew before it refuses. Other processes can
pass the limits by what they let in within that second, and no more.
"""

from __future__ import annotations

from datetime import datetime

from hyphaedb.engine.context import Context
from hyphaedb.errors import LimitReached
from hyphaedb.store import journal, search

_CELLS_BETWEEN = 256
_SECONDS_BETWEEN = 1.0
_RETRY_AFTER_S = 5.0


class Backlog:
    """One process's view of how much waits in a mesh."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._since = 0
        self._at: datetime | None = None
        self._pending = 0
        self._tail = 0

    async def admit(self, cells: int = 1) -> None:
        """Return if there is room; raise LimitReached (429, Retry-After) if there is none."""
        now = self._context.now()
        old = self._at is None or abs((now - self._at).total_seconds()) >= _SECONDS_BETWEEN
        if old or self._since + cells > _CELLS_BETWEEN or self._full(cells) is not None:
            await self._count(now)
        refusal = self._full(cells)
        if refusal is not None:
            raise refusal
        self._since += cells

    async def _count(self, now: datetime) -> None:
        mesh_id, config = self._context.info.mesh_id, self._context.config
        async with self._context.database.statement() as tx:
            self._pending = await journal.count_pending(tx, mesh_id, config.pending_max + 1)
            self._tail = await search.tail_count(tx, mesh_id, config.tail_max + 1)
        self._since, self._at = 0, now

    def _full(self, cells: int) -> LimitReached | None:
        """Why there is no room for ``cells`` more, as far as this process knows."""
        config = self._context.config
        for counted, limit, what in (
            (self._pending, config.pending_max, "diffs wait for their wave"),
            (self._tail, config.tail_max, "fresh cells wait for the index"),
        ):
            waiting = counted + self._since
            if waiting + cells > limit:
                return LimitReached(
                    f"{waiting} {what}; the limit is {limit}.",
                    "Wait, or start a worker with `hyphaedb work`.",
                    retry_after_s=_RETRY_AFTER_S,
                )
        return None
