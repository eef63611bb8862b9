"""Choosing links in different directions, and joining what fell apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.errors import Invalid
from hyphaedb.protocol.geometry import cosine, to_grid
from hyphaedb.protocol.links import CANDIDATES_MAX, bridges, label_components, select
from tests import oracle
from tests.protocol.graphs import normalised, topical


def at(*degrees: float) -> np.ndarray:
    """Unit vectors in the plane, by angle."""
    angles = np.radians(degrees)
    return np.stack((np.cos(angles), np.sin(angles)), axis=1).astype(np.float32)


def selected(degrees: tuple[float, ...], m: int) -> list[int]:
    """What a cell at angle 0 chooses among candidates nearest first."""
    candidates = at(*degrees)
    return [int(p) for p in select(candidates, cosine(at(0.0)[0], candidates), m)]


def test_a_candidate_behind_a_chosen_one_is_passed_over() -> None:
    """20 is nearer to 10 than to us; -30 lies the other way."""
    assert selected((10.0, 20.0, -30.0), 2) == [0, 2]


def test_a_candidate_as_near_to_a_chosen_one_as_to_us_is_passed_over() -> None:
    """We, the first and the second are at equal distances; the third lies the other way."""
    rows = to_grid(normalised(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0.6, -0.03, -0.8]])))
    assert select(rows[1:], cosine(rows[0], rows[1:]), 2).tolist() == [0, 2]


def test_passed_over_ones_fill_up_nearest_first() -> None:
    assert selected((10.0, 20.0, 25.0, -30.0), 3) == [0, 1, 3]


def test_few_candidates_are_all_taken() -> None:
    assert selected((10.0, 20.0), 2) == [0, 1]
    assert selected((10.0,), 5) == [0]


def test_a_burst_of_identical_texts_links_to_its_newest() -> None:
    """Equals come newest first, the first is chosen, and the rest of the fill follows in order."""
    assert selected((0.0, 0.0, 0.0, 0.0, 40.0), 3) == [0, 1, 2]


@given(st.integers(0, 200), st.integers(1, 12))
def test_it_chooses_as_algorithm_four_does(seed: int, m: int) -> None:
    """Malkov and Yashunin, 2020, Algorithm 4 with keepPrunedConnections, word by word."""
    rows = to_grid(topical(41, 5, seed, dimension=8))
    near = cosine(rows[0], rows[1:])
    order = np.argsort(-near, kind="stable")
    candidates, near = rows[1:][order], near[order]

    chosen: list[int] = []
    discarded: list[int] = []
    for candidate in range(40):
        if len(chosen) == m:
            break
        nearer = [cosine(candidates[candidate], candidates[c][None])[0] for c in chosen]
        if all(near[candidate] > closeness for closeness in nearer):
            chosen.append(candidate)
        else:
            discarded.append(candidate)
    chosen += discarded[: m - len(chosen)]
    assert select(candidates, near, m).tolist() == sorted(chosen)


def test_candidates_out_of_order_are_refused() -> None:
    with pytest.raises(Invalid):
        select(at(20.0, 10.0), np.array([0.9, 0.98]), 1)


@pytest.mark.parametrize(("count", "m"), [(CANDIDATES_MAX + 1, 8), (3, 0)])
def test_a_choice_without_bounds_is_refused(count: int, m: int) -> None:
    with pytest.raises(Invalid):
        select(np.zeros((count, 2), dtype=np.float32), np.zeros(count), m)


@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60),
)
def test_labels_name_the_lowest_node_of_each_component(
    count: int, pairs: list[tuple[int, int]]
) -> None:
    pairs = [(a % count, b % count) for a, b in pairs]
    both = [*pairs, *((b, a) for a, b in pairs)]
    links = {v: [(b, 1) for a, b in both if a == v] for v in range(count)}
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    labels = label_components(count, ends[:, 0], ends[:, 1])
    assert labels.tolist() == [min(oracle.reached_from(links, v)) for v in range(count)]


def test_a_long_chain_is_one_component() -> None:
    """The worst case for passing labels from neighbour to neighbour."""
    rows = np.random.default_rng(0).permutation(5_000)
    assert not label_components(5_000, rows[:-1], rows[1:]).any()


def test_a_component_is_bridged_to_the_largest_by_the_nearest_pair() -> None:
    vectors = at(0.0, 10.0, 50.0, 55.0, 60.0, 100.0)
    labels = np.array([0, 0, 2, 2, 2, 5])
    found = [(bridge.near, bridge.far) for bridge in bridges(labels, vectors)]
    assert found == [(1, 2), (5, 4)]
    assert bridges(labels, vectors)[0].cosine == pytest.approx(np.cos(np.radians(40.0)))


def test_one_component_or_none_needs_no_bridge() -> None:
    assert bridges(np.zeros(3, dtype=np.int32), at(0.0, 1.0, 2.0)) == []
    assert bridges(np.full(3, -1), at(0.0, 1.0, 2.0)) == []


def test_tombstones_are_not_bridged() -> None:
    assert bridges(np.array([0, -1, 0, -1]), at(0.0, 1.0, 2.0, 3.0)) == []


@given(st.lists(st.integers(-1, 6), min_size=1, max_size=40), st.integers(0, 99))
def test_bridges_leave_one_component(drawn: list[int], seed: int) -> None:
    labels = np.array(drawn)
    for name in set(drawn) - {-1}:
        labels[labels == name] = np.flatnonzero(labels == name)[0]
    vectors = normalised(np.random.default_rng(seed).standard_normal((len(drawn), 4)))
    found = bridges(labels, to_grid(vectors))
    live = np.flatnonzero(labels >= 0)
    sources = np.concatenate((live, [bridge.near for bridge in found])).astype(np.int64)
    targets = np.concatenate((labels[live], [bridge.far for bridge in found])).astype(np.int64)
    joined = label_components(len(labels), sources, targets)
    assert len(set(joined[live].tolist())) <= 1


def test_large_components_are_bridged_by_a_spread_of_their_cells() -> None:
    """Six thousand cells are not all compared; the bridge is good, if not the shortest."""
    vectors = topical(6_000, 2, 0)
    labels = np.where(np.arange(6_000) < 5_000, 0, 5_000)
    (bridge,) = bridges(labels, vectors)
    assert (labels[bridge.near], labels[bridge.far]) == (5_000, 0)
    best = float((vectors[5_000:] @ vectors[:5_000].T).max())
    assert bridge.cosine > best - 0.2
