"""What a one-shot command with no server does before it ends: it runs the waves of what it made.

The mesh was opened here with a worker. A paused mesh is left alone by the caller: there nothing
settles, as its owner wants it.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hyphaedb.entrypoints.cli.printing import note
from hyphaedb.entrypoints.cli.progress import Progress
from hyphaedb.model import DiffState, Stored
from hyphaedb.verbs import Verbs

#: How long a command waits without getting further. A wave takes milliseconds; what is left then
#: is a fault or somebody else's backlog, and any worker goes on with it.
PATIENCE_S = 30.0
_LOOK_S = 0.02
_STEP_S = 1.0
_LATER = "Stored; not every wave has run yet. `hyphaedb work` runs what waits."


async def settled(mesh: Verbs, answer: Stored) -> Stored:
    """Wait for the diff of a write, and add what became of it."""
    if answer.state is not DiffState.PENDING:
        return answer
    for _ in range(int(PATIENCE_S / _LOOK_S)):
        receipt = await mesh.receipt(answer.cell_id)
        if receipt.state is not DiffState.PENDING:
            return replace(answer, state=receipt.state, receipt=receipt)
        await asyncio.sleep(_LOOK_S)
    note(_LATER)
    return answer


async def spread(mesh: Verbs) -> None:
    """Wait for every pending diff, as long as they get fewer."""
    pending = await mesh.settle(timeout_s=0.0)
    idle_s = 0.0
    with Progress("spreading", pending) as progress:
        while pending and idle_s < PATIENCE_S:
            left = await mesh.settle(timeout_s=_STEP_S)
            idle_s = 0.0 if left < pending else idle_s + _STEP_S
            progress.advance(max(0, pending - left))
            pending = left
    if pending:
        note(_LATER)
