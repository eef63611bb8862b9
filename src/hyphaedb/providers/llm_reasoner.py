"""The reasoner that asks a language model.

Judging asks in two steps where an offline judge is given: what that judge is sure of is settled
without a request, and only what it suspects goes to the model. If the model cannot be asked, the
suspicion stands as a suspicion, which is what it was; `decide` asks the model alone and fails.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from hyphaedb.errors import TooLarge, Unavailable
from hyphaedb.providers.asking import Asker
from hyphaedb.providers.llm_model import ReasonerSettings, open_model
from hyphaedb.providers.questions import (
    PROMPTS,
    extraction,
    generalisation,
    judgement,
    titling,
)
from hyphaedb.providers.reasoner import (
    ExtractedCell,
    Generalisation,
    Judge,
    Pair,
    Statement,
    TermCounts,
    Title,
    Verdict,
)
from hyphaedb.providers.retrying import Retries
from hyphaedb.providers.spending import Spending, Spent

logger = logging.getLogger(__name__)

TEXT_CHARS_MAX: Final = 100_000
"""About 25,000 tokens: what most models read at once, with room for the answer."""

CELLS_MAX: Final = 50
"""Of one text; more would outgrow the answer that many models may give."""

PAIRS_PER_REQUEST_MAX: Final = 16
CHARS_PER_REQUEST_MAX: Final = 40_000
STATEMENTS_MAX: Final = 60
TITLE_STATEMENTS_MAX: Final = 40
TITLE_BODY_CHARS_MAX: Final = 400


class LLMReasoner:
    """See `Reasoner`. Every verb raises `Unavailable` when there is no usable answer, with
    `retry_after_s` where waiting helps; also when the day's budget is spent."""

    def __init__(self, spec: str, asker: Asker, spending: Spending, first: Judge | None) -> None:
        """`first` judges before the model does, and is closed with this."""
        self._spec: Final = spec
        self._asker: Final = asker
        self._spending: Final = spending
        self._first: Final = first

    @property
    def name(self) -> str:
        """The spec and the version of the questions, and the first judge's name."""
        own = f"{self._spec}/{PROMPTS}"
        return f"{own}+{self._first.name}" if self._first else own

    @property
    def spent(self) -> Spent:
        """What was asked, read, answered, paid and refused since this was opened."""
        return self._spending.spent

    async def extract(
        self, text: str, cells_max: int, recalled: Sequence[str] = ()
    ) -> tuple[ExtractedCell, ...]:
        """See `Reasoner.extract`. At most `CELLS_MAX`; `TooLarge` beyond 100,000 characters."""
        size = len(text) + sum(map(len, recalled))
        if size > TEXT_CHARS_MAX:
            raise TooLarge(
                f"The text and what was recalled have {size} characters; the reasoner reads"
                f" {TEXT_CHARS_MAX}.",
                "Pass the text in parts.",
            )
        if not text.strip() or cells_max < 1:
            return ()
        return await self._asker.ask(extraction(text, min(cells_max, CELLS_MAX), recalled))

    async def judge(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """The first judge's verdicts where it is sure, the model's for the rest.

        Without a first judge `Unavailable` where the model cannot be asked; with one, what it
        suspects is then returned as suspected, and its reason says that the model was not heard.
        """
        if self._first is None:
            return await self.decide(pairs)
        verdicts = list(await self._first.judge(pairs))
        open_ones = [at for at, verdict in enumerate(verdicts) if verdict.suspected]
        if not open_ones:
            return tuple(verdicts)
        try:
            decided = await self.decide([pairs[at] for at in open_ones])
        except Unavailable as error:
            logger.warning("reasoner.unheard pairs=%d why=%s", len(open_ones), error.message)
            for at in open_ones:
                why = f"{verdicts[at].reason}; {self._spec} was not heard"
                verdicts[at] = replace(verdicts[at], reason=why)
            return tuple(verdicts)
        for at, verdict in zip(open_ones, decided, strict=True):
            verdicts[at] = verdict
        return tuple(verdicts)

    async def decide(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """The model's own verdict on each pair, in order; `Unavailable` if one request fails."""
        verdicts: list[Verdict] = []
        for batch in _batches(pairs):
            decided = await self._asker.ask(judgement(batch))
            verdicts.extend(decided)
        return tuple(verdicts)

    async def generalise(self, statements: Sequence[Statement]) -> Generalisation | None:
        """See `Reasoner.generalise`. Reads the first 60 statements, or as many as 40,000
        characters hold."""
        read = list(_fitting(statements[:STATEMENTS_MAX]))
        if len(read) < 3:
            return None
        return await self._asker.ask(generalisation(read))

    async def title(
        self,
        statements: Sequence[Statement],
        background: TermCounts | None = None,  # noqa: ARG002  # a model knows common words itself
    ) -> Title:
        """See `Reasoner.title`. Reads the first 400 characters of the first 40 statements."""
        read = statements[:TITLE_STATEMENTS_MAX]
        return await self._asker.ask(titling([said.body[:TITLE_BODY_CHARS_MAX] for said in read]))

    async def close(self) -> None:
        """Closes the connections and the first judge."""
        await self._asker.close()
        if self._first is not None:
            await self._first.close()


def open_llm(
    spec: str,
    settings: ReasonerSettings,
    *,
    first: Judge | None,
    clock_s: Callable[[], float],
    rng: random.Random,
    tokens_today: int = 0,
    retries: Retries | None = None,
) -> LLMReasoner:
    """Opens without a request. `clock_s` gives seconds since the epoch, for the daily budget.

    Raises `Invalid` for settings that cannot be used and `Unsupported` for a missing package.
    """
    opened = open_model(spec, settings)
    spending = Spending(settings.tokens_day_max, clock_s, tokens_today)
    return LLMReasoner(spec, Asker(opened, settings, spending, rng, retries), spending, first)


def _batches(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    batch: list[Pair] = []
    size = 0
    for pair in pairs:
        length = len(pair.first.body) + len(pair.second.body)
        if batch and (len(batch) == PAIRS_PER_REQUEST_MAX or size + length > CHARS_PER_REQUEST_MAX):
            yield batch
            batch, size = [], 0
        batch.append(pair)
        size += length
    if batch:
        yield batch


def _fitting(statements: Sequence[Statement]) -> Iterator[Statement]:
    size = 0
    for statement in statements:
        size += len(statement.body)
        if size > CHARS_PER_REQUEST_MAX:
            return
        yield statement
