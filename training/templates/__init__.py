"""Seeded pairs of engineering statements, with how they stand to each other."""

from __future__ import annotations

from collections.abc import Callable

from training.batches import CONTRADICTS, ENTAILS, NEUTRAL, Row
from training.templates.carriers import HEDGES, carried, dressed
from training.templates.choices import FAILS, HOLDS, MOVED, SLOTS, values
from training.templates.numbers import dates, numbers, versions
from training.templates.opposites import OPPOSITIONS
from training.templates.quads import QUADS
from training.templates.quads_hard import HARD_QUADS
from training.templates.quads_more import MORE_QUADS
from training.templates.quads_terse import TERSE_QUADS
from training.templates.sides import Draw, Made, Relation
from training.templates.states import (
    claims,
    durations,
    features,
    progress,
    quantifiers,
    rules,
    scopes,
    times,
)
from training.templates.words import owner, release, renamed, subject, two_subjects

_ALL_QUADS = (*QUADS, *MORE_QUADS, *HARD_QUADS, *TERSE_QUADS)

_ABOUT = (
    "{s} was presented at the all-hands", "{who} wrote the first version of {s}",
    "{s} has a new dashboard", "we are hiring for {s}", "{s} was mentioned in the postmortem",
    "the docs of {s} moved to the wiki", "{s} gets most of its traffic in the morning",
    "the roadmap of {s} is on the board", "{s} was started in {r}", "{who} gave a talk on {s}",
    "{s} is mentioned in the onboarding guide", "{s} costs more than last year",
    "the logo of {s} was changed", "{who} asked about {s} in the channel", "{s} has twelve endpoints",
    "we planned a workshop on {s}", "{s} was renamed in {r}", "the repo of {s} has a new README",
    "users like {s}", "{s} was audited in {r}", "{s} came out of a hackathon",
)  # fmt: skip


def _choices(draw: Draw) -> Made:
    """A pair about which value a slot has."""
    s, t = two_subjects(draw)
    slot = draw.of(SLOTS)
    v, w = values(draw, slot)
    name = draw.of(slot.names)

    def say(frames: tuple[str, ...], who: str, value: str, was: str = "") -> str:
        filled = draw.of(frames).replace("{s}", who).replace("{v}", value).replace("{w}", was)
        return filled.replace("{n}", name)

    holds = (*slot.own, *HOLDS, *slot.own)
    same = (draw.of(holds),)
    kind = draw.random.randrange(20)
    if kind < 2:
        return Made(say(same, s, v), say(same, s, w), Relation.CONTRADICTS)
    if kind < 6:
        return Made(say(holds, s, v), say(holds, s, w), Relation.CONTRADICTS)
    if kind < 8:
        return Made(say(holds, s, v), say(FAILS, s, v), Relation.CONTRADICTS)
    if kind == 8:
        return Made(say(holds, s, w), say(MOVED, s, v, w), Relation.CONTRADICTS)
    if kind == 9:
        return Made(say(MOVED, s, v, w), say(MOVED, s, w, v), Relation.CONTRADICTS)
    if kind < 12:
        return Made(say(holds, s, v), say(holds, s, v), Relation.DUPLICATES)
    if kind == 12:
        return Made(say(MOVED, s, v, w), say(holds, s, v), Relation.ENTAILS)
    if kind == 13:
        return Made(say(MOVED, s, v, w), say(FAILS, s, w), Relation.ENTAILS)
    if kind == 14:
        return Made(say(holds, s, v), say(FAILS, s, w), Relation.NEUTRAL)
    if kind == 15:
        return Made(say(same, s, v), say(same, t, w), Relation.NEUTRAL)
    if kind == 16:
        return Made(say(holds, s, v), say(holds, t, w), Relation.NEUTRAL)
    if kind == 17:
        return Made(say(FAILS, s, v), say(FAILS, s, v), Relation.DUPLICATES)
    if kind == 18:
        hedged = draw.of(HEDGES).replace("{}", say(holds, s, w))
        return Made(say(holds, s, v), hedged, Relation.NEUTRAL)
    # Another slot of the same system: both hold.
    other = draw.random.choice([x for x in SLOTS if x is not slot])
    frame = draw.of((*other.own, *HOLDS)).replace("{n}", draw.of(other.names))
    filled = frame.replace("{s}", s).replace("{v}", values(draw, other)[0])
    return Made(say(holds, s, v), filled, Relation.NEUTRAL)


def _opposites(draw: Draw) -> Made:
    """A pair of predicates of one line, or of two lines, or on two systems."""
    s, t = two_subjects(draw)
    line = draw.of(OPPOSITIONS)
    ours, theirs = line if draw.chance(0.5) else line[::-1]

    def say(options: tuple[str, ...], who: str) -> str:
        return draw.random.choice(options).replace("{s}", who)

    kind = draw.random.randrange(10)
    if kind < 4:
        return Made(say(ours, s), say(theirs, s), Relation.CONTRADICTS)
    if kind < 7:
        one, other = draw.random.sample(ours, 2)
        return Made(one.replace("{s}", s), other.replace("{s}", s), Relation.DUPLICATES)
    if kind == 7:
        return Made(say(ours, s), say(theirs, t), Relation.NEUTRAL)
    if kind == 8:
        other_line = draw.random.choice([x for x in OPPOSITIONS if x is not line])
        return Made(say(ours, s), say(draw.random.choice(other_line), s), Relation.NEUTRAL)
    return Made(say(ours, s), _beside(draw, s), Relation.NEUTRAL)


