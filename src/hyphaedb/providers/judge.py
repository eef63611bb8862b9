"""The offline judge: do two statements exclude each other, does one replace the other, or are they
the same?

Closeness cannot tell (on four sets of labelled pairs it is at or below chance), so this is a model
of its own: the embedder's network, trained further to read two statements at once, and cues
(numbers with units, negation, opposites) that speak where it is unsure. `docs/decisions/` says on
what it was trained; `training/` makes it again. It runs on this machine, needs no key and no hub.

One pair a run, in both directions side by side. The arithmetic is int8 and takes its scales from
the whole run, so a run never holds more: a verdict depends on its pair alone, whatever else is
asked.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Unavailable, Unsupported
from hyphaedb.providers.combining import (
    CONTRADICTS,
    DUPLICATES,
    Combiner,
    features_of,
    read_combiner,
)
from hyphaedb.providers.cues import Cues, read_cues, reason_of
from hyphaedb.providers.minilm import open_session, require_sha256
from hyphaedb.providers.passages import best_passages
from hyphaedb.providers.quantities import spelled_alike
from hyphaedb.providers.reasoner import Direction, Label, Pair, Verdict
from hyphaedb.providers.wordpiece import bert_uncased
from hyphaedb.providers.wordtable import WordTable, word_table

NAME: Final = "offline-judge-1"
"""Stored beside every judgement; another model or other thresholds get another number."""

JUDGE_SHA256: Final = "6673d8c6de282f7a1064074fcfabc0e44ac07f1170b143068f5dab4affd68f0e"
STATEMENT_TOKENS_MAX: Final = 120
"""Of each statement, so that both fit the 256 positions the model has; the passage that has most
in common with the other statement is read."""


class Session(Protocol):
    """The one call of onnxruntime that judging needs."""

    def run(
        self, output_names: Sequence[str] | None, input_feed: dict[str, NDArray[Any]]
    ) -> Sequence[NDArray[np.float32]]:
        """Runs the graph and returns its outputs."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the judge made of two texts: chances in [0, 1] and the cues it saw.

    `contradiction` and `duplicate` are calibrated on held-out pairs of which two in five
    contradict; where contradictions are rarer, they are too high.
    """

    contradiction: float
    duplicate: float
    logits: NDArray[np.float32]
    cues: Cues


class OfflineJudge:
    """Judges pairs on this machine's processor. Safe to call from many tasks; calls take turns."""

    def __init__(self, weights: Path, combiner: Combiner) -> None:
        """`weights` is read at the first judgement, in the judge's own thread."""
        self._weights: Final = weights
        self._combiner: Final = combiner
        self._thread: Final = ThreadPoolExecutor(1, thread_name_prefix=NAME)
        self._session: Session | None = None
        self._closed = False

    @property
    def name(self) -> str:
        """See `NAME`."""
        return NAME

    @property
    def judged_at(self) -> float:
        """The chance of contradiction from which a verdict is not merely suspected."""
        return self._combiner.judged_at

    @property
    def suspected_at(self) -> float:
        """The chance of contradiction below which nothing is said."""
        return self._combiner.suspected_at

    async def judge(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """One verdict a pair, in order. `Unavailable` once closed."""
        verdicts = []
        for pair in pairs:
            reading = await self._in_thread(pair.first.body, pair.second.body)
            verdicts.append(self.verdict(pair, reading))
        return tuple(verdicts)

    async def _in_thread(self, first: str, second: str) -> Reading:
        if self._closed:
            raise Unavailable("The judge is closed.", "Open the mesh again before using it.")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self.read, first, second)

    def read(self, first: str, second: str) -> Reading:
        """The chances for two texts; about 10 ms. Call it from one thread at a time."""
        if self._session is None:
            self._session = cast(Session, open_session(self._weights, threads=1))
        table = word_table()
        ours, theirs = best_passages(first, second, STATEMENT_TOKENS_MAX)
        logits = self._logits(table, *spelled_alike(ours, theirs))
        tokens = bert_uncased()
        cues = read_cues(ours, theirs, lambda words: table.phrase(tokens.ids(words)))
        chances = self._combiner.chances(features_of(cues, logits))
        return Reading(float(chances[CONTRADICTS]), float(chances[DUPLICATES]), logits, cues)

    def _logits(self, table: WordTable, first: str, second: str) -> NDArray[np.float32]:
        assert self._session is not None
        tokens = bert_uncased()
        ours = tokens.ids(first)[:STATEMENT_TOKENS_MAX] or [tokens.unknown]
        theirs = tokens.ids(second)[:STATEMENT_TOKENS_MAX] or [tokens.unknown]
        length = len(ours) + len(theirs) + 3
        words = np.stack(
            [
                table.rows([tokens.start, *a, tokens.end, *b, tokens.end])
                for a, b in ((ours, theirs), (theirs, ours))
            ]
        )
        second_part = np.zeros((2, length, 1), np.float32)
        second_part[0, len(ours) + 2 :] = 1.0
        second_part[1, len(theirs) + 2 :] = 1.0
        feed: dict[str, NDArray[Any]] = {
            "words": words,
            "positions": np.arange(length),
            "second": second_part,
        }
        return self._session.run(None, feed)[0]

    def verdict(self, pair: Pair, reading: Reading) -> Verdict:
        """What the reading means for the pair. Which of two replaces the other comes from the words
        ("no longer", "instead of") and the times: only the later statement can."""
        chance = reading.contradiction
        if chance >= self._combiner.suspected_at:
            why = reason_of(reading.cues) or "read together, the two exclude each other"
            direction = _replacing(pair, reading.cues)
            label = Label.CONTRADICTS if direction is Direction.NONE else Label.SUPERSEDES
            suspected = chance < self._combiner.judged_at
            return Verdict(label, direction, chance, why, suspected)
        if reading.duplicate >= self._combiner.duplicates_at and reading.cues.clash is None:
            return Verdict(
                Label.DUPLICATES, Direction.NONE, reading.duplicate, "each follows from the other"
            )
        return Verdict(
            Label.COMPATIBLE, Direction.NONE, 1.0 - chance, "nothing in them excludes the other"
        )

    async def close(self) -> None:
        """Frees the weights after the judgement under way. Closing twice is harmless."""
        self._closed = True
        await asyncio.to_thread(self._thread.shutdown)
        self._session = None


