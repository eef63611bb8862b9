"""Numbers in a text, with their units normalised: 5 s is 5000 ms, 1 GB is 1024 MB.

Departures that a reader of a text would not notice: a megabyte is 1024 kilobytes whatever its
spelling, a month has 30 days, and a number word counts up to twelve only. "m" alone after a number
is a minute; nobody states a configuration in metres.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_TIME = {
    1.0: "ms millis millisecond milliseconds msec",
    1_000.0: "s sec secs second seconds",
    60_000.0: "m min mins minute minutes",
    3_600_000.0: "h hr hrs hour hours",
    86_400_000.0: "d day days",
    604_800_000.0: "w wk week weeks",
    2_592_000_000.0: "month months",
    31_536_000_000.0: "y yr year years",
}
_SIZE = {
    1.0: "b byte bytes",
    1_024.0: "kb kib kilobyte kilobytes k",
    1_048_576.0: "mb mib megabyte megabytes",
    1_073_741_824.0: "gb gib gigabyte gigabytes",
    1_099_511_627_776.0: "tb tib terabyte terabytes",
}
_PERCENT = {1.0: "% percent pct"}
_RATE_WORDS = {"daily": 1.0, "nightly": 1.0, "hourly": 24.0, "weekly": 1 / 7, "monthly": 1 / 30}
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = {word: float(number) for number, word in enumerate(_COUNTED.split(" "))} | {
    "fortnight": 14.0,
    "dozen": 12.0,
    "hundred": 100.0,
    "thousand": 1_000.0,
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
_MONTHS = _MONTH_NAMES.split(" ")


class Dimension(StrEnum):
    """What is counted. Two amounts can only clash within one dimension."""

    TIME_MS = "time"
    SIZE_BYTES = "size"
    PERCENT = "percent"
    COUNT = "count"
    VERSION = "version"
    DAY = "day"
    DATE = "date"
    RATE_PER_DAY = "rate"


class Bound(StrEnum):
    """Whether a text states the amount or bounds it."""

    EXACT = "exact"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as a text gives it. `value` is in ms, bytes, percent, pieces or days; versions are
    compared as the tuple `parts`; `text` is what stood there."""

    dimension: Dimension
    value: float
    bound: Bound
    text: str
    parts: tuple[int, ...] = ()


def _by_name() -> dict[str, tuple[Dimension, float]]:
    found = {}
    tables = (
        (Dimension.TIME_MS, _TIME), (Dimension.SIZE_BYTES, _SIZE), (Dimension.PERCENT, _PERCENT)
    )  # fmt: skip
    for dimension, table in tables:
        for size, names in table.items():
            for name in names.split():
                found[name] = (dimension, size)
    return found


_UNITS = _by_name()
UNIT_NAMES = frozenset(_UNITS)
"""Every spelling of a unit, lower case."""

_MOST = re.compile(
    r"(?:at most|up to|no more than|not (?:exceed|more than)|below|under|less than|maximum(?: of)?"
    r"|max|within|cap\w* at|upper bound|<=?|fewer than)\W{0,3}$"
)
_LEAST = re.compile(
    r"(?:at least|no less than|not less than|more than|over|above|minimum(?: of)?|min|>=?|from"
    r"|older than|no fewer than)\W{0,3}$"
)
_LEAST_AFTER = re.compile(r"^\s*(?:(?:or|and) (?:newer|later|more|higher|above|up)|\+)")
_PER = re.compile(r"^\s*(?:[a-z]+\s)?(?:per|an?|/)\s?(second|minute|hour|day|week|month)\b")
_VERSION = re.compile(r"(?<![\w.])v?(\d{1,4}(?:\.\d{1,4}){1,3})(?![\w.]*\d)")
_NUMBER = re.compile(
    r"(?<![\w.])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(k)?\s?(%|[a-z]+)?(?!\w)"
)
_WORD_NUMBER = re.compile(rf"\b({'|'.join(_NUMBER_WORDS)})\s+([a-z]+)\b")
_HALF = re.compile(r"\bhalf an? (hour|minute|day|second|year)\b")
_NAMED_VERSION = re.compile(
    r"\b(python|node|java|postgres|go|ruby|kubernetes|react|django|redis|terraform|ubuntu|typescript"
    r"|kafka|elasticsearch|php|rust|debian|version|v)\s?(\d{1,4})(?![\w.]*\d|\s*(?:ms|s|min|h|%))"
)
_DATE = re.compile(
    rf"\b({'|'.join(_MONTHS)})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b|\b(20\d\d)-(\d\d)-(\d\d)\b"
)
_DAY = re.compile(rf"\b({'|'.join(_DAYS)})s?\b")
_RATE = re.compile(
    rf"\b({'|'.join(_RATE_WORDS)})\b"
    r"|\b(?:once an?|every|each|once every) (hour|day|night|week|month)\b"
)
_EVERY = re.compile(r"\bevery (\d+(?:\.\d+)?|[a-z]+) ([a-z]+)\b")
_RATE_OF = {"hour": 24.0, "day": 1.0, "night": 1.0, "week": 1 / 7, "month": 1 / 30}
_DAY_MS = 86_400_000.0
AMOUNTS_MAX = 32
"""A text of figures is a table, not a statement; the rest of it is not compared."""


