"""Cells and what became of them, in words."""

from __future__ import annotations

from hyphaedb.entrypoints.cli.printing import WIDTH, age, clip, counted, wrapped
from hyphaedb.model import (
    Cell,
    CellState,
    DiffKind,
    DiffState,
    Hit,
    InboxItem,
    Recalled,
    Receipt,
    Stored,
    StoreOutcome,
)

_OUTCOMES = {
    StoreOutcome.CREATED: "Stored",
    StoreOutcome.CONFIRMED: "It was there; your agent now confirms it",
    StoreOutcome.REPEATED: "Your agent had said so before; nothing changed",
}


def stored(answer: Stored) -> list[str]:
    """What a write did."""
    return _written(answer, _OUTCOMES[answer.outcome])


def retracted(answer: Stored) -> list[str]:
    """What taking a cell back did."""
    return _written(answer, "Taken back")


def _written(answer: Stored, done: str) -> list[str]:
    lines = [f"{done}: {answer.cell_id}"]
    if answer.windows > 1:
        lines.append(f"The text is long: its vector is the mean of {answer.windows} windows.")
    if answer.receipt is not None:
        lines += receipt(answer.receipt)
    elif answer.state is DiffState.PENDING and answer.diff_id is not None:
        lines.append(f"Who received it: hyphaedb trace {answer.cell_id}")
    return lines


def receipt(answer: Receipt) -> list[str]:
    """Delivered to whom, read by whom, or why to nobody."""
    if answer.state is DiffState.PENDING:
        return ["Its wave has not run yet."]
    if answer.state is DiffState.DEAD:
        return [
            "Its wave failed for good; `hyphaedb trace` says why, `hyphaedb retry-dead` retries."
        ]
    if not answer.delivered:
        return wrapped(f"Delivered to nobody. {answer.why_nobody or ''}")
    lines = wrapped(f"Delivered to {', '.join(answer.delivered)}.")
    if answer.read:
        lines += wrapped(f"Read by {', '.join(answer.read)}.")
    return lines


def cell(answer: Cell) -> list[str]:
    """One cell, whole."""
    facts = [
        f"{answer.type}, by {answer.agent}, {age(answer.created_at)} ago",
        f"salience {answer.salience:.2f}, confidence {answer.confidence:.2f}, "
        f"{counted(answer.confirmations, 'confirmation')}",
    ]
    if answer.state is not CellState.ACTIVE:
        facts.append(f"{answer.state} {age(answer.valid_to)} ago")
    more = {
        "session": answer.session,
        "ref": answer.ref,
        "tags": ", ".join(answer.tags),
        "replaces": answer.replaces,
        "rests on": ", ".join(str(s) for s in answer.sources),
        "expires": answer.expires_at,
        "layer": answer.layer or "",
    }
    facts += [f"{name}: {value}" for name, value in more.items() if value]
    facts += [f"{name} = {value}" for name, value in answer.metadata.items()]
    body = [line for part in answer.body.splitlines() for line in wrapped(part) or [""]]
    return [str(answer.cell_id), *facts, "", *body]


def recalled(answer: Recalled) -> list[str]:
    """The hits with the parts of their scores, and what was left out."""
    lines: list[str] = []
    for number, hit in enumerate(answer.hits, 1):
        lines += _hit(number, hit)
    if not answer.hits:
        below = f" {counted(answer.below_floor, 'cell')} scored below the floor."
        lines.append(f"Nothing here answers that.{below if answer.below_floor else ''}")
    if answer.omitted_by_budget:
        lines.append(f"{counted(answer.omitted_by_budget, 'hit')} did not fit the token budget.")
    if answer.unread:
        lines.append(f"{counted(len(answer.unread), 'unread item')}:")
        lines += [_unread(one) for one in answer.unread]
    return lines


def _unread(one: InboxItem) -> str:
    # What was taken back is told by its old words: without the kind it would read as true.
    kind = "" if one.kind is DiffKind.CREATED else f"{one.kind}: "
    return clip(f"{kind}{one.headline} (from {one.author})", WIDTH)


def _hit(number: int, hit: Hit) -> list[str]:
    one = hit.cell
    mark = "" if one.state is CellState.ACTIVE else f", {one.state}"
    parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items() if value)
    return [
        f"{number}. {hit.score:.2f}  {one.type}, by {one.agent}, {age(one.created_at)} ago{mark}",
        *wrapped(one.body, "   "),
        *wrapped(f"{parts}; {one.cell_id}" if parts else str(one.cell_id), "   "),
        "",
    ]
