"""A wave delivers exactly what Algorithm 1 does (invariants I1 to I4, I6, I9, I10)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO
from hyphaedb.protocol.energy import COST_MAX_MICRO, ENERGY_MAX_MICRO
from hyphaedb.protocol.wave import NO_PARENT, Wave, WaveLimits
from tests import oracle
from tests.protocol.graphs import (
    COSTS,
    ENERGIES,
    OPEN,
    drawn_links,
    random_links,
    records,
    run,
    walked,
)

Links = dict[int, list[tuple[int, int]]]

#: o, a, v, w of the counter-example: first-arrival waves lose w when they have more energy.
DETOUR: Links = {
    0: [(2, 9 * MICRO), (1, MICRO)],
    1: [(2, MICRO)],
    2: [(3, 3 * MICRO)],
    3: [],
}


@given(drawn_links(), ENERGIES, st.sets(st.integers(0, 9)))
def test_it_reaches_what_the_printed_algorithm_reaches(
    links: Links, energy: int, deaf: set[int]
) -> None:
    """I1. The paper's gate refuses receiver and relay in one; here the caller filters receivers."""

    def passes(row: int) -> bool:
        return row not in deaf

    settled = set(walked(links, energy, relays=passes).settled.tolist())
    never_binds = energy // MICRO + 2
    printed = oracle.algorithm_one(links, 0, energy, never_binds, passes)
    assert {row for row in settled if row == 0 or passes(row)} == printed


@given(drawn_links(30), ENERGIES, st.sets(st.integers(0, 29)))
def test_order_cost_hops_and_parents_are_those_of_dijkstra(
    links: Links, energy: int, deaf: set[int]
) -> None:
    wave = walked(links, energy, relays=lambda row: row not in deaf)
    expected = oracle.cheapest_first(links, 0, energy, lambda row: row not in deaf)
    assert records(wave) == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_large_wave_equals_dijkstra(seed: int) -> None:
    links = random_links(2_000, 8, seed)
    energy = (6 + 3 * seed) * MICRO + 12_345
    assert records(walked(links, energy)) == oracle.cheapest_first(links, 0, energy)


@pytest.mark.parametrize("energy", [6 * MICRO, 10 * MICRO])
def test_more_energy_never_loses_a_cell_on_a_detour(energy: int) -> None:
    assert sorted(walked(DETOUR, energy).settled.tolist()) == [0, 1, 2, 3]


def test_a_star_shows_that_energy_bounds_depth_and_not_the_number_of_cells() -> None:
    """Proposition 2 would allow E0 * mean omega = 2 cells; the printed algorithm reaches 11."""
    star: Links = {0: [(leaf, MICRO) for leaf in range(1, 11)], **{n: [] for n in range(1, 11)}}
    wave = walked(star, 2 * MICRO)
    assert len(wave.settled) == len(oracle.algorithm_one(star, 0, 2 * MICRO, 9)) == 11
    assert wave.hops.max() == 1


def test_arrival_needs_energy_strictly_above_zero() -> None:
    links: Links = {0: [(1, 2 * MICRO)], 1: []}
    assert walked(links, 2 * MICRO).settled.tolist() == [0]
    assert walked(links, 2 * MICRO + 1).settled.tolist() == [0, 1]


def test_without_energy_not_even_the_origin_is_reached() -> None:
    wave = walked({0: [(1, MICRO)], 1: []}, 0)
    assert wave.done
    assert wave.settled.size == wave.costs.size == wave.parents.size == 0


@given(drawn_links(), ENERGIES)
def test_the_same_question_has_the_same_answer(links: Links, energy: int) -> None:
    """I2."""
    assert records(walked(links, energy)) == records(walked(links, energy))


@given(drawn_links(), ENERGIES, st.randoms(use_true_random=False))
def test_the_order_in_which_links_are_told_does_not_matter(
    links: Links, energy: int, shuffler: object
) -> None:
    """I3, adjacency order."""
    shuffled = {row: list(ways) for row, ways in links.items()}
    for ways in shuffled.values():
        shuffler.shuffle(ways)  # type: ignore[attr-defined]
    assert records(walked(shuffled, energy)) == records(walked(links, energy))


@given(drawn_links(), ENERGIES, st.data())
def test_renaming_the_rows_renames_the_answer(
    links: Links, energy: int, data: st.DataObject
) -> None:
    """I3, storage order: cost and hops of every cell stay. Only ties between parents may move."""
    names = data.draw(st.permutations(sorted(links)))
    renamed = {names[v]: [(names[u], cost) for u, cost in ways] for v, ways in links.items()}
    before = {(names[row], cost, hops) for row, cost, hops, _ in records(walked(links, energy))}
    moved = walked(renamed, energy, origin=names[0])
    assert {(row, cost, hops) for row, cost, hops, _ in records(moved)} == before


@given(drawn_links(), ENERGIES, ENERGIES)
def test_more_energy_adds_cells_at_the_end_and_changes_nothing_before(
    links: Links, one: int, other: int
) -> None:
    """I4: nested in E0, and a prefix."""
    less, more = sorted((one, other))
    shorter = records(walked(links, less))
    assert records(walked(links, more))[: len(shorter)] == shorter


