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
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from hyphaedb.engine.failpoints import Failpoint
from hyphaedb.engine.validator import differences
from hyphaedb.errors import Conflict, LeaseLost, NotFound
from hyphaedb.model import CellId, CellType, Interests, MuteKind, NewCell
from hyphaedb.store import embedded, indexes, migrate
from hyphaedb.store.pool import Database
from tests.engine.lexical import DIMENSION, TOPICS, sentence
from tests.engine.world import LEASE_S, Crash, Owner, Trap, World, differing

_IN_A_STEP = (
    Failpoint.AFTER_CLAIM,
    Failpoint.AFTER_FENCE,
    Failpoint.MID_BATCH,
    Failpoint.BEFORE_COMMIT,
    Failpoint.AFTER_COMMIT,
)
#: Actions of one schedule; small ones find as much a second and are read more easily.
_ACTIONS = 26
_SETTINGS = {"attach_nearest": 4, "links_per_cell": 6, "sweep_newcomer_items": 3}

#: One thing that took effect: when, and how to do it in another world.
Deed = Callable[["Play"], Awaitable[None]]


@dataclass(slots=True)
class Play:
    """A world with what a schedule must remember about it."""

    world: World
    owner: Owner
    cells: list[CellId] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    dots: dict[UUID, int] = field(default_factory=dict)
    forgotten: set[UUID] = field(default_factory=set)
    accepted: dict[UUID, CellId] = field(default_factory=dict)

    async def note_dots(self) -> None:
        """Remember which diff got which dot before anybody can erase it."""
        rows = await self.world.rows(
            "SELECT diff_id, dot FROM hyphaedb.diff WHERE mesh_id = %(mesh)s AND dot IS NOT NULL"
        )
        self.dots.update(dict(rows))


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

    async def run(self) -> Outcome:
        """Play the schedule and its calm twin, and compare them."""
        world = await World.make(self._database, self._seed, 1, _SETTINGS)
        wild = Play(world, world.owner(self._trap))
        self._start = world.clock.now
        for name in ("ann", "bob", "cho"):
            await self._do(wild, self._registers(name))
        await wild.owner.take()
        for _ in range(_ACTIONS):
            world.clock.move(seconds=self._rng.choice((0, 1, 40)))
            await self._act(wild)
        await self._quiesce(wild)
        calm = await self._replay()
        await self._check(wild, calm)
        return self._outcome

    async def _replay(self) -> Play:
        world = await World.make(self._database, self._seed, 2, _SETTINGS)
        calm = Play(world, world.owner())
        await calm.owner.take()
        for moment, deed in self._history:
            world.clock.now = self._start + moment
            await deed(calm)
            await calm.note_dots()
        return calm

    async def _do(self, play: Play, deed: Deed) -> None:
        """Do something and write it into the history."""
        self._history.append((play.world.clock.now - self._start, deed))
        await deed(play)
        await play.note_dots()

    # --- what may happen ----------------------------------------------------------------

    async def _act(self, play: Play) -> None:
        roll = self._rng.random()
        if roll < 0.5:
            await self._do(play, self._face(play))
        elif roll < 0.75:
            await self._step(play)
        elif roll < 0.85:
            await self._take_over(play)
        elif roll < 0.93:
            await self._sweep(play)
        else:
            await self._drain(play)

    def _face(self, play: Play) -> Deed:
        """Something an agent or operator does."""
        rng = self._rng
        if not play.cells or rng.random() < 0.55:
            return self._stores(rng.choice(play.agents))
        cell, other = rng.choice(play.cells), rng.choice(play.cells)
        agent = rng.choice(play.agents)
        body = sentence(rng, rng.choice(list(TOPICS)))
        options: list[Deed] = [
            lambda p: _allowed(p.world.mesh.confirm(cell, agent=agent)),
            lambda p: _replace(p, cell, body, agent),
            lambda p: _retract(p, cell, agent),
            lambda p: _allowed(p.world.mesh.relate(cell, other, omega=0.7)),
            lambda p: _forget(p, cell),
            lambda p: p.world.mesh.mute(MuteKind.AGENT, agent),
            lambda p: p.world.mesh.unmute(MuteKind.AGENT, agent),
            lambda p: _allowed(p.world.mesh.beacon(agent, "watch", body, radius=0.4)),
            self._registers(f"agent-{rng.randrange(100)}"),
        ]
        return rng.choice(options)

    def _registers(self, name: str) -> Deed:
        rng = self._rng
        tags = tuple(rng.sample(list(TOPICS), 1)) if rng.random() < 0.6 else ()
        attention = 2 if rng.random() < 0.2 else None
        role = "crew" if rng.random() < 0.3 else None

        async def deed(play: Play) -> None:
            interests = Interests(tags=tags)
            await _allowed(
                play.world.mesh.register(name, role=role, interests=interests, attention=attention)
            )
            if name not in play.agents:
                play.agents.append(name)

        return deed

    def _stores(self, agent: str) -> Deed:
        rng = self._rng
        topic = rng.choice(list(TOPICS))
        cell = NewCell(
            body=sentence(rng, topic) if rng.random() < 0.9 else f"{topic} is what we do",
            type=rng.choice(list(CellType)),
            salience=rng.choice((0.4, 0.6, 0.9)),
            tags=(topic,),
            session=rng.choice((None, "morning")),
        )

        async def deed(play: Play) -> None:
            stored = await play.world.mesh.store(cell, agent=agent)
            if stored.diff_id is not None:
                play.cells.append(stored.cell_id)
                play.accepted[stored.diff_id] = stored.cell_id

        return deed

    async def _step(self, play: Play) -> None:
        """A step that may crash; what it committed goes into the history."""
        limit = self._rng.choice((1, 3, 64))
        if self._rng.random() < 0.5:
            self._trap.set(self._rng.choice(_IN_A_STEP))
        await self._attempt(play, limit)

    async def _attempt(self, play: Play, limit: int) -> bool:
        """One step; False if the process crashed in it."""
        moment = play.world.clock.now - self._start
        before = await self._settled(play)
        crashed = False
        try:
            await play.owner.step(limit)
        except Crash:
            crashed = True
        self._trap.disarm()
        if not crashed or await self._settled(play) != before:
            self._history.append((moment, lambda p: _steps(p, limit)))
        await play.note_dots()
        if crashed:
            await self._restart(play)
        return not crashed

    async def _settled(self, play: Play) -> object:
        """Changes with every step that was committed."""
        return await play.world.rows(
            """SELECT o.seq, o.dot, o.graph_epoch, o.next_ordinal,
                      (SELECT array_agg(signal_id ORDER BY signal_id) FROM hyphaedb.signal s
                       WHERE s.mesh_id = o.mesh_id),
                      (SELECT count(*) FROM hyphaedb.edge e WHERE e.mesh_id = o.mesh_id)
               FROM hyphaedb.mesh_owner o WHERE o.mesh_id = %(mesh)s"""
        )

    async def _restart(self, play: Play) -> None:
        """A new process takes the mesh; loading may crash as well."""
        gone = play.owner
        if self._rng.random() < 0.2:
            self._trap.set(Failpoint.DURING_REBUILD)
        while True:
            play.owner = play.world.owner(self._trap)
            if self._rng.random() < 0.5:
                play.world.clock.move(seconds=LEASE_S + 1)
            try:
                if await play.owner.take(dead=gone.owner_id):
                    return
            except Crash:
                gone = play.owner

    async def _take_over(self, play: Play) -> None:
        """Another process takes the mesh while the owner sleeps; the owner wakes and must fail."""
        stale = play.owner
        play.world.clock.move(seconds=LEASE_S + 1)
        play.owner = play.world.owner(self._trap)
        assert await play.owner.take()
        if self._rng.random() < 0.5:
            limit = self._rng.choice((1, 64))
            moment = play.world.clock.now - self._start
            _, done = await asyncio.gather(self._wake(play, stale), play.owner.step(limit))
            del done
            self._history.append((moment, lambda p: _steps(p, limit)))
            await play.note_dots()
        else:
            await self._wake(play, stale)

    async def _wake(self, play: Play, stale: Owner) -> None:
        try:
            step = await stale.step(64)
            if self._rng.random() < 0.5:
                await stale.sweep()
        except LeaseLost:
            return
        self._outcome.stale_writes += step.settled + step.delivered + step.signals

    async def _sweep(self, play: Play) -> None:
        """A full sweep, again and again until it came through."""
        await self._do(play, lambda p: p.world.ask_for_sweep())
        if self._rng.random() < 0.4:
            self._trap.set(Failpoint.DURING_SWEEP, self._rng.randrange(2))
        while True:
            while not await self._attempt(play, 0):
                pass
            moment = play.world.clock.now - self._start
            try:
                await play.owner.sweep()
            except Crash:
                await self._restart(play)
                continue
            self._trap.disarm()
            self._history.append((moment, _sweeps))
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
        for _ in range(100):
            await self._attempt(play, 64)
            waiting = await play.world.rows(
                "SELECT 1 FROM hyphaedb.diff WHERE mesh_id = %(mesh)s AND state = 'pending'"
            )
            if not waiting:
                break
        await self._sweep(play)
        await self._attempt(play, 64)

    # --- what must hold -----------------------------------------------------------------

    async def _check(self, wild: Play, calm: Play) -> None:
        out = self._outcome
        out.faults += await differing(wild.world, calm.world)
        out.lost, out.double = await _lost_and_double(wild, calm)
        for play in (wild, calm):
            out.faults += await _unsound(play)


