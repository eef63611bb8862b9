"""From a question to one ranked list: what recall does with the lists it asked for.

The paper names the searches and not how their answers become one. The whole law, from the thirty
cells that each list proposes (`engine/candidates.py`):

1. *Address* (`addressing`). Names of agents in a question say whom it is about, not what. They
   are taken out of the text that is embedded, and cells those agents wrote get a bonus. Left in, a
   name draws the vector towards whatever calls that agent by name: the cells of everybody else.
2. *Vector part.* (cosine - mean) / (14 deviations) of the embedder's own yardstick, in [0, 1].
3. *Lexical part.* The share of the question's information that a cell carries, in [0, 1], times
   0.4: sum of idf * ts_rank over the lexemes, over the sum for a cell that has each once
   (`choose_terms`: eight known ones, read in 500 rows by the rarest). ts_rank of one lexeme
   saturates as BM25 does with k1 = 0.65.
4. own = vector + lexical + 0.25 if addressed.
5. *Lent part.* Knowledge is told in runs, and the telling cell often lacks the words of the
   question before it. A cell gets 0.4 times the best own score among its neighbours times their
   closeness: 1 and 0.7 for one and two places away in its session, half the cosine over a link.
   The first twelve of a list bring those of their session. The best and not the sum: three weak
   neighbours are no evidence.
6. score = (own + lent) * merit. Merit is a product of bounded factors, each 1 unless there
   is something to hold against the cell: salience, trust, recency, a closed validity. Nobody
   measures trust and recency takes nothing, so it is salience and validity that count so far.
7. *Floor.* evidence = (best vector + best lexical) / 1.4. Below 0.25 the honest answer is nothing.
   It is asked of the answer and not of each hit: cutting single hits at the same height lost
   recall, since a good hit often stands on what its neighbours say. But a list is not filled up:
   what scores less than half the first hit goes with the floor. In a shop of 30 cells that took
   140 hits for 15 questions down to 29; on conversations it cost 0.002 of recall@10.

Rank fusion, the usual way, forgets how much better the first of a list is than the second; in
every pack tried it lost to adding scores; it is a baseline of `evals/recall.py`.
Figures, and how flat the optimum is: docs/decisions/0005-recall-fusion.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid
from hyphaedb.model import RecallMode
from hyphaedb.protocol.calibration import Baseline

#: Deviations of the yardstick that make a full vector part. Only the ratio to the other weights
#: matters: with 10 or with 20 recall@10 changes by less than 0.01.
SPAN_DEVIATIONS: Final = 14.0

#: Rows a lexical search may read. Reading by the rarest lexemes and scoring with all of them, 1 %
#: of the cells found what reading every match found (0.73 against 0.74 known items).
ROWS_MAX: Final = 500

#: Known lexemes scored for a question; each costs a ts_rank a row. Titles have six.
TERMS_MAX: Final = 8

#: Lexemes scored beside them though no cell was counted with them: those of the newest cells.
STRANGE_MAX: Final = 4

#: How much of a cell's length counts against it. Cells are short: 0 to 0.3 do alike.
LENGTH_SHARE: Final = 0.25

#: ts_rank of a lexeme that occurs once, so that such a cell covers it whole: 6 / pi squared.
RANK_OF_ONE: Final = 0.6079271

#: Closeness of a cell one and two places away in a session, and of a linked cell by its cosine.
SESSION_CLOSENESS: Final = (1.0, 0.7)
LINK_CLOSENESS: Final = 0.5

# Where none is rare enough to be read alone, this many of the rarest are asked for together.
_TOGETHER_MAX: Final = 3


class TermCount(NamedTuple):
    """A lexeme of the question and the number of cells of the mesh it occurs in."""

    lexeme: str
    documents: int


@dataclass(frozen=True, slots=True)
class Terms:
    """A lexical search: rows with any of ``any_of`` or all of ``all_of`` are read, and scored by
    the sum of ``weights`` times ts_rank over ``lexemes``; over the length norm that is the
    coverage. Without lexemes there is nothing to search."""

    lexemes: tuple[str, ...]
    weights: tuple[float, ...]
    any_of: tuple[str, ...]
    all_of: tuple[str, ...]


def choose_terms(counts: Iterable[TermCount], documents: int, rows_max: int = ROWS_MAX) -> Terms:
    """Which lexemes to read by and what each is worth, from a mesh of ``documents`` cells.

    A lexeme that was never counted may stand in cells too new to be counted, so it is sought; if
    nobody used it, it is information no cell carries, and a question of strange words has little
    coverage however well the rest fits. Lexemes that are all too common to be read one by one are
    asked for together; that alone may exceed ``rows_max``, so the store cuts rows as well.
    """
    by_rarity = sorted(counts, key=lambda c: (c.documents, c.lexeme))
    known = [c for c in by_rarity if c.documents > 0]
    strange = by_rarity[: len(by_rarity) - len(known)]
    chosen = known[:TERMS_MAX]
    scored = strange[:STRANGE_MAX] + chosen
    if not scored:
        return Terms((), (), (), ())
    worth = [_information(c.documents, documents) for c in scored]
    # Where known lexemes are left out, as many of the strange ones are not held against a cell.
    share = len(chosen) / len(known) if known else 1.0
    whole = sum(_information(c.documents, documents) for c in chosen)
    whole += share * len(strange) * _information(0, documents)
    rare: list[str] = []
    rows = 0
    for c in chosen:
        rows += c.documents
        if rows > rows_max:
            break
        rare.append(c.lexeme)
    return Terms(
        lexemes=tuple(c.lexeme for c in scored),
        weights=tuple(w / (RANK_OF_ONE * whole) for w in worth),
        any_of=tuple(c.lexeme for c in strange[:STRANGE_MAX]) + tuple(rare),
        all_of=() if rare else tuple(c.lexeme for c in chosen[:_TOGETHER_MAX]),
    )


class Neighbour(NamedTuple):
    """A cell beside a candidate and how close it is, in [0, 1]."""

    cell: int
    closeness: float


class Candidate(NamedTuple):
    """A cell some list proposed.

    ``cosine`` is exact whichever list it came from. ``coverage`` is the lexical search's score, 0
    if it did not find the cell. ``addressed``: an agent the question names wrote it. The other
    fields, in [0, 1], hold nothing against the cell by default; ``closed``: it is no longer valid.
    """

    cell: int
    cosine: float
    coverage: float = 0.0
    addressed: bool = False
    neighbours: tuple[Neighbour, ...] = ()
    salience: float = 1.0
    trust: float = 1.0
    recency: float = 1.0
    closed: bool = False


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Weights beside a vector part of 1, and how much of a score each flaw may take away.

    The first four were chosen on data. Salience at 0.1 costs nothing where the answers are old,
    at 0.2 it does. Nothing is known of the asker's sense of time, so recency takes nothing.
    """

    lexical: float = 0.4
    addressed: float = 0.25
    lent: float = 0.4
    floor: float = 0.25
    beside: float = 0.5
    salience: float = 0.1
    trust: float = 0.3
    recency: float = 0.0
    closed: float = 0.5


