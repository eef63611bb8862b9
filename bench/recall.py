"""What a recall costs beside a bare pgvector query, and how much of the truth it finds.

Truth is the exact scan of every vector. Asked with an empty tail, a normal and a full one, while
cells come and go, and after that. Ratios are of CPU, client and server together.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import numpy as np

from bench import bare
from bench.place import MESH, Place, rows, wiring
from bench.timing import Spent, Watch, quantiles_ms, ratio
from hyphaedb.config import Config
from hyphaedb.mesh import Home, Mesh
from hyphaedb.model import CellId, RecallMode
from hyphaedb.store import bulk, search

#: The worker's normal bound of the tail, and the one from which writes are refused.
TAILS = {"normal": 2_000, "full": 20_000}
_ASKED, _JUDGED, _AFTER_STORE = 100, 60, 20
#: Corpus rows from here on are queries; those below become tail or churn.
_QUERIES_FROM, _CHURN_FROM = 24_000, 26_000


async def run(place: Place) -> dict[str, Any]:
    """All figures for one size."""
    config = Config(database_url=place.context.config.database_url, tail_max=40_000)
    out: dict[str, Any] = {"tail": {}}
    async with await Home.open(config, wiring=wiring(place.corpus)) as home:
        mesh = await home.mesh(MESH, worker=False)
        out["tail"]["empty"] = {**await _timed(place, mesh), **await _judged(place, mesh)}
        out["right_after_a_store"] = await _after_store(place, mesh)
        await mesh.close()
        out.update(await _around_churn(place, home))
        mesh = await home.mesh(MESH, worker=False)
        there = 0
        for name, wanted in TAILS.items():
            await _grow_tail(place, there, wanted)
            there = wanted
            out["tail"][name] = {**await _timed(place, mesh), **await _judged(place, mesh)}
        await mesh.close()
    return out


async def _around_churn(place: Place, home: Home) -> dict[str, Any]:
    """While cells come and go, and afterwards. The worker's CPU counts here too: compare walls."""
    working = await home.mesh(MESH)
    churning = asyncio.create_task(_churn(place, working))
    await asyncio.sleep(1.0)
    during = {**await _timed(place, working), **await _judged(place, working)}
    churning.cancel()
    with suppress(asyncio.CancelledError):
        await churning
    await working.settle(timeout_s=120.0)
    await working.close()
    quiet = await home.mesh(MESH, worker=False)
    after = {**await _timed(place, quiet), **await _judged(place, quiet)}
    await quiet.close()
    return {"during_churn": during, "after_churn": after}


async def _grow_tail(place: Place, there: int, wanted: int) -> None:
    """Cells that wait for the index; nobody links or drains them here."""
    for start in range(there, wanted, 1_000):
        first = place.size + start
        made = await rows(place, first, first + min(1_000, wanted - start))
        async with place.database.transaction() as tx:
            await bulk.insert_cells(tx, place.context.info.mesh_id, [(c, None) for c, _ in made])


def _queries(place: Place, count: int) -> list[tuple[str, np.ndarray[Any, Any]]]:
    first = place.size + _QUERIES_FROM
    corpus = place.corpus
    return [(corpus.texts[r], corpus.vectors[r]) for r in range(first, first + count)]


async def _timed(place: Place, mesh: Mesh) -> dict[str, Any]:
    """The bare query and both modes in turn, on the same questions."""
    watch = Watch(place.data_dir)
    spent: dict[str, list[Spent]] = {"bare": [], "vector": [], "full": []}
    async with place.database.statement() as tx:
        await bare.widen(tx)
        for n, (text, vector) in enumerate(_queries(place, _ASKED + 10)):
            with watch.measure() as plain:
                await bare.nearest(tx, vector)
            with watch.measure() as near:
                await mesh.recall(text, mode=RecallMode.VECTOR, k=10, floor=0.0)
            with watch.measure() as full:
                await mesh.recall(text, k=10, floor=0.0)
            if n >= 10:  # the first ones prepare their statements and warm the cache
                for name, one in (("bare", plain), ("vector", near), ("full", full)):
                    spent[name].append(one)
    cpu = {name: float(np.median([s.cpu_s for s in side])) for name, side in spent.items()}
    wall = {name: [s.wall_s for s in side] for name, side in spent.items()}
    return {
        **{f"{name}_ms": quantiles_ms(side) for name, side in wall.items()},
        **{f"{name}_cpu_ms": round(value * 1e3, 3) for name, value in cpu.items()},
        "vector_ratio": ratio(cpu["vector"], cpu["bare"]),
        "full_ratio": ratio(cpu["full"], cpu["bare"]),
        "vector_ratio_wall": ratio(
            float(np.median(wall["vector"])), float(np.median(wall["bare"]))
        ),
        "full_ratio_wall": ratio(float(np.median(wall["full"])), float(np.median(wall["bare"]))),
    }


async def _judged(place: Place, mesh: Mesh) -> dict[str, float]:
    """Mean share of the ten truly nearest that vector recall finds."""
    shares = []
    for text, vector in _queries(place, _JUDGED):
        truth = await _truth(place, vector)
        found = await mesh.recall(text, mode=RecallMode.VECTOR, k=10, floor=0.0, tokens=200_000)
        shares.append(len(truth & {h.cell.cell_id for h in found.hits}) / max(1, len(truth)))
    return {"recall_at_10": round(float(np.mean(shares)), 4)}


async def _truth(place: Place, vector: np.ndarray[Any, Any]) -> set[CellId]:
    context = place.context
    async with context.database.statement() as tx:
        standing = search.standing(context.info.mesh_id, context.now())
        listing = search.scan(context.info.mesh_id, 0, vector, 10, standing)
        near = await search.near(tx, listing)
    return {n.cell_id for n in near}


async def _after_store(place: Place, mesh: Mesh) -> dict[str, float]:
    """Store, ask for it at once: is it there, and are its neighbours?"""
    first, seen, shares = place.size + _CHURN_FROM, 0, []
    for row in range(first, first + _AFTER_STORE):
        stored = await mesh.store(place.cell(row), agent=place.agent(row))
        text, vector = place.corpus.texts[row], place.corpus.vectors[row]
        found = await mesh.recall(text, mode=RecallMode.VECTOR, k=10, floor=0.0, tokens=200_000)
        hits = {h.cell.cell_id for h in found.hits}
        truth = await _truth(place, vector)
        seen += stored.cell_id in hits
        shares.append(len(truth & hits) / len(truth))
    return {
        "found_itself": round(seen / _AFTER_STORE, 4),
        "recall_at_10": round(float(np.mean(shares)), 4),
    }


async def _churn(place: Place, mesh: Mesh) -> None:
    """Cells come, and every second one goes again for good."""
    row = place.size + _CHURN_FROM + _AFTER_STORE
    end = place.size + _CHURN_FROM + 5_000
    while row < end:
        stored = await mesh.store(place.cell(row), agent=place.agent(row))
        if row % 2:
            await mesh.forget(stored.cell_id)
        row += 1
        await asyncio.sleep(0.02)


def summary(found: dict[str, Any]) -> list[str]:
    """One line a size for people."""
    lines = []
    for size, x in found["sizes"].items():
        normal = x["tail"]["normal"]
        lines.append(
            f"{size} cells: vector recall {normal['vector_ratio']} times a bare query, full"
            f" {normal['full_ratio']} times; recall@10 {normal['recall_at_10']},"
            f" right after a store {x['right_after_a_store']['recall_at_10']}"
        )
    return lines
