"""The slow truth beside the fast answer: a mirror compared with one loaded afresh."""

from __future__ import annotations

import numpy as np

from hyphaedb.engine.mirror import Mirror
from hyphaedb.store.pool import Database

#: Differences listed; one is enough to distrust a mirror, a few help to find the cause.
_LISTED_MAX = 20


async def differences(mirror: Mirror, database: Database) -> list[str]:
    """What the mirror holds that the tables do not say, in words; empty for a sound mirror.

    Compares cells, vectors, every node's neighbours with their costs, standing and footprints.
    Costs a full load; the mirror must not be changed meanwhile.
    """
    fresh = Mirror(mirror.info, mirror.config, None)
    await fresh.load(database)
    found: list[str] = []
    for mine, true in zip(mirror.layers, fresh.layers, strict=True):
        name = f"layer {mine.number}"
        live = np.flatnonzero(mine.graph.live[: mine.count])
        if len(live) != true.count:
            found.append(f"{name}: {len(live)} live cells, {true.count} in the tables")
            continue
        for place, row in enumerate(live):
            cell_id = mine.cell_id(int(row))
            if cell_id != true.cell_id(place):
                found.append(f"{name}: row {row} is cell {cell_id}, not {true.cell_id(place)}")
            elif not np.array_equal(mine.vectors[row], true.vectors[place]):
                found.append(f"{name}: the vector of {cell_id} differs")
            elif mine.standing[row] != true.standing[place]:
                found.append(f"{name}: {cell_id} stands in one and not in the other")
            elif _neighbours(mirror, mine.number, int(row)) != _neighbours(
                fresh, true.number, place
            ):
                found.append(f"{name}: the neighbours of {cell_id} differ")
            elif _touches(mirror, mine.number, int(row)) != _touches(fresh, true.number, place):
                found.append(f"{name}: the footprints on {cell_id} differ")
            if len(found) >= _LISTED_MAX:
                return found
    return found


def _neighbours(mirror: Mirror, layer: int, row: int) -> list[tuple[bytes, int]]:
    """Neighbour ids with costs, in an order of their own."""
    found = mirror.layers[layer]
    _, targets, costs = found.graph.neighbours(np.array([row], np.int32))
    return sorted((found.ids[t].tobytes(), int(c)) for t, c in zip(targets, costs, strict=True))


def _touches(mirror: Mirror, layer: int, row: int) -> list[tuple[bytes, int]]:
    """Holder ids with the strength of their touch."""
    touched = mirror.layers[layer].touches.of(np.array([row], np.int32))
    ids = mirror.roster.holder_ids
    return sorted(
        (ids[h].bytes, int(s)) for h, s in zip(touched.holders, touched.strengths, strict=True)
    )
