"""Agents and beacons hang on cells: reached by the cheapest of them, relaying nothing."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hyphaedb.protocol.geometry import MICRO
from hyphaedb.protocol.wave import Arrivals, WaveLimits, leaves
from tests import oracle
from tests.protocol.graphs import COSTS, ENERGIES, drawn_links, walked

Links = dict[int, list[tuple[int, int]]]


def rows(*values: int) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)


def as_tuples(found: Arrivals) -> list[tuple[int, int, int, int]]:
    columns = (found.leaves, found.costs, found.hops, found.cells)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_leaf_is_one_unit_from_its_cell_and_takes_the_cheapest_way() -> None:
    found = leaves(
        rows(0, 1),
        rows(0, 2 * MICRO),
        rows(0, 1),
        rows(0, 1, 3),
        rows(7, 7, 5),
        8,
        9 * MICRO,
    )
    assert as_tuples(found) == [(7, MICRO, 1, 0), (5, 3 * MICRO, 2, 1)]


def test_equals_go_to_the_way_with_fewer_hops_and_then_to_the_lower_cell() -> None:
    found = leaves(
        rows(2, 1, 0),
        rows(MICRO, MICRO, MICRO),
        rows(1, 1, 3),
        rows(0, 1, 2, 3),
        rows(0, 0, 0),
        1,
        9 * MICRO,
    )
    assert as_tuples(found) == [(0, 2 * MICRO, 2, 1)]


def test_a_leaf_needs_energy_strictly_above_zero_and_a_hop_to_spare() -> None:
    offsets, attached = rows(0, 1), rows(0)
    cell = (rows(0), rows(MICRO), rows(2))
    assert as_tuples(leaves(*cell, offsets, attached, 1, 2 * MICRO)) == []
    assert as_tuples(leaves(*cell, offsets, attached, 1, 2 * MICRO + 1, hops_max=3)) == []
    assert as_tuples(leaves(*cell, offsets, attached, 1, 2 * MICRO + 1, hops_max=4)) == [
        (0, 2 * MICRO, 3, 0)
    ]


def test_a_wave_that_reached_nothing_reaches_no_leaf() -> None:
    nothing = rows()
    assert as_tuples(leaves(nothing, nothing, nothing, rows(0, 1), rows(0), 1, MICRO)) == []


@given(
    drawn_links(),
    ENERGIES,
    st.none() | st.integers(1, 5),
    st.sets(st.integers(1, 9)),
    st.lists(st.lists(st.tuples(st.integers(0, 4), COSTS), max_size=3), min_size=10, max_size=10),
)
def test_leaves_are_reached_as_if_they_were_cells_that_never_relay(
    links: Links,
    energy: int,
    hops_max: int | None,
    deaf: set[int],
    attached: list[list[tuple[int, int]]],
) -> None:
    """With and without a binding h_max, against a graph that has the leaves as nodes."""
    count = len(links)
    whole = {
        row: ways + [(count + leaf, cost) for leaf, cost in attached[row]]
        for row, ways in links.items()
    } | {count + leaf: [] for leaf in range(5)}
    expected = oracle.by_hop_count(
        whole, 0, energy, hops_max or energy // MICRO + 2, lambda row: row not in deaf
    )

    wave = walked(
        links, energy, relays=lambda row: row not in deaf, limits=WaveLimits(hops_max=hops_max)
    )
    cells, costs, hops = wave.labels()
    relaying = ~np.isin(cells, sorted(deaf))
    flat = [pair for row in range(count) for pair in attached[row]]
    found = leaves(
        cells[relaying],
        costs[relaying],
        hops[relaying],
        np.cumsum([0, *(len(attached[row]) for row in range(count))]),
        rows(*(leaf for leaf, _ in flat)),
        5,
        energy,
        link_costs=rows(*(cost for _, cost in flat)),
        hops_max=hops_max,
    )
    reached = {count + leaf: (cost, hop) for leaf, cost, hop, _ in as_tuples(found)}
    assert reached == {row: way for row, way in expected.items() if row >= count}
