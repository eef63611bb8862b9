"""The nouns of HyphaeDB: what is stored, what travels, what arrives.

Frozen and slotted; no behaviour beyond what the values themselves imply. The glossary
(docs/glossary.md) has one line for each word used here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

MeshId = NewType("MeshId", UUID)
CellId = NewType("CellId", UUID)
AgentId = NewType("AgentId", UUID)
PrincipalId = NewType("PrincipalId", UUID)
SessionId = NewType("SessionId", UUID)
DiffId = NewType("DiffId", UUID)
BeaconId = NewType("BeaconId", UUID)

#: One unit of energy, cost or score, in the whole numbers that are stored and compared.
MICRO = 1_000_000

#: JSON values a caller may attach to a cell (the paper's payload phi).
Metadata = Mapping[str, object]


class CellType(StrEnum):
    """The paper's nine kinds of knowledge (section 3.1, Table 1)."""

    DECISION = "decision"
    CONSTRAINT = "constraint"
    RISK = "risk"
    PATTERN = "pattern"
    LESSON = "lesson"
    FACT = "fact"
    PREFERENCE = "preference"
    CONTEXT = "context"
    TASK = "task"


class EdgeKind(StrEnum):
    """The paper's four kinds of edge (Eq. 3)."""

    SEMANTIC = "semantic"
    CAUSAL = "causal"
    SUBSCRIPTION = "subscription"
    PROMOTED = "promoted"


class DiffKind(StrEnum):
    """What a diff announces (Eq. 4), with retraction added (docs/decisions)."""

    CREATED = "created"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    CONTRADICTION = "contradiction"
    PATTERN = "pattern"
    PROMOTED = "promoted"
    RETRACTED = "retracted"


class DiffState(StrEnum):
    """Life of a diff in the journal: accepted, settled, or given up with its reason kept."""

    PENDING = "pending"
    DONE = "done"
    DEAD = "dead"


class CellState(StrEnum):
    """Whether a cell stands. Superseded cells stay readable; retracted ones leave gossip."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"


class PrincipalKind(StrEnum):
    """Whoever acts: an agent, a person, a tool or an import."""

    AGENT = "agent"
    HUMAN = "human"
    TOOL = "tool"
    IMPORT = "import"


class Route(StrEnum):
    """Why a delivery happened."""

    WAVE = "wave"
    BEACON = "beacon"
    SWEEP = "sweep"
    LOG = "log"


class Refusal(StrEnum):
    """Why an agent that was considered did not receive a diff."""

    OWN = "own_knowledge"
    BELOW_GATE = "below_gate"
    NOT_REACHED = "not_reached"
    MUTED = "muted"
    BANDWIDTH = "bandwidth"
    BUDGET = "budget"


class InboxState(StrEnum):
    """Where an item stands for its reader."""

    UNREAD = "unread"
    LEASED = "leased"
    READ = "read"


class StoreOutcome(StrEnum):
    """What a store did: a new cell, a confirmation of one that was there, or a harmless repeat."""

    CREATED = "created"
    CONFIRMED = "confirmed"
    REPEATED = "repeated"


class Wait(StrEnum):
    """What the caller of ``store`` waits for."""

    ACCEPTED = "accepted"
    DELIVERED = "delivered"


class MuteKind(StrEnum):
    """What a mute silences: an agent's inbox, an author's diffs, or a cell type."""

    AGENT = "agent"
    AUTHOR = "author"
    TYPE = "type"


class RecallMode(StrEnum):
    """Which candidate lists recall asks."""

    FULL = "full"
    VECTOR = "vector"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class MeshInfo:
    """One project's topology: the tenant. ``dimension`` and ``model`` never change in place."""

    mesh_id: MeshId
    name: str
    model: str
    dimension: int
    created_at: datetime
    paused: bool
    shadow: bool


@dataclass(frozen=True, slots=True)
class Interests:
    """What an agent says it cares about. Empty interests declare nothing."""

    text: str = ""
    tags: tuple[str, ...] = ()
    types: tuple[CellType, ...] = ()


@dataclass(frozen=True, slots=True)
class Agent:
    """A registered receiver. Instances of one role share the role's footprint."""

    agent_id: AgentId
    name: str
    kind: PrincipalKind
    role: str | None
    instance: str | None
    interests: Interests
    active_days: int
    muted: bool
    registered_at: datetime
    retired_at: datetime | None


@dataclass(frozen=True, slots=True)
class Cell:
    """An atomic piece of knowledge (Eq. 1). Text, type and validity are immutable."""

    cell_id: CellId
    agent_id: AgentId
    agent: str
    session: str | None
    type: CellType
    layer: int
    body: str
    tags: tuple[str, ...]
    metadata: Metadata
    ref: str | None
    salience: float
    confidence: float
    state: CellState
    created_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    confirmations: int
    replaces: CellId | None = None
    sources: tuple[CellId, ...] = ()


