"""The slow truth beside the fast answer: the mirror against its tables, a wave against SQL."""

from __future__ import annotations

import random
from uuid import UUID

import numpy as np
import pytest

from hyphaedb.engine.linking import gridded
from hyphaedb.engine.mirror import Mirror
from hyphaedb.engine.validator import differences
from hyphaedb.model import CellId, EdgeKind, NewCell
from hyphaedb.protocol import geometry, relevance
from hyphaedb.store import journal
from hyphaedb.store.pool import Database
from hyphaedb.store.rows import PendingRow
from tests.engine.lexical import TOPICS, sentence
from tests.engine.world import Owner, World


async def linked(world: World, bodies: list[str], seed: int = 0) -> tuple[Owner, list[CellId]]:
    """A world whose owner has linked these texts, in this order, by three authors."""
    rng = random.Random(seed)
    names = ("ann", "bob", "cho")
    for name in names:
        await world.mesh.register(name)
    ids: list[CellId] = []
    for start in range(0, len(bodies), 50):
        part = [NewCell(b) for b in bodies[start : start + 50]]
        stored = await world.mesh.store_many(part, agent=rng.choice(names))
        ids.extend(s.cell_id for s in stored)
    owner = world.owner()
    await owner.take()
    await drained(owner)
    return owner, ids


async def drained(owner: Owner) -> None:
    """Everything that waited is done."""
    while not (await owner.step(64)).idle:
        pass


def by_topic(cells: int, seed: int = 1) -> list[str]:
    """Texts sorted by topic: the order in which a graph of nearest neighbours falls apart."""
    rng = random.Random(seed)
    each = cells // len(TOPICS)
    return [sentence(rng, topic) for topic in TOPICS for _ in range(each)]


def bursts(cells: int) -> list[str]:
    """Bursts of texts that say nearly the same."""
    rng = random.Random(2)
    each = cells // len(TOPICS)
    return [
        f"{base} v{i}" for topic in TOPICS for base in [sentence(rng, topic)] for i in range(each)
    ]


@pytest.mark.parametrize("bodies", [by_topic(300), bursts(300)], ids=["sorted", "bursts"])
async def test_topical_data_makes_one_component(database: Database, bodies: list[str]) -> None:
    world = await World.make(database, 4_300 + len(bodies[0]), 1, {"links_per_cell": 6})
    owner, _ = await linked(world, bodies)

    assert owner.pump is not None
    assert owner.pump.mirror.components() == 1


async def test_after_churn_the_mirror_says_what_the_tables_say(database: Database) -> None:
    """60 % forgotten, edges added and lost, cells replaced, while new ones come in."""
    world = await World.make(database, 4_310, 1, {"links_per_cell": 6, "attach_nearest": 4})
    owner, ids = await linked(world, by_topic(200))
    rng = random.Random(3)
    for _ in range(20):
        src, dst = rng.sample(ids, 2)
        await world.mesh.relate(src, dst, kind=EdgeKind.CAUSAL, omega=rng.uniform(0.2, 1.0))
    gone = rng.sample(ids, 120)
    for number, cell_id in enumerate(gone):
        await world.mesh.forget(cell_id)
        if number % 12 == 0:
            await world.mesh.store(sentence(rng, "login"), agent="bob")
            await owner.step(64)
    left = [i for i in ids if i not in set(gone)]
    for cell_id in left[:10]:
        await world.mesh.supersede(cell_id, sentence(rng, "search"), agent="ann")
    await drained(owner)

    assert owner.pump is not None
    assert await differences(owner.pump.mirror, database) == []
    assert owner.pump.mirror.components() == 1


async def torn(database: Database, seed: int) -> tuple[World, Owner]:
    """A graph of single links from which the cells everybody hangs on were erased."""
    world = await World.make(database, seed, 1, {"links_per_cell": 1})
    owner, ids = await linked(world, by_topic(60))
    for cell_id in ids[::3]:
        await world.mesh.forget(cell_id)
    return world, owner


async def test_islands_left_by_erased_cells_are_joined_by_bridges(database: Database) -> None:
    world, owner = await torn(database, 4_320)
    fresh = await loaded(world)
    assert fresh.components() > 1
    await owner.step(64)

    assert owner.pump is not None
    assert owner.pump.mirror.components() == 1
    assert await differences(owner.pump.mirror, database) == []
    assert (await loaded(world)).components() == 1


async def test_a_bridge_leads_both_ways_and_costs_what_its_weight_says(
    database: Database,
) -> None:
    world, owner = await torn(database, 4_321)
    await owner.step(64)
    rows = await world.rows(
        """SELECT src, dst, kind, cost, omega FROM hyphaedb.edge
           WHERE mesh_id = %(mesh)s AND bridge"""
    )

    assert rows
    assert {(s, d) for s, d, *_ in rows} == {(d, s) for s, d, *_ in rows}
    for _, _, kind, cost, omega in rows:
        assert kind == "semantic"
        assert cost == pytest.approx(1_000_000 / omega, rel=1e-5)


async def test_an_owner_that_takes_over_mends_what_its_predecessor_left(
    database: Database,
) -> None:
    """The signal was taken in by a worker that knew no bridges, or died: loading is enough."""
    world, _ = await torn(database, 4_322)
    async with database.statement() as tx:
        await tx.execute(b"DELETE FROM hyphaedb.signal WHERE mesh_id = %s", [world.mesh_id])
    world.clock.move(minutes=1)
    successor = world.owner()
    await successor.take()
    await successor.step(64)

    assert successor.pump is not None
    assert successor.pump.mirror.components() == 1
    assert (await successor.step(64)).idle


