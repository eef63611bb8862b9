"""Recall: candidate lists from the store, fusion in the protocol, budget, and the reader's trace.

Every acknowledged store is seen: the vector list scans the unindexed tail exactly. An answer
with too little evidence is empty and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from hyphaedb.engine import validation
from hyphaedb.engine.candidates import Query, gather
from hyphaedb.engine.composing import embed
from hyphaedb.engine.context import Context
from hyphaedb.engine.identity import named
from hyphaedb.engine.members import Members
from hyphaedb.engine.reader_trace import ReaderTrace
from hyphaedb.engine.tokens import within
from hyphaedb.model import (
    BeaconMatch,
    CellType,
    Filter,
    Recalled,
    RecallMode,
    SessionId,
)
from hyphaedb.protocol import addressing
from hyphaedb.protocol.calibration import Baseline, calibrate
from hyphaedb.store import cells, search
from hyphaedb.store.traces import headline


class Recaller:
    """Answers queries on one mesh. Safe for many tasks at once."""

    def __init__(self, context: Context, members: Members) -> None:
        self._context = context
        self._members = members
        self._trace = ReaderTrace(context)
        self._baseline: Baseline | None = None

    async def close(self) -> None:
        """Write down what was read and not yet noted."""
        await self._trace.close()

    async def recall(
        self,
        query: str,
        agent: str | None,
        session: str | None,
        k: int | None,
        mode: RecallMode,
        where: Filter | None,
        as_of: datetime | None,
        floor: float | None,
        tokens: int | None,
    ) -> Recalled:
        """See :meth:`hyphaedb.verbs.Verbs.recall`."""
        context, config = self._context, self._context.config
        validation.text(query, "query", validation.QUERY_CHARS_MAX)
        most = validation.count(config.recall_k if k is None else k, "k", 1, 200)
        budget = validation.count(
            config.recall_tokens if tokens is None else tokens, "tokens", 50, 200_000
        )
        least = config.recall_floor if floor is None else validation.share(floor, "floor")
        mode = validation.member(RecallMode, mode, "recall mode")
        wanted = validation.where(where)
        if as_of is not None:
            validation.moment(as_of, "as_of")
        if session is not None:
            validation.name(session, "session")
        reader = await self._members.active(agent) if agent is not None else None
        asked = await self._ask(query, mode, least, most)
        yardstick = await self._yardstick()
        now = context.now()
        async with context.database.statement() as tx:
            clauses = await search.resolve(tx, context.info.mesh_id, wanted, now=now, as_of=as_of)
            found = await gather(tx, context, asked, yardstick, clauses, now)
        kept, spent = within(found.best, lambda hit: hit.cell.body, budget)
        if reader is not None and kept:
            named_session = (
                SessionId(named(context.info.mesh_id, session)) if session is not None else None
            )
            self._trace.note(reader, [h.cell.cell_id for h in kept], named_session)
        return Recalled(tuple(kept), found.below_floor, len(found.best) - len(kept), spent)

    async def _ask(self, text: str, mode: RecallMode, floor: float, k: int) -> Query:
        """The question taken apart: a name in it says whom it is about, the rest is embedded."""
        agents = await self._members.ids_by_name()
        address = addressing.address(text, agents.keys())
        vectors, _ = await embed(self._context, [address.topic])
        about = frozenset(agents[name] for name in address.names)
        return Query(text, vectors[0], about, mode, floor, k)

    async def _yardstick(self) -> Baseline:
        """How far apart unrelated texts are under this embedder: the same for every mesh of it."""
        if self._baseline is None:
            shipped = await self._context.embedder.panel()
            none = np.zeros((0, self._context.info.dimension), np.float32)
            self._baseline = calibrate(none, shipped).floor
        return self._baseline

    async def beacon_dry_run(
        self,
        text: str,
        radius: float,
        types: Sequence[CellType],
        tags: Sequence[str],
        limit: int,
    ) -> list[BeaconMatch]:
        """What a beacon would have caught of the cells that stand."""
        context = self._context
        validation.text(text, "beacon text", validation.QUERY_CHARS_MAX)
        least = Members.radius(radius)
        most = validation.count(limit, "limit", 1, 500)
        kinds = validation.types(types)
        wanted = Filter(types=kinds)
        any_tag = validation.tags(tags)
        vectors, _ = await embed(context, [text])
        async with context.database.statement() as tx:
            mesh_id = context.info.mesh_id
            clauses = await search.resolve(tx, mesh_id, wanted, now=context.now())
            clauses = search.with_any_tag(clauses, any_tag)
            listing = search.scan(mesh_id, 0, vectors[0], most, clauses)
            near = [n for n in await search.near(tx, listing) if n.cosine >= least]
            known = {
                c.cell_id: c for c in await cells.cells(tx, mesh_id, [n.cell_id for n in near])
            }
        return [
            BeaconMatch(n.cell_id, headline(cell.body), n.cosine, cell.created_at)
            for n in near
            if (cell := known.get(n.cell_id)) is not None
        ]
