"""Where a process lives: one database, its meshes, and the wiring of everything below.

This is the composition root: the only place that chooses a clock, a source of randomness, an
embedder and a Postgres, and hands them down.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import UUID

from hyphaedb.config import Config
from hyphaedb.ending import end
from hyphaedb.engine import validation
from hyphaedb.engine.context import Context
from hyphaedb.engine.dropping import drop
from hyphaedb.engine.failpoints import NO_FAILPOINTS, Failpoints
from hyphaedb.engine.identity import Clock, Ids
from hyphaedb.engine.law import Law
from hyphaedb.engine.wakeups import NEWS, WORK, Wakeups
from hyphaedb.engine.worker import Worker
from hyphaedb.errors import Conflict, HyphaeError, NotFound, Unavailable
from hyphaedb.mesh.service import Mesh
from hyphaedb.model import Check, MeshId, MeshInfo
from hyphaedb.providers.embedding import Embedder, EmbedderSettings
from hyphaedb.providers.opening import open_embedder
from hyphaedb.store import access, embedded, jobs, migrate
from hyphaedb.store.indexes import ensure_vector_index
from hyphaedb.store.migrate import Applied
from hyphaedb.store.notify import Notifier, listen
from hyphaedb.store.pool import Database

logger = logging.getLogger(__name__)

#: Meshes one stand-alone worker serves at a time; each holds a mirror in memory.
WORKED_MESHES_MAX = 64
#: Longest a listening connection waits before it is opened again after a fault.
_RELISTEN_S = 5.0


def utc_now() -> datetime:
    """The process's clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Wiring:
    """What tests replace: time, chance, failpoints and the embedder (None: from the config)."""

    clock: Clock = utc_now
    rng: random.Random = field(default_factory=random.Random)
    failpoints: Failpoints = NO_FAILPOINTS
    embedder: Embedder | None = None
    listens: bool = True


