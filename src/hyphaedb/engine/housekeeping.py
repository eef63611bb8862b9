"""What must not grow for ever: expired inbox items and old idempotency answers go, in batches."""

from __future__ import annotations

from datetime import timedelta

from hyphaedb.engine.context import Context
from hyphaedb.store import cells, inbox, journal

#: How long an idempotency key protects a request: a client that retries after a week is new.
ANSWERS_KEPT = timedelta(days=7)


async def tidy(context: Context, epoch: int) -> int:
    """Remove one batch of what has expired, by the owner only; returns the rows that went."""
    now, mesh_id = context.now(), context.info.mesh_id
    async with context.database.transaction() as tx:
        await journal.fence(tx, mesh_id, epoch)
        gone = await inbox.expire(tx, mesh_id, now)
        return gone + await cells.expire_answers(tx, mesh_id, now - ANSWERS_KEPT)
