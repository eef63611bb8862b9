"""What every part of the engine is given: one mesh, its database, and the outside world.

Time, ids and the embedder come from here and from nowhere else, so that a test can fix them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from hyphaedb.config import Config
from hyphaedb.engine.failpoints import Failpoints
from hyphaedb.engine.identity import Clock, Ids
from hyphaedb.engine.wakeups import Wakeups
from hyphaedb.model import MeshInfo
from hyphaedb.providers.embedding import Embedder
from hyphaedb.store.pool import Database


@dataclass(frozen=True, slots=True)
class Context:
    """One mesh as one process sees it."""

    database: Database
    info: MeshInfo
    model_id: UUID
    config: Config
    embedder: Embedder
    clock: Clock
    ids: Ids
    wakeups: Wakeups
    failpoints: Failpoints
    jitter: Callable[[], float]

    def now(self) -> datetime:
        """The present, timezone-aware."""
        return self.clock()
