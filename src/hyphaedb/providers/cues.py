"""What can be read off two statements without a model: numbers, negation, opposites, change.

Cues do three things. They help the trained judge where its words fail it (5 s is 5000 ms). They say
in words why a pair was flagged. And they are the baseline that the judge has to beat.

All cues are symmetric in the two statements except those named after one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyphaedb.providers.cue_words import (
    CHANGE,
    HEDGE,
    NEGATION,
    OPPOSITES,
    RETIRED,
    SCOPES,
    SINCE,
    STOP,
    UNTIL,
    permission,
)
from hyphaedb.providers.quantities import UNIT_NAMES, Amount, Dimension, agree, amounts

TEXT_CHARS_MAX: Final = 2_000
"""Characters of a statement that cues look at: longer ones are documents, whose numbers and
negations belong to many different things."""

_TOKEN: Final = re.compile(r"[a-z0-9][a-z0-9.+#_-]*[a-z0-9+#]|[a-z0-9]", re.IGNORECASE)
_NAME: Final = re.compile(r"`[^`]{2,40}`|\b[a-z0-9]+[-_][a-z0-9_-]+\b|(?<=[a-z,] )[A-Z][a-z]{2,}\b")
_ENDINGS: Final = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ed", "es", "s")

PhraseVector = Callable[[str], NDArray[np.float32]]
"""Gives the vector of a few words, of length 1 or 0."""


@dataclass(frozen=True, slots=True)
class Cues:
    """What speaks for and against two statements excluding each other."""

    clash: tuple[Amount, Amount] | None
    """Two amounts of one kind that cannot both hold, such as 10 s and 30 s."""
    agreements: int
    """Kinds of amounts that both texts have, with one that fits."""
    amounts_on_one_side: bool
    opposites: tuple[str, str] | None
    negations: tuple[str, str]
    """The word that negates in the first and in the second statement, or ""."""
    negation_parity: bool
    """True if exactly one of the two has an odd number of negations."""
    permissions: tuple[str, str]
    scopes: tuple[str, str] | None
    """Different members of one group of places, such as staging and production."""
    split_in_time: bool
    """One speaks of the time until, the other of the time since."""
    hedged: bool
    names_differ: bool
    retired: str
    """What one statement says was given up and the other still names, or ""."""
    change: tuple[bool, bool]
    overlap: float
    containment: float
    slot: tuple[str, str]
    """The words of content that only the first and only the second has, in order."""
    slot_similarity: float
    length_ratio: float


def read_cues(first: str, second: str, vector: PhraseVector) -> Cues:
    """The cues of a pair. `vector` serves the likeness of what differs; it may return zeros."""
    first, second = first[:TEXT_CHARS_MAX], second[:TEXT_CHARS_MAX]
    kept = _without_retired(first), _without_retired(second)
    ours, theirs = amounts(kept[0]), amounts(kept[1])
    clash, agreements = _compare(ours, theirs)
    words = content(kept[0]), content(kept[1])
    stems = {stem(w) for w in words[0]}, {stem(w) for w in words[1]}
    shared, union = stems[0] & stems[1], stems[0] | stems[1]
    only = (
        [w for w in words[0] if stem(w) not in stems[1] and not _is_amount(w)],
        [w for w in words[1] if stem(w) not in stems[0] and not _is_amount(w)],
    )
    slot = " ".join(only[0][:12]), " ".join(only[1][:12])
    likeness = float(vector(slot[0]) @ vector(slot[1])) if slot[0] and slot[1] else 0.0
    found = [NEGATION.findall(text) for text in (first, second)]
    return Cues(
        clash=clash,
        agreements=agreements,
        amounts_on_one_side=bool(ours) != bool(theirs),
        opposites=_opposites(_tokens(first), _tokens(second)),
        negations=(
            found[0][0].lower() if found[0] else "",
            found[1][0].lower() if found[1] else "",
        ),
        negation_parity=len(found[0]) % 2 != len(found[1]) % 2,
        permissions=(permission(first), permission(second)),
        scopes=_scopes(first, second),
        split_in_time=_split_in_time(first, second),
        hedged=bool(HEDGE.search(first)) != bool(HEDGE.search(second)),
        names_differ=_names_differ(first, second),
        retired=_retired(first, second, stems[1]) or _retired(second, first, stems[0]),
        change=(bool(CHANGE.search(first)), bool(CHANGE.search(second))),
        overlap=len(shared) / max(len(union), 1),
        containment=len(shared) / max(min(len(stems[0]), len(stems[1])), 1),
        slot=slot,
        slot_similarity=likeness,
        length_ratio=min(len(first), len(second)) / max(len(first), len(second), 1),
    )


def content(text: str) -> list[str]:
    """Words that carry content, lower case, in order, each once."""
    return list(dict.fromkeys(w for w in _tokens(text) if w not in STOP))


def stem(word: str) -> str:
    """The word without its ending: enough to let "stores" meet "stored"."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: len(word) - len(ending)].rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def _tokens(text: str) -> list[str]:
    return [match.lower() for match in _TOKEN.findall(text)]


