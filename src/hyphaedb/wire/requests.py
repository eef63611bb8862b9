"""The request bodies, one shape each; their names are those of the verbs they carry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, cast
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from hyphaedb.model import (
    CellType,
    EdgeKind,
    Filter,
    Interests,
    MuteKind,
    NewCell,
    PrincipalKind,
    RecallMode,
    Wait,
)
from hyphaedb.wire.answers import plain


def known(kind: type[StrEnum]) -> Callable[[object], object]:
    """A converter to ``kind`` that hands a value it does not know on as it came."""

    def convert(value: object) -> object:
        try:
            return kind(cast(str, value))
        except ValueError:
            return value

    return convert


#: A cell type, or whatever the caller sent in its place: the service judges it.
RawType = Annotated[
    Any,
    BeforeValidator(known(CellType)),
    WithJsonSchema({"type": "string", "enum": [str(t) for t in CellType]}),
]
RawText = Annotated[Any, WithJsonSchema({"type": "string"})]
RawShare = Annotated[Any, WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]


class Request(BaseModel):
    """A request body: unknown fields are refused, and what was left out can be told apart."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given(self, *without: str) -> dict[str, Any]:
        """The fields the caller named, so that the defaults live in one place: the service."""
        return {n: getattr(self, n) for n in self.model_fields_set if n not in without}


class NewMesh(Request):
    name: str


class InterestsBody(Request):
    text: str = ""
    tags: tuple[str, ...] = ()
    types: tuple[RawType, ...] = ()

    def to_model(self) -> Interests:
        return Interests(**self.given())


class Registration(Request):
    name: str
    kind: PrincipalKind = PrincipalKind.AGENT
    role: str | None = None
    instance: str | None = None
    interests: InterestsBody | None = None
    attention: int | None = None


class CellBody(Request):
    body: RawText
    type: RawType = CellType.FACT
    salience: RawShare = 0.6
    confidence: RawShare = 0.7
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    ref: str | None = None
    session: str | None = None
    sources: tuple[UUID, ...] = ()
    valid_from: datetime | None = None
    expires_at: datetime | None = None

    def to_model(self) -> NewCell:
        return NewCell(**self.given())


class StoreRequest(Request):
    cell: CellBody
    agent: str
    wait: Wait = Wait.ACCEPTED
    timeout_s: float = 10.0


class StoreManyRequest(Request):
    cells: tuple[CellBody, ...]
    agent: str
    session: str | None = None


class ReplaceRequest(Request):
    cell: CellBody
    agent: str

    def replacement(self) -> NewCell | str:
        """The new cell, or its words where nothing else was given: then the rest stays."""
        words = self.cell.body
        alone = self.cell.model_fields_set == {"body"}
        return words if alone and isinstance(words, str) else self.cell.to_model()


class RetractRequest(Request):
    agent: str
    reason: str


class ConfirmRequest(Request):
    agent: str


class EdgeRequest(Request):
    src: UUID
    dst: UUID
    kind: EdgeKind = EdgeKind.CAUSAL
    omega: float = 1.0


class FilterBody(Request):
    types: tuple[RawType, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    agents: tuple[str, ...] = ()
    session: str | None = None
    ref: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    include_inactive: bool = False

    def to_model(self) -> Filter:
        return Filter(**self.given())


class RecallRequest(Request):
    query: RawText
    agent: str | None = None
    session: str | None = None
    k: int | None = None
    mode: RecallMode = RecallMode.FULL
    where: FilterBody | None = None
    as_of: datetime | None = None
    floor: float | None = None
    tokens: int | None = None


class LeaseRequest(Request):
    items: int | None = None
    tokens: int | None = None
    after: int | None = None
    bodies: bool = True


class AcknowledgeRequest(Request):
    cursors: tuple[int, ...]


class DryRunRequest(Request):
    text: RawText
    radius: float = 0.35
    types: tuple[RawType, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int = 50


class BeaconRequest(Request):
    agent: str
    name: str
    text: RawText
    radius: float = 0.35
    types: tuple[RawType, ...] = ()
    tags: tuple[str, ...] = ()


class MuteRequest(Request):
    kind: MuteKind
    subject: str


class ShadowRequest(Request):
    on: bool


class SettleRequest(Request):
    timeout_s: float = 30.0


def cell_body(cell: NewCell | str) -> dict[str, Any]:
    """A cell as a request. A body that is no text goes as it is, for the service to refuse; one
    that JSON cannot say (bytes, say, which would become text on the way) goes as null.
    """
    if not isinstance(cell, NewCell):
        return {"body": _as_it_is(cell)}
    rest = cast(dict[str, Any], plain(replace(cell, body="")))
    return {**rest, "body": _as_it_is(cell.body)}


def cell_bodies(cells: object) -> object:
    """A list of cells as a request; what is no list goes as it is, for the service to refuse."""
    return [cell_body(c) for c in cells] if isinstance(cells, list | tuple) else cells


def _as_it_is(body: object) -> object:
    return body if isinstance(body, str | int | float) else None
