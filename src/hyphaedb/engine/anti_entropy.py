"""The sweep (paper, section 4.4): intended reach against recorded deliveries.

Within one database two nodes cannot diverge, so nothing is compared pairwise. What can differ is
what the present graph would deliver and what was delivered: an agent came later, drifted in, or
set up a beacon. A sweep runs the waves of live diffs again and records what is missing.

The law: on a graph that stands still, when sweeps are done no agent lacks a live diff whose wave
would deliver it, and a further sweep writes nothing (newcomers' allowance and attention apart).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from hyphaedb.engine.context import Context
from hyphaedb.engine.deciding import Landing
from hyphaedb.engine.failpoints import Failpoint
from hyphaedb.engine.law import KnownCells
from hyphaedb.engine.linking import gridded
from hyphaedb.engine.planning import Settled, travels
from hyphaedb.engine.pump import Pump
from hyphaedb.engine.wakeups import NEWS
from hyphaedb.model import AgentId, DiffId, DiffKind, Route
from hyphaedb.store import journal, log, traces
from hyphaedb.store.journal import NewDelivery
from hyphaedb.store.rows import PendingRow

#: Diffs looked at in one read and one write.
_PAGE = 256
#: Diffs between two looks at what else waits: some milliseconds of work, a wave's worth each.
_SLICE = 16


@dataclass(frozen=True, slots=True)
class _Missing:
    """One delivery that should be there."""

    settled: Settled
    landing: Landing


class Sweeper:
    """Sweeps one mesh for its pump."""

    def __init__(
        self, context: Context, pump: Pump, between: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        """``between`` is awaited every few diffs: waves that wait must not wait for a sweep."""
        self._context = context
        self._pump = pump
        self._between = between

    async def run(self) -> int:
        """Sweep everything if that was asked for, else for whoever may lack something; returns
        the deliveries added. What has to wait stays with the pump."""
        pump = self._pump
        asked = frozenset(pump.asked)
        scope = None if asked else frozenset(pump.newcomers)
        pump.arrived.clear()
        added, more = await self.sweep(scope)
        pump.newcomers = set(more) | pump.arrived
        await pump.note_swept(asked)
        return added

    async def sweep(self, scope: frozenset[AgentId] | None) -> tuple[int, frozenset[AgentId]]:
        """Deliver what agents in ``scope`` (None: all) lack.

        Returns the deliveries added and the agents that have more coming: with a scope each gets
        at most ``sweep_newcomer_items`` a sweep, best first, so that nobody is flooded; and nobody
        gets more than his attention allows.
        """
        mirror = self._pump.mirror
        everybody = scope is None
        wanted = self._pump.receivers() if scope is None else scope
        if mirror.info.paused or mirror.info.shadow:
            return 0, wanted
        context, now = self._context, self._context.now()
        mesh_id = context.info.mesh_id
        async with context.database.read() as tx:
            past = await log.past_counts(tx, mesh_id)
            left = await self._pump.attention(tx)
        tired = frozenset(a for a in wanted if left.get(a, 1) <= 0)
        if wanted <= tired:
            return 0, wanted
        waiting: dict[tuple[AgentId, bool], list[_Missing]] = {}
        added, after = 0, 0
        while True:
            async with context.database.read() as tx:
                page = await journal.live(tx, mesh_id, after_dot=after, limit=_PAGE, now=now)
                had = await traces.delivered_pairs(tx, mesh_id, [d.diff_id for d in page])
                told = {
                    d.diff_id: await log.recipients(tx, mesh_id, d.about)
                    for d in page
                    if d.about is not None and d.kind is not DiffKind.CREATED
                }
            if not page:
                break
            for start in range(0, len(page), _SLICE):
                part = page[start : start + _SLICE]
                missing = await asyncio.to_thread(
                    self._missing, part, had, told, wanted - tired, now
                )
                added += await self._sort(missing, waiting, left, everybody)
                if self._between is not None:
                    await self._between()
            after = max(d.dot or 0 for d in page)
        async with context.database.read() as tx:
            left = await self._pump.attention(tx)
        more, chosen = self._choose(waiting, past, left, everybody)
        added += await self._record(chosen)
        return added, more | tired

    def _missing(
        self,
        page: Sequence[PendingRow],
        had: set[tuple[DiffId, AgentId]],
        told: dict[DiffId, list[AgentId]],
        scope: frozenset[AgentId],
        now: datetime,
    ) -> list[_Missing]:
        """What the waves of these diffs would deliver on the present graph and was not."""
        planner, mirror = self._pump.planner, self._pump.mirror
        receivers = [
            i
            for i, r in enumerate(mirror.roster.receivers)
            if r.receives and not r.retired and r.agent_id in scope
        ]
        out: list[_Missing] = []
        probes = gridded(np.stack([d.vector for d in page]))
        known = self._known(receivers)
        for diff, probe in zip(page, probes, strict=True):
            spreads = travels(diff, now)
            if mirror.row(diff) is None or not (spreads or diff.kind is DiffKind.RETRACTED):
                continue
            names = dict.fromkeys(told.get(diff.diff_id, ()))
            subject = planner.subject(diff, probe, now)
            layer = mirror.layers[diff.layer]
            ceilings = mirror.law.ceilings(subject, layer, mirror.roster, known[diff.layer])
            watched = planner.watched(subject)
            lacking = set()
            for i in receivers:
                agent_id = mirror.roster.receivers[i].agent_id
                near = spreads and ceilings[i] >= mirror.law.gate
                may = near or agent_id in names or agent_id in watched
                if may and (diff.diff_id, agent_id) not in had:
                    lacking.add(agent_id)
            if not lacking:
                continue
            ran = planner.run(diff, probe, now)
            settled = planner.judge(diff, probe, ran, names, frozenset(), now)
            out.extend(
                _Missing(settled, x) for x in settled.decision.landings if x.agent_id in lacking
            )
        return out

    def _known(self, receivers: Sequence[int]) -> list[KnownCells]:
        """Per layer, the cells that the holders behind these receivers know."""
        mirror = self._pump.mirror
        holders = np.unique([mirror.roster.receivers[i].holder for i in receivers]).astype(np.int32)
        return [KnownCells(*layer.touches.known_by(holders)) for layer in mirror.layers]

    async def _sort(
        self,
        missing: list[_Missing],
        waiting: dict[tuple[AgentId, bool], list[_Missing]],
        left: dict[AgentId, int],
        everybody: bool,
    ) -> int:
        """Record at once what is owed without limit; keep the rest to be ranked."""
        registered = {r.agent_id: r.registered_at for r in self._pump.mirror.roster.receivers}
        now_due: list[_Missing] = []
        most = self._context.config.sweep_newcomer_items
        for item in missing:
            agent_id = item.landing.agent_id
            is_past = item.settled.diff.created_at < registered[agent_id]
            if everybody and not is_past and agent_id not in left:
                now_due.append(item)
                continue
            kept = waiting.setdefault((agent_id, is_past), [])
            kept.append(item)
            # Ranking keeps one more than can be used, so that "there is more" is known.
            useful = max(most, left.get(agent_id, 0)) + 1
            if len(kept) > 4 * useful:
                kept.sort(key=_rank)
                del kept[useful:]
        return await self._record(now_due)

    def _choose(
        self,
        waiting: dict[tuple[AgentId, bool], list[_Missing]],
        past: dict[AgentId, int],
        left: dict[AgentId, int],
        everybody: bool,
    ) -> tuple[frozenset[AgentId], list[_Missing]]:
        """The best of what waits for each agent, and who has more coming."""
        most = self._context.config.sweep_newcomer_items
        more: set[AgentId] = set()
        chosen: list[_Missing] = []
        for agent_id in sorted({agent for agent, _ in waiting}, key=lambda a: a.bytes):
            # From before it registered an agent gets so much in all, whatever is left of it.
            allowance = max(0, most - past.get(agent_id, 0))
            items = sorted(waiting.get((agent_id, True), []), key=_rank)[:allowance]
            items = sorted([*items, *waiting.get((agent_id, False), [])], key=_rank)
            room = len(items) if everybody else most
            room = min(room, left.get(agent_id, room))
            chosen.extend(items[:room])
            if len(items) > room:
                more.add(agent_id)
        return frozenset(more), chosen

    def _stands(self, diff: PendingRow) -> bool:
        """Whether a diff may still be delivered: waves that passed meanwhile may have closed its
        cell, and have told those who had it then."""
        layer = self._pump.mirror.layers[diff.layer]
        row = layer.row(diff.cell_id)
        return row is not None and (diff.kind is DiffKind.RETRACTED or bool(layer.standing[row]))

    async def _record(self, items: list[_Missing]) -> int:
        """Write deliveries in fenced transactions of a page each."""
        added = 0
        context, mesh_id = self._context, self._context.info.mesh_id
        items = [i for i in items if self._stands(i.settled.diff)]
        for start in range(0, len(items), _PAGE):
            part = [_delivery(i) for i in items[start : start + _PAGE]]
            async with context.database.transaction() as tx:
                counters = await journal.fence(tx, mesh_id, self._pump.epoch, seq=len(part))
                context.failpoints.hit(Failpoint.DURING_SWEEP)
                held = await log.hold_diffs(tx, mesh_id, [d.diff_id for d in part])
                landed = await journal.record_deliveries(
                    tx,
                    mesh_id,
                    [d for d in part if d.diff_id in held],
                    seq=counters.seq,
                    now=context.now(),
                )
                added += len(landed)
        if added:
            context.wakeups.ring(NEWS, mesh_id)
        return added


def _rank(item: _Missing) -> tuple[bool, int, bytes]:
    """Corrections first, then by score, newest first among equals."""
    told = item.landing.route is Route.LOG
    return (not told, -item.landing.score, _inverted(item.settled.diff.diff_id.bytes))


def _inverted(raw: bytes) -> bytes:
    return bytes(255 - b for b in raw)


def _delivery(item: _Missing) -> NewDelivery:
    landing = item.landing
    route = landing.route if landing.route is Route.LOG else Route.SWEEP
    return item.settled.delivery(landing, route, shadow=False)
