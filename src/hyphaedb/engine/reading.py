"""Inboxes as their agents read them: a budgeted page, acknowledgement, a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from hyphaedb.engine import validation
from hyphaedb.engine.context import Context
from hyphaedb.engine.members import Members
from hyphaedb.engine.tokens import within
from hyphaedb.engine.wakeups import NEWS
from hyphaedb.model import AgentId, InboxItem, InboxPage, Recalled, Route
from hyphaedb.protocol import decay
from hyphaedb.store import access, inbox
from hyphaedb.store.inbox import InboxRow

#: Unread items that ride along with a recall: enough to be noticed, too few to crowd it.
_RIDING_MAX = 3
#: Items a stream fetches at a time.
_STREAM_PAGE = 100
_CURSORS_MAX = 1_000


class Reader:
    """Reads inboxes of one mesh."""

    def __init__(self, context: Context, members: Members) -> None:
        self._context = context
        self._members = members

    async def page(
        self,
        agent: str,
        items: int | None,
        tokens: int | None,
        lease: bool,
        after: int | None,
        bodies: bool,
    ) -> InboxPage:
        """See :meth:`hyphaedb.verbs.Verbs.inbox`."""
        context, config = self._context, self._context.config
        most = validation.count(config.inbox_items if items is None else items, "items", 1, 500)
        budget = validation.count(
            config.inbox_tokens if tokens is None else tokens, "tokens", 50, 200_000
        )
        leased = validation.flag(lease, "lease")
        whole = validation.flag(bodies, "bodies")
        start = 0 if after is None else validation.count(after, "cursor", 0, 2**62)
        owner = (await self._members.find(agent)).agent
        now = context.now()
        mesh_id = context.info.mesh_id
        async with context.database.statement() as tx:
            unread = await inbox.unread(tx, mesh_id, owner.agent_id, now)
            if after is None:
                rows = await inbox.best(tx, mesh_id, owner.agent_id, limit=inbox.PAGE_MAX, now=now)
            else:
                rows = await inbox.waiting_after(
                    tx, mesh_id, owner.agent_id, after=start, limit=inbox.PAGE_MAX, now=now
                )
        ranked = sorted(rows, key=lambda r: _rank(r, now))
        chosen, _ = within(ranked[:most], lambda r: _shown(r, whole), budget)
        if leased and chosen:
            chosen = await self._lease(owner.agent_id, chosen, now)
        shown = [r.item if whole else replace(r.item, body=None) for r in chosen]
        cursor = max([start, *(i.cursor for i in shown)])
        return InboxPage(tuple(shown), cursor, unread, max(0, len(rows) - len(shown)))

    async def _lease(
        self, agent_id: AgentId, rows: list[InboxRow], now: datetime
    ) -> list[InboxRow]:
        """Lease the rows; another reader may have been quicker with some."""
        context = self._context
        until = now + timedelta(seconds=context.config.inbox_lease_s)
        async with context.database.statement() as tx:
            got = await inbox.lease(
                tx,
                context.info.mesh_id,
                agent_id,
                [r.item.cursor for r in rows],
                until=until,
                now=now,
            )
        mine = set(got)
        return [r for r in rows if r.item.cursor in mine]

    async def acknowledge(self, agent: str, cursors: Sequence[int]) -> int:
        """Mark items as read; returns how many were not read before."""
        given = validation.listed(cursors, "cursors", _CURSORS_MAX)
        seqs = [validation.count(c, "cursor", 1, 2**62) for c in given]
        owner = (await self._members.find(agent)).agent
        if not seqs:
            return 0
        context = self._context
        async with context.database.statement() as tx:
            done = await inbox.ack(tx, context.info.mesh_id, owner.agent_id, seqs, context.now())
        return len(done)

    async def follow(self, agent: str, after: int | None) -> AsyncIterator[InboxItem]:
        """Unread items behind ``after`` in cursor order, then new ones as they land."""
        context = self._context
        owner = (await self._members.find(agent)).agent
        cursor = 0 if after is None else validation.count(after, "cursor", 0, 2**62)
        while True:
            bell = context.wakeups.bell(NEWS, context.info.mesh_id)
            async with context.database.statement() as tx:
                rows = await inbox.waiting_after(
                    tx,
                    context.info.mesh_id,
                    owner.agent_id,
                    after=cursor,
                    limit=_STREAM_PAGE,
                    now=context.now(),
                )
            for row in rows:
                cursor = row.item.cursor
                yield row.item
            if not rows and not await context.wakeups.wait(bell, context.config.poll_s):
                # Nothing comes from a mesh that was dropped, and its followers must hear so.
                async with context.database.statement() as tx:
                    await access.mesh_by_id(tx, context.info.mesh_id)

    async def riding_along(self, found: Recalled, agent: str | None) -> Recalled:
        """A recall's answer with the best unread items of its reader, headlines only."""
        if agent is None:
            return found
        page = await self.page(agent, _RIDING_MAX, None, False, None, False)
        return replace(found, unread=page.items)


def _rank(row: InboxRow, now: datetime) -> tuple[bool, float, int]:
    """Corrections first, then score weighed by what its salience is worth today."""
    days = max(0.0, (now - row.used_at).total_seconds() / 86_400)
    worth = 0.5 + 0.5 * decay.salience_at(row.salience, days)
    return (row.item.route is not Route.LOG, -row.item.score * worth, row.item.cursor)


def _shown(row: InboxRow, whole: bool) -> str:
    """What a prompt gets of an item."""
    said = row.item.body if whole and row.item.body else row.item.headline
    return f"{said} {row.item.reason}" if row.item.reason else said