@given(drawn_links(), ENERGIES, st.data(), COSTS)
def test_a_new_link_loses_nobody_and_makes_nothing_dearer(
    links: Links, energy: int, data: st.DataObject, cost: int
) -> None:
    """I4: adding an edge, or raising omega, which is adding a cheaper one."""
    source = data.draw(st.sampled_from(sorted(links)))
    target = data.draw(st.sampled_from(sorted(links)))
    before = {row: spent for row, spent, _, _ in records(walked(links, energy))}
    links[source] = [*links[source], (target, cost)]
    after = {row: spent for row, spent, _, _ in records(walked(links, energy))}
    assert all(row in after and after[row] <= spent for row, spent in before.items())


@given(drawn_links(), ENERGIES)
def test_every_arrival_is_paid_by_a_parent_that_came_before(links: Links, energy: int) -> None:
    """I6."""
    seen: dict[int, tuple[int, int]] = {}
    for row, cost, hops, parent in records(walked(links, energy)):
        assert energy - cost > 0
        if parent == NO_PARENT:
            assert (row, cost, hops) == (0, 0, 0)
        else:
            spent, hop = seen[parent]
            assert hops == hop + 1
            assert (row, cost - spent) in links[parent]
        seen[row] = (cost, hops)


@given(drawn_links(), ENERGIES, st.sets(st.integers(1, 9)))
def test_only_relaying_cells_are_parents_and_the_origin_always_is_one(
    links: Links, energy: int, deaf: set[int]
) -> None:
    """I9."""
    wave = walked(links, energy, relays=lambda row: row not in deaf)
    assert not deaf & set(wave.parents.tolist())


def test_a_cell_that_does_not_relay_still_receives() -> None:
    """Deliver and relay are two questions; only the second one is asked here."""
    chain: Links = {0: [(1, MICRO)], 1: [(2, MICRO)], 2: []}
    assert walked(chain, 9 * MICRO, relays=lambda row: row != 1).settled.tolist() == [0, 1]


@given(drawn_links(), ENERGIES, st.sets(st.integers(1, 9)))
def test_nobody_is_lost_at_the_edge(links: Links, energy: int, deaf: set[int]) -> None:
    """I10: no settled relay has an unsettled neighbour it could still pay for."""
    wave = walked(links, energy, relays=lambda row: row not in deaf)
    settled = set(wave.settled.tolist())
    for row, spent in zip(wave.settled.tolist(), wave.costs.tolist(), strict=True):
        if row not in deaf:
            assert all(u in settled or spent + cost >= energy for u, cost in links[row])


@given(drawn_links(), ENERGIES)
def test_every_settled_cell_is_shown_once_and_in_order(links: Links, energy: int) -> None:
    wave = Wave(0, energy, OPEN, len(links))
    assert run(wave, links) == wave.settled.tolist()


@given(drawn_links(), ENERGIES)
def test_asking_only_those_that_can_pay_changes_nothing(links: Links, energy: int) -> None:
    wave = Wave(0, energy, OPEN, len(links))
    while not wave.done:
        paying = np.flatnonzero(wave.frontier_pays)
        asked = [
            (position, target, cost)
            for position in paying.tolist()
            for target, cost in links[int(wave.frontier[position])]
        ]
        columns = np.array(asked, dtype=np.int32).reshape(-1, 3).T
        wave.advance(np.ones(len(wave.frontier), dtype=np.bool_), *columns)
    assert records(wave) == records(walked(links, energy))


@given(drawn_links(), ENERGIES)
def test_a_path_leads_from_the_origin_along_parents(links: Links, energy: int) -> None:
    wave = walked(links, energy)
    for row, cost, hops, _ in records(wave):
        path = wave.path(row)
        assert (path[0], path[-1], len(path)) == (0, row, hops + 1)
        steps = pairwise(path)
        assert sum(min(c for u, c in links[v] if u == to) for v, to in steps) == cost


def test_only_settled_cells_have_a_path() -> None:
    wave = walked({0: [(1, MICRO)], 1: [], 2: []}, 2 * MICRO)
    for row in (-1, 2, 3):
        with pytest.raises(Invalid):
            wave.path(row)


def test_a_link_of_the_largest_cost_is_never_crossed_not_even_at_the_largest_energy() -> None:
    """Two such costs add up to 27 bits: one more than a packed way has room for."""
    links: Links = {0: [(1, COST_MAX_MICRO - 1), (2, COST_MAX_MICRO)], 1: [(3, COST_MAX_MICRO)]}
    links |= {2: [], 3: []}
    assert walked(links, ENERGY_MAX_MICRO).settled.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("origin", "energy", "limits"),
    [
        (0, -1, OPEN),
        (0, ENERGY_MAX_MICRO + 1, OPEN),
        (3, MICRO, OPEN),
        (-1, MICRO, OPEN),
        (0, MICRO, WaveLimits(settled_max=0)),
        (0, MICRO, WaveLimits(hops_max=0)),
    ],
)
def test_a_wave_that_cannot_be_is_refused(origin: int, energy: int, limits: WaveLimits) -> None:
    with pytest.raises(Invalid):
        Wave(origin, energy, limits, 3)


def test_a_wave_that_is_over_takes_no_more_answers() -> None:
    wave = walked({0: []}, MICRO)
    nothing = np.empty(0, dtype=np.int32)
    with pytest.raises(Invalid):
        wave.advance(np.empty(0, dtype=np.bool_), nothing, nothing, nothing)
