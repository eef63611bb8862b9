"""Errors on the wire (RFC 9457): our family as problem+json and back, and pydantic's as ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from hyphaedb.errors import FACES, HyphaeError, Invalid, face_of

#: The media type of RFC 9457.
PROBLEM_TYPE = "application/problem+json"


class Problem(BaseModel):
    """An error as RFC 9457 has it, with our code and what the caller can do about it."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    remedy: str
    retry_after_s: float | None = None


def problem_of(error: HyphaeError) -> Problem:
    """An error as it looks on the wire."""
    face = face_of(error)
    return Problem(
        type=f"urn:hyphaedb:error:{error.code}",
        title=face.title,
        status=face.http_status,
        detail=error.message,
        code=error.code,
        remedy=error.remedy,
        retry_after_s=error.retry_after_s,
    )


_KINDS = {kind.code: kind for kind in FACES}


def error_of(problem: Problem) -> HyphaeError:
    """The error a problem stands for; a code from a newer server becomes the family's base."""
    kind = _KINDS.get(problem.code, HyphaeError)
    return kind(problem.detail, problem.remedy, retry_after_s=problem.retry_after_s)


#: What to do about a fault pydantic found, by the beginning of its type; the first match counts.
_REMEDIES: tuple[tuple[str, str], ...] = (
    ("missing", "Give it."),
    ("extra_forbidden", "Leave it out, or look for a slip in its name."),
    ("json_invalid", "Send one well-formed JSON object."),
    ("model_attributes_type", "Send a JSON object with Content-Type: application/json."),
    ("uuid", "Give an id as HyphaeDB printed it."),
    ("datetime", "Give a time with its zone, such as 2026-01-31T12:00:00Z."),
    ("string_unicode", "Send text that is valid Unicode."),
)


def invalid_of(faults: Sequence[Mapping[str, Any]], *, skip: int = 0) -> Invalid:
    """Pydantic's findings as one readable error: the first fault, and how many there are more.

    ``skip`` leaves out that many leading parts of a place ("body", "query") that only the
    framework means something by.
    """
    fault = faults[0]
    place = ".".join(str(part) for part in fault["loc"][skip:])
    if not place or fault["type"] == "json_invalid":
        place = "The request"
    more = f" ({len(faults) - 1} more like it)" if len(faults) > 1 else ""
    expected = fault.get("ctx", {}).get("expected")
    remedy = next((text for start, text in _REMEDIES if fault["type"].startswith(start)), "")
    if not remedy:
        remedy = f"Use one of {expected}." if expected else "Correct it and send it again."
    return Invalid(f"{place}: {_lowered(fault['msg'])}{more}.", remedy)


def _lowered(sentence: str) -> str:
    return sentence if sentence[:2].isupper() else sentence[:1].lower() + sentence[1:]
