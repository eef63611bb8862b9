"""The blocking facade: the same verbs without an event loop."""

from __future__ import annotations

import threading

import pytest

from hyphaedb import sync
from hyphaedb.config import Config
from hyphaedb.errors import Invalid, NotFound
from hyphaedb.model import NewCell, Wait


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


@pytest.fixture
def sync_config(database_url: str) -> Config:
    return Config(database_url=database_url, sweep_s=86_400)


def test_verbs_block_and_answer(sync_config: Config) -> None:
    with sync.open_mesh(mesh="sync-verbs", create=True, config=sync_config) as mesh:
        mesh.register("ada")
        mesh.register("bob")
        mesh.beacon("bob", "ports", "Which port the gateway listens on", radius=0.3)
        stored = mesh.store("The gateway listens on port 8443.", agent="ada", wait=Wait.DELIVERED)

        assert mesh.info.name == "sync-verbs"
        assert stored.receipt is not None
        assert stored.receipt.delivered == ("bob",)
        assert mesh.recall("which port?").hits[0].cell.cell_id == stored.cell_id


def test_a_stream_is_an_iterator_that_can_be_closed(sync_config: Config) -> None:
    with sync.open_mesh(mesh="sync-stream", create=True, config=sync_config) as mesh:
        mesh.register("ada")
        mesh.register("bob")
        mesh.beacon("bob", "ports", "Which port the gateway listens on", radius=0.3)
        cell = NewCell("The gateway listens on port 8443.", salience=1.0)
        stored = mesh.store(cell, agent="ada", wait=Wait.DELIVERED)

        with mesh.follow("bob", after=0) as stream:
            assert next(stream).cell_id == stored.cell_id


def test_errors_come_through_as_they_are(sync_config: Config) -> None:
    with (
        sync.open_mesh(mesh="sync-errors", create=True, config=sync_config) as mesh,
        pytest.raises(NotFound),
    ):
        mesh.inbox("nobody")


def test_closing_joins_the_thread_and_again_is_harmless(sync_config: Config) -> None:
    mesh = sync.open_mesh(mesh="sync-close", create=True, config=sync_config)
    assert "hyphaedb-sync" in threads()

    mesh.close()
    mesh.close()

    assert "hyphaedb-sync" not in threads()
    with pytest.raises(Invalid) as caught:
        mesh.stats()
    assert "closed" in caught.value.message


def test_a_mesh_that_cannot_be_opened_leaves_no_thread(sync_config: Config) -> None:
    with pytest.raises(NotFound):
        sync.open_mesh(mesh="sync-nobody-made-this", config=sync_config)

    assert "hyphaedb-sync" not in threads()
