"""Wake-ups: hints that there is work or news. Losing one costs a poll, never a delivery.

Within a process an event; between processes one debounced NOTIFY (store/notify.py), never inside
a write transaction. Whoever waits polls as well: the poll is the truth.
"""

from __future__ import annotations

import asyncio
from uuid import UUID

from hyphaedb.store.notify import INBOX, WORK, Notifier

#: Inboxes were filled, waves settled.
NEWS = INBOX


__all__ = ["NEWS", "WORK", "Wakeups"]


class Wakeups:
    """Bells of one process. ``ring`` is cheap and may be called for every write."""

    def __init__(self, notifier: Notifier | None) -> None:
        self._notifier = notifier
        self._bells: dict[tuple[str, UUID], asyncio.Event] = {}

    def bell(self, kind: str, mesh_id: UUID) -> asyncio.Event:
        """The bell that the next ring strikes. Take it *before* looking for what it announces:
        then a ring between the look and the wait is not missed."""
        return self._bells.setdefault((kind, mesh_id), asyncio.Event())

    def ring(self, kind: str, mesh_id: UUID) -> None:
        """Wake whoever waits for ``kind`` of a mesh, here and in other processes."""
        self.ring_here(kind, mesh_id)
        if self._notifier is not None:
            self._notifier.poke(kind)

    def ring_here(self, kind: str, mesh_id: UUID) -> None:
        """Wake waiters in this process only."""
        bell = self._bells.pop((kind, mesh_id), None)
        if bell is not None:
            bell.set()

    def ring_all_here(self, kind: str) -> None:
        """A hint from another process names no mesh: wake all waiters of ``kind``."""
        for key in [k for k in self._bells if k[0] == kind]:
            self._bells.pop(key).set()

    async def wait(self, bell: asyncio.Event, timeout_s: float) -> bool:
        """Wait for a bell to ring; False when ``timeout_s`` passed without."""
        try:
            await asyncio.wait_for(bell.wait(), timeout_s)
        except TimeoutError:
            return False
        return True
