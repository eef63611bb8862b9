"""A day's budget of tokens cannot be exceeded, and the counts say what was used."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hyphaedb.errors import Unavailable
from hyphaedb.providers.spending import DAY_S, Charge, Spending


class Clock:
    """Seconds since the epoch, moved by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0 * DAY_S

    def __call__(self) -> float:
        return self.now_s


def charge(tokens: int, cost: str | None = None) -> Charge:
    return Charge(1, tokens, 0, None if cost is None else Decimal(cost))


def test_what_is_reserved_cannot_be_reserved_again_until_it_is_settled() -> None:
    spending = Spending(1_000, Clock())
    spending.reserve(600)
    with pytest.raises(Unavailable, match="600 of 1000"):
        spending.reserve(600)
    spending.settle(600, charge(100))
    spending.reserve(600)


def test_a_new_day_brings_a_new_budget_and_forgets_no_count() -> None:
    clock = Clock()
    spending = Spending(1_000, clock, tokens_today=950)
    with pytest.raises(Unavailable) as caught:
        spending.reserve(100)
    assert caught.value.retry_after_s == DAY_S
    spending.settle(0, charge(40))
    clock.now_s += DAY_S
    spending.reserve(1_000)
    assert spending.spent.tokens_today == 0
    assert spending.spent.input_tokens == 40


def test_cost_is_the_sum_of_what_is_known_and_says_how_much_is_not() -> None:
    spending = Spending(10_000, Clock())
    for cost in ("0.25", None, "0.5"):
        spending.settle(0, charge(10, cost))
    assert spending.spent.cost_usd == 0.75
    assert spending.spent.unpriced == 1


def test_a_failure_is_counted_with_its_latest_reason() -> None:
    spending = Spending(10_000, Clock())
    spending.failed("first")
    spending.failed("x" * 900)
    assert spending.spent.failures == 2
    assert spending.spent.last_failure == "x" * 500
