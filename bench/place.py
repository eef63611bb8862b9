"""A filled mesh to measure on: made once, kept in the cache, copied for each bench that writes.

100,000 cells are not stored one by one with a wave each. They are bulk inserted and linked by the
engine's own linker in large batches, and the index is built once, as an import would do it.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import random
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from bench import bare
from bench.corpus import AGENTS, Corpus, Lookup
from hyphaedb.config import Config
from hyphaedb.engine.composing import Composer
from hyphaedb.engine.context import Context
from hyphaedb.engine.failpoints import NO_FAILPOINTS
from hyphaedb.engine.identity import Ids
from hyphaedb.engine.linking import Linker, gridded
from hyphaedb.engine.mirror import Mirror
from hyphaedb.engine.touches import KNOWS
from hyphaedb.engine.wakeups import Wakeups
from hyphaedb.mesh import Home, Wiring
from hyphaedb.mesh.home import utc_now
from hyphaedb.model import CellType, Interests, NewCell
from hyphaedb.store import access, agents, bulk, embedded, graph, indexes, jobs, journal, search
from hyphaedb.store.agents import Attachment
from hyphaedb.store.graph import NewLinks
from hyphaedb.store.pool import Database
from hyphaedb.store.rows import AgentRow, CellRow

MESH = "bench"
#: An agent that a wave always finds: its interest names every type.
LISTENER = "listener"
#: A mix of types as a team writes them; the salience is the default.
_TYPES = (
    *(CellType.FACT,) * 8, *(CellType.CONTEXT,) * 4, *(CellType.TASK,) * 3,
    *(CellType.DECISION,) * 2, CellType.LESSON, CellType.RISK, CellType.CONSTRAINT,
)  # fmt: skip
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Place:
    """An embedded server with a filled mesh, and the engine's view of it."""

    data_dir: Path
    context: Context
    corpus: Corpus
    size: int

    @property
    def database(self) -> Database:
        """The server's connections."""
        return self.context.database

    def cell(self, row: int) -> NewCell:
        """A cell of the corpus as an agent stores it."""
        return NewCell(self.corpus.texts[row], type=_TYPES[row % len(_TYPES)])

    def agent(self, row: int) -> str:
        """The name of the agent that writes a cell."""
        return f"agent-{self.corpus.authors[row]:02d}"

    async def mirror(self) -> Mirror:
        """The mesh's mirror, loaded afresh."""
        mirror = Mirror(self.context.info, self.context.config, self.corpus.panel)
        await mirror.load(self.database)
        return mirror


@asynccontextmanager
async def opened(cache: Path, corpus: Corpus, size: int) -> AsyncIterator[Place]:
    """A copy of the filled mesh of ``size`` cells, thrown away afterwards."""
    kept = cache / f"mesh-{size}"
    if not (kept / "filled").exists():
        shutil.rmtree(kept, ignore_errors=True)
        async with _place(kept, corpus, size) as place:
            await _fill(place)
        (kept / "filled").write_text("yes\n")
    copy = cache / f"copy-{size}-{os.getpid()}"
    # Whoever used an embedded server signs out once more at exit, and leaves a folder behind; what
    # is registered before runs after.
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    await asyncio.to_thread(shutil.copytree, kept, copy)
    # The server runs as a user of its own where we are root: owners must be as they were.
    for source in kept.rglob("*"):
        owner = source.lstat()
        os.chown(copy / source.relative_to(kept), owner.st_uid, owner.st_gid, follow_symlinks=False)
    try:
        async with _place(copy, corpus, size) as place:
            yield place
    finally:
        shutil.rmtree(copy, ignore_errors=True)


@asynccontextmanager
async def _place(data_dir: Path, corpus: Corpus, size: int) -> AsyncIterator[Place]:
    url = await asyncio.to_thread(embedded.start, data_dir)
    config = Config(database_url=url, lease_s=600.0)
    try:
        async with await Home.open(config, wiring=wiring(corpus)) as home:
            if MESH not in [m.name for m in await home.meshes()]:
                await home.create(MESH)
                mesh = await home.mesh(MESH, worker=False)
                for number in range(AGENTS):
                    await mesh.register(f"agent-{number:02d}")
                await mesh.register(LISTENER, interests=Interests(types=tuple(CellType)))
                await mesh.close()
        database = await Database.open(url, pool_size=12)
        try:
            yield Place(data_dir, await _context(database, config, corpus), corpus, size)
        finally:
            await database.close()
    finally:
        await asyncio.to_thread(embedded.stop, data_dir)


def wiring(corpus: Corpus) -> Wiring:
    """What every bench hands to ``Home``: vectors by look-up."""
    return Wiring(embedder=Lookup(corpus), rng=random.Random(11))


