"""``open_mesh``: one call, the same verbs, whether the mesh is here or behind a server."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import replace
from types import TracebackType

from hyphaedb.config import Config, load
from hyphaedb.errors import Invalid
from hyphaedb.mesh.home import Home, Wiring
from hyphaedb.verbs import Verbs


class Opening:
    """What :func:`open_mesh` returns: await it for a mesh, or use it with ``async with``."""

    def __init__(
        self,
        target: str | None,
        mesh: str | None,
        create: bool,
        config: Config | None,
        api_key: str | None,
        worker: bool,
        wiring: Wiring | None,
    ) -> None:
        self._target = target
        self._mesh = mesh
        self._create = create
        self._config = config
        self._api_key = api_key
        self._worker = worker
        self._wiring = wiring
        self._opened: Verbs | None = None

    def __await__(self) -> Generator[object, None, Verbs]:
        return self._open().__await__()

    async def __aenter__(self) -> Verbs:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _open(self) -> Verbs:
        config = self._config or load(os.environ)
        name = self._mesh or config.mesh
        target = self._target or config.url or config.database_url
        if target.startswith(("http://", "https://")):
            # The client brings an HTTP stack that a local mesh does not need.
            from hyphaedb.remote import RemoteMesh

            return await RemoteMesh.open(
                target, mesh=name, create=self._create, api_key=self._api_key
            )
        if self._api_key is not None:
            raise Invalid(
                "An API key was given for a mesh that is not behind a server.",
                "Pass the server's URL as the target, or leave the key out.",
            )
        home = await Home.open(replace(config, database_url=target), wiring=self._wiring)
        try:
            mesh = await home.mesh(name, create=self._create, worker=self._worker)
        except BaseException:
            await home.close()
            raise
        mesh.when_closed(home.close)
        return mesh


def open_mesh(
    target: str | None = None,
    *,
    mesh: str | None = None,
    create: bool = False,
    config: Config | None = None,
    api_key: str | None = None,
    worker: bool = True,
    wiring: Wiring | None = None,
) -> Opening:
    """Open a mesh: ``async with open_mesh(mesh="shop", create=True) as mesh: …``.

    ``target`` is a Postgres URL, the http(s) URL of a HyphaeDB server, or None for what the
    settings say (the embedded Postgres unless told otherwise). ``create`` makes the mesh if it is
    missing; without it an unknown name is NotFound. ``worker=False`` leaves the pumping of waves
    to other processes. Settings come from ``config``, else from ``HYPHAEDB_*`` variables.
    """
    return Opening(target, mesh, create, config, api_key, worker, wiring)
