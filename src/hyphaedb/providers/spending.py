"""What asking a language model has cost, and a day's allowance that it cannot exceed.

A budget that is only checked after the fact is exceeded by whatever runs at the same moment. So
each request first reserves what it may cost at most, and gives back what it did not use. A server
that reports no tokens is charged the estimate: an allowance that silence could stretch is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from hyphaedb.errors import Unavailable

DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class Spent:
    """Counts since the reasoner was opened, for `stats`.

    `requests` counts every attempt that was sent. `failures` counts questions that ended without
    an answer; `last_failure` says why the latest did. `cost_usd` is the sum of what is known:
    `unpriced` requests went to a model whose price is not.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    failures: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    tokens_today: int = 0
    last_failure: str = ""


@dataclass(frozen=True, slots=True)
class Charge:
    """What one run of requests used, as the provider reports it; `cost_usd` None: not known."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal | None


class Spending:
    """The counters of one mesh's reasoner and its daily allowance. Days are UTC days."""

    def __init__(
        self, tokens_day_max: int, clock_s: Callable[[], float], tokens_today: int = 0
    ) -> None:
        """`clock_s` gives seconds since the epoch. `tokens_today` is what an earlier process
        already spent this day; whoever keeps `spent.tokens_today` across restarts passes it."""
        self._tokens_day_max: Final = tokens_day_max
        self._clock_s: Final = clock_s
        self._day = self._today()
        self._reserved = 0
        self._spent = Spent(tokens_today=tokens_today)

    @property
    def spent(self) -> Spent:
        """The counts so far."""
        self._turn_day()
        return self._spent

    def reserve(self, tokens: int) -> None:
        """Sets `tokens` aside. `Unavailable` with the reason and the wait if they are not left."""
        self._turn_day()
        used = self._spent.tokens_today + self._reserved
        if used + tokens > self._tokens_day_max:
            raise Unavailable(
                f"The reasoner's budget is spent: {used} of {self._tokens_day_max} tokens today,"
                f" and this question may take {tokens}.",
                "It goes on at midnight UTC; HYPHAEDB_REASONER_TOKENS_DAY sets the budget.",
                retry_after_s=float(DAY_S - self._clock_s() % DAY_S),
            )
        self._reserved += tokens

    def settle(self, reserved: int, charge: Charge) -> None:
        """Gives back what was reserved and books what was used."""
        self._turn_day()
        self._reserved = max(0, self._reserved - reserved)
        before = self._spent
        self._spent = replace(
            before,
            requests=before.requests + charge.requests,
            input_tokens=before.input_tokens + charge.input_tokens,
            output_tokens=before.output_tokens + charge.output_tokens,
            tokens_today=before.tokens_today + charge.input_tokens + charge.output_tokens,
            cost_usd=before.cost_usd + float(charge.cost_usd or 0),
            unpriced=before.unpriced + (charge.requests if charge.cost_usd is None else 0),
        )

    def failed(self, why: str) -> None:
        """Counts a question without an answer. `why` holds no secret."""
        self._spent = replace(
            self._spent, failures=self._spent.failures + 1, last_failure=why[:500]
        )

    def _today(self) -> int:
        return int(self._clock_s() // DAY_S)

    def _turn_day(self) -> None:
        today = self._today()
        if today != self._day:
            # What is still reserved may be spent tomorrow, so it stays reserved.
            self._day = today
            self._spent = replace(self._spent, tokens_today=0)
