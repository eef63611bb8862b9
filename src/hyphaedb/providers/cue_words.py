"""Word lists behind the cues: opposites, negation, permission, doubt, change, places.

Short on purpose. A list says something where the trained judge is unsure, and gives a reason that a
person can check; what is not listed is the model's business.
"""

from __future__ import annotations

import re
from typing import Final

_OPPOSITES: Final = """
enabled disabled|enable disable|on off|allowed forbidden|allow deny|allow forbid|accept reject
accepted rejected|approved rejected|required optional|mandatory optional|sync async|always never
synchronous asynchronous|synchronously asynchronously|public private|public internal|open closed
internal external|encrypted unencrypted|encrypted plain|encrypted plaintext|stateless stateful
permanent temporary|permanently temporarily|before after|increase decrease|increased decreased
raised lowered|raise lower|grew shrank|rising falling|faster slower|fast slow|up down|more fewer
more less|add remove|added removed|start stop|started stopped|success failure|pass fail
passed failed|supported unsupported|stable unstable|stable experimental|safe unsafe|safe dangerous
all none|all some|every no|everyone nobody|everybody nobody|everyone only|done open|done pending
finished unfinished|complete incomplete|completed started|fixed broken|fixed open|fixed variable
merged open|manual automatic|manually automatically|hand automatic|hand automatically|first last
newest oldest|minimum maximum|parallel serial|parallel sequential|concurrently serially|eager lazy
eagerly lazily|strict lenient|mutable immutable|read write|client server|frontend backend
primary replica|primary secondary|primary standby|deterministic random
deterministic nondeterministic|idempotent duplicates|shared separate|shared own|shared dedicated
single multiple|one several|monolith microservices|monorepo separate|push poll|push pull
incremental full|incrementally scratch|free paid|expensive cheap|high low|above below|keep delete
keep remove|keep drop|kept deleted|kept removed|retained deleted|hard soft|old new
deprecated recommended|deprecated supported|active inactive|connected disconnected|online offline
bounded unbounded|limited unlimited|cached uncached|signed unsigned|authenticated anonymous
visible hidden|present absent|exists missing|used unused|ordered unordered|blocking informational
batched immediately|locked unlocked|global local|global per|static dynamic|early late
same different|directly gateway|eventual strong|best worst|include exclude|included excluded
whitelist blacklist|inbound outbound|upstream downstream|horizontal vertical
horizontally vertically|cheaper costlier|root unprivileged|abandoned maintained|postponed brought
cancelled scheduled|reverted kept|restored lost
"""


def _pairs() -> frozenset[frozenset[str]]:
    lines = "|".join(_OPPOSITES.strip().splitlines())
    return frozenset(frozenset(pair.split()) for pair in lines.split("|"))


OPPOSITES: Final = _pairs()

