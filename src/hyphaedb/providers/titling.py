"""A title for a scene from its own words: class-based TF-IDF.

Follows Grootendorst's BERTopic (2022): a term weighs tf · log(1 + A / f), with f how often it
occurs in all scenes and A the terms of an average scene. Departs in one thing: tf counts statements
that hold the term and not its occurrences, so that one long cell cannot name a scene alone.

A title is made of the scene's terms and not written: "staging database, connection pool". Equal
input gives an equal title.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from hyphaedb.providers.cue_words import STOP
from hyphaedb.providers.cues import stem
from hyphaedb.providers.reasoner import TermCounts

TITLE_TERMS_MAX: Final = 3
TITLE_CHARS_MAX: Final = 60
STATEMENTS_READ_MAX: Final = 500
"""More statements say nothing new about what their scene is called."""

BODY_CHARS_READ_MAX: Final = 2_000

_WORD: Final = re.compile(r"[^\W\d_][\w.+#-]*[\w+#]|[^\W\d_]")
_BREAK: Final = re.compile(r"[.!?;:,()\[\]{}\"\n]+(?:\s|$)")
_FRAMING_WORDS: Final = """
please need needs make makes made get gets still like want because however thing things way really
very more most some such good new old etc via yes okay time i'm it's don't let's
"""
_FRAMING: Final = frozenset(_FRAMING_WORDS.split())
_PAIR_BONUS: Final = 1.5
"""Two words that stand together say more than either; without it single words always win."""


def terms_of(body: str) -> dict[str, str]:
    """The different terms of a statement, single words and pairs, each with its spelling there."""
    terms: dict[str, str] = {}
    for stretch in _BREAK.split(body[:BODY_CHARS_READ_MAX]):
        words = _WORD.findall(stretch)
        kept = [word if _names(word) else "" for word in words]
        for word in filter(None, kept):
            terms.setdefault(stem(word.lower()), word)
        for first, second in pairwise(kept):
            if first and second:
                key = f"{stem(first.lower())} {stem(second.lower())}"
                terms.setdefault(key, f"{first} {second}")
    return terms


def count_terms(scenes: Iterable[Sequence[str]]) -> TermCounts:
    """The background made of the bodies of scenes."""
    counts: Counter[str] = Counter()
    number = 0
    for bodies in scenes:
        number += 1
        for body in bodies[:STATEMENTS_READ_MAX]:
            counts.update(terms_of(body).keys())
    return TermCounts(counts, counts.total(), number)


def title_of(bodies: Sequence[str], background: TermCounts) -> str:
    """A few words, at most `TITLE_CHARS_MAX` characters; "" if no body holds a word.

    `background` may hold the scene itself or not; its own counts are added where it does not.
    """
    inside: Counter[str] = Counter()
    spelled: dict[str, Counter[str]] = {}
    for body in bodies[:STATEMENTS_READ_MAX]:
        for term, spelling in terms_of(body).items():
            inside[term] += 1
            spelled.setdefault(term, Counter())[spelling] += 1
    average = max(background.terms / max(background.scenes, 1), 1.0)

    def weight(term: str) -> float:
        tf = inside[term]
        everywhere = max(background.counts.get(term, 0), tf)
        # A pair that occurs once is an accident of one sentence.
        bonus = _PAIR_BONUS if " " in term and tf > 1 else 1.0
        return tf * bonus * math.log1p(average / everywhere)

    ranked = sorted(inside, key=lambda term: (-weight(term), term))
    chosen = _different(ranked)
    titles = (_spelling(spelled[term]) for term in chosen)
    return _joined(titles)


def _names(word: str) -> bool:
    low = word.lower()
    return len(low) > 1 and low not in STOP and low not in _FRAMING


def _different(ranked: Sequence[str]) -> list[str]:
    """The first terms of which none shares a word with one before it."""
    chosen: list[str] = []
    used: set[str] = set()
    for term in ranked:
        words = set(term.split())
        if words & used:
            continue
        chosen.append(term)
        used |= words
        if len(chosen) == TITLE_TERMS_MAX:
            break
    return chosen


def _spelling(seen: Counter[str]) -> str:
    return min(seen, key=lambda spelling: (-seen[spelling], spelling))


def _joined(terms: Iterable[str]) -> str:
    title = ""
    for term in terms:
        longer = f"{title}, {term}" if title else term[:TITLE_CHARS_MAX]
        if len(longer) > TITLE_CHARS_MAX:
            break
        title = longer
    return title[:1].upper() + title[1:]
