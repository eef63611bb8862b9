"""Why did this agent get this, and who has not seen it: traces, receipts, readers, gauges."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hyphaedb.engine import validation
from hyphaedb.engine.context import Context
from hyphaedb.engine.members import Members
from hyphaedb.engine.wakeups import NEWS, WORK
from hyphaedb.engine.worker import Worker
from hyphaedb.errors import Invalid, NotFound
from hyphaedb.model import (
    MICRO,
    CellId,
    DiffId,
    DiffState,
    HopCount,
    Receipt,
    Refusal,
    Refused,
    Seen,
    Stats,
    Stored,
    Trace,
)
from hyphaedb.store import access, jobs, journal, traces
from hyphaedb.store.jobs import Owner
from hyphaedb.store.journal import DiffInfo, WaveRow
from hyphaedb.store.pool import Tx

_STREAM_PAGE = 100
#: How often a caller who waits for a delivery looks without having been woken.
_LOOK_S = 0.05


class Explainer:
    """Answers questions about what happened in one mesh."""

    def __init__(self, context: Context, members: Members, worker: Worker | None) -> None:
        self._context = context
        self._members = members
        self._worker = worker

    async def trace(self, subject: DiffId | CellId) -> Trace:
        """The wave of a diff, or of a cell's newest diff."""
        async with self._context.database.read() as tx:
            return await self._trace(tx, await self._diff(tx, subject))

    async def _diff(self, tx: Tx, subject: UUID) -> DiffInfo:
        if not isinstance(subject, UUID):
            raise Invalid(f"{subject!r} is no id.", "Pass the UUID of a diff or of a cell.")
        mesh_id = self._context.info.mesh_id
        found = await journal.diff_by_id(tx, mesh_id, DiffId(subject))
        if found is not None:
            return found
        of_cell = await journal.diffs_of_cell(tx, mesh_id, CellId(subject))
        if not of_cell:
            raise NotFound(
                f"There is no diff and no cell {subject} in mesh {self._context.info.name!r}.",
                "Pass the id that `store` returned.",
            )
        return of_cell[-1]

    async def _trace(self, tx: Tx, diff: DiffInfo) -> Trace:
        mesh_id = self._context.info.mesh_id
        wave = await traces.wave_of(tx, mesh_id, diff.diff_id)
        deliveries = await traces.deliveries_of_diff(tx, mesh_id, diff.diff_id)
        return Trace(
            diff_id=diff.diff_id,
            cell_id=diff.cell_id,
            kind=diff.kind,
            state=diff.state,
            energy=diff.energy / MICRO,
            settled=wave.settled if wave else 0,
            rounds=wave.rounds if wave else 0,
            gate=(wave.gate if wave else 0) / MICRO,
            truncated=wave.truncated if wave else None,
            shadow=wave.shadow if wave else False,
            created_at=diff.created_at,
            settled_at=diff.settled_at,
            hops=_hops(wave),
            deliveries=tuple(deliveries),
            refused=_refused(wave, {d.agent for d in deliveries}),
            error=diff.error,
            reason=diff.reason,
        )

    async def waves(self, after: int | None) -> AsyncIterator[tuple[int, Trace]]:
        """Settled waves from ``after`` on (None: from now on), in the order they settled."""
        context = self._context
        mesh_id = context.info.mesh_id
        if after is None:
            async with context.database.statement() as tx:
                owner = await jobs.owner_of(tx, mesh_id)
            dot = owner.dot if owner else 0
        else:
            dot = validation.count(after, "cursor", 0, 2**62)
        while True:
            bell = context.wakeups.bell(NEWS, mesh_id)
            async with context.database.statement() as tx:
                page = await journal.live(
                    tx, mesh_id, after_dot=dot, limit=_STREAM_PAGE, now=context.now()
                )
            for row in page:
                async with context.database.read() as tx:
                    found = await journal.diff_by_id(tx, mesh_id, row.diff_id)
                    trace = await self._trace(tx, found) if found else None
                dot = max(dot, row.dot or 0)
                if trace is not None:
                    yield dot, trace
            if not page and not await context.wakeups.wait(bell, context.config.poll_s):
                # Nothing comes from a mesh that was dropped, and its followers must hear so.
                async with context.database.statement() as tx:
                    await access.mesh_by_id(tx, mesh_id)

    async def who_saw(self, cell_id: CellId) -> Sequence[Seen]:
        """Every agent that knows a cell."""
        async with self._context.database.read() as tx:
            await self._diff(tx, cell_id)
            return await traces.who_saw(tx, self._context.info.mesh_id, cell_id)

    async def receipt(self, cell_id: CellId) -> Receipt:
        """What became of a cell's newest diff."""
        async with self._context.database.read() as tx:
            diff = await self._diff(tx, cell_id)
            trace = await self._trace(tx, diff)
            parts = await traces.receipt(tx, self._context.info.mesh_id, diff.diff_id)
        return Receipt(
            cell_id=diff.cell_id,
            diff_id=diff.diff_id,
            state=diff.state,
            delivered=parts.delivered,
            read=parts.read,
            why_nobody=None if parts.delivered else why_nobody(trace),
        )

    async def await_receipt(self, stored: Stored, timeout_s: float) -> Stored:
        """Wait until a store's diff is settled or dead; past the timeout say ``pending``."""
        context = self._context
        if stored.diff_id is None:
            return replace(stored, receipt=await self.receipt(stored.cell_id))
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout_s
        while True:
            bell = context.wakeups.bell(NEWS, context.info.mesh_id)
            async with context.database.statement() as tx:
                diff = await journal.diff_by_id(tx, context.info.mesh_id, stored.diff_id)
            if diff is None or diff.state is not DiffState.PENDING:
                break
            left = end - loop.time()
            if left <= 0:
                return stored
            context.wakeups.ring(WORK, context.info.mesh_id)
            await context.wakeups.wait(bell, min(_LOOK_S, left))
        receipt = await self.receipt(stored.cell_id)
        return replace(stored, state=receipt.state, receipt=receipt)

    async def stats(self) -> Stats:
        """Gauges; what only the owner's mirror knows is None in other processes."""
        context = self._context
        mesh_id = context.info.mesh_id
        async with context.database.read() as tx:
            counts = await access.counts(tx, mesh_id, context.now())
            owner = await jobs.owner_of(tx, mesh_id)
            info = (await access.mesh_by_id(tx, mesh_id)).info
        pump = self._worker.pump if self._worker else None
        return Stats(
            cells=counts.cells,
            agents=counts.agents,
            beacons=counts.beacons,
            tail=counts.tail,
            tail_limit=context.config.tail_max,
            pending=counts.pending,
            dead=counts.dead,
            deliveries=counts.deliveries,
            unread=counts.unread,
            components=pump.mirror.components() if pump else None,
            worker=_worker(owner, context.now()),
            epoch=owner.epoch if owner else 0,
            paused=info.paused,
            shadow=info.shadow,
            mirror_bytes=pump.mirror.bytes if pump else None,
            sweep_due=len(pump.newcomers) if pump else 0,
        )


