"""Quantities, their units, versions, limits, dates: what a number says and what it excludes."""

from __future__ import annotations

from dataclasses import dataclass

from training.templates.sides import Draw, Made, Relation
from training.templates.words import DAYS, MONTHS, two_subjects


@dataclass(frozen=True, slots=True)
class Quantity:
    """`names` of the quantity, unit family, typical magnitudes in the family's smallest unit."""

    names: tuple[str, ...]
    family: str
    magnitudes: tuple[int, ...]


_UNITS: dict[str, tuple[tuple[int, tuple[str, ...]], ...]] = {
    "time": (
        (1, (" ms", "ms", " milliseconds")),
        (1_000, (" seconds", "s", " s", " sec")),
        (60_000, (" minutes", " min", "m")),
        (3_600_000, (" hours", "h", " hrs")),
        (86_400_000, (" days", "d")),
        (604_800_000, (" weeks",)),
    ),
    "size": (
        (1, (" KB", "KB", " KiB", " kilobytes")),
        (1_024, (" MB", "MB", " MiB", " megabytes")),
        (1_048_576, (" GB", "GB", " GiB", " gigabytes")),
        (1_073_741_824, (" TB", "TB")),
    ),
    "count": ((1, ("",)),),
    "percent": ((1, (" %", "%", " percent")),),
}


def _q(names: str, family: str, magnitudes: str) -> Quantity:
    return Quantity(
        tuple(names.split("|")), family, tuple(int(m.replace("_", "")) for m in magnitudes.split())
    )


_S, _M, _H, _D = 1_000, 60_000, 3_600_000, 86_400_000
QUANTITIES = (
    _q(
        "request timeout|timeout|read timeout|connect timeout|deadline for calls|query timeout|lock timeout",
        "time",
        "200 500 1000 1500 2000 3000 5000 10000 15000 30000 60000 120000 300000",
    ),
    _q(
        "cache TTL|session lifetime|token lifetime|lease duration|expiry of tokens|TTL",
        "time",
        "30000 60000 300000 600000 900000 1800000 3600000 7200000 86400000 172800000",
    ),
    _q(
        "retention period|log retention|backup retention|data retention|retention",
        "time",
        "86400000 259200000 604800000 1209600000 2592000000 7776000000",
    ),
    _q(
        "polling interval|heartbeat interval|flush interval|refresh interval|backup interval|sync interval",
        "time",
        "500 1000 5000 10000 30000 60000 300000 900000 3600000 21600000 86400000",
    ),
    _q(
        "p99 latency|median latency|startup time|build time|recovery time|cold start",
        "time",
        "20 50 80 120 250 400 900 2000 8000 45000 240000 600000",
    ),
    _q(
        "memory limit|heap size|upload limit|maximum file size|request body limit|buffer size|disk quota",
        "size",
        "64 256 512 1024 2048 5120 10240 65536 262144 524288 1048576 2097152 4194304 16777216",
    ),
    _q(
        "number of replicas|replica count|worker count|number of shards|partition count|thread count|"
        "pool size|connection limit",
        "count",
        "1 2 3 4 5 6 8 10 12 16 20 24 32 50 64 100 200",
    ),
    _q(
        "retry limit|maximum number of retries|number of attempts|approvals needed|quorum size",
        "count",
        "1 2 3 4 5 6 7 8 10 12",
    ),
    _q(
        "batch size|page size|queue limit|rate limit per minute|maximum batch|item limit",
        "count",
        "10 20 25 50 64 100 128 200 250 500 1000 2000 5000 10000",
    ),
    _q(
        "port|listening port|HTTP port|admin port",
        "count",
        "80 443 3000 4000 5000 5432 6379 8000 8080 8081 8443 9000 9090 9200",
    ),
    _q(
        "coverage threshold|error budget|sampling rate|CPU target|rollout share|cache hit rate|SLO",
        "percent",
        "1 2 5 10 20 25 30 40 50 60 70 75 80 85 90 95 99",
    ),
    _q(
        "monthly cost in dollars|budget in euros|price per seat|number of users|number of open tickets",
        "count",
        "12 49 80 120 300 750 900 1200 2500 4000 9000 15000",
    ),
)

