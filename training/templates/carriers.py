"""How a statement is carried: bare, as a commit, a decision, a chat line, with a reason or a date.

A carrier never changes what is claimed. Hedges do, and stand apart.
"""

from __future__ import annotations

from training.templates.sides import Draw
from training.templates.words import DAYS, MONTHS, PEOPLE, capital

_BEFORE = (
    "Decision: {}|Note: {}|FYI: {}|fyi {}|Reminder: {}|As discussed, {}|From the standup: {}|"
    "ADR: {}|Heads up, {}|For the record, {}|Confirmed: {}|TIL {}|Per the runbook, {}|"
    "According to the design doc, {}|In the review we settled that {}|We agreed that {}|"
    "It was decided that {}|The docs say that {}|Just checked: {}|Status: {}|Finding: {}|"
    "Convention: {}|Constraint: {}|Observed that {}|Turns out {}|Please note that {}|"
    "Summary of the call: {}|Context: {}|Rule: {}|Remember that {}|Documented: {}|[infra] {}|"
    "docs: {}|chore: {}|After the incident we wrote down that {}|The README states that {}|"
    "Right now {}|Currently {}|At the moment {}|As of today, {}|In our setup {}|Apparently {}|"
    "The current state is that {}|Learned today: {}|ops: {}|{who} says {}|{who} confirmed that {}"
).split("|")
_AFTER = (
    "{}, as agreed|{} (see the wiki)|{} (decided on {day})|{}, per the architecture review|"
    "{}; ticket is linked|{}, see PR #{n}|{} (ref OPS-{n})|{}, no exceptions|{} - please keep in mind|"
    "{}, as of {month}|{}, thanks to {who}|{} for now we just document it|{} btw|{}, fyi|"
    "{}. Ask {who} if unsure|{}. This came up in the retro|{}. Background is in the doc|"
    "{}, so plan for that|{}. Keep this in mind when you deploy|{}. Came up on {day}"
).split("|")
_REASONS = (
    "because it is cheaper|because the team knows it well|for performance reasons|"
    "to keep things simple|after last month's outage|to satisfy compliance|"
    "since the old way was too slow|due to customer demand|to reduce on-call load|"
    "because of the licence|so that we can scale later|to avoid surprises|"
    "as the auditors asked for it|given the traffic we expect|to cut costs|for legal reasons|"
    "because the vendor recommends it|to make debugging easier|because latency matters here"
).split("|")
HEDGES = (
    "maybe {}|I think {}|possibly {}|it might be that {}|perhaps {}|not sure, but {}|"
    "if I remember correctly, {}|we are considering whether {}|it has been suggested that {}|"
    "someone asked whether {}|the idea came up that {}"
).split("|")


def carried(draw: Draw, claim: str) -> str:
    """The claim as one of many people would have written it down."""
    said = claim
    if draw.chance(0.12):
        said = f"{said} {draw.of(_REASONS)}"
    roll = draw.random.random()
    if roll < 0.28:
        said = _filled(draw, draw.of(_BEFORE), said)
    elif roll < 0.40:
        said = _filled(draw, draw.of(_AFTER), said)
    return dressed(draw, said)


def dressed(draw: Draw, said: str) -> str:
    """Case and full stop as one writer or the other would have them."""
    if not draw.chance(0.15):
        said = capital(said)
    if draw.chance(0.65) and said[-1:] not in ".!?":
        said += "."
    return said


def _filled(draw: Draw, frame: str, said: str) -> str:
    frame = frame.replace("{day}", draw.of(DAYS)).replace("{month}", draw.of(MONTHS))
    frame = frame.replace("{who}", draw.of(PEOPLE)).replace(
        "{n}", str(draw.random.randint(12, 9000))
    )
    return frame.replace("{}", said, 1)
