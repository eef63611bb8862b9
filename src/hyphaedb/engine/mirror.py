"""The mirror of one mesh: its layers, its roster and its law, loaded from the database at once.

One pump owns it. It is never repaired: after any doubt (a lost lease, a failed commit) it is
thrown away and loaded again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hyphaedb.config import Config
from hyphaedb.engine.law import Law
from hyphaedb.engine.linking import gridded
from hyphaedb.engine.roster import Roster
from hyphaedb.engine.topology import DAY_S, Layer, Rows, Vectors
from hyphaedb.engine.touches import KNOWS, RECALLED
from hyphaedb.model import CellId, MeshInfo
from hyphaedb.protocol import geometry
from hyphaedb.protocol.adjacency import Adjacency
from hyphaedb.protocol.calibration import PANEL_CELLS
from hyphaedb.store import access, agents, graph, jobs
from hyphaedb.store.graph import Edge, Panel
from hyphaedb.store.pool import Database
from hyphaedb.store.rows import PendingRow

LAYERS = 3
#: A panel is drawn again when the mesh has grown by a quarter: about 55 times to 100,000 cells.
_PANEL_GROWTH = 1.25
#: Footprints a position is made of (Eq. 2), the latest; older ones weigh next to nothing.
_POSITION_CELLS_MAX = 2_000


def links_of(layer: int, config: Config) -> int:
    """M of a layer: 24, 16 and 8 by default, in the paper's proportions."""
    return max(1, config.links_per_cell * (3 - layer) // 3)


class Mirror:
    """Loaded by :meth:`load`; changed only by the pump that owns the mesh."""

    def __init__(self, info: MeshInfo, config: Config, shipped_panel: Vectors | None) -> None:
        self.info = info
        self.config = config
        dimension = info.dimension
        self.layers = [
            Layer(n, dimension, links_of(n, config), dormancy=config.dormancy)
            for n in range(LAYERS)
        ]
        self.roster = Roster(dimension, config.attach_nearest)
        self.law = Law(config, dimension, shipped_panel)
        self.next_ordinal = 0
        self.graph_epoch = 0
        self.panel: Panel | None = None
        self.swept_at: datetime | None = None
        self.edges: dict[UUID, Edge] = {}
        # What came before the cell it concerns was linked: edges, and touches by holder.
        self._early_edges: dict[UUID, Edge] = {}
        self._early_touches: dict[UUID, dict[int, tuple[int, int]]] = {}

    async def load(self, database: Database) -> None:
        """Read everything, in one snapshot."""
        mesh_id = self.info.mesh_id
        async with database.read() as tx:
            owner = await jobs.owner_of(tx, mesh_id)
            self.info = (await access.mesh_by_id(tx, mesh_id)).info
            assert owner is not None, "a mesh has an owner row from its first day"
            self.next_ordinal, self.graph_epoch = owner.next_ordinal, owner.graph_epoch
            self.swept_at = owner.swept_at
            for layer in self.layers:
                found = await graph.load_vectors(tx, mesh_id, layer.number, self.info.dimension)
                cells = await graph.load_standing(tx, mesh_id, layer.number)
                links = await graph.load_links(tx, mesh_id, layer.number)
                self._load_layer(layer, found, cells, links)
            self.roster.take(
                await agents.agents(tx, mesh_id, retired=True),
                await agents.beacons(tx, mesh_id),
                await access.mutes(tx, mesh_id),
            )
            for position in await agents.positions(tx, mesh_id):
                self.roster.place(self.roster.holder(position.holder_id), position.vector)
            self._load_touches(await graph.load_footprints(tx, mesh_id))
            for attachment in await agents.attachments(tx, mesh_id):
                rows = [self.layers[0].row(c) for c in attachment.cell_ids]
                kept = [r for r in rows if r is not None]
                self.roster.restore(
                    self.roster.holder(attachment.leaf_id), kept, attachment.vector, self.layers[0]
                )
            self.take_edges(await graph.load_edges(tx, mesh_id))
            self.panel = await graph.latest_panel(tx, mesh_id)
        self.calibrate()

    def _load_layer(
        self,
        layer: Layer,
        found: graph.Vectors,
        cells: graph.Standing,
        links: graph.Links,
    ) -> None:
        n = len(found.ordinals)
        assert n == len(cells.ordinals) == len(links.ordinals), (
            "one snapshot, one set of linked cells"
        )
        layer.load(
            found.cell_ids,
            gridded(found.vectors) if n else found.vectors.astype(np.int16),
            found.ordinals,
            cells.saliences,
            (cells.used_at_s / DAY_S).astype(np.float32),
            cells.active,
        )
        width = layer.graph.links_max
        counts = np.diff(links.offsets)
        within = np.arange(len(links.targets)) - np.repeat(links.offsets[:-1], counts)
        row = np.repeat(np.arange(n), counts)
        kept = within < width
        targets = np.full((n, width), -1, np.int32)
        costs = np.full((n, width), np.iinfo(np.int32).max, np.int32)
        targets[row[kept], within[kept]] = layer.rows_of_ordinals(links.targets)[kept]
        costs[row[kept], within[kept]] = links.costs[kept]
        if n:
            layer.graph = Adjacency.bulk(width, targets, costs)

    def _load_touches(self, found: graph.Footprints) -> None:
        holders = _index_of(found.holder_ids, self.roster.holder)
        knows = (found.flags & ~graph.RECALLED) != 0
        strengths = np.where(knows, KNOWS, RECALLED).astype(np.uint8)
        linked = np.zeros(len(holders), np.bool_)
        for layer in self.layers:
            rows = _index_of(found.cell_ids, layer.row)
            here = rows >= 0
            linked |= here
            layer.touches.load(rows[here], holders[here], found.days[here], strengths[here])
        self.roster.known[np.unique(holders[knows & linked])] = True
        for i in np.flatnonzero(~linked).tolist():
            cell_id = UUID(bytes=found.cell_ids[i].tobytes())
            self._early(cell_id, int(holders[i]), int(found.days[i]), int(strengths[i]))

    def _early(self, cell_id: UUID, holder: int, day: int, strength: int) -> None:
        """Keep a touch of a cell that is not linked yet; :meth:`joined` hands it out."""
        kept = self._early_touches.setdefault(cell_id, {})
        before = kept.get(holder, (0, 0))
        kept[holder] = (max(before[0], day), max(before[1], strength))

    def joined(self, cell_id: CellId) -> set[int]:
        """A cell was just linked: it gets the touches and edges that came before; returns the
        holders of those touches."""
        early = self._early_touches.pop(cell_id, {})
        for holder, (day, strength) in early.items():
            self._touch(cell_id, holder, day, strength)
        if self._early_edges:
            waiting, self._early_edges = self._early_edges, {}
            for edge in waiting.values():
                self._place(edge)
        return set(early)

    def row(self, diff: PendingRow) -> int | None:
        """The mirror row of a diff's cell, None while it is not linked."""
        return self.layers[diff.layer].row(diff.cell_id)

    def take_ordinal(self) -> int:
        """The next link ordinal; the transaction that follows reserves what was taken."""
        ordinal = self.next_ordinal
        self.next_ordinal += 1
        return ordinal

    def take_edges(self, edges: Sequence[Edge]) -> None:
        """Make the typed edges and bridges of the graphs exactly these."""
        for edge in self.edges.values():
            layer = self.layers[edge.layer]
            src, dst = layer.row(edge.src), layer.row(edge.dst)
            if edge.edge_id not in self._early_edges and src is not None and dst is not None:
                layer.graph.remove_edge(src, dst, edge.cost)
        self.edges, self._early_edges = {}, {}
        for edge in edges:
            self.add_edge(edge)

    def add_edge(self, edge: Edge) -> None:
        """One edge more; it leads somewhere once both its cells are linked."""
        self.edges[edge.edge_id] = edge
        self._place(edge)

    def _place(self, edge: Edge) -> None:
        layer = self.layers[edge.layer]
        src, dst = layer.row(edge.src), layer.row(edge.dst)
        if src is None or dst is None:
            self._early_edges[edge.edge_id] = edge
        else:
            layer.graph.add_edge(src, dst, edge.cost)

    def forget(self, cell_id: CellId) -> None:
        """Take an erased cell out of everything."""
        knew: set[int] = set()
        for layer in self.layers:
            row = layer.row(cell_id)
            if row is not None:
                knew |= layer.touches.known_to(row)
                layer.forget(row)
                if layer.number == 0:
                    self.roster.detach(row)
        for holder in knew:
            one = np.array([holder], np.int32)
            knows = any(len(layer.touches.known_by(one)[0]) for layer in self.layers)
            self.roster.known[holder] = knows
        self._early_touches.pop(cell_id, None)
        for edges in (self.edges, self._early_edges):
            for gone in [k for k, e in edges.items() if cell_id in (e.src, e.dst)]:
                del edges[gone]
        if self.panel is not None and cell_id in self.panel.cell_ids:
            left = tuple(c for c in self.panel.cell_ids if c != cell_id)
            self.panel = replace(self.panel, cell_ids=left)
            self.calibrate()

    def close(self, cell_id: CellId) -> None:
        """A cell was superseded or retracted: it stays on the map and relays no more."""
        for layer in self.layers:
            row = layer.row(cell_id)
            if row is not None:
                layer.stand(row, False)

    def touch(self, cell_id: CellId, holder_id: UUID, strength: int) -> int:
        """Record a footprint that a face wrote; returns the holder's row."""
        holder = self.roster.holder(holder_id)
        day = int(self.roster.days[holder])
        if not self._touch(cell_id, holder, day, strength):
            self._early(cell_id, holder, day, strength)
        return holder

    def _touch(self, cell_id: CellId, holder: int, day: int, strength: int) -> bool:
        """Write a touch down where the cell is linked; False where it is nowhere."""
        found = False
        for layer in self.layers:
            row = layer.row(cell_id)
            if row is not None:
                layer.touches.put(row, holder, day, strength)
                found = True
        if found and strength >= KNOWS:
            self.roster.known[holder] = True
        return found

    def use(self, cell_id: CellId, day: float) -> None:
        """A cell was confirmed or used: its fading starts anew."""
        for layer in self.layers:
            row = layer.row(cell_id)
            if row is not None:
                layer.use(row, day)

    def position_of(self, holder: int) -> Vectors | None:
        """Where a holder stands by Eq. 2, from its latest footprints; None without any."""
        layer = self.layers[0]
        rows, days = layer.touches.held_by(holder)
        if len(rows) > _POSITION_CELLS_MAX:
            latest = np.lexsort((-rows, -days))[:_POSITION_CELLS_MAX]
            rows, days = rows[latest], days[latest]
        order = np.argsort(rows)
        rows, days = rows[order], days[order]
        ages = np.maximum(self.roster.days[holder] - days, 0)
        return geometry.position(
            layer.vectors[rows], layer.salience[rows], ages, self.config.position_decay
        )

    def panel_due(self) -> bool:
        """Whether the mesh has outgrown its panel."""
        drawn = self.panel.drawn_from if self.panel is not None else 0
        return self.layers[0].alive >= max(1, int(np.ceil(drawn * _PANEL_GROWTH))) and (
            self.layers[0].alive > drawn
        )

    def draw_panel(self, now: datetime) -> Panel:
        """A new panel of the mesh's own cells, drawn with a seed that is kept with it."""
        layer = self.layers[0]
        version = self.panel.version + 1 if self.panel is not None else 1
        seed = int.from_bytes(self.info.mesh_id.bytes[:4], "big") ^ version
        live = np.flatnonzero(layer.graph.live[: layer.count])
        wanted = min(self.config.panel_size, PANEL_CELLS, len(live))
        rows = np.sort(np.random.default_rng(seed).choice(live, wanted, replace=False))
        ids = tuple(CellId(layer.cell_id(int(r))) for r in rows)
        self.panel = Panel(version, seed, ids, layer.alive, now)
        self.calibrate()
        return self.panel

    def calibrate(self) -> None:
        """Read cosines against the present panel from now on."""
        layer = self.layers[0]
        known = [layer.row(c) for c in (self.panel.cell_ids if self.panel is not None else ())]
        rows = np.array([r for r in known if r is not None], np.int32)
        self.law.calibrate(layer.vectors[rows])

    def components(self) -> int:
        """Parts of the layer-0 graph that no link joins; 1 in good order, 0 for an empty mesh."""
        labels = self.layers[0].graph.components()
        return len(np.unique(labels[labels >= 0]))

    @property
    def bytes(self) -> int:
        """Memory held by all layers."""
        return sum(layer.bytes for layer in self.layers)


def _index_of(ids: NDArray[np.uint8], find: Callable[[UUID], int | None]) -> Rows:
    """Indexes of (n, 16) ids, -1 for the unknown; each distinct id is looked up once."""
    out = np.empty(len(ids), np.int32)
    known: dict[bytes, int] = {}
    for i, raw in enumerate(ids):
        key = raw.tobytes()
        if key not in known:
            index = find(UUID(bytes=key))
            known[key] = -1 if index is None else index
        out[i] = known[key]
    return out
