"""The verbs of a mesh that lives on a server. What each promises is said in hyphaedb/verbs.py."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import datetime

from hyphaedb.errors import NotFound
from hyphaedb.model import (
    Agent,
    Beacon,
    BeaconMatch,
    Cell,
    CellId,
    CellType,
    Check,
    DiffId,
    EdgeKind,
    Filter,
    InboxItem,
    InboxPage,
    Interests,
    MeshInfo,
    MuteKind,
    NewCell,
    PrincipalKind,
    Recalled,
    RecallMode,
    Receipt,
    Seen,
    Stats,
    Stored,
    Trace,
    Wait,
)
from hyphaedb.remote.connection import ANSWER_S, Branch, Connection, named, part
from hyphaedb.remote.streams import resumable
from hyphaedb.wire.answers import Count, Mute, Page
from hyphaedb.wire.requests import cell_bodies, cell_body

#: A sweep recomputes waves and a big import embeds a thousand texts: minutes, not seconds.
LONG_S = 600.0


async def remote_meshes(connection: Connection) -> tuple[MeshInfo, ...]:
    """The meshes of a server, by name."""
    return await connection.pages("/v1/meshes", Page[MeshInfo])


async def remote_create(connection: Connection, name: str) -> MeshInfo:
    """Make a mesh on a server; raises Conflict if it is there."""
    return await connection.call("POST", "/v1/meshes", MeshInfo, body={"name": name})


async def remote_drop(connection: Connection, name: str) -> int:
    """Erase a mesh of a server for good; returns how many cells that were."""
    path = f"/v1/meshes/{part(name)}"
    return (await connection.call("DELETE", path, Count, patience_s=LONG_S)).count


def _patience_s(timeout_s: float) -> float:
    """How long to wait for an answer that may itself wait ``timeout_s``, whatever that holds."""
    asked = timeout_s if isinstance(timeout_s, int | float) and timeout_s > 0 else 0.0
    return min(LONG_S, ANSWER_S + asked)


class RemoteMesh:
    """One mesh of a server; implements :class:`hyphaedb.verbs.Verbs`."""

    def __init__(self, connection: Connection, info: MeshInfo) -> None:
        self._connection = connection
        self._info = info
        self._at = Branch(connection, f"/v1/meshes/{part(info.name)}")

    @classmethod
    async def open(
        cls, url: str, *, mesh: str, create: bool = False, api_key: str | None = None
    ) -> RemoteMesh:
        """Find a mesh on the server at ``url``; NotFound unless it is there or ``create``."""
        connection = Connection.to(url, api_key=api_key)
        try:
            try:
                info = await connection.call("GET", f"/v1/meshes/{part(mesh)}", MeshInfo)
            except NotFound:
                if not create:
                    raise
                info = await remote_create(connection, mesh)
        except BaseException:
            await connection.close()
            raise
        return cls(connection, info)

    @property
    def info(self) -> MeshInfo:
        return self._info

    async def close(self) -> None:
        await self._connection.close()

    # --- who takes part -----------------------------------------------------------------

    async def register(
        self,
        name: str,
        *,
        kind: PrincipalKind = PrincipalKind.AGENT,
        role: str | None = None,
        instance: str | None = None,
        interests: Interests | None = None,
        attention: int | None = None,
    ) -> Agent:
        body = {"name": name, "kind": kind, "interests": interests, "attention": attention}
        return await self._at.post("/agents", Agent, {**body, "role": role, "instance": instance})

    async def agents(self) -> Sequence[Agent]:
        return await self._at.pages("/agents", Page[Agent])

    async def retire(self, name: str) -> Agent:
        return await self._at.post(f"/agents/{part(name)}/retire", Agent)

    # --- knowledge ----------------------------------------------------------------------

    async def store(
        self,
        cell: NewCell | str,
        *,
        agent: str,
        idempotency_key: str | None = None,
        wait: Wait = Wait.ACCEPTED,
        timeout_s: float = 10.0,
    ) -> Stored:
        body = {"cell": cell_body(cell), "agent": agent, "wait": wait, "timeout_s": timeout_s}
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key is not None else None
        patience_s = _patience_s(timeout_s)
        return await self._at.post("/cells", Stored, body, headers=headers, patience_s=patience_s)

    async def store_many(
        self, cells: Sequence[NewCell], *, agent: str, session: str | None = None
    ) -> Sequence[Stored]:
        body = {"cells": cell_bodies(cells), "agent": agent, "session": session}
        page = await self._at.post("/cells/batch", Page[Stored], body, patience_s=LONG_S)
        return tuple(page.items)

    async def update(self, cell_id: CellId, cell: NewCell | str, *, agent: str) -> Stored:
        body = {"cell": cell_body(cell), "agent": agent}
        return await self._at.post(f"/cells/{part(cell_id)}/update", Stored, body)

    async def supersede(self, cell_id: CellId, cell: NewCell | str, *, agent: str) -> Stored:
        body = {"cell": cell_body(cell), "agent": agent}
        return await self._at.post(f"/cells/{part(cell_id)}/supersede", Stored, body)

    async def retract(self, cell_id: CellId, *, agent: str, reason: str) -> Stored:
        body = {"agent": agent, "reason": reason}
        return await self._at.post(f"/cells/{part(cell_id)}/retract", Stored, body)

    async def confirm(self, cell_id: CellId, *, agent: str) -> Cell:
        return await self._at.post(f"/cells/{part(cell_id)}/confirm", Cell, {"agent": agent})

    async def relate(
        self,
        src: CellId,
        dst: CellId,
        *,
        kind: EdgeKind = EdgeKind.CAUSAL,
        omega: float = 1.0,
    ) -> None:
        body = {"src": src, "dst": dst, "kind": kind, "omega": omega}
        await self._at.post("/edges", Count, body)

    async def forget(self, cell_id: CellId) -> int:
        return await self._at.count("DELETE", f"/cells/{part(cell_id)}")

    async def cell(self, cell_id: CellId) -> Cell:
        return await self._at.get(f"/cells/{part(cell_id)}", Cell)

    # --- asking -------------------------------------------------------------------------

    async def recall(
        self,
        query: str,
        *,
        agent: str | None = None,
        session: str | None = None,
        k: int | None = None,
        mode: RecallMode = RecallMode.FULL,
        where: Filter | None = None,
        as_of: datetime | None = None,
        floor: float | None = None,
        tokens: int | None = None,
    ) -> Recalled:
        body = {"query": query, "agent": agent, "session": session, "k": k, "mode": mode}
        more = {"where": where, "as_of": as_of, "floor": floor, "tokens": tokens}
        return await self._at.post("/recalls", Recalled, {**body, **more})

    # --- delivery -----------------------------------------------------------------------

    async def inbox(
        self,
        agent: str,
        *,
        items: int | None = None,
        tokens: int | None = None,
        lease: bool = False,
        after: int | None = None,
        bodies: bool = True,
    ) -> InboxPage:
        path = f"/agents/{part(agent)}/inbox"
        asked = {"items": items, "tokens": tokens, "after": after, "bodies": bodies}
        if lease:
            return await self._at.post(path + "/leases", InboxPage, asked)
        return await self._at.get(path, InboxPage, **asked)

    async def acknowledge(self, agent: str, cursors: Sequence[int]) -> int:
        path = f"/agents/{part(agent)}/inbox/acknowledgements"
        return await self._at.count("POST", path, {"cursors": cursors})

    async def follow(self, agent: str, *, after: int | None = None) -> AsyncIterator[InboxItem]:
        path = f"{self._at.root}/agents/{part(agent)}/inbox/stream"
        stream = resumable(self._connection, path, InboxItem, after=after)
        async with aclosing(stream) as events:
            async for _, item in events:
                yield item

    def waves(self, *, after: int | None = None) -> AsyncIterator[tuple[int, Trace]]:
        return resumable(self._connection, self._at.root + "/waves/stream", Trace, after=after)

    async def beacon(
        self,
        agent: str,
        name: str,
        text: str,
        *,
        radius: float = 0.35,
        types: Sequence[CellType] = (),
        tags: Sequence[str] = (),
    ) -> Beacon:
        body = {"text": text, "radius": radius, "types": types, "tags": tags}
        return await self._at.put("/beacons", Beacon, {**body, "agent": agent, "name": name})

    async def beacons(self, agent: str | None = None) -> Sequence[Beacon]:
        asked = {} if agent is None else {"agent": named(agent)}
        return await self._at.pages("/beacons", Page[Beacon], **asked)

    async def remove_beacon(self, agent: str, name: str) -> None:
        query = {"agent": named(agent), "name": named(name)}
        await self._at.count("DELETE", "/beacons", query=query)

    async def beacon_dry_run(
        self,
        text: str,
        *,
        radius: float = 0.35,
        types: Sequence[CellType] = (),
        tags: Sequence[str] = (),
        limit: int = 50,
    ) -> Sequence[BeaconMatch]:
        body = {"text": text, "radius": radius, "types": types, "tags": tags}
        page = await self._at.post("/beacons/dry-runs", Page[BeaconMatch], {**body, "limit": limit})
        return tuple(page.items)

    # --- explaining ---------------------------------------------------------------------

    async def trace(self, subject: DiffId | CellId) -> Trace:
        return await self._at.get(f"/traces/{part(subject)}", Trace)

    async def who_saw(self, cell_id: CellId) -> Sequence[Seen]:
        return await self._at.pages(f"/cells/{part(cell_id)}/seen", Page[Seen])

    async def receipt(self, cell_id: CellId) -> Receipt:
        return await self._at.get(f"/cells/{part(cell_id)}/receipt", Receipt)

    # --- steering -----------------------------------------------------------------------

    async def pause(self) -> MeshInfo:
        return await self._at.post("/pause", MeshInfo)

    async def resume(self) -> MeshInfo:
        return await self._at.post("/resume", MeshInfo)

    async def shadow(self, on: bool) -> MeshInfo:
        return await self._at.post("/shadow", MeshInfo, {"on": on})

    async def mute(self, kind: MuteKind, subject: str) -> None:
        await self._at.count("POST", "/mutes", {"kind": kind, "subject": subject})

    async def unmute(self, kind: MuteKind, subject: str) -> None:
        query = {"kind": named(kind), "subject": named(subject)}
        await self._at.count("DELETE", "/mutes", query=query)

    async def mutes(self) -> Sequence[tuple[MuteKind, str]]:
        return tuple((m.kind, m.subject) for m in await self._at.pages("/mutes", Page[Mute]))

    async def sweep(self) -> int:
        return await self._at.count("POST", "/sweeps", patience_s=LONG_S)

    async def settle(self, *, timeout_s: float = 30.0) -> int:
        body = {"timeout_s": timeout_s}
        return await self._at.count("POST", "/settle", body, patience_s=_patience_s(timeout_s))

    async def retry_dead(self) -> int:
        return await self._at.count("POST", "/dead/retry")

    async def stats(self) -> Stats:
        return await self._at.get("/stats", Stats)

    async def doctor(self) -> Sequence[Check]:
        return tuple((await self._at.get("/doctor", Page[Check])).items)
