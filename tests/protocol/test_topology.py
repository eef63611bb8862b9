"""A layer stays in one piece on topical data: the vectors on which nearest-neighbour graphs fail.

Cells arrive topic after topic, which is the order that splits graphs.
"""

from __future__ import annotations

import numpy as np
import pytest

from hyphaedb.model import MICRO
from hyphaedb.protocol.adjacency import Adjacency
from hyphaedb.protocol.energy import link_costs_micro
from hyphaedb.protocol.geometry import to_grid
from tests import oracle
from tests.protocol.graphs import bridged, burst, grown, normalised, topical, walked, ways_of


def in_one_piece(graph: Adjacency) -> bool:
    live = graph.live
    return (
        len(set(graph.components()[live].tolist())) == 1
        and len(oracle.strong_components(ways_of(graph))) == 1
    )


def with_bursts(sizes: list[int], noise: float) -> np.ndarray:
    """Topical cells, then near-duplicates of some of them."""
    base = topical(700, 20, 1)
    parts = [burst(base[90 * n], size, noise, n) for n, size in enumerate(sizes)]
    return normalised(np.concatenate((base, *parts)))


def test_plain_nearest_neighbours_fall_apart_on_this_data() -> None:
    """Why links are chosen at all: the ten nearest of every cell leave islands."""
    vectors = topical(1_000, 40, 0)
    near = vectors @ vectors.T
    np.fill_diagonal(near, -1)
    nearest = np.argsort(-near, axis=1)[:, :10]
    links = {row: [(int(u), MICRO) for u in ten] for row, ten in enumerate(nearest)}
    assert len(oracle.strong_components(links)) > 5


@pytest.mark.parametrize("m", [4, 8, 24])
def test_sorted_insertion_leaves_one_piece(m: int) -> None:
    assert in_one_piece(grown(topical(1_000, 40, 0), m))


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.4])
def test_near_duplicate_bursts_leave_one_piece(noise: float) -> None:
    assert in_one_piece(grown(with_bursts([60] * 6, noise), 8))


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_burst_does_not_make_a_list_without_end(noise: float) -> None:
    """A list is 2M and those it would strand; in a burst of 500 these are measured, not 500."""
    graph = grown(with_bursts([500], noise), 8)
    lengths = np.bincount(graph.neighbours(np.arange(len(graph)))[0])
    assert lengths.max() <= 5 * 8
    assert graph.forced_count <= len(graph) // 8


@pytest.mark.parametrize("m", [4, 8, 24])
def test_churn_of_sixty_per_cent_is_healed_by_bridges(m: int) -> None:
    vectors = with_bursts([60, 60], 0.05)
    graph = grown(vectors, m)
    gone = np.random.default_rng(2).permutation(len(graph))[: int(0.6 * len(graph))]
    for batch in np.array_split(gone, 10):
        graph.remove(batch.tolist())
        bridged(graph, vectors)
    assert in_one_piece(graph)


def test_a_topic_that_loses_its_way_out_is_bridged_back() -> None:
    """Two far topics joined by one cell; without it there are two pieces."""
    vectors = np.concatenate((burst(np.eye(8)[0], 30, 0.2, 0), burst(np.eye(8)[4], 30, 0.2, 1)))
    vectors = np.insert(vectors, 30, normalised(np.eye(8)[0] + np.eye(8)[4]), axis=0)
    graph = Adjacency(4)
    for row in range(len(vectors)):
        side = range(31) if row <= 30 else range(30, len(vectors))
        earlier = np.array([u for u in side if u < row][-4:], dtype=np.int64)
        graph.append(earlier, link_costs_micro(vectors[earlier] @ vectors[row], 0.05))
    assert in_one_piece(graph)
    graph.remove([30])
    assert len(set(graph.components()[graph.live].tolist())) == 2
    assert bridged(graph, vectors) == 1
    assert in_one_piece(graph)


def test_energy_decides_how_far_a_wave_gets_on_topical_data() -> None:
    """Table 1's scopes: a task stays near, a decision gets everywhere."""
    graph = grown(topical(1_000, 40, 0), 16)
    ways = ways_of(graph)
    reach = [len(walked(ways, energy * MICRO, origin=500).settled) for energy in (3, 5, 9, 19)]
    assert reach == sorted(reach)
    assert reach[0] < 250
    assert reach[-1] == 1_000


def test_gridded_and_float_vectors_are_linked_alike() -> None:
    """The grid is fine enough not to choose different neighbourhoods."""
    vectors = topical(300, 10, 3)
    coarse = ways_of(grown(vectors, 8))
    fine = ways_of(grown(to_grid(vectors).astype(np.float32) / 4064, 8))
    assert coarse == fine
