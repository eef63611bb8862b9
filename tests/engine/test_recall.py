"""Recall through the whole mesh: how long an answer is, by what was asked."""

from __future__ import annotations

import pytest

from hyphaedb.model import NewCell, RecallMode
from tests.engine.conftest import Place
from tests.engine.scenes import settled

ASKED = 45


@pytest.mark.parametrize("mode", list(RecallMode))
async def test_an_answer_is_as_long_as_asked_in_every_mode(place: Place, mode: RecallMode) -> None:
    """No list proposes fewer cells than the caller wants, where as many are there."""
    mesh = await place.open()
    await mesh.register("ann")
    cells = [NewCell(f"release canary note number {n}") for n in range(60)]
    await mesh.store_many(cells, agent="ann")
    await settled(mesh)
    found = await mesh.recall("release canary", mode=mode, k=ASKED, floor=0.0, tokens=100_000)

    assert len(found.hits) == ASKED
