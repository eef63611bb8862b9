"""Who takes part: registering, retiring, beacons; and the process's memory of who is who."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from hyphaedb.engine import validation
from hyphaedb.engine.composing import embed
from hyphaedb.engine.context import Context
from hyphaedb.engine.signals import SignalKind, emit
from hyphaedb.engine.wakeups import WORK
from hyphaedb.errors import Conflict, Invalid, NotFound
from hyphaedb.model import (
    Agent,
    AgentId,
    Beacon,
    BeaconId,
    CellType,
    Interests,
    PrincipalId,
    PrincipalKind,
)
from hyphaedb.store import agents
from hyphaedb.store.agents import NewAgent
from hyphaedb.store.rows import AgentRow

#: Names a process remembers; beyond that the oldest is looked up again.
_REMEMBERED_MAX = 2_000
BEACON_CHARS_MAX = 2_000
_IDS_LAST_S = 10.0


class Members:
    """Agents and beacons of one mesh."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[str, tuple[date, AgentRow]] = {}
        self._ids: dict[str, AgentId] = {}
        self._ids_at: datetime | None = None

    async def active(self, name: str) -> AgentRow:
        """A registered agent that is doing something today; its active days are counted.

        NotFound where it never registered, Conflict where it is retired.
        """
        validation.name(name, "agent name")
        today = self._context.now().date()
        remembered = self._known.get(name)
        if remembered is not None and remembered[0] == today:
            return remembered[1]
        context = self._context
        mesh_id = context.info.mesh_id
        async with context.database.transaction() as tx:
            row = await agents.agent_by_name(tx, mesh_id, name)
            if row.agent.retired_at is not None:
                raise Conflict(f"Agent {name!r} is retired.", "Register it again to use it.")
            days = await agents.touch_day(tx, mesh_id, row.holder_id, today)
            if days != row.agent.active_days:
                await emit(tx, context, SignalKind.ROSTER, row.agent.agent_id)
        row = replace(row, agent=replace(row.agent, active_days=days))
        if len(self._known) >= _REMEMBERED_MAX:
            self._known.pop(next(iter(self._known)))
        self._known[name] = (today, row)
        return row

    async def ids_by_name(self) -> Mapping[str, AgentId]:
        """Every agent's id by name; up to ten seconds old, so a recall costs no look-up."""
        now = self._context.now()
        if self._ids_at is None or abs((now - self._ids_at).total_seconds()) > _IDS_LAST_S:
            self._ids = {a.name: a.agent_id for a in await self.all()}
            self._ids_at = now
        return self._ids

    async def find(self, name: str) -> AgentRow:
        """A registered agent, retired or not; NotFound names close ones."""
        validation.name(name, "agent name")
        async with self._context.database.statement() as tx:
            return await agents.agent_by_name(tx, self._context.info.mesh_id, name)

    async def register(
        self,
        name: str,
        kind: PrincipalKind,
        role: str | None,
        instance: str | None,
        interests: Interests | None,
        attention: int | None,
    ) -> Agent:
        """See :meth:`hyphaedb.verbs.Verbs.register`."""
        context = self._context
        validation.name(name, "agent name")
        for value, what in ((role, "role"), (instance, "instance")):
            if value is not None:
                validation.name(value, what)
        if attention is not None:
            validation.count(attention, "attention", 1, 1_000_000)
        declared, vector = interests, None
        if declared is not None:
            declared = validation.interests(declared, context.config.body_chars_max)
            if declared.text.strip():
                vector = (await self._embed(declared.text))[0]
        new = NewAgent(
            agent_id=AgentId(context.ids.new()),
            principal_id=PrincipalId(context.ids.new()),
            name=name,
            kind=validation.member(PrincipalKind, kind, "kind of principal"),
            role=role,
            instance=instance,
            interests=declared,
            interest=vector,
            attention=attention,
        )
        async with context.database.transaction() as tx:
            row, _ = await agents.upsert_agent(tx, context.info.mesh_id, new, context.now())
            await emit(tx, context, SignalKind.NEWCOMER, row.agent.agent_id)
        self._changed(name)
        return row.agent

    async def all(self) -> list[Agent]:
        """Every agent, retired ones too."""
        async with self._context.database.statement() as tx:
            rows = await agents.agents(tx, self._context.info.mesh_id, retired=True)
        return [r.agent for r in rows]

    async def retire(self, name: str) -> Agent:
        """Stop deliveries to an agent."""
        row = await self.find(name)
        context = self._context
        async with context.database.transaction() as tx:
            await agents.retire(tx, context.info.mesh_id, row.agent.agent_id, context.now())
            await emit(tx, context, SignalKind.ROSTER, row.agent.agent_id)
        self._changed(name)
        return (await self.find(name)).agent

    async def beacon(
        self,
        agent: str,
        name: str,
        text: str,
        radius: float,
        types: Sequence[CellType],
        tags: Sequence[str],
    ) -> Beacon:
        """Place a beacon, or move the one of that name."""
        context = self._context
        owner = await self.active(agent)
        validation.name(name, "beacon name")
        validation.text(text, "beacon text", BEACON_CHARS_MAX)
        beacon = Beacon(
            beacon_id=BeaconId(context.ids.new()),
            agent=agent,
            name=name,
            text=text,
            radius=self.radius(radius),
            types=validation.types(types),
            tags=validation.tags(tags),
            created_at=context.now(),
        )
        vector = (await self._embed(text))[0]
        async with context.database.transaction() as tx:
            agent_id = owner.agent.agent_id
            found = await agents.put_beacon(tx, context.info.mesh_id, agent_id, beacon, vector)
            await emit(tx, context, SignalKind.NEWCOMER, agent_id)
        self._changed(agent)
        return replace(beacon, beacon_id=found)

    async def beacons(self, agent: str | None) -> list[Beacon]:
        """Beacons of one agent, or all."""
        owner = (await self.find(agent)).agent.agent_id if agent is not None else None
        async with self._context.database.statement() as tx:
            rows = await agents.beacons(tx, self._context.info.mesh_id, owner)
        return [r.beacon for r in rows]

    async def remove_beacon(self, agent: str, name: str) -> None:
        """Take a beacon away; NotFound where there is none of that name."""
        context = self._context
        owner = await self.find(agent)
        validation.name(name, "beacon name")
        async with context.database.transaction() as tx:
            agent_id = owner.agent.agent_id
            gone = await agents.remove_beacon(tx, context.info.mesh_id, agent_id, name)
            if gone is None:
                raise NotFound(
                    f"Agent {agent!r} has no beacon {name!r}.", "`beacon list` shows what there is."
                )
            await emit(tx, context, SignalKind.ROSTER, agent_id)
        self._changed(agent)

    @staticmethod
    def radius(radius: float) -> float:
        """A beacon's radius as a cosine in (0, 1]; near 0 it would fire for everything."""
        value = validation.share(radius, "radius")
        if value < 0.05:
            raise Invalid(
                f"A radius of {value} catches nearly everything.", "Pass a cosine from 0.05 to 1."
            )
        return value

    async def _embed(self, text: str) -> NDArray[np.float32]:
        vectors, _ = await embed(self._context, [text])
        return vectors

    def _changed(self, name: str) -> None:
        self._known.pop(name, None)
        self._ids_at = None
        self._context.wakeups.ring(WORK, self._context.info.mesh_id)
