"""The graph is a function of its live links: built at once, or grown and pruned in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO
from hyphaedb.protocol.adjacency import LINKS_MAX, NO_LINK, Adjacency
from hyphaedb.protocol.energy import COST_MAX_MICRO
from hyphaedb.protocol.geometry import to_grid
from tests import oracle
from tests.protocol.graphs import COSTS, linked, topical, ways_of

Own = list[dict[int, int]]


def columns(own: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(list(own), dtype=np.int32), np.array(list(own.values()), dtype=np.int32)


def built(m: int, *rows: dict[int, int]) -> Adjacency:
    """The graph after appending these own links one by one."""
    graph = Adjacency(m)
    for own in rows:
        graph.append(*columns(own))
    return graph


def padded(rows: Own, m: int) -> tuple[np.ndarray, np.ndarray]:
    targets = np.full((len(rows), m), NO_LINK, dtype=np.int32)
    costs = np.zeros((len(rows), m), dtype=np.int32)
    for row, own in enumerate(rows):
        targets[row, : len(own)], costs[row, : len(own)] = columns(own)
    return targets, costs


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, Own, list[int | tuple[int, ...]]]:
    """M, the own links of each cell, and what happens in order.

    A step is a number of cells to append, or the rows of a removal.
    """
    m = draw(st.integers(1, 3))
    count = draw(st.integers(1, 14))
    rows: Own = []
    for row in range(count):
        near = st.integers(0, row - 1) if row else st.nothing()
        targets = draw(st.lists(near, max_size=min(m, row), unique=True)) if row else []
        rows.append({target: draw(COSTS) for target in targets})
    steps: list[int | tuple[int, ...]] = []
    there = 0
    while there < count:
        more = draw(st.integers(1, count - there))
        steps.append(more)
        there += more
        gone = draw(st.lists(st.integers(0, there - 1), max_size=3))
        if gone:
            steps.append(tuple(gone))
    return m, rows, steps


def played(m: int, rows: Own, steps: list[int | tuple[int, ...]]) -> Adjacency:
    graph = Adjacency(m)
    for step in steps:
        if isinstance(step, tuple):
            graph.remove(step)
        else:
            for _ in range(step):
                graph.append(*columns(rows[len(graph)]))
    return graph


def live_links(rows: Own, live: np.ndarray) -> dict[int, dict[int, int]]:
    return {
        row: {u: cost for u, cost in own.items() if live[u]}
        for row, own in enumerate(rows)
        if live[row]
    }


@given(histories())
def test_every_history_gives_the_graph_of_its_live_links(
    history: tuple[int, Own, list[int | tuple[int, ...]]],
) -> None:
    m, rows, steps = history
    graph = played(m, rows, steps)
    assert ways_of(graph) == oracle.graph_of(live_links(rows, graph.live), m)


@pytest.mark.parametrize("seed", range(6))
def test_a_long_history_with_full_lists_gives_the_graph_of_its_live_links(seed: int) -> None:
    """Crowded and hub-heavy, so that every removal refills lists and moves forced entries."""
    rng = np.random.default_rng(seed)
    m = 2 + seed % 3
    rows: Own = []
    graph = Adjacency(m)
    for row in range(240):
        few = min(row, 12)
        targets = rng.choice(few, min(m, few), replace=False) + rng.integers(0, row - few + 1)
        rows.append({int(u): int(rng.integers(2, 5)) * MICRO for u in targets})
        graph.append(*columns(rows[row]))
        if row % 20 == 19:
            graph.remove(rng.integers(0, row, 6).tolist())
            assert ways_of(graph) == oracle.graph_of(live_links(rows, graph.live), m)
    at_once = Adjacency.bulk(m, *padded(rows, m), live=graph.live)
    assert at_once.forced_count == graph.forced_count > 0


@given(histories())
def test_built_at_once_it_is_the_same_graph(
    history: tuple[int, Own, list[int | tuple[int, ...]]],
) -> None:
    m, rows, steps = history
    graph = played(m, rows, steps)
    at_once = Adjacency.bulk(m, *padded(rows, m), live=graph.live)
    assert ways_of(at_once) == ways_of(graph)
    assert at_once.forced_count == graph.forced_count
    assert at_once.components().tolist() == graph.components().tolist()


@given(histories(), st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13), COSTS), max_size=6))
def test_edges_come_on_top_and_leave_no_trace(
    history: tuple[int, Own, list[int | tuple[int, ...]]], drawn: list[tuple[int, int, int]]
) -> None:
    m, rows, steps = history
    graph = played(m, rows, steps)
    plain = ways_of(graph)
    live = graph.live
    ends = range(len(rows))
    edges = [e for e in drawn if e[0] != e[1] and all(v in ends and live[v] for v in e[:2])]
    for edge in edges:
        graph.add_edge(*edge)
    assert ways_of(graph) == oracle.graph_of(live_links(rows, live), m, edges)
    for edge in reversed(edges):
        graph.remove_edge(*edge)
    assert ways_of(graph) == plain


@given(histories(), st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13), COSTS), max_size=6))
def test_a_removed_cell_takes_its_edges_along(
    history: tuple[int, Own, list[int | tuple[int, ...]]], drawn: list[tuple[int, int, int]]
) -> None:
    m, rows, _ = history
    graph = played(m, rows, [len(rows)])
    edges = [e for e in drawn if e[0] != e[1] and max(e[:2]) < len(rows)]
    for edge in edges:
        graph.add_edge(*edge)
    graph.remove([0])
    left = [edge for edge in edges if 0 not in edge[:2]]
    assert ways_of(graph) == oracle.graph_of(live_links(rows, graph.live), m, left)


@given(histories())
def test_every_cell_with_a_link_has_one_that_goes_both_ways(
    history: tuple[int, Own, list[int | tuple[int, ...]]],
) -> None:
    """So nobody is only a source, and no list grows by more than those it would strand."""
    m, rows, steps = history
    graph = played(m, rows, steps)
    ways = ways_of(graph)
    own = live_links(rows, graph.live)
    for row, targets in own.items():
        assert not targets or any((row, cost) in ways[u] for u, cost in targets.items())
    assert sum(len(found) for found in ways.values()) <= 2 * m * len(own) + graph.forced_count


@given(histories())
def test_cells_of_one_label_reach_each_other(
    history: tuple[int, Own, list[int | tuple[int, ...]]],
) -> None:
    m, rows, steps = history
    graph = played(m, rows, steps)
    labels = graph.components()
    assert (labels[~graph.live] == NO_LINK).all()
    strong = {
        row: min(group) for group in oracle.strong_components(ways_of(graph)) for row in group
    }
    for row in np.flatnonzero(graph.live).tolist():
        assert labels[row] <= row
        assert strong[row] == strong[int(labels[row])]


@given(histories())
def test_removing_twice_is_removing_once(
    history: tuple[int, Own, list[int | tuple[int, ...]]],
) -> None:
    m, rows, steps = history
    graph = played(m, rows, steps)
    before = ways_of(graph)
    graph.remove(np.flatnonzero(~graph.live).tolist())
    graph.remove([])
    assert ways_of(graph) == before


def test_among_equal_costs_the_lower_cell_stays_on_a_full_list() -> None:
    graph = built(1, {}, {0: MICRO}, {0: MICRO})
    # Cell 2 stands on no list, so it is forced onto the list of cell 0.
    assert ways_of(graph)[0] == [(1, MICRO), (2, MICRO)]
    assert graph.forced_count == 1


def test_a_newcomer_of_equal_cost_does_not_displace_anybody() -> None:
    graph = built(2, {}, {0: MICRO}, {0: MICRO, 1: MICRO}, {0: MICRO, 1: MICRO})
    assert ways_of(graph)[0] == [(1, MICRO), (2, MICRO)]
    assert graph.forced_count == 0


def test_long_lists_of_equals_keep_the_lowest_cells() -> None:
    """Enough sources for a sort that is not stable to mix them up."""
    rows: Own = [{}, {}, *({0: MICRO, 1: (1 + row % 2) * MICRO} for row in range(2, 300))]
    graph = Adjacency.bulk(4, *padded(rows, 4))
    assert ways_of(graph) == oracle.graph_of(live_links(rows, graph.live), 4)


def test_a_forced_cell_that_goes_is_forced_no_more() -> None:
    graph = built(1, {}, {0: MICRO}, {0: MICRO})
    graph.remove([2])
    assert graph.forced_count == 0
    assert ways_of(graph) == {0: [(1, MICRO)], 1: [(0, MICRO)]}


def test_a_cheaper_source_takes_the_place_of_a_dearer_one() -> None:
    graph = built(1, {}, {0: 2 * MICRO}, {1: MICRO}, {0: MICRO})
    # Cell 1 lost its place on the list of 0 and has no other target: it is forced back.
    assert ways_of(graph)[0] == [(1, 2 * MICRO), (3, MICRO)]
    graph.remove([3])
    assert graph.forced_count == 0


def test_a_two_way_pair_of_edges_joins_components_and_a_one_way_edge_does_not() -> None:
    graph = built(2, {}, {})
    graph.add_edge(0, 1, MICRO)
    assert graph.components().tolist() == [0, 1]
    graph.add_edge(1, 0, 2 * MICRO)
    assert graph.components().tolist() == [0, 0]


def test_neighbours_come_with_their_place_in_the_frontier() -> None:
    graph = built(2, {}, {0: MICRO}, {0: 2 * MICRO, 1: 3 * MICRO})
    graph.add_edge(0, 2, 5 * MICRO)
    positions, targets, costs = graph.neighbours(np.array([2, 0]))
    assert {array.dtype for array in (positions, targets, costs)} == {np.dtype(np.int32)}
    found = sorted(zip(positions.tolist(), targets.tolist(), costs.tolist(), strict=True))
    assert found == [
        (0, 0, 2 * MICRO),
        (0, 1, 3 * MICRO),
        (1, 1, MICRO),
        (1, 2, 2 * MICRO),
        (1, 2, 5 * MICRO),
    ]
    assert graph.neighbours(np.empty(0, dtype=np.int32))[1].size == 0


def test_a_wave_is_spared_the_links_that_cost_more_than_their_targets_are_worth() -> None:
    targets = np.array([[-1, -1], [0, -1], [0, 1]], np.int32)
    graph = Adjacency.bulk(2, targets, np.where(targets < 0, 0, 2 * MICRO))
    worth = np.array([5 * MICRO, 5 * MICRO - 1, 0])
    positions, found, costs = graph.neighbours(np.array([2]), np.array([3 * MICRO]), worth)
    assert (positions.tolist(), found.tolist(), costs.tolist()) == ([0], [0], [2 * MICRO])


def test_an_empty_graph_answers() -> None:
    nothing = np.empty((0, 4), dtype=np.int32)
    graph = Adjacency.bulk(4, nothing, nothing)
    assert (len(graph), graph.components().size) == (0, 0)
    assert graph.append(*columns({})) == 0


def test_links_to_tombstones_are_dropped() -> None:
    graph = built(2, {}, {0: MICRO})
    graph.remove([0])
    graph.append(*columns({0: MICRO, 1: 2 * MICRO}))
    assert ways_of(graph) == {1: [(2, 2 * MICRO)], 2: [(1, 2 * MICRO)]}


def test_a_cell_takes_at_most_450_bytes_at_24_links() -> None:
    graph = Adjacency.bulk(24, *linked(to_grid(topical(1_500, 20, 0)), 24))
    for _ in range(600):
        graph.append(*columns({0: MICRO}))
        assert graph.bytes <= 450 * len(graph)


@pytest.mark.parametrize(
    ("targets", "costs"),
    [
        ([2], [MICRO]),
        ([5], [MICRO]),
        ([-2], [MICRO]),
        ([0, 0], [MICRO, MICRO]),
        ([0], [MICRO - 1]),
        ([0], [COST_MAX_MICRO + 1]),
        ([0, 1, 0], [MICRO] * 3),
        ([0, 1], [MICRO]),
    ],
    ids=["self", "later", "nowhere", "twice", "too cheap", "too dear", "too many", "lopsided"],
)
def test_malformed_links_are_refused_and_change_nothing(
    targets: list[int], costs: list[int]
) -> None:
    graph = built(2, {}, {0: MICRO})
    before = ways_of(graph)
    with pytest.raises(Invalid):
        graph.append(np.array(targets, dtype=np.int32), np.array(costs, dtype=np.int32))
    assert ways_of(graph) == before


@pytest.mark.parametrize(
    "edge", [(0, 0, MICRO), (0, 2, MICRO), (-1, 0, MICRO), (0, 5, MICRO), (0, 1, MICRO - 1)]
)
def test_an_edge_that_has_no_place_is_refused(edge: tuple[int, int, int]) -> None:
    graph = built(2, {}, {}, {})
    graph.remove([2])
    with pytest.raises(Invalid):
        graph.add_edge(*edge)
    with pytest.raises(Invalid):
        graph.remove_edge(*edge)


def test_only_rows_that_were_can_be_removed() -> None:
    graph = Adjacency(2)
    with pytest.raises(Invalid):
        graph.remove([0])


@pytest.mark.parametrize("m", [0, LINKS_MAX + 1])
def test_a_number_of_links_out_of_range_is_refused(m: int) -> None:
    with pytest.raises(Invalid):
        Adjacency(m)
