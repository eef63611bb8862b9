"""Full text: which words of a query count, and the cells that have them.

Core Postgres keeps no document frequencies, so HyphaeDB does (table ``term``, filled when a cell
is linked). A word's weight is the usual inverse document frequency; how often a cell says it
enters through ``ts_rank``. Departs from BM25 in the shape of both dampings; needs no extension.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from hyphaedb.model import CellId, MeshId
from hyphaedb.store.pool import Tx, rows
from hyphaedb.store.search import Clauses
from hyphaedb.store.sql import catalogue, composed, query

#: Words of one query that are ranked: the rarest ones. A statement is prepared for each count.
WORDS_MAX = 16
#: A word in more than this share of the cells says little and would drag most of them in.
SHARE_MAX = 0.25


@dataclass(frozen=True, slots=True)
class Word:
    """A lexeme of a query and its weight."""

    lexeme: str
    weight: float


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a query that count, heaviest first, and the mean length of cells in words."""

    words: tuple[Word, ...]
    length: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A cell and its lexical score; above 0, comparable within one query only."""

    cell_id: CellId
    score: float


async def query_words(tx: Tx, mesh_id: MeshId, text: str) -> Words:
    """The words of a text that are worth searching. Empty where it has none but stop words."""
    found = await rows(tx, query("query_words"), {"mesh_id": mesh_id, "text": text})
    if not found:
        return Words((), 1.0)
    documents, lexemes = found[0][2], found[0][3]
    weighed = [(Word(r[0], _idf(r[1], documents)), r[1]) for r in found]
    common = SHARE_MAX * max(documents, 20)
    kept = [w for w, count in weighed if count <= common] or [w for w, _ in weighed]
    kept.sort(key=lambda w: (-w.weight, w.lexeme))
    return Words(tuple(kept[:WORDS_MAX]), max(1.0, lexemes / max(documents, 1)))


def _idf(count: int, documents: int) -> float:
    return math.log(1.0 + (documents - min(count, documents) + 0.5) / (count + 0.5))


async def search_words(
    tx: Tx, mesh_id: MeshId, layer: int, words: Words, k: int, clauses: Clauses
) -> list[Scored]:
    """The ``k`` best cells with any of the words, best first."""
    if clauses.impossible or not words.words:
        return []
    terms = [_quoted(w.lexeme) for w in words.words]
    values = {
        **clauses.values,
        "mesh_id": mesh_id,
        "any": " | ".join(terms),
        "length": words.length,
        **{f"word_{n}": term for n, term in enumerate(terms)},
        **{f"weight_{n}": w.weight for n, w in enumerate(words.words)},
    }
    sql = _search(len(terms), clauses.names, layer, k)
    return [Scored(r[0], r[1]) for r in await rows(tx, sql, values)]


@cache
def _search(count: int, names: tuple[str, ...], layer: int, limit: int) -> bytes:
    part = catalogue()["word_score"].replace(")s", ")b")
    score = " + ".join(part.replace("{n}", str(n)) for n in range(count))
    text = composed("search_words", names, layer=layer, limit=limit)
    return text.replace(b"{score}", score.encode())


def _quoted(lexeme: str) -> str:
    """A lexeme as a tsquery that matches it and nothing else."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def lexemes(words: Words) -> Sequence[str]:
    """The lexemes alone, heaviest first."""
    return [w.lexeme for w in words.words]
