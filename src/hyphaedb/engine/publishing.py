"""The acknowledged path: from what a caller hands over to a durable cell and its diff.

Embedding happens before any transaction; one statement then writes the cell and the promise to
spread it. Everything later (links, waves, deliveries) belongs to the mesh's owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from hyphaedb.engine import validation
from hyphaedb.engine.backlog import Backlog
from hyphaedb.engine.composing import Composer
from hyphaedb.engine.context import Context
from hyphaedb.engine.members import Members
from hyphaedb.engine.wakeups import WORK
from hyphaedb.errors import Conflict, Invalid
from hyphaedb.model import (
    CellId,
    DiffId,
    DiffKind,
    DiffState,
    NewCell,
    Stored,
    StoreOutcome,
)
from hyphaedb.store import bulk, cells
from hyphaedb.store.rows import AgentRow, CellRow, DiffRow

#: Cells of one ``store_many``: one embedding call and one transaction stay short.
MANY_MAX = 1_000


class _KeyTaken(Exception):
    """The idempotency key was used between our look and our write."""


class Publisher:
    """Stores cells. Safe for many tasks at once."""

    def __init__(self, context: Context, members: Members) -> None:
        self._context = context
        self._members = members
        self._composer = Composer(context)
        self._backlog = Backlog(context)

    async def store(self, cell: NewCell | str, agent: str, key: str | None = None) -> Stored:
        """One new cell; see :meth:`hyphaedb.verbs.Verbs.store`."""
        context = self._context
        new = validation.new_cell(cell, context.config.body_chars_max)
        author = await self._members.active(agent)
        request = b""
        if key is not None:
            validation.key(key)
            request = validation.request_hash("store", new)
            earlier = await self._earlier(agent, key, request)
            if earlier is not None:
                return earlier
        await self._backlog.admit()
        vectors, windows = await self._composer.embed([new.body])
        now = context.now()
        row = self._composer.cell(new, author, vectors[0], windows[0], now)
        diff = self._composer.diff(row, DiffKind.CREATED)
        if key is None:
            async with context.database.statement() as tx:
                stored = await self._composer.insert(tx, row, diff, author, now)
        else:
            try:
                stored = await self._insert_once(row, diff, author, key, request)
            except _KeyTaken:
                earlier = await self._earlier(agent, key, request)
                if earlier is None:
                    raise Conflict(
                        "The same idempotency key is in use by a request under way.",
                        "Send it again in a moment.",
                    ) from None
                return earlier
        context.wakeups.ring(WORK, context.info.mesh_id)
        return stored

    async def _insert_once(
        self, row: CellRow, diff: DiffRow, author: AgentRow, key: str, request: bytes
    ) -> Stored:
        """Store under an idempotency key: cell and kept answer commit together."""
        context = self._context
        async with context.database.transaction() as tx:
            stored = await self._composer.insert(tx, row, diff, author, row.created_at)
            kept = await cells.keep_answer(
                tx,
                context.info.mesh_id,
                author.agent.name,
                key,
                request,
                _answer(stored),
                row.created_at,
            )
            if not kept:
                raise _KeyTaken
        return stored

    async def store_many(
        self, many: Sequence[NewCell], agent: str, session: str | None
    ) -> list[Stored]:
        """Up to MANY_MAX cells in one transaction, in order."""
        if not validation.listed(many, "cells", MANY_MAX):
            raise Invalid(f"{len(many)} cells were given.", f"Pass 1 to {MANY_MAX} at a time.")
        context = self._context
        limit = context.config.body_chars_max
        news = [validation.new_cell(c, limit) for c in many]
        if session is not None:
            news = [replace(n, session=validation.name(session, "session")) for n in news]
        author = await self._members.active(agent)
        await self._backlog.admit(len(news))
        vectors, windows = await self._composer.embed([n.body for n in news])
        now = context.now()
        rows = [
            self._composer.cell(new, author, vector, seen, now)
            for new, vector, seen in zip(news, vectors, windows, strict=True)
        ]
        batch = [(row, self._composer.diff(row, DiffKind.CREATED)) for row in rows]
        async with context.database.transaction() as tx:
            written = await bulk.insert_cells(tx, context.info.mesh_id, batch)
            stored = [
                await self._composer.outcome(tx, one, row, diff, author, now)
                for one, (row, diff) in zip(written, batch, strict=True)
            ]
        context.wakeups.ring(WORK, context.info.mesh_id)
        return stored

    async def _earlier(self, scope: str, key: str, request: bytes) -> Stored | None:
        async with self._context.database.statement() as tx:
            found = await cells.answer(tx, self._context.info.mesh_id, scope, key)
        if found is None:
            return None
        if found[0] != request:
            raise Conflict(
                "This idempotency key belongs to another request.", "Use a new key for a new cell."
            )
        return _stored(found[1])


def _answer(stored: Stored) -> dict[str, Any]:
    return {
        "cell_id": str(stored.cell_id),
        "diff_id": str(stored.diff_id) if stored.diff_id else None,
        "outcome": stored.outcome.value,
        "windows": stored.windows,
    }


def _stored(answer: Mapping[str, Any]) -> Stored:
    diff = answer["diff_id"]
    return Stored(
        CellId(UUID(answer["cell_id"])),
        DiffId(UUID(diff)) if diff else None,
        StoreOutcome(answer["outcome"]),
        int(answer["windows"]),
        DiffState.PENDING if diff else DiffState.DONE,
    )
