"""The same verbs for callers without an event loop.

A loop of its own runs in a background thread; every verb is handed over to it and waited for. The
signatures are not written a second time: each line below derives one from :class:`Verbs`, so a
type checker sees the verb's own parameters and answer, and a test sees that none is missing.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from hyphaedb.errors import Invalid
from hyphaedb.verbs import Verbs

if TYPE_CHECKING:
    from hyphaedb.config import Config
    from hyphaedb.model import MeshInfo

P = ParamSpec("P")
T = TypeVar("T")

#: How long closing may take. A worker finishes its batch first; past this the thread is left to
#: die with the process, and its lease with it.
CLOSE_S = 30.0


def runner() -> asyncio.Runner:
    """A runner whose loop psycopg can work on, which on Windows is not the default one."""
    return asyncio.Runner(
        loop_factory=asyncio.SelectorEventLoop if sys.platform == "win32" else None
    )


class _Loop:
    """An event loop in a daemon thread, until it is stopped."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hyphaedb-sync", daemon=True)
        self._thread.start()
        self._ready.wait()

    def _run(self) -> None:
        # The runner cancels what is left over and closes the streams, which is all cleaning up.
        with runner() as own:
            own.run(self._until_stopped())

    async def _until_stopped(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._ready.set()
        await self._stopped.wait()

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it here; an interrupt cancels it."""
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise Invalid("A blocking verb was called from the loop it waits for.", "Await it.")
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:  # the loop is closed
            coroutine.close()
            raise _closed() from None
        try:
            while not wait((future,), timeout=1.0).done:
                if not self._thread.is_alive():  # stopped by another thread in between
                    raise _closed()
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """End the loop and wait for its thread; again is harmless."""
        with suppress(RuntimeError):  # closed already
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(CLOSE_S)


def _closed() -> Invalid:
    return Invalid("This mesh is closed.", "Open it again with open_mesh().")


class BlockingIterator(Iterator[T]):
    """An endless stream as an iterator. ``close`` ends it; so does leaving a ``with`` block."""

    def __init__(self, loop: _Loop, source: AsyncIterator[T]) -> None:
        self._loop = loop
        self._source = source

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        try:
            return self._loop.wait(_awaited(anext(self._source)))
        except StopAsyncIteration:
            raise StopIteration from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the stream and free what it holds; again is harmless."""
        ending = getattr(self._source, "aclose", None)
        if ending is not None:
            self._loop.wait(_awaited(ending()))


class _Blocking(Generic[P, T]):
    """A verb that is waited for: found on a facade it becomes a plain method."""

    def __init__(self, verb: Callable[Concatenate[Verbs, P], Awaitable[T]]) -> None:
        self._name = verb.__name__
        self.__doc__ = verb.__doc__

    @overload
    def __get__(self, facade: None, owner: type) -> Self: ...
    @overload
    def __get__(self, facade: SyncMesh, owner: type) -> Callable[P, T]: ...
    def __get__(self, facade: SyncMesh | None, owner: type) -> Self | Callable[P, T]:
        if facade is None:
            return self
        verb = getattr(facade._mesh, self._name)

        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            answer: T = facade._loop.wait(verb(*args, **kwargs))
            return answer

        return call


class _Streaming(Generic[P, T]):
    """A verb that streams: found on a facade it becomes a method that gives an iterator."""

    def __init__(self, verb: Callable[Concatenate[Verbs, P], AsyncIterator[T]]) -> None:
        self._name = verb.__name__
        self.__doc__ = verb.__doc__

    @overload
    def __get__(self, facade: None, owner: type) -> Self: ...
    @overload
    def __get__(self, facade: SyncMesh, owner: type) -> Callable[P, BlockingIterator[T]]: ...
    def __get__(
        self, facade: SyncMesh | None, owner: type
    ) -> Self | Callable[P, BlockingIterator[T]]:
        if facade is None:
            return self
        verb = getattr(facade._mesh, self._name)

        def call(*args: P.args, **kwargs: P.kwargs) -> BlockingIterator[T]:
            return BlockingIterator(facade._loop, verb(*args, **kwargs))

        return call


class SyncMesh:
    """A mesh whose verbs block. Safe to share between threads; close it, or use ``with``."""

    def __init__(self, loop: _Loop, mesh: Verbs) -> None:
        self._loop = loop
        self._mesh = mesh
        # At exit too, so that a forgotten mesh gives its lease back and stops its Postgres.
        self._finalizer = weakref.finalize(self, _close, loop, mesh)

    @property
    def info(self) -> MeshInfo:
        """The mesh as it was when opened."""
        return self._mesh.info

    def close(self) -> None:
        """Finish what was begun and join the background thread; again is harmless."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    register = _Blocking(Verbs.register)
    agents = _Blocking(Verbs.agents)
    retire = _Blocking(Verbs.retire)
    store = _Blocking(Verbs.store)
    store_many = _Blocking(Verbs.store_many)
    update = _Blocking(Verbs.update)
    supersede = _Blocking(Verbs.supersede)
    retract = _Blocking(Verbs.retract)
    confirm = _Blocking(Verbs.confirm)
    relate = _Blocking(Verbs.relate)
    forget = _Blocking(Verbs.forget)
    cell = _Blocking(Verbs.cell)
    recall = _Blocking(Verbs.recall)
    inbox = _Blocking(Verbs.inbox)
    acknowledge = _Blocking(Verbs.acknowledge)
    follow = _Streaming(Verbs.follow)
    waves = _Streaming(Verbs.waves)
    beacon = _Blocking(Verbs.beacon)
    beacons = _Blocking(Verbs.beacons)
    remove_beacon = _Blocking(Verbs.remove_beacon)
    beacon_dry_run = _Blocking(Verbs.beacon_dry_run)
    trace = _Blocking(Verbs.trace)
    who_saw = _Blocking(Verbs.who_saw)
    receipt = _Blocking(Verbs.receipt)
    pause = _Blocking(Verbs.pause)
    resume = _Blocking(Verbs.resume)
    shadow = _Blocking(Verbs.shadow)
    mute = _Blocking(Verbs.mute)
    unmute = _Blocking(Verbs.unmute)
    mutes = _Blocking(Verbs.mutes)
    sweep = _Blocking(Verbs.sweep)
    settle = _Blocking(Verbs.settle)
    retry_dead = _Blocking(Verbs.retry_dead)
    stats = _Blocking(Verbs.stats)
    doctor = _Blocking(Verbs.doctor)


def open_mesh(
    target: str | None = None,
    *,
    mesh: str | None = None,
    create: bool = False,
    config: Config | None = None,
    api_key: str | None = None,
    worker: bool = True,
) -> SyncMesh:
    """Open a mesh as :func:`hyphaedb.open_mesh` does, for callers without an event loop.

    ``target`` None opens the configured or the embedded Postgres, ``postgresql://…`` that
    server, ``http://…`` a running HyphaeDB. Raises NotFound for an unknown mesh unless ``create``.
    """
    from hyphaedb import mesh as local  # the engine is heavy; importing this module is not

    loop = _Loop()
    try:
        opening = local.open_mesh(
            target, mesh=mesh, create=create, config=config, api_key=api_key, worker=worker
        )
        return SyncMesh(loop, loop.wait(_awaited(opening)))
    except BaseException:
        loop.stop()
        raise


async def _awaited(awaitable: Awaitable[T]) -> T:
    """Any awaitable as a coroutine, which is what a loop in another thread takes."""
    return await awaitable


def _close(loop: _Loop, mesh: Verbs) -> None:
    try:
        loop.wait(mesh.close())
    finally:
        loop.stop()
