"""Ids minted by the client: UUIDv7, rising within a process, from a clock and a seed.

RFC 9562 layout: 48 bits of milliseconds, 74 bits that start at random and step upwards while the
millisecond (or a clock that went back) stays the same. So ids made by one process sort in the
order they were made, and a test that fixes clock and seed gets the same ids again.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from datetime import datetime
from uuid import UUID, uuid5

Clock = Callable[[], datetime]

_LOW_BITS = 74
_STEP_BITS = 32


class Ids:
    """Mints UUIDv7s. Safe to share between threads."""

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng
        self._lock = threading.Lock()
        self._millisecond = 0
        self._low = 0

    def new(self) -> UUID:
        """The next id; greater than every id this object made before."""
        with self._lock:
            now = int(self._clock().timestamp() * 1000)
            if now > self._millisecond:
                self._millisecond = now
                # Leave headroom, so that stepping cannot overflow within a millisecond.
                self._low = self._rng.getrandbits(_LOW_BITS - 1)
            else:
                self._low += 1 + self._rng.getrandbits(_STEP_BITS)
            millisecond, low = self._millisecond, self._low
        value = (millisecond & (2**48 - 1)) << 80
        value |= 0x7 << 76 | (low >> 62) << 64
        value |= 0b10 << 62 | (low & (2**62 - 1))
        return UUID(int=value)


def named(parent: UUID, name: str) -> UUID:
    """The id that ``name`` always has below ``parent`` (sessions, roles): no look-up needed."""
    return uuid5(parent, name)
