"""Ending background tasks for certain.

A task that is cancelled can go on: Python 3.11's ``asyncio.wait_for`` swallows the cancellation
when what it waits for is done in the same turn of the loop, and both the connection pool and the
driver wait in it. Whoever then awaits that task waits for ever. So whoever ends a task asks again
until it has ended.
"""

from __future__ import annotations

import asyncio
from typing import Any

#: Pause before asking again. A task may need a moment to give back what it holds; one that lost
#: the cancellation needs to be asked once more.
_AGAIN_S = 0.5


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until each has ended; what they raised is theirs, and not raised here.

    Bounded by the tasks: each must end when it is cancelled while it waits.
    """
    going = {task for task in tasks if not task.done()}
    while going:
        for task in going:
            task.cancel()
        _, going = await asyncio.wait(going, timeout=_AGAIN_S)
    for task in tasks:
        if not task.cancelled():
            # Looked at, so that the loop does not report it as never retrieved.
            task.exception()
