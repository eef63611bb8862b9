"""What fits a prompt: how many tokens a text takes, and which of a ranking are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

#: Characters a token stands for, on the cautious side for English.
_CHARS_A_TOKEN = 4
#: Tokens around a text that is shown: its source, its score, its time.
_AROUND_TOKENS = 24


def tokens_of(text: str) -> int:
    """About how many tokens a text takes in a prompt, its source and score beside it."""
    return -(-len(text) // _CHARS_A_TOKEN) + _AROUND_TOKENS


def within(ranked: Sequence[T], text_of: Callable[[T], str], tokens: int) -> tuple[list[T], int]:
    """Those of a ranking that fit a budget, best first, and what they take.

    One that is too long is passed over and shorter ones behind it are not. The first always fits,
    or a single long text would hide all that wait behind it.
    """
    kept: list[T] = []
    spent = 0
    for one in ranked:
        cost = tokens_of(text_of(one))
        if kept and spent + cost > tokens:
            continue
        kept.append(one)
        spent += cost
    return kept, spent
