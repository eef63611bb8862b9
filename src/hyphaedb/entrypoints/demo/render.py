"""The demo on a terminal: plain text, 80 columns, at a pace a person can follow.

The functions turn a step of the story into lines; ``Screen`` writes them and waits. Nothing is
coloured, so the text reads the same in a terminal, a pipe and a log.
"""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import Iterable, Sequence
from typing import TextIO

from hyphaedb.entrypoints.cli.printing import WIDTH, clip
from hyphaedb.entrypoints.demo.sample import Proposal, Sample
from hyphaedb.entrypoints.demo.story import Asked, Figures, Learnt, Pushed
from hyphaedb.model import Delivery, Hit, Refusal, Refused, Trace

INDENT = "   "
#: Refused agents told one by one, best score first, whether people named them or not.
REFUSED_TOLD = 4
TITLE = 32
#: The one part of a recall's score that multiplies the others.
MERIT = "merit"


def wrapped(text: str, first: str = "") -> list[str]:
    """``text`` in lines of at most 80 characters; those after the first align with its start."""
    return textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_on_hyphens=False,
    )


def heading(number: int, title: str) -> list[str]:
    """The title of a part, with the space around it."""
    return ["", f"{number}. {title}", "-" * WIDTH]


def opening(sample: Sample, mesh: str, place: str) -> list[str]:
    """What will be seen, on whose text, and where it is kept."""
    return [
        "HyphaeDB demo: knowledge that moves",
        "=" * WIDTH,
        *wrapped(
            f"{len(sample.sigs)} agents, one for each special interest group (SIG) of Kubernetes,"
            f" learn from {len(sample.earlier)} enhancement proposals. Then {len(sample.later)}"
            " later ones are stored by an author who names no reader. Nobody asks for them."
        ),
        *wrapped(f"Text: {sample.credit}, {sample.source} ({sample.licence})."),
        *wrapped(f"Kept in mesh {mesh} of {place}."),
    ]


def learnt(what: Learnt, seconds: float) -> list[str]:
    """What the agents know now."""
    return wrapped(
        f"{what.cells} proposals stored by their owners and confirmed {what.confirmations} times by"
        f" participating SIGs, in {seconds:.0f} s. {what.delivered} items reached other agents on"
        " the way and are marked as read.",
        INDENT,
    )


def path_line(delivery: Delivery, trace: Trace) -> list[str]:
    """The cells a diff went through on its way to an agent, with the energy left at each."""
    stations = [f"new cell ({trace.energy:.1f})"]
    stations += [
        f"{clip(step.headline, 40)} ({step.energy:.1f})"
        for step in delivery.path
        if step.cell_id != trace.cell_id
    ]
    return wrapped(" > ".join([*stations, delivery.agent]), INDENT * 2 + "path ")


def received(delivery: Delivery, trace: Trace) -> list[str]:
    """One delivery: score with its parts, and its path."""
    parts = f"relevance {delivery.relevance:.2f}, interest {delivery.interest:.2f}"
    return [
        f"{INDENT * 2}{delivery.agent:<27}score {delivery.score:.3f}  ({parts})",
        *path_line(delivery, trace),
    ]


def _why_not(refused: Refused, gate: float) -> str:
    if refused.reason is Refusal.BELOW_GATE:
        return f"below the gate of {gate:.3f}"
    return refused.reason.value.replace("_", " ")


def left_alone(one: Pushed, author: str) -> list[str]:
    """Who did not receive it and why: the nearest and those people named, the others counted."""
    ranked = sorted(
        (each for each in one.trace.refused if each.agent != author),
        key=lambda r: (-r.score, r.agent),
    )
    named = [each for each in ranked[REFUSED_TOLD:] if each.agent in one.proposal.sigs]
    others = [each for each in ranked[REFUSED_TOLD:] if each not in named]
    gate = one.trace.gate
    lines = [
        f"{INDENT * 2}{each.agent:<27}score {each.score:.3f}  {_why_not(each, gate)}"
        for each in [*ranked[:REFUSED_TOLD], *named]
    ]
    if others:
        reasons = "; ".join(sorted({_why_not(each, gate) for each in others}))
        lines += wrapped(
            f"and {len(others)} more, score {others[0].score:.3f} or less: {reasons}", INDENT * 2
        )
    return lines or [f"{INDENT * 2}nobody else was considered"]


def _named(proposal: Proposal) -> str:
    owner, *others = proposal.sigs
    return f"{owner} (owner)" + (f", {', '.join(others)}" if others else ", nobody else")


