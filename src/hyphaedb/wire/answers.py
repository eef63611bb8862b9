"""Answers: the model types as JSON and back, and the two shapes that wrap them."""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import cache
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json, to_jsonable_python

from hyphaedb.errors import Invalid, Unavailable
from hyphaedb.model import MuteKind

T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    """A part of a list. ``next`` asks for what follows; null says this was the end."""

    items: list[T]
    next: str | None = None


class Count(BaseModel):
    """How many things a request touched."""

    count: int


class Mute(BaseModel):
    """What is silenced."""

    kind: MuteKind
    subject: str


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read(kind: type[T], data: str | bytes) -> T:
    """JSON text as a model type (or a tuple or page of them); Unavailable if it is not one."""
    try:
        return cast(T, _adapter(cast(Hashable, kind)).validate_json(data))
    except ValidationError as error:
        raise Unavailable(
            f"The server's answer is no {getattr(kind, '__name__', kind)}: {_first(error)}.",
            "Use the same version of hyphaedb on both sides.",
        ) from error


def plain(value: object) -> Any:
    """A model value as what JSON knows; raises Invalid for what JSON cannot say."""
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise _unsayable() from error


def sent(value: object) -> bytes:
    """What :func:`plain` made, as the bytes of a request; raises Invalid.

    Not strict JSON on purpose: a NaN must reach the service, which says what is wrong with it.
    """
    try:
        return json.dumps(value, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise _unsayable() from error


def _unsayable() -> Invalid:
    return Invalid(
        "A value in the request cannot be written as JSON.",
        "Use text, numbers, booleans, lists and objects only, none nested very deep.",
    )


def text(value: object) -> str:
    """A model value as one line of JSON."""
    return to_json(value).decode()


def parsed(data: str | bytes) -> Any:
    """Any JSON text as Python values; raises Invalid."""
    try:
        return from_json(data)
    except ValueError as error:
        raise Invalid(f"That is not JSON: {error}.", "Give one JSON value.") from None


def _first(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(p) for p in fault['loc'])}: {fault['msg']}"
