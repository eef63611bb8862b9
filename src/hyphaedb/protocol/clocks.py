"""What a receiver has seen, exactly and in little space (paper, section 4.4).

Idea: each diff carries a *dot*, the site that published it and that site's counter, minted in
commit order without gaps. A receiver keeps, for every site, the highest counter it has seen (the
head) and the intervals below it that it has not (the gaps). Two receivers exchange exactly that,
and each asks for the ranges the other has and it has not.

Departure from the paper, which compares vector clocks between neighbours. Neighbours of one
database cannot diverge, so clocks stand between sites only. And a plain vector clock says
"everything up to n", which is false as soon as diffs arrive out of order or a pull is cut short;
heads with gaps stay true. Clocks are values: every operation gives a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from hyphaedb.errors import Invalid, LimitReached

#: Gaps kept for a site. A pull works through ranges in order and leaves one gap at most, so this
#: many means that somebody sends without being asked; it is refused before it eats memory.
GAPS_MAX = 1024

#: Sites a clock knows. A federation has dozens; a stranger cannot grow a clock without bound.
SITES_MAX = 1024

#: Counters fit the database's bigint.
COUNTER_MAX = 2**63 - 1

#: First and last counter of an interval, both included.
Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Dot:
    """One published diff: its site and that site's counter, 1 or more."""

    site: str
    counter: int

    def __post_init__(self) -> None:
        if not self.site or not 1 <= self.counter <= COUNTER_MAX:
            raise Invalid(
                f"The dot ({self.site!r}, {self.counter}) is not valid.",
                "Give a site and a counter of 1 or more.",
            )


@dataclass(frozen=True, slots=True)
class Span:
    """A run of a site's diffs, ``first`` to ``last``, both included: what to ask for."""

    site: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Extent:
    """One site's diffs: everything up to ``head`` except ``gaps``, ascending and never touching."""

    head: int
    gaps: tuple[Interval, ...] = ()

    def __post_init__(self) -> None:
        floor = 0
        for first, last in self.gaps:
            if not floor < first <= last < self.head:
                raise Invalid(
                    f"The gap {first}..{last} below head {self.head} is out of order.",
                    "Give gaps ascending, apart from each other and below the head.",
                )
            # The next gap starts at least two on, or the two would be one.
            floor = last + 1
        if not 1 <= self.head <= COUNTER_MAX:
            raise Invalid(f"The head {self.head} is not valid.", "Give a head of 1 or more.")
        if len(self.gaps) > GAPS_MAX:
            raise LimitReached(
                f"A site's diffs would leave more than {GAPS_MAX} gaps.",
                "Pull the missing ranges first, lowest first.",
            )

    def intervals(self) -> Iterator[Interval]:
        """What was seen, as intervals in ascending order."""
        begin = 1
        for first, last in self.gaps:
            if begin < first:
                yield begin, first - 1
            begin = last + 1
        yield begin, self.head

    def __contains__(self, counter: int) -> bool:
        return 1 <= counter <= self.head and not any(a <= counter <= b for a, b in self.gaps)


@dataclass(frozen=True, slots=True)
class Clock:
    """What has been seen of every site. ``Clock()`` has seen nothing."""

    sites: Mapping[str, Extent] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if len(self.sites) > SITES_MAX:
            raise LimitReached(
                f"A clock would know more than {SITES_MAX} sites.",
                "Retire sites that no longer publish.",
            )
        # A copy behind a read-only view: a clock handed out never changes.
        object.__setattr__(self, "sites", MappingProxyType(dict(self.sites)))

    def contains(self, dot: Dot) -> bool:
        """Whether this diff was seen."""
        seen = self.sites.get(dot.site)
        return seen is not None and dot.counter in seen

    def add(self, dot: Dot) -> Clock:
        """The clock that has seen this diff too; the same value if it had already.

        Raises LimitReached if that would leave more than GAPS_MAX gaps or SITES_MAX sites.
        """
        seen = self.sites.get(dot.site)
        if seen is not None and dot.counter == seen.head + 1:
            return self._with(dot.site, Extent(dot.counter, seen.gaps))
        have = () if seen is None else seen.intervals()
        return self._with(dot.site, _seen((*have, (dot.counter, dot.counter))))

    def merge(self, other: Clock) -> Clock:
        """The clock that has seen what either has. Order and repetition do not matter."""
        merged = dict(self.sites)
        for site, theirs in other.sites.items():
            ours = merged.get(site)
            merged[site] = (
                theirs if ours is None else _seen((*ours.intervals(), *theirs.intervals()))
            )
        return Clock(merged)

    def missing(self, other: Clock) -> tuple[Span, ...]:
        """What ``other`` has seen and this clock has not, by site and ascending.

        Empty exactly when this clock has seen everything the other has.
        """
        spans = []
        for site in sorted(other.sites):
            ours = self.sites.get(site)
            have = () if ours is None else tuple(ours.intervals())
            for first, last in _without(other.sites[site].intervals(), have):
                spans.append(Span(site, first, last))
        return tuple(spans)

    def _with(self, site: str, seen: Extent) -> Clock:
        """This clock with one site's record replaced."""
        return Clock({**self.sites, site: seen})


def _seen(intervals: Iterable[Interval]) -> Extent:
    """The record of intervals in any order, which may touch and overlap."""
    gaps: list[Interval] = []
    head = 0
    for first, last in sorted(intervals):
        if first > head + 1:
            gaps.append((head + 1, first - 1))
        head = max(head, last)
    return Extent(head, tuple(gaps))


def _without(wanted: Iterable[Interval], have: Iterable[Interval]) -> Iterator[Interval]:
    """The parts of the wanted intervals that no interval of ``have`` covers; both ascending."""
    held = list(have)
    at = 0
    for first, last in wanted:
        begin = first
        while at < len(held) and held[at][1] < begin:
            at += 1
        cover = at
        while begin <= last:
            if cover == len(held) or held[cover][0] > last:
                yield begin, last
                break
            if held[cover][0] > begin:
                yield begin, held[cover][0] - 1
            begin = held[cover][1] + 1
            cover += 1
