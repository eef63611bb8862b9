"""Who receives what a wave carried: reach, relevance, interest, score, gate; and why not.

Relay and deliver are two questions (docs/decisions/0003): the wave has already spread over the
cells; here the leaves that hang on what it settled are scored and gated. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hyphaedb.engine.law import Law, Reading
from hyphaedb.engine.roster import Receiver, Roster
from hyphaedb.engine.subject import Subject
from hyphaedb.engine.topology import Layer, Rows
from hyphaedb.engine.touches import Touched
from hyphaedb.engine.waves import UNSETTLED, Ran
from hyphaedb.model import MICRO, AgentId, BeaconId, Refusal, Route
from hyphaedb.protocol import geometry

#: Agents named among the refused of one wave; the nearest misses say the most.
REFUSED_MAX = 64


@dataclass(frozen=True, slots=True)
class Landing:
    """One delivery to be written; numbers in micro-units, the path in mirror rows."""

    agent_id: AgentId
    route: Route
    score: int
    relevance: int
    interest: int
    energy: int
    hops: int
    path: tuple[int, ...]
    beacon_id: BeaconId | None = None


@dataclass(frozen=True, slots=True)
class Turned:
    """One agent that did not receive, and why."""

    name: str
    reason: Refusal
    score: int
    relevance: int
    interest: int


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome for one diff, best score first."""

    landings: tuple[Landing, ...]
    refused: tuple[Turned, ...]
    #: Those whose attention was used up: the sweep owes it to them.
    postponed: tuple[AgentId, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reach:
    """Per holder: cheapest arrival cost (UNSETTLED if none) and the cell it came by."""

    costs: NDArray[np.int64]
    via: Rows


def reach(ran: Ran, touched: Touched, roster: Roster) -> _Reach:
    """Which holders the wave can get to: over cells they touched and cells they hang on.

    A leaf's link has weight 1, so arriving costs one unit more than the cell it hangs on, and
    needs energy strictly above that.
    """
    holders = len(roster.holder_ids)
    costs, via = roster.leaf_costs(ran.costs_of)
    if len(touched.places):
        keys = np.full(holders, np.iinfo(np.int64).max)
        rank = touched.places.astype(np.int64)
        np.minimum.at(keys, touched.holders, rank)
        met = np.flatnonzero(keys < len(ran.settled))
        first = keys[met].astype(np.int64)
        cheaper = ran.costs[first] < costs[met]
        costs[met] = np.where(cheaper, ran.costs[first], costs[met])
        via[met] = np.where(cheaper, ran.settled[first], via[met])
    arrives = (costs < UNSETTLED) & (costs + MICRO < ran.energy)
    return _Reach(np.where(arrives, costs + MICRO, UNSETTLED), via)


class Decider:
    """Decides for one mesh as it stands; holds no state of its own."""

    def __init__(self, layer: Layer, roster: Roster, law: Law, delivered_max: int) -> None:
        self._layer = layer
        self._roster = roster
        self._law = law
        self._delivered_max = delivered_max

    def decide(
        self,
        subject: Subject,
        ran: Ran,
        told: Mapping[AgentId, None],
        exhausted: frozenset[AgentId],
    ) -> Decision:
        """Landings and refusals of one diff.

        ``told`` are those the delivery log names (they hear of it whatever their score);
        ``exhausted`` those whose attention for this hour is used up.
        """
        roster = self._roster
        if not roster.receivers:
            return Decision((), ())
        touched = self._layer.touches.of(ran.settled)
        reached = reach(ran, touched, roster)
        reading = self._law.read(subject, ran, touched, roster)
        knows = self._knowing(subject)
        muted = subject.author_name in roster.muted_authors or (
            subject.type.value in roster.muted_types
        )
        beacons = self.beacons(subject)
        landings: list[Landing] = []
        refused: list[Turned] = []
        postponed: list[AgentId] = []
        for i, receiver in enumerate(roster.receivers):
            if receiver.retired or not receiver.receives:
                continue
            beacon = beacons.get(receiver.agent_id)
            reason, route = self._judge(
                subject, receiver, i, reached, reading, beacon, told, exhausted, knows
            )
            if reason is None and muted and route is not Route.LOG:
                reason = Refusal.MUTED
            if reason is not None:
                refused.append(_turned(receiver, reason, reading, i))
                if reason is Refusal.BANDWIDTH:
                    postponed.append(receiver.agent_id)
            else:
                landings.append(self._landing(receiver, route, reached, reading, i, ran, beacon))
        return self._bounded(landings, refused, postponed)

    def _judge(
        self,
        subject: Subject,
        receiver: Receiver,
        i: int,
        reached: _Reach,
        reading: Reading,
        beacon: BeaconId | None,
        told: Mapping[AgentId, None],
        exhausted: frozenset[AgentId],
        knows: frozenset[int],
    ) -> tuple[Refusal | None, Route]:
        """Why not (None: deliver) and by which route, most telling reason first."""
        if receiver.agent_id == subject.author:
            return Refusal.OWN, Route.WAVE
        # Before what they know: whoever vouched for a cell must hear that it is taken back.
        if receiver.agent_id in told:
            return None, Route.LOG
        if receiver.holder in knows and not receiver.shared:
            return Refusal.OWN, Route.WAVE
        if receiver.muted:
            return Refusal.MUTED, Route.WAVE
        if not subject.travels:
            # It goes by the log alone; nobody is bothered with what he never received.
            return Refusal.NOT_REACHED, Route.LOG
        if beacon is not None:
            return None, Route.BEACON
        if reached.costs[receiver.holder] >= UNSETTLED and not reading.named[i]:
            return Refusal.NOT_REACHED, Route.WAVE
        if not reading.passes[i]:
            return Refusal.BELOW_GATE, Route.WAVE
        if receiver.agent_id in exhausted:
            return Refusal.BANDWIDTH, Route.WAVE
        return None, Route.WAVE

    def _knowing(self, subject: Subject) -> frozenset[int]:
        """Holders that confirmed, used or made this very cell: nobody gets back what he knows.

        A role's footprint does not say which instance knows, so its other instances are told.
        """
        row = self._layer.row(subject.cell_id)
        if row is None:
            return frozenset()
        return self._layer.touches.known_to(row)

    def beacons(self, subject: Subject) -> dict[AgentId, BeaconId]:
        """The nearest beacon of each agent whose region and filters this diff is in."""
        roster = self._roster
        if not roster.beacons or not subject.travels:
            return {}
        near = geometry.quantise_micros(geometry.cosine(subject.vector, roster.beacon_vectors))
        best: dict[AgentId, tuple[int, UUID]] = {}
        for beacon, cosine in zip(roster.beacons, near, strict=True):
            shape = beacon.beacon
            if cosine < geometry.quantise_micro(shape.radius):
                continue
            if shape.types and subject.type not in shape.types:
                continue
            if shape.tags and not subject.tags & set(shape.tags):
                continue
            key = (int(cosine), shape.beacon_id)
            if beacon.agent_id not in best or key > best[beacon.agent_id]:
                best[beacon.agent_id] = key
        return {agent: BeaconId(found[1]) for agent, found in best.items()}

    def _landing(
        self,
        receiver: Receiver,
        route: Route,
        reached: _Reach,
        reading: Reading,
        i: int,
        ran: Ran,
        beacon: BeaconId | None,
    ) -> Landing:
        cost = int(reached.costs[receiver.holder])
        there = cost < UNSETTLED
        path = tuple(ran.path(int(reached.via[receiver.holder]))) if there else ()
        return Landing(
            agent_id=receiver.agent_id,
            route=route,
            score=int(reading.scores[i]),
            relevance=int(reading.relevances[i]),
            interest=int(reading.interests[i]),
            energy=ran.energy - cost if there else 0,
            hops=len(path),
            path=path,
            beacon_id=beacon if route is Route.BEACON else None,
        )

    def _bounded(
        self, landings: list[Landing], refused: list[Turned], postponed: list[AgentId]
    ) -> Decision:
        landings.sort(key=lambda x: (x.route is not Route.LOG, -x.score, x.agent_id.bytes))
        over = landings[self._delivered_max :]
        if over:
            names = {r.agent_id: r.name for r in self._roster.receivers}
            refused.extend(
                Turned(names[x.agent_id], Refusal.BUDGET, x.score, x.relevance, x.interest)
                for x in over
            )
        refused.sort(key=lambda x: (-x.score, x.name))
        landed = tuple(landings[: self._delivered_max])
        return Decision(landed, tuple(refused[:REFUSED_MAX]), tuple(postponed))


def _turned(receiver: Receiver, reason: Refusal, reading: Reading, i: int) -> Turned:
    return Turned(
        receiver.name,
        reason,
        int(reading.scores[i]),
        int(reading.relevances[i]),
        int(reading.interests[i]),
    )
