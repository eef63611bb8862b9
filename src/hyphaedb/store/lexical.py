"""Full text: in how many cells a query's lexemes occur, and the cells that cover them.

Core Postgres keeps no document frequencies, so HyphaeDB does (table ``term``, filled when a cell
is linked). Which lexemes to read by and what each is worth is the protocol's to say
(``choose_terms`` in ``protocol/fusion.py``); the store reads and adds up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hyphaedb.model import CellId, MeshId
from hyphaedb.store.pool import Tx, rows
from hyphaedb.store.search import Clauses, Listing
from hyphaedb.store.sql import composed, query

#: Rows one search reads: twice what the protocol plans for, since counts lag behind by a batch.
ROWS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Word:
    """A lexeme and the number of linked cells it occurs in, 0 if none was counted yet."""

    lexeme: str
    documents: int


@dataclass(frozen=True, slots=True)
class Words:
    """A text's lexemes with their counts, out of ``documents`` cells that have ``length``
    different lexemes in the mean."""

    words: tuple[Word, ...]
    documents: int
    length: float


async def count_words(tx: Tx, mesh_id: MeshId, text: str) -> Words:
    """The lexemes of a text with their counts. None where it has nothing but stop words."""
    found = await rows(tx, query("word_counts"), {"mesh_id": mesh_id, "text": text})
    if not found:
        return Words((), 0, 1.0)
    _, _, documents, lexemes = found[0]
    words = tuple(Word(r[0], r[1]) for r in found)
    return Words(words, documents, max(1.0, lexemes / max(documents, 1)))


def search_words(
    mesh_id: MeshId,
    layer: int,
    clauses: Clauses,
    k: int,
    *,
    lexemes: Sequence[str],
    weights: Sequence[float],
    any_of: Sequence[str],
    all_of: Sequence[str],
    length: float,
    length_share: float,
) -> Listing | None:
    """The ``k`` cells that cover most, best first: their worth is the coverage, about 0 to 1 with
    weights that sum up so. None where there is nothing to search.

    Cells with any of ``any_of``, or with all of ``all_of``, are read, ROWS_MAX at most. A cell
    scores the sum of weight times ts_rank over ``lexemes``, divided by 1 - share + share times
    its own length over ``length``.
    """
    if clauses.impossible or not lexemes or not (any_of or all_of):
        return None
    seek = [_quoted(lexeme) for lexeme in any_of]
    if all_of:
        seek.append("(" + " & ".join(_quoted(lexeme) for lexeme in all_of) + ")")
    values = {
        **clauses.values,
        "mesh_id": mesh_id,
        "lexemes": [_quoted(lexeme) for lexeme in lexemes],
        "weights": list(weights),
        "seek": " | ".join(seek),
        "length": length,
        "share": length_share,
    }
    numbers = {"layer": layer, "limit": k, "rows": ROWS_MAX}
    return Listing("search_words", clauses.names, numbers, values)


async def covered(tx: Tx, listing: Listing | None) -> list[tuple[CellId, float]]:
    """The cells of a list of words with their coverage, in its order.

    The list alone: the slow truth of what :func:`hyphaedb.store.facts.candidates` reads on from.
    """
    if listing is None:
        return []
    sql = composed(listing.query, listing.clauses, **listing.numbers)
    return [(r[0], r[1]) for r in await rows(tx, sql, listing.values)]


def _quoted(lexeme: str) -> str:
    """A lexeme as a tsquery that matches it and nothing else."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"