async def _lost_and_double(wild: Play, calm: Play) -> tuple[int, int]:
    """Accepted diffs that are not done and deliveries that are missing; and those too many."""
    states = dict(
        await wild.world.rows("SELECT diff_id, state FROM hyphaedb.diff WHERE mesh_id = %(mesh)s")
    )
    undone = [
        d
        for d, cell in wild.accepted.items()
        if cell not in wild.forgotten and states.get(d) != "done"
    ]
    pairs = "SELECT diff_id, agent_id FROM hyphaedb.delivery WHERE mesh_id = %(mesh)s"
    items = "SELECT diff_id, agent_id FROM hyphaedb.inbox WHERE mesh_id = %(mesh)s"
    lost, double = len(undone), 0
    for query in (pairs, items):
        mine, due = await wild.world.rows(query), await calm.world.rows(query)
        lost += len(set(due) - set(mine))
        double += len(set(mine) - set(due)) + len(mine) - len(set(mine))
    return lost, double


async def _unsound(play: Play) -> list[str]:
    """What is wrong with one world in itself."""
    found = []
    dot = (await play.world.rows("SELECT dot FROM hyphaedb.mesh_owner WHERE mesh_id = %(mesh)s"))[0]
    if sorted(play.dots.values()) != list(range(1, dot[0] + 1)):
        found.append(f"dots {sorted(play.dots.values())} of {dot[0]}")
    seqs = [
        r[0]
        for r in await play.world.rows(
            "SELECT seq FROM hyphaedb.inbox WHERE mesh_id = %(mesh)s ORDER BY created_at, seq"
        )
    ]
    if seqs != sorted(set(seqs)):
        found.append(f"inbox numbers {seqs}")
    assert play.owner.pump is not None
    mirror = play.owner.pump.mirror
    found += await differences(mirror, play.world.faces.database)
    if mirror.components() > 1:
        found.append(f"{mirror.components()} parts")
    return found


