"""HyphaeDB: shared memory for teams of AI agents in which knowledge moves.

Everything public stands here. The service and the engine behind it are imported when they are
first asked for, so that ``import hyphaedb`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyphaedb.config import Config
from hyphaedb.errors import (
    Conflict,
    Forbidden,
    HyphaeError,
    Invalid,
    LeaseLost,
    LimitReached,
    NotFound,
    TooLarge,
    Unavailable,
    Unsupported,
)
from hyphaedb.model import (
    Agent,
    Beacon,
    BeaconMatch,
    Cell,
    CellId,
    CellState,
    CellType,
    Check,
    Delivery,
    DiffId,
    DiffKind,
    DiffState,
    EdgeKind,
    Filter,
    Hit,
    HopCount,
    InboxItem,
    InboxPage,
    InboxState,
    Interests,
    MeshInfo,
    MuteKind,
    NewCell,
    PrincipalKind,
    Recalled,
    RecallMode,
    Receipt,
    Refusal,
    Refused,
    Route,
    Seen,
    Stats,
    Step,
    Stored,
    StoreOutcome,
    Trace,
    Wait,
)
from hyphaedb.verbs import Verbs

if TYPE_CHECKING:
    from hyphaedb.mesh import Home, Mesh, Wiring, open_mesh
    from hyphaedb.providers.embedding import Embedder
    from hyphaedb.providers.opening import open_embedder
    from hyphaedb.providers.windows import embed_bodies
    from hyphaedb.remote import RemoteMesh
    from hyphaedb.sync import SyncMesh

__all__ = [
    "Agent",
    "Beacon",
    "BeaconMatch",
    "Cell",
    "CellId",
    "CellState",
    "CellType",
    "Check",
    "Config",
    "Conflict",
    "Delivery",
    "DiffId",
    "DiffKind",
    "DiffState",
    "EdgeKind",
    "Embedder",
    "Filter",
    "Forbidden",
    "Hit",
    "Home",
    "HopCount",
    "HyphaeError",
    "InboxItem",
    "InboxPage",
    "InboxState",
    "Interests",
    "Invalid",
    "LeaseLost",
    "LimitReached",
    "Mesh",
    "MeshInfo",
    "MuteKind",
    "NewCell",
    "NotFound",
    "PrincipalKind",
    "RecallMode",
    "Recalled",
    "Receipt",
    "Refusal",
    "Refused",
    "RemoteMesh",
    "Route",
    "Seen",
    "Stats",
    "Step",
    "StoreOutcome",
    "Stored",
    "SyncMesh",
    "TooLarge",
    "Trace",
    "Unavailable",
    "Unsupported",
    "Verbs",
    "Wait",
    "Wiring",
    "embed_bodies",
    "open_embedder",
    "open_mesh",
]

#: Names that bring an engine with them, and where each lives.
_LATER = {
    "Embedder": "hyphaedb.providers.embedding",
    "Home": "hyphaedb.mesh",
    "Mesh": "hyphaedb.mesh",
    "RemoteMesh": "hyphaedb.remote",
    "SyncMesh": "hyphaedb.sync",
    "Wiring": "hyphaedb.mesh",
    "embed_bodies": "hyphaedb.providers.windows",
    "open_embedder": "hyphaedb.providers.opening",
    "open_mesh": "hyphaedb.mesh",
}


def __getattr__(name: str) -> object:
    if name in _LATER:
        import importlib

        found: object = getattr(importlib.import_module(_LATER[name]), name)
        return found
    raise AttributeError(f"module 'hyphaedb' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