def _replacing(pair: Pair, cues: Cues) -> Direction:
    first, second = cues.change
    if second and not first and pair.second.said_at >= pair.first.said_at:
        return Direction.SECOND_REPLACES
    if first and not second and pair.first.said_at >= pair.second.said_at:
        return Direction.FIRST_REPLACES
    return Direction.NONE


def open_judge() -> OfflineJudge:
    """The judge that ships with the package. `Unsupported` if its file is not the shipped one."""
    return OfflineJudge(verified_judge(), _combiner())


@functools.cache
def verified_judge() -> Path:
    """Where the judge's file lies, once its sha256 is the shipped one; hashed once a process."""
    return require_judge(
        Path(str(resources.files("hyphaedb.providers").joinpath("data/judge.onnx")))
    )


def require_judge(weights: Path) -> Path:
    """`weights` itself if it is the file that was measured; `Unsupported` otherwise."""
    if not weights.is_file():
        raise Unsupported("The judge's file is missing from the package.", _REINSTALL)
    return require_sha256(weights, JUDGE_SHA256, "The judge's file", _REINSTALL)


_REINSTALL: Final = "Run: pip install --force-reinstall hyphaedb"


@functools.cache
def _combiner() -> Combiner:
    source = resources.files("hyphaedb.providers").joinpath("data/judge-combiner.json")
    return read_combiner(source.read_text(encoding="utf-8"))
