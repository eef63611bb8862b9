"""Keeping a layer in one piece after cells were erased.

Linking alone keeps a layer connected (protocol/adjacency.py); erasing a cell takes its links away
and may leave an island that no wave reaches. So after every erasure, and when a mirror is loaded,
the parts are counted, and each is joined to the largest by the nearest pair, in both directions.
Counting follows every link once: about 30 ms at 100,000 cells, and only when something was erased.
"""

from __future__ import annotations

from datetime import datetime

from hyphaedb.engine.identity import Ids
from hyphaedb.engine.mirror import Mirror
from hyphaedb.engine.topology import Layer
from hyphaedb.model import CellId, EdgeKind
from hyphaedb.protocol import links
from hyphaedb.protocol.energy import link_cost_micro
from hyphaedb.store.graph import Edge


def mend(mirror: Mirror, ids: Ids, now: datetime) -> list[Edge]:
    """Join the parts of every layer in the mirror; returns the bridges, to be written down."""
    there = {(e.layer, e.src, e.dst, e.kind) for e in mirror.edges.values()}
    built: list[Edge] = []
    for layer in mirror.layers:
        for edge in _bridges(layer, mirror.config.omega_min, ids, now):
            # A typed edge of the same kind may lead one of the two ways already.
            if (edge.layer, edge.src, edge.dst, edge.kind) not in there:
                mirror.add_edge(edge)
                built.append(edge)
    return built


def _bridges(layer: Layer, omega_min: float, ids: Ids, now: datetime) -> list[Edge]:
    """Both directions of every bridge a layer needs."""
    if layer.alive < 2:
        return []
    found: list[Edge] = []
    for bridge in links.bridges(layer.graph.components(), layer.vectors[: layer.count]):
        omega = min(1.0, max(bridge.cosine, omega_min))
        ends = CellId(layer.cell_id(bridge.near)), CellId(layer.cell_id(bridge.far))
        found.extend(
            Edge(
                edge_id=ids.new(),
                layer=layer.number,
                src=src,
                dst=dst,
                kind=EdgeKind.SEMANTIC,
                omega=omega,
                cost=link_cost_micro(omega),
                bandwidth=None,
                bridge=True,
                created_at=now,
            )
            for src, dst in (ends, ends[::-1])
        )
    return found
