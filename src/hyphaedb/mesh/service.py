"""The one service object of a mesh: every verb, each a hand-over to the part that does it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self

from hyphaedb.engine import validation
from hyphaedb.engine.context import Context
from hyphaedb.engine.diagnosis import Doctor
from hyphaedb.engine.explaining import Explainer
from hyphaedb.engine.members import Members
from hyphaedb.engine.publishing import Publisher
from hyphaedb.engine.reading import Reader
from hyphaedb.engine.recall import Recaller
from hyphaedb.engine.revising import Reviser
from hyphaedb.engine.steering import Steering
from hyphaedb.engine.worker import Worker
from hyphaedb.model import (
    Agent,
    Beacon,
    BeaconMatch,
    Cell,
    CellId,
    CellType,
    Check,
    DiffId,
    DiffKind,
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


class Mesh:
    """A mesh opened in this process. Implements :class:`hyphaedb.verbs.Verbs`.

    Usable from one event loop; close it (or use ``async with``) so that leases are given back.
    """

    def __init__(self, context: Context, worker: Worker | None) -> None:
        self._context = context
        self._worker = worker
        self._on_close: list[Callable[[], Awaitable[None] | None]] = []
        self._members = Members(context)
        self._recaller = Recaller(context, self._members)
        self._publisher = Publisher(context, self._members)
        self._reviser = Reviser(context, self._members)
        self._reader = Reader(context, self._members)
        self._explainer = Explainer(context, self._members, worker)
        self._doctor = Doctor(context, self._explainer, worker)
        self._steering = Steering(context)
        self._closed = False

    @property
    def info(self) -> MeshInfo:
        return self._context.info

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await self._recaller.close()
        if self._worker is not None:
            await self._worker.close()
        for action in self._on_close:
            outcome = action()
            if outcome is not None:
                await outcome

    def when_closed(self, action: Callable[[], Awaitable[None] | None]) -> None:
        """Run ``action`` once the mesh is closed: whoever opened it lets go of the rest."""
        self._on_close.append(action)

    @property
    def idle(self) -> bool:
        """Whether this process's worker found nothing to do for a while (or there is none)."""
        return self._worker is None or self._worker.idle

    @property
    def gone(self) -> bool:
        """Whether this process's worker found that the mesh was dropped."""
        return self._worker is not None and self._worker.gone

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
        return await self._members.register(name, kind, role, instance, interests, attention)

    async def agents(self) -> Sequence[Agent]:
        return await self._members.all()

    async def retire(self, name: str) -> Agent:
        return await self._members.retire(name)

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
        # Asked first: a word that means nothing must not leave a cell behind.
        until = validation.member(Wait, wait, "wait")
        patience_s = validation.seconds(timeout_s, "timeout_s")
        stored = await self._publisher.store(cell, agent, idempotency_key)
        if until is Wait.DELIVERED:
            return await self._explainer.await_receipt(stored, patience_s)
        return stored

    async def store_many(
        self, cells: Sequence[NewCell], *, agent: str, session: str | None = None
    ) -> Sequence[Stored]:
        return await self._publisher.store_many(cells, agent, session)

    async def update(self, cell_id: CellId, cell: NewCell | str, *, agent: str) -> Stored:
        return await self._reviser.replace(cell_id, cell, agent, DiffKind.UPDATED)

    async def supersede(self, cell_id: CellId, cell: NewCell | str, *, agent: str) -> Stored:
        return await self._reviser.replace(cell_id, cell, agent, DiffKind.SUPERSEDED)

    async def retract(self, cell_id: CellId, *, agent: str, reason: str) -> Stored:
        return await self._reviser.retract(cell_id, agent, reason)

    async def confirm(self, cell_id: CellId, *, agent: str) -> Cell:
        return await self._reviser.confirm(cell_id, agent)

    async def relate(
        self,
        src: CellId,
        dst: CellId,
        *,
        kind: EdgeKind = EdgeKind.CAUSAL,
        omega: float = 1.0,
    ) -> None:
        await self._reviser.relate(src, dst, kind, omega)

    async def forget(self, cell_id: CellId) -> int:
        return await self._reviser.forget(cell_id)

    async def cell(self, cell_id: CellId) -> Cell:
        return (await self._reviser.known(cell_id)).cell

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
        found = await self._recaller.recall(
            query, agent, session, k, mode, where, as_of, floor, tokens
        )
        return await self._reader.riding_along(found, agent)

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
        return await self._reader.page(agent, items, tokens, lease, after, bodies)

    async def acknowledge(self, agent: str, cursors: Sequence[int]) -> int:
        return await self._reader.acknowledge(agent, cursors)

    def follow(self, agent: str, *, after: int | None = None) -> AsyncIterator[InboxItem]:
        return self._reader.follow(agent, after)

    def waves(self, *, after: int | None = None) -> AsyncIterator[tuple[int, Trace]]:
        return self._explainer.waves(after)

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
        return await self._members.beacon(agent, name, text, radius, types, tags)

    async def beacons(self, agent: str | None = None) -> Sequence[Beacon]:
        return await self._members.beacons(agent)

    async def remove_beacon(self, agent: str, name: str) -> None:
        await self._members.remove_beacon(agent, name)

    async def beacon_dry_run(
        self,
        text: str,
        *,
        radius: float = 0.35,
        types: Sequence[CellType] = (),
        tags: Sequence[str] = (),
        limit: int = 50,
    ) -> Sequence[BeaconMatch]:
        return await self._recaller.beacon_dry_run(text, radius, types, tags, limit)

    # --- explaining ---------------------------------------------------------------------

    async def trace(self, subject: DiffId | CellId) -> Trace:
        return await self._explainer.trace(subject)

    async def who_saw(self, cell_id: CellId) -> Sequence[Seen]:
        return await self._explainer.who_saw(cell_id)

    async def receipt(self, cell_id: CellId) -> Receipt:
        return await self._explainer.receipt(cell_id)

    # --- steering -----------------------------------------------------------------------

    async def pause(self) -> MeshInfo:
        return await self._steering.pause(True)

    async def resume(self) -> MeshInfo:
        return await self._steering.pause(False)

    async def shadow(self, on: bool) -> MeshInfo:
        return await self._steering.shadow(on)

    async def mute(self, kind: MuteKind, subject: str) -> None:
        await self._steering.mute(kind, subject)

    async def unmute(self, kind: MuteKind, subject: str) -> None:
        await self._steering.unmute(kind, subject)

    async def mutes(self) -> Sequence[tuple[MuteKind, str]]:
        return await self._steering.mutes()

    async def sweep(self) -> int:
        return await self._steering.sweep()

    async def settle(self, *, timeout_s: float = 30.0) -> int:
        return await self._steering.settle(timeout_s)

    async def retry_dead(self) -> int:
        return await self._steering.retry_dead()

    async def stats(self) -> Stats:
        return await self._explainer.stats()

    async def doctor(self) -> Sequence[Check]:
        return await self._doctor.examine()
