"""Taking the faces' signals into the mirror: read what they point at, then apply it in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never
from uuid import UUID

from hyphaedb.engine.context import Context
from hyphaedb.engine.mirror import Mirror
from hyphaedb.engine.signals import SignalKind
from hyphaedb.engine.topology import days_of
from hyphaedb.engine.touches import KNOWS, RECALLED
from hyphaedb.model import AgentId, CellId, MeshInfo, MuteKind
from hyphaedb.store import access, agents, graph
from hyphaedb.store.agents import BeaconRow
from hyphaedb.store.graph import Edge
from hyphaedb.store.jobs import Signal
from hyphaedb.store.pool import Tx
from hyphaedb.store.rows import AgentRow

_ROSTER = frozenset({SignalKind.ROSTER.value, SignalKind.NEWCOMER.value})


@dataclass(slots=True)
class News:
    """What the signals of one step point at, as the database has it now."""

    info: MeshInfo | None = None
    agents: list[AgentRow] | None = None
    beacons: list[BeaconRow] = field(default_factory=list)
    mutes: list[tuple[MuteKind, str]] = field(default_factory=list)
    edges: list[Edge] | None = None
    newcomers: set[AgentId] = field(default_factory=set)
    #: Signals that ask for a sweep; they stay until it is done, or a crash would lose it.
    asked: frozenset[UUID] = frozenset()
    erased: bool = False

    @property
    def paused(self) -> bool | None:
        """Whether the mesh is paused, where that was read anew."""
        return self.info.paused if self.info is not None else None


@dataclass(frozen=True, slots=True)
class Moved:
    """Holders whose footprints changed; ``anew`` lost some, and must hang elsewhere as well."""

    holders: set[int]
    anew: set[int]


class Intake:
    """Reads and applies signals for one mirror."""

    def __init__(self, context: Context, mirror: Mirror) -> None:
        self._context = context
        self._mirror = mirror

    async def read(self, tx: Tx, waiting: Sequence[Signal]) -> News:
        """Fetch what must be fetched; nothing is applied yet."""
        news, mesh_id = News(), self._context.info.mesh_id
        kinds = {s.kind for s in waiting}
        if kinds & _ROSTER:
            news.info = (await access.mesh_by_id(tx, mesh_id)).info
            news.agents = await agents.agents(tx, mesh_id, retired=True)
            news.beacons = await agents.beacons(tx, mesh_id)
            news.mutes = await access.mutes(tx, mesh_id)
        if SignalKind.EDGE.value in kinds:
            news.edges = await graph.load_edges(tx, mesh_id)
        news.asked = frozenset(s.signal_id for s in waiting if s.kind == SignalKind.SWEEP.value)
        news.erased = SignalKind.FORGOTTEN.value in kinds
        news.newcomers = {
            AgentId(s.subject) for s in waiting if s.kind == SignalKind.NEWCOMER.value
        }
        return news

    def apply(self, news: News, waiting: Sequence[Signal]) -> Moved:
        """Take everything in; returns the holders whose position has to be computed again."""
        mirror = self._mirror
        moved = Moved(set(), set())
        if news.info is not None:
            mirror.info = news.info
        if news.agents is not None:
            mirror.roster.take(news.agents, news.beacons, news.mutes)
        for signal in waiting:
            kind = SignalKind(signal.kind)
            match kind:
                case SignalKind.TOUCHED | SignalKind.RECALLED:
                    if signal.other is not None:
                        strength = KNOWS if kind is SignalKind.TOUCHED else RECALLED
                        cell_id = CellId(signal.subject)
                        moved.holders.add(mirror.touch(cell_id, signal.other, strength))
                        if kind is SignalKind.TOUCHED:
                            mirror.use(cell_id, days_of(signal.at))
                case SignalKind.CLOSED:
                    mirror.close(CellId(signal.subject))
                case SignalKind.FORGOTTEN:
                    mirror.forget(CellId(signal.subject))
                    if signal.other is not None:
                        moved.anew.add(mirror.roster.holder(signal.other))
                case SignalKind.ROSTER | SignalKind.NEWCOMER | SignalKind.EDGE | SignalKind.SWEEP:
                    pass
                case _:
                    assert_never(kind)
        if news.edges is not None:
            mirror.take_edges(news.edges)
        return moved