NEGATION: Final = re.compile(
    r"\b(?:no longer|not|no|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|stopped"
    r"|dropped(?! from| to| by)|refuse\w*|reject\w*|removed|gone|avoid|\w+n't|ruled out"
    r"|instead of|rather than|fails? to"
    r"|against|forbid\w*|banned|lacks?|lacking|free of|anything but|off limits)\b",
    re.IGNORECASE,
)
MUST: Final = re.compile(
    r"\b(?:must|always|mandatory|required|requires?|compulsory|have to|has to|need to|needs to"
    r"|shall|make sure|obliged)\b(?! not| never)",
    re.IGNORECASE,
)
MUST_NOT: Final = re.compile(
    r"\b(?:must not|mustn't|may not|never|forbidden|not allowed|not permitted|do not|don't|cannot"
    r"|banned|prohibited|off limits|not acceptable|should not|shouldn't|nobody may|avoid)\b",
    re.IGNORECASE,
)
MAY: Final = re.compile(
    r"\b(?:may(?! not)|can(?!not|'t)|allowed|fine to|is fine|feel free|optional|permitted"
    r"|acceptable|do not have to|don't have to"
    r"|no need|not necessary|not required|need not|voluntary)\b",
    re.IGNORECASE,
)
_NOT_PERMITTED: Final = re.compile(
    r"\bnot (?:allowed|permitted|acceptable|forbidden)\b", re.IGNORECASE
)
HEDGE: Final = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|could be|considering|whether|propos\w+|suggest\w+|i think"
    r"|not sure|probably|would like|idea|discuss\w*|evaluat\w+|plan(?:s|ning)? to"
    r"|thinking about)\b",
    re.IGNORECASE,
)
CHANGE: Final = re.compile(
    r"\b(?:no longer|not (?:\w+ ){0,3}any ?more|replac\w+|instead of|rather than|supersed\w+"
    r"|migrated|moved|switched|changed|now|from now on|as of|since|dropped|was renamed"
    r"|went back|obsolete|reverted|stopped|removed|raised|lowered"
    r"|increased|decreased|bumped?|upgraded"
    r"|rewr\w+"
    r"|gave up|shut down|retired|sunset)\b",
    re.IGNORECASE,
)
UNTIL: Final = re.compile(
    r"\b(?:until|up to|before|prior to|previously|formerly|used to|was)\b", re.I
)
SINCE: Final = re.compile(
    r"\b(?:since|as of|from .{2,24} on|after|starting|now|today|currently)\b", re.I
)

#: What a text gives up: "from OLD to", "replaced OLD with", "instead of OLD".
RETIRED: Final = (
    re.compile(
        r"\b(?:mov\w+|migrat\w+|switch\w+|chang\w+|rais\w+|lower\w+|went|bump\w*"
        r"|increas\w+|port\w+"
        r"|decreas\w+|dropp?\w*|renam\w+|upgrad\w+|cut)\b.{0,50}?\bfrom (.{1,40}?) to\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:replac\w+|swapped|exchanged) (.{1,40}?) (?:with|by|for)\b", re.IGNORECASE),
    re.compile(
        r"\b(?:instead of|rather than|replaces|supersede[sd]?|superseded) (.{1,40}?)"
        r"(?=[,.;]| as | is | in |$)",
        re.IGNORECASE,
    ),
    re.compile(r"\bno longer (?:uses? |used )?(.{1,30}?)(?= but\b|[,.;]|$| as )", re.IGNORECASE),
)

#: Groups of places; two texts that name different members of one group may both be true.
SCOPES: Final = tuple(
    tuple(group.split("|"))
    for group in (
        "staging|production|prod|dev|development|ci|test|tests|canary|preview|live|local",
        "eu|us|europe|asia|eu-west-1|us-east-1|germany|frankfurt|virginia|apac",
        "ios|android|web|desktop|mobile",
        "linux|windows|macos",
        "v1|v2|v3|v4",
        "free|enterprise|premium|pro",
        "internal|external|partner|partners",
        "weekdays|weekends",
        "admins|guests|users|administrators|members",
        "read path|write path",
        "batch|interactive",
        "main branch|release branches|feature branches",
        "legacy|new",
    )
)

_STOP_WORDS: Final = """
the a an of to in on for and or is are was were be been it its this that with by as at from we our
you they he she i us their your has have had do does did will would can may must should not no now
than then so if but there all any each per via into out up only also just about over under before
after who what when which while one use uses used using set
"""
STOP: Final = frozenset(_STOP_WORDS.split())


def permission(text: str) -> str:
    """ "must", "must_not", "may" or "" for a text that sets no rule; the firmest word decides."""
    if re.search(
        r"\bnot forbidden\b|\bdo(?:es)? not have to\b|\bdon't have to\b", text, re.IGNORECASE
    ):
        return "may"
    if _NOT_PERMITTED.search(text) or MUST_NOT.search(text):
        return "must_not"
    if re.search(r"\bnot (?:required|necessary|mandatory)\b", text, re.IGNORECASE):
        return "may"
    if MUST.search(text):
        return "must"
    return "may" if MAY.search(text) else ""
