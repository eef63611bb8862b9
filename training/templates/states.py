"""Rules, quantifiers, states and times: what may be done, to how much of it, until when."""

from __future__ import annotations

from training.templates.choices import HOLDS, SLOTS, values
from training.templates.opposites import FEATURES, OPPOSITIONS
from training.templates.sides import Draw, Made, Relation
from training.templates.words import PEOPLE, SCOPES, owner, release, subject, two_subjects

_ACTIONS = (
    "deploy {s} on Fridays|cache responses of {s}|push to the main branch of {s}|"
    "log user ids in {s}|call {s} from a browser|restart {s} during business hours|"
    "edit the schema of {s} by hand|retry calls to {s}|share credentials of {s}|"
    "run {s} on spot instances|skip the tests of {s}|add new endpoints to {s}|"
    "store files in {s}|disable the checks of {s}|use feature flags in {s}|copy {s}'s code|"
    "send personal data to {s}|merge without a review in {s}|import {s} from other packages|"
    "change the API of {s}|read the database of {s} directly|expose {s} to partners|"
    "use third-party scripts in {s}|keep old versions of {s} running|rename fields in {s}|"
    "scale {s} down at night|write to {s} from batch jobs|bypass {s}|mock {s} in tests"
).split("|")
_FORBID = (
    "do not {a}|never {a}|you must not {a}|it is forbidden to {a}|nobody may {a}|"
    "we do not {a}|don't {a}|it is not allowed to {a}|refrain from any attempt to {a}|"
    "developers are not permitted to {a}|we agreed not to {a}|avoid it at all costs to {a}"
).split("|")
_ALLOW = (
    "you may {a}|it is fine to {a}|feel free to {a}|everybody is allowed to {a}|"
    "teams can {a} whenever they like|there is nothing wrong with it if you {a}|"
    "it is acceptable to {a}|it is not forbidden to {a}|nobody objects if you {a}"
).split("|")
_OBLIGE = (
    "always {a}|you must {a}|it is mandatory to {a}|everyone has to {a}|we are required to {a}|"
    "make sure to {a}|developers must {a} every time|{a}, this is compulsory"
).split("|")
_SPARE = (
    "you do not have to {a}|there is no need to {a}|it is optional to {a}|"
    "nobody has to {a}|it is not necessary to {a}"
).split("|")

_DONE = (
    "{s} is done|{s} has been finished|we completed {s}|{s} was merged yesterday|{s} is live|"
    "{s} has shipped|work on {s} is over|{s} went out to users|{s}: done|closed {s}|{who} finished {s}"
).split("|")
_OPEN = (
    "{s} is still in progress|{s} is not done yet|we have not finished {s}|{s} is blocked|"
    "nobody has started {s}|{s} is waiting for a review|{s} has not shipped|{s} remains open|"
    "{who} is still working on {s}|{s} was put on hold|{s}: todo"
).split("|")
_TASKS = (
    "the migration of {x}|the rewrite of {x}|the security review of {x}|the load test for {x}|"
    "the upgrade of {x}|the new dashboard for {x}|the documentation of {x}|the refactoring of {x}|"
    "the rollout of {x}|the fix for the crash in {x}|the cleanup of {x}|the integration of {x}|"
    "the penetration test of {x}|the cost analysis for {x}|ticket OPS-{n} on {x}|the API design of {x}"
).split("|")

