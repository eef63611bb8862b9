"""What the protocol's tests share: drawn graphs, topical vectors, and the pump of a wave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from hyphaedb.model import MICRO
from hyphaedb.protocol.adjacency import Adjacency
from hyphaedb.protocol.energy import link_costs_micro
from hyphaedb.protocol.geometry import cosine, to_grid
from hyphaedb.protocol.links import bridges, select
from hyphaedb.protocol.wave import Wave, WaveLimits
from tests.oracle import Links, Relays, everybody

#: Whole and half units make ties, which is where an order can go wrong; the rest is any cost.
COSTS = st.sampled_from([MICRO, MICRO, 3 * MICRO // 2, 2 * MICRO, 3 * MICRO]) | st.integers(
    MICRO, 6 * MICRO
)
ENERGIES = st.sampled_from([1, MICRO, 2 * MICRO, 3 * MICRO, 5 * MICRO]) | st.integers(0, 12 * MICRO)

OPEN = WaveLimits(settled_max=10**6)


@st.composite
def drawn_links(draw: st.DrawFn, nodes_max: int = 10) -> dict[int, list[tuple[int, int]]]:
    """A directed graph with parallel links, every row present."""
    nodes = draw(st.integers(1, nodes_max))
    rows = st.integers(0, nodes - 1)
    triples = draw(st.lists(st.tuples(rows, rows, COSTS), max_size=4 * nodes))
    links: dict[int, list[tuple[int, int]]] = {row: [] for row in range(nodes)}
    for source, target, cost in triples:
        if source != target:
            links[source].append((target, cost))
    return links


def random_links(nodes: int, degree: int, seed: int) -> dict[int, list[tuple[int, int]]]:
    """A directed graph too large to draw, from a seed."""
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, nodes, (nodes, degree))
    costs = np.where(
        rng.random((nodes, degree)) < 0.3,
        rng.integers(1, 4, (nodes, degree)) * MICRO,
        rng.integers(MICRO, 6 * MICRO, (nodes, degree)),
    )
    return {
        row: [(int(u), int(c)) for u, c in zip(targets[row], costs[row], strict=True) if u != row]
        for row in range(nodes)
    }


def run(
    wave: Wave,
    links: Links,
    relays: Relays = everybody,
    origin: int = 0,
    *,
    sparing: bool = False,
) -> list[int]:
    """Pump a wave over a dictionary until it is done; every row of every frontier, in order.

    ``sparing`` leaves out the links that a wave says it has no use for.
    """
    shown: list[int] = []
    while not wave.done:
        rows = wave.frontier.tolist()
        shown += rows
        asked = [
            (position, target, cost)
            for position, row in enumerate(rows)
            for target, cost in links.get(row, ())
        ]
        if sparing:
            spent = wave.frontier_costs
            asked = [x for x in asked if spent[x[0]] + x[2] <= wave.worth[x[1]]]
        answers = np.array([row == origin or relays(row) for row in rows])
        columns = np.array(asked, dtype=np.int32).reshape(-1, 3).T
        wave.advance(answers, *columns)
    return shown


def walked(
    links: Links,
    energy: int,
    *,
    origin: int = 0,
    relays: Relays = everybody,
    limits: WaveLimits = OPEN,
) -> Wave:
    """A finished wave over a dictionary."""
    wave = Wave(origin, energy, limits, max(len(links), origin + 1))
    run(wave, links, relays, origin)
    return wave


def records(wave: Wave) -> list[tuple[int, int, int, int]]:
    """(row, cost, hops, parent) of every settled row, as the oracle gives them."""
    return list(
        zip(
            wave.settled.tolist(),
            wave.costs.tolist(),
            wave.hops.tolist(),
            wave.parents.tolist(),
            strict=True,
        )
    )


def normalised(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Rows (n, d), or one vector (d,), scaled to length 1: what an embedder hands over."""
    wide = np.asarray(rows, dtype=np.float64)
    return np.asarray(wide / np.linalg.norm(wide, axis=-1, keepdims=True), dtype=np.float32)


def topical(count: int, topics: int, seed: int, *, dimension: int = 48) -> NDArray[np.float32]:
    """Unit vectors in topics of Zipf sizes, topic after topic: the order that splits graphs."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, topics + 1)
    topic = np.sort(rng.choice(topics, count, p=share / share.sum()))
    centres = rng.standard_normal((topics, dimension))
    return normalised(centres[topic] + 0.8 * rng.standard_normal((count, dimension)))


def burst(around: NDArray[Any], count: int, noise: float, seed: int) -> NDArray[np.float32]:
    """Near-duplicates of one vector; with no noise, exact ones."""
    rng = np.random.default_rng(seed)
    return normalised(
        around + noise * rng.standard_normal((count, len(around))) / len(around) ** 0.5
    )


def linked(
    vectors: NDArray[np.int16], m: int, candidates: int = 48
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Own links (n, m) and their costs, chosen among the exact nearest of the earlier cells."""
    targets = np.full((len(vectors), m), -1, dtype=np.int32)
    costs = np.zeros((len(vectors), m), dtype=np.int32)
    for row in range(1, len(vectors)):
        near = cosine(vectors[row], vectors[:row])
        nearest = np.lexsort((-np.arange(row), -near))[:candidates]
        chosen = nearest[select(vectors[nearest], near[nearest], m)]
        targets[row, : len(chosen)] = chosen
        costs[row, : len(chosen)] = link_costs_micro(near[chosen], 0.05)
    return targets, costs


def grown(vectors: NDArray[Any], m: int) -> Adjacency:
    """The graph of these vectors, in their order."""
    return Adjacency.bulk(m, *linked(to_grid(vectors), m))


def bridged(graph: Adjacency, vectors: NDArray[Any]) -> int:
    """Join what fell apart, both ways; the number of bridges."""
    found = bridges(graph.components(), to_grid(vectors))
    for bridge in found:
        cost = int(link_costs_micro(np.array([bridge.cosine]), 0.05)[0])
        graph.add_edge(bridge.near, bridge.far, cost)
        graph.add_edge(bridge.far, bridge.near, cost)
    return len(found)


def ways_of(
    graph: Adjacency, rows: Sequence[int] | None = None
) -> dict[int, list[tuple[int, int]]]:
    """The graph as a dictionary of sorted (target, cost), live rows only."""
    asked = np.flatnonzero(graph.live) if rows is None else np.array(rows)
    positions, targets, costs = graph.neighbours(asked)
    ways: dict[int, list[tuple[int, int]]] = {int(row): [] for row in asked}
    for position, target, cost in zip(
        positions.tolist(), targets.tolist(), costs.tolist(), strict=True
    ):
        ways[int(asked[position])].append((target, cost))
    return {row: sorted(found) for row, found in ways.items()}
