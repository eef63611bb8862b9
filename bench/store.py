"""What a store costs: acknowledged, landed in an inbox, sustained, drained into the index.

The yardstick is a bare insert of the same text and vector into an HNSW-indexed table (bench/bare).
Latencies with a worker are wall time, for that is what a caller waits; ratios are of CPU.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import numpy as np

from bench import bare
from bench.place import LISTENER, MESH, Place, owned, wiring
from bench.timing import Spent, Watch, quantiles_ms, ratio
from hyphaedb.config import Config
from hyphaedb.engine.draining import Drainer
from hyphaedb.engine.pump import Pump
from hyphaedb.mesh import Home, Mesh
from hyphaedb.model import CellId

_PAIRS, _IDLE, _WRITERS, _EACH, _SUSTAINED, _DRAINED = 150, 100, 8, 25, 1_500, 512
#: Between two stores of an idle mesh: whatever the last one set off is over.
_PAUSE_S = 0.06
_ARRIVAL_S = 20.0


class _Rows:
    """Cells nobody stored yet, one after another."""

    def __init__(self, place: Place) -> None:
        self._next = place.size

    def take(self) -> int:
        """The next row of the corpus."""
        self._next += 1
        return self._next - 1


class _Arrivals:
    """When each cell was in the listener's hands."""

    def __init__(self) -> None:
        self._at: dict[CellId, asyncio.Future[float]] = {}

    def of(self, cell_id: CellId) -> asyncio.Future[float]:
        """Done when the cell arrives."""
        return self._at.setdefault(cell_id, asyncio.get_running_loop().create_future())

    async def listen(self, mesh: Mesh) -> None:
        """Take note of everything that lands."""
        async for item in mesh.follow(LISTENER):
            arrival = self.of(item.cell_id)
            if not arrival.done():
                arrival.set_result(time.perf_counter())


async def run(place: Place) -> dict[str, Any]:
    """All figures for one size."""
    rows = _Rows(place)
    acknowledged = await _beside_bare(place, rows)
    sustained = await _sustained(place, rows)
    return {
        **acknowledged,
        "worker_in_process": await _with_worker(place, rows, apart=False),
        "worker_apart": await _with_worker(place, rows, apart=True),
        **sustained,
    }


@asynccontextmanager
async def _mesh(place: Place, *, worker: bool) -> AsyncIterator[Mesh]:
    config = Config(database_url=place.context.config.database_url)
    async with await Home.open(config, wiring=wiring(place.corpus)) as home:
        yield await home.mesh(MESH, worker=worker)


async def _beside_bare(place: Place, rows: _Rows) -> dict[str, Any]:
    """One store and one bare insert in turn, without a worker."""
    watch, ours, theirs = Watch(place.data_dir), list[Spent](), list[Spent]()
    async with _mesh(place, worker=False) as mesh:
        for n in range(_PAIRS + 10):
            row = rows.take()
            with watch.measure() as stored:
                await mesh.store(place.cell(row), agent=place.agent(row))
            body, vector = place.corpus.texts[row], place.corpus.vectors[row]
            with watch.measure() as inserted:
                await bare.insert(place.database, place.context.ids.new(), body, vector)
            if n >= 10:  # the first ones prepare their statements
                ours.append(stored)
                theirs.append(inserted)
    cpu = [float(np.mean([s.cpu_s for s in side])) for side in (ours, theirs)]
    return {
        "acknowledged_ms": quantiles_ms([s.wall_s for s in ours]),
        "acknowledged_cpu_ms": round(cpu[0] * 1e3, 3),
        "acknowledged_server_cpu_ms": round(float(np.mean([s.server_s for s in ours])) * 1e3, 3),
        "bare_insert_ms": quantiles_ms([s.wall_s for s in theirs]),
        "bare_insert_cpu_ms": round(cpu[1] * 1e3, 3),
        "ratio": ratio(cpu[0], cpu[1]),
        "ratio_wall": ratio(
            float(np.median([s.wall_s for s in ours])), float(np.median([s.wall_s for s in theirs]))
        ),
    }


