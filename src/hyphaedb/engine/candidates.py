"""The candidate lists of a recall, gathered from the store and fused by protocol/fusion.py.

Vector and full text propose a hundred cells each; the best of both bring their neighbours, in
their session and over their links; then every candidate's cosine is computed exactly, and what
fusion must know of it is read in one statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from hyphaedb.engine.context import Context
from hyphaedb.model import AgentId, CellId, RecallMode
from hyphaedb.protocol import decay, fusion
from hyphaedb.protocol.calibration import Baseline
from hyphaedb.protocol.fusion import Candidate, Neighbour, TermCount
from hyphaedb.store import facts, lexical, search
from hyphaedb.store.pool import Tx
from hyphaedb.store.search import Clauses, Near
from hyphaedb.store.vectors import Vector

#: Cells each list proposes; deeper ones never made the first twenty.
DEPTH = 100
#: How many of the best of each list bring neighbours, and how many neighbours over links.
_SESSION_SEEDS, _SESSION_WIDTH = 40, 2
_LINK_SEEDS, _LINK_WIDTH = 10, 4
_DAY_S = 86_400.0


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
class Found:
    """One cell of the answer with its score and the parts that made it."""

    cell_id: CellId
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The best cells, best first, and how many candidates the floor withheld."""

    best: tuple[Found, ...]
    below_floor: int


async def gather(
    tx: Tx, context: Context, query: Query, yardstick: Baseline, clauses: Clauses, now: datetime
) -> Gathered:
    """Ask the lists that the query's mode names, and fuse them."""
    near = await _nearest(tx, context, query, clauses) if query.mode is not RecallMode.TEXT else []
    if query.mode is RecallMode.VECTOR:
        known = {n.cell_id: Candidate(i, n.cosine) for i, n in enumerate(near)}
    else:
        coverage = await _covered(tx, context, query, clauses)
        known = await _candidates(tx, context, query, near, coverage, clauses, now)
    fused = fusion.fuse(
        list(known.values()),
        yardstick,
        query.k,
        weights=replace(fusion.SHIPPED, floor=query.floor),
        mode=query.mode,
    )
    ids = {candidate.cell: cell_id for cell_id, candidate in known.items()}
    best = tuple(
        Found(
            ids[r.cell],
            r.score,
            {
                "vector": r.vector,
                "lexical": r.lexical,
                "addressed": r.addressed,
                "lent": r.lent,
                "standing": r.standing,
            },
        )
        for r in fused.ranked
    )
    return Gathered(best, fused.below_floor)


async def _nearest(tx: Tx, context: Context, query: Query, clauses: Clauses) -> list[Near]:
    """The vector list: exact where a filter leaves few cells, or where the index falls short."""
    mesh_id, depth = context.info.mesh_id, max(query.k, DEPTH)
    if query.mode is RecallMode.VECTOR:
        depth = query.k
    if clauses.narrow:
        passing = await search.matching(tx, mesh_id, 0, clauses)
        if len(passing) <= search.EXACT_MAX:
            return await search.exact(tx, mesh_id, passing, query.vector, depth)
    near = await search.nearest(tx, mesh_id, 0, query.vector, depth, clauses)
    if len(near) < query.k:
        # A small mesh beside large ones: the shared index gives up before it has met enough.
        near = await search.scan(tx, mesh_id, 0, query.vector, depth, clauses)
    return near


async def _covered(tx: Tx, context: Context, query: Query, clauses: Clauses) -> dict[CellId, float]:
    """The full-text list: coverage by cell, best first."""
    mesh_id = context.info.mesh_id
    words = await lexical.count_words(tx, mesh_id, query.text)
    counts = [TermCount(w.lexeme, w.documents) for w in words.words]
    terms = fusion.choose_terms(counts, words.documents)
    found = await lexical.search_words(
        tx,
        mesh_id,
        0,
        clauses,
        DEPTH,
        lexemes=terms.lexemes,
        weights=terms.weights,
        any_of=terms.any_of,
        all_of=terms.all_of,
        length=words.length,
        length_share=fusion.LENGTH_SHARE,
    )
    return {c.cell_id: c.coverage for c in found}


async def _candidates(
    tx: Tx,
    context: Context,
    query: Query,
    near: Sequence[Near],
    coverage: Mapping[CellId, float],
    clauses: Clauses,
    now: datetime,
) -> dict[CellId, Candidate]:
    """Both lists and their neighbours, with facts and with who is whose neighbour."""
    mesh_id = context.info.mesh_id
    listed = [n.cell_id for n in near]
    seeds = [*listed[:_SESSION_SEEDS], *list(coverage)[:_SESSION_SEEDS]]
    beside = await search.session_neighbours(
        tx, mesh_id, list(dict.fromkeys(seeds)), _SESSION_WIDTH
    )
    linked = await search.link_neighbours(
        tx, mesh_id, 0, list(dict.fromkeys(listed[:_LINK_SEEDS])), _LINK_WIDTH
    )
    ids = dict.fromkeys(
        [*listed, *coverage, *(n.neighbour_id for n in beside), *(n.neighbour_id for n in linked)]
    )
    found = await facts.candidate_facts(tx, mesh_id, list(ids), query.vector, clauses)
    places = {f.cell_id: i for i, f in enumerate(found)}
    closeness: dict[CellId, dict[int, float]] = {}
    for n in beside:
        _join(closeness, places, n.cell_id, n.neighbour_id, _beside(n.distance))
    for n in linked:
        # A hop costs 1/cosine in micro-units, so the cosine comes back from the cost.
        share = fusion.LINK_CLOSENESS * 1_000_000 / n.distance
        _join(closeness, places, n.cell_id, n.neighbour_id, share)
    days = [max(0.0, (now - f.used_at).total_seconds() / _DAY_S) for f in found]
    saliences = decay.saliences_at(np.array([f.salience for f in found]), np.array(days)).tolist()
    return {
        f.cell_id: Candidate(
            cell=place,
            cosine=f.cosine,
            coverage=coverage.get(f.cell_id, 0.0),
            addressed=f.author in query.about,
            neighbours=tuple(
                Neighbour(*pair) for pair in sorted(closeness.get(f.cell_id, {}).items())
            ),
            salience=salience,
            closed=not f.stands,
        )
        for place, (f, salience) in enumerate(zip(found, saliences, strict=True))
    }


def _beside(steps: int) -> float:
    return fusion.SESSION_CLOSENESS[min(abs(steps), len(fusion.SESSION_CLOSENESS)) - 1]


def _join(
    closeness: dict[CellId, dict[int, float]],
    places: Mapping[CellId, int],
    one: CellId,
    other: CellId,
    share: float,
) -> None:
    """Both cells are neighbours of each other; the closer of two ways counts."""
    if one in places and other in places:
        for here, there in ((one, other), (other, one)):
            known = closeness.setdefault(here, {})
            known[places[there]] = max(share, known.get(places[there], 0.0))
