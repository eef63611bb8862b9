"""One batch, thought through before anything is written: links, waves, decisions.

Works on the mirror and changes it (new cells join the graph at once, so that the next diff of the
batch can travel over them). If the transaction that follows fails, the mirror is thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hyphaedb.config import Config
from hyphaedb.engine import waves
from hyphaedb.engine.deciding import Decider, Decision, Landing
from hyphaedb.engine.linking import Linker, gridded
from hyphaedb.engine.mirror import Mirror
from hyphaedb.engine.subject import Subject
from hyphaedb.engine.topology import Grid, Layer, days_of
from hyphaedb.engine.touches import KNOWS
from hyphaedb.model import MICRO, AgentId, CellId, CellState, DiffId, DiffKind, Route
from hyphaedb.protocol.wave import WaveLimits
from hyphaedb.store.graph import Edge, Panel
from hyphaedb.store.journal import NewDelivery
from hyphaedb.store.rows import PendingRow

#: A wave reports its first hops one by one; energy ends it long before this.
_HOPS_SHOWN = 64


@dataclass(frozen=True, slots=True)
class Linked:
    """A link row to be written."""

    layer: int
    ordinal: int
    cell_id: CellId
    targets: NDArray[np.int32]
    costs: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of one diff: its wave in numbers and its decision in ids."""

    diff: PendingRow
    settled: int
    rounds: int
    gate: int
    truncated: str | None
    hops: list[dict[str, float]]
    decision: Decision
    paths: dict[AgentId, tuple[tuple[CellId, ...], tuple[int, ...]]]

    def delivery(self, landing: Landing, route: Route, *, shadow: bool) -> NewDelivery:
        """The row to record for one of the decision's landings."""
        path, energies = self.paths[landing.agent_id]
        return NewDelivery(
            diff_id=self.diff.diff_id,
            agent_id=landing.agent_id,
            cell_id=self.diff.cell_id,
            route=route,
            score=landing.score,
            relevance=landing.relevance,
            interest=landing.interest,
            energy=landing.energy,
            hops=landing.hops,
            path=path,
            energies=energies,
            beacon_id=landing.beacon_id,
            shadow=shadow,
            expires_at=self.diff.expires_at,
        )


@dataclass(slots=True)
class Plan:
    """Everything one transaction has to write."""

    at: datetime
    links: list[Linked] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    moved: set[int] = field(default_factory=set)
    attached: set[int] = field(default_factory=set)
    used: list[tuple[UUID, CellId]] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    bridges: list[Edge] = field(default_factory=list)
    postponed: set[AgentId] = field(default_factory=set)