async def _with_worker(place: Place, rows: _Rows, *, apart: bool) -> dict[str, Any]:
    """Latencies of an idle mesh with one writer, and of eight writers at once."""
    async with _mesh(place, worker=not apart) as mesh:
        process = await _worker_apart(place) if apart else None
        try:
            arrived = _Arrivals()
            listening = asyncio.create_task(arrived.listen(mesh))
            await mesh.settle(timeout_s=120.0)
            for _ in range(3):
                await _stored(mesh, place, rows, arrived)
            idle = [await _stored(mesh, place, rows, arrived) for _ in range(_IDLE)]
            busy = await asyncio.gather(
                *(_writer(mesh, place, rows, arrived) for _ in range(_WRITERS))
            )
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening
        finally:
            if process is not None:
                process.terminate()
                await process.wait()
    many = [pair for writer in busy for pair in writer]
    return {
        "1": {
            "acknowledged_ms": quantiles_ms([a for a, _ in idle]),
            "to_inbox_ms": quantiles_ms([b for _, b in idle]),
        },
        str(_WRITERS): {
            "acknowledged_ms": quantiles_ms([a for a, _ in many]),
            "to_inbox_ms": quantiles_ms([b for _, b in many]),
        },
    }


async def _worker_apart(place: Place) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", "from hyphaedb.entrypoints.cli import main; main()", "work",
        "--mesh", MESH,
        env={**os.environ, "HYPHAEDB_DATABASE_URL": place.context.config.database_url},
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip


async def _stored(mesh: Mesh, place: Place, rows: _Rows, arrived: _Arrivals) -> tuple[float, float]:
    """Seconds until one store was acknowledged, and until it was in the listener's hands."""
    await asyncio.sleep(_PAUSE_S)
    row = rows.take()
    begun = time.perf_counter()
    stored = await mesh.store(place.cell(row), agent=place.agent(row))
    acknowledged = time.perf_counter() - begun
    arrival = await asyncio.wait_for(arrived.of(stored.cell_id), _ARRIVAL_S)
    return acknowledged, arrival - begun


async def _writer(
    mesh: Mesh, place: Place, rows: _Rows, arrived: _Arrivals
) -> list[tuple[float, float]]:
    """One of several that store without a pause."""
    sent = []
    for _ in range(_EACH):
        row = rows.take()
        begun = time.perf_counter()
        stored = await mesh.store(place.cell(row), agent=place.agent(row))
        sent.append((stored.cell_id, begun, time.perf_counter() - begun))
    return [
        (took, await asyncio.wait_for(arrived.of(cell_id), _ARRIVAL_S) - begun)
        for cell_id, begun, took in sent
    ]


async def _sustained(place: Place, rows: _Rows) -> dict[str, Any]:
    """A backlog linked and gossiped by one pump, then drained into the index."""
    async with _mesh(place, worker=False) as mesh:
        watch = Watch(place.data_dir)
        with watch.measure() as storing:
            for _ in range(_SUSTAINED // 100):
                taken = [rows.take() for _ in range(100)]
                cells = [place.cell(row) for row in taken]
                await mesh.store_many(cells, agent=place.agent(taken[0]))
    batch, settled, drained = place.context.config.batch_diffs, 0, 0
    async with owned(place.context) as epoch:
        pump = await Pump.load(place.context, epoch)
        await pump.step(batch)  # prepares its statements
        with watch.measure() as spent:
            while not (step := await pump.step(batch)).idle:
                settled += step.settled
        drainer = Drainer(place.context, lambda: epoch)
        with watch.measure() as draining:
            while drained < _DRAINED and (moved := await drainer.drain_once()):
                drained += moved
        while await drainer.drain_once():
            pass  # the rest, so that the mesh is idle when it is said to be
    return {
        "sustained": {
            "cells_per_s": round(settled / spent.cpu_s, 1),
            "cells_per_s_wall": round(settled / spent.wall_s, 1),
            "worker_cpu_ms": round(spent.client_s / settled * 1e3, 3),
            "server_cpu_ms": round(spent.server_s / settled * 1e3, 3),
            "cells": settled,
            "says": "cells linked and gossiped a second of CPU, worker and server together",
        },
        "store_many_cells_per_s": round(_SUSTAINED / storing.wall_s, 1),
        "drain": {
            "rows_per_s": round(drained / draining.wall_s, 1),
            "server_cpu_ms": round(draining.server_s / max(drained, 1) * 1e3, 3),
            "rows": drained,
        },
    }


def summary(found: dict[str, Any]) -> list[str]:
    """One line a size for people."""
    return [
        f"{size} cells: acknowledged for {x['ratio']} of a bare indexed insert; to an inbox in"
        f" {x['worker_in_process']['1']['to_inbox_ms']['p95']} ms (p95);"
        f" {x['sustained']['cells_per_s']} cells/s sustained,"
        f" {x['drain']['rows_per_s']} rows/s drained"
        for size, x in found["sizes"].items()
    ]
