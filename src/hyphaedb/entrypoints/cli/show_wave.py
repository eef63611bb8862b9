"""A wave, hop by hop: how far it went, who received it by which path, who did not and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hyphaedb.entrypoints.cli.printing import WIDTH, age, clip, counted, table, wrapped
from hyphaedb.model import Delivery, DiffState, HopCount, Refusal, Refused, Route, Seen, Trace

#: Lines a list may take before the rest is counted; --json has all of it.
DELIVERIES_SHOWN = 30
REFUSED_SHOWN = 20
_BAR = 24

_REASONS = {
    Refusal.OWN: "its own knowledge",
    Refusal.BELOW_GATE: "score below the gate",
    Refusal.NOT_REACHED: "the wave did not get there",
    Refusal.MUTED: "muted",
    Refusal.BANDWIDTH: "attention used up; the sweep brings it later",
    Refusal.BUDGET: "the wave's budget was used up",
}


def trace(wave: Trace) -> list[str]:
    """The whole of it, 80 columns wide."""
    lines = [f"Diff {wave.diff_id}", f"Cell {wave.cell_id}, {wave.kind} {age(wave.created_at)} ago"]
    if wave.reason:
        lines += wrapped(f"Reason: {wave.reason}")
    if wave.state is DiffState.PENDING:
        return [*lines, "Its wave has not run yet."]
    if wave.state is DiffState.DEAD:
        return [
            *lines,
            *wrapped(f"Its wave failed for good: {wave.error}. `hyphaedb retry-dead` tries again."),
        ]
    ran = f"{counted(wave.settled, 'cell')} settled in {counted(wave.rounds, 'round')}"
    lines.append(f"Energy {wave.energy:.2f}, gate {wave.gate:.2f}: {ran}")
    if wave.shadow:
        lines.append("Shadow: this is what would have been delivered; nothing was.")
    if wave.truncated:
        lines += wrapped(f"Cut short: {wave.truncated}.")
    return [*lines, "", *_hops(wave.hops), *_delivered(wave), *_refused(wave)]


def _hops(hops: tuple[HopCount, ...]) -> list[str]:
    if not hops:
        return []
    most = max(hop.settled for hop in hops)
    rows = [
        (
            f"{hop.hops:>4}",
            f"{hop.settled:>7}",
            f"{hop.relayed:>7}",
            f"{hop.energy_least:>12.2f}",
            "#" * max(1, _BAR * hop.settled // most) if most else "",
        )
        for hop in hops
    ]
    head = (" hop", "settled", "relayed", "least energy", "")
    return [*table(head, rows), ""]


def _delivered(wave: Trace) -> list[str]:
    if not wave.deliveries:
        return ["Delivered to nobody.", ""]
    lines = [f"Delivered to {counted(len(wave.deliveries), 'agent')}:", ""]
    for delivery in wave.deliveries[:DELIVERIES_SHOWN]:
        lines += [*_delivery(delivery, wave.energy), ""]
    return lines + _more(len(wave.deliveries) - DELIVERIES_SHOWN)


def _delivery(delivery: Delivery, energy: float) -> list[str]:
    parts = f"relevance {delivery.relevance:.2f}, interest {delivery.interest:.2f}"
    score = f"score {delivery.score:.2f} ({parts}), " if delivery.route is not Route.LOG else ""
    lines = [f"  {delivery.agent}", *wrapped(f"{score}{_why(delivery)}", "    ")]
    if delivery.route is not Route.WAVE:
        return lines
    stations = [(energy, "this cell")]
    stations += [(s.energy, s.headline) for s in delivery.path if s.cell_id != delivery.cell_id]
    stations.append((delivery.energy, delivery.agent))
    for depth, (left, name) in enumerate(stations):
        lines.append(clip_kept(f"    {left:>8.2f}  {'  ' * min(depth, 8)}", name))
    return lines


def clip_kept(start: str, text: str) -> str:
    """A line with its leading spaces kept and its text clipped to what is left of 80 columns."""
    return start + clip(text, WIDTH - len(start))


def _why(delivery: Delivery) -> str:
    match delivery.route:
        case Route.WAVE:
            hops = counted(delivery.hops, "hop")
            return f"by the wave after {hops}; the energy left at each:"
        case Route.BEACON:
            if delivery.beacon is None:
                return "by a beacon that has been removed since"
            return f"by its beacon “{delivery.beacon}”"
        case Route.SWEEP:
            return "by a later sweep"
        case Route.LOG:
            return "because it had received the cell before"


def _refused(wave: Trace) -> list[str]:
    ranked = sorted(wave.refused, key=lambda r: (-r.score, r.agent))
    if not ranked:
        return []
    lines = [f"Not delivered to {counted(len(ranked), 'agent')}:", ""]
    lines += [_refusal(one) for one in ranked[:REFUSED_SHOWN]]
    if len(ranked) > REFUSED_SHOWN:
        reasons = Counter(_REASONS[one.reason] for one in ranked[REFUSED_SHOWN:])
        told = "; ".join(f"{number} {reason}" for reason, number in reasons.most_common())
        lines += wrapped(f"and {len(ranked) - REFUSED_SHOWN} more ({told}). --json has them all.")
    return lines


def _refusal(one: Refused) -> str:
    # The gate stands above. Its name here would push the interest, which decides, off the line.
    if one.reason is Refusal.BELOW_GATE:
        parts = f"relevance {one.relevance:.2f}, interest {one.interest:.2f}"
        why = f"score {one.score:.2f} ({parts})"
    else:
        why = _REASONS[one.reason]
    return clip_kept(f"  {clip(one.agent, 28):<28}  ", why)


def _more(count: int) -> list[str]:
    return [f"  and {count} more; --json has them all.", ""] if count > 0 else []


@dataclass(frozen=True, slots=True)
class Passed:
    """A settled wave and the dot to resume from."""

    dot: int
    wave: Trace


def wave_line(passed: Passed) -> list[str]:
    """A settled wave on one line, for those who watch them pass."""
    dot, wave = passed.dot, passed.wave
    told = ", ".join(d.agent for d in wave.deliveries) or "nobody"
    energy = f"energy {wave.energy:5.2f}  {wave.settled:>6} settled"
    return [clip_kept(f"{dot:>6}  {wave.kind:<10}  {energy}  ", f"to {told}")]


def seen(answer: tuple[Seen, ...]) -> list[str]:
    """Who knows a cell, and since when in which way."""
    if not answer:
        return ["Nobody has seen it."]
    rows = [
        (
            one.agent + (" (author)" if one.author else ""),
            age(one.delivered_at),
            age(one.read_at),
            age(one.recalled_at),
            age(one.confirmed_at),
        )
        for one in answer
    ]
    return table(("agent", "delivered", "read", "recalled", "confirmed"), rows)