class Home:
    """One database opened by this process. Close it, or use ``async with``."""

    def __init__(
        self,
        config: Config,
        wiring: Wiring,
        database: Database,
        release: Callable[[], None] | None,
        revive: Callable[[], bool] | None,
    ) -> None:
        self.config = config
        self._wiring = wiring
        self._database = database
        self._release = release
        self._revive = revive
        self._embedder: Embedder | None = wiring.embedder
        self._notifier = Notifier(database) if wiring.listens else None
        self._wakeups = Wakeups(self._notifier)
        self._ids = Ids(wiring.clock, wiring.rng)
        self._listening: asyncio.Task[None] | None = None
        self._open: list[Mesh] = []

    @classmethod
    async def open(
        cls, config: Config | None = None, *, wiring: Wiring | None = None, migrates: bool = True
    ) -> Home:
        """Open the configured Postgres, or the embedded one, and bring its schema up to date.

        A configured server that cannot be used is an error; nothing falls back. Raises Invalid
        for settings that give no scoring law, before anything is opened. With
        ``migrates=False`` an old schema is left alone (and opening a mesh then refuses it).
        """
        config = config or Config()
        wiring = wiring or Wiring()
        # Asked for here, because only a worker reads the law: a misspelt one would fail unseen.
        Law(config, 1, None)
        release: Callable[[], None] | None = None
        revive: Callable[[], bool] | None = None
        url = config.database_url
        if not url:
            where = Path(config.data_dir) if config.data_dir else None
            url = await asyncio.to_thread(embedded.start, where)

            def release() -> None:
                embedded.stop(where)

            def revive() -> bool:
                return embedded.revive(where)

        database: Database | None = None
        try:
            database = await Database.open(
                url, pool_size=config.pool_size, statement_timeout_s=config.statement_timeout_s
            )
            home = cls(config, wiring, database, release, revive)
            if migrates:
                await migrate.migrate(database, wiring.clock())
                await migrate.require_current(database)
        except BaseException:
            # Also when the caller is cancelled: nobody else knows of what is open by now.
            if database is not None:
                await database.close()
            if release is not None:
                await asyncio.to_thread(release)
            raise
        if wiring.listens:
            home._listening = asyncio.create_task(home._listen())
        return home

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
        """Close every mesh that is open, give leases back and let the database go."""
        for mesh in list(self._open):
            await mesh.close()
        if self._listening is not None:
            await end(self._listening)
            self._listening = None
        if self._notifier is not None:
            await self._notifier.close()
        if self._embedder is not None and self._wiring.embedder is None:
            await self._embedder.close()
        await self._database.close()
        if self._release is not None:
            release, self._release = self._release, None
            await asyncio.to_thread(release)

    async def _listen(self) -> None:
        """Turn other processes' notifications into bells here; a lost one costs a poll."""
        while True:
            try:
                async for channel in listen(self._database, (WORK, NEWS)):
                    for kind in (channel,) if channel else (WORK, NEWS):
                        self._wakeups.ring_all_here(kind)
            except HyphaeError as error:
                if not await self._revived(error):
                    await asyncio.sleep(_RELISTEN_S)

    async def _revived(self, fault: HyphaeError) -> bool:
        """Bring the embedded server back if it is gone: nobody else would. Any other server is
        its owner's business."""
        if self._revive is None:
            return False
        try:
            done = await asyncio.to_thread(self._revive)
        except HyphaeError as error:
            logger.warning("embedded.down why=%s", error)
            return False
        if done:
            logger.warning("embedded.revived why=%s", fault.message)
        return done

    def _embedding(self) -> Embedder:
        if self._embedder is None:
            config = self.config
            settings = EmbedderSettings(
                url=config.embedder_url,
                key=config.embedder_key,
                dimension=config.embedder_dimension or None,
                timeout_s=config.embedder_timeout_s,
            )
            self._embedder = open_embedder(config.embedder, settings, rng=self._wiring.rng)
        return self._embedder

    async def create(self, name: str) -> MeshInfo:
        """Make a mesh for the configured embedder; Conflict where the name is taken."""
        validation.name(name, "mesh name")
        embedder = self._embedding()
        async with self._database.transaction() as tx:
            made = await access.create_mesh(
                tx,
                MeshId(self._ids.new()),
                name,
                embedder.model,
                embedder.dimension,
                {},
                self._wiring.clock(),
            )
        await ensure_vector_index(self._database, embedder.dimension)
        return made.info

    async def drop(self, name: str) -> int:
        """Erase a mesh and everything in it, for good; returns how many cells that were.

        Closes it first where this home has it open. Conflict while another process works it.
        """
        info = await self._named(name)
        for mesh in [m for m in self._open if m.info.mesh_id == info.mesh_id]:
            await mesh.close()
        wiring, lease_s = self._wiring, self.config.lease_s
        return await drop(self._database, info, self._ids.new(), wiring.clock, lease_s)

    async def meshes(self) -> Sequence[MeshInfo]:
        """All meshes of this database by name."""
        async with self._database.statement() as tx:
            return [m.info for m in await access.meshes(tx)]

    async def mesh(self, name: str, *, create: bool = False, worker: bool = True) -> Mesh:
        """Open a mesh. One that is not there is made only with ``create``, never by a typo.

        Raises Conflict where the mesh was made with another embedding model.
        """
        try:
            info = await self._named(name)
        except NotFound:
            if not create:
                raise
            # Another process may have been quicker; either way the mesh is there afterwards.
            with contextlib.suppress(Conflict):
                await self.create(name)
            info = await self._named(name)
        embedder = self._embedding()
        if (info.model, info.dimension) != (embedder.model, embedder.dimension):
            raise Conflict(
                f"Mesh {name!r} holds vectors of {info.model} ({info.dimension} numbers); "
                f"this process embeds with {embedder.model} ({embedder.dimension}).",
                f"Set HYPHAEDB_EMBEDDER={info.model}, or make another mesh for this model.",
            )
        context = self._context(info, embedder)
        if worker:
            # A rebuild that a crash interrupted is finished here.
            await ensure_vector_index(self._database, info.dimension)
        working = Worker(context) if worker else None
        if working is not None:
            await working.start()
        mesh = Mesh(context, working)
        mesh.when_closed(lambda: self._open.remove(mesh))
        self._open.append(mesh)
        return mesh

    def _context(self, info: MeshInfo, embedder: Embedder) -> Context:
        return Context(
            database=self._database,
            info=info,
            model_id=access.model_id(info.model, info.dimension),
            config=self.config,
            embedder=embedder,
            clock=self._wiring.clock,
            ids=self._ids,
            wakeups=self._wakeups,
            failpoints=self._wiring.failpoints,
            jitter=self._wiring.rng.random,
        )

    async def migrate(self) -> list[int]:
        """Bring the schema up to date and build vector indexes that are missing.

        Returns the numbers of the migrations applied now.
        """
        applied = await migrate.migrate(self._database, self._wiring.clock())
        for dimension in sorted({m.dimension for m in await self.meshes()}):
            await ensure_vector_index(self._database, dimension)
        return applied

    async def migration_status(self) -> list[Applied]:
        """Every migration and when it was applied."""
        return await migrate.status(self._database)

    async def ready(self) -> list[Check]:
        """Whether this process can serve: the database answers and its schema is current."""
        try:
            await migrate.require_current(self._database)
        except HyphaeError as error:
            return [Check("database", False, error.message, error.remedy)]
        version = self._database.server.version // 10_000
        vector = self._database.server.vector
        return [Check("database", True, f"Postgres {version}, pgvector {vector}")]

    async def work(self, stop: asyncio.Event, mesh: str | None = None) -> None:
        """Pump meshes until ``stop`` is set: one by name, or every mesh that has work.

        Outlives the database being away. Of all meshes, those of another embedding model are
        passed over; a mesh named by the caller that cannot be worked raises as :meth:`mesh` does.
        """
        running: dict[UUID, Mesh] = {}
        while not stop.is_set():
            try:
                await self._take_up(running, mesh)
            except Unavailable as error:
                logger.warning("work.away why=%s", error.message)
            for mesh_id, opened in list(running.items()):
                if opened.gone or (mesh is None and opened.idle):
                    await running.pop(mesh_id).close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self.config.poll_s)
        for opened in running.values():
            await opened.close()

    async def _take_up(self, running: dict[UUID, Mesh], name: str | None) -> None:
        """Open what should be worked and is not open yet."""
        embedder = self._embedding()
        if name is not None:
            if not running:
                opened = await self.mesh(name)
                running[opened.info.mesh_id] = opened
            return
        for info in await self._meshes_with_work():
            ours = (info.model, info.dimension) == (embedder.model, embedder.dimension)
            if ours and info.mesh_id not in running and len(running) < WORKED_MESHES_MAX:
                running[info.mesh_id] = await self.mesh(info.name)

    async def _named(self, name: str) -> MeshInfo:
        validation.name(name, "mesh name")
        async with self._database.statement() as tx:
            return (await access.mesh_by_name(tx, name)).info

    async def _meshes_with_work(self) -> list[MeshInfo]:
        async with self._database.statement() as tx:
            found = await jobs.meshes_with_work(tx, self._wiring.clock(), WORKED_MESHES_MAX)
        ids = {w.mesh_id for w in found}
        return [m for m in await self.meshes() if m.mesh_id in ids]