@dataclass(frozen=True, slots=True)
class NewCell:
    """A cell as its author hands it over; the engine validates and fills in the rest."""

    body: str
    type: CellType = CellType.FACT
    salience: float = 0.6
    confidence: float = 0.7
    tags: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    ref: str | None = None
    session: str | None = None
    sources: tuple[CellId, ...] = ()
    valid_from: datetime | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One hop on a delivery's path: the cell, what is left of the energy on arrival."""

    cell_id: CellId
    headline: str
    energy: float


@dataclass(frozen=True, slots=True)
class Delivery:
    """A diff that landed at an agent. Scores and energies are in units (not micro-units)."""

    diff_id: DiffId
    cell_id: CellId
    agent_id: AgentId
    agent: str
    route: Route
    score: float
    relevance: float
    interest: float
    energy: float
    hops: int
    path: tuple[Step, ...]
    beacon: str | None
    at: datetime
    shadow: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """An agent the wave considered and left alone, with the reason."""

    agent: str
    reason: Refusal
    score: float
    relevance: float
    interest: float


@dataclass(frozen=True, slots=True)
class HopCount:
    """How many cells the wave settled at one distance, and the least energy left there."""

    hops: int
    settled: int
    relayed: int
    energy_least: float


@dataclass(frozen=True, slots=True)
class Trace:
    """One wave, explained: who received, by which path, who did not and why. Whoever a sweep told
    later stands among the deliveries only."""

    diff_id: DiffId
    cell_id: CellId
    kind: DiffKind
    state: DiffState
    energy: float
    settled: int
    rounds: int
    gate: float
    truncated: str | None
    shadow: bool
    created_at: datetime
    settled_at: datetime | None
    hops: tuple[HopCount, ...]
    deliveries: tuple[Delivery, ...]
    refused: tuple[Refused, ...]
    error: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a cell: to whom it was delivered, who read it, or why nobody got it."""

    cell_id: CellId
    diff_id: DiffId
    state: DiffState
    delivered: tuple[str, ...]
    read: tuple[str, ...]
    why_nobody: str | None


@dataclass(frozen=True, slots=True)
class Stored:
    """The answer to ``store``. ``windows`` > 1 says the embedding is a mean over windows."""

    cell_id: CellId
    diff_id: DiffId | None
    outcome: StoreOutcome
    windows: int
    state: DiffState
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One diff waiting for one agent. ``cursor`` rises by commit order within the inbox; ``reason``
    says why a cell was retracted, None for any other kind."""

    cursor: int
    diff_id: DiffId
    cell_id: CellId
    kind: DiffKind
    state: InboxState
    type: CellType
    headline: str
    body: str | None
    author: str
    session: str | None
    ref: str | None
    score: float
    route: Route
    beacon: str | None
    confirmations: int
    unattested: bool
    created_at: datetime
    delivered_at: datetime
    expires_at: datetime
    path: tuple[Step, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class InboxPage:
    """Items of one inbox, best first, with the cursor to go on from and what was left out."""

    items: tuple[InboxItem, ...]
    cursor: int
    unread: int
    omitted: int


@dataclass(frozen=True, slots=True)
class Beacon:
    """A standing subscription: a fixed position, a radius in cosine, and filters."""

    beacon_id: BeaconId
    agent: str
    name: str
    text: str
    radius: float
    types: tuple[CellType, ...]
    tags: tuple[str, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class BeaconMatch:
    """A cell from history that a beacon would have caught."""

    cell_id: CellId
    headline: str
    cosine: float
    at: datetime


@dataclass(frozen=True, slots=True)
class Filter:
    """Which cells recall may return. Empty fields do not restrict."""

    types: tuple[CellType, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    session: str | None = None
    ref: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    include_inactive: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled cell with its score and the parts that made it (they explain the score)."""

    cell: Cell
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer to ``recall``. Empty ``hits`` with ``below_floor`` > 0 is an honest nothing;
    beside hits it counts what scored too little to be shown with them."""

    hits: tuple[Hit, ...]
    below_floor: int
    omitted_by_budget: int
    tokens: int
    unread: tuple[InboxItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """Who knows a cell: delivered, read, recalled or confirmed, and when."""

    agent: str
    delivered_at: datetime | None
    read_at: datetime | None
    recalled_at: datetime | None
    confirmed_at: datetime | None
    author: bool


@dataclass(frozen=True, slots=True)
class Stats:
    """Gauges of one mesh at one moment; counts unless the name says otherwise."""

    cells: int
    agents: int
    beacons: int
    tail: int
    tail_limit: int
    pending: int
    dead: int
    deliveries: int
    unread: int
    components: int | None
    worker: str | None
    epoch: int
    paused: bool
    shadow: bool
    mirror_bytes: int | None
    sweep_due: int


@dataclass(frozen=True, slots=True)
class Check:
    """One line of ``doctor``: what was looked at, whether it is well, and what to do if not."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
