"""The worker: take a mesh's lease, pump, drain, sweep, renew; give it back.

Any number of workers may run for a mesh, in any process on any machine; one of them owns it. The
others look again when its lease could have ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from datetime import timedelta
from uuid import UUID

import psutil

from hyphaedb.ending import end
from hyphaedb.engine.anti_entropy import Sweeper
from hyphaedb.engine.context import Context
from hyphaedb.engine.draining import Drainer
from hyphaedb.engine.failpoints import Failpoint
from hyphaedb.engine.housekeeping import tidy
from hyphaedb.engine.pump import Pump, Pumped
from hyphaedb.engine.wakeups import WORK
from hyphaedb.errors import HyphaeError, LeaseLost, Unavailable, Unsupported
from hyphaedb.store import jobs, journal
from hyphaedb.store.jobs import Owner
from hyphaedb.store.rows import PendingRow

logger = logging.getLogger(__name__)

#: A lease is renewed after a third of its length: two renewals may fail before it ends.
_RENEWALS_A_LEASE = 3
#: What a worker keeps for itself: it stops this share of the lease before the lease does.
_MARGIN = 1 / 6
#: Longest pause after a fault; the database may be away for hours and work must resume.
_FAULT_PAUSE_MAX_S = 5.0
#: A stand-alone worker lets go of a mesh after this long without work.
_IDLE_S = 60.0
#: Time between two batches of housekeeping.
_TIDY_S = 30.0
#: A sweep waits this many times as long as the last one took: at most a tenth of the time.
_SWEEP_SHARE = 10.0


class _Ending(Exception):
    """The worker is to end in the middle of its turn: it is being closed, or its mesh is gone."""


class Worker:
    """Pumps one mesh from :meth:`start` to :meth:`close`."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._owner: UUID = context.ids.new()
        self._process = psutil.Process()
        self._pump: Pump | None = None
        self._sweeper: Sweeper | None = None
        self._trusted_until = 0.0
        self._sweep_from = 0.0
        self._tidy_from = 0.0
        self._worked_at = 0.0
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._drainer = Drainer(context, lambda: self._pump.epoch if self._pump else None)
        self.fault: str | None = None
        #: The mesh was dropped: this worker has ended.
        self.gone = False
        self._cautious = False
        self._alone: PendingRow | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing has been done for a while."""
        return asyncio.get_running_loop().time() - self._worked_at > _IDLE_S

    @property
    def pump(self) -> Pump | None:
        """The pump while this worker owns the mesh; for looking at its mirror, not for working."""
        return self._pump

    async def start(self) -> None:
        """Begin to work in the background."""
        loop = asyncio.get_running_loop()
        self._worked_at = loop.time()
        self._sweep_from = loop.time() + self._context.config.sweep_s
        self._tasks = [
            asyncio.create_task(self._run(), name="hyphaedb-worker"),
            asyncio.create_task(self._renew(), name="hyphaedb-renewal"),
            asyncio.create_task(self._drainer.run(self._stopping), name="hyphaedb-drain"),
        ]

    async def close(self) -> None:
        """Finish the step under way and give the lease back."""
        self._stopping.set()
        self._context.wakeups.ring_here(WORK, self._context.info.mesh_id)
        if self._tasks:
            await self._tasks[0]
            await end(*self._tasks[1:])
        self._tasks = []
        await self._release()

    async def _release(self) -> None:
        pump, self._pump = self._pump, None
        if pump is None:
            return
        context = self._context
        # The lease ends by itself if the database is away; what was accepted waits there.
        with contextlib.suppress(Unavailable):
            async with context.database.transaction() as tx:
                await jobs.release_lease(tx, context.info.mesh_id, self._owner, pump.epoch)

    async def _run(self) -> None:
        pause_s = 0.0
        while not self._stopping.is_set():
            bell = self._context.wakeups.bell(WORK, self._context.info.mesh_id)
            try:
                if await self._turn():
                    self._worked_at = asyncio.get_running_loop().time()
                else:
                    await self._wait(bell)
                pause_s, self.fault = 0.0, None
            except _Ending:
                return
            except LeaseLost:
                self._drop("another worker owns the mesh")
            except (Unavailable, Unsupported) as error:
                logger.warning("worker.fault mesh=%s why=%s", self._context.info.name, error)
                self._drop(error.message)
                pause_s = min(_FAULT_PAUSE_MAX_S, max(0.1, pause_s * 2))
                await self._sleep(pause_s * (0.5 + self._context.jitter()))
            except Exception as error:
                # The worker loop must outlive whatever a single batch brings; the diff that
                # brought it is tried alone, counted and at last set aside.
                logger.exception("worker.fault mesh=%s", self._context.info.name)
                pump = self._pump
                self._drop(f"{type(error).__name__}: {error}")
                await self._blame(pump, error)
                pause_s = min(_FAULT_PAUSE_MAX_S, max(0.1, pause_s * 2))
                await self._sleep(pause_s * (0.5 + self._context.jitter()))

    def _drop(self, why: str) -> None:
        """Throw the mirror away; the lease is taken anew, with a new epoch."""
        self.fault = why
        self._pump = None

    async def _turn(self) -> bool:
        """One look at the mesh; returns whether something was done."""
        pump = self._pump or await self._take()
        if pump is None:
            return False
        if asyncio.get_running_loop().time() >= self._trusted_until:
            raise LeaseLost("The lease could not be renewed in time.", "It is taken anew.")
        context = self._context
        step = await self._step(pump)
        # Not while a backlog waits: waves go first.
        swept = await self._sweep(pump) if step.settled < context.config.batch_diffs else False
        if step.idle:
            await self._tidy(pump)
        if step.settled >= context.config.batch_above:
            await self._sleep(context.config.batch_wait_ms / 1000)
        return not step.idle or swept

    async def _tidy(self, pump: Pump) -> None:
        """Remove what has expired, now and then, while nothing else is to do."""
        now = asyncio.get_running_loop().time()
        if now >= self._tidy_from:
            self._tidy_from = now + _TIDY_S
            await tidy(self._context, pump.epoch)

    async def _between(self, pump: Pump) -> None:
        """What arrives while a sweep is under way is settled as soon as ever. A sweep of a large
        mesh takes minutes, which nobody who closes waits for: the next owner sweeps."""
        if self._stopping.is_set():
            raise _Ending
        if asyncio.get_running_loop().time() >= self._trusted_until:
            raise LeaseLost("The lease could not be renewed in time.", "It is taken anew.")
        await self._step(pump)

    async def _sweep(self, pump: Pump) -> bool:
        """Run a sweep if one is due: at once when asked for, else for agents that changed."""
        assert self._sweeper is not None
        loop = asyncio.get_running_loop()
        now = loop.time()
        if not pump.asked and not (pump.newcomers and now >= self._sweep_from):
            return False
        added = await self._sweeper.run()
        took_s = loop.time() - now
        self._sweep_from = now + max(self._context.config.sweep_s, _SWEEP_SHARE * took_s)
        return added > 0

    async def _take(self) -> Pump | None:
        """Take the lease and load the mirror, or return None while somebody else owns the mesh."""
        context = self._context
        mesh_id, config = context.info.mesh_id, context.config
        begun = asyncio.get_running_loop().time()
        async with context.database.transaction() as tx:
            holder = await jobs.owner_of(tx, mesh_id)
            epoch = await jobs.acquire_lease(
                tx,
                mesh_id,
                owner=self._owner,
                host=socket.gethostname(),
                pid=os.getpid(),
                pid_started=self._process.create_time(),
                now=context.now(),
                lease_s=config.lease_s,
                dead_owner=_dead(holder),
            )
        if epoch is None:
            if holder is None:
                self.gone = True
                self._drop("the mesh is gone: it was dropped")
                logger.warning("worker.ends mesh=%s why=%s", context.info.name, self.fault)
                raise _Ending
            return None
        # Measured from before the request: the lease cannot end earlier than we believe.
        self._trusted_until = begun + config.lease_s * (1 - _MARGIN)
        pump = await Pump.load(context, epoch)
        self._sweeper = Sweeper(context, pump, lambda: self._between(pump))
        self._pump = pump
        return pump

    async def _renew(self) -> None:
        context = self._context
        period_s = context.config.lease_s / _RENEWALS_A_LEASE
        while True:
            await asyncio.sleep(period_s)
            pump = self._pump
            if pump is None:
                continue
            begun = asyncio.get_running_loop().time()
            context.failpoints.hit(Failpoint.DURING_RENEWAL)
            until = context.now() + timedelta(seconds=context.config.lease_s)
            try:
                async with context.database.statement() as tx:
                    await jobs.renew_lease(tx, context.info.mesh_id, self._owner, pump.epoch, until)
            except LeaseLost:
                if self._pump is pump:
                    self._drop("another worker owns the mesh")
            except HyphaeError as error:
                # Not renewed: the loop stops by itself when the trusted time is over.
                logger.warning("lease.unrenewed mesh=%s why=%s", context.info.name, error.message)
            else:
                self._trusted_until = begun + context.config.lease_s * (1 - _MARGIN)

    async def _step(self, pump: Pump) -> Pumped:
        """One batch; after a fault one diff at a time, so that the one that brings it is known."""
        if not self._cautious:
            return await pump.step(self._context.config.batch_diffs)
        await pump.step(0)
        async with self._context.database.read() as tx:
            first = await journal.pending(tx, self._context.info.mesh_id, 1, self._context.now())
        self._alone = first[0] if first else None
        step = await pump.step(1)
        self._alone, self._cautious = None, step.settled > 0
        return step

    async def _blame(self, pump: Pump | None, error: Exception) -> None:
        """After a fault that is no known error: count it against the diff that was tried alone."""
        alone, self._alone, self._cautious = self._alone, None, True
        if pump is None or alone is None:
            return
        logger.warning("worker.poison diff=%s", alone.diff_id)
        # Not counted if another worker owns the mesh by now; that one meets the diff itself.
        with contextlib.suppress(HyphaeError):
            await pump.fail(alone.diff_id, alone.attempt, f"{type(error).__name__}: {error}")

    async def _wait(self, bell: asyncio.Event) -> None:
        """Until the bell rings, the next poll, or the end."""
        poll_s = self._context.config.poll_s * (0.75 + 0.5 * self._context.jitter())
        await self._context.wakeups.wait(bell, poll_s)

    async def _sleep(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)


def _dead(holder: Owner | None) -> UUID | None:
    """The owner, if it was a process of this machine that is seen to be gone."""
    if holder is None or holder.owner is None or holder.host != socket.gethostname():
        return None
    if holder.pid is None or holder.pid == os.getpid():
        return None
    try:
        started = psutil.Process(holder.pid).create_time()
    except psutil.NoSuchProcess:
        return holder.owner
    except psutil.Error:
        return None
    # Another process has that number now: the owner is gone.
    gone = holder.pid_started is not None and abs(started - holder.pid_started) > 1.0
    return holder.owner if gone else None
