"""The seam to judgement: what a reasoner is asked, and what it may answer.

Closeness in the embedding space nominates; a reasoner judges. The engine asks it after the wave,
in batches, so judging never delays a delivery; a mesh without a reasoner works and only leaves
these questions open. The answers are data with their own rules: an implementation that turns a
model's words into them finds out here, not in the database, that they make no sense.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from hyphaedb.model import CellType
from hyphaedb.providers.spending import Spent


class Label(StrEnum):
    """How two statements stand to each other."""

    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    DUPLICATES = "duplicates"
    COMPATIBLE = "compatible"


class Direction(StrEnum):
    """Which statement of a pair replaces the other; only a supersession has one."""

    FIRST_REPLACES = "first_replaces"
    SECOND_REPLACES = "second_replaces"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Statement:
    """A cell as a reasoner sees it: the words, their type, and when they were said."""

    body: str
    type: CellType
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements that were nominated as close; the order carries no meaning."""

    first: Statement
    second: Statement


@dataclass(frozen=True, slots=True)
class ExtractedCell:
    """A piece of knowledge found in a longer text. `quote` is the passage it rests on, verbatim.

    Salience and confidence lie in [0, 1], as in a cell.
    """

    body: str
    type: CellType
    salience: float
    confidence: float
    quote: str
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require_words("body", self.body)
        _require_share("salience", self.salience)
        _require_share("confidence", self.confidence)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement on one pair. `confidence` lies in [0, 1]; `reason` is shown to people.

    `suspected`: the label is the likeliest one and not certain enough to act on. Such a pair is
    shown and waits for a better judge or an agent's word; it has no energy of its own.
    """

    label: Label
    direction: Direction
    confidence: float
    reason: str
    suspected: bool = False

    def __post_init__(self) -> None:
        if (self.label is Label.SUPERSEDES) == (self.direction is Direction.NONE):
            raise ValueError("A verdict has a direction exactly if it is a supersession.")
        _require_share("confidence", self.confidence)
        _require_words("reason", self.reason)


@dataclass(frozen=True, slots=True)
class Generalisation:
    """What several statements say together, in one statement; `confidence` lies in [0, 1].

    `evidence` are the positions of the statements it rests on, ascending, at least three.
    """

    body: str
    confidence: float
    reason: str
    evidence: tuple[int, ...]

    def __post_init__(self) -> None:
        _require_words("body", self.body)
        _require_share("confidence", self.confidence)
        if len(set(self.evidence)) < 3:
            raise ValueError("A pattern rests on at least three statements.")


@dataclass(frozen=True, slots=True)
class Title:
    """A name for a scene: a few words, one line."""

    text: str

    def __post_init__(self) -> None:
        _require_words("title", self.text)
        if "\n" in self.text:
            raise ValueError("A title is one line.")


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often terms occur elsewhere in a mesh, so that a title names what sets a scene apart.

    `counts` has, for each term, the number of statements that hold it; `terms` is the sum over all
    statements of their different terms and `scenes` the number of scenes they came from.
    """

    counts: Mapping[str, int]
    terms: int
    scenes: int


class Judge(Protocol):
    """Whoever can tell how two statements stand to each other; see `Reasoner.judge`."""

    @property
    def name(self) -> str:
        """What judges, with its version."""

    async def judge(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """One verdict a pair, in order."""

    async def close(self) -> None:
        """Releases what the judge holds. Closing twice is harmless."""


class Reasoner(Protocol):
    """Four questions about texts. What it is shown is data: never an instruction to follow.

    Each verb raises `Unavailable` when the model behind it cannot be reached or does not answer
    in the agreed form; a caller then leaves the question open and asks again later.
    """

    @property
    def name(self) -> str:
        """What judged, with its version; stored beside every judgement."""

    @property
    def spent(self) -> Spent:
        """What asking has cost since it was opened; all zero for a reasoner on this machine."""

    async def extract(
        self, text: str, cells_max: int, recalled: Sequence[str] = ()
    ) -> tuple[ExtractedCell, ...]:
        """At most `cells_max` pieces of knowledge in `text`, in the text's order; often none.

        `recalled` are texts the author was given from the mesh: what only repeats one of them is
        left out, or a mesh would hear its own echo as news.
        """

    async def judge(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """One verdict a pair, in order."""

    async def generalise(self, statements: Sequence[Statement]) -> Generalisation | None:
        """The pattern behind at least three statements; None if they share none worth keeping."""

    async def title(
        self, statements: Sequence[Statement], background: TermCounts | None = None
    ) -> Title:
        """A name for the scene these statements make up. `background` is the mesh around it."""

    async def close(self) -> None:
        """Releases what the reasoner holds. Closing twice is harmless."""


def _require_share(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must lie in [0, 1], not {value}.")


def _require_words(name: str, text: str) -> None:
    if not text.strip():
        raise ValueError(f"{name} must hold words.")
