"""Seeded schedules of stores, steps, crashes and take-overs, each compared with a calm run.

A schedule drives real pumps over a real database. Whatever took effect is written into a
history: what the faces did, and every step that was committed. A second world then meets the same
history with one owner who never crashes. Both must end with the same tables, row by row: a crash
leaves no trace, whichever way it came. ``python -m tests.simulator --seeds 1000`` prints one JSON
line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from psycopg.conninfo import make_conninfo

from hyphaedb.engine.failpoints import Failpoint
from hyphaedb.engine.validator import differences
from hyphaedb.errors import LeaseLost
from hyphaedb.store import embedded, indexes, migrate
from hyphaedb.store.pool import Database
from tests.engine.conftest import Clock
from tests.engine.deeds import Deed, Play, any_deed, registers, resumes
from tests.engine.lexical import DIMENSION
from tests.engine.world import LEASE_S, Crash, Owner, Trap, World, differing

_IN_A_STEP = (
    Failpoint.AFTER_CLAIM,
    Failpoint.AFTER_FENCE,
    Failpoint.MID_BATCH,
    Failpoint.BEFORE_COMMIT,
    Failpoint.AFTER_COMMIT,
)
#: Actions of one schedule; small ones find as much a second and are read more easily.
_ACTIONS = 20
_SETTINGS = {"attach_nearest": 4, "links_per_cell": 6, "sweep_newcomer_items": 3}


@dataclass(slots=True)
class Outcome:
    """What a schedule found; all zero and empty when the engine keeps its word."""

    lost: int = 0
    double: int = 0
    stale_writes: int = 0
    faults: list[str] = field(default_factory=list)


class Schedule:
    """One seed."""

    def __init__(self, database: Database, seed: int) -> None:
        self._database = database
        self._seed = seed
        self._rng = random.Random(seed)
        self._trap = Trap()
        self._history: list[tuple[timedelta, Deed]] = []
        self._outcome = Outcome()
        self._start = Clock().now

    async def run(self) -> Outcome:
        """Play the schedule and its calm twin, and compare them."""
        world = await World.make(self._database, self._seed, 1, _SETTINGS)
        wild = Play(world, world.owner(self._trap))
        for name in ("ann", "bob", "cho"):
            await self._do(wild, registers(self._rng, name))
        await wild.owner.take()
        for _ in range(_ACTIONS):
            world.clock.move(seconds=self._rng.choice((0, 1, 40)))
            await self._act(wild)
        await self._quiesce(wild)
        calm = await self._replay()
        out = self._outcome
        out.faults += await differing(wild.world, calm.world)
        out.lost, out.double = await lost_and_double(wild, calm)
        for play in (wild, calm):
            out.faults += await unsound(play)
        return out

    async def _replay(self) -> Play:
        world = await World.make(self._database, self._seed, 2, _SETTINGS)
        calm = Play(world, world.owner())
        await calm.owner.take()
        for moment, deed in self._history:
            world.clock.now = self._start + moment
            await deed(calm)
        return calm

    async def _do(self, play: Play, deed: Deed) -> None:
        """Do something and write it into the history."""
        self._note(play, deed)
        await deed(play)

    def _note(self, play: Play, deed: Deed) -> None:
        self._history.append((play.world.clock.now - self._start, deed))

    # --- what may happen ----------------------------------------------------------------

    async def _act(self, play: Play) -> None:
        roll = self._rng.random()
        if roll < 0.55:
            await self._do(play, any_deed(self._rng, play))
        elif roll < 0.78:
            if self._rng.random() < 0.6:
                self._trap.set(self._rng.choice(_IN_A_STEP))
            await self._step(play, self._rng.choice((1, 3, 64)))
        elif roll < 0.86:
            await self._take_over(play)
        elif roll < 0.94:
            await self._sweep(play)
        else:
            await self._drain(play)

    async def _step(self, play: Play, limit: int) -> bool:
        """One step, into the history if it was committed; False if the process crashed in it."""
        before, crashed = await _committed(play), False
        try:
            await play.owner.step(limit)
        except Crash:
            crashed = True
        self._trap.disarm()
        if not crashed or await _committed(play) != before:
            self._note(play, _steps(limit))
        await play.note_dots()
        if crashed:
            await self._restart(play)
        return not crashed

    async def _restart(self, play: Play) -> None:
        """A new process takes the mesh; loading may crash as well."""
        if self._rng.random() < 0.2:
            self._trap.set(Failpoint.DURING_REBUILD)
        while True:
            gone = play.owner
            play.owner = play.world.owner(self._trap)
            try:
                assert await play.owner.take(dead=gone.owner_id)
                return
            except Crash:
                continue

    async def _take_over(self, play: Play) -> None:
        """Another process takes the mesh while the owner sleeps; it wakes up and must not write."""
        stale = play.owner
        play.world.clock.move(seconds=LEASE_S + 1)
        play.owner = play.world.owner(self._trap)
        assert await play.owner.take()
        if self._rng.random() < 0.5:
            limit = self._rng.choice((1, 64))
            await asyncio.gather(self._wake(stale), play.owner.step(limit))
            self._note(play, _steps(limit))
            await play.note_dots()
        else:
            await self._wake(stale)

    async def _wake(self, stale: Owner) -> None:
        try:
            step = await stale.step(64)
            if self._rng.random() < 0.5:
                self._outcome.stale_writes += await stale.sweep()
        except LeaseLost:
            return
        self._outcome.stale_writes += step.settled + step.delivered + step.signals

    async def _sweep(self, play: Play) -> None:
        """A full sweep, again and again until it came through."""
        await self._do(play, lambda p: p.world.ask_for_sweep())
        if self._rng.random() < 0.4:
            self._trap.set(Failpoint.DURING_SWEEP, self._rng.randrange(2))
        while True:
            try:
                # The signal first, without any diff.
                await play.owner.step(0)
                self._note(play, _steps(0))
                await play.owner.sweep()
            except Crash:
                await self._restart(play)
                continue
            self._trap.disarm()
            self._note(play, _sweeps)
            return

    async def _drain(self, play: Play) -> None:
        """The tail is drained, or not quite; nothing that is compared depends on it."""
        if self._rng.random() < 0.5:
            self._trap.set(Failpoint.DURING_DRAIN)
        try:
            await play.owner.drain()
        except Crash:
            await self._restart(play)
        self._trap.disarm()

    async def _quiesce(self, play: Play) -> None:
        """Everything that waits is done, and swept."""
        await self._do(play, resumes)
        while True:
            await self._step(play, 64)
            if not await play.world.rows(
                "SELECT 1 FROM hyphaedb.diff WHERE mesh_id = %(mesh)s AND state = 'pending'"
            ):
                break
        await self._sweep(play)


async def _committed(play: Play) -> object:
    """Changes with every step that was committed."""
    return await play.world.rows(
        """SELECT o.seq, o.dot, o.graph_epoch, o.next_ordinal,
                  (SELECT array_agg(signal_id ORDER BY signal_id) FROM hyphaedb.signal s
                   WHERE s.mesh_id = o.mesh_id),
                  (SELECT count(*) FROM hyphaedb.edge e WHERE e.mesh_id = o.mesh_id)
           FROM hyphaedb.mesh_owner o WHERE o.mesh_id = %(mesh)s"""
    )


def _steps(limit: int) -> Deed:
    async def deed(play: Play) -> None:
        await play.owner.step(limit)
        await play.note_dots()

    return deed


async def _sweeps(play: Play) -> None:
    await play.owner.sweep()


# --- what must hold ---------------------------------------------------------------------


async def lost_and_double(wild: Play, calm: Play) -> tuple[int, int]:
    """Accepted diffs that are not done and deliveries that are missing; and those too many."""
    done = await wild.world.rows(
        "SELECT diff_id FROM hyphaedb.diff WHERE mesh_id = %(mesh)s AND state = 'done'"
    )
    settled = {row[0] for row in done}
    lost = sum(
        cell not in wild.forgotten and diff not in settled for diff, cell in wild.accepted.items()
    )
    double = 0
    for table in ("delivery", "inbox"):
        query = f"SELECT diff_id, agent_id FROM hyphaedb.{table} WHERE mesh_id = %(mesh)s"
        mine, due = await wild.world.rows(query), await calm.world.rows(query)
        lost += len(set(due) - set(mine))
        double += len(set(mine) - set(due)) + len(mine) - len(set(mine))
    return lost, double


async def unsound(play: Play) -> list[str]:
    """What is wrong with one world in itself."""
    found = []
    ((dot,),) = await play.world.rows(
        "SELECT dot FROM hyphaedb.mesh_owner WHERE mesh_id = %(mesh)s"
    )
    if sorted(play.dots.values()) != list(range(1, dot + 1)):
        found.append(f"dots {sorted(play.dots.values())} of {dot}")
    landed = await play.world.rows(
        "SELECT seq FROM hyphaedb.inbox WHERE mesh_id = %(mesh)s ORDER BY created_at, seq"
    )
    seqs = [row[0] for row in landed]
    if seqs != sorted(set(seqs)):
        found.append(f"inbox numbers {seqs}")
    assert play.owner.pump is not None
    mirror = play.owner.pump.mirror
    found += await differences(mirror, play.world.faces.database)
    if mirror.components() > 1:
        found.append(f"{mirror.components()} parts")
    return found


async def simulate(database: Database, seeds: range) -> dict[int, Outcome]:
    """The outcome of each seed."""
    return {seed: await Schedule(database, seed).run() for seed in seeds}


@asynccontextmanager
async def hurried(url: str) -> AsyncIterator[Database]:
    """A database that does not wait for the disk: the processes crash here, not the server."""
    options = make_conninfo(url, options="-c synchronous_commit=off")
    database = await Database.open(options, pool_size=4)
    try:
        yield database
    finally:
        await database.close()


async def _main(seeds: range, url: str) -> dict[int, Outcome]:
    async with hurried(url) as database:
        await migrate.migrate(database, Clock().now)
        await indexes.ensure_vector_index(database, DIMENSION)
        return await simulate(database, seeds)


def main() -> int:
    """Run schedules on a throw-away server and print their figures; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description="Seeded kill-and-resume schedules.")
    parser.add_argument("--seeds", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=1)
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    with tempfile.TemporaryDirectory(prefix="hyphaedb-sim-", ignore_cleanup_errors=True) as home:
        url = embedded.start(Path(home))
        try:
            outcomes = asyncio.run(_main(seeds, url))
        finally:
            embedded.stop(Path(home))
    for seed, outcome in outcomes.items():
        for fault in outcome.faults:
            sys.stderr.write(f"seed {seed}: {fault}"[:2_000] + "\n")
    every = outcomes.values()
    figures = {
        "schedules": len(outcomes),
        "lost": sum(o.lost for o in every),
        "double": sum(o.double for o in every),
        "stale_writes": sum(o.stale_writes for o in every),
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    return int(
        any(figures[k] for k in ("lost", "double", "stale_writes")) or any(o.faults for o in every)
    )


if __name__ == "__main__":
    raise SystemExit(main())
