"""The candidate lists of a recall, gathered from the store and fused by protocol/fusion.py.

Vector and full text propose thirty cells each; the best of both bring their neighbours, in
their session and over their links. Each list comes in one statement, neighbours and facts with
it, and every candidate's cosine is exact whichever way it was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from hyphaedb.engine.context import Context
from hyphaedb.model import MICRO, AgentId, Cell, CellId, Hit, RecallMode
from hyphaedb.protocol import decay, fusion
from hyphaedb.protocol.calibration import Baseline
from hyphaedb.protocol.fusion import Candidate, Neighbour, Ranked, TermCount
from hyphaedb.store import cells, facts, lexical, search
from hyphaedb.store.facts import Fact, Reach, Way
from hyphaedb.store.pool import Tx
from hyphaedb.store.search import Clauses, Listing
from hyphaedb.store.vectors import Vector

#: Cells each list proposes. On conversations 30, 50 and 100 found the same (recall@10 0.77, 0.76,
#: 0.76), and what is proposed has to be paid for.
DEPTH = 30
#: Both lists bring what was said around their first cells; only closeness brings links.
_AROUND_NEAR = Reach(session_seeds=12, session_width=2, link_seeds=5, link_width=4)
_AROUND_WORDS = Reach(session_seeds=12, session_width=2, link_seeds=0, link_width=1)


@dataclass(frozen=True, slots=True)
class Query:
    """A question made ready: its text, the vector of its topic, the agents it is about."""

    text: str
    vector: Vector
    about: frozenset[AgentId]
    mode: RecallMode
    floor: float
    k: int


@dataclass(frozen=True, slots=True)
class Gathered:
    """The best cells, best first, and how many candidates the floor withheld."""

    best: tuple[Hit, ...]
    below_floor: int


async def gather(
    tx: Tx, context: Context, query: Query, yardstick: Baseline, clauses: Clauses, now: datetime
) -> Gathered:
    """Ask the lists that the query's mode names, and fuse them."""
    if query.mode is RecallMode.VECTOR:
        near = await _near_cells(tx, context, query, clauses)
        fused = _fused([Candidate(i, x) for i, (_, x) in enumerate(near)], query, yardstick)
        return Gathered(tuple(_hit(near[r.cell][0], r) for r in fused.ranked), fused.below_floor)
    found: list[Fact] = []
    if query.mode is RecallMode.FULL:
        found = await _near_facts(tx, context, query, clauses, now)
    words = await _words(tx, context, query, clauses)
    covering = await facts.candidates(tx, words, 0, query.vector, _AROUND_WORDS, now)
    pool = _Pool(query.about)
    pool.take(found)
    pool.take(covering, covers=True)
    fused = _fused(pool.candidates(), query, yardstick)
    best = {pool.ids[r.cell]: r for r in fused.ranked}
    known = await cells.cells(tx, context.info.mesh_id, list(best))
    return Gathered(tuple(_hit(c, best[c.cell_id]) for c in known), fused.below_floor)


def _fused(candidates: list[Candidate], query: Query, yardstick: Baseline) -> fusion.Fused:
    weights = replace(fusion.SHIPPED, floor=query.floor)
    return fusion.fuse(candidates, yardstick, query.k, weights=weights, mode=query.mode)


def _hit(cell: Cell, ranked: Ranked) -> Hit:
    parts: Mapping[str, float] = {
        "vector": ranked.vector,
        "lexical": ranked.lexical,
        "addressed": ranked.addressed,
        "lent": ranked.lent,
        "merit": ranked.merit,
    }
    return Hit(cell, ranked.score, parts)


async def _listing(
    tx: Tx, context: Context, query: Query, clauses: Clauses, depth: int
) -> tuple[Listing | None, bool]:
    """The vector list, and whether it is exact, as it is where a filter leaves few cells."""
    mesh_id = context.info.mesh_id
    if clauses.narrow:
        passing = await search.matching(tx, mesh_id, 0, clauses)
        if len(passing) <= search.EXACT_MAX:
            return search.exact(mesh_id, 0, passing, query.vector, depth, clauses), True
    return search.nearest(mesh_id, 0, query.vector, depth, clauses, sure=query.k), False


