"""``doctor``: look at everything that can be wrong, and say what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

from hyphaedb.engine.context import Context
from hyphaedb.engine.explaining import Explainer
from hyphaedb.engine.mirror import Mirror
from hyphaedb.engine.validator import differences
from hyphaedb.engine.worker import Worker
from hyphaedb.errors import HyphaeError
from hyphaedb.model import Check
from hyphaedb.store import indexes, journal, migrate


class Doctor:
    """Examines one mesh; changes nothing."""

    def __init__(self, context: Context, explainer: Explainer, worker: Worker | None) -> None:
        self._context = context
        self._explainer = explainer
        self._worker = worker

    async def examine(self) -> Sequence[Check]:
        """All checks, in the order in which one would look."""
        checks = [await self._database()]
        if not checks[0].ok:
            return checks
        checks.append(await self._index())
        checks.append(await self._embedder())
        checks.extend(await self._gauges())
        checks.append(await self._mirror())
        return checks

    async def _database(self) -> Check:
        database = self._context.database
        try:
            await migrate.require_current(database)
        except HyphaeError as error:
            return Check("database", False, error.message, error.remedy)
        version = database.server.version // 10_000
        detail = f"Postgres {version}, pgvector {database.server.vector}, schema current"
        return Check("database", True, detail)

    async def _index(self) -> Check:
        dimension = self._context.info.dimension
        missing = await indexes.missing(self._context.database, dimension)
        if missing:
            return Check(
                "vector index",
                False,
                f"{', '.join(missing)} is missing or unusable; recall is right but slow.",
                "Run `hyphaedb db migrate`; it builds what is missing.",
            )
        return Check("vector index", True, f"{dimension} dimensions, three layers")

    async def _embedder(self) -> Check:
        embedder = self._context.embedder
        try:
            vectors = await embedder.embed(["Is the embedder there?"])
        except HyphaeError as error:
            return Check("embedder", False, error.message, error.remedy)
        return Check("embedder", True, f"{embedder.model}, {vectors.shape[1]} numbers")

    async def _gauges(self) -> list[Check]:
        stats = await self._explainer.stats()
        context = self._context
        checks = [
            Check("worker", True, f"{stats.worker} owns the mesh, epoch {stats.epoch}")
            if stats.worker
            else Check(
                "worker",
                stats.pending == 0,
                "No process pumps this mesh.",
                "Start one with `hyphaedb up` or `hyphaedb work`.",
            )
        ]
        calm = stats.tail <= context.config.tail_normal
        checks.append(
            Check(
                "tail",
                calm,
                f"{stats.tail} fresh cells wait for the index",
                "" if calm else "A worker drains it; recall stays exact meanwhile.",
            )
        )
        checks.append(await self._dead(stats.dead))
        if stats.paused:
            checks.append(Check("paused", False, "Waves are paused.", "Run `hyphaedb resume`."))
        if stats.shadow:
            checks.append(
                Check("shadow", False, "Nothing is delivered.", "Run `hyphaedb shadow off`.")
            )
        return checks

    async def _dead(self, count: int) -> Check:
        if count == 0:
            return Check("diffs", True, "none was given up")
        async with self._context.database.statement() as tx:
            first = await journal.dead(tx, self._context.info.mesh_id, 1)
        why = first[0].error if first else "unknown"
        return Check(
            "diffs",
            False,
            f"{count} were set aside after repeated failures; the first says: {why}",
            "Mend the cause, then give them new attempts with `hyphaedb retry-dead`.",
        )

    async def _mirror(self) -> Check:
        """The mirror in memory (or one loaded now) against the database's tables."""
        pump = self._worker.pump if self._worker else None
        if pump is not None:
            mirror = pump.mirror
        else:
            panel = await self._context.embedder.panel()
            mirror = Mirror(self._context.info, self._context.config, panel)
            await mirror.load(self._context.database)
        components = mirror.components()
        if components > 1:
            return Check(
                "graph",
                False,
                f"The layer-0 graph has {components} parts.",
                "A worker joins them with bridges at its next start; see `hyphaedb stats`.",
            )
        found = await differences(mirror, self._context.database) if pump is None else []
        if found:
            return Check(
                "graph",
                False,
                f"{len(found)} rows differ from what the tables say: {found[0]}",
                "Restart the worker; it loads the mirror anew from the tables.",
            )
        return Check("graph", True, f"{mirror.layers[0].count} cells in one piece")