EQUALS = (
    "the {n} of {s} is {v}",
    "{s} has a {n} of {v}",
    "the {n} for {s} is set to {v}",
    "set the {n} of {s} to {v}",
    "we configured {s} with a {n} of {v}",
    "{s}: {n} = {v}",
    "{n} in {s} is {v}",
    "{s} runs with a {n} of {v}",
    "{v} is the {n} of {s}",
    "{s} uses a {n} of {v}",
    "keep the {n} of {s} at {v}",
    "the {n} on {s} equals {v}",
    "for {s} we agreed on a {n} of {v}",
    "the {n} in {s} was fixed at {v}",
    "{s} ships with {n} {v}",
    "by default the {n} of {s} is {v}",
)
AT_MOST = (
    "the {n} of {s} must not exceed {v}",
    "the {n} of {s} is at most {v}",
    "{s} keeps its {n} below {v}",
    "{v} is the upper bound for the {n} of {s}",
    "the {n} of {s} never goes above {v}",
    "cap the {n} of {s} at {v}",
    "{s}: {n} <= {v}",
)
AT_LEAST = (
    "the {n} of {s} is at least {v}",
    "the {n} of {s} must be {v} or more",
    "{s} needs a {n} of no less than {v}",
    "never set the {n} of {s} below {v}",
    "the {n} of {s} always exceeds {v}",
    "{s}: {n} >= {v}",
)
CHANGED = (
    "the {n} of {s} was raised from {w} to {v}",
    "we changed the {n} of {s} from {w} to {v}",
    "{s} now has a {n} of {v} instead of {w}",
    "bump {n} of {s} from {w} to {v}",
    "the {n} of {s} went from {w} to {v}",
    "lowered the {n} of {s} from {w} to {v}",
    "the {n} of {s} is no longer {w} but {v}",
)
ABOUT = (
    "the {n} of {s} is documented in the runbook",
    "{who} reviewed the {n} of {s}",
    "the {n} of {s} is configurable",
    "we discussed the {n} of {s} in the planning meeting",
    "the {n} of {s} is read from the environment",
    "dashboards show the {n} of {s}",
    "changing the {n} of {s} needs a review",
    "the {n} of {s} came up in the postmortem",
)


def shown(draw: Draw, family: str, amount: int) -> str:
    """The amount in a unit in which it is a short number."""
    fitting = [
        (size, forms)
        for size, forms in _UNITS[family]
        if amount % size == 0 and amount // size <= 20_000
    ] or [_UNITS[family][0]]
    size, forms = draw.random.choice(fitting)
    number = amount // size
    form = draw.random.choice(forms)
    if number == 1 and form.endswith("s") and len(form) > 3:
        form = form[:-1]
    written = f"{number:,}" if number >= 1_000 and draw.chance(0.4) else str(number)
    if family == "count" and number <= 10 and draw.chance(0.3):
        written = "zero one two three four five six seven eight nine ten".split()[number]
    return written + form