async def _near_cells(
    tx: Tx, context: Context, query: Query, clauses: Clauses
) -> list[tuple[Cell, float]]:
    """The nearest cells themselves, with their cosines."""
    listing, is_exact = await _listing(tx, context, query, clauses, query.k)
    near = await facts.found_cells(tx, listing)
    if len(near) < query.k and not is_exact:
        # A small mesh beside large ones: the shared index gives up before it has met enough.
        listing = search.scan(context.info.mesh_id, 0, query.vector, query.k, clauses)
        near = await facts.found_cells(tx, listing)
    return near


async def _near_facts(
    tx: Tx, context: Context, query: Query, clauses: Clauses, now: datetime
) -> list[Fact]:
    """The nearest cells and those around them."""
    depth = max(query.k, DEPTH)
    listing, is_exact = await _listing(tx, context, query, clauses, depth)
    found = await facts.candidates(tx, listing, 0, query.vector, _AROUND_NEAR, now)
    if not is_exact and sum(f.way is Way.LIST for f in found[: query.k]) < query.k:
        listing = search.scan(context.info.mesh_id, 0, query.vector, depth, clauses)
        found = await facts.candidates(tx, listing, 0, query.vector, _AROUND_NEAR, now)
    return found


async def _words(tx: Tx, context: Context, query: Query, clauses: Clauses) -> Listing | None:
    """The full-text list."""
    mesh_id = context.info.mesh_id
    words = await lexical.count_words(tx, mesh_id, query.text)
    counts = [TermCount(w.lexeme, w.documents) for w in words.words]
    terms = fusion.choose_terms(counts, words.documents)
    return lexical.search_words(
        mesh_id,
        0,
        clauses,
        max(query.k, DEPTH),
        lexemes=terms.lexemes,
        weights=terms.weights,
        any_of=terms.any_of,
        all_of=terms.all_of,
        length=words.length,
        length_share=fusion.LENGTH_SHARE,
    )


class _Pool:
    """Candidates of one recall by their place in it, and which of them lie beside each other."""

    def __init__(self, about: frozenset[AgentId]) -> None:
        self._about = about
        self.ids: list[CellId] = []
        self._places: dict[CellId, int] = {}
        self._facts: list[Fact] = []
        self._coverage: dict[int, float] = {}
        self._beside: dict[tuple[int, int], float] = {}

    def take(self, found: list[Fact], *, covers: bool = False) -> None:
        """A list with its neighbours; ``covers`` says that its worth is a coverage."""
        listed: dict[int, int] = {}
        for fact in found:
            place = self._places.setdefault(fact.cell_id, len(self.ids))
            if place == len(self.ids):
                self.ids.append(fact.cell_id)
                self._facts.append(fact)
            if fact.way is Way.LIST:
                listed[fact.place] = place
                if covers:
                    self._coverage[place] = fact.worth
            elif (seed := listed.get(fact.place, place)) != place:
                self._join(min(seed, place), max(seed, place), _closeness(fact))

    def _join(self, one: int, other: int, share: float) -> None:
        """Both are neighbours of each other; the closer of two ways counts."""
        pair = (one, other)
        self._beside[pair] = max(share, self._beside.get(pair, 0.0))

    def candidates(self) -> list[Candidate]:
        """What fusion is told, in the order of the places."""
        neighbours: list[list[Neighbour]] = [[] for _ in self.ids]
        for (one, other), share in sorted(self._beside.items()):
            neighbours[one].append(Neighbour(other, share))
            neighbours[other].append(Neighbour(one, share))
        idle = np.maximum(0.0, [f.idle_days for f in self._facts])
        saliences = decay.saliences_at(np.array([f.salience for f in self._facts]), idle).tolist()
        return [
            Candidate(
                cell=place,
                cosine=fact.cosine,
                coverage=self._coverage.get(place, 0.0),
                addressed=fact.author in self._about,
                neighbours=tuple(neighbours[place]),
                salience=salience,
                closed=not fact.stands,
            )
            for place, (fact, salience) in enumerate(zip(self._facts, saliences, strict=True))
        ]


def _closeness(fact: Fact) -> float:
    if fact.way is Way.SESSION:
        steps = min(abs(fact.distance), len(fusion.SESSION_CLOSENESS))
        return fusion.SESSION_CLOSENESS[steps - 1]
    # A hop costs 1/cosine in micro-units, so the cosine comes back from the cost.
    return fusion.LINK_CLOSENESS * MICRO / fact.distance