async def loaded(world: World) -> Mirror:
    """A mirror as the tables have it now."""
    mirror = Mirror(world.faces.info, world.faces.config, await world.faces.embedder.panel())
    await mirror.load(world.faces.database)
    return mirror


#: One round: every way out of the cells just reached. A cell's own links; the M cheapest that lead
#: to it; those that stand on nobody's list and are forced onto the cheapest; typed edges.
NEIGHBOURS = b"""
WITH own AS (
    SELECT l.cell_id AS src, l.ordinal AS src_at, t.cell_id AS dst, t.ordinal AS dst_at, x.cost
    FROM hyphaedb.link l
    CROSS JOIN LATERAL unnest(l.targets, l.costs) AS x (ordinal, cost)
    JOIN hyphaedb.link t
      ON t.mesh_id = l.mesh_id AND t.layer = l.layer AND t.ordinal = x.ordinal
    WHERE l.mesh_id = %(mesh)s AND l.layer = 0
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY dst ORDER BY cost, src_at) <= %(most)s AS kept
    FROM own
), forced AS (
    SELECT DISTINCT ON (src) src, dst, cost FROM ranked r
    WHERE NOT EXISTS (SELECT 1 FROM ranked k WHERE k.src = r.src AND k.kept)
    ORDER BY src, cost, dst_at
)
SELECT f.cell_id, n.dst, n.cost
FROM unnest(%(frontier)s::uuid[]) AS f (cell_id)
CROSS JOIN LATERAL (
    SELECT dst, cost FROM own WHERE src = f.cell_id
    UNION ALL SELECT src, cost FROM ranked WHERE dst = f.cell_id AND kept
    UNION ALL SELECT src, cost FROM forced WHERE dst = f.cell_id
    UNION ALL SELECT dst, cost FROM hyphaedb.edge
              WHERE mesh_id = %(mesh)s AND layer = 0 AND src = f.cell_id
) n"""


class SlowWave:
    """A wave over the tables, one query a round, until nothing gets cheaper any more."""

    def __init__(self, world: World, mirror: Mirror) -> None:
        self._world = world
        self._law = mirror.law
        self._most = mirror.layers[0].graph.links_max

    async def costs(self, diff: PendingRow) -> dict[UUID, int]:
        """Least cost of every cell the diff settles."""
        base = self._law.baseline(diff.vector)
        best = {UUID(bytes=diff.cell_id.bytes): 0}
        frontier = list(best)
        while frontier:
            relaying = [
                c for c in frontier if c == diff.cell_id or await self._relays(c, diff, base)
            ]
            better: dict[UUID, int] = {}
            for src, dst, cost in await self._ways(relaying):
                total = best[src] + cost
                if total < diff.energy and total < best.get(dst, diff.energy):
                    best[dst] = better[dst] = total
            frontier = list(better)
        return best

    async def _ways(self, frontier: list[UUID]) -> list[tuple[UUID, UUID, int]]:
        async with self._world.faces.database.statement() as tx:
            cursor = await tx.execute(
                NEIGHBOURS,
                {"mesh": self._world.mesh_id, "most": self._most, "frontier": frontier},
            )
            return [(src, dst, cost) for src, dst, cost in await cursor.fetchall()]

    async def _relays(self, cell_id: UUID, diff: PendingRow, base: object) -> bool:
        async with self._world.faces.database.statement() as tx:
            cursor = await tx.execute(
                b"""SELECT coalesce(f.e, v.e), c.state FROM hyphaedb.cell c
                    LEFT JOIN hyphaedb.fresh_vector f USING (mesh_id, cell_id)
                    LEFT JOIN hyphaedb.cell_vector v USING (mesh_id, cell_id)
                    WHERE c.mesh_id = %s AND c.cell_id = %s""",
                [self._world.mesh_id, cell_id],
                binary=True,
            )
            row = await cursor.fetchone()
        assert row is not None
        near = geometry.cosine(gridded(diff.vector), gridded(np.stack([row[0]])))
        r = relevance.relevance(near, base)  # type: ignore[arg-type]
        return bool(relevance.relays(r, self._law.relay_min)[0]) and row[1] == "active"


async def test_a_wave_on_the_mirror_is_the_wave_over_the_tables(database: Database) -> None:
    """The same cells at the same costs, after edges, erasures, a replacement and a drain."""
    settings = {"links_per_cell": 3, "relay_min": 0.05}
    world = await World.make(database, 4_330, 1, settings)
    owner, ids = await linked(world, by_topic(120))
    rng = random.Random(5)
    for _ in range(10):
        src, dst = rng.sample(ids, 2)
        await world.mesh.relate(src, dst, omega=rng.uniform(0.2, 1.0))
    for cell_id in ids[::4]:
        await world.mesh.forget(cell_id)
    await world.mesh.supersede(ids[1], sentence(rng, "login"), agent="ann")
    await drained(owner)
    await owner.drain()
    assert owner.pump is not None
    mirror, planner = owner.pump.mirror, owner.pump.planner
    slow = SlowWave(world, mirror)
    async with database.read() as tx:
        live = await journal.live(tx, world.mesh_id, after_dot=0, limit=500, now=world.clock.now)

    reach = 0
    for diff in [d for d in live if d.state == "active"][::6]:
        ran = planner.run(diff, gridded(diff.vector), world.clock.now)
        fast = {
            UUID(bytes=mirror.layers[0].cell_id(int(row)).bytes): int(cost)
            for row, cost in zip(ran.settled, ran.costs, strict=True)
        }
        assert fast == await slow.costs(diff)
        reach = max(reach, len(fast))
    assert reach > 10