_THINGS = (
    "services|endpoints|customers|tests|containers|tables|clients|regions|queries|requests|alerts|"
    "repositories|jobs|tenants|modules|teams|nodes|backups|dashboards|certificates|users"
).split("|")
_DO = (
    "use TLS|are monitored|have an owner|are affected by the bug|run on the new cluster|were migrated|"
    "pass|support pagination|have been patched|are encrypted|go through the proxy|are documented|"
    "depend on the old library|follow the naming convention|need a licence|are covered by the SLA"
).split("|")
_ALL = "all {t} of {s} {d}|every one of the {t} of {s} {d}|the {t} of {s} {d} without exception".replace(
    "every one of the {t} of {s} {d}", "without exception the {t} of {s} {d}"
).split("|")
_NONE = "none of the {t} of {s} {d}|no {t} of {s} {d}|not a single one of the {t} of {s} does: they never {d}".replace(
    "not a single one of the {t} of {s} does: they never {d}", "there are no {t} of {s} that {d}"
).split("|")
_SOME = "some {t} of {s} {d}|a few {t} of {s} {d}|about half of the {t} of {s} {d}|there are {t} of {s} that {d}".split(
    "|"
)
_NOT_ALL = "not all {t} of {s} {d}|only some {t} of {s} {d}|several {t} of {s} do not {d}".replace(
    "several {t} of {s} do not {d}", "just a part of the {t} of {s} {d}"
).split("|")


def rules(draw: Draw) -> Made:
    """A pair about what may, must or must not be done."""
    s, t = two_subjects(draw)
    action = draw.of(_ACTIONS)

    def say(frames: list[str], who: str = "") -> str:
        return draw.of(frames).replace("{a}", action.replace("{s}", who or s))

    kind = draw.random.randrange(11)
    if kind < 2:
        return Made(say(_FORBID), say(_ALLOW), Relation.CONTRADICTS)
    if kind == 2:
        return Made(say(_FORBID), say(_OBLIGE), Relation.CONTRADICTS)
    if kind == 3:
        return Made(say(_OBLIGE), say(_SPARE), Relation.CONTRADICTS)
    if kind == 4:
        return Made(say(_FORBID), say(_FORBID), Relation.DUPLICATES)
    if kind == 5:
        return Made(say(_OBLIGE), say(_OBLIGE), Relation.DUPLICATES)
    if kind == 6:
        return Made(say(_ALLOW), say(_ALLOW), Relation.DUPLICATES)
    if kind == 7:
        return Made(say(_OBLIGE), say(_ALLOW), Relation.ENTAILS)
    if kind == 8:
        return Made(say(_FORBID), say(_ALLOW, t), Relation.NEUTRAL)
    if kind == 9:
        return Made(say(_ALLOW), say(_SPARE), Relation.NEUTRAL)
    first = say(_FORBID)
    action = draw.of(_ACTIONS)
    return Made(
        first, say(_ALLOW), Relation.NEUTRAL if first.find(action[:9]) < 0 else Relation.CONTRADICTS
    )


def progress(draw: Draw) -> Made:
    """A pair about whether something is done."""
    x, y = two_subjects(draw)
    task, number, who = draw.of(_TASKS), str(draw.random.randint(10, 999)), draw.of(PEOPLE)

    def say(frames: list[str], of: str, what: str) -> str:
        named = what.replace("{x}", of).replace("{n}", number)
        return draw.of(frames).replace("{s}", named).replace("{who}", who)

    kind = draw.random.randrange(7)
    if kind < 3:
        return Made(say(_DONE, x, task), say(_OPEN, x, task), Relation.CONTRADICTS)
    if kind == 3:
        return Made(say(_DONE, x, task), say(_DONE, x, task), Relation.DUPLICATES)
    if kind == 4:
        return Made(say(_DONE, x, task), say(_OPEN, y, task), Relation.NEUTRAL)
    if kind == 5:
        other = draw.of([t for t in _TASKS if t != task])
        return Made(say(_DONE, x, task), say(_OPEN, x, other), Relation.NEUTRAL)
    return Made(say(_OPEN, x, task), say(_OPEN, y, task), Relation.NEUTRAL)


