"""Agents register as often as they like; roles share a holder; leaves hang where they were put."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from hyphaedb.errors import Conflict, NotFound
from hyphaedb.model import Beacon, BeaconId, CellId, CellType, Interests
from hyphaedb.store import agents
from hyphaedb.store.access import MeshRow
from hyphaedb.store.agents import Attachment, NewAgent
from hyphaedb.store.pool import Database
from hyphaedb.store.rows import AgentRow
from tests.store.scenery import NOW, an_agent, fresh_id, later, unit


def a_newcomer(name: str, **fields: object) -> NewAgent:
    return NewAgent(fresh_id(), fresh_id(), name, **fields)  # type: ignore[arg-type]


async def test_registering_again_changes_only_what_is_stated(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    interests = Interests("rate limits", ("api",), (CellType.RISK,))
    async with database.transaction() as tx:
        first, new = await agents.upsert_agent(
            tx, mesh_id, a_newcomer("ada", interests=interests, interest=unit(1)), NOW
        )
        await agents.retire(tx, mesh_id, first.agent.agent_id, NOW)
        second, again = await agents.upsert_agent(tx, mesh_id, a_newcomer("ada"), later(days=1))
        third, _ = await agents.upsert_agent(
            tx, mesh_id, a_newcomer("ada", interests=Interests("billing"), interest=unit(2)), NOW
        )
    assert (new, again) == (True, False)
    assert second.agent.agent_id == first.agent.agent_id
    assert second.agent.retired_at is None
    assert second.agent.interests == interests
    assert second.interest is not None
    assert float(second.interest @ unit(1)) > 0.99
    assert third.agent.interests == Interests("billing")
    assert third.interest is not None
    assert float(third.interest @ unit(2)) > 0.99


async def test_eight_registrations_at_once_make_one_agent(
    database: Database, mesh: MeshRow
) -> None:
    async def one() -> tuple[AgentRow, bool]:
        async with database.transaction() as tx:
            return await agents.upsert_agent(tx, mesh.info.mesh_id, a_newcomer("ada"), NOW)

    done = await asyncio.gather(*(one() for _ in range(8)))
    assert sum(new for _, new in done) == 1
    assert len({row.agent.agent_id for row, _ in done}) == 1


async def test_instances_of_a_role_share_its_holder_and_no_name_changes_role(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        one = await an_agent(tx, mesh, "scout-1", role="scout")
        two = await an_agent(tx, mesh, "scout-2", role="scout")
        alone = await an_agent(tx, mesh, "ada")
        with pytest.raises(Conflict):
            await an_agent(tx, mesh, "ada", role="scout")
    assert one.holder_id == two.holder_id
    assert one.principal_id != two.principal_id
    assert alone.holder_id == alone.agent.agent_id


async def test_an_unknown_agent_is_named_with_those_that_come_close(
    database: Database, mesh: MeshRow
) -> None:
    async with database.transaction() as tx:
        await an_agent(tx, mesh, "reviewer")
        with pytest.raises(NotFound, match="Did you mean 'reviewer'"):
            await agents.agent_by_name(tx, mesh.info.mesh_id, "reviever")


async def test_agents_come_in_pages_without_the_retired(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        made = [await an_agent(tx, mesh, name) for name in ("ada", "bob", "cyd", "dan")]
        retired = [await agents.retire(tx, mesh_id, made[1].agent.agent_id, NOW) for _ in range(2)]
        first = await agents.agents(tx, mesh_id, limit=2)
        rest = await agents.agents(tx, mesh_id, after=first[-1].agent.name)
        everyone = await agents.agents(tx, mesh_id, retired=True)
    assert retired == [True, False]
    assert [a.agent.name for a in (*first, *rest)] == ["ada", "cyd", "dan"]
    assert [a.agent.name for a in everyone] == ["ada", "bob", "cyd", "dan"]


async def test_positions_and_attachments_replace_what_was_there(
    database: Database, mesh: MeshRow
) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada = (await an_agent(tx, mesh, "ada")).holder_id
        assert await agents.positions(tx, mesh_id) == []
        hung = [
            Attachment(0, ada, tuple(CellId(uuid4()) for _ in range(n)), unit(n), later(hours=n))
            for n in (1, 2)
        ]
        for n in (1, 2):
            await agents.put_position(tx, mesh_id, ada, unit(n), later(hours=n))
            await agents.put_attachments(tx, mesh_id, [hung[n - 1]])
        [position] = await agents.positions(tx, mesh_id)
        [attached] = await agents.attachments(tx, mesh_id)
    assert (position.holder_id, position.moved_at) == (ada, later(hours=2))
    assert float(position.vector @ unit(2)) > 0.99
    assert attached.cell_ids == hung[1].cell_ids


async def test_a_beacon_is_reshaped_by_its_name(database: Database, mesh: MeshRow) -> None:
    mesh_id = mesh.info.mesh_id
    async with database.transaction() as tx:
        ada, bob = await an_agent(tx, mesh, "ada"), await an_agent(tx, mesh, "bob")
        shapes = [
            Beacon(BeaconId(uuid4()), "ada", "breaking", "breaking change", radius,
                   (CellType.DECISION,), ("api",), NOW)
            for radius in (0.4, 0.5)
        ]  # fmt: skip
        ids = [
            await agents.put_beacon(tx, mesh_id, ada.agent.agent_id, shape, unit(1))
            for shape in shapes
        ]
        [found] = await agents.beacons(tx, mesh_id)
        none = await agents.beacons(tx, mesh_id, bob.agent.agent_id)
        removed = [
            await agents.remove_beacon(tx, mesh_id, ada.agent.agent_id, "breaking")
            for _ in range(2)
        ]
    assert ids == [shapes[0].beacon_id] * 2
    assert (found.beacon.radius, found.beacon.types, found.beacon.tags) == (
        0.5, (CellType.DECISION,), ("api",),
    )  # fmt: skip
    assert (none, removed) == ([], [shapes[0].beacon_id, None])
