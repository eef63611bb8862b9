"""Inboxes, beacons and agents, in words."""

from __future__ import annotations

from collections.abc import Sequence

from hyphaedb.entrypoints.cli.printing import age, clip, counted, table, wrapped
from hyphaedb.entrypoints.cli.show_wave import clip_kept
from hyphaedb.model import (
    Agent,
    Beacon,
    BeaconMatch,
    InboxItem,
    InboxPage,
    InboxState,
    Interests,
    Route,
)


def page(answer: InboxPage) -> list[str]:
    """The items, how many there are, and how to mark them as read."""
    if not answer.items:
        left = f" {counted(answer.unread, 'item')} did not fit." if answer.unread else ""
        return [f"Nothing new.{left}"]
    lines: list[str] = []
    for one in answer.items:
        lines += [*item(one), ""]
    if answer.omitted:
        lines.append(f"{counted(answer.omitted, 'item')} did not fit the budget.")
    lines.append(f"{counted(answer.unread, 'item')} unread. Mark as read: hyphaedb acknowledge "
                 "AGENT NUMBER...")  # fmt: skip
    return lines


def item(one: InboxItem) -> list[str]:
    """One item: what it says, from whom, how it came."""
    marks = [
        f"score {one.score:.2f}",
        f"{one.type}, {one.kind}",
        f"from {one.author}",
        f"{age(one.created_at)} ago",
    ]
    if one.confirmations:
        marks.append(counted(one.confirmations, "confirmation"))
    if one.ref:
        marks.append(f"ref {one.ref}")
    if one.unattested:
        marks.append("unattested")
    if one.state is InboxState.LEASED:
        marks.append("leased")
    start = f"{one.cursor:>5}  "
    lines = [clip_kept(start, one.headline), *wrapped(", ".join(marks), " " * 7)]
    lines += wrapped(_path(one), " " * 7)
    if one.reason:
        lines += wrapped(f"reason: {one.reason}", " " * 7)
    if one.body and " ".join(one.body.split()) != " ".join(one.headline.split()):
        lines += wrapped(one.body, " " * 7)
    return lines


def _path(one: InboxItem) -> str:
    match one.route:
        case Route.WAVE:
            between = [step for step in one.path if step.cell_id != one.cell_id]
            way = " > ".join(["new cell", *(clip(step.headline, 40) for step in between), "you"])
            return f"path: {way}"
        case Route.BEACON:
            if one.beacon is None:
                return "path: a beacon that has been removed since"
            return f"path: beacon “{one.beacon}”"
        case Route.SWEEP:
            return "path: found by a later sweep"
        case Route.LOG:
            return "path: you had received the cell before"


def marked(count: int) -> list[str]:
    """How many items are read now that were not before."""
    if count == 0:
        return ["Marked none: nothing unread in this inbox has such a number."]
    return [f"Marked {count} as read."]


def agents(answer: Sequence[Agent]) -> list[str]:
    """Who takes part."""
    if not answer:
        return ["No agent is registered. Register one: hyphaedb agent add NAME"]
    rows = [
        (one.name, one.kind.value, one.role or "-", _state(one), _cares(one.interests))
        for one in answer
    ]
    return table(("name", "kind", "role", "state", "interests"), rows)


def _cares(one: Interests) -> str:
    """All that an agent declared; the text last, for a line that is too long is clipped."""
    tags = f"tags: {', '.join(one.tags)}" if one.tags else ""
    types = f"types: {', '.join(one.types)}" if one.types else ""
    return "; ".join(part for part in (tags, types, one.text) if part) or "-"


def _state(one: Agent) -> str:
    if one.retired_at is not None:
        return "retired"
    if one.muted:
        return "muted"
    return f"{counted(one.active_days, 'day')} active" if one.active_days else "new"


def agent(answer: Agent) -> list[str]:
    """One agent, as a row."""
    return agents([answer])


def beacons(answer: Sequence[Beacon]) -> list[str]:
    """Standing subscriptions."""
    if not answer:
        return ["No beacon is placed. Place one: hyphaedb beacon add AGENT NAME TEXT"]
    rows = [(b.agent, b.name, f"{b.radius:.2f}", b.text) for b in answer]
    return table(("agent", "name", "radius", "text"), rows)


def beacon(answer: Beacon) -> list[str]:
    """One beacon, as a row."""
    return beacons([answer])


def matches(answer: Sequence[BeaconMatch]) -> list[str]:
    """What a beacon would have caught."""
    if not answer:
        return ["It would have caught nothing. A smaller --radius catches more."]
    rows = [(f"{m.cosine:.2f}", str(m.cell_id), m.headline) for m in answer]
    return table(("cosine", "cell", "headline"), rows)
