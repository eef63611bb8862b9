"""What travels, as scoring and deciding see it: one cell with its type, author and direction."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from hyphaedb.engine.topology import Grid, Vectors
from hyphaedb.model import AgentId, CellId, CellType, DiffKind


@dataclass(frozen=True, slots=True)
class Subject:
    """What travels, as far as deciding needs it."""

    cell_id: CellId
    kind: DiffKind
    type: CellType
    tags: frozenset[str]
    salience: float
    author: AgentId
    author_name: str
    author_holder: UUID
    #: Whether the cell still stands; one that does not is nobody's news.
    travels: bool
    probe: Grid
    vector: Vectors