def told(one: Pushed, author: str) -> list[str]:
    """A later proposal in full: who received it, by which path, who did not and why."""
    ranked = sorted(one.trace.deliveries, key=lambda d: (-d.score, d.agent))
    lines = ["", f"{one.proposal.number}  {clip(one.proposal.title, WIDTH - 10)}"]
    lines += wrapped(f'"{clip(one.proposal.text, 200)}"', INDENT)
    lines.append(f"{INDENT}received by" if ranked else f"{INDENT}received by nobody")
    for delivery in ranked:
        lines += received(delivery, one.trace)
    lines.append(f"{INDENT}not received by")
    lines += left_alone(one, author)
    lines += wrapped(f"people named: {_named(one.proposal)}", INDENT)
    return [*lines, ""]


def marks(one: Pushed) -> str:
    """The outcome of a proposal: + received and named, - received only, ! named only."""
    named, got = one.proposal.sigs, one.receivers
    signs = [("+" if sig in named else "-") + sig.removeprefix("sig-") for sig in got]
    signs += ["!" + sig.removeprefix("sig-") for sig in named if sig not in got]
    return " ".join(signs)


def summed_up(one: Pushed) -> list[str]:
    """A later proposal in a line, or two where many SIGs are concerned."""
    first = f"{INDENT}{one.proposal.number:<9} {clip(one.proposal.title, TITLE):<{TITLE}}  "
    return wrapped(marks(one), first)


LEGEND = f"{INDENT}+ received, people named it   - received, not named   ! named, not received"


def _sum(hit: Hit) -> str:
    """A hit's score as what it is made of: parts that add up, times how well the cell stands."""
    parts = sorted(hit.parts.items(), key=lambda part: -part[1])
    added = " + ".join(f"{name} {value:.2f}" for name, value in parts if value and name != MERIT)
    return f"= ({added}) x {MERIT} {hit.parts.get(MERIT, 1.0):.2f}"


def _hit(rank: int, hit: Hit) -> list[str]:
    head = f"{INDENT}{rank}. score {hit.score:.3f}  {hit.cell.agent}: "
    return [head + clip(hit.cell.body, WIDTH - len(head)), *wrapped(_sum(hit), INDENT * 3)]


def asked(what: Asked) -> list[str]:
    """A recall: each hit with the parts of its score, then the unread items that ride along."""
    lines = wrapped(f'{what.agent} asks: "{what.question}"', INDENT)
    for rank, hit in enumerate(what.answer.hits, start=1):
        lines += _hit(rank, hit)
    if not what.answer.hits:
        lines.append(f"{INDENT}nothing above the floor; {what.answer.below_floor} cells below it")
    lines += wrapped(
        "vector: near in meaning; lexical: words in common; lent: by a neighbour that answers too;"
        " merit: salient, recent, not overturned.",
        INDENT,
    )
    unread = what.answer.unread
    lines += wrapped(f"Unread items of {what.agent} that ride along ({len(unread)}):", INDENT)
    lines += [
        INDENT * 2 + clip(f"score {item.score:.3f}  {item.headline}", WIDTH - len(INDENT) * 2)
        for item in unread
    ]
    return lines


def _row(name: str, figures: Figures) -> str:
    return (
        f"{INDENT}{name:<22}{figures.precision:>9.3f}{figures.recall:>9.3f}{figures.f1:>9.3f}"
        f"{figures.delivered:>13}"
    )


def compared(ours: Figures, broadcast: Figures, proposals: int) -> list[str]:
    """Precision, recall and F1 beside telling everybody everything, with what they cannot say."""
    return [
        f"{INDENT}{'':<22}{'precision':>9}{'recall':>9}{'F1':>9}{'deliveries':>13}",
        _row("this run", ours),
        _row("broadcast", broadcast),
        *wrapped(
            f"Counted over {proposals} proposals and {ours.wanted} owning and participating SIGs."
            " A SIG that was not named may care all the same, so some deliveries counted as wrong"
            " may be right. So few proposals give a rough figure; `python -m evals routing` in a"
            " checkout measures it on more.",
            INDENT,
        ),
    ]


def next_steps(commands: Sequence[tuple[str, str]]) -> list[str]:
    """Commands to go on with, each below what it shows."""
    lines = []
    for what, command in commands:
        lines += [f"{INDENT}{what}", f"{INDENT * 2}{command}"]
    return lines


class Screen:
    """Writes lines and, where a person watches, waits so that they can be read."""

    def __init__(self, out: TextIO, *, paced: bool, silent: bool) -> None:
        self._out = out
        self._paced = paced
        self._silent = silent

    async def say(self, lines: Iterable[str], pause_s: float = 0.0) -> None:
        """Write lines at once, then wait ``pause_s`` seconds if the demo is paced."""
        if self._silent:
            return
        self._out.write("".join(line + "\n" for line in lines))
        self._out.flush()
        if self._paced:
            await asyncio.sleep(pause_s)
