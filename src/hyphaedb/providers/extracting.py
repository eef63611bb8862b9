"""Finding the pieces of knowledge in a longer text without a language model.

Sentence by sentence: what is noise or an echo of something recalled is dropped; what a cue gives a
type, or what names something exactly (a number, an identifier), becomes a cell. What it costs: one
sentence is one cell, so what is spread over two sentences ("It does. Port 80.") is lost or halved,
and a sentence that says two things stays one. The rules know English only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hyphaedb.errors import TooLarge
from hyphaedb.model import CellType
from hyphaedb.providers.cue_words import HEDGE
from hyphaedb.providers.noise import is_noise, is_step, without_politeness
from hyphaedb.providers.reasoner import ExtractedCell
from hyphaedb.providers.sentences import Sentence, plain, sentences_of
from hyphaedb.providers.type_cues import typed

TEXT_CHARS_MAX: Final = 200_000
"""About 0.1 s of work; a longer text is a file and not a message."""

TAGS_MAX: Final = 8
_ECHO_WORDS_MIN: Final = 4
_ECHO_SHARE: Final = 0.8
"""A recalled text that makes up this much of a sentence makes the sentence an echo."""

_TICKET: Final = re.compile(r"\b([A-Z][A-Z0-9]{1,9})-(\d{1,6})\b(?![-.]?\d)")
#: Prefixes of standards and products that look like the key of a project.
_STANDARDS: Final = """
AES ASCII BERT COVID CP CRC CVE CWE ES EUR FIPS GPT H HTTP IEEE
IPV ISO JDK JSR LATIN MD MP MPEG PEP RFC RSA RTX SHA SOC SSE TLS TOP UCS UTF USB V WCAG X
"""
_NO_PROJECT: Final = frozenset(_STANDARDS.split())
_EXACT: Final = re.compile(
    r"`[^`]+`|\d|\b\w+[._/]\w+|\b[a-z]+[A-Z]\w+|\b[A-Z]{2,}\b|(?<=[a-z,] )[A-Z][a-z]+"
)
_WORD: Final = re.compile(r"[^\W_]+")
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|will|would|can|could|should|must|may|might|shall"
    r"|cannot|\w+n't|runs?|uses?|needs?|takes?|makes?|gets?|gives?|keeps?|reads?|writes?|returns?|sends?"
    r"|holds?|shows?|starts?|stops?|fails?|works?|supports?|requires?|contains?|\w{3,}ed|\w{3,}es"
    r"|\w{4,}s)\b",
    re.IGNORECASE,
)
#: A sentence without a cue is kept only if it says outright that something is so.
_STATED: Final = re.compile(
    r"^(?!this\b|that\b|it\b|these\b|there\b|they\b|he\b|she\b)(?:[^\s,]+ ){1,8}?"
    r"(?:is|are|was|were|has|have|had|uses|runs|needs|takes|keeps|sends|reads|writes|works)\b",
    re.IGNORECASE,
)
#: What a cell of each type is worth when a single hint speaks for it; a firmer one adds.
_SALIENCE: Final = {
    CellType.DECISION: 0.60,
    CellType.CONSTRAINT: 0.60,
    CellType.RISK: 0.55,
    CellType.LESSON: 0.55,
    CellType.PATTERN: 0.45,
    CellType.PREFERENCE: 0.45,
    CellType.TASK: 0.45,
    CellType.CONTEXT: 0.35,
    CellType.FACT: 0.35,
}
_SALIENCE_STEP: Final = 0.06
_STRENGTH_MAX: Final = 5


def extract_cells(
    text: str, cells_max: int, recalled: Sequence[str] = ()
) -> tuple[ExtractedCell, ...]:
    """At most `cells_max` cells, those of the highest salience, in the text's order.

    The same sentence twice makes one cell. Raises `TooLarge` beyond `TEXT_CHARS_MAX`.
    """
    if len(text) > TEXT_CHARS_MAX:
        raise TooLarge(
            f"The text has {len(text)} characters; extraction reads {TEXT_CHARS_MAX}.",
            "Pass it in parts.",
        )
    echoes = [known for known in map(normalised, recalled) if known.strip()]
    found: dict[str, ExtractedCell] = {}
    for sentence in sentences_of(text):
        cell = _cell(sentence)
        if cell is None:
            continue
        words = normalised(cell.body)
        if words not in found and not is_echo(words, echoes):
            found[words] = cell
    in_order = list(found.values())
    strongest = sorted(range(len(in_order)), key=lambda at: (-in_order[at].salience, at))
    return tuple(in_order[at] for at in sorted(strongest[: max(0, cells_max)]))


def normalised(text: str) -> str:
    """Lower-case words between single spaces, with one at either end; nothing but words."""
    return f" {' '.join(_WORD.findall(plain(text).lower()))} "


def is_echo(words: str, recalled: Sequence[str]) -> bool:
    """Whether a normalised sentence only repeats one of the normalised recalled texts."""
    for known in recalled:
        if words in known:
            return True
        long_enough = known.count(" ") > _ECHO_WORDS_MIN
        if long_enough and known in words and len(known) >= _ECHO_SHARE * len(words):
            return True
    return False


def tags_of(passage: str) -> tuple[str, ...]:
    """The ticket keys in a passage, such as "PAY-1432", each once, in order."""
    keys = (f"{m[1]}-{m[2]}" for m in _TICKET.finditer(passage) if m[1] not in _NO_PROJECT)
    return tuple(dict.fromkeys(keys))[:TAGS_MAX]


def _cell(sentence: Sentence) -> ExtractedCell | None:
    kind = typed(without_politeness(sentence.body))
    body = kind.body
    if is_noise(body) or not _VERB.search(body):
        # A label says that a fragment is meant as a statement ("Decision: Redis, not Kafka").
        if kind.strength < 3 or kind.body == sentence.body or len(body.split()) < 2:
            return None
    elif sentence.heading and kind.strength < 3:
        return None
    exact = bool(_EXACT.search(body))
    if kind.strength < 2 and (is_step(body) or not (exact and sentence.ends)):
        return None
    if not kind.strength and not _STATED.search(body):
        return None
    strength = min(kind.strength, _STRENGTH_MAX)
    salience = _SALIENCE[kind.type] + _SALIENCE_STEP * (max(strength, 1) - 1 + exact)
    confidence = 0.4 + 0.08 * strength - (0.15 if HEDGE.search(body) else 0.0)
    return ExtractedCell(
        body=body,
        type=kind.type,
        salience=round(min(salience, 0.95), 2),
        confidence=round(max(confidence, 0.2), 2),
        quote=sentence.quote,
        tags=tags_of(sentence.quote),
    )
