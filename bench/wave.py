"""How fast a wave is: beside the paper's literal design, by type of cell, and beside bare numpy.

The literal design keeps no graph of its own: at every hop it asks pgvector for the K nearest cells
(Algorithm 1, K = 10). Here it is given every kindness: prepared binary queries on one connection,
cosines for its gate by numpy, a priority queue instead of the printed recursion (which would
explode), and no query for a cell that has no energy left to spend. The answers it gets are kept
as edges, and the wave then walks exactly those, with the same gate and the same energy. So the
node sets must be equal, and are checked.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import bare
from bench.place import Place
from bench.timing import Watch, median_ms, ratio
from hyphaedb.engine import waves
from hyphaedb.engine.mirror import Mirror
from hyphaedb.engine.topology import Layer
from hyphaedb.model import MICRO, CellType
from hyphaedb.protocol.energy import ENERGY_MAX_MICRO, initial_energy_micro, link_costs_micro
from hyphaedb.protocol.geometry import GRID
from hyphaedb.protocol.wave import Wave, WaveLimits
from hyphaedb.store.pool import Tx
from hyphaedb.store.pool import rows as fetch

#: The paper's K, a gate that suits raw MiniLM cosines, and the salience of Table 1.
K, SIGMA_MIN, SALIENCE = 10, 0.25, 0.9
_OMEGA_MIN = 0.05
_LITERAL_DIFFS, _SHIPPED_DIFFS, _REPEATS, _EVERYTHING = 8, 60, 5, 3
_NEAREST = b"""SELECT cell_id, (e::halfvec(384)) <=> %(e)s::halfvec(384)
FROM hyphaedb.cell_vector WHERE layer = 0 AND dimension = 384
ORDER BY (e::halfvec(384)) <=> %(e)s::halfvec(384) LIMIT 11"""


@dataclass(slots=True)
class Edges:
    """What pgvector answered, row by row: the graph that both walk."""

    targets: NDArray[np.int32]
    costs: NDArray[np.int32]
    known: set[int] = field(default_factory=set)

    @classmethod
    def none(cls, rows: int) -> Edges:
        """No answers yet."""
        return cls(np.full((rows, K), -1, np.int32), np.zeros((rows, K), np.int32))


async def run(place: Place) -> dict[str, Any]:
    """The three comparisons for one size."""
    mirror = await place.mirror()
    watch = Watch(place.data_dir)
    return {
        **await _beside_literal(place, mirror, watch),
        "shipped": _by_type(mirror),
        "everything": _everything(mirror),
    }


async def _beside_literal(place: Place, mirror: Mirror, watch: Watch) -> dict[str, Any]:
    layer = mirror.layers[0]
    edges = Edges.none(layer.count)
    origins = np.random.default_rng(3).integers(0, layer.count, _LITERAL_DIFFS).tolist()
    energy = initial_energy_micro(SALIENCE, [CellType.DECISION])
    literal, ours, ours_wall, queries, reached = [], [], [], [], []
    async with place.database.statement() as tx:
        await bare.widen(tx)
        await _literal(tx, layer, edges, origins[0], energy)
        for origin in origins:
            with watch.measure() as spent:
                found, asked = await _literal(tx, layer, edges, origin, energy)
            literal.append(spent)
            again, cpu, wall = [], [], []
            for _ in range(_REPEATS):
                with watch.measure() as spent:
                    again = _walked(layer, edges, origin, energy)
                cpu.append(spent.client_s)
                wall.append(spent.wall_s)
            assert set(again) == found, "the wave and the literal design reach different cells"
            ours.append(float(np.median(cpu)))
            ours_wall.append(float(np.median(wall)))
            queries.append(asked)
            reached.append(len(found))
    return {
        "ms": round(float(np.mean(ours)) * 1e3, 3),
        "ms_wall": round(float(np.mean(ours_wall)) * 1e3, 3),
        "literal_ms": round(float(np.mean([s.cpu_s for s in literal])) * 1e3, 1),
        "literal_ms_wall": round(float(np.mean([s.wall_s for s in literal])) * 1e3, 1),
        "ratio": ratio(sum(s.cpu_s for s in literal), sum(ours)),
        "literal_queries": round(float(np.mean(queries))),
        "reached": round(float(np.mean(reached))),
        "sets_equal": len(origins),
        "rule": f"decision s={SALIENCE}, K={K}, 0.6 cos + 0.1 s >= {SIGMA_MIN}, cost 1/cos",
    }


async def _literal(
    tx: Tx, layer: Layer, edges: Edges, origin: int, energy: int
) -> tuple[set[int], int]:
    """Algorithm 1 with a query a hop; the rows delivered and the queries asked."""
    probe = layer.vectors[origin]
    cost_of = {origin: 0}
    done: dict[int, bool] = {}
    queue = [(0, origin)]
    asked = 0
    while queue:
        cost, row = heapq.heappop(queue)
        if row in done:
            continue
        done[row] = row == origin or _passes(layer.cosines(probe, np.array([row], np.int32)))[0]
        if not done[row] or cost + MICRO >= energy:
            continue
        vector = layer.vectors[row].astype(np.float32)
        found = await fetch(tx, _NEAREST, {"e": vector})
        asked += 1
        if row not in edges.known:
            _keep(layer, edges, row, found)
        for target, more in zip(edges.targets[row], edges.costs[row], strict=True):
            total = cost + int(more)
            if target >= 0 and total < energy and total < cost_of.get(int(target), energy):
                cost_of[int(target)] = total
                heapq.heappush(queue, (total, int(target)))
    return {row for row, passes in done.items() if passes}, asked


def _keep(layer: Layer, edges: Edges, row: int, found: list[Any]) -> None:
    """Turn an answer into edges."""
    near = [(layer.row(cell_id), 1.0 - distance) for cell_id, distance in found]
    others = [(r, c) for r, c in near if r is not None and r != row][:K]
    edges.targets[row, : len(others)] = [r for r, _ in others]
    edges.costs[row, : len(others)] = link_costs_micro(np.array([c for _, c in others]), _OMEGA_MIN)
    edges.known.add(row)


def _passes(cosines: NDArray[np.float32]) -> NDArray[np.bool_]:
    """The paper's gate for a cell, whose interest is 0."""
    return np.asarray(0.6 * cosines.astype(np.float64) + 0.1 * SALIENCE >= SIGMA_MIN)


