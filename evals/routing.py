"""Does knowledge reach the teams that must hear of it, unasked? (paper, section 9.2, question a)

Agents are the teams that people named. The earlier records are stored by their owners and
confirmed by the others; then a neutral principal pushes the later ones, title and text only, in
order, and nobody answers. What lands in a team's inbox is compared with who was named.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.baselines import baselines
from evals.metrics import routing
from evals.packs import Pack, Record
from evals.remembering import RememberingEmbedder
from hyphaedb import (
    Config,
    DiffState,
    NewCell,
    PrincipalKind,
    Trace,
    Verbs,
    Wiring,
    embed_bodies,
    open_embedder,
    open_mesh,
)

STREAM = "stream"
#: Longest a run may take to settle what was stored: far above what the largest pack needs.
_SETTLE_S = 3_600.0

#: What is taken away, by the settings that take it. ``no_energy``: every hop costs one unit and
#: the energy is the largest there is. ``no_relay``: nothing travels beyond the origin's own links.
#: ``raw_cosine``: one yardstick for every diff and mesh instead of the panel.
ABLATIONS: dict[str, dict[str, Any]] = {
    "no_energy": {"energy_base": 20.0, "omega_min": 1.0},
    "no_relay": {"relay_min": 1.0},
    "raw_cosine": {"calibration": "fixed"},
}


async def evaluate(pack: Pack, ablate: bool = True) -> dict[str, Any]:
    """The JSON object of one pack."""
    embedder = RememberingEmbedder(open_embedder(Config().embedder))
    learn = await _vectors(embedder, pack.learn)
    push = await _vectors(embedder, pack.push)
    learn_gold, push_gold = _gold(pack, pack.learn), _gold(pack, pack.push)
    result: dict[str, Any] = {"pack": pack.name, "n": len(pack.push)}
    result |= await _run(pack, push_gold, embedder, {})
    result["baselines"] = baselines(learn, learn_gold, push, push_gold)
    result["ablations"] = {}
    for name, settings in ABLATIONS.items() if ablate else ():
        print(f"ablation {name} …", file=sys.stderr, flush=True)
        result["ablations"][name] = await _run(pack, push_gold, embedder, settings)
    await embedder.close()
    return result


async def _vectors(embedder: RememberingEmbedder, records: Sequence[Record]) -> NDArray[np.float32]:
    """Vectors of the records as the engine will see them; a word on progress on long work."""
    parts = []
    for start in range(0, len(records), 256):
        texts = [r.text for r in records[start : start + 256]]
        parts.append((await embed_bodies(embedder, texts))[0])
        if sys.stderr.isatty():
            print(f"embedded {start + len(texts)} of {len(records)}", end="\r", file=sys.stderr)
    return np.concatenate(parts)


def _gold(pack: Pack, records: Sequence[Record]) -> NDArray[np.bool_]:
    place = {team: i for i, team in enumerate(pack.teams)}
    gold = np.zeros((len(records), len(place)), np.bool_)
    for i, record in enumerate(records):
        gold[i, [place[t] for t in record.teams]] = True
    return gold


async def _run(
    pack: Pack,
    gold: NDArray[np.bool_],
    embedder: RememberingEmbedder,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """One whole life of a mesh under these settings."""
    with tempfile.TemporaryDirectory(prefix="hyphaedb-eval-", ignore_cleanup_errors=True) as home:
        config = replace(Config(data_dir=home), **settings)
        wiring = Wiring(embedder=embedder)
        async with open_mesh(mesh=pack.name, create=True, config=config, wiring=wiring) as mesh:
            await _learn(mesh, pack)
            traces = await _push(mesh, pack)
    place = {team: i for i, team in enumerate(pack.teams)}
    scores = np.full(gold.shape, -1.0)
    delivered = np.zeros(gold.shape, np.bool_)
    for i, trace in enumerate(traces):
        for landed in trace.deliveries:
            if landed.agent in place:
                delivered[i, place[landed.agent]] = True
                scores[i, place[landed.agent]] = landed.score
        for refused in trace.refused:
            if refused.agent in place:
                scores[i, place[refused.agent]] = refused.score
    figures = routing(scores, delivered, gold)
    only_delivered = routing(np.where(delivered, scores, -1.0), delivered, gold)
    figures["map_of_delivered"] = only_delivered["map"]
    figures["recall_at_3_of_delivered"] = only_delivered["recall_at_3"]
    return figures


async def _learn(mesh: Verbs, pack: Pack) -> None:
    for team in pack.teams:
        await mesh.register(team)
    await mesh.register(STREAM, kind=PrincipalKind.TOOL)
    for record in pack.learn:
        cell = NewCell(record.text, type=pack.type, salience=pack.salience)
        stored = await mesh.store(cell, agent=record.teams[0])
        for team in record.teams[1:]:
            await mesh.confirm(stored.cell_id, agent=team)
    await _settled(mesh)


async def _push(mesh: Verbs, pack: Pack) -> list[Trace]:
    stored = []
    for record in pack.push:
        cell = NewCell(record.text, type=pack.type, salience=pack.salience)
        stored.append(await mesh.store(cell, agent=STREAM))
    await _settled(mesh)
    traces = [await mesh.trace(s.diff_id or s.cell_id) for s in stored]
    unsettled = [t for t in traces if t.state is not DiffState.DONE]
    if unsettled:
        raise SystemExit(f"{len(unsettled)} diffs did not settle: {unsettled[0].error}")
    return traces


async def _settled(mesh: Verbs) -> None:
    left = await mesh.settle(timeout_s=_SETTLE_S)
    if left:
        raise SystemExit(f"{left} diffs are still pending after {_SETTLE_S:.0f} s.")


def main(learn: Sequence[Path], push: Sequence[Path], ablate: bool) -> None:
    """Print the JSON object of the pack in these files."""
    from evals.packs import load

    print(json.dumps(asyncio.run(evaluate(load(learn, push), ablate))))
