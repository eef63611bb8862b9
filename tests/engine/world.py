"""A mesh, its faces and its owners, driven by hand: every step, crash and take-over is a call.

Two worlds of one seed that meet the same calls mint the same ids and see the same clock, so their
tables can be compared row by row.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from hyphaedb.config import Config
from hyphaedb.engine.anti_entropy import Sweeper
from hyphaedb.engine.context import Context
from hyphaedb.engine.draining import Drainer
from hyphaedb.engine.failpoints import NO_FAILPOINTS, Failpoint, Failpoints
from hyphaedb.engine.identity import Ids
from hyphaedb.engine.pump import Pump, Pumped
from hyphaedb.engine.signals import SignalKind, emit
from hyphaedb.engine.wakeups import Wakeups
from hyphaedb.mesh import Mesh
from hyphaedb.model import MeshId
from hyphaedb.store import access, jobs
from hyphaedb.store.pool import Database
from tests.engine.conftest import Clock
from tests.engine.lexical import DIMENSION, Lexical

LEASE_S = 30.0
_EMBEDDER = Lexical()


class Crash(BaseException):
    """The process ends here, as far as the engine can tell."""


class Trap:
    """Failpoints that crash once, at the place and time they are set to."""

    def __init__(self) -> None:
        self._place: Failpoint | None = None
        self._skip = 0
        actions = {place: partial(self._spring, place) for place in Failpoint}
        self.failpoints = Failpoints(actions)

    def set(self, place: Failpoint, skip: int = 0) -> None:
        """Crash the next time ``place`` is met, after ``skip`` times."""
        self._place, self._skip = place, skip

    def disarm(self) -> None:
        """Crash no more."""
        self._place = None

    def _spring(self, place: Failpoint) -> None:
        if place is not self._place:
            return
        if self._skip:
            self._skip -= 1
            return
        self._place = None
        raise Crash(place)


class Owner:
    """One process that would own the mesh; a crash leaves its lease behind, as a kill does."""

    def __init__(self, context: Context, number: int) -> None:
        self.context = context
        self.owner_id = UUID(int=(0xFEED << 64) + number)
        self.pump: Pump | None = None

    async def take(self, dead: UUID | None = None) -> bool:
        """Take the lease and load the mirror; False while somebody else owns the mesh."""
        async with self.context.database.transaction() as tx:
            epoch = await jobs.acquire_lease(
                tx,
                self.context.info.mesh_id,
                owner=self.owner_id,
                host="here",
                pid=1,
                pid_started=0.0,
                now=self.context.now(),
                lease_s=LEASE_S,
                dead_owner=dead,
            )
        if epoch is None:
            return False
        self.pump = await Pump.load(self.context, epoch)
        return True

    async def step(self, limit: int) -> Pumped:
        assert self.pump is not None
        return await self.pump.step(limit)

    async def sweep(self) -> int:
        assert self.pump is not None
        return await Sweeper(self.context, self.pump).run()

    async def drain(self) -> int:
        return await Drainer(
            self.context, lambda: self.pump.epoch if self.pump else None
        ).drain_once()


class World:
    """One mesh. Made by :meth:`make`."""

    def __init__(self, faces: Context, clock: Clock, seed: int) -> None:
        self.clock = clock
        self.faces = faces
        self.mesh = Mesh(faces, None)
        self.mesh_id = faces.info.mesh_id
        self._seed = seed
        self._owners = 0

    @classmethod
    async def make(
        cls, database: Database, seed: int, copy: int, settings: dict[str, Any] | None = None
    ) -> World:
        """A fresh mesh; ``copy`` tells worlds of one seed apart."""
        clock = Clock()
        # Panels are drawn with a seed from the first bytes of the mesh's id: equal in all copies.
        noise = random.SystemRandom().getrandbits(64)
        mesh_id = MeshId(UUID(int=(seed << 96) | (copy << 64) | noise))
        async with database.transaction() as tx:
            made = await access.create_mesh(
                tx, mesh_id, f"world-{mesh_id.hex}", Lexical.model, DIMENSION, {}, clock()
            )
        faces = Context(
            database=database,
            info=made.info,
            model_id=made.model_id,
            config=replace(Config(), **(settings or {})),
            embedder=_EMBEDDER,
            clock=clock,
            ids=Ids(clock, random.Random(seed)),
            wakeups=Wakeups(None),
            failpoints=NO_FAILPOINTS,
            jitter=lambda: 0.5,
        )
        return cls(faces, clock, seed)

    def owner(self, trap: Trap | None = None) -> Owner:
        """Another process that may take the mesh."""
        self._owners += 1
        ids = Ids(self.clock, random.Random(self._seed * 1_000 + self._owners))
        points = trap.failpoints if trap else NO_FAILPOINTS
        return Owner(replace(self.faces, ids=ids, failpoints=points), self._owners)

    async def ask_for_sweep(self) -> None:
        """Leave the signal that asks the owner to sweep everything."""
        async with self.faces.database.transaction() as tx:
            await emit(tx, self.faces, SignalKind.SWEEP, self.mesh_id)

    async def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query in which %(mesh)s is this mesh, in text form."""
        async with self.faces.database.statement() as tx:
            cursor = await tx.execute(query.encode(), {"mesh": self.mesh_id})
            return await cursor.fetchall()


