"""What may be drawn on the learning side and on the held-out side: no word or template is on both.

A template or a word belongs to a side by its own checksum, so adding one moves no other.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

_T = TypeVar("_T")
_HELD_OUT_OF = 6


class Relation(StrEnum):
    """How a generated pair stands; `ENTAILS` goes from the first to the second only."""

    CONTRADICTS = "contradicts"
    ENTAILS = "entails"
    DUPLICATES = "duplicates"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Made:
    """A generated pair."""

    a: str
    b: str
    relation: Relation


class Draw:
    """Seeded choices from one side's words and templates."""

    def __init__(self, seed: int, held_out: bool) -> None:
        self.random = random.Random(seed)
        self._held_out = held_out

    def of(self, options: Sequence[_T]) -> _T:
        """One of this side's options; of all of them where a short list leaves this side none."""
        return self.random.choice(self._mine(options))

    def two(self, options: Sequence[_T]) -> tuple[_T, _T]:
        """Two different options; short lists are shared between the sides."""
        mine = self._mine(options)
        first, second = self.random.sample(list(mine if len(mine) > 1 else options), 2)
        return first, second

    def chance(self, share: float) -> bool:
        """True in this share of the draws."""
        return self.random.random() < share

    def _mine(self, options: Sequence[_T]) -> Sequence[_T]:
        if len(options) < 5:
            return options
        mine = [o for o in options if (_checksum(o) % _HELD_OUT_OF == 0) is self._held_out]
        return mine or options


def _checksum(option: object) -> int:
    return zlib.crc32(repr(option).encode())
