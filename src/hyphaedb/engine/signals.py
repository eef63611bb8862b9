"""What faces tell the owner of a mesh: rows it takes into its mirror and deletes, in order."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from hyphaedb.engine.context import Context
from hyphaedb.store import jobs
from hyphaedb.store.pool import Tx


class SignalKind(StrEnum):
    """``subject`` and ``other`` of a signal, by kind."""

    #: Agents, beacons, mutes or the mesh's switches changed; subject is the agent, or the mesh.
    ROSTER = "roster"
    #: An agent or beacon is new or cares for something new; subject is the agent.
    NEWCOMER = "newcomer"
    #: A cell was confirmed or used; subject is the cell, other the holder.
    TOUCHED = "touched"
    #: A cell was recalled; subject is the cell, other the holder.
    RECALLED = "recalled"
    #: A cell was superseded or retracted; subject is the cell.
    CLOSED = "closed"
    #: A cell was erased; subject is the cell. Once more for each holder that had touched it, as
    #: other: a position made of it must be made anew.
    FORGOTTEN = "forgotten"
    #: A typed edge was added or changed; subject is the edge.
    EDGE = "edge"
    #: Sweep everything now; subject is the mesh.
    SWEEP = "sweep"


async def emit(
    tx: Tx, context: Context, kind: SignalKind, subject: UUID, other: UUID | None = None
) -> None:
    """Leave a signal in the transaction that makes the change."""
    await jobs.emit(
        tx,
        context.info.mesh_id,
        signal_id=context.ids.new(),
        kind=kind.value,
        subject=subject,
        other=other,
        now=context.now(),
    )
