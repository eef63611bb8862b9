"""Streams: what lands is told once and in order, across broken connections and restarts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast
from urllib.parse import quote

import httpx2
import pytest

from hyphaedb.config import Config
from hyphaedb.errors import Invalid, NotFound, Unavailable
from hyphaedb.mesh import Home
from hyphaedb.model import NewCell, Wait
from hyphaedb.remote import RemoteMesh
from hyphaedb.verbs import Verbs
from tests.entrypoints.conftest import serving

#: Longest any one event may take to come.
EVENT_S = 20

TOPIC = "The payment service retries a declined card"


async def tell(mesh: Verbs, number: int) -> None:
    """One more diff that lands at bob."""
    body = f"{TOPIC} after {number} minutes."
    await mesh.store(NewCell(body, salience=1.0), agent="ada", wait=Wait.DELIVERED)


async def introduced(mesh: Verbs) -> None:
    await mesh.register("ada")
    await mesh.register("bob")
    await mesh.beacon("bob", "payments", TOPIC, radius=0.3)


async def taken(stream: AsyncIterator[Any], count: int) -> list[Any]:
    """The next events of a stream, each within its time."""
    return [await asyncio.wait_for(anext(stream), EVENT_S) for _ in range(count)]


def closing(stream: AsyncIterator[Any]) -> Any:
    return aclosing(cast(Any, stream))


async def test_an_inbox_streams_from_a_cursor_on(remote: RemoteMesh) -> None:
    await introduced(remote)
    for number in range(3):
        await tell(remote, number)

    async with closing(remote.follow("bob", after=0)) as stream:
        first = await taken(stream, 3)
    async with closing(remote.follow("bob", after=first[0].cursor)) as stream:
        again = await taken(stream, 2)

    assert [i.cursor for i in first] == sorted({i.cursor for i in first})
    assert [i.cursor for i in again] == [i.cursor for i in first[1:]]


async def test_a_stream_goes_on_where_it_was_when_the_server_comes_back(
    home: Home, config: Config, mesh_name: str, local: Verbs
) -> None:
    await introduced(local)
    async with serving(home, config) as url:
        port = int(url.rpartition(":")[2])
        mesh = await RemoteMesh.open(url, mesh=mesh_name)
        stream = mesh.follow("bob", after=0)
        await tell(local, 1)
        before = await taken(stream, 1)
    await tell(local, 2)  # while nobody serves
    async with serving(home, config, port):
        await tell(local, 3)
        after = await taken(stream, 2)

        cursors = [i.cursor for i in before + after]
        assert cursors == sorted(set(cursors))
        page = await local.inbox("bob", items=50)
        assert set(cursors) == {i.cursor for i in page.items}
        await cast(Any, stream).aclose()
        await mesh.close()


async def test_a_browser_resumes_with_the_last_id_it_saw(
    http: httpx2.AsyncClient, mesh_name: str, remote: RemoteMesh
) -> None:
    await introduced(remote)
    for number in range(2):
        await tell(remote, number)
    path = f"/v1/meshes/{quote(mesh_name, safe='')}/agents/bob/inbox/stream"
    cursors = sorted(i.cursor for i in (await remote.inbox("bob")).items)

    headers = {"Last-Event-ID": str(cursors[0])}
    async with http.stream("GET", path, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = aiter(httpx2.EventSource(response))
        seen = [e for e in await taken(events, 2) if e.data]

    assert [(e.event, e.id) for e in seen] == [("item", str(cursors[1]))]


async def test_waves_stream_as_they_settle(remote: RemoteMesh) -> None:
    await introduced(remote)
    await tell(remote, 1)

    async with closing(remote.waves(after=0)) as stream:
        [(dot, wave)] = await taken(stream, 1)

    assert dot >= 1
    assert [d.agent for d in wave.deliveries] == ["bob"]


async def test_a_stream_of_nobody_is_refused_before_it_begins(
    http: httpx2.AsyncClient, mesh_name: str, remote: RemoteMesh
) -> None:
    path = f"/v1/meshes/{quote(mesh_name, safe='')}/agents/nobody/inbox/stream"

    assert (await http.get(path)).status_code == 404
    with pytest.raises(NotFound):
        await anext(remote.follow("nobody"))


async def test_a_malformed_last_id_is_refused(http: httpx2.AsyncClient, mesh_name: str) -> None:
    path = f"/v1/meshes/{quote(mesh_name, safe='')}/waves/stream"

    refused = await http.get(path, headers={"Last-Event-ID": "yesterday"})

    assert (refused.status_code, refused.json()["code"]) == (422, Invalid.code)


async def test_a_server_that_stops_ends_its_streams_at_once(
    home: Home, config: Config, mesh_name: str, local: Verbs
) -> None:
    await introduced(local)
    async with serving(home, config) as url, httpx2.AsyncClient(trust_env=False) as client:
        path = f"{url}/v1/meshes/{quote(mesh_name, safe='')}/agents/bob/inbox/stream"
        response = await client.send(client.build_request("GET", path), stream=True)
        assert response.status_code == 200
        begun = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - begun < 4
    await response.aclose()


async def test_no_server_is_an_error_that_says_how_to_start_one() -> None:
    with pytest.raises(Unavailable) as caught:
        await RemoteMesh.open("http://127.0.0.1:9", mesh="default")

    assert caught.value.remedy == "Start it with: hyphaedb up"
