"""What engine tests set up again and again, and the questions they ask."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from hyphaedb.mesh import Mesh
from hyphaedb.model import CellType, Interests, NewCell, Route, Stored, Wait
from tests.engine.lexical import WORDS, sentence

_rng = random.Random(11)


def text(topic: str) -> str:
    """A sentence nobody has stored yet."""
    return sentence(_rng, topic)


def alike(topic: str) -> str:
    """A text nobody has stored yet that says nearly the same as every other of these."""
    return f"{' '.join(WORDS[topic][:8])} n{_rng.getrandbits(40):x}"


def tagged(topic: str, body: str | None = None, kind: CellType = CellType.FACT) -> NewCell:
    """A cell about a topic that carries its tag: whoever declares the tag receives it."""
    return NewCell(body or text(topic), type=kind, tags=(topic,))


async def listens(mesh: Mesh, name: str, *tags: str, attention: int | None = None) -> None:
    """Register an agent that declares tags."""
    await mesh.register(name, interests=Interests(tags=tags), attention=attention)


async def announce(mesh: Mesh, cell: NewCell | str, *, agent: str) -> Stored:
    """Store a cell and wait for its wave."""
    stored = await mesh.store(cell, agent=agent, wait=Wait.DELIVERED)
    assert stored.receipt is None or stored.receipt.state.value == "done"
    return stored


async def inbox(mesh: Mesh, agent: str) -> list[str | None]:
    """The bodies in an inbox, in the order they landed."""
    page = await mesh.inbox(agent, items=500, tokens=200_000)
    return [item.body for item in sorted(page.items, key=lambda item: item.cursor)]


async def routes(mesh: Mesh, agent: str) -> list[Route]:
    """Why each item of an inbox is there, in the order they landed."""
    page = await mesh.inbox(agent, items=500, tokens=200_000)
    return [item.route for item in sorted(page.items, key=lambda item: item.cursor)]


async def settled(mesh: Mesh) -> None:
    """Wait until nothing is pending."""
    assert await mesh.settle(timeout_s=20) == 0


async def eventually(holds: Callable[[], Awaitable[bool]], seconds: float = 20.0) -> None:
    """Wait until something holds, and fail if it does not in time."""
    end = asyncio.get_running_loop().time() + seconds
    while not await holds():
        assert asyncio.get_running_loop().time() < end, "it did not come true in time"
        await asyncio.sleep(0.05)
