"""The reasoner that needs no network and no key: rules, counts, and the embedder it is given.

What each verb can and cannot do is told where it is done: `extracting`, `titling`, `generalising`;
judging is the injected judge's. All four answer the same to the same question.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from typing import Final

from hyphaedb.errors import Unavailable
from hyphaedb.providers.embedding import Embedder, panel_texts
from hyphaedb.providers.extracting import extract_cells
from hyphaedb.providers.generalising import (
    STATEMENTS_MAX,
    Centre,
    alike_from,
    centre_of,
    confidence_of,
    worded,
)
from hyphaedb.providers.reasoner import (
    ExtractedCell,
    Generalisation,
    Judge,
    Label,
    Pair,
    Statement,
    TermCounts,
    Title,
    Verdict,
)
from hyphaedb.providers.spending import Spent
from hyphaedb.providers.titling import count_terms, title_of
from hyphaedb.providers.windows import embed_bodies

NAME: Final = "offline-1"
"""Stored beside what it made; other rules get another number."""

_UNTITLED: Final = "Untitled"
_INLINE_CHARS_MAX: Final = 4_000
"""Extraction of so much takes about a millisecond; more goes to a thread."""

_CHECKED_MAX: Final = 16
"""Statements beside the central one that are judged against it: 10 ms each."""


class OfflineReasoner:
    """Safe to call from many tasks at once."""

    def __init__(self, embedder: Embedder, judge: Judge | None = None) -> None:
        """The embedder stays the caller's and is not closed here; the judge is closed with this."""
        self._embedder: Final = embedder
        self._judge: Final = judge
        self._alike: float | None = None

    @property
    def name(self) -> str:
        """See `NAME`; with the judge's name where there is one, since it made the verdicts."""
        return f"{NAME}+{self._judge.name}" if self._judge else NAME

    @property
    def spent(self) -> Spent:
        """Nothing, ever."""
        return Spent()

    async def extract(
        self, text: str, cells_max: int, recalled: Sequence[str] = ()
    ) -> tuple[ExtractedCell, ...]:
        """See `Reasoner.extract`. Raises `TooLarge` for a text of more than 200,000 characters."""
        if len(text) + sum(map(len, recalled)) <= _INLINE_CHARS_MAX:
            return extract_cells(text, cells_max, recalled)
        return await asyncio.to_thread(extract_cells, text, cells_max, recalled)

    async def judge(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """The judge's verdicts; `Unavailable` without one, which leaves the pairs open."""
        if self._judge is None:
            raise Unavailable(
                "No judge is set up, so the pairs stay open.",
                "Set HYPHAEDB_REASONER to offline or to PROVIDER:MODEL.",
            )
        return await self._judge.judge(pairs)

    async def generalise(self, statements: Sequence[Statement]) -> Generalisation | None:
        """The most central statement with its evidence; None if fewer than three say alike.

        A statement that the judge finds to contradict the central one is no evidence for it.
        """
        read = statements[:STATEMENTS_MAX]
        if not read:
            return None
        if self._alike is None:
            self._alike = await alike_from(self._embedder)
        vectors, _ = await embed_bodies(self._embedder, [said.body for said in read])
        centre = centre_of(vectors, self._alike)
        if centre is None:
            return None
        evidence = await self._without_contradicting(read, centre)
        if len(evidence) < 3:
            return None
        return Generalisation(
            body=worded(read[centre.position].body, len(evidence), len(read)),
            confidence=confidence_of(evidence, len(read), centre.closeness),
            reason=f"{len(evidence)} of {len(read)} statements lie within a cosine of"
            f" {self._alike:.2f} of this one",
            evidence=evidence,
        )

    async def title(
        self, statements: Sequence[Statement], background: TermCounts | None = None
    ) -> Title:
        """The terms that set the statements apart from the background; from the panel's without
        one. "Untitled" for statements without words."""
        bodies = [said.body for said in statements]
        return Title(title_of(bodies, background or _panel_counts()) or _UNTITLED)

    async def close(self) -> None:
        """Closes the judge."""
        if self._judge is not None:
            await self._judge.close()

    async def _without_contradicting(
        self, read: Sequence[Statement], centre: Centre
    ) -> tuple[int, ...]:
        if self._judge is None:
            return centre.alike
        others = [at for at in centre.alike if at != centre.position]
        checked = others[:_CHECKED_MAX]
        pairs = [Pair(read[centre.position], read[at]) for at in checked]
        verdicts = await self._judge.judge(pairs)
        against = {
            at
            for at, verdict in zip(checked, verdicts, strict=True)
            if verdict.label in (Label.CONTRADICTS, Label.SUPERSEDES)
        }
        return tuple(at for at in centre.alike if at not in against)


@functools.cache
def _panel_counts() -> TermCounts:
    """Statements of the panel as scenes of their own: each is about something else."""
    return count_terms((text,) for text in panel_texts())