def quantifiers(draw: Draw) -> Made:
    """A pair about all, some or none."""
    s, t = two_subjects(draw)
    thing, does = draw.of(_THINGS), draw.of(_DO)

    def say(frames: list[str], who: str = "") -> str:
        frame = draw.of(frames).replace("{t}", thing).replace("{d}", does)
        return frame.replace("{s}", who or s)

    table = (
        (_ALL, _NONE, Relation.CONTRADICTS),
        (_ALL, _NOT_ALL, Relation.CONTRADICTS),
        (_SOME, _NONE, Relation.CONTRADICTS),
        (_ALL, _ALL, Relation.DUPLICATES),
        (_NOT_ALL, _NOT_ALL, Relation.DUPLICATES),
        (_NONE, _NONE, Relation.DUPLICATES),
        (_ALL, _SOME, Relation.ENTAILS),
        (_SOME, _NOT_ALL, Relation.NEUTRAL),
    )
    if draw.chance(0.2):
        return Made(say(_ALL), say(_NONE, t), Relation.NEUTRAL)
    one, other, relation = draw.random.choice(table)
    return Made(say(one), say(other), relation)


_SCOPED = (
    "in {e}, {c}",
    "{c} in {e}",
    "for {e}, {c}",
    "{c} (only {e})",
    "{e}: {c}",
    "on {e} {c}",
    "when it comes to {e}, {c}",
    "{c}, but only in {e}",
)
_ALWAYS = (
    "{c} everywhere",
    "{c} in every environment",
    "in all environments {c}",
    "{c}, no matter which environment",
    "{c} without exception",
)
_UNTIL = (
    "until {r}, {c}",
    "before {r} {c}",
    "{c} up to {r}",
    "prior to {r}, {c}",
    "{c} (until {r})",
)
_SINCE = (
    "since {r}, {c}",
    "from {r} on {c}",
    "as of {r}, {c}",
    "{c} starting with {r}",
    "after {r} {c}",
    "{c} (since {r})",
)


def claims(draw: Draw, s: str) -> tuple[str, str, str]:
    """(a claim on s, the same or another wording of it, a claim that it excludes)."""
    if draw.chance(0.45):
        slot = draw.of(SLOTS)
        v, w = values(draw, slot)
        name = draw.of(slot.names)
        frames = (*slot.own, *HOLDS)

        def say(value: str) -> str:
            filled = draw.of(frames).replace("{s}", s).replace("{v}", value)
            return filled.replace("{n}", name)

        return say(v), say(v), say(w)
    one, other = draw.of(OPPOSITIONS)
    if draw.chance(0.5):
        one, other = other, one
    said = (draw.random.choice(one), draw.random.choice(one), draw.random.choice(other))
    first, again, against = (x.replace("{s}", s) for x in said)
    return first, again, against


def scopes(draw: Draw) -> Made:
    """A pair of claims for one environment or two."""
    s = subject(draw)
    claim, again, against = claims(draw, s)
    here, there = draw.of(SCOPES)
    if draw.chance(0.5):
        here, there = there, here

    def say(frames: tuple[str, ...], what: str, where: str = "") -> str:
        return draw.of(frames).replace("{c}", what).replace("{e}", where)

    kind = draw.random.randrange(8)
    if kind < 3:
        return Made(say(_SCOPED, claim, here), say(_SCOPED, against, there), Relation.NEUTRAL)
    if kind < 5:
        return Made(say(_SCOPED, claim, here), say(_SCOPED, against, here), Relation.CONTRADICTS)
    if kind == 5:
        return Made(say(_SCOPED, claim, here), say(_SCOPED, again, here), Relation.DUPLICATES)
    if kind == 6:
        return Made(say(_ALWAYS, claim), say(_SCOPED, against, here), Relation.CONTRADICTS)
    return Made(say(_ALWAYS, claim), say(_SCOPED, again, here), Relation.ENTAILS)


_WHEN = (
    ("this week", "next week"),
    ("on Tuesday", "on Wednesday"),
    ("last month", "this month"),
    ("in 2023", "in 2024"),
    ("during the day", "at night"),
    ("in the first sprint", "in the second sprint"),
    ("last year", "this year"),
    ("in Q1", "in Q3"),
    ("yesterday", "today"),
    ("during the migration", "after the migration"),
    ("at peak hours", "outside peak hours"),
    ("in the morning", "in the evening"),
)