def amounts(text: str) -> tuple[Amount, ...]:
    """Every amount in the text, in order of kind; at most `AMOUNTS_MAX`."""
    lower = text.lower()
    found: list[Amount] = []
    taken = [False] * len(lower)

    def take(
        match: re.Match[str], dimension: Dimension, value: float, parts: tuple[int, ...] = ()
    ) -> None:
        if any(taken[match.start() : match.end()]):
            return
        taken[match.start() : match.end()] = [True] * (match.end() - match.start())
        # Sixty a minute and one a second are one rate, whatever is counted.
        per = _PER.match(lower[match.end() : match.end() + 32])
        if dimension is Dimension.COUNT and per is not None:
            dimension, value = Dimension.RATE_PER_DAY, value * _DAY_MS / _UNITS[per[1]][1]
        shown = text[match.start() : match.end()].strip() if len(text) == len(lower) else match[0]
        found.append(Amount(dimension, value, _bound(lower, match), shown, parts))

    for match in _DATE.finditer(lower):
        month = _MONTHS.index(match[1]) + 1 if match[1] else int(match[4])
        take(match, Dimension.DATE, month * 100.0 + int(match[2] or match[5]))
    for match in _DAY.finditer(lower):
        take(match, Dimension.DAY, float(_DAYS.index(match[1])))
    for match in _NAMED_VERSION.finditer(lower):
        take(match, Dimension.VERSION, float(match[2]), (int(match[2]),))
    for match in _EVERY.finditer(lower):
        count = _NUMBER_WORDS.get(match[1]) or (float(match[1]) if match[1][0].isdigit() else 0.0)
        period = _UNITS.get(match[2])
        if count and period is not None and period[0] is Dimension.TIME_MS:
            take(match, Dimension.RATE_PER_DAY, _DAY_MS / (count * period[1]))
    for match in _HALF.finditer(lower):
        take(match, Dimension.TIME_MS, _UNITS[match[1]][1] / 2)
    for match in _RATE.finditer(lower):
        take(match, Dimension.RATE_PER_DAY, _RATE_WORDS.get(match[1]) or _RATE_OF[match[2]])
    for match in _NUMBER.finditer(lower):
        number = float(match[1].replace(",", "")) * (1_000 if match[2] else 1)
        unit = _UNITS.get(match[3] or "")
        if unit is not None:
            take(match, unit[0], number * unit[1])
    for match in _WORD_NUMBER.finditer(lower):
        unit = _UNITS.get(match[2])
        dimension, size = unit if unit and len(match[2]) > 1 else (Dimension.COUNT, 1.0)
        take(match, dimension, _NUMBER_WORDS[match[1]] * size)
    for match in _VERSION.finditer(lower):
        parts = tuple(int(part) for part in match[1].split("."))
        take(match, Dimension.VERSION, float(parts[0]), parts)
    for match in _NUMBER.finditer(lower):
        number = float(match[1].replace(",", "")) * (1_000 if match[2] else 1)
        take(match, Dimension.COUNT, number)
    return tuple(found[:AMOUNTS_MAX])


def _bound(lower: str, match: re.Match[str]) -> Bound:
    before = lower[max(0, match.start() - 32) : match.start()]
    if _MOST.search(before):
        return Bound.AT_MOST
    if _LEAST.search(before) or _LEAST_AFTER.match(lower[match.end() : match.end() + 16]):
        return Bound.AT_LEAST
    return Bound.EXACT


def agree(one: Amount, other: Amount) -> bool:
    """Whether both can be true of one thing. Only asked within one dimension."""
    if one.dimension is Dimension.VERSION:
        same = _version(one, other)
    else:
        scale = max(abs(one.value), abs(other.value), 1e-9)
        same = abs(one.value - other.value) <= 1e-3 * scale
    if same:
        return True
    low, high = (one, other) if _order(one) < _order(other) else (other, one)
    return low.bound is Bound.AT_LEAST or high.bound is Bound.AT_MOST


def _order(amount: Amount) -> tuple[float, ...]:
    return tuple(map(float, amount.parts)) if amount.parts else (amount.value,)


def _version(one: Amount, other: Amount) -> bool:
    """3.11 and 3 may be the same thing; 3.11 and 3.12 are not."""
    shared = min(len(one.parts), len(other.parts))
    return one.parts[:shared] == other.parts[:shared]


def spelled_alike(first: str, second: str) -> tuple[str, str]:
    """Both texts, with equal times, sizes and shares spelled in the same way: where one says 5 s
    and the other 5000 ms, both come back with the shorter. A model that reads words then sees that
    nothing differs. The same pair turned round gives the same texts turned round."""
    measured = (Dimension.TIME_MS, Dimension.SIZE_BYTES, Dimension.PERCENT)
    theirs = [amount for amount in amounts(second) if amount.dimension in measured]
    for ours in amounts(first):
        for other in theirs:
            same = ours.dimension is other.dimension and ours.value == other.value
            if same and ours.text.lower() != other.text.lower():
                spelling = min(ours.text, other.text, key=lambda text: (len(text), text))
                first = _respelled(first, ours.text, spelling)
                second = _respelled(second, other.text, spelling)
    return first, second


def _respelled(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)", lambda _: new, text)
