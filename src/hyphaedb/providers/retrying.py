"""How often and how patiently a passing fault of a server is tried again."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

PASSING_STATUSES: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP answers that may be another one a moment later."""


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `attempts_max` attempts; pauses double from `pause_s` to `pause_max_s`."""

    attempts_max: int = 5
    pause_s: float = 0.5
    pause_max_s: float = 8.0

    def pause_after_s(
        self, attempts: int, retry_after_s: float | None, rng: random.Random
    ) -> float:
        """Seconds to wait after so many attempts: never less than the server asked for.

        Between half and all of the doubled pause: many processes that failed together do not
        return together.
        """
        doubled = min(self.pause_max_s, self.pause_s * 2.0 ** (attempts - 1))
        return max(doubled * (0.5 + 0.5 * rng.random()), retry_after_s or 0.0)
