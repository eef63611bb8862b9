"""Routes for knowledge: store, replace, take back, ask, explain."""

from __future__ import annotations

from uuid import UUID

from fastapi import Response, status

from hyphaedb.entrypoints.rest.here import IdempotencyKey, MeshHere, routes
from hyphaedb.entrypoints.rest.pages import PAGE_ITEMS, Cursor, Limit, page_of
from hyphaedb.model import (
    Cell,
    CellId,
    DiffId,
    Recalled,
    Receipt,
    Seen,
    Stored,
    StoreOutcome,
    Trace,
)
from hyphaedb.wire.answers import Count, Page
from hyphaedb.wire.requests import (
    ConfirmRequest,
    EdgeRequest,
    RecallRequest,
    ReplaceRequest,
    RetractRequest,
    StoreManyRequest,
    StoreRequest,
)

router = routes("knowledge")


@router.post("/cells", operation_id="store", status_code=status.HTTP_201_CREATED)
async def store(
    mesh: MeshHere, body: StoreRequest, response: Response, idempotency_key: IdempotencyKey = None
) -> Stored:
    """Store a cell and publish it: 201 when it is new, 200 when it was there.

    The same text by another agent confirms the cell that is there. With `wait` = `delivered`
    the answer carries a receipt, or the state `pending` once `timeout_s` is over.
    """
    stored = await mesh.store(
        body.cell.to_model(),
        agent=body.agent,
        idempotency_key=idempotency_key,
        wait=body.wait,
        timeout_s=body.timeout_s,
    )
    if stored.outcome is not StoreOutcome.CREATED:
        response.status_code = status.HTTP_200_OK
    return stored


@router.post("/cells/batch", operation_id="store_many", status_code=status.HTTP_201_CREATED)
async def store_many(mesh: MeshHere, body: StoreManyRequest) -> Page[Stored]:
    """Store up to 1,000 cells in one transaction, in order; all or none."""
    cells = [cell.to_model() for cell in body.cells]
    stored = await mesh.store_many(cells, agent=body.agent, session=body.session)
    return Page(items=list(stored))


@router.get("/cells/{cell_id}", operation_id="cell")
async def cell(mesh: MeshHere, cell_id: UUID) -> Cell:
    """One cell, whatever its state."""
    return await mesh.cell(CellId(cell_id))


@router.delete("/cells/{cell_id}", operation_id="forget")
async def forget(mesh: MeshHere, cell_id: UUID) -> Count:
    """Erase a cell everywhere at once, inboxes included; counts the deliveries erased.

    Postgres's files and backups hold the bytes until a vacuum, a checkpoint and their own end.
    """
    return Count(count=await mesh.forget(CellId(cell_id)))


@router.post("/cells/{cell_id}/update", operation_id="update")
async def update(mesh: MeshHere, cell_id: UUID, body: ReplaceRequest) -> Stored:
    """Say the same thing better: a new cell replaces this one. `body` alone keeps the rest."""
    return await mesh.update(CellId(cell_id), body.replacement(), agent=body.agent)


@router.post("/cells/{cell_id}/supersede", operation_id="supersede")
async def supersede(mesh: MeshHere, cell_id: UUID, body: ReplaceRequest) -> Stored:
    """Overturn a cell: everyone who had received it is told. `body` alone keeps the rest."""
    return await mesh.supersede(CellId(cell_id), body.replacement(), agent=body.agent)


@router.post("/cells/{cell_id}/retract", operation_id="retract")
async def retract(mesh: MeshHere, cell_id: UUID, body: RetractRequest) -> Stored:
    """Take a cell back: it leaves gossip, and everyone who had received it is told, and why."""
    return await mesh.retract(CellId(cell_id), agent=body.agent, reason=body.reason)


@router.post("/cells/{cell_id}/confirm", operation_id="confirm")
async def confirm(mesh: MeshHere, cell_id: UUID, body: ConfirmRequest) -> Cell:
    """Say that one independently holds a cell to be true. Counted once an agent."""
    return await mesh.confirm(CellId(cell_id), agent=body.agent)


@router.post("/edges", operation_id="relate")
async def relate(mesh: MeshHere, body: EdgeRequest) -> Count:
    """Add a typed edge between two cells of one layer; again changes its weight."""
    await mesh.relate(**body.given())
    return Count(count=1)


@router.post("/recalls", operation_id="recall")
async def recall(mesh: MeshHere, body: RecallRequest) -> Recalled:
    """The cells that answer a query, best first, each with an explained score.

    A POST, because with `agent` the reading moves the reader.
    """
    where = body.where.to_model() if body.where is not None else None
    return await mesh.recall(**body.given("where"), where=where)


@router.get("/cells/{cell_id}/seen", operation_id="who_saw")
async def who_saw(
    mesh: MeshHere, cell_id: UUID, cursor: Cursor = None, limit: Limit = PAGE_ITEMS
) -> Page[Seen]:
    """Every agent that knows a cell, by name, and how."""
    seen = await mesh.who_saw(CellId(cell_id))
    return page_of("seen", seen, lambda s: (s.agent,), cursor, limit)


@router.get("/cells/{cell_id}/receipt", operation_id="receipt")
async def receipt(mesh: MeshHere, cell_id: UUID) -> Receipt:
    """What became of a cell's newest diff."""
    return await mesh.receipt(CellId(cell_id))


@router.get("/traces/{subject}", operation_id="trace")
async def trace(mesh: MeshHere, subject: UUID) -> Trace:
    """The wave of a diff (or of a cell's newest diff), hop by hop."""
    return await mesh.trace(DiffId(subject))