def two_amounts(draw: Draw, quantity: Quantity) -> tuple[int, int]:
    """Two different amounts, one in five close to each other."""
    if draw.chance(0.2):
        one = draw.random.choice(quantity.magnitudes)
        return one, one + max(1, one // draw.random.choice((2, 4, 5, 10)))
    one, other = draw.random.sample(quantity.magnitudes, 2)
    return one, other


def numbers(draw: Draw) -> Made:
    """A pair about one quantity."""
    quantity = draw.random.choice(QUANTITIES)
    name, (s, t) = draw.of(quantity.names), two_subjects(draw)
    low, high = sorted(two_amounts(draw, quantity))
    one, other = (low, high) if draw.chance(0.5) else (high, low)

    def say(frames: tuple[str, ...], subject: str, amount: int, was: int = 0) -> str:
        frame = draw.of(frames).replace("{s}", subject).replace("{n}", name)
        frame = frame.replace("{v}", shown(draw, quantity.family, amount))
        return frame.replace("{w}", shown(draw, quantity.family, was)).replace("{who}", "somebody")

    same = draw.of(EQUALS)
    kind = draw.random.randrange(16)
    if kind < 5:
        frames = ((same,), (same,)) if kind < 2 else (EQUALS, EQUALS)
        return Made(say(frames[0], s, one), say(frames[1], s, other), Relation.CONTRADICTS)
    if kind < 8:
        return Made(say(EQUALS, s, one), say(EQUALS, s, one), Relation.DUPLICATES)
    if kind < 9:
        return Made(say(EQUALS, s, one), say(EQUALS, t, other), Relation.NEUTRAL)
    if kind < 10:
        return Made(say((same,), s, one), say((same,), t, other), Relation.NEUTRAL)
    if kind == 10:
        return Made(say(EQUALS, s, one), say(ABOUT, s, one), Relation.NEUTRAL)
    if kind == 11:
        return Made(say(CHANGED, s, one, other), say(EQUALS, s, one), Relation.ENTAILS)
    if kind == 12:
        return Made(say(CHANGED, s, one, other), say(EQUALS, s, other), Relation.CONTRADICTS)
    if kind == 13:
        if draw.chance(0.5):
            return Made(say(EQUALS, s, low), say(AT_MOST, s, high), Relation.ENTAILS)
        return Made(say(EQUALS, s, high), say(AT_MOST, s, low), Relation.CONTRADICTS)
    if kind == 14:
        if draw.chance(0.5):
            return Made(say(EQUALS, s, high), say(AT_LEAST, s, low), Relation.ENTAILS)
        return Made(say(EQUALS, s, low), say(AT_LEAST, s, high), Relation.CONTRADICTS)
    # Two quantities of one system, two numbers: nothing excludes anything.
    fact = say(EQUALS, s, one)
    quantity = draw.random.choice([q for q in QUANTITIES if q is not quantity])
    name = draw.of(quantity.names)
    return Made(fact, say(EQUALS, s, draw.random.choice(quantity.magnitudes)), Relation.NEUTRAL)


_SOFTWARE = (
    "Python|Node|Java|Postgres|Go|Ruby|Kubernetes|React|Django|Redis|Terraform|Ubuntu|TypeScript|"
    "Kafka|Elasticsearch|.NET|PHP|Rust|the SDK|the protocol|OpenSSL|Chrome|Spring Boot|Debian|glibc"
).split("|")
_RUNS = (
    "{s} runs on {p} {v}",
    "{s} is on {p} {v}",
    "{s} uses {p} {v}",
    "we run {s} with {p} {v}",
    "{p} {v} is what {s} runs on",
    "{s} was upgraded to {p} {v}",
    "{s} is pinned to {p} {v}",
    "the {p} version of {s} is {v}",
    "{s}: {p}=={v}",
    "{s} stays on {p} {v}",
)
_NEEDS = (
    "{s} requires {p} {v} or newer",
    "{s} needs at least {p} {v}",
    "{p} >= {v} is needed for {s}",
    "the minimum {p} version for {s} is {v}",
    "{s} does not run on anything older than {p} {v}",
)
_LEFT = (
    "{s} dropped support for {p} {v}",
    "{s} no longer runs on {p} {v}",
    "{p} {v} is not supported by {s}",
    "{s} was moved off {p} {v}",
)


def versions(draw: Draw) -> Made:
    """A pair about the version that a system runs or needs."""
    s, t = two_subjects(draw)
    product = draw.of(_SOFTWARE)
    major = draw.random.randint(2, 20)
    if draw.chance(0.5):
        low, high = f"{major}", f"{major + draw.random.randint(1, 4)}"
    else:
        minor = draw.random.randint(0, 11)
        low, high = f"{major}.{minor}", f"{major}.{minor + draw.random.randint(1, 4)}"
    one, other = (low, high) if draw.chance(0.5) else (high, low)

    def say(frames: tuple[str, ...], subject: str, version: str) -> str:
        frame = draw.of(frames).replace("{s}", subject).replace("{p}", product)
        return frame.replace("{v}", version)

    kind = draw.random.randrange(9)
    if kind < 2:
        return Made(say(_RUNS, s, one), say(_RUNS, s, other), Relation.CONTRADICTS)
    if kind == 2:
        return Made(say(_RUNS, s, one), say(_LEFT, s, one), Relation.CONTRADICTS)
    if kind == 3:
        return Made(say(_RUNS, s, low), say(_NEEDS, s, high), Relation.CONTRADICTS)
    if kind == 4:
        return Made(say(_RUNS, s, high), say(_NEEDS, s, low), Relation.NEUTRAL)
    if kind == 5:
        return Made(say(_RUNS, s, one), say(_RUNS, t, other), Relation.NEUTRAL)
    if kind == 6:
        return Made(say(_RUNS, s, one), say(_RUNS, s, one), Relation.DUPLICATES)
    if kind == 7:
        return Made(say(_NEEDS, s, one), say(_NEEDS, s, other), Relation.CONTRADICTS)
    return Made(say(_RUNS, s, high), say(_LEFT, s, low), Relation.NEUTRAL)


_DUE = (
    "{s} ships on {d}",
    "the release of {s} is planned for {d}",
    "{s} goes live on {d}",
    "the deadline for {s} is {d}",
    "{s} will be switched over on {d}",
    "we launch {s} {d}",
    "{d} is the date for {s}",
    "maintenance of {s} happens on {d}",
    "{s} is due {d}",
)
_PAST = (
    "{s} was postponed past {d}",
    "{s} will not ship on {d}",
    "{d} is off the table for {s}",
    "{s} missed {d}",
    "the date {d} for {s} was cancelled",
)


def dates(draw: Draw) -> Made:
    """A pair about when something happens."""
    s, t = two_subjects(draw)
    if draw.chance(0.5):
        one, other = draw.two(DAYS)
    else:
        first, second = draw.two(MONTHS)
        one, other = (
            f"{first} {draw.random.randint(1, 28)}",
            f"{second} {draw.random.randint(1, 28)}",
        )

    def say(frames: tuple[str, ...], subject: str, day: str) -> str:
        return draw.of(frames).replace("{s}", subject).replace("{d}", day)

    kind = draw.random.randrange(5)
    if kind < 2:
        return Made(say(_DUE, s, one), say(_DUE, s, other), Relation.CONTRADICTS)
    if kind == 2:
        return Made(say(_DUE, s, one), say(_PAST, s, one), Relation.CONTRADICTS)
    if kind == 3:
        return Made(say(_DUE, s, one), say(_DUE, t, other), Relation.NEUTRAL)
    return Made(say(_DUE, s, one), say(_DUE, s, one), Relation.DUPLICATES)
