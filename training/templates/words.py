"""What engineering statements are about: subjects, teams, environments, releases."""

from __future__ import annotations

import re

from training.templates.sides import Draw

_AREAS = (
    "billing checkout search ingest auth profile notification email payment catalog inventory "
    "shipping pricing recommendation analytics reporting audit export import sync upload media "
    "video chat webhook scheduler session identity tenant admin support fraud ledger invoice "
    "subscription order cart review feed ranking geo telemetry metrics logging alerting deploy "
    "build artifact config feature-flag quota rate-limit gateway edge proxy cdn dns mail sms push "
    "mobile desktop partner loyalty coupon tax refund risk kyc document signature calendar "
    "translation crawler indexer embedding training inference labeling replay backup archive"
).split()
_KINDS = (
    "service api worker job pipeline module client library backend frontend cluster cron consumer "
    "producer daemon sidecar controller operator gateway handler adapter plugin app dashboard "
    "stack team's-service process endpoint component subsystem layer engine runner agent bot"
).split()
_NAMES = (
    "Atlas Orion Hermes Kestrel Falcon Phoenix Nimbus Quasar Bluebird Mercury Titan Juniper Cobalt "
    "Raven Sparrow Borealis Helix Lighthouse Pegasus Zephyr Granite Maple Otter Badger Cinder Delta "
    "Ember Fjord Glacier Harbor Iris Jasper Krypton Lumen Meteor Nova Onyx Polaris Quill Ripple"
).split()
TEAMS = (
    "the platform team|the data team|the payments team|SRE|the infra group|the mobile team|"
    "the growth squad|the security team|the search team|team Kestrel|the identity squad|"
    "the frontend guild|QA|the release crew|the API team|the billing squad|the ML team|"
    "DevOps|the web team|the on-call rotation|customer engineering|the core services team|"
    "the observability team|the tooling team|the storage team|the network team"
).split("|")
PEOPLE = (
    "Maria|Tom|Priya|Jens|Aisha|Diego|Yuki|Lena|Sam|Oleg|Fatima|Chen|Nora|Ravi|Ingrid|Pavel|"
    "Grace|Hugo|Anya|Marcus|Elif|Bruno|Keiko|Dana|Victor|Zoe|Omar|Petra|Liam|Sofia"
).split("|")
SCOPES = (
    ("staging", "production"),
    ("the dev environment", "the production environment"),
    ("CI", "local development"),
    ("the EU region", "the US region"),
    ("eu-west-1", "us-east-1"),
    ("the free tier", "the enterprise tier"),
    ("iOS", "Android"),
    ("the v1 API", "the v2 API"),
    ("the canary", "the main fleet"),
    ("tests", "production"),
    ("internal users", "external customers"),
    ("Linux", "Windows"),
    ("the read path", "the write path"),
    ("the mobile client", "the web client"),
    ("weekdays", "weekends"),
    ("the primary", "the replicas"),
    ("admins", "guests"),
    ("the public endpoint", "the internal endpoint"),
    ("batch jobs", "interactive requests"),
    ("new accounts", "legacy accounts"),
    ("the main branch", "release branches"),
    ("preview deployments", "live deployments"),
)
MONTHS = (
    "January February March April May June July August September October November December"
).split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def subject(draw: Draw) -> str:
    """A noun phrase for a system, in one of the ways in which people name theirs."""
    area, kind = draw.of(_AREAS), draw.of(_KINDS).replace("team's-service", "service")
    form = draw.random.randrange(8)
    if form < 4:
        return f"the {area} {kind}"
    if form == 4:
        return draw.of(_NAMES)
    if form == 5:
        return f"{area}-{draw.of(('svc', 'api', 'worker', 'core', 'server', 'web', 'job'))}"
    if form == 6:
        return f"our {area} {kind}"
    return f"`{area}_{kind}`"


_SYSTEM = re.compile(rf"\bthe ({'|'.join(_AREAS)}) ({'|'.join(_KINDS)})\b", re.IGNORECASE)
_ALIASES = (
    "{a}", "our {a} system", "the {a} {k} of ours", "{a}-{k}", "the {k} for {a}", "the {a} one",
    "the team's {a} {k}", "the {a} part", "that {a} {k}", "{a} ({k})",
)  # fmt: skip


def renamed(draw: Draw, text: str) -> str:
    """The text, one time in five with its systems called as somebody else would call them."""
    if not draw.chance(0.2):
        return text
    alias = draw.of(_ALIASES)
    return _SYSTEM.sub(lambda m: alias.replace("{a}", m[1]).replace("{k}", m[2]), text)


def two_subjects(draw: Draw) -> tuple[str, str]:
    """Two different systems, often of one kind, as in a list of services."""
    if draw.chance(0.5):
        kind = draw.of(_KINDS).replace("team's-service", "service")
        one, other = draw.two(_AREAS)
        return f"the {one} {kind}", f"the {other} {kind}"
    first = subject(draw)
    second = subject(draw)
    while second.lower() == first.lower():
        second = subject(draw)
    return first, second


def release(draw: Draw) -> str:
    """A point in a project's life that is not a date."""
    form = draw.random.randrange(6)
    if form == 0:
        return f"v{draw.random.randint(1, 9)}.{draw.random.randint(0, 12)}"
    if form == 1:
        return f"release {draw.random.randint(2, 40)}"
    if form == 2:
        return f"sprint {draw.random.randint(3, 60)}"
    if form == 3:
        return f"the {draw.of(MONTHS)} release"
    if form == 4:
        return f"Q{draw.random.randint(1, 4)}"
    return f"{draw.of(MONTHS)} {draw.random.randint(2021, 2027)}"


def owner(draw: Draw) -> str:
    """A team or a person."""
    return draw.of(TEAMS) if draw.chance(0.6) else draw.of(PEOPLE)


def capital(text: str) -> str:
    """The text with a large first letter, unless it starts with a code name."""
    return text if text[:1] in "`" else text[:1].upper() + text[1:]
