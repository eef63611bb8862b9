"""Edges of few cells, held against a plain list."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.protocol.edge_pool import EdgePool

ROWS = 6
EDGE = st.tuples(st.integers(0, ROWS - 1), st.integers(0, ROWS - 1), st.integers(1, 3))


@given(st.lists(st.tuples(st.booleans(), EDGE), max_size=40))
def test_it_is_a_multiset_by_source(steps: list[tuple[bool, tuple[int, int, int]]]) -> None:
    pool, model = EdgePool(ROWS), list[tuple[int, int, int]]()
    for adds, edge in steps:
        if adds:
            pool.add(*edge)
            model.append(edge)
        else:
            assert pool.discard(*edge) == (edge in model)
            if edge in model:
                model.remove(edge)
    assert sorted(map(tuple, pool.edges().tolist())) == sorted(model)
    asked = np.array([4, 1, 4, 0])
    found = zip(*(column.tolist() for column in pool.gather(asked)), strict=True)
    expected = [(at, t, c) for at, row in enumerate(asked) for s, t, c in model if s == row]
    assert sorted(found) == sorted(expected)


def test_it_grows_past_its_first_places_and_its_first_rows() -> None:
    pool = EdgePool(1)
    pool.grow(500)
    for n in range(1_000):
        pool.add(n % 500, n, 7)
    assert len(pool.edges()) == 1_000
    assert sorted(pool.gather(np.array([499]))[1].tolist()) == [499, 999]


def test_edges_with_a_chosen_end_are_found_from_both_ends() -> None:
    pool = EdgePool(4)
    for edge in [(0, 1, 5), (1, 2, 5), (2, 3, 5)]:
        pool.add(*edge)
    chosen = np.array([False, True, False, False])
    assert sorted(map(tuple, pool.touching(chosen).tolist())) == [(0, 1, 5), (1, 2, 5)]