def _is_amount(word: str) -> bool:
    return word[0].isdigit() or word in UNIT_NAMES


def _compare(
    ours: Sequence[Amount], theirs: Sequence[Amount]
) -> tuple[tuple[Amount, Amount] | None, int]:
    """The first clash and how many kinds agree. A kind clashes if both texts have it and no amount
    of the one fits any of the other."""
    clash: tuple[Amount, Amount] | None = None
    agreements = 0
    for dimension in Dimension:
        mine = [a for a in ours if a.dimension is dimension]
        yours = [a for a in theirs if a.dimension is dimension]
        if not mine or not yours:
            continue
        if any(agree(a, b) for a in mine for b in yours):
            agreements += 1
        elif clash is None:
            clash = mine[0], yours[0]
    return clash, agreements


def _opposites(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, str] | None:
    """An opposite pair of which each text has one word and lacks the other."""
    mine, yours = set(ours), set(theirs)
    for a in ours:
        if a in yours:
            continue
        for b in theirs:
            if b not in mine and frozenset((a, b)) in OPPOSITES:
                return a, b
    return None


def _scopes(first: str, second: str) -> tuple[str, str] | None:
    ours, theirs = f" {' '.join(_tokens(first))} ", f" {' '.join(_tokens(second))} "
    for group in SCOPES:
        mine = [place for place in group if f" {place} " in ours]
        yours = [place for place in group if f" {place} " in theirs]
        if mine and yours and not set(mine) & set(yours):
            return mine[0], yours[0]
    return None


def _split_in_time(first: str, second: str) -> bool:
    until = bool(UNTIL.search(first)), bool(UNTIL.search(second))
    since = bool(SINCE.search(first)), bool(SINCE.search(second))
    return (until[0] and since[1] and not until[1]) or (until[1] and since[0] and not until[0])


def _names_differ(first: str, second: str) -> bool:
    """Both texts name something by a proper name, and none of these is in the other text."""
    ours = {name.strip("`").lower() for name in _NAME.findall(first)}
    theirs = {name.strip("`").lower() for name in _NAME.findall(second)}
    if not ours or not theirs:
        return False
    return not any(n in second.lower() for n in ours) and not any(
        n in first.lower() for n in theirs
    )


def _without_retired(text: str) -> str:
    """The text without what it says was given up: "from 10 s to 30 s" states 30 s."""
    for pattern in RETIRED:
        text = pattern.sub(" ", text)
    return text


def _retired(text: str, other: str, other_stems: set[str]) -> str:
    for pattern in RETIRED:
        for match in pattern.finditer(text):
            old = match[1].strip()
            named = [stem(w) for w in content(old)]
            kept = {stem(w) for w in content(_without_retired(text))}
            if named and all(w in other_stems and w not in kept for w in named):
                return old
            gone, still = amounts(old), amounts(_without_retired(other))
            if gone and _compare(gone, still)[1]:
                return old
    return ""


def reason_of(cues: Cues) -> str:
    """The strongest cue that the two exclude each other, in words; "" if none speaks."""
    if cues.retired:
        return f"one says that {cues.retired!r} was given up, the other still names it"
    if cues.clash is not None:
        return f"{cues.clash[0].text} against {cues.clash[1].text}"
    if cues.opposites is not None:
        return f"{cues.opposites[0]!r} against {cues.opposites[1]!r}"
    ours, theirs = cues.permissions
    if ours and theirs and ours != theirs:
        return f"one says {ours.replace('_', ' ')}, the other {theirs.replace('_', ' ')}"
    if cues.negation_parity:
        return f"only one of them is negated ({cues.negations[0] or cues.negations[1]!r})"
    if cues.slot[0] and cues.slot[1] and cues.overlap > 0.3:
        return f"{_short(cues.slot[0])!r} against {_short(cues.slot[1])!r}"
    return ""


def _short(words: str) -> str:
    return " ".join(words.split()[:4])
