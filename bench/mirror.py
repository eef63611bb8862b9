"""What the mirror of a mesh weighs, and how long opening it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import psutil

from bench.place import Place
from bench.timing import Watch

_REPEATS = 3


async def run(place: Place) -> dict[str, Any]:
    """Bytes a cell and seconds to rebuild, for one size."""
    process, watch = psutil.Process(), Watch(place.data_dir)
    before = process.memory_info().rss
    mirror = await place.mirror()
    grown = process.memory_info().rss - before
    held, cells, parts = mirror.bytes, mirror.layers[0].count, mirror.components()
    forced = mirror.layers[0].graph.forced_count
    wall, client, server = [], [], []
    for _ in range(_REPEATS):
        with watch.measure() as spent:
            await place.mirror()
        wall.append(spent.wall_s)
        client.append(spent.client_s)
        server.append(spent.server_s)
    return {
        "bytes_per_cell": round(held / cells),
        "resident_bytes_per_cell": round(grown / cells),
        "rebuild_s": round(float(np.median(wall)), 2),
        "rebuild_cpu_s": round(float(np.median(client)), 2),
        "rebuild_server_cpu_s": round(float(np.median(server)), 2),
        "components": parts,
        "forced_share": round(forced / cells, 4),
    }


def summary(found: dict[str, Any]) -> list[str]:
    """One line a size for people."""
    return [
        f"{size} cells: {x['bytes_per_cell']} bytes a cell, rebuilt in {x['rebuild_s']} s"
        for size, x in found["sizes"].items()
    ]