def _worker(owner: Owner | None, now: datetime) -> str | None:
    """The process that owns a mesh; None where nobody does or the lease ran out."""
    if owner is None or owner.owner is None or owner.lease_until is None:
        return None
    return f"{owner.host}:{owner.pid}" if owner.lease_until > now else None


def why_nobody(trace: Trace) -> str:
    """One sentence on why a wave was delivered to nobody."""
    if trace.state is DiffState.PENDING:
        return "Its wave has not run yet."
    if trace.state is DiffState.DEAD:
        return f"Its wave failed and was set aside: {trace.error}"
    if trace.shadow:
        return "The mesh is in shadow mode: deliveries are recorded and not made."
    others = [r for r in trace.refused if r.reason is not Refusal.OWN]
    if not others:
        return "No other agent is registered."
    best = max(others, key=lambda r: r.score)
    below = [r for r in others if r.reason is Refusal.BELOW_GATE]
    if below:
        near = max(below, key=lambda r: r.score)
        return f"Nobody scored {trace.gate:.2f}; {near.agent} came nearest with {near.score:.2f}."
    if best.reason is Refusal.NOT_REACHED:
        return "The wave reached no agent's cells."
    return f"{best.agent} would have received it, but: {best.reason.value.replace('_', ' ')}."


def _hops(wave: WaveRow | None) -> tuple[HopCount, ...]:
    if wave is None:
        return ()
    return tuple(
        HopCount(int(h["hops"]), int(h["settled"]), int(h["relayed"]), float(h["energy_least"]))
        for h in wave.hops
    )


def _refused(wave: WaveRow | None, told: Collection[str]) -> tuple[Refused, ...]:
    """Whom the wave passed over, without those who were ``told`` after all: a sweep came later."""
    if wave is None:
        return ()
    return tuple(
        Refused(
            r["agent"],
            Refusal(r["reason"]),
            r["score"] / MICRO,
            r["relevance"] / MICRO,
            r["interest"] / MICRO,
        )
        for r in wave.refused
        if r["agent"] not in told
    )
