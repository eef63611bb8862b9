"""Crashes at any place, take-overs and late workers leave no trace (invariants I5, I11, I12)."""

from __future__ import annotations

import pytest

from hyphaedb.store import indexes
from tests.engine.lexical import DIMENSION
from tests.simulator import Outcome, hurried, simulate

#: ``python -m tests.simulator --seeds 1000`` runs as many as one likes.
SEEDS = 60
_AT_ONCE = 10


@pytest.mark.parametrize("first", range(1, SEEDS, _AT_ONCE))
async def test_a_schedule_with_crashes_ends_like_a_calm_one(database_url: str, first: int) -> None:
    """Row by row: deliveries, inboxes, diffs, waves, links, edges, positions, panels, counters."""
    async with hurried(database_url) as database:
        await indexes.ensure_vector_index(database, DIMENSION)
        outcomes = await simulate(database, range(first, first + _AT_ONCE))

    assert outcomes == dict.fromkeys(outcomes, Outcome())
