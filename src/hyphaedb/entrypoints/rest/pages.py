"""Lists in pages. A cursor names the last item seen, so pages stay right while a list grows."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from hyphaedb.errors import Invalid
from hyphaedb.wire.answers import Page

T = TypeVar("T")

PAGE_ITEMS = 100
PAGE_ITEMS_MAX = 500

Cursor = Annotated[str | None, Query(description="`next` of the page before.")]
Limit = Annotated[int, Query(description="Items of a page.", ge=1, le=PAGE_ITEMS_MAX)]


def page_of(
    name: str,
    items: Sequence[T],
    key: Callable[[T], tuple[str, ...]],
    cursor: str | None,
    limit: int,
) -> Page[T]:
    """The items after ``cursor`` in the order of ``key``, which must differ between items.

    Raises Invalid for a cursor that the list called ``name`` did not give out.
    """
    ordered = sorted(items, key=key)
    if cursor is not None:
        after = _opened(name, cursor)
        ordered = [item for item in ordered if key(item) > after]
    shown = ordered[:limit]
    return Page(items=shown, next=_sealed(name, key(shown[-1])) if len(ordered) > limit else None)


def _sealed(name: str, key: tuple[str, ...]) -> str:
    return base64.urlsafe_b64encode(json.dumps([name, *key]).encode()).decode().rstrip("=")


def _opened(name: str, cursor: str) -> tuple[str, ...]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        parts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        parts = None
    texts = isinstance(parts, list) and all(isinstance(part, str) for part in parts)
    if not texts or parts[:1] != [name]:
        raise Invalid(
            "That cursor was not given out by this list.",
            "Use `next` of the page before as it is, or leave the cursor out to begin again.",
        )
    return tuple(parts[1:])
