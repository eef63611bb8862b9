"""Named places where a test may stop the engine: the crash is part of the specification.

The engine calls ``hit`` at each place; in production that is a look into an empty mapping.
Tests pass an object that raises, pauses or kills the process there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum


class Failpoint(StrEnum):
    """The places, in the order a batch meets them."""

    AFTER_CLAIM = "after_claim"
    AFTER_FENCE = "after_fence"
    MID_BATCH = "mid_batch"
    BEFORE_COMMIT = "before_commit"
    AFTER_COMMIT = "after_commit"
    DURING_REBUILD = "during_rebuild"
    DURING_RENEWAL = "during_renewal"
    DURING_DRAIN = "during_drain"
    DURING_SWEEP = "during_sweep"


class Failpoints:
    """What happens at each place; nothing unless told."""

    def __init__(self, actions: Mapping[Failpoint, Callable[[], None]] | None = None) -> None:
        self._actions = dict(actions or {})

    def hit(self, place: Failpoint) -> None:
        """Run the action of ``place``, if it has one."""
        action = self._actions.get(place)
        if action is not None:
            action()


NO_FAILPOINTS = Failpoints()