class Planner:
    """Plans batches for one mesh."""

    def __init__(self, mirror: Mirror, config: Config) -> None:
        self._mirror = mirror
        self._config = config
        self._limits = WaveLimits(settled_max=config.settled_max)

    def plan(
        self,
        diffs: Sequence[PendingRow],
        told: Mapping[DiffId, Sequence[AgentId]],
        attention: Mapping[AgentId, int],
        now: datetime,
    ) -> Plan:
        """Link what is new and run every diff's wave, in the order given.

        ``told`` is whom the log names for each diff, ``attention`` how many items more an agent
        with a limit wants; both as they were before this batch.
        """
        plan = Plan(now)
        landed: dict[CellId, dict[AgentId, None]] = {}
        left = dict(attention)
        new = [d for d in diffs if d.ordinal is None and self._mirror.row(d) is None]
        unlinked = {d.cell_id for d in new}
        linkers = self._linkers(new)
        probes = gridded(np.stack([d.vector for d in diffs])) if diffs else None
        places: dict[int, int] = {}
        for i, diff in enumerate(diffs):
            assert probes is not None
            if self._mirror.panel_due():
                # Before the cell joins: it must not be its own yardstick.
                plan.panels.append(self._mirror.draw_panel(now))
            near_all = None
            if diff.cell_id in unlinked:
                unlinked.remove(diff.cell_id)
                linker, place = linkers[diff.layer], places.get(diff.layer, 0)
                places[diff.layer] = place + 1
                self._link(plan, diff, probes[i], linker, place)
                near_all = linker.cosines(place)
            ran = self.run(diff, probes[i], now, near_all)
            names = dict.fromkeys(told.get(diff.diff_id, ()))
            if diff.about is not None and diff.about in landed:
                # Received in this very batch, so the log does not name them yet.
                names.update(landed[diff.about])
            exhausted = frozenset(a for a, more in left.items() if more <= 0)
            settled = self.judge(diff, probes[i], ran, names, exhausted, now)
            plan.settled.append(settled)
            plan.postponed.update(settled.decision.postponed)
            for landing in settled.decision.landings:
                landed.setdefault(diff.cell_id, {})[landing.agent_id] = None
                if landing.agent_id in left:
                    left[landing.agent_id] -= 1
        return plan

    def _linkers(self, new: Sequence[PendingRow]) -> dict[int, Linker]:
        linkers: dict[int, Linker] = {}
        for number in {d.layer for d in new}:
            layer = self._mirror.layers[number]
            once: dict[CellId, PendingRow] = {d.cell_id: d for d in new if d.layer == number}
            linkers[number] = Linker(
                layer,
                gridded(np.stack([d.vector for d in once.values()])),
                candidates=self._config.link_candidates,
                links_max=layer.graph.links_max,
                omega_min=self._config.omega_min,
            )
        return linkers

    def _link(
        self,
        plan: Plan,
        diff: PendingRow,
        probe: Grid,
        linker: Linker,
        place: int,
    ) -> None:
        """Give a new cell its links, its author's touch and its place near the agents."""
        mirror = self._mirror
        layer = mirror.layers[diff.layer]
        choice = linker.choose(place)
        ordinal = mirror.take_ordinal()
        row = layer.append(
            diff.cell_id,
            ordinal,
            probe,
            choice.targets,
            choice.costs,
            diff.salience,
            diff.cell_created_at,
        )
        layer.stand(row, diff.state is CellState.ACTIVE)
        targets = layer.ordinals[choice.targets]
        plan.links.append(Linked(diff.layer, ordinal, diff.cell_id, targets, choice.costs))
        plan.moved.update(mirror.joined(diff.cell_id))
        holder = mirror.roster.holder(diff.author_holder)
        layer.touches.put(row, holder, int(mirror.roster.days[holder]), KNOWS)
        mirror.roster.known[holder] = True
        plan.moved.add(holder)
        self._use(plan, diff, holder, choice.targets, layer)
        if diff.layer == 0:
            plan.attached.update(mirror.roster.offer(row, probe))

    def _use(
        self,
        plan: Plan,
        diff: PendingRow,
        holder: int,
        targets: NDArray[np.int32],
        layer: Layer,
    ) -> None:
        """Cells the author cited, or had recalled in this session and now stored upon, are used."""
        recalled = set(diff.recalled)
        stored_upon = [layer.cell_id(int(t)) for t in targets] if recalled else []
        used = [*diff.sources, *(CellId(c) for c in stored_upon if c in recalled)]
        for cell_id in dict.fromkeys(used):
            at = layer.row(cell_id)
            if at is not None:
                layer.touches.put(at, holder, int(self._mirror.roster.days[holder]), KNOWS)
                layer.use(at, days_of(plan.at))
                plan.used.append((diff.author_holder, cell_id))

    def subject(self, diff: PendingRow, probe: Grid, now: datetime) -> Subject:
        """What deciding needs to know of a diff."""
        return Subject(
            cell_id=diff.cell_id,
            kind=diff.kind,
            type=diff.type,
            tags=frozenset(diff.tags),
            salience=diff.salience,
            author=diff.agent_id,
            author_name=diff.agent,
            author_holder=diff.holder_id,
            travels=travels(diff, now),
            probe=probe,
            vector=diff.vector,
        )

    def watched(self, subject: Subject) -> set[AgentId]:
        """Agents one of whose beacons covers this subject."""
        mirror = self._mirror
        decider = Decider(mirror.layers[0], mirror.roster, mirror.law, self._config.delivered_max)
        return set(decider.beacons(subject))

    def run(
        self,
        diff: PendingRow,
        probe: Grid,
        now: datetime,
        near_all: NDArray[np.float32] | None = None,
    ) -> waves.Ran:
        """The wave of a diff on the graph as it is now; ``near_all`` as waves.run has it."""
        layer = self._mirror.layers[diff.layer]
        origin = layer.row(diff.cell_id)
        assert origin is not None, "a diff is linked before it travels"
        return waves.run(
            layer,
            origin,
            probe,
            # What goes by the delivery log alone spreads over no cell.
            diff.energy if travels(diff, now) else 0,
            base=self._mirror.law.baseline(diff.vector),
            relay_min=self._mirror.law.relay_min,
            now_days=days_of(now),
            limits=self._limits,
            near_all=near_all,
        )

    def judge(
        self,
        diff: PendingRow,
        probe: Grid,
        ran: waves.Ran,
        told: Mapping[AgentId, None],
        exhausted: frozenset[AgentId],
        now: datetime,
    ) -> Settled:
        """Decide who receives what a finished wave carried."""
        mirror = self._mirror
        layer = mirror.layers[diff.layer]
        decider = Decider(layer, mirror.roster, mirror.law, self._config.delivered_max)
        decision = decider.decide(self.subject(diff, probe, now), ran, told, exhausted)
        paths = {
            landing.agent_id: (
                tuple(CellId(layer.cell_id(r)) for r in landing.path),
                tuple(ran.energy - cost for cost in ran.costs_at(landing.path)),
            )
            for landing in decision.landings
        }
        return Settled(
            diff=diff,
            settled=len(ran.settled),
            rounds=ran.rounds,
            gate=mirror.law.gate,
            truncated=ran.truncated,
            hops=_hops(ran),
            decision=decision,
            paths=paths,
        )


def travels(diff: PendingRow, now: datetime) -> bool:
    """Whether a diff spreads at all: not a retraction, nor a cell that no longer stands.

    Such a one still follows the delivery log, or a correction of a correction would be lost.
    """
    lasts = diff.cell_expires_at is None or diff.cell_expires_at > now
    return lasts and diff.kind is not DiffKind.RETRACTED and diff.state is CellState.ACTIVE


def _hops(ran: waves.Ran) -> list[dict[str, float]]:
    """The wave hop by hop: cells settled and relaying, least energy left."""
    settled = np.bincount(ran.hops)
    relayed = np.bincount(ran.hops.compress(ran.relayed), minlength=len(settled))
    dearest = np.zeros(len(settled), np.int64)
    np.maximum.at(dearest, ran.hops, ran.costs)
    return [
        {
            "hops": hop,
            "settled": int(settled[hop]),
            "relayed": int(relayed[hop]),
            "energy_least": (ran.energy - int(dearest[hop])) / MICRO,
        }
        for hop in range(min(len(settled), _HOPS_SHOWN))
    ]