async def _steps(play: Play, limit: int) -> None:
    await play.owner.step(limit)


async def _sweeps(play: Play) -> None:
    await play.owner.sweep()


async def _allowed(deed: Awaitable[object]) -> None:
    """What an agent tries may be refused, as long as it is refused in both worlds."""
    try:
        await deed
    except (Conflict, NotFound):
        return
    except Exception as error:
        if getattr(error, "code", "") != "invalid":
            raise


async def _replace(play: Play, cell: CellId, body: str, agent: str) -> None:
    try:
        stored = await play.world.mesh.supersede(cell, body, agent=agent)
    except (Conflict, NotFound):
        return
    assert stored.diff_id is not None
    play.cells.append(stored.cell_id)
    play.accepted[stored.diff_id] = stored.cell_id


async def _retract(play: Play, cell: CellId, agent: str) -> None:
    try:
        stored = await play.world.mesh.retract(cell, agent=agent, reason="it was wrong")
    except (Conflict, NotFound):
        return
    assert stored.diff_id is not None
    play.accepted[stored.diff_id] = cell


async def _forget(play: Play, cell: CellId) -> None:
    await _allowed(play.world.mesh.forget(cell))
    play.forgotten.add(cell)


async def simulate(database: Database, seeds: range) -> dict[int, Outcome]:
    """The outcome of each seed."""
    return {seed: await Schedule(database, seed).run() for seed in seeds}


async def _main(seeds: range, url: str) -> dict[int, Outcome]:
    database = await Database.open(url, pool_size=4)
    try:
        from tests.engine.conftest import Clock

        await migrate.migrate(database, Clock().now)
        await indexes.ensure_vector_index(database, DIMENSION)
        return await simulate(database, seeds)
    finally:
        await database.close()


def main() -> None:
    """Run schedules on a throw-away server and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
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
            print(f"seed {seed}: {fault}"[:2_000], file=sys.stderr)
    every = outcomes.values()
    print(
        json.dumps(
            {
                "schedules": len(outcomes),
                "lost": sum(o.lost for o in every),
                "double": sum(o.double for o in every),
                "stale_writes": sum(o.stale_writes for o in every),
                "faults": sum(len(o.faults) for o in every),
            }
        )
    )


if __name__ == "__main__":
    main()
