"""What agents and operators do in a schedule, as deeds that can be done again in another world."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

from hyphaedb.engine.members import Members
from hyphaedb.engine.recall import Recaller
from hyphaedb.errors import Conflict, Invalid, NotFound
from hyphaedb.model import (
    CellId,
    CellType,
    Interests,
    MuteKind,
    NewCell,
    RecallMode,
    Stored,
)
from tests.engine.lexical import TOPICS, sentence
from tests.engine.world import Owner, World

_TOPICS = list(TOPICS)


@dataclass(slots=True)
class Play:
    """A world with what a schedule must remember about it."""

    world: World
    owner: Owner
    cells: list[CellId] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    dots: dict[UUID, int] = field(default_factory=dict)
    forgotten: set[UUID] = field(default_factory=set)
    accepted: dict[UUID, CellId] = field(default_factory=dict)

    async def note_dots(self) -> None:
        """Remember which diff got which dot before anybody can erase it."""
        rows = await self.world.rows(
            "SELECT diff_id, dot FROM hyphaedb.diff WHERE mesh_id = %(mesh)s AND dot IS NOT NULL"
        )
        self.dots.update(dict(rows))

    def note(self, stored: Stored | None) -> None:
        """Remember an accepted diff: it must be settled in the end."""
        if stored is None or stored.diff_id is None:
            return
        self.accepted[stored.diff_id] = stored.cell_id
        if stored.cell_id not in self.cells:
            self.cells.append(stored.cell_id)


#: One thing that takes effect; done to another world it does the same there.
Deed = Callable[[Play], Awaitable[None]]


async def _allowed(answer: Awaitable[Stored]) -> Stored | None:
    """What an agent tries may be refused, as long as it is refused in both worlds."""
    try:
        return await answer
    except (Conflict, NotFound, Invalid):
        return None


async def _tries(answer: Awaitable[object]) -> None:
    try:
        await answer
    except (Conflict, NotFound, Invalid):
        return


def any_deed(rng: random.Random, play: Play) -> Deed:
    """Something an agent or operator does; stores most of the time."""
    if not play.cells or rng.random() < 0.5:
        return stores(rng, rng.choice(play.agents))
    cell, other = rng.choice(play.cells), rng.choice(play.cells)
    agent = rng.choice(play.agents)
    body = sentence(rng, rng.choice(_TOPICS))
    options: list[Deed] = [
        lambda p: _tries(p.world.mesh.confirm(cell, agent=agent)),
        lambda p: _replaces(p, cell, body, agent),
        lambda p: _retracts(p, cell, agent),
        lambda p: _tries(p.world.mesh.relate(cell, other, omega=0.7)),
        lambda p: _forgets(p, cell),
        lambda p: _recalls(p, body, agent),
        lambda p: _tries(p.world.mesh.mute(MuteKind.AGENT, agent)),
        lambda p: _tries(p.world.mesh.unmute(MuteKind.AGENT, agent)),
        lambda p: _tries(p.world.mesh.beacon(agent, "watch", body, radius=0.4)),
        lambda p: _tries(p.world.mesh.pause()),
        resumes,
        lambda p: _tries(p.world.mesh.retire(agent)),
        registers(rng, f"agent-{rng.randrange(100)}"),
        registers(rng, agent),
    ]
    return rng.choice(options)


def registers(rng: random.Random, name: str) -> Deed:
    """An agent joins, or says anew what it cares for."""
    tags = tuple(rng.sample(_TOPICS, 1)) if rng.random() < 0.6 else ()
    text = sentence(rng, rng.choice(_TOPICS)) if rng.random() < 0.3 else ""
    attention = 2 if rng.random() < 0.2 else None
    role = "crew" if rng.random() < 0.3 else None

    async def deed(play: Play) -> None:
        interests = Interests(text=text, tags=tags)
        await _tries(
            play.world.mesh.register(name, role=role, interests=interests, attention=attention)
        )
        if name not in play.agents:
            play.agents.append(name)

    return deed


def stores(rng: random.Random, agent: str) -> Deed:
    """An agent stores something; one time in ten what somebody may have said before."""
    topic = rng.choice(_TOPICS)
    cell = NewCell(
        body=sentence(rng, topic) if rng.random() < 0.9 else f"{topic} is what we do",
        type=rng.choice(list(CellType)),
        salience=rng.choice((0.4, 0.6, 0.9)),
        tags=(topic,),
        session=rng.choice((None, "morning")),
    )

    async def deed(play: Play) -> None:
        play.note(await _allowed(play.world.mesh.store(cell, agent=agent)))

    return deed


async def resumes(play: Play) -> None:
    """Waves run again."""
    await play.world.mesh.resume()


async def _replaces(play: Play, cell: CellId, body: str, agent: str) -> None:
    play.note(await _allowed(play.world.mesh.supersede(cell, body, agent=agent)))


async def _retracts(play: Play, cell: CellId, agent: str) -> None:
    play.note(await _allowed(play.world.mesh.retract(cell, agent=agent, reason="it was wrong")))


async def _forgets(play: Play, cell: CellId) -> None:
    await _tries(play.world.mesh.forget(cell))
    play.forgotten.add(cell)


async def _recalls(play: Play, query: str, agent: str) -> None:
    """Read, and have the reading written down at once."""
    recaller = Recaller(play.world.faces, Members(play.world.faces))
    await _tries(
        recaller.recall(
            query,
            agent,
            session="morning",
            k=3,
            mode=RecallMode.VECTOR,
            where=None,
            as_of=None,
            floor=None,
            tokens=None,
        )
    )
    await recaller.close()
