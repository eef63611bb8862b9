"""Meshes: who has one, which model it was made with, what is paused, shadowed or muted in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from psycopg.types.json import Jsonb

from hyphaedb.errors import Conflict, NotFound
from hyphaedb.model import MeshId, MeshInfo, MuteKind
from hyphaedb.store.pool import Row, Tx, row, rows, run
from hyphaedb.store.sql import query

#: A model's id follows from its name and dimension, so that two databases agree on it.
MODEL_SPACE = UUID("6f1c1d0e-3c0b-5d2a-9a54-6879706861e0")
MESHES_MAX = 1_000
MUTES_MAX = 10_000


class MeshPart(StrEnum):
    """What a mesh is erased by, in this order."""

    CELLS = "cells"
    PRINCIPALS = "principals"
    TERMS = "terms"
    SESSIONS = "sessions"
    ANSWERS = "answers"


#: Rows of one batch of a drop. A cell takes its links, diffs and deliveries with it, thousands of
#: rows at worst, and a batch must stay well below the statement timeout.
DROP_ROWS = {
    MeshPart.CELLS: 100,
    MeshPart.PRINCIPALS: 100,
    MeshPart.TERMS: 5_000,
    MeshPart.SESSIONS: 5_000,
    MeshPart.ANSWERS: 1_000,
}


@dataclass(frozen=True, slots=True)
class MeshRow:
    """A mesh with what only the engine needs."""

    info: MeshInfo
    model_id: UUID
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Counts:
    """Gauges of one mesh that have to be counted; a second or so on a large one."""

    cells: int
    agents: int
    beacons: int
    tail: int
    pending: int
    dead: int
    deliveries: int
    unread: int


def model_id(name: str, dimension: int) -> UUID:
    """The id of an embedding model."""
    return uuid5(MODEL_SPACE, f"{name}\n{dimension}")


async def create_mesh(
    tx: Tx,
    mesh_id: MeshId,
    name: str,
    model: str,
    dimension: int,
    settings: Mapping[str, Any],
    now: datetime,
) -> MeshRow:
    """Make a mesh; raises Conflict where the name is taken. Call ensure_vector_index after."""
    values = {
        "mesh_id": mesh_id,
        "model_id": model_id(model, dimension),
        "name": model,
        "model": model,
        "dimension": dimension,
        "settings": Jsonb(dict(settings)),
        "now": now,
    }
    await run(tx, query("model_add"), values)
    if await run(tx, query("mesh_add"), {**values, "name": name}) == 0:
        raise Conflict(f"There is a mesh named {name!r} already.", "Use it, or choose a new name.")
    return await mesh_by_name(tx, name)


async def mesh_by_name(tx: Tx, name: str) -> MeshRow:
    """The mesh of that name; raises NotFound, naming close ones. Never makes one."""
    found = await row(tx, query("mesh_by_name"), {"name": name})
    if found is not None:
        return _mesh(found)
    there = [m.info.name for m in await meshes(tx)]
    close = get_close_matches(name, there, n=3, cutoff=0.6)
    hint = (
        "Did you mean " + " or ".join(repr(c) for c in close) + "?"
        if close
        else (
            "Create it first." if not there else "There are: " + ", ".join(sorted(there)[:10]) + "."
        )
    )
    raise NotFound(f"There is no mesh named {name!r}.", hint)


async def mesh_by_id(tx: Tx, mesh_id: MeshId) -> MeshRow:
    """The mesh of that id; raises NotFound."""
    found = await row(tx, query("mesh_by_id"), {"mesh_id": mesh_id})
    if found is None:
        raise NotFound(f"There is no mesh {mesh_id}.", "List the meshes to see which there are.")
    return _mesh(found)


async def meshes(tx: Tx, after: str = "", limit: int = MESHES_MAX) -> list[MeshRow]:
    """Meshes by name, those behind ``after``."""
    found = await rows(tx, query("meshes"), {"after": after, "limit": limit})
    return [_mesh(r) for r in found]


async def drop_part(tx: Tx, mesh_id: MeshId, part: MeshPart) -> int:
    """Erase the next batch of a part of a mesh; 0 when nothing of it is left."""
    values = {"mesh_id": mesh_id, "limit": DROP_ROWS[part]}
    return await run(tx, query(f"drop_{part.value}"), values)


async def drop_mesh(tx: Tx, mesh_id: MeshId) -> None:
    """Erase a mesh with whatever is left in it, at once; drop its parts before."""
    await run(tx, query("drop_mesh"), {"mesh_id": mesh_id})


async def set_paused(tx: Tx, mesh_id: MeshId, paused: bool) -> None:
    """Stop or resume the waves of a mesh; stores and recalls go on."""
    await run(tx, query("mesh_steer"), {"mesh_id": mesh_id, "paused": paused, "shadow": None})


async def set_shadow(tx: Tx, mesh_id: MeshId, shadow: bool) -> None:
    """Whether waves record what they would deliver and deliver nothing."""
    await run(tx, query("mesh_steer"), {"mesh_id": mesh_id, "paused": None, "shadow": shadow})


async def add_mute(tx: Tx, mesh_id: MeshId, kind: MuteKind, subject: str, now: datetime) -> bool:
    """Silence a subject (an agent's or author's name, a cell type); False where it was."""
    values = {"mesh_id": mesh_id, "kind": kind.value, "subject": subject, "now": now}
    return await run(tx, query("mute_add"), values) > 0


async def remove_mute(tx: Tx, mesh_id: MeshId, kind: MuteKind, subject: str) -> bool:
    """Lift a mute; False where there was none."""
    values = {"mesh_id": mesh_id, "kind": kind.value, "subject": subject}
    return await run(tx, query("mute_remove"), values) > 0


async def mutes(tx: Tx, mesh_id: MeshId) -> list[tuple[MuteKind, str]]:
    """What is silenced in a mesh."""
    values = {"mesh_id": mesh_id, "limit": MUTES_MAX}
    return [(MuteKind(r[0]), r[1]) for r in await rows(tx, query("mutes"), values)]


async def counts(tx: Tx, mesh_id: MeshId, now: datetime) -> Counts:
    """Gauges of one mesh."""
    found = await row(tx, query("mesh_counts"), {"mesh_id": mesh_id, "now": now})
    assert found is not None
    return Counts(*found)


def _mesh(found: Row) -> MeshRow:
    return MeshRow(MeshInfo(*found[:7]), found[7], found[8])
