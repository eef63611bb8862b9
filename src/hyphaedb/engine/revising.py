"""What may happen to a cell after it was stored: replaced, taken back, confirmed, erased.

Text never changes in place. Each of these is a diff or a signal of its own, so it travels (or is
taken into the mirror) the same way as everything else.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hyphaedb.engine import validation
from hyphaedb.engine.backlog import Backlog
from hyphaedb.engine.composing import Composer
from hyphaedb.engine.context import Context
from hyphaedb.engine.members import Members
from hyphaedb.engine.signals import SignalKind, emit
from hyphaedb.engine.wakeups import WORK
from hyphaedb.errors import Conflict, Invalid, NotFound
from hyphaedb.model import (
    Cell,
    CellId,
    CellState,
    DiffId,
    DiffKind,
    DiffState,
    EdgeKind,
    NewCell,
    Stored,
    StoreOutcome,
)
from hyphaedb.protocol import energy
from hyphaedb.store import cells, graph, journal, log
from hyphaedb.store.agents import AGENTS_MAX
from hyphaedb.store.graph import Edge
from hyphaedb.store.rows import DiffRow, Known


class Reviser:
    """Changes what is stored. Safe for many tasks at once."""

    def __init__(self, context: Context, members: Members) -> None:
        self._context = context
        self._members = members
        self._composer = Composer(context)
        self._backlog = Backlog(context)

    async def replace(
        self, cell_id: CellId, cell: NewCell | str, agent: str, kind: DiffKind
    ) -> Stored:
        """A new cell in place of an old one, whose validity ends; announced as ``kind``."""
        context = self._context
        author = await self._members.active(agent)
        old = await self.known(cell_id)
        if isinstance(cell, str):
            kept = old.cell
            # Only the words change: what branch it belongs to and what it is tagged with stay.
            cell = NewCell(
                cell,
                type=kept.type,
                salience=kept.salience,
                confidence=kept.confidence,
                tags=kept.tags,
                metadata=kept.metadata,
                ref=kept.ref,
            )
        new = validation.new_cell(cell, context.config.body_chars_max)
        await self._backlog.admit()
        vectors, windows = await self._composer.embed([new.body])
        now = context.now()
        row = self._composer.cell(new, author, vectors[0], windows[0], now, replaces=cell_id)
        diff = replace(self._composer.diff(row, kind), about=cell_id)
        async with context.database.transaction() as tx:
            closed = await cells.close_cell(
                tx, context.info.mesh_id, cell_id, CellState.SUPERSEDED, now
            )
            if not closed:
                raise Conflict(
                    f"Cell {cell_id} no longer stands ({_how(old)}).",
                    "Replace the cell that replaced it; `trace` names it.",
                )
            inserted = await cells.insert_cell(tx, context.info.mesh_id, row, diff)
            if not inserted.created:
                raise Conflict(
                    f"The new text stands already, as cell {inserted.cell_id}.",
                    "Confirm that cell, and retract the old one if it is wrong.",
                )
            await emit(tx, context, SignalKind.CLOSED, cell_id)
        context.wakeups.ring(WORK, context.info.mesh_id)
        return Stored(
            row.cell_id, diff.diff_id, StoreOutcome.CREATED, windows[0], DiffState.PENDING
        )

    async def retract(self, cell_id: CellId, agent: str, reason: str) -> Stored:
        """Take a cell back and tell everyone who had received it."""
        context = self._context
        author = await self._members.active(agent)
        validation.text(reason, "reason", 1_000)
        old = await self.known(cell_id)
        now = context.now()
        diff = DiffRow(
            diff_id=DiffId(context.ids.new()),
            kind=DiffKind.RETRACTED,
            cell_id=cell_id,
            agent_id=author.agent.agent_id,
            layer=old.cell.layer,
            energy=self._composer.energy(old.cell.salience, old.cell.type),
            created_at=now,
            expires_at=now + timedelta(days=context.config.diff_ttl_days),
            about=cell_id,
            cause=f"retract/{cell_id}",
            reason=reason,
        )
        async with context.database.transaction() as tx:
            if not await cells.close_cell(
                tx, context.info.mesh_id, cell_id, CellState.RETRACTED, now
            ):
                raise Conflict(
                    f"Cell {cell_id} no longer stands ({_how(old)}).",
                    "Nothing is left to retract; `who-saw` lists who received it.",
                )
            await journal.append_diff(tx, context.info.mesh_id, diff)
            await emit(tx, context, SignalKind.CLOSED, cell_id)
        context.wakeups.ring(WORK, context.info.mesh_id)
        return Stored(cell_id, diff.diff_id, StoreOutcome.CREATED, old.windows, DiffState.PENDING)

    async def confirm(self, cell_id: CellId, agent: str) -> Cell:
        """An agent vouches for a cell."""
        context = self._context
        voucher = await self._members.active(agent)
        await self.known(cell_id)
        now = context.now()
        async with context.database.transaction() as tx:
            await self._composer.confirm(tx, cell_id, voucher, now)
        context.wakeups.ring(WORK, context.info.mesh_id)
        return (await self.known(cell_id)).cell

    async def relate(self, src: CellId, dst: CellId, kind: EdgeKind, omega: float) -> None:
        """Add or re-weigh a typed edge."""
        context = self._context
        kind = validation.member(EdgeKind, kind, "edge kind")
        share = validation.share(omega, "omega")
        if share == 0.0:
            raise Invalid("An edge of weight 0 leads nowhere.", "Pass a weight above 0.")
        ends = [(await self.known(c)).cell for c in (src, dst)]
        if ends[0].layer != ends[1].layer or src == dst:
            raise Invalid("The two cells are one, or on two layers.", "Relate cells of one layer.")
        now = context.now()
        cost = energy.link_cost_micro(share)
        async with context.database.transaction() as tx:
            edge = Edge(
                edge_id=context.ids.new(),
                layer=ends[0].layer,
                src=src,
                dst=dst,
                kind=kind,
                omega=share,
                cost=cost,
                bandwidth=None,
                bridge=False,
                created_at=now,
            )
            edge_id = await graph.put_edge(tx, context.info.mesh_id, edge)
            await emit(tx, context, SignalKind.EDGE, edge_id)
        context.wakeups.ring(WORK, context.info.mesh_id)

    async def forget(self, cell_id: CellId) -> int:
        """Hard erase; returns how many deliveries went with it."""
        validation.cell_id(cell_id)
        context = self._context
        mesh_id = context.info.mesh_id
        async with context.database.transaction() as tx:
            # Held first: a reader who touched it between a look and the erasing would keep a
            # position made of it.
            if not await cells.hold_to_forget(tx, mesh_id, cell_id):
                raise self._missing(cell_id)
            erased = await log.count_deliveries(tx, mesh_id, cell_id)
            touched = await cells.cell_footprints(tx, mesh_id, cell_id, AGENTS_MAX)
            await cells.forget(tx, mesh_id, cell_id)
            await emit(tx, context, SignalKind.FORGOTTEN, cell_id)
            for footprint in touched:
                await emit(tx, context, SignalKind.FORGOTTEN, cell_id, footprint.holder_id)
        context.wakeups.ring(WORK, context.info.mesh_id)
        return erased

    async def known(self, cell_id: CellId) -> Known:
        """A cell and what the store knows of it; NotFound where there is none."""
        validation.cell_id(cell_id)
        async with self._context.database.statement() as tx:
            found = await cells.known(tx, self._context.info.mesh_id, [cell_id])
        if not found:
            raise self._missing(cell_id)
        return found[0]

    def _missing(self, cell_id: CellId) -> NotFound:
        mesh = self._context.info.name
        return NotFound(
            f"There is no cell {cell_id} in mesh {mesh!r}.",
            "It may have been forgotten; recall finds what is there.",
        )


def _how(old: Known) -> str:
    """Why a cell could not be closed: what it was when it was read, or somebody was quicker."""
    quicker = old.cell.state is CellState.ACTIVE
    return "closed by another a moment ago" if quicker else old.cell.state.value
