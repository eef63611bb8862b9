"""What a caller may hand in: every text, number and list has a limit, and a refusal names it.

The faces only translate; they all end here, so the same mistake gives the same code and remedy
through every face, and nothing has been written when it does.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from hyphaedb.errors import Invalid
from hyphaedb.model import CellId, CellType, Filter, Interests, NewCell

NAME_CHARS_MAX = 120
TAG_CHARS_MAX = 80
TAGS_MAX = 32
SOURCES_MAX = 64
METADATA_BYTES_MAX = 8_192
#: Far below what readers of JSON give up at: a cell nested deeper could be stored and not read.
METADATA_DEPTH_MAX = 32
QUERY_CHARS_MAX = 8_000
KEY_CHARS_MAX = 200
#: A day: whoever waits longer has forgotten that they do.
WAIT_MAX_S = 86_400.0
#: A day inside what Python can say, so that a time can be read again in any zone.
EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, tzinfo=UTC)

#: A ticket key as trackers write them (PROJ-123): found in a body, it becomes a tag.
_TICKET = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}\b")
_TICKETS_MAX = 8
#: How JSON writes a NUL character; an escaped backslash before ``u0000`` is no such thing.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


def member(kind: type[E], value: str, what: str) -> E:
    """``value`` as a member of a closed enum; Invalid lists the members."""
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(m.value for m in kind)
        raise Invalid(f"{value!r} is no {what}.", f"Use one of: {names}.") from None


def text(value: object, what: str, chars_max: int, *, empty: bool = False) -> str:
    """``value`` as storable text: a string without NUL or lone surrogates, within its limit."""
    if not isinstance(value, str):
        raise Invalid(f"The {what} is {type(value).__name__}, not text.", "Pass a string.")
    if not empty and not value.strip():
        raise Invalid(f"The {what} is empty.", "Pass some text.")
    if len(value) > chars_max:
        raise Invalid(
            f"The {what} has {len(value)} characters.",
            f"The limit is {chars_max}; shorten or split it.",
        )
    if "\x00" in value:
        raise Invalid(f"The {what} holds a NUL character.", "Remove it; Postgres cannot keep it.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid(
            f"The {what} holds half a character (a lone surrogate).", "Send valid Unicode."
        ) from None
    return value


def name(value: object, what: str) -> str:
    """A name: printable, without spaces at its ends, at most NAME_CHARS_MAX characters."""
    found = text(value, what, NAME_CHARS_MAX)
    if found != found.strip() or not found.isprintable():
        raise Invalid(
            f"The {what} {found!r} has spaces at its ends or characters that do not print.",
            "Use a plain name.",
        )
    if found in (".", ".."):
        raise Invalid(
            f"The {what} {found!r} means a directory in a path, so no URL could hold it.",
            "Use a plain name.",
        )
    return found


def key(value: object) -> str:
    """An idempotency key: what an HTTP header carries unchanged."""
    found = text(value, "idempotency key", KEY_CHARS_MAX)
    if found != found.strip() or not (found.isascii() and found.isprintable()):
        raise Invalid(
            "The idempotency key has spaces at its ends or characters beyond printable ASCII.",
            "Use letters, digits and punctuation; a UUID will do.",
        )
    return found


def cell_id(value: object) -> CellId:
    """The id of a cell; whether there is such a cell is for the store to say."""
    if not isinstance(value, UUID):
        raise Invalid(f"{value!r} is no cell id.", "Pass the UUID that `store` returned.")
    return CellId(value)


def share(value: object, what: str) -> float:
    """A number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Invalid(f"The {what} is {value!r}.", "Pass a number from 0 to 1.")
    if not 0.0 <= value <= 1.0:
        raise Invalid(f"The {what} is {value}.", "Pass a number from 0 to 1.")
    return float(value)


def count(value: object, what: str, least: int, most: int) -> int:
    """A whole number within its range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise Invalid(f"The {what} is {value!r}.", f"Pass a whole number from {least} to {most}.")
    return value


def flag(value: object, what: str) -> bool:
    """True or false, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise Invalid(f"{what} is {value!r}.", "Pass true or false.")
    return value


def seconds(value: object, what: str) -> float:
    """How long to wait, from 0 to a day."""
    number = not isinstance(value, bool) and isinstance(value, int | float)
    if not number or not 0.0 <= value <= WAIT_MAX_S:  # type: ignore[operator]
        raise Invalid(f"The {what} is {value!r}.", f"Pass seconds from 0 to {WAIT_MAX_S:.0f}.")
    return float(value)  # type: ignore[arg-type]


def listed(values: Sequence[T], what: str, most: int) -> Sequence[T]:
    """A list that is short enough; a text is none, though its letters could be counted."""
    if not isinstance(values, list | tuple):
        raise Invalid(f"The {what} are {type(values).__name__}, not a list.", "Pass a list.")
    if len(values) > most:
        raise Invalid(f"{len(values):,} {what} are given.", f"Pass at most {most:,}.")
    return values


def moment(value: object, what: str) -> datetime:
    """A point in time with its zone, within the years that can be read again."""
    if not isinstance(value, datetime):
        raise Invalid(f"The {what} is {value!r}.", "Pass a date and time.")
    if value.utcoffset() is None:
        raise Invalid(f"The {what} has no time zone.", "Add one, for instance +00:00.")
    if not EARLIEST <= value <= LATEST:
        raise Invalid(
            f"The {what} is {value.isoformat()}.",
            f"Pass a time from {EARLIEST.date()} to {LATEST.date()}; for ever needs none.",
        )
    return value


