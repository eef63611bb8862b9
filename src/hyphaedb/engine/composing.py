"""Putting a cell and its diff together: the embedding, the ids, the energy; nothing written."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from hyphaedb.engine import validation
from hyphaedb.engine.context import Context
from hyphaedb.engine.identity import named
from hyphaedb.engine.signals import SignalKind, emit
from hyphaedb.errors import Invalid, Unavailable
from hyphaedb.model import (
    CellId,
    CellType,
    DiffId,
    DiffKind,
    DiffState,
    NewCell,
    SessionId,
    Stored,
    StoreOutcome,
)
from hyphaedb.protocol import energy
from hyphaedb.providers.windows import embed_bodies
from hyphaedb.store import cells
from hyphaedb.store.cells import Inserted
from hyphaedb.store.pool import Tx
from hyphaedb.store.rows import AgentRow, CellRow, DiffRow

#: float32 sums of a few thousand squares stay well within this of 1.
_LENGTH_SLACK = 1e-2


async def embed(context: Context, texts: list[str]) -> tuple[NDArray[np.float32], list[int]]:
    """Unit vectors and window counts; Unavailable for an answer that cannot be one.

    Every text of a mesh is embedded here: a vector of another size or with NaN must not get in.
    """
    vectors, windows = await embed_bodies(context.embedder, texts)
    wanted = (len(texts), context.info.dimension)
    if vectors.shape != wanted or not np.isfinite(vectors).all():
        raise Unavailable(
            f"The embedder answered {vectors.shape} numbers where {wanted} belong, or no finite"
            " ones.",
            "Check the embedder; nothing was written.",
        )
    if np.abs(np.linalg.norm(vectors, axis=1) - 1.0).max(initial=0.0) > _LENGTH_SLACK:
        raise Unavailable(
            "The embedder answered a vector that is not of length 1.",
            "Check the embedder; nothing was written.",
        )
    return vectors, windows


class Composer:
    """Rows of one mesh, made from checked input."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def embed(self, bodies: list[str]) -> tuple[NDArray[np.float32], list[int]]:
        """See :func:`embed`."""
        return await embed(self._context, bodies)

    def energy(self, salience: float, kind: CellType) -> int:
        """E0 of a cell's diff in micro-units (Eq. 5)."""
        return energy.initial_energy_micro(
            salience, [kind], e_base=self._context.config.energy_base
        )

    def cell(
        self,
        new: NewCell,
        author: AgentRow,
        vector: NDArray[np.float32],
        windows: int,
        now: datetime,
        *,
        replaces: CellId | None = None,
    ) -> CellRow:
        """The row of a new layer-0 cell, its id minted."""
        context = self._context
        if new.expires_at is not None and new.expires_at <= (new.valid_from or now):
            raise Invalid("The cell would expire before it is valid.", "Correct expires_at.")
        session = SessionId(named(context.info.mesh_id, new.session)) if new.session else None
        return CellRow(
            cell_id=CellId(context.ids.new()),
            layer=0,
            type=new.type,
            body=new.body,
            agent_id=author.agent.agent_id,
            principal_id=author.principal_id,
            holder_id=author.holder_id,
            day=author.agent.active_days,
            session_id=session,
            session=new.session,
            tags=new.tags,
            metadata=new.metadata,
            ref=new.ref,
            salience=new.salience,
            confidence=new.confidence,
            content_hash=validation.content_hash(new, 0),
            windows=windows,
            replaces=replaces,
            sources=new.sources,
            created_at=now,
            valid_from=new.valid_from or now,
            expires_at=new.expires_at,
            model_id=context.model_id,
            dimension=context.info.dimension,
            vector=vector,
        )

    def diff(self, row: CellRow, kind: DiffKind) -> DiffRow:
        """The diff that announces a cell."""
        return DiffRow(
            diff_id=DiffId(self._context.ids.new()),
            kind=kind,
            cell_id=row.cell_id,
            agent_id=row.agent_id,
            layer=row.layer,
            energy=self.energy(row.salience, row.type),
            created_at=row.created_at,
            expires_at=row.created_at + timedelta(days=self._context.config.diff_ttl_days),
        )

    async def insert(
        self, tx: Tx, row: CellRow, diff: DiffRow, author: AgentRow, now: datetime
    ) -> Stored:
        """Write the cell, or turn an exact repeat into a confirmation."""
        inserted = await cells.insert_cell(tx, self._context.info.mesh_id, row, diff)
        return await self.outcome(tx, inserted, row, diff, author, now)

    async def outcome(
        self,
        tx: Tx,
        inserted: Inserted,
        row: CellRow,
        diff: DiffRow,
        author: AgentRow,
        now: datetime,
    ) -> Stored:
        """What a store came to: a new cell, or a word on the one that was there."""
        if inserted.created:
            return Stored(
                row.cell_id, diff.diff_id, StoreOutcome.CREATED, row.windows, DiffState.PENDING
            )
        outcome = StoreOutcome.REPEATED
        if inserted.agent_id != author.agent.agent_id:
            counted = await self.confirm(tx, inserted.cell_id, author, now)
            outcome = StoreOutcome.CONFIRMED if counted else StoreOutcome.REPEATED
        return Stored(inserted.cell_id, None, outcome, row.windows, DiffState.DONE)

    async def confirm(self, tx: Tx, cell_id: CellId, voucher: AgentRow, now: datetime) -> bool:
        """A vote for a cell; returns whether it counted. The owner of the mesh hears of it."""
        mesh_id = self._context.info.mesh_id
        day = voucher.agent.active_days
        counted = await cells.confirm(tx, mesh_id, cell_id, voucher.holder_id, day, now)
        if counted:
            await emit(tx, self._context, SignalKind.TOUCHED, cell_id, voucher.holder_id)
        return counted
