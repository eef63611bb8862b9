"""What bad input gets: a clear error with a code and a remedy, and nothing written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from hyphaedb.errors import Conflict, HyphaeError, Invalid, NotFound, Unavailable
from hyphaedb.mesh import Mesh
from hyphaedb.model import CellId, CellType, Filter, Interests, NewCell
from hyphaedb.store.pool import Database
from tests.engine.conftest import Clock, Place
from tests.engine.lexical import Lexical
from tests.engine.scenes import announce

Attempt = Callable[[Mesh], Awaitable[Any]]


class Broken(Lexical):
    """An embedder that answers what it should not, once it is told to."""

    def __init__(self, answer: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> None:
        super().__init__()
        self._answer = answer
        self.breaks = False

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = await super().embed(texts)
        return self._answer(vectors) if self.breaks else vectors


async def rows(database: Database) -> dict[str, int]:
    """How many rows each table has."""
    async with database.statement() as tx:
        tables = await (
            await tx.execute(b"SELECT tablename FROM pg_tables WHERE schemaname = 'hyphaedb'")
        ).fetchall()
        found = {}
        for (table,) in tables:
            cursor = await tx.execute(f'SELECT count(*) FROM hyphaedb."{table}"'.encode())
            row = await cursor.fetchone()
            assert row is not None
            found[table] = row[0]
    return found


@pytest.fixture(scope="module")
async def database(database_url: str) -> AsyncIterator[Database]:
    """Opened once: nothing here writes."""
    opened = await Database.open(database_url, pool_size=4)
    yield opened
    await opened.close()


@pytest.fixture(scope="module")
async def mesh(database_url: str) -> AsyncIterator[Mesh]:
    """Ann is registered and active today; no worker changes anything meanwhile."""
    place = Place(database_url, Clock())
    opened = await place.open(worker=False)
    await opened.register("ann")
    await opened.register("review-agent")
    await opened.store("words that are there", agent="ann")
    yield opened
    await place.close()


def stores(cell: Any, **more: Any) -> Attempt:
    """An attempt to store."""
    return lambda mesh: mesh.store(cell, **({"agent": "ann"} | more))


INVALID: dict[str, Attempt] = {
    "empty body": stores(""),
    "blank body": stores(" \n\t"),
    "over-long body": stores("x" * 8_001),
    "a number for a body": stores(42),
    "no body": stores(None),
    "bytes for a body": stores(NewCell(b"bytes")),  # type: ignore[arg-type]
    "NUL in the body": stores("a\x00b"),
    "half a character": stores("a\ud800b"),
    "unknown type": stores(NewCell("x", type="rumour")),  # type: ignore[arg-type]
    "salience above 1": stores(NewCell("x", salience=1.5)),
    "salience below 0": stores(NewCell("x", salience=-0.1)),
    "salience NaN": stores(NewCell("x", salience=float("nan"))),
    "salience in words": stores(NewCell("x", salience="high")),  # type: ignore[arg-type]
    "confidence infinite": stores(NewCell("x", confidence=float("inf"))),
    "tags in one string": stores(NewCell("x", tags="a,b")),  # type: ignore[arg-type]
    "no tags at all": stores(NewCell("x", tags=None)),  # type: ignore[arg-type]
    "too many tags": stores(NewCell("x", tags=tuple(map(str, range(33))))),
    "an empty tag": stores(NewCell("x", tags=("",))),
    "NUL in a tag": stores(NewCell("x", tags=("a\x00",))),
    "metadata that is no object": stores(NewCell("x", metadata=[1])),  # type: ignore[arg-type]
    "NaN in the metadata": stores(NewCell("x", metadata={"a": float("nan")})),
    "NUL in the metadata": stores(NewCell("x", metadata={"a": "\x00"})),
    "half a character in the metadata": stores(NewCell("x", metadata={"a": "\udfff"})),
    "metadata too large": stores(NewCell("x", metadata={"a": "x" * 9_000})),
    "metadata JSON cannot say": stores(NewCell("x", metadata={"a": {1, 2}})),
    "a source that is no id": stores(NewCell("x", sources=("abc",))),  # type: ignore[arg-type]
    "an expiry without zone": stores(NewCell("x", expires_at=Clock().now.replace(tzinfo=None))),
    "an expiry in the past": stores(NewCell("x", expires_at=Clock().now.replace(year=2020))),
    "an empty session": stores(NewCell("x", session="")),
    "a session with a line break": stores(NewCell("x", session="a\nb")),
    "an unknown wait": stores("never to be stored", wait="forever"),
    "an empty key": stores("x", idempotency_key=""),
    "an over-long key": stores("x", idempotency_key="k" * 201),
    "an empty agent": stores("x", agent=""),
    "no cells": lambda mesh: mesh.store_many([], agent="ann"),
    "too many cells": lambda mesh: mesh.store_many([NewCell("x")] * 1_001, agent="ann"),
    "an empty name": lambda mesh: mesh.register(" "),
    "an unknown kind": lambda mesh: mesh.register("x", kind="robot"),  # type: ignore[arg-type]
    "no attention": lambda mesh: mesh.register("x", attention=0),
    "interests in one string": lambda mesh: mesh.register("x", interests="a"),  # type: ignore[arg-type]
    "unknown type of interest": lambda mesh: mesh.register(
        "x",
        interests=Interests(types=("rumour",)),  # type: ignore[arg-type]
    ),
    "an empty query": lambda mesh: mesh.recall(""),
    "NUL in the query": lambda mesh: mesh.recall("a\x00"),
    "k of 0": lambda mesh: mesh.recall("x", k=0),
    "an unknown mode": lambda mesh: mesh.recall("x", mode="magic"),  # type: ignore[arg-type]
    "a floor above 1": lambda mesh: mesh.recall("x", floor=2.0),
    "as_of without zone": lambda mesh: mesh.recall("x", as_of=Clock().now.replace(tzinfo=None)),
    "a filter that is none": lambda mesh: mesh.recall("x", where={"tags": ["a"]}),  # type: ignore[arg-type]
    "a filter by an unknown type": lambda mesh: mesh.recall(
        "x",
        where=Filter(types=("rumour",)),  # type: ignore[arg-type]
    ),
    "a filter by one agent in a string": lambda mesh: mesh.recall(
        "x",
        where=Filter(agents="ann"),  # type: ignore[arg-type]
    ),
    "a filter with bad metadata": lambda mesh: mesh.recall(
        "x", where=Filter(metadata={"a": float("inf")})
    ),
    "a cursor in words": lambda mesh: mesh.inbox("ann", after="three"),  # type: ignore[arg-type]
    "a cursor below 0": lambda mesh: mesh.inbox("ann", after=-1),
    "no items": lambda mesh: mesh.inbox("ann", items=0),
    "acknowledging a word": lambda mesh: mesh.acknowledge("ann", ["x"]),  # type: ignore[list-item]
    "a cell id in words": lambda mesh: mesh.confirm("abc", agent="ann"),  # type: ignore[arg-type]
    "an empty reason": lambda mesh: mesh.retract(CellId(uuid4()), agent="ann", reason=""),
    "a radius of 0": lambda mesh: mesh.beacon("ann", "b", "text", radius=0.0),
    "a radius NaN": lambda mesh: mesh.beacon("ann", "b", "text", radius=float("nan")),
    "an empty beacon": lambda mesh: mesh.beacon("ann", "b", ""),
    "an unknown mute": lambda mesh: mesh.mute("mood", "ann"),  # type: ignore[arg-type]
    "a mute of an unknown type": lambda mesh: mesh.mute("type", "rumour"),  # type: ignore[arg-type]
    "a trace of a word": lambda mesh: mesh.trace("abc"),  # type: ignore[arg-type]
}
MISSING: dict[str, Attempt] = {
    "an author that never registered": stores("x", agent="nobody"),
    "an inbox of nobody": lambda mesh: mesh.inbox("nobody"),
    "a reader that never registered": lambda mesh: mesh.recall("x", agent="nobody"),
    "a beacon of nobody": lambda mesh: mesh.beacon("nobody", "b", "text"),
    "an unknown cell": lambda mesh: mesh.cell(CellId(uuid4())),
    "confirming an unknown cell": lambda mesh: mesh.confirm(CellId(uuid4()), agent="ann"),
    "replacing an unknown cell": lambda mesh: mesh.update(CellId(uuid4()), "x", agent="ann"),
    "retracting an unknown cell": lambda mesh: mesh.retract(
        CellId(uuid4()), agent="ann", reason="x"
    ),
    "forgetting an unknown cell": lambda mesh: mesh.forget(CellId(uuid4())),
    "relating unknown cells": lambda mesh: mesh.relate(CellId(uuid4()), CellId(uuid4())),
    "tracing an unknown diff": lambda mesh: mesh.trace(CellId(uuid4())),
    "retiring nobody": lambda mesh: mesh.retire("nobody"),
}


async def refused(mesh: Mesh, database: Database, attempt: Attempt) -> HyphaeError:
    """The error of an attempt that must write nothing."""
    before = await rows(database)
    with pytest.raises(HyphaeError) as caught:
        await attempt(mesh)
    assert await rows(database) == before
    assert caught.value.message
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize("what", INVALID)
async def test_what_makes_no_sense_is_invalid(mesh: Mesh, database: Database, what: str) -> None:
    assert type(await refused(mesh, database, INVALID[what])) is Invalid


@pytest.mark.parametrize("what", MISSING)
async def test_what_is_not_there_is_not_found(mesh: Mesh, database: Database, what: str) -> None:
    assert type(await refused(mesh, database, MISSING[what])) is NotFound


async def test_the_limit_of_a_body_is_named(mesh: Mesh, database: Database) -> None:
    error = await refused(mesh, database, stores("x" * 8_001))

    assert "8001" in error.message
    assert "8000" in error.remedy


async def test_an_unknown_type_is_answered_with_the_known_ones(
    mesh: Mesh, database: Database
) -> None:
    error = await refused(mesh, database, INVALID["unknown type"])

    assert all(kind.value in error.remedy for kind in CellType)


async def test_a_misspelt_agent_is_answered_with_close_ones(mesh: Mesh, database: Database) -> None:
    error = await refused(mesh, database, stores("x", agent="reveiw-agent"))

    assert "review-agent" in error.message + error.remedy


async def test_a_mesh_is_never_made_by_a_typo(place: Place, database: Database) -> None:
    opened = await place.open(worker=False)
    before = await rows(database)
    with pytest.raises(NotFound):
        await place.again(opened.info.name + "x")

    assert await rows(database) == before


def _nan(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.full_like(vectors, np.nan)


def _short(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors[:, :8]


def _long_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors * np.float32(3.0)


EMBEDDED: dict[str, Attempt] = {
    "store": stores("new words"),
    "store_many": lambda mesh: mesh.store_many([NewCell("new words")], agent="ann"),
    "register": lambda mesh: mesh.register("x", interests=Interests(text="new words")),
    "beacon": lambda mesh: mesh.beacon("ann", "b", "new words"),
    "dry run": lambda mesh: mesh.beacon_dry_run("new words"),
    "recall": lambda mesh: mesh.recall("new words"),
}


@pytest.mark.parametrize("answer", [_nan, _short, _long_rows])
@pytest.mark.parametrize("verb", EMBEDDED)
async def test_an_embedder_that_answers_nonsense_is_not_believed(
    place: Place,
    database: Database,
    verb: str,
    answer: Callable[[NDArray[np.float32]], NDArray[np.float32]],
) -> None:
    """NaN, a vector of the wrong size, one that is not of length 1; through every verb."""
    embedder = Broken(answer)
    mesh = await place.open(worker=False, embedder=embedder)
    await mesh.register("ann")
    await mesh.store("words", agent="ann")
    embedder.breaks = True

    assert type(await refused(mesh, database, EMBEDDED[verb])) is Unavailable


async def test_a_mesh_of_another_model_is_refused_with_the_way_out(
    place: Place, database: Database
) -> None:
    class Other(Lexical):
        model = "another-model"

    mesh = await place.open(worker=False)
    before = await rows(database)
    with pytest.raises(Conflict) as caught:
        await place.open(mesh.info.name, worker=False, embedder=Other())

    assert "lexical-test" in caught.value.message
    assert "HYPHAEDB_EMBEDDER=lexical-test" in caught.value.remedy
    assert await rows(database) == before


async def test_a_refusal_names_no_way_that_wipes_data(mesh: Mesh, database: Database) -> None:
    remedies = [
        (await refused(mesh, database, attempt)).remedy for attempt in (INVALID | MISSING).values()
    ]

    for word in ("delete", "drop", "wipe", "erase"):
        assert not any(word in remedy.lower() for remedy in remedies)


async def test_after_a_refusal_the_mesh_works_on(place: Place) -> None:
    mesh = await place.open()
    await mesh.register("ann")
    with pytest.raises(Invalid):
        await mesh.store("", agent="ann")

    assert (await announce(mesh, "words", agent="ann")).receipt is not None
