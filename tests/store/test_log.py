"""The delivery log: whom a correction concerns, and what sweeps brought."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

from hyphaedb.model import DiffId, Route
from hyphaedb.store import agents, cells, journal, log
from hyphaedb.store.access import MeshRow
from hyphaedb.store.journal import NewDelivery
from hyphaedb.store.pool import Database
from hyphaedb.store.rows import AgentRow, DiffRow
from tests.store.scenery import NOW, a_cell, a_diff, an_agent, later


def swept(diff: DiffRow, agent: AgentRow, route: Route) -> NewDelivery:
    return NewDelivery(
        diff.diff_id, agent.agent.agent_id, diff.cell_id, route, 1, 1, 1, 1, 0, (), (), None,
        False, diff.expires_at,
    )  # fmt: skip


async def test_a_correction_concerns_whoever_received_or_touched_the_cell(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada, got, shadowed, read, gone, _ = [
            await an_agent(tx, mesh, n) for n in ("ada", "got", "shadowed", "read", "gone", "idle")
        ]
        cell = a_cell(mesh, ada, "to be corrected")
        diff = a_diff(cell)
        await cells.insert_cell(tx, mesh_id, cell, diff)
        deliveries = [
            swept(diff, got, Route.WAVE),
            swept(diff, gone, Route.WAVE),
            replace(swept(diff, shadowed, Route.WAVE), shadow=True),
        ]
        await journal.record_deliveries(tx, mesh_id, deliveries, seq=0, now=NOW)
        await cells.touch(
            tx, mesh_id, read.holder_id, [cell.cell_id], day=1, session_id=None, now=NOW
        )
        await agents.retire(tx, mesh_id, gone.agent.agent_id, NOW)
        concerned = await log.recipients(tx, mesh_id, cell.cell_id)
        counted = await log.count_deliveries(tx, mesh_id, cell.cell_id)
    assert set(concerned) == {a.agent.agent_id for a in (ada, got, read)}
    assert counted == 3


async def test_what_sweeps_brought_from_before_an_agent_came_is_counted(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
        old, new = (
            a_cell(mesh, ada, "older", at=later(days=-1)),
            a_cell(mesh, ada, "newer", at=later(days=1)),
        )
        for n, (cell, route) in enumerate(((old, Route.SWEEP), (new, Route.SWEEP))):
            diff = a_diff(cell)
            await cells.insert_cell(tx, mesh_id, cell, diff)
            given = [swept(diff, bob, route)]
            await journal.record_deliveries(tx, mesh_id, given, seq=n, now=NOW)
        past = await log.past_counts(tx, mesh_id)
        brought = await log.count_swept(tx, mesh_id)
    assert past == {bob.agent.agent_id: 1}
    assert brought == 2


async def test_held_diffs_are_those_still_there(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = await an_agent(tx, mesh, "ada")
        cell = a_cell(mesh, ada, "held")
        diff = a_diff(cell)
        await cells.insert_cell(tx, mesh_id, cell, diff)
        held = await log.hold_diffs(tx, mesh_id, [diff.diff_id, DiffId(uuid4())])
    assert held == {diff.diff_id}