def _dated(draw: Draw, claim: str, against: str) -> Made:
    """Two claims at two named times, or at one."""
    now, then = draw.two(_WHEN)[0] if draw.chance(0.5) else draw.of(_WHEN)[::-1]
    frames = ("{c} {e}", "{e}, {c}", "{c} ({e})", "{e} {c}")
    one = draw.of(frames).replace("{c}", claim).replace("{e}", now)
    if draw.chance(0.6):
        other = draw.of(frames).replace("{c}", against).replace("{e}", then)
        return Made(one, other, Relation.NEUTRAL)
    other = draw.of(frames).replace("{c}", against).replace("{e}", now)
    return Made(one, other, Relation.CONTRADICTS)


def times(draw: Draw) -> Made:
    """A pair of claims with the time for which they hold."""
    s = subject(draw)
    claim, again, against = claims(draw, s)
    if draw.chance(0.3):
        return _dated(draw, claim, against)
    then = release(draw)

    def say(frames: tuple[str, ...], what: str) -> str:
        return draw.of(frames).replace("{c}", what).replace("{r}", then)

    kind = draw.random.randrange(7)
    if kind < 3:
        return Made(say(_UNTIL, claim), say(_SINCE, against), Relation.NEUTRAL)
    if kind < 5:
        return Made(say(_SINCE, claim), say(_SINCE, against), Relation.CONTRADICTS)
    if kind == 5:
        return Made(say(_SINCE, claim), say(_SINCE, again), Relation.DUPLICATES)
    return Made(say(_SINCE, claim), f"{claim} right now", Relation.NEUTRAL)


_PERIOD = (
    "{c}, this is permanent",
    "{c} for good",
    "{c} for the foreseeable future",
    "{c} and that is not going to change",
    "{c} permanently",
)
_PASSING = (
    "{c}, but only temporarily",
    "{c} for the moment; it will be reverted next week",
    "{c} as a stopgap until the fix is in",
    "{c} for a short while only",
    "for the time being {c}",
)


def durations(draw: Draw) -> Made:
    """A pair about something permanent or temporary."""
    s, t = two_subjects(draw)
    claim, again, _ = claims(draw, s)

    def say(frames: tuple[str, ...], what: str) -> str:
        return draw.of(frames).replace("{c}", what)

    kind = draw.random.randrange(5)
    if kind < 2:
        return Made(say(_PERIOD, claim), say(_PASSING, claim), Relation.CONTRADICTS)
    if kind == 2:
        return Made(say(_PERIOD, claim), say(_PERIOD, again), Relation.DUPLICATES)
    if kind == 3:
        return Made(say(_PASSING, claim), say(_PASSING, again), Relation.DUPLICATES)
    return Made(say(_PERIOD, claim), say(_PASSING, claims(draw, t)[0]), Relation.NEUTRAL)


def features(draw: Draw) -> Made:
    """A pair about a feature, with the predicates that suit features."""
    one, other = draw.two(FEATURES)
    line = draw.random.choice(OPPOSITIONS[:2] + OPPOSITIONS[12:16] + OPPOSITIONS[-4:-3])
    ours, theirs = line if draw.chance(0.5) else line[::-1]
    kind = draw.random.randrange(6)
    first = draw.random.choice(ours).replace("{s}", one)
    if kind < 3:
        return Made(first, draw.random.choice(theirs).replace("{s}", one), Relation.CONTRADICTS)
    if kind == 3:
        return Made(first, draw.random.choice(ours).replace("{s}", one), Relation.DUPLICATES)
    if kind == 4:
        return Made(first, draw.random.choice(theirs).replace("{s}", other), Relation.NEUTRAL)
    return Made(first, f"{one} was introduced by {owner(draw)}", Relation.NEUTRAL)
