"""What the demo does with a mesh: learn, store what is new, ask, and compare with the people.

Nothing here prints; ``render`` says it on a terminal and ``report`` writes it as JSON. Every
figure is counted from the waves of the run that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hyphaedb.entrypoints.demo.sample import Proposal, Sample
from hyphaedb.errors import Unavailable
from hyphaedb.model import (
    CellId,
    CellType,
    DiffState,
    NewCell,
    PrincipalKind,
    Recalled,
    Trace,
    Wait,
)
from hyphaedb.verbs import Verbs

#: Who stores the later proposals: a person who belongs to no SIG and knows none of their cells.
AUTHOR = "author"
SALIENCE = 0.9
#: Small enough that the progress bar moves, large enough that texts of like length share a batch.
CHUNK = 16
#: Learning ends when the last wave has settled; a loaded laptop gets this long.
SETTLE_S = 120.0
WAVE_S = 30.0
#: Every learnt proposal could land in one inbox once; two pages of the largest size hold them.
PAGE_ITEMS = 500
PAGE_TOKENS = 200_000
PAGES_MAX = 8

#: Told in full; all others are summed up in a line each. Chosen for subjects that need no inside
#: knowledge, before anything had run on them.
TOLD = ("KEP-3335", "KEP-4191", "KEP-5943")
QUESTION = "Are volume snapshots tied to nodes or zones?"
ANSWERS = 3

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Learnt:
    """What the agents know before anything new is stored. ``delivered`` counts inbox items."""

    agents: int
    cells: int
    confirmations: int
    delivered: int


@dataclass(frozen=True, slots=True)
class Pushed:
    """A later proposal, the cell it became, and the wave that carried it."""

    proposal: Proposal
    cell_id: CellId
    trace: Trace

    @property
    def receivers(self) -> tuple[str, ...]:
        """Who received it, best score first."""
        ranked = sorted(self.trace.deliveries, key=lambda d: (-d.score, d.agent))
        return tuple(d.agent for d in ranked)


@dataclass(frozen=True, slots=True)
class Asked:
    """A recall by one of the receivers."""

    agent: str
    question: str
    answer: Recalled


@dataclass(frozen=True, slots=True)
class Heard:
    """The whole run: what was learnt, every later proposal in order of its date, the recall."""

    learnt: Learnt
    pushed: tuple[Pushed, ...]
    asked: Asked | None


@dataclass(frozen=True, slots=True)
class Figures:
    """Deliveries against what people wrote down, over all pairs of proposal and SIG.

    ``precision``, ``recall`` and ``f1`` are in [0, 1]; 0 where nothing was delivered.
    """

    delivered: int
    wanted: int
    right: int

    @property
    def precision(self) -> float:
        """Share of deliveries that went to an owning or participating SIG."""
        return self.right / self.delivered if self.delivered else 0.0

    @property
    def recall(self) -> float:
        """Share of owning and participating SIGs that were reached."""
        return self.right / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        both = self.delivered + self.wanted
        return 2 * self.right / both if both else 0.0


def _chunks(sample: Sample) -> Iterator[tuple[str, Sequence[Proposal]]]:
    """The earlier proposals by owner, in the order they were written, a bounded number a time."""
    for owner in sample.sigs:
        owned = [proposal for proposal in sample.earlier if proposal.owner == owner]
        for start in range(0, len(owned), CHUNK):
            yield owner, owned[start : start + CHUNK]


def _cell(proposal: Proposal) -> NewCell:
    return NewCell(body=proposal.body, type=CellType.DECISION, salience=SALIENCE)


async def learn(mesh: Verbs, sample: Sample, advance: Advance) -> Learnt:
    """One agent per SIG; owners store the earlier proposals, participants confirm them.

    ``advance`` is told of every chunk that is stored. What reaches the inboxes meanwhile is
    acknowledged, so the later proposals find them empty.
    """
    for sig in sample.sigs:
        await mesh.register(sig)
    done = confirmations = 0
    for owner, proposals in _chunks(sample):
        stored = await mesh.store_many([_cell(proposal) for proposal in proposals], agent=owner)
        for proposal, one in zip(proposals, stored, strict=True):
            for participant in proposal.sigs[1:]:
                await mesh.confirm(one.cell_id, agent=participant)
                confirmations += 1
        done += len(proposals)
        advance(len(proposals))
    if pending := await mesh.settle(timeout_s=SETTLE_S):
        raise Unavailable(
            f"{pending} waves have not settled after {SETTLE_S:.0f} s.",
            "Run `hyphaedb doctor`; the machine may be busy.",
        )
    delivered = 0
    for sig in sample.sigs:
        delivered += await _read_all(mesh, sig)
    return Learnt(len(sample.sigs), done, confirmations, delivered)


async def _read_all(mesh: Verbs, agent: str) -> int:
    """Acknowledge whatever waits for an agent; returns how many items that were."""
    read = 0
    for _ in range(PAGES_MAX):
        page = await mesh.inbox(agent, items=PAGE_ITEMS, tokens=PAGE_TOKENS, bodies=False)
        if not page.items:
            break
        read += await mesh.acknowledge(agent, [item.cursor for item in page.items])
    return read


async def push(mesh: Verbs, proposal: Proposal) -> Pushed:
    """Store a later proposal, title and text only, and wait for its wave."""
    stored = await mesh.store(_cell(proposal), agent=AUTHOR, wait=Wait.DELIVERED, timeout_s=WAVE_S)
    trace = await mesh.trace(stored.cell_id)
    if trace.state is not DiffState.DONE:
        raise Unavailable(
            f"The wave of {proposal.number} is {trace.state} after {WAVE_S:.0f} s.",
            "Run `hyphaedb doctor`; the machine may be busy.",
        )
    return Pushed(proposal, stored.cell_id, trace)


async def introduce_author(mesh: Verbs) -> None:
    """Register the author of the later proposals."""
    await mesh.register(AUTHOR, kind=PrincipalKind.HUMAN)


async def ask(mesh: Verbs, agent: str) -> Asked:
    """A question in other words than the proposal's, by an agent that received it."""
    return Asked(agent, QUESTION, await mesh.recall(QUESTION, agent=agent, k=ANSWERS))


def measure(pushed: Sequence[Pushed]) -> Figures:
    """The deliveries of this run against the owning and participating SIGs."""
    return Figures(
        delivered=sum(len(one.receivers) for one in pushed),
        wanted=sum(len(one.proposal.sigs) for one in pushed),
        right=sum(len(set(one.receivers) & set(one.proposal.sigs)) for one in pushed),
    )


def broadcast(pushed: Sequence[Pushed], agents: int) -> Figures:
    """What telling every agent everything would have scored on the same proposals."""
    wanted = sum(len(one.proposal.sigs) for one in pushed)
    return Figures(delivered=agents * len(pushed), wanted=wanted, right=wanted)
