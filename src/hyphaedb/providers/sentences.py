"""The sentences of a message, each with the very passage it came from.

Messages of agents are Markdown with code, logs and tables in between. Fenced and indented code,
tables, quoted lines and tool output are no prose and are left out here; what is left is split into
sentences whose passage stands in the text character for character, so that a reader can check it.

Splitting is by English punctuation. A language that ends its sentences otherwise comes out as
whole paragraphs, of which the long ones are then dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

SENTENCE_CHARS_MAX: Final = 600
"""A longer stretch without an end is a dump and not a statement."""

SENTENCES_MAX: Final = 4_000
"""Of one text: 200,000 characters in sentences of fifty."""

_FENCE: Final = re.compile(r"^\s{0,3}(```+|~~~+)")
_TABLE: Final = re.compile(r"^\s*\|.*\|\s*$")
_QUOTED: Final = re.compile(r"^\s*>")
_RULE: Final = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_HEADING: Final = re.compile(r"^\s{0,3}#{1,6}\s+")
_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\(?\d{1,3}[.)]|\[[ xX]\])\s+(?:\[[ xX]\]\s+)?")
_INDENTED: Final = re.compile(r"^(?: {4,}|\t)\S")
_END: Final = re.compile(r"[.!?](?:[\"')\]*_`]{0,3})(?=\s+[\"'(\[*_`]{0,3}[A-Z0-9\[])")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|max|min|no|fig|sec|ca|dr|mr|mrs|ms|st|al)"
    r"|\b[A-Z]|(?:^|\s)\d{1,2})\.$",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"</?[A-Za-z][\w-]*(?:\s[^<>]{0,80})?/?>")
_LINK: Final = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,400}\)")
_MARKS: Final = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=[\w.!?])[*_](?!\w)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`quote` stands verbatim in the text; `body` is the same without marks of layout.

    `heading` and `item`: how it stood there. `ends`: whether it closes with a mark of its own.
    """

    body: str
    quote: str
    heading: bool
    item: bool

    @property
    def ends(self) -> bool:
        """Whether it closes with a full stop or the like."""
        return self.body[-1:] in ".!?"


@dataclass(frozen=True, slots=True)
class _Block:
    """Consecutive lines of prose: a paragraph, an item of a list or a heading."""

    start: int
    stop: int
    heading: bool
    item: bool


def sentences_of(text: str) -> Iterator[Sentence]:
    """The sentences of the prose in `text`, in order, at most `SENTENCES_MAX`."""
    found = 0
    for block in _blocks(text):
        for start, stop in _spans(text, block):
            quote = text[start:stop].strip()
            body = plain(quote)
            if not body or len(body) > SENTENCE_CHARS_MAX:
                continue
            yield Sentence(body, quote, block.heading, block.item)
            found += 1
            if found == SENTENCES_MAX:
                return


def plain(passage: str) -> str:
    """The words of a passage on one line, without Markdown's marks and without tags."""
    words = _LINK.sub(r"\1", _TAG.sub(" ", passage))
    return " ".join(_MARKS.sub("", words).split())


def _blocks(text: str) -> Iterator[_Block]:
    fence = ""
    start = stop = -1
    item = False
    position = 0
    prose_before = False
    for line in text.splitlines(keepends=True):
        begin, position = position, position + len(line)
        mark = _FENCE.match(line)
        if fence:
            # An opened fence that never closes runs to the end, as it does where it is rendered.
            if mark and mark[1].startswith(fence):
                fence = ""
            continue
        bullet = _ITEM.match(line)
        blank = not line.strip()
        code = bool(_INDENTED.match(line)) and not bullet and not prose_before
        alone = bool(mark or blank or code or _HEADING.match(line))
        broken = alone or bullet or any(p.match(line) for p in (_TABLE, _QUOTED, _RULE))
        if broken and start >= 0:
            yield _Block(start, stop, heading=False, item=item)
            start = -1
        prose_before = not (blank or code)
        if mark:
            fence = mark[1][:3]
        elif heading := _HEADING.match(line):
            yield _Block(begin + heading.end(), position, heading=True, item=False)
        elif bullet:
            start, stop, item = begin + bullet.end(), position, True
        elif not broken:
            start, stop, item = (begin, position, False) if start < 0 else (start, position, item)
    if start >= 0:
        yield _Block(start, stop, heading=False, item=item)


def _spans(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    start = block.start
    for end in _END.finditer(text, block.start, block.stop):
        if _ABBREVIATED.search(text, max(start, end.start() - 8), end.start() + 1):
            continue
        yield start, end.end()
        start = end.end()
    if start < block.stop:
        yield start, block.stop
