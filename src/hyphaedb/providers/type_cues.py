"""Which of the nine types a sentence is, by the words that give it away.

A cue is a phrase with a strength: 3 for a label ("Decision: …") or a phrase with one meaning, 2 for
a phrase that mostly means it, 1 for a hint. The type with the strongest sum wins; at equal sums the
order of `CUES` decides, which puts the rarer and more binding type first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hyphaedb.model import CellType

_LABELS: Final[Mapping[str, CellType]] = {
    "decision": CellType.DECISION,
    "decided": CellType.DECISION,
    "constraint": CellType.CONSTRAINT,
    "requirement": CellType.CONSTRAINT,
    "rule": CellType.CONSTRAINT,
    "risk": CellType.RISK,
    "caveat": CellType.RISK,
    "pattern": CellType.PATTERN,
    "lesson": CellType.LESSON,
    "lesson learned": CellType.LESSON,
    "lessons learned": CellType.LESSON,
    "root cause": CellType.LESSON,
    "fact": CellType.FACT,
    "finding": CellType.FACT,
    "preference": CellType.PREFERENCE,
    "context": CellType.CONTEXT,
    "background": CellType.CONTEXT,
    "task": CellType.TASK,
    "todo": CellType.TASK,
    "to do": CellType.TASK,
    "action item": CellType.TASK,
    "next step": CellType.TASK,
}
_LABEL: Final = re.compile(
    rf"^\W*({'|'.join(sorted(_LABELS, key=len, reverse=True))})\s*:\s*(?=\S)", re.IGNORECASE
)

#: For each type its phrases, the strong ones (2) and the hints (1).
CUES: Final[tuple[tuple[CellType, str, str], ...]] = (
    (
        CellType.DECISION,
        r"""
        (?:we|team|i|they) (?:have |has |all |finally )?(?:decided|agreed|chose|chosen|settled)
        decided (?:to|on|that|against) | settled on | went with | (?:are|is) going with
        agreed (?:to|on|that) | opted (?:for|to) | decision (?:is|was)
        has been (?:chosen|selected|approved|rejected)
        (?:switch|migrat|mov)(?:ed|ing) (?:\w+ ){0,4}(?:from|to)
        replac(?:es|ed|ing) \S+ (?:\w+ )?(?:with|by)
        """,
        r"""
        we(?:'ll| will| are) (?:use|us(?:e|ing)|keep|build|write|implement|store|ship|support)
        will be (?:written|implemented|built|stored|developed|used) | instead of | in favou?r of
        deprecated? | from now on | no longer | adopt(?:ed|s)?
        """,
    ),
    (
        CellType.CONSTRAINT,
        r"""
        (?:must|shall|may) (?:not|never) | must | shall
        (?:is|are) (?:not allowed|forbidden|prohibited|mandatory|required) | no more than
        at (?:most|least) | not exceed | only (?:\w+ )?(?:if|when|after|by|through|via) | never
        limited to | do not (?:use|store|call|commit|change|rely|log)
        """,
        r"""
        requires? | always | cannot | can(?:'|’)t | limit(?: of)? | up to \d+ | maximum | minimum
        only | has to | have to | within \d+
        """,
    ),
    (
        CellType.RISK,
        r"""
        risk(?:s|y)?
        (?:may|might|could|can|will|would) (?:\w+ )?(?:fail|break|cause|crash|leak|lead to|lose)
        (?:may|might|could|can|will|would) (?:\w+ )?(?:result in|raise an?|throw|corrupt|hang)
        (?:may|might|could|can|will|would) (?:\w+ )?(?:time ?out|deadlock|overflow)
        vulnerab\w+ | race conditions? | data loss | not thread.safe | deadlocks? | memory leaks?
        single point of failure
        """,
        r"""
        danger\w* | unsafe | fails? (?:when|if|on|to) | breaks? | crash\w* | leaks? | unreliable
        insecure | bugs? | beware | careful | infinite loop
        """,
    ),
    (
        CellType.LESSON,
        r"""
        lessons? | we learned | i learned | turn(?:s|ed) out | root cause | in hindsight
        next time | should have | (?:was|were|is|are) caused by | caused by
        the (?:actual |real |main )?(?:cause|reason|culprit|fix|solution) (?:was|is|for)
        (?:issue|problem|bug|error|failure|outage) (?:was|is) (?:\w+ )?(?:because|due|that)
        (?:issue|problem|bug|error|failure) (?:arises|occurs|occurred|arose) (?:when|from|due)
        fixed by | solved by
        """,
        r"""
        because | due to | resolved | workaround | the (?:issue|problem|error) (?:is|was) | fixed
        found that | discovered that
        """,
    ),
    (
        CellType.PATTERN,
        r"""
        whenever | (?:every|each) time | tends? to | repeatedly | keeps? (?:\w+ing)
        (?:usually|typically|generally|in general|as a rule) | in most cases
        """,
        r"""
        often | frequently | commonly | most of the | recurring | regularly
        """,
    ),
    (
        CellType.PREFERENCE,
        r"""
        prefer(?:s|red|ence)? | would rather | favou?rite
        (?:i|we|users?|customers?|he|she|they) (?:really )?(?:likes?|dislikes?|hates?|loves?|wants?)
        recommend(?:s|ed)?
        """,
        r"""
        better to | ideally | suggest(?:s|ed)? | rather than | nicer
        """,
    ),
    (
        CellType.TASK,
        r"""
        needs? to be | to.do | remains? to be | still (?:needs?|missing|open) | action item
        assigned to | is working on | blocked (?:on|by) | follow.up | is missing | are missing
        not (?:yet )?implemented
        should be (?:\w+ )?(?:added|implemented|fixed|updated|changed|replaced|removed|moved)
        should be (?:\w+ )?(?:modified|improved|refactored|handled|checked)
        """,
        r"""
        needs? to | should | next steps? | pending | plan(?:s|ned)? to
        by (?:monday|tuesday|wednesday|thursday|friday|tomorrow|next week)
        """,
    ),
    (
        CellType.CONTEXT,
        r"""
        currently | at the moment | as of | for now | (?:is|are) responsible for | background
        the (?:project|team|goal|purpose|aim|product)(?:'s \w+)? (?:is|are|uses|has)
        the (?:application|customer)(?:'s \w+)? (?:is|are|uses|has)
        """,
        r"""
        is used (?:for|to|by) | so far | this (?:project|team|app|repository|service|file|module)
        owned by | owns | is part of | is designed (?:to|for) | allows? (?:users?|the)
        """,
    ),
    (
        CellType.FACT,
        r"""
        listens? on | runs? (?:on|at) | defaults? to | returns? | consists? of | contains? | equals
        (?:is|are) (?:located|hosted|stored|deployed|released|published|set) (?:in|at|on|to|by)
        (?:takes?|took|costs?|measures?|holds?|uses?|supports?|has|have) (?:\w+ ){0,3}\d+
        """,
        r"""
        (?:is|are|was|were) (?:\w+ ){0,3}(?:\d|v\d|`) | version \d+ | (?:is|are) (?:the|an?)
        """,
    ),
)


def _phrases(lines: str) -> re.Pattern[str]:
    """Phrases between " | " or on lines of their own, as whole words."""
    phrases = [p.strip() for line in lines.strip().splitlines() for p in line.split(" | ")]
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)


_COMPILED: Final = tuple((kind, _phrases(strong), _phrases(hint)) for kind, strong, hint in CUES)
_HITS_MAX: Final = 3
"""Cues of one kind that count: a sentence is no firmer for saying "must" ten times."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The type that the cues speak for and how strongly: 0 where none does."""

    type: CellType
    strength: int
    body: str
    """The sentence without a label in front of it."""


def typed(body: str) -> Typed:
    """The type of a sentence. Without any cue it is a fact of strength 0."""
    label = _LABEL.match(body)
    if label:
        rest = body[label.end() :]
        kind = _LABELS[label[1].lower()]
        return Typed(kind, 3 + _sums(rest)[kind], rest[:1].upper() + rest[1:])
    sums = _sums(body)
    best = max(sums, key=lambda kind: sums[kind])
    return Typed(best if sums[best] else CellType.FACT, sums[best], body)


def _sums(body: str) -> dict[CellType, int]:
    return {
        kind: 2 * min(len(strong.findall(body)), _HITS_MAX)
        + min(len(hint.findall(body)), _HITS_MAX)
        for kind, strong, hint in _COMPILED
    }
