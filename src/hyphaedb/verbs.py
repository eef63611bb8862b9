"""The verbs of a mesh: one list that the local service, the remote client, the synchronous
facade and every face share.

A test compares each of them with this protocol, so a verb cannot exist at one face only.
Times are timezone-aware; ``now`` never comes from the caller of a verb (the service owns its
clock). Every verb raises only :class:`hyphaedb.errors.HyphaeError` children.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

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


@runtime_checkable
class Verbs(Protocol):
    """What anybody can do with a mesh. Agents are named by their registered name."""

    @property
    def info(self) -> MeshInfo:
        """The mesh as it was when opened."""

    async def close(self) -> None:
        """Finish what was begun, give leases back and let go of every connection."""

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
        """Make an agent known; again with the same name updates what is given, nothing else.

        Instances of one ``role`` share its footprint and position. ``attention`` bounds the
        items an hour that waves may deliver; what exceeds it waits for the sweep.
        """

    async def agents(self) -> Sequence[Agent]:
        """All registered agents by name, retired ones included."""

    async def retire(self, name: str) -> Agent:
        """Stop deliveries to an agent for good; its footprint and its cells stay."""

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
        """Store a cell and publish it. Returns when both are durable.

        The same text by another agent confirms the cell that is there; by the same agent it is
        a repeat. ``wait=delivered`` waits for the wave and adds a receipt; past ``timeout_s``
        the state says ``pending``. Raises LimitReached while the backlog is full.
        """

    async def store_many(
        self, cells: Sequence[NewCell], *, agent: str, session: str | None = None
    ) -> Sequence[Stored]:
        """Store up to 1,000 cells in one transaction, in order; all or none."""

    async def update(self, cell_id: CellId, cell: NewCell | str, *, agent: str) -> Stored:
        """Say the same thing better: a new cell replaces the old one, whose validity ends.

        A text alone changes the words: type, salience, confidence, tags, metadata and ref stay.
        """

    async def supersede(self, cell_id: CellId, cell: NewCell | str, *, agent: str) -> Stored:
        """Overturn a cell: a new one replaces it, and everyone who had received it is told.

        A text alone keeps the rest as :meth:`update` does.
        """

    async def retract(self, cell_id: CellId, *, agent: str, reason: str) -> Stored:
        """Take a cell back: it leaves gossip, and everyone who had received it is told, and why."""

    async def confirm(self, cell_id: CellId, *, agent: str) -> Cell:
        """Say that one independently holds a cell to be true. Counted once an agent."""

    async def relate(
        self,
        src: CellId,
        dst: CellId,
        *,
        kind: EdgeKind = EdgeKind.CAUSAL,
        omega: float = 1.0,
    ) -> None:
        """Add a typed edge (Eq. 3) between two cells of one layer; again changes its weight.

        Its bandwidth is unlimited, or waves would depend on their order; an agent's is its
        ``attention``.
        """

    async def forget(self, cell_id: CellId) -> int:
        """Erase a cell everywhere at once, inboxes included; returns the deliveries erased.

        No answer holds its text afterwards. The files of Postgres do for a while: erased rows stay
        until a vacuum, its log and backups until they are recycled. Where that matters, whoever
        runs the server does VACUUM and CHECKPOINT and sees to the backups.
        """

    async def cell(self, cell_id: CellId) -> Cell:
        """One cell, whatever its state."""

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
        """The cells that answer a query, best first, each with an explained score.

        Sees every acknowledged store. With ``agent`` the reading moves the reader (Eq. 2) and
        unread inbox items ride along. ``as_of`` answers from what was valid then.
        """

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
        """Unread items, best first, within a budget of items and tokens.

        ``lease`` hides them from other readers of the same inbox until acknowledged or the
        lease ends. ``after`` leaves out what is at or before that cursor.
        """

    async def acknowledge(self, agent: str, cursors: Sequence[int]) -> int:
        """Mark items as read; returns how many were not read before."""

    def follow(self, agent: str, *, after: int | None = None) -> AsyncIterator[InboxItem]:
        """New inbox items as they land, in cursor order, from ``after`` on; never ends."""

    def waves(self, *, after: int | None = None) -> AsyncIterator[tuple[int, Trace]]:
        """Settled waves as they settle, with the dot to resume from; never ends."""

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
        """Place a standing subscription; again with the same name moves it.

        It fires for every diff whose cosine to ``text`` is at least ``radius`` and whose cell
        passes the filters, whether or not a wave got there.
        """

    async def beacons(self, agent: str | None = None) -> Sequence[Beacon]:
        """Beacons of one agent, or all."""

    async def remove_beacon(self, agent: str, name: str) -> None:
        """Take a beacon away; what it delivered stays."""

    async def beacon_dry_run(
        self,
        text: str,
        *,
        radius: float = 0.35,
        types: Sequence[CellType] = (),
        tags: Sequence[str] = (),
        limit: int = 50,
    ) -> Sequence[BeaconMatch]:
        """What such a beacon would have caught of the stored cells, nearest first."""

    # --- explaining ---------------------------------------------------------------------

    async def trace(self, subject: DiffId | CellId) -> Trace:
        """The wave of a diff (or of a cell's newest diff), hop by hop."""

    async def who_saw(self, cell_id: CellId) -> Sequence[Seen]:
        """Every agent that knows a cell, and how."""

    async def receipt(self, cell_id: CellId) -> Receipt:
        """What became of a cell's newest diff."""

    # --- steering -----------------------------------------------------------------------

    async def pause(self) -> MeshInfo:
        """Stop waves; stores are accepted and wait."""

    async def resume(self) -> MeshInfo:
        """Let waves run again; what waited goes first."""

    async def shadow(self, on: bool) -> MeshInfo:
        """Record what would be delivered and deliver nothing."""

    async def mute(self, kind: MuteKind, subject: str) -> None:
        """Silence an agent's inbox, an author's diffs or a cell type; idempotent."""

    async def unmute(self, kind: MuteKind, subject: str) -> None:
        """Undo a mute; what it kept back comes with the next sweep."""

    async def mutes(self) -> Sequence[tuple[MuteKind, str]]:
        """All mutes."""

    async def sweep(self) -> int:
        """Run anti-entropy now (section 4.4); returns the deliveries it added."""

    async def settle(self, *, timeout_s: float = 30.0) -> int:
        """Wait until nothing is pending; returns what is still pending when time is up."""

    async def retry_dead(self) -> int:
        """Give dead diffs another set of attempts; returns how many."""

    async def stats(self) -> Stats:
        """Gauges of this mesh."""

    async def doctor(self) -> Sequence[Check]:
        """Look at everything that can be wrong and say what to do about it."""
