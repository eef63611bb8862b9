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
from hyphaedb.engine.deciding import Decider, Decision, Subject
from hyphaedb.engine.linking import Linker, gridded
from hyphaedb.engine.mirror import Mirror
from hyphaedb.engine.topology import Grid, Layer, days_of
from hyphaedb.engine.touches import KNOWS
from hyphaedb.model import AgentId, CellId, CellState, DiffId, DiffKind
from hyphaedb.protocol.wave import WaveLimits
from hyphaedb.store.graph import Edge, Panel
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


@dataclass(slots=True)
class Plan:
    """Everything one transaction has to write."""

    links: list[Linked] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    moved: set[int] = field(default_factory=set)
    attached: set[int] = field(default_factory=set)
    used: list[tuple[UUID, CellId]] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    bridges: list[Edge] = field(default_factory=list)


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
        exhausted: frozenset[AgentId],
        now: datetime,
    ) -> Plan:
        """Link what is new and run every diff's wave, in the order given."""
        plan = Plan()
        new = [d for d in diffs if d.ordinal is None and self._mirror.row(d) is None]
        linkers = self._linkers(new)
        added: dict[int, list[int]] = {}
        probes = gridded(np.stack([d.vector for d in diffs])) if diffs else None
        seen: set[CellId] = set()
        places: dict[int, int] = {}
        for i, diff in enumerate(diffs):
            assert probes is not None
            if self._mirror.panel_due():
                # Before the cell joins: it must not be its own yardstick.
                plan.panels.append(self._mirror.draw_panel(now))
            if diff.cell_id not in seen and diff.layer in linkers and diff in new:
                place = places.get(diff.layer, 0)
                places[diff.layer] = place + 1
                rows = added.setdefault(diff.layer, [])
                rows.append(self._link(plan, diff, probes[i], linkers[diff.layer], place, rows))
            seen.add(diff.cell_id)
            plan.settled.append(
                self._settle(
                    diff, probes[i], dict.fromkeys(told.get(diff.diff_id, ())), exhausted, now
                )
            )
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
        added: list[int],
    ) -> int:
        """Give a new cell its links, its author's touch and its place near the agents."""
        mirror = self._mirror
        layer = mirror.layers[diff.layer]
        choice = linker.choose(place, added)
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
        layer.standing[row] = diff.state is CellState.ACTIVE
        targets = layer.ordinals[choice.targets]
        plan.links.append(Linked(diff.layer, ordinal, diff.cell_id, targets, choice.costs))
        holder = mirror.roster.holder(diff.author_holder)
        layer.touches.put(row, holder, int(mirror.roster.days[holder]), KNOWS)
        mirror.roster.known[holder] = True
        plan.moved.add(holder)
        self._use(plan, diff, holder, choice.targets, layer)
        if diff.layer == 0:
            plan.attached.update(mirror.roster.offer(row, diff.vector))
        return row

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
                layer.used_days[at] = max(float(layer.used_days[at]), days_of(diff.cell_created_at))
                plan.used.append((diff.author_holder, cell_id))

    def subject(self, diff: PendingRow, probe: Grid) -> Subject:
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
            probe=probe,
            vector=diff.vector,
        )

    def watched(self, subject: Subject) -> set[AgentId]:
        """Agents one of whose beacons covers this subject."""
        mirror = self._mirror
        decider = Decider(mirror.layers[0], mirror.roster, mirror.law, self._config.delivered_max)
        return set(decider.beacons(subject))

    def run(self, diff: PendingRow, probe: Grid, now: datetime) -> waves.Ran:
        """The wave of a diff on the graph as it is now."""
        layer = self._mirror.layers[diff.layer]
        origin = layer.row(diff.cell_id)
        assert origin is not None, "a diff is linked before it travels"
        return waves.run(
            layer,
            origin,
            probe,
            # A retraction goes by the delivery log alone; it spreads over no cell.
            0 if diff.kind is DiffKind.RETRACTED else diff.energy,
            base=self._mirror.law.baseline(diff.vector),
            relay_min=self._mirror.law.relay_min,
            dormancy=self._config.dormancy,
            now_days=days_of(now),
            limits=self._limits,
        )

    def _settle(
        self,
        diff: PendingRow,
        probe: Grid,
        told: Mapping[AgentId, None],
        exhausted: frozenset[AgentId],
        now: datetime,
    ) -> Settled:
        ran = self.run(diff, probe, now)
        return self.judge(diff, probe, ran, told, exhausted)

    def judge(
        self,
        diff: PendingRow,
        probe: Grid,
        ran: waves.Ran,
        told: Mapping[AgentId, None],
        exhausted: frozenset[AgentId],
    ) -> Settled:
        """Decide who receives what a finished wave carried."""
        mirror = self._mirror
        layer = mirror.layers[diff.layer]
        decider = Decider(layer, mirror.roster, mirror.law, self._config.delivered_max)
        decision = decider.decide(self.subject(diff, probe), ran, told, exhausted)
        cost_at = dict(zip(ran.settled.tolist(), ran.costs.tolist(), strict=True))
        paths = {
            landing.agent_id: (
                tuple(CellId(layer.cell_id(r)) for r in landing.path),
                tuple(ran.energy - int(cost_at[r]) for r in landing.path),
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


def _hops(ran: waves.Ran) -> list[dict[str, float]]:
    """The wave hop by hop: cells settled and relaying, least energy left."""
    rows = []
    for hop in range(min(int(ran.hops.max()) + 1 if len(ran.hops) else 0, _HOPS_SHOWN)):
        there = ran.hops == hop
        rows.append(
            {
                "hops": hop,
                "settled": int(there.sum()),
                "relayed": int((there & ran.relayed).sum()),
                "energy_least": float(ran.energy - ran.costs[there].max()) / 1e6,
            }
        )
    return rows