#: What must be equal in two worlds that saw the same; the mesh's id and its owners left out.
COMPARED: dict[str, str] = {
    "deliveries": """
        SELECT diff_id, agent_id, cell_id, route, score, relevance, interest, energy, hops, path,
               energies, shadow, created_at
        FROM hyphaedb.delivery WHERE mesh_id = %(mesh)s ORDER BY diff_id, agent_id""",
    "inbox": """
        SELECT agent_id, seq, diff_id, score, state, created_at, expires_at
        FROM hyphaedb.inbox WHERE mesh_id = %(mesh)s ORDER BY agent_id, seq""",
    "diffs": """
        SELECT diff_id, kind, cell_id, about, energy, state, attempt, dot, settled_at
        FROM hyphaedb.diff WHERE mesh_id = %(mesh)s ORDER BY diff_id""",
    "waves": """
        SELECT diff_id, settled, rounds, gate, truncated, shadow, hops::text, refused::text,
               graph_epoch
        FROM hyphaedb.wave WHERE mesh_id = %(mesh)s ORDER BY diff_id""",
    "links": """
        SELECT layer, ordinal, cell_id, targets, costs
        FROM hyphaedb.link WHERE mesh_id = %(mesh)s ORDER BY layer, ordinal""",
    "edges": """
        SELECT layer, src, dst, kind, omega, cost, bridge
        FROM hyphaedb.edge WHERE mesh_id = %(mesh)s ORDER BY layer, src, dst, kind""",
    "positions": """
        SELECT p.holder_id = a.agent_id, a.name, p.e::text
        FROM hyphaedb.agent_position p JOIN hyphaedb.agent a
          ON a.mesh_id = p.mesh_id AND a.holder_id = p.holder_id
        WHERE p.mesh_id = %(mesh)s ORDER BY a.name""",
    "attachments": """
        SELECT a.name, ARRAY(SELECT unnest(t.cell_ids) ORDER BY 1), t.e::text
        FROM hyphaedb.attachment t JOIN hyphaedb.agent a
          ON a.mesh_id = t.mesh_id AND a.holder_id = t.leaf_id
        WHERE t.mesh_id = %(mesh)s ORDER BY a.name""",
    "panels": """
        SELECT version, seed, cell_ids, drawn_from
        FROM hyphaedb.panel WHERE mesh_id = %(mesh)s ORDER BY version""",
    "footprints": """
        SELECT a.name, f.cell_id, f.day, f.created_at, f.recalled_at, f.used_at, f.confirmed_at
        FROM hyphaedb.footprint f JOIN hyphaedb.agent a
          ON a.mesh_id = f.mesh_id AND a.holder_id = f.holder_id
        WHERE f.mesh_id = %(mesh)s ORDER BY a.name, f.cell_id""",
    "terms": """
        SELECT lexeme, documents FROM hyphaedb.term WHERE mesh_id = %(mesh)s ORDER BY lexeme""",
    "counters": """
        SELECT seq, dot, next_ordinal, graph_epoch, documents, lexemes
        FROM hyphaedb.mesh_owner WHERE mesh_id = %(mesh)s""",
}


async def differing(one: World, other: World) -> list[str]:
    """The tables in which two worlds differ, each with the first row that does."""
    found = []
    for table, query in COMPARED.items():
        mine, yours = await one.rows(query), await other.rows(query)
        if mine != yours:
            first = next(
                ((a, b) for a, b in zip(mine, yours, strict=False) if a != b),
                (len(mine), len(yours)),
            )
            found.append(f"{table}: {first[0]} and {first[1]}")
    return found


async def everything(world: World) -> list[list[tuple[Any, ...]]]:
    """All compared tables of a world, the owner's row and the signals: what a write changes."""
    found = [await world.rows(query) for query in COMPARED.values()]
    found.append(await world.rows("SELECT * FROM hyphaedb.mesh_owner WHERE mesh_id = %(mesh)s"))
    found.append(
        await world.rows("SELECT * FROM hyphaedb.signal WHERE mesh_id = %(mesh)s ORDER BY 2")
    )
    return found
