"""Heads with gaps say exactly what was seen, held against plain sets of dots."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyphaedb.errors import Invalid, LimitReached
from hyphaedb.protocol.clocks import GAPS_MAX, SITES_MAX, Clock, Dot, Extent, Span

Dots = set[tuple[str, int]]

DOTS = st.sets(st.tuples(st.sampled_from("ab"), st.integers(1, 14)), max_size=20)


def clock_of(dots: Dots) -> Clock:
    clock = Clock()
    for site, counter in sorted(dots, key=lambda dot: (5 * dot[1] % 16, dot[0])):
        clock = clock.add(Dot(site, counter))
    return clock


def dots_of(spans: tuple[Span, ...]) -> list[tuple[str, int]]:
    return [(span.site, n) for span in spans for n in range(span.first, span.last + 1)]


@given(DOTS)
def test_it_contains_what_was_added_and_nothing_else(dots: Dots) -> None:
    clock = clock_of(dots)
    for site in "abc":
        for counter in range(1, 17):
            assert clock.contains(Dot(site, counter)) == ((site, counter) in dots)


@given(DOTS, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(dots: Dots, shuffler: object) -> None:
    order = sorted(dots) * 2
    shuffler.shuffle(order)  # type: ignore[attr-defined]
    clock = Clock()
    for site, counter in order:
        clock = clock.add(Dot(site, counter))
    assert clock == clock_of(dots)


@given(DOTS, DOTS)
def test_merging_sees_what_either_saw(one: Dots, other: Dots) -> None:
    merged = clock_of(one).merge(clock_of(other))
    assert merged == clock_of(one | other)
    assert merged == clock_of(other).merge(clock_of(one))


@given(DOTS, DOTS)
def test_missing_is_exactly_what_the_other_has_more(one: Dots, other: Dots) -> None:
    spans = clock_of(one).missing(clock_of(other))
    assert dots_of(spans) == sorted(other - one)


@given(DOTS, DOTS)
def test_missing_ranges_are_as_few_as_possible(one: Dots, other: Dots) -> None:
    """No two that could be asked for as one."""
    spans = clock_of(one).missing(clock_of(other))
    for before, after in pairwise(spans):
        assert before.site != after.site or before.last + 1 < after.first


@given(DOTS, DOTS)
def test_after_pulling_what_is_missing_nothing_is(one: Dots, other: Dots) -> None:
    clock = clock_of(one)
    for site, counter in dots_of(clock.missing(clock_of(other))):
        clock = clock.add(Dot(site, counter))
    assert clock == clock_of(one).merge(clock_of(other))
    assert clock.missing(clock_of(other)) == ()


def test_a_clock_handed_out_never_changes() -> None:
    clock = clock_of({("a", 1)})
    clock.add(Dot("a", 2))
    assert clock == clock_of({("a", 1)})
    with pytest.raises(TypeError):
        clock.sites["b"] = Extent(1)  # type: ignore[index]


def test_a_diff_that_closes_a_gap_leaves_only_the_head() -> None:
    clock = clock_of({("a", 1), ("a", 2), ("a", 4)})
    assert clock.sites["a"] == Extent(4, ((3, 3),))
    assert clock.add(Dot("a", 3)).sites["a"] == Extent(4)


def test_a_long_history_without_gaps_stays_one_number() -> None:
    clock = Clock({"a": Extent(10**12)})
    assert clock.add(Dot("a", 10**12 + 1)).sites["a"] == Extent(10**12 + 1)
    assert Clock().missing(clock) == (Span("a", 1, 10**12),)


def test_gaps_without_bound_are_refused_before_they_eat_memory() -> None:
    clock = Clock({"a": Extent(2 * GAPS_MAX, tuple((n, n) for n in range(1, 2 * GAPS_MAX, 2)))})
    with pytest.raises(LimitReached):
        clock.add(Dot("a", 2 * GAPS_MAX + 2))
    with pytest.raises(LimitReached):
        clock.merge(Clock({"a": Extent(10**6, ((1, 10**6 - 1),))}))
    assert clock.add(Dot("a", 1)).contains(Dot("a", 1))


def test_sites_without_bound_are_refused() -> None:
    clock = Clock({f"s{n}": Extent(1) for n in range(SITES_MAX)})
    with pytest.raises(LimitReached):
        clock.add(Dot("one more", 1))


@pytest.mark.parametrize(
    ("head", "gaps"),
    [
        (0, ()),
        (2**63, ()),
        (5, ((5, 5),)),
        (5, ((0, 1),)),
        (5, ((3, 2),)),
        (9, ((4, 5), (2, 2))),
        (9, ((2, 3), (4, 5))),
        (9, ((2, 4), (3, 5))),
    ],
)
def test_a_record_out_of_order_is_refused(head: int, gaps: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(Invalid):
        Extent(head, gaps)


@pytest.mark.parametrize(("site", "counter"), [("", 1), ("a", 0), ("a", -1), ("a", 2**63)])
def test_a_dot_that_nobody_can_have_minted_is_refused(site: str, counter: int) -> None:
    with pytest.raises(Invalid):
        Dot(site, counter)