def _walked(layer: Layer, edges: Edges, origin: int, energy: int) -> list[int]:
    """The same edges, gate and energy by the shipped wave; the rows delivered."""
    probe = layer.vectors[origin]
    wave = Wave(origin, energy, WaveLimits(), layer.count)
    delivered: list[NDArray[np.int32]] = []
    first = True
    while not wave.done:
        rows = wave.frontier
        passes = _passes(layer.cosines(probe, rows))
        if first:
            passes[:] = True
            first = False
        delivered.append(rows[passes])
        who = (passes & wave.frontier_pays).nonzero()[0].astype(np.int32)
        targets = edges.targets[rows[who]]
        there = targets >= 0
        positions = np.repeat(who, there.sum(axis=1))
        wave.advance(passes, positions, targets[there], edges.costs[rows[who]][there])
    return [int(r) for r in np.concatenate(delivered)]


def _by_type(mirror: Mirror) -> dict[str, Any]:
    """The shipped graph and rule: milliseconds of CPU and cells reached, by type of cell."""
    layer = mirror.layers[0]
    origins = np.random.default_rng(4).integers(0, layer.count, _SHIPPED_DIFFS).tolist()
    kinds = (CellType.TASK, CellType.CONTEXT, CellType.FACT, CellType.LESSON, CellType.DECISION)
    out: dict[str, Any] = {}
    spent: dict[CellType, list[float]] = {kind: [] for kind in kinds}
    settled: dict[CellType, list[int]] = {kind: [] for kind in kinds}
    least: dict[CellType, list[float]] = {kind: [] for kind in kinds}
    watch = Watch()
    for origin in origins:
        for kind in kinds:
            energy = initial_energy_micro(0.6, [kind])
            with watch.measure() as took:
                ran = _shipped(mirror, origin, energy, mirror.law.relay_min, 50_000)
            with watch.measure() as plain:
                _bare(layer, origin, ran.settled)
            spent[kind].append(took.client_s)
            least[kind].append(plain.client_s)
            settled[kind].append(len(ran.settled))
    for kind in kinds:
        out[kind.value] = {
            "ms": median_ms(spent[kind]),
            "ms_p95": round(float(np.percentile(spent[kind], 95)) * 1e3, 3),
            "reached": round(float(np.median(settled[kind]))),
            "bare_numpy_ms": median_ms(least[kind]),
        }
    typical = [x for kind in (CellType.FACT, CellType.CONTEXT, CellType.TASK) for x in spent[kind]]
    out["typical_ms"] = median_ms(typical)
    return out


def _everything(mirror: Mirror) -> dict[str, Any]:
    """A wave without a gate and with the most energy there can be."""
    layer = mirror.layers[0]
    watch, spent, least, reached = Watch(), [], [], []
    for origin in np.random.default_rng(5).integers(0, layer.count, _EVERYTHING).tolist():
        with watch.measure() as took:
            ran = _shipped(mirror, origin, ENERGY_MAX_MICRO, 0.0, 5_000_000)
        with watch.measure() as plain:
            _bare(layer, origin, ran.settled)
        spent.append(took.client_s)
        least.append(plain.client_s)
        reached.append(len(ran.settled))
    share = round(float(np.median(reached)) / layer.count, 4)
    return {"ms": median_ms(spent), "bare_numpy_ms": median_ms(least), "share_reached": share}


def _shipped(
    mirror: Mirror, origin: int, energy: int, relay_min: float, settled_max: int
) -> waves.Ran:
    layer = mirror.layers[0]
    probe = layer.vectors[origin]
    return waves.run(
        layer,
        origin,
        probe,
        energy,
        base=mirror.law.baseline(probe.astype(np.float32) / np.float32(GRID)),
        relay_min=relay_min,
        now_days=float(layer.used_days[: layer.count].max()),
        limits=WaveLimits(settled_max=settled_max),
    )


def _bare(layer: Layer, origin: int, rows: NDArray[np.int32]) -> NDArray[np.float32]:
    """The least any wave over these cells must do: fetch their vectors, multiply."""
    near: NDArray[np.float32] = layer.vectors[rows].astype(np.float32) @ layer.vectors[
        origin
    ].astype(np.float32)
    return near


def summary(found: dict[str, Any]) -> list[str]:
    """One line a size for people."""
    return [
        f"{size} cells: {x['ratio']}x less CPU than a query a hop ({x['ms']} against"
        f" {x['literal_ms']} ms, {x['reached']} cells reached); shipped rule"
        f" {x['shipped']['typical_ms']} ms, reaching everything {x['everything']['ms']} ms"
        for size, x in found["sizes"].items()
    ]
