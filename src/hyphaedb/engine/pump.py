"""The owner's step: read what waits, think it through on the mirror, write it in one transaction.

Plan with reads, commit in one short write that first proves ownership. Whatever goes wrong, the
mirror is thrown away and the diffs are still there; replaying them is harmless, because a
delivery is unique by diff and agent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hyphaedb.engine.bridging import mend
from hyphaedb.engine.context import Context
from hyphaedb.engine.failpoints import Failpoint
from hyphaedb.engine.intake import Intake
from hyphaedb.engine.mirror import Mirror
from hyphaedb.engine.planning import Plan, Planner, Settled
from hyphaedb.engine.wakeups import NEWS
from hyphaedb.model import AgentId, CellId, DiffId, DiffKind
from hyphaedb.store import agents, cells, graph, jobs, journal, log, traces
from hyphaedb.store.agents import Attachment
from hyphaedb.store.graph import NewLinks
from hyphaedb.store.jobs import Signal
from hyphaedb.store.journal import WaveRow
from hyphaedb.store.pool import Tx, pipelined
from hyphaedb.store.rows import AgentRow, PendingRow

#: Signals taken in at a time; more wait for the next step.
SIGNALS_MAX = 2_000
_ATTENTION_WINDOW = timedelta(hours=1)
#: Corrections: whoever had received what they are about hears of them, whatever the score.
_BY_LOG = frozenset({DiffKind.UPDATED, DiffKind.SUPERSEDED, DiffKind.RETRACTED})
#: Stands for "a sweep is owed" in the owner's row.
_OWED = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pumped:
    """What one step did."""

    settled: int
    delivered: int
    signals: int

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return self.settled == 0 and self.signals == 0


class Pump:
    """Owns one mesh in one epoch. Used by one task at a time."""

    def __init__(self, context: Context, epoch: int, mirror: Mirror) -> None:
        self._context = context
        self.epoch = epoch
        self.mirror = mirror
        self.planner = Planner(mirror, context.config)
        self.intake = Intake(context, mirror)
        #: Agents that may lack something: they are new, drifted, or had no attention left.
        self.newcomers: set[AgentId] = set()
        #: Those that became so while a sweep is under way, which may have passed them by.
        self.arrived: set[AgentId] = set()
        #: Signals that ask for a sweep of everything.
        self.asked: set[UUID] = set()
        self._owes = mirror.swept_at is None or mirror.swept_at <= _OWED
        if self._owes:
            # The last owner may have stopped between learning of them and sweeping.
            self.newcomers |= self.receivers()
        # Something was erased since the layers were last seen to be whole; of a fresh mirror nobody
        # has looked yet.
        self._erased = True

    @classmethod
    async def load(cls, context: Context, epoch: int) -> Pump:
        """A pump with a fresh mirror."""
        context.failpoints.hit(Failpoint.DURING_REBUILD)
        panel = await context.embedder.panel()
        mirror = Mirror(context.info, context.config, panel)
        await mirror.load(context.database)
        return cls(context, epoch, mirror)

    async def step(self, limit: int) -> Pumped:
        """Take in signals and settle up to ``limit`` diffs; raises LeaseLost by an old epoch."""
        context = self._context
        mesh_id = context.info.mesh_id
        now = context.now()
        async with context.database.read() as tx:
            every = await jobs.signals(tx, mesh_id, SIGNALS_MAX)
            waiting = [s for s in every if s.signal_id not in self.asked]
            news = await self.intake.read(tx, waiting)
            paused = news.paused if news.paused is not None else self.mirror.info.paused
            diffs = [] if paused else await journal.pending(tx, mesh_id, limit, now)
            told = {d.diff_id: await self._told(tx, d) for d in diffs if d.kind in _BY_LOG}
            attention = await self.attention(tx, news.agents)
        if not waiting and not diffs and not self._erased:
            return Pumped(0, 0, 0)
        context.failpoints.hit(Failpoint.AFTER_CLAIM)
        moved = self.intake.apply(news, waiting)
        # Before the waves: what the faces said came before what now travels.
        attached = self._position(moved.holders | moved.anew, moved.anew) if waiting else set()
        self._erased |= news.erased
        plan = await asyncio.to_thread(self._think, diffs, told, attention, now)
        if not waiting and not diffs and not plan.bridges:
            return Pumped(0, 0, 0)
        plan.attached |= attached | self._position(plan.moved)
        plan.moved |= moved.holders | moved.anew
        self._expect(news.newcomers | plan.postponed)
        self.asked |= news.asked
        async with context.database.transaction() as tx:
            landed = await self._write(tx, plan, waiting)
            context.failpoints.hit(Failpoint.BEFORE_COMMIT)
        self._owes |= bool(self.newcomers)
        context.failpoints.hit(Failpoint.AFTER_COMMIT)
        if landed or plan.settled:
            context.wakeups.ring(NEWS, mesh_id)
        return Pumped(len(plan.settled), landed, len(waiting))

    def _think(
        self,
        diffs: Sequence[PendingRow],
        told: Mapping[DiffId, Sequence[AgentId]],
        attention: Mapping[AgentId, int],
        now: datetime,
    ) -> Plan:
        """The batch on the mirror, torn layers mended first."""
        bridges = mend(self.mirror, self._context.ids, now) if self._erased else []
        self._erased = False
        plan = self.planner.plan(diffs, told, attention, now)
        plan.bridges.extend(bridges)
        return plan

    def receivers(self) -> frozenset[AgentId]:
        """Everybody who has an inbox that is still filled."""
        every = self.mirror.roster.receivers
        return frozenset(r.agent_id for r in every if r.receives and not r.retired)

    async def note_swept(self, asked: frozenset[UUID]) -> None:
        """A sweep is done: what asked for it is answered, and a successor need not repeat it."""
        context, mesh_id = self._context, self._context.info.mesh_id
        clean = self._owes and not self.newcomers
        if not asked and not clean:
            return
        async with context.database.transaction() as tx:
            await journal.fence(tx, mesh_id, self.epoch)
            if asked:
                await jobs.clear_signals(tx, mesh_id, sorted(asked))
            if clean:
                await jobs.set_swept(tx, mesh_id, self.epoch, context.now())
        self.asked -= asked
        self._owes &= not clean

    async def _told(self, tx: Tx, diff: PendingRow) -> list[AgentId]:
        """Whom the log names: whoever had received (or touched) the cell this diff is about."""
        if diff.about is None:
            return []
        return await log.recipients(tx, self._context.info.mesh_id, diff.about)

    async def attention(
        self, tx: Tx, agents_now: Sequence[AgentRow] | None = None
    ) -> dict[AgentId, int]:
        """How many items more each agent with a limit wants this hour (bandwidth of its
        subscription); those without a limit are left out. ``agents_now`` are the agents where the
        roster is about to be replaced."""
        known = (
            [(r.agent_id, r.attention) for r in self.mirror.roster.receivers]
            if agents_now is None
            else [(a.agent.agent_id, a.attention) for a in agents_now]
        )
        limits = {agent_id: most for agent_id, most in known if most is not None}
        if not limits:
            return {}
        since = self._context.now() - _ATTENTION_WINDOW
        mesh_id = self._context.info.mesh_id
        counts = await traces.delivered_since(tx, mesh_id, list(limits), since)
        return {a: most - counts.get(a, 0) for a, most in limits.items()}

    def _position(self, moved: set[int], anew: Set[int] = frozenset()) -> set[int]:
        """Move the holders whose footprints changed; returns those that drifted, or are in
        ``anew``, and were attached anew."""
        roster = self.mirror.roster
        for holder in sorted(moved):
            position = self.mirror.position_of(holder)
            if position is not None:
                roster.place(holder, position)
            else:
                roster.displace(holder)
        drifted = set(roster.drifted()) | {h for h in anew if roster.hangs(h)}
        for holder in sorted(drifted):
            roster.attach(holder, self.mirror.layers[0])
            self._expect({r.agent_id for r in roster.receivers if r.holder == holder})
        return drifted

    def _expect(self, agents: set[AgentId]) -> None:
        """These may lack something now."""
        self.newcomers |= agents
        self.arrived |= agents

    async def _write(self, tx: Tx, plan: Plan, waiting: Sequence[Signal]) -> int:
        """One batch, fenced; returns the deliveries that were new."""
        context, mesh_id = self._context, self._context.info.mesh_id
        shadow = self.mirror.info.shadow
        deliveries = [
            s.delivery(x, x.route, shadow=shadow) for s in plan.settled for x in s.decision.landings
        ]
        counters = await journal.fence(
            tx,
            mesh_id,
            self.epoch,
            seq=len(deliveries),
            ordinals=len(plan.links),
            graph_epochs=1 if plan.links else 0,
        )
        context.failpoints.hit(Failpoint.AFTER_FENCE)
        self.mirror.graph_epoch = counters.graph_epoch
        ends = [e.src for e in plan.bridges]
        held = await cells.hold(tx, mesh_id, [*(s.diff.cell_id for s in plan.settled), *ends])
        settled = [s for s in plan.settled if s.diff.cell_id in held]
        # Dots are gapless, so they are counted only now that it is known what is still there.
        counted = await journal.fence(tx, mesh_id, self.epoch, dots=len(settled))
        now = context.now()
        async with pipelined(tx):
            await self._write_links(tx, plan, held)
            for panel in plan.panels:
                await graph.put_panel(tx, mesh_id, panel)
            context.failpoints.hit(Failpoint.MID_BATCH)
            waves = [self._wave(one, counters.graph_epoch) for one in settled]
            await journal.record_waves(tx, mesh_id, waves)
            dots = {s.diff.diff_id: counted.dot + 1 + i for i, s in enumerate(settled)}
            await journal.settle(tx, mesh_id, dots, now)
            await self._write_holders(tx, plan)
            if waiting:
                taken_in = [s.signal_id for s in waiting if s.signal_id not in self.asked]
                await jobs.clear_signals(tx, mesh_id, taken_in)
            if self.newcomers and not self._owes:
                await jobs.set_swept(tx, mesh_id, self.epoch, _OWED)
            # Last, for its answer is waited for.
            kept = [d for d in deliveries if d.cell_id in held]
            landed = await journal.record_deliveries(tx, mesh_id, kept, seq=counters.seq, now=now)
        return len(landed)

    async def _write_links(self, tx: Tx, plan: Plan, held: frozenset[CellId]) -> None:
        mesh_id = self._context.info.mesh_id
        for number in sorted({link.layer for link in plan.links}):
            here = [link for link in plan.links if link.layer == number]
            await graph.insert_links(
                tx,
                mesh_id,
                number,
                [
                    NewLinks(x.ordinal, x.cell_id, x.targets.tolist(), x.costs.tolist())
                    for x in here
                ],
            )
        await graph.count_terms(tx, mesh_id, [link.cell_id for link in plan.links])
        bridges = [e for e in plan.bridges if e.src in held and e.dst in held]
        if bridges:
            await graph.insert_edges(tx, mesh_id, bridges)

    async def _write_holders(self, tx: Tx, plan: Plan) -> None:
        """Positions, attachments and uses that the batch changed."""
        roster, mesh_id = self.mirror.roster, self._context.info.mesh_id
        now = self._context.now()
        for holder in sorted(plan.moved):
            if roster.placed[holder]:
                await agents.put_position(
                    tx, mesh_id, roster.holder_ids[holder], roster.positions[holder], now
                )
            else:
                await agents.remove_position(tx, mesh_id, roster.holder_ids[holder])
        rows = []
        for holder in sorted(plan.attached):
            ids, vector = roster.attachments(holder, self.mirror.layers[0])
            rows.append(Attachment(0, roster.holder_ids[holder], ids, vector, now))
        await agents.put_attachments(tx, mesh_id, rows)
        for holder_id, cell_id in plan.used:
            day = int(roster.days[roster.holder(holder_id)])
            await cells.mark_used(tx, mesh_id, holder_id, [cell_id], day=day, now=now)

    def _wave(self, settled: Settled, graph_epoch: int) -> WaveRow:
        return WaveRow(
            diff_id=settled.diff.diff_id,
            settled=settled.settled,
            rounds=settled.rounds,
            gate=settled.gate,
            truncated=settled.truncated,
            shadow=self.mirror.info.shadow,
            hops=settled.hops,
            refused=[
                {
                    "agent": t.name,
                    "reason": t.reason.value,
                    "score": t.score,
                    "relevance": t.relevance,
                    "interest": t.interest,
                }
                for t in settled.decision.refused
            ],
            graph_epoch=graph_epoch,
            run_at=self._context.now(),
        )

    async def fail(self, diff_id: DiffId, attempt: int, error: str) -> bool:
        """Note a failed diff: it is tried later, or set aside as dead; returns whether dead."""
        context = self._context
        dead = attempt + 1 >= context.config.attempts_max
        # Doubling from half a second, with jitter so that failures do not march in step.
        delay_s = min(0.5 * 2.0**attempt, 300.0) * (0.5 + context.jitter())
        next_at = context.now() + timedelta(seconds=delay_s)
        async with context.database.transaction() as tx:
            await journal.fence(tx, context.info.mesh_id, self.epoch)
            await journal.fail(tx, context.info.mesh_id, diff_id, error, next_at=next_at, dead=dead)
        return dead
