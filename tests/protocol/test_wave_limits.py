"""The bounds of a wave: budget, rounds and h_max (invariants I4, I7 and I8)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.errors import Invalid
from hyphaedb.model import MICRO
from hyphaedb.protocol.wave import Wave, WaveLimits
from tests import oracle
from tests.protocol.graphs import ENERGIES, drawn_links, random_links, records, run, walked

Links = dict[int, list[tuple[int, int]]]

#: The cheap way to 2 takes three hops, the dear one a single hop; 3 lies one hop behind 2.
SHORTCUT: Links = {
    0: [(1, MICRO), (2, 5 * MICRO)],
    1: [(4, MICRO)],
    4: [(2, MICRO)],
    2: [(3, MICRO)],
    3: [],
}


@given(drawn_links(30), ENERGIES, st.integers(1, 30))
def test_a_budget_cuts_the_order_and_changes_nothing_before_the_cut(
    links: Links, energy: int, budget: int
) -> None:
    """I8, and I4 for budgets: the settled cells are the cheapest ones."""
    whole = walked(links, energy)
    cut = walked(links, energy, limits=WaveLimits(settled_max=budget))
    assert records(cut) == records(whole)[:budget]
    assert cut.truncated == (None if len(whole.settled) <= budget else "settled_max")


@given(drawn_links(30), ENERGIES, st.integers(1, 30))
def test_a_cut_wave_shows_what_it_settled_and_nothing_else(
    links: Links, energy: int, budget: int
) -> None:
    wave = Wave(0, energy, WaveLimits(settled_max=budget), len(links))
    assert run(wave, links) == wave.settled.tolist()


def test_a_cell_beyond_the_cut_has_no_path_though_a_link_led_to_it() -> None:
    links: Links = {0: [(1, MICRO), (2, MICRO)], 1: [], 2: []}
    wave = walked(links, 2 * MICRO, limits=WaveLimits(settled_max=2))
    assert wave.path(1) == [0, 1]
    with pytest.raises(Invalid):
        wave.path(2)


@given(drawn_links(30), ENERGIES)
def test_it_takes_no_more_rounds_than_the_energy_has_units(links: Links, energy: int) -> None:
    assert walked(links, energy).rounds <= -(-energy // MICRO)


@given(drawn_links(30), ENERGIES, st.sets(st.integers(0, 29)), st.none() | st.integers(1, 5))
def test_links_that_arrive_for_more_than_their_target_is_worth_change_nothing(
    links: Links, energy: int, deaf: set[int], hops_max: int | None
) -> None:
    limits = WaveLimits(hops_max=hops_max)
    told_all, told_little = (Wave(0, energy, limits, len(links)) for _ in range(2))
    shown = run(told_all, links, lambda row: row not in deaf)
    assert run(told_little, links, lambda row: row not in deaf, sparing=True) == shown
    assert records(told_little) == records(told_all)


@given(drawn_links(), ENERGIES)
def test_depth_stays_below_the_energy_times_the_largest_weight(links: Links, energy: int) -> None:
    """I7 without a limit: hops * cheapest link < E0."""
    cheapest = min((cost for ways in links.values() for _, cost in ways), default=MICRO)
    assert all(hops * cheapest < energy for _, _, hops, _ in records(walked(links, energy)))


@given(drawn_links(), ENERGIES, st.integers(1, 6), st.sets(st.integers(1, 9)))
def test_under_a_hop_limit_it_reaches_what_the_printed_algorithm_reaches(
    links: Links, energy: int, hops_max: int, deaf: set[int]
) -> None:
    """I1 where the limit binds: cheapest-first alone would lose cells here."""

    def passes(row: int) -> bool:
        return row not in deaf

    wave = walked(links, energy, relays=passes, limits=WaveLimits(hops_max=hops_max))
    printed = oracle.algorithm_one(links, 0, energy, hops_max, passes)
    assert {row for row in wave.settled.tolist() if row == 0 or passes(row)} == printed


@given(drawn_links(30), ENERGIES, st.integers(1, 6), st.sets(st.integers(1, 29)))
def test_under_a_hop_limit_costs_and_hops_are_the_least_there_are(
    links: Links, energy: int, hops_max: int, deaf: set[int]
) -> None:
    wave = walked(
        links, energy, relays=lambda row: row not in deaf, limits=WaveLimits(hops_max=hops_max)
    )
    found = {row: (cost, hops) for row, cost, hops, _ in records(wave)}
    expected = oracle.by_hop_count(links, 0, energy, hops_max, lambda row: row not in deaf)
    assert found == expected


@pytest.mark.parametrize("hops_max", [3, 5, 8])
def test_a_large_wave_under_a_hop_limit_equals_the_oracle(hops_max: int) -> None:
    links = random_links(2_000, 6, hops_max)
    wave = walked(links, 11 * MICRO, limits=WaveLimits(10**6, hops_max))
    found = {row: (cost, hops) for row, cost, hops, _ in records(wave)}
    assert found == oracle.by_hop_count(links, 0, 11 * MICRO, hops_max)


@given(drawn_links(), ENERGIES, st.integers(1, 6))
def test_the_hop_limit_is_tested_on_arrival(links: Links, energy: int, hops_max: int) -> None:
    """I7: h_max = 1 delivers at the origin alone."""
    wave = walked(links, energy, limits=WaveLimits(hops_max=hops_max))
    assert all(hops <= hops_max - 1 for hops in wave.hops.tolist())
    assert wave.rounds <= hops_max


@given(drawn_links(), ENERGIES, st.integers(1, 6))
def test_a_larger_hop_limit_loses_nobody(links: Links, energy: int, hops_max: int) -> None:
    """I4 for h_max."""
    fewer = walked(links, energy, limits=WaveLimits(hops_max=hops_max))
    more = walked(links, energy, limits=WaveLimits(hops_max=hops_max + 1))
    assert set(fewer.settled.tolist()) <= set(more.settled.tolist())


@given(drawn_links(30), ENERGIES)
def test_a_hop_limit_that_does_not_bind_changes_nothing(links: Links, energy: int) -> None:
    limit = WaveLimits(hops_max=max(1, -(-energy // MICRO)))
    assert records(walked(links, energy, limits=limit)) == records(walked(links, energy))


@given(drawn_links(30), ENERGIES, st.integers(1, 6), st.integers(1, 30))
def test_a_budget_cuts_the_cheapest_under_a_hop_limit_too(
    links: Links, energy: int, hops_max: int, budget: int
) -> None:
    whole = walked(links, energy, limits=WaveLimits(hops_max=hops_max))
    cut = walked(links, energy, limits=WaveLimits(settled_max=budget, hops_max=hops_max))
    assert records(cut) == records(whole)[:budget]
    assert cut.truncated == (None if len(whole.settled) <= budget else "settled_max")


def test_a_cheap_long_way_does_not_hide_a_dear_short_one() -> None:
    """With h_max = 3, cell 3 is reached over the shortcut though cell 2 has a cheaper way."""
    wave = walked(SHORTCUT, 9 * MICRO, limits=WaveLimits(hops_max=3))
    assert wave.path(3) == [0, 2, 3]
    assert sorted(wave.settled.tolist()) == [0, 1, 2, 3, 4]


def test_a_path_keeps_to_the_way_it_was_found_by_even_if_a_cell_on_it_was_improved() -> None:
    """With h_max = 4, cell 2 gets its cheap way at three hops; cell 3 came through the dear one."""
    wave = walked(SHORTCUT, 9 * MICRO, limits=WaveLimits(hops_max=4))
    assert wave.path(2) == [0, 1, 4, 2]
    assert wave.path(3) == [0, 2, 3]


@given(drawn_links(), ENERGIES, st.integers(1, 6))
def test_under_a_hop_limit_a_path_costs_what_its_end_says(
    links: Links, energy: int, hops_max: int
) -> None:
    wave = walked(links, energy, limits=WaveLimits(hops_max=hops_max))
    for row, cost, hops, _ in records(wave):
        path = wave.path(row)
        assert len(path) == hops + 1
        steps = pairwise(path)
        assert sum(min(c for u, c in links[v] if u == to) for v, to in steps) == cost