SHIPPED: Final = FusionWeights()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in the answer. score = (vector + lexical + addressed + lent) * merit."""

    cell: int
    score: float
    vector: float
    lexical: float
    addressed: float
    lent: float
    merit: float


@dataclass(frozen=True, slots=True)
class Fused:
    """The answer, best first, equals by cell. ``evidence`` in [0, 1] is what the floor was held
    against; ``below_floor`` counts the candidates withheld because it was too little, or because
    they scored too little beside the first hit."""

    ranked: tuple[Ranked, ...]
    evidence: float
    below_floor: int


def fuse(
    candidates: Sequence[Candidate],
    yardstick: Baseline,
    limit: int,
    *,
    weights: FusionWeights = SHIPPED,
    mode: RecallMode = RecallMode.FULL,
) -> Fused:
    """The candidates as one list of at most ``limit``.

    ``yardstick`` is the floor of a calibration without cells of the mesh, so the same for every
    mesh of an embedder: a mesh about one subject must still know a foreign question. ``mode`` says
    which lists were asked; the other one's part is 0 and does not count against the floor. Raises
    Invalid for a cell that comes twice and for a score that is not finite.
    """
    if not candidates:
        return Fused((), 0.0, 0)
    cells, cosines, coverages, addressing, neighbours, saliences, trusts, recencies, closed = zip(
        *candidates, strict=True
    )
    vector, lexical = _topical(cosines, coverages, yardstick, weights, mode)
    at = {cell: i for i, cell in enumerate(cells)}
    if len(at) < len(candidates) or not np.isfinite(vector + lexical).all():
        raise Invalid(
            "A candidate comes twice or has a score that is not a number.",
            "Merge the lists by cell, and give every cell its exact cosine and coverage.",
        )
    full = (mode is not RecallMode.TEXT) + weights.lexical * (mode is not RecallMode.VECTOR)
    evidence = float(vector.max() + lexical.max()) / full if full > 0.0 else 0.0
    if evidence < weights.floor:
        return Fused((), evidence, len(candidates))
    addressed = weights.addressed * np.array(addressing, np.float64)
    own = vector + lexical + addressed
    lent = _lent(neighbours, at, own, weights.lent)
    merit = _merit(saliences, trusts, recencies, closed, weights)
    score = (own + lent) * merit
    order = np.lexsort((np.array(cells), -score))[:limit]
    found = len(order)
    if weights.floor > 0.0:
        order = order[score[order] >= weights.beside * score[order[0]]]
    ranked = tuple(
        Ranked(
            cell=cells[i],
            score=float(score[i]),
            vector=float(vector[i]),
            lexical=float(lexical[i]),
            addressed=float(addressed[i]),
            lent=float(lent[i]),
            merit=float(merit[i]),
        )
        for i in order.tolist()
    )
    return Fused(ranked, evidence, found - len(ranked))


def _topical(
    cosines: Sequence[float],
    coverages: Sequence[float],
    yardstick: Baseline,
    weights: FusionWeights,
    mode: RecallMode,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    vector, lexical = np.zeros(len(cosines)), np.zeros(len(coverages))
    if mode is not RecallMode.TEXT:
        vector = _share(
            (np.array(cosines) - yardstick.mean) / (SPAN_DEVIATIONS * yardstick.deviation)
        )
    if mode is not RecallMode.VECTOR:
        lexical = weights.lexical * _share(np.array(coverages))
    return vector, lexical


def _lent(
    neighbours: Sequence[tuple[Neighbour, ...]], at: dict[int, int], own: NDArray[Any], share: float
) -> NDArray[np.float64]:
    lent = np.zeros(len(neighbours))
    scores = own.tolist()
    for i, beside in enumerate(neighbours):
        best = 0.0
        for cell, closeness in beside:
            place = at.get(cell)
            if place is not None:
                best = max(best, closeness * scores[place])
        lent[i] = share * best
    return lent


def _merit(
    saliences: Sequence[float],
    trusts: Sequence[float],
    recencies: Sequence[float],
    closed: Sequence[bool],
    weights: FusionWeights,
) -> NDArray[np.float64]:
    merit = 1.0 - weights.closed * np.array(closed, np.float64)
    for held, takes in (
        (saliences, weights.salience),
        (trusts, weights.trust),
        (recencies, weights.recency),
    ):
        merit *= 1.0 - takes * (1.0 - _share(np.array(held)))
    return merit


def _share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Held in [0, 1]; a value that is not a number stays one."""
    return np.asarray(np.minimum(np.maximum(values, 0.0), 1.0))


def _information(occurrences: int, documents: int) -> float:
    """idf as Lucene has it, never negative; counts may run ahead of the total by a batch."""
    total = max(documents, occurrences)
    return math.log(1.0 + (total - occurrences + 0.5) / (occurrences + 0.5))