async def _context(database: Database, config: Config, corpus: Corpus) -> Context:
    async with database.transaction() as tx:
        info = (await access.mesh_by_name(tx, MESH)).info
    rng = random.Random(12)
    return Context(
        database=database,
        info=info,
        model_id=access.model_id(info.model, info.dimension),
        config=config,
        embedder=Lookup(corpus),
        clock=utc_now,
        ids=Ids(utc_now, rng),
        wakeups=Wakeups(None),
        failpoints=NO_FAILPOINTS,
        jitter=rng.random,
    )


@asynccontextmanager
async def owned(context: Context) -> AsyncIterator[int]:
    """Own the mesh; yields the epoch and gives the lease back."""
    process, owner, mesh_id = psutil.Process(), context.ids.new(), context.info.mesh_id
    async with context.database.transaction() as tx:
        epoch = await jobs.acquire_lease(
            tx,
            mesh_id,
            owner=owner,
            host=socket.gethostname(),
            pid=process.pid,
            pid_started=process.create_time(),
            now=context.now(),
            lease_s=context.config.lease_s,
        )
    assert epoch is not None, "nobody else works on a bench's own copy"
    yield epoch
    async with context.database.transaction() as tx:
        await jobs.release_lease(tx, mesh_id, owner, epoch)


async def rows(place: Place, start: int, stop: int) -> list[tuple[CellRow, AgentRow]]:
    """Rows of the corpus ready to be inserted, with their authors."""
    context = place.context
    async with context.database.statement() as tx:
        known = {a.agent.name: a for a in await agents.agents(tx, context.info.mesh_id)}
    composer, now = Composer(context), context.now()
    made = []
    for row in range(start, stop):
        author = known[place.agent(row)]
        vector = place.corpus.vectors[row]
        made.append((composer.cell(place.cell(row), author, vector, 1, now), author))
    return made


async def _fill(place: Place) -> None:
    """Insert and link the whole mesh, then build its index and the bare table beside it."""
    context = place.context
    mirror = await place.mirror()
    await indexes.drop_vector_index(context.database, context.info.dimension)
    async with owned(context) as epoch:
        for start in range(0, place.size, _BATCH):
            batch = await rows(place, start, min(place.size, start + _BATCH))
            await _insert(context, epoch, batch, _linked(mirror, batch))
    await indexes.ensure_vector_index(context.database, context.info.dimension)
    await _place_agents(context, mirror)
    await bare.make(context.database)
    async with context.database.statement() as tx:
        await tx.execute(b"VACUUM ANALYZE")


async def _insert(
    context: Context, epoch: int, batch: list[tuple[CellRow, AgentRow]], links: list[NewLinks]
) -> None:
    """Write a linked batch and move its vectors where the index will be built."""
    mesh_id = context.info.mesh_id
    async with context.database.transaction() as tx:
        await journal.fence(tx, mesh_id, epoch, ordinals=len(batch), graph_epochs=1)
        await bulk.insert_cells(tx, mesh_id, [(cell, None) for cell, _ in batch])
        await graph.insert_links(tx, mesh_id, 0, links)
        await graph.count_terms(tx, mesh_id, [cell.cell_id for cell, _ in batch])
        await search.drain(tx, mesh_id, _BATCH)


def _linked(mirror: Mirror, batch: list[tuple[CellRow, AgentRow]]) -> list[NewLinks]:
    """Links for a batch by the engine's rules; the mirror grows with it."""
    layer, config, roster = mirror.layers[0], mirror.config, mirror.roster
    probes = gridded(np.stack([cell.vector for cell, _ in batch]))
    linker = Linker(
        layer,
        probes,
        candidates=config.link_candidates,
        links_max=layer.graph.links_max,
        omega_min=config.omega_min,
    )
    made = []
    for place, (cell, author) in enumerate(batch):
        choice, ordinal = linker.choose(place), mirror.take_ordinal()
        row = layer.append(
            cell.cell_id, ordinal, probes[place], choice.targets, choice.costs,
            cell.salience, cell.created_at,
        )  # fmt: skip
        layer.touches.put(row, roster.holder(author.holder_id), cell.day, KNOWS)
        targets = layer.ordinals[choice.targets].tolist()
        made.append(NewLinks(ordinal, cell.cell_id, targets, choice.costs.tolist()))
    return made


async def _place_agents(context: Context, mirror: Mirror) -> None:
    """Positions, attachments and the panel, as they would be after so many stores."""
    mesh_id, now, layer = context.info.mesh_id, context.now(), mirror.layers[0]
    async with context.database.transaction() as tx:
        await graph.put_panel(tx, mesh_id, mirror.draw_panel(now))
        hung = []
        for holder, holder_id in enumerate(mirror.roster.holder_ids):
            position = mirror.position_of(holder)
            if position is None:
                continue
            mirror.roster.place(holder, position)
            mirror.roster.attach(holder, layer)
            await agents.put_position(tx, mesh_id, holder_id, position, now)
            cells, vector = mirror.roster.attachments(holder, layer)
            hung.append(Attachment(0, holder_id, cells, vector, now))
        await agents.put_attachments(tx, mesh_id, hung)
