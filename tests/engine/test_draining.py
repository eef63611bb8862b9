"""The tail on its way into the index, and what must not grow for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hyphaedb.mesh import Mesh
from hyphaedb.model import MeshId, NewCell
from hyphaedb.store import indexes
from hyphaedb.store.pool import Database
from tests.engine.conftest import Clock, Place
from tests.engine.scenes import inbox, settled

#: How often to look, and how many times: half a minute for a few dozen rows on a busy machine.
_LOOK_S, _LOOKS = 0.02, 1_500


async def _until(done: Callable[[], Awaitable[bool]]) -> None:
    """Look until it is so: what is waited for is another task's work in the database."""
    for _ in range(_LOOKS):
        if await done():
            return
        await asyncio.sleep(_LOOK_S)
    raise AssertionError("It did not come about in time.")


async def _drained(mesh: Mesh) -> None:
    async def empty() -> bool:
        return (await mesh.stats()).tail == 0

    await _until(empty)


async def test_the_tail_drains_into_the_index_and_nothing_is_lost_on_the_way(place: Place) -> None:
    mesh = await place.open()
    await mesh.register("ann")
    bodies = [f"release canary note number {n}" for n in range(20)]
    for body in bodies:
        await mesh.store(body, agent="ann")
    await settled(mesh)
    await _drained(mesh)

    found = await mesh.recall("release canary note number", k=50, floor=0.0, tokens=100_000)
    assert sorted(h.cell.body for h in found.hits) == sorted(bodies)


async def test_an_import_rebuilds_the_index_and_leaves_it_usable(
    place: Place, database: Database
) -> None:
    """Three normal tails at once are an import: built in bulk, and the index is there again."""
    mesh = await place.open(tail_normal=10)
    await mesh.register("ann")
    cells = [NewCell(f"imported release canary note {n}") for n in range(60)]
    await mesh.store_many(cells, agent="ann")
    await settled(mesh)
    await _drained(mesh)

    async def there() -> bool:
        return not await indexes.missing(database, mesh.info.dimension)

    await _until(there)
    found = await mesh.recall("imported release canary note", k=100, floor=0.0, tokens=100_000)
    assert len(found.hits) == 60


async def test_expired_inbox_items_are_removed_while_nothing_else_is_to_do(
    place: Place, clock: Clock, database: Database
) -> None:
    mesh = await place.open(diff_ttl_days=1)
    await mesh.register("ann")
    await mesh.register("bob")
    await mesh.beacon("bob", "all", "release canary rollback", radius=0.3)
    await mesh.store("release canary rollback", agent="ann")
    await settled(mesh)
    assert len(await inbox(mesh, "bob")) == 1
    name = mesh.info.name
    await mesh.close()

    clock.move(days=2)
    again = await place.open(name)

    async def gone() -> bool:
        return await _rows(database, mesh.info.mesh_id) == 0

    await _until(gone)
    assert await inbox(again, "bob") == []


async def _rows(database: Database, mesh_id: MeshId) -> int:
    async with database.statement() as tx:
        cursor = await tx.execute(
            "SELECT count(*) FROM hyphaedb.inbox WHERE mesh_id = %s", (mesh_id,)
        )
        found = await cursor.fetchone()
    assert found is not None
    return int(found[0])


async def test_a_dry_run_of_a_beacon_with_tags_finds_matches_behind_untagged_ones(
    place: Place,
) -> None:
    mesh = await place.open()
    await mesh.register("ann")
    for n in range(6):
        await mesh.store(f"release canary rollback {n}", agent="ann")
    await mesh.store(NewCell("release canary rollback stage", tags=("prod",)), agent="ann")
    found = await mesh.beacon_dry_run("release canary rollback", radius=0.2, tags=["prod"], limit=2)

    assert [m.headline for m in found] == ["release canary rollback stage"]
