"""Who can receive: agents, their holders' positions and attachments, beacons and mutes.

Agents are receivers; a *holder* owns a footprint and a position (the agent itself, or the role
its instances share). All of them are leaves: they hang in the graph and never relay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hyphaedb.engine.topology import Grid, Layer, Rows, Vectors
from hyphaedb.model import AgentId, CellId, MuteKind, PrincipalKind
from hyphaedb.protocol import geometry
from hyphaedb.store.agents import BeaconRow
from hyphaedb.store.rows import AgentRow

#: Cosine between where a holder stands and where it was attached, below which it is re-attached.
#: 0.97 is about a quarter of the way between two neighbouring topics; nearer moves change nothing.
DRIFT_COSINE = 0.97
_WITH_INBOX = frozenset({PrincipalKind.AGENT, PrincipalKind.HUMAN})


@dataclass(frozen=True, slots=True)
class Receiver:
    """One live or retired agent as a wave sees it."""

    agent_id: AgentId
    name: str
    holder: int
    #: The holder is a role that other instances share.
    shared: bool
    tags: frozenset[str]
    types: frozenset[str]
    has_text: bool
    attention: int | None
    muted: bool
    retired: bool
    #: Tools and imports write; they have no inbox.
    receives: bool
    registered_at: datetime


class Roster:
    """Holders keep their row for the life of the mirror; receivers are replaced on change."""

    def __init__(self, dimension: int, attach_nearest: int) -> None:
        self.dimension = dimension
        self.attach_nearest = attach_nearest
        self.holder_ids: list[UUID] = []
        self.holder_rows: dict[UUID, int] = {}
        self.positions: Vectors = np.zeros((0, dimension), np.float32)
        self.placed = np.zeros(0, np.bool_)
        self.known = np.zeros(0, np.bool_)
        self.receives = np.zeros(0, np.bool_)
        # Who has touched nothing hangs where its declared interest lies, until it stands somewhere.
        self._wishes: Vectors = np.zeros((0, dimension), np.float32)
        self._wishing = np.zeros(0, np.bool_)
        self.attached_from: Vectors = np.zeros((0, dimension), np.float32)
        self._viewpoints: Grid = np.zeros((0, dimension), np.int16)  # attached_from, gridded
        self.attached: Rows = np.zeros((0, attach_nearest), np.int32)
        self.attached_cosines = np.zeros((0, attach_nearest), np.float32)
        self.receivers: list[Receiver] = []
        self.holder_of = np.zeros(0, np.int32)
        self.interests: Vectors = np.zeros((0, dimension), np.float32)
        self.days = np.zeros(0, np.int32)
        self.beacons: list[BeaconRow] = []
        self.beacon_vectors: Vectors = np.zeros((0, dimension), np.float32)
        self.muted_authors: frozenset[str] = frozenset()
        self.muted_types: frozenset[str] = frozenset()

    def holder(self, holder_id: UUID) -> int:
        """The row of a holder, made when first met."""
        row = self.holder_rows.get(holder_id)
        if row is not None:
            return row
        row = len(self.holder_ids)
        self.holder_ids.append(holder_id)
        self.holder_rows[holder_id] = row
        if row == len(self.positions):
            more = max(16, row // 2)
            for name in (
                "positions",
                "placed",
                "known",
                "receives",
                "_wishes",
                "_wishing",
                "attached_from",
                "_viewpoints",
                "attached",
                "days",
            ):
                old = getattr(self, name)
                pad = np.zeros((more, *old.shape[1:]), old.dtype)
                if name == "attached":
                    pad -= 1
                setattr(self, name, np.concatenate([old, pad]))
            pad = np.full((more, self.attach_nearest), -1.0, np.float32)
            self.attached_cosines = np.concatenate([self.attached_cosines, pad])
        return row

    def take(
        self,
        agents: Sequence[AgentRow],
        beacons: Sequence[BeaconRow],
        mutes: Sequence[tuple[MuteKind, str]],
    ) -> None:
        """Replace receivers, beacons and mutes by what the database says now."""
        silent = {kind: {s for k, s in mutes if k is kind} for kind in MuteKind}
        self.receivers = []
        vectors = np.zeros((len(agents), self.dimension), np.float32)
        self._wishing[:] = False
        for i, row in enumerate(agents):
            agent = row.agent
            holder = self.holder(row.holder_id)
            self.days[holder] = max(int(self.days[holder]), agent.active_days)
            if row.interest is not None:
                vectors[i] = self._wishes[holder] = row.interest
                self._wishing[holder] = True
            self.receivers.append(
                Receiver(
                    agent_id=agent.agent_id,
                    name=agent.name,
                    holder=holder,
                    shared=agent.role is not None,
                    tags=frozenset(agent.interests.tags),
                    types=frozenset(t.value for t in agent.interests.types),
                    has_text=row.interest is not None,
                    attention=row.attention,
                    muted=agent.name in silent[MuteKind.AGENT],
                    retired=agent.retired_at is not None,
                    receives=agent.kind in _WITH_INBOX,
                    registered_at=agent.registered_at,
                )
            )
        self.receives[:] = False
        for receiver in self.receivers:
            self.receives[receiver.holder] |= receiver.receives
        self.holder_of = np.array([r.holder for r in self.receivers], np.int32)
        self.interests = vectors
        self.beacons = list(beacons)
        self.beacon_vectors = (
            np.stack([b.vector for b in beacons]).astype(np.float32)
            if beacons
            else np.zeros((0, self.dimension), np.float32)
        )
        self.muted_authors = frozenset(silent[MuteKind.AUTHOR])
        self.muted_types = frozenset(silent[MuteKind.TYPE])

    def place(self, holder: int, position: Vectors) -> None:
        """Move a holder; its attachments follow only past :data:`DRIFT_COSINE`."""
        # As the table keeps it: a mirror that was loaded again must score like this one.
        self.positions[holder] = position.astype(np.float16)
        self.placed[holder] = True

    def displace(self, holder: int) -> None:
        """A holder has nothing left to stand on; it hangs by its interest, if any."""
        self.positions[holder] = 0.0
        self.placed[holder] = False
        if not self._wishing[holder]:
            self.attached[holder] = -1
            self.attached_cosines[holder] = -1.0
            self.attached_from[holder] = 0.0
            self._viewpoints[holder] = 0

    def hangs(self, holder: int) -> bool:
        """Whether a holder has a place to hang from: its position, or a declared interest."""
        return bool(self.placed[holder] or self._wishing[holder])

    def restore(self, holder: int, rows: list[int], attached_from: Vectors, layer: Layer) -> None:
        """Hang a holder where it hung when it was last written down."""
        kept = np.array(rows[: self.attach_nearest], np.int32)
        self.attached[holder] = -1
        self.attached_cosines[holder] = -1.0
        self.attached[holder, : len(kept)] = kept
        self.attached_from[holder] = attached_from
        self._viewpoints[holder] = geometry.to_grid(attached_from)
        self.attached_cosines[holder, : len(kept)] = layer.cosines(self._viewpoints[holder], kept)

    def detach(self, row: int) -> None:
        """Nobody hangs on an erased cell any more."""
        gone = self.attached == row
        self.attached[gone] = -1
        self.attached_cosines[gone] = -1.0

    def drifted(self) -> list[int]:
        """Holders that stand too far from where they were attached, or never were."""
        n = len(self.holder_ids)
        placed = self.placed[:n]
        points = np.where(placed[:, None], self.positions[:n], self._wishes[:n])
        near = np.einsum("ij,ij->i", points, self.attached_from[:n])
        return [
            int(h) for h in np.flatnonzero((placed | self._wishing[:n]) & (near < DRIFT_COSINE))
        ]

    def attach(self, holder: int, layer: Layer) -> None:
        """Hang a holder on its nearest cells as they are now."""
        point = self.positions[holder] if self.placed[holder] else self._wishes[holder]
        if layer.count == 0:
            self.restore(holder, [], point, layer)
            return
        probe = geometry.to_grid(point[None, :])
        cosines = layer.products(probe)[0]
        cosines[~layer.standing[: layer.count]] = -2.0
        k = min(self.attach_nearest, layer.count)
        # All that tie with the k-th, so that equal cells are taken newest first and not by chance.
        best = np.flatnonzero(cosines >= np.partition(cosines, layer.count - k)[layer.count - k])
        best = best[cosines[best] > -2.0]
        best = best[np.lexsort((-best, -cosines[best]))][:k]
        self.restore(holder, best.tolist(), point, layer)

    def offer(self, row: int, probe: Grid) -> list[int]:
        """Attach a new cell to every holder for which it is among the nearest; returns them.

        Seen from where the holder was attached, as the cells it hangs on were.
        """
        n = len(self.holder_ids)
        if n == 0:
            return []
        cosines = geometry.cosine(probe, self._viewpoints[:n])
        least = self.attached_cosines[:n].min(axis=1)
        hangs = self.placed[:n] | self._wishing[:n]
        winners = np.flatnonzero(hangs & (cosines > least))
        for h in winners:
            # Among equally far cells the oldest goes; which slot it is in must not matter.
            slot = int(np.lexsort((self.attached[h], self.attached_cosines[h]))[0])
            self.attached[h, slot] = row
            self.attached_cosines[h, slot] = cosines[h]
        return [int(h) for h in winners]

    def leaf_costs(
        self, costs_of: Callable[[Rows], NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], Rows]:
        """Cheapest attached cell per holder: its cost (or the filler) and its row.

        ``costs_of`` says the cost of cell rows, with a filler for those the wave did not settle.
        """
        n = len(self.holder_ids)
        slots = self.attached[:n]
        costs = np.where(slots >= 0, costs_of(np.maximum(slots, 0)), np.iinfo(np.int64).max)
        least = costs.min(axis=1, initial=np.iinfo(np.int64).max)
        # The oldest among equals: slots are filled in another order after a reload.
        ties = np.where((costs == least[:, None]) & (slots >= 0), slots, np.iinfo(np.int32).max)
        via = ties.min(axis=1, initial=np.iinfo(np.int32).max)
        return least, np.where(via == np.iinfo(np.int32).max, -1, via).astype(np.int32)

    def attachments(self, holder: int, layer: Layer) -> tuple[tuple[CellId, ...], Vectors]:
        """The cells a holder hangs on, and the position it was attached from."""
        slots: Mapping[int, None] = dict.fromkeys(int(s) for s in self.attached[holder] if s >= 0)
        return tuple(CellId(layer.cell_id(s)) for s in slots), self.attached_from[holder]