def tags(values: Sequence[str]) -> tuple[str, ...]:
    """Tags, each once, in order."""
    found = listed(values, "tags", TAGS_MAX)
    return tuple(dict.fromkeys(text(t, "tag", TAG_CHARS_MAX) for t in found))


def types(values: Sequence[CellType]) -> tuple[CellType, ...]:
    """Cell types; each is one of the closed list."""
    return tuple(member(CellType, t, "cell type") for t in listed(values, "types", TAGS_MAX))


def metadata_json(value: object) -> str:
    """Metadata as JSON text; Invalid for what JSON cannot say or what is too large."""
    if not isinstance(value, dict) and not hasattr(value, "items"):
        raise Invalid("The metadata is not an object.", "Pass a mapping of names to values.")
    plain: dict[Any, Any] = dict(value)  # type: ignore[call-overload]
    _measure(plain)
    try:
        encoded = json.dumps(plain, allow_nan=False, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        raise Invalid("The metadata holds a value JSON cannot say.", "Use plain values.") from None
    text(_NUL.sub("\x00", encoded), "metadata", METADATA_BYTES_MAX)
    if len(encoded.encode()) > METADATA_BYTES_MAX:
        raise _too_large()
    return encoded


def _measure(value: dict[Any, Any]) -> None:
    """Refuse what is nested too deep or holds too much, before anything walks it to its end.

    One list may be held many times over, so values are counted as often as they would be written.
    """
    waiting: list[tuple[object, int]] = [(value, 0)]
    met = 0
    while waiting:
        inner, depth = waiting.pop()
        if not isinstance(inner, dict | list | tuple):
            continue
        inside = inner.values() if isinstance(inner, dict) else inner
        met += len(inner)
        if depth == METADATA_DEPTH_MAX:
            raise Invalid(
                f"The metadata is nested more than {METADATA_DEPTH_MAX} levels deep.",
                "Flatten it, or keep the document elsewhere and name it in `ref`.",
            )
        if met > METADATA_BYTES_MAX:
            raise _too_large()
        waiting.extend((v, depth + 1) for v in inside)


def _too_large() -> Invalid:
    return Invalid("The metadata is too large.", f"The limit is {METADATA_BYTES_MAX} bytes.")


def new_cell(cell: NewCell | str, body_chars_max: int) -> NewCell:
    """A cell with every field checked; ticket keys in the body have become tags."""
    if isinstance(cell, str):
        cell = NewCell(body=cell)
    if not isinstance(cell, NewCell):
        raise Invalid(f"A cell is {type(cell).__name__}.", "Pass a text or a NewCell.")
    body = text(cell.body, "body", body_chars_max)
    found = tags(cell.tags)
    tickets = dict.fromkeys(_TICKET.findall(body))
    extra = [t for t in list(tickets)[:_TICKETS_MAX] if t not in found]
    if not all(isinstance(s, UUID) for s in listed(cell.sources, "sources", SOURCES_MAX)):
        raise Invalid("A source is no cell id.", "Name sources by the ids that `store` returned.")
    metadata_json(cell.metadata)
    if cell.ref is not None:
        name(cell.ref, "ref")
    if cell.session is not None:
        name(cell.session, "session")
    for value, what in ((cell.valid_from, "valid_from"), (cell.expires_at, "expires_at")):
        if value is not None:
            moment(value, what)
    return replace(
        cell,
        type=member(CellType, cell.type, "cell type"),
        salience=share(cell.salience, "salience"),
        confidence=share(cell.confidence, "confidence"),
        tags=(*found, *extra)[:TAGS_MAX],
    )


def interests(value: Interests, body_chars_max: int) -> Interests:
    """Declared interests with every field checked."""
    if not isinstance(value, Interests):
        raise Invalid(f"The interests are {type(value).__name__}.", "Pass Interests.")
    return Interests(
        text=text(value.text, "interest", body_chars_max, empty=True),
        tags=tags(value.tags),
        types=types(value.types),
    )


def where(value: Filter | None) -> Filter:
    """A recall filter with every field checked; None filters nothing."""
    if value is None:
        return Filter()
    if not isinstance(value, Filter):
        raise Invalid(f"The filter is {type(value).__name__}.", "Pass a Filter.")
    metadata_json(value.metadata)
    for at, what in ((value.since, "since"), (value.until, "until")):
        if at is not None:
            moment(at, what)
    flag(value.include_inactive, "include_inactive")
    return replace(
        value,
        types=types(value.types),
        tags=tags(value.tags),
        agents=tuple(name(a, "agent") for a in listed(value.agents, "agents", TAGS_MAX)),
        session=None if value.session is None else name(value.session, "session"),
        ref=None if value.ref is None else name(value.ref, "ref"),
    )


def content_hash(cell: NewCell, layer: int) -> bytes:
    """Equal for cells that say the same thing: type, ref, layer and text, spaces folded."""
    folded = " ".join(unicodedata.normalize("NFC", cell.body).split())
    parts = (str(layer), cell.type.value, cell.ref or "", folded)
    return hashlib.sha256("\x1f".join(parts).encode()).digest()


def request_hash(*parts: object) -> bytes:
    """What an idempotency key is tied to."""
    return hashlib.sha256(json.dumps([repr(p) for p in parts]).encode()).digest()