def _quads(draw: Draw) -> Made:
    """A pair of one hand-written line, or of two."""
    quad = draw.of(_ALL_QUADS)
    s = subject(draw)
    statement, paraphrase, contradiction, related = (part.replace("{s}", s) for part in quad)
    kind = draw.random.randrange(10)
    if kind < 2:
        return Made(statement, contradiction, Relation.CONTRADICTS)
    if kind < 4:
        return Made(paraphrase, contradiction, Relation.CONTRADICTS)
    if kind < 7:
        return Made(statement, paraphrase, Relation.DUPLICATES)
    if kind == 9:
        stranger = draw.of([x for x in _ALL_QUADS if x is not quad])
        return Made(statement, draw.random.choice(stranger).replace("{s}", s), Relation.NEUTRAL)
    # The contradiction beside the fourth sentence is left out: of the hard lines they may agree.
    side = draw.random.choice((statement, paraphrase))
    return Made(side, related, Relation.NEUTRAL)


def _additions(draw: Draw) -> Made:
    """A claim beside a longer text that holds it, adds to it or is merely about the same system."""
    s, t = two_subjects(draw)
    claim, again, against = claims(draw, s)
    more = claims(draw, t)[0] if draw.chance(0.5) else _beside(draw, s)
    joint = draw.of(("{}; {}", "{} and {}", "{}. Also, {}", "{}, while {}", "{}. Besides, {}"))
    kind = draw.random.randrange(5)
    if kind == 0:
        return Made(joint.replace("{}", again, 1).replace("{}", more, 1), claim, Relation.ENTAILS)
    if kind == 1:
        longer = joint.replace("{}", against, 1).replace("{}", more, 1)
        return Made(longer, claim, Relation.CONTRADICTS)
    if kind == 2:
        longer = joint.replace("{}", more, 1).replace("{}", against, 1)
        return Made(longer, claim, Relation.CONTRADICTS)
    if kind == 3:
        return Made(claim, draw.of(HEDGES).replace("{}", against), Relation.NEUTRAL)
    return Made(claim, _beside(draw, s), Relation.NEUTRAL)


def _beside(draw: Draw, s: str) -> str:
    filled = draw.of(_ABOUT).replace("{s}", s).replace("{who}", owner(draw))
    return filled.replace("{r}", release(draw))


#: Makers and how often each is asked.
_MAKERS: tuple[tuple[Callable[[Draw], Made], int], ...] = (
    (_choices, 20), (_opposites, 18), (_quads, 40), (numbers, 14), (versions, 6), (dates, 3),
    (rules, 6), (progress, 4), (quantifiers, 4), (scopes, 7), (times, 7), (durations, 3),
    (features, 4), (_additions, 8),
)  # fmt: skip


def made(count: int, seed: int, held_out: bool) -> list[Made]:
    """`count` pairs from one side, each carried in its own way; half of them turned round."""
    draw = Draw(seed, held_out)
    makers, weights = zip(*_MAKERS, strict=True)
    found = []
    for maker in draw.random.choices(makers, weights, k=count):
        pair = maker(draw)
        pair = Made(pair.a, renamed(draw, pair.b), pair.relation)
        if maker is _quads and draw.chance(0.6):
            a, b = pair.a, pair.b
        elif draw.chance(0.3):
            a, b = dressed(draw, pair.a), dressed(draw, pair.b)
        else:
            a, b = carried(draw, pair.a), carried(draw, pair.b)
        found.append(Made(a, b, pair.relation))
    return found


def directed(pairs: list[Made], source: str) -> list[Row]:
    """Both directions of every pair, with the label of each."""
    labels = {
        Relation.CONTRADICTS: (CONTRADICTS, CONTRADICTS),
        Relation.DUPLICATES: (ENTAILS, ENTAILS),
        Relation.ENTAILS: (ENTAILS, NEUTRAL),
        Relation.NEUTRAL: (NEUTRAL, NEUTRAL),
    }
    rows = []
    for pair in pairs:
        there, back = labels[pair.relation]
        rows.append(Row(pair.a, pair.b, there, source))
        rows.append(Row(pair.b, pair.a, back, source))
    return rows


def generate(count: int, seed: int) -> list[Row]:
    """`count` directed rows of the learning side, one direction of each pair."""
    rows = directed(made(count, seed, held_out=False), "templates")
    chance = Draw(seed, held_out=False)
    return [rows[2 * n + chance.random.randrange(2)] for n in range(count)]


def generate_held_out(count: int, seed: int) -> list[Row]:
    """`count` rows from words and templates that the learning side never draws."""
    return directed(made(count, seed, held_out=True), "held-out")[::2]
