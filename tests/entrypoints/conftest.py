"""The faces as their users meet them: a real server on a free port, real processes, a real home."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from hyphaedb.config import Config
from hyphaedb.entrypoints.rest.app import create_app
from hyphaedb.entrypoints.rest.serving import bound, serve
from hyphaedb.mesh import Home, Mesh, Wiring
from hyphaedb.providers.opening import open_embedder
from hyphaedb.remote import RemoteMesh

#: Longest any one command may take here; a cold start loads the embedder and opens a database.
COMMAND_S = 60


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON object it must be."""
        return json.loads(self.out)

    @property
    def problem(self) -> Any:
        """Standard error as the problem object an error is with --json."""
        return json.loads(self.err)


Cli = Callable[..., Awaitable[Ran]]


@pytest.fixture
def config(database_url: str, tmp_path: Path) -> Config:
    return Config(database_url=database_url, data_dir=str(tmp_path / "data"), sweep_s=86_400)


@pytest.fixture(scope="session")
async def wiring() -> AsyncIterator[Wiring]:
    """The embedder that ships, loaded once for all tests of the faces."""
    embedder = open_embedder("minilm")
    yield Wiring(embedder=embedder)
    await embedder.close()


@pytest.fixture
async def home(config: Config, wiring: Wiring) -> AsyncIterator[Home]:
    async with await Home.open(config, wiring=wiring) as opened:
        yield opened


@pytest.fixture
async def mesh_name(home: Home) -> str:
    """A mesh of its own for a test, named as repositories are: with slashes."""
    return (await home.create(f"github.com/team/{uuid4().hex[:10]}")).name


@asynccontextmanager
async def serving(home: Home, config: Config, port: int = 0) -> AsyncIterator[str]:
    """A server over a home while the block runs; gives its URL."""
    listener = bound(config.host, port)
    url = f"http://{config.host}:{listener.getsockname()[1]}"
    stop = asyncio.Event()
    task = asyncio.create_task(serve(create_app(home, config), listener, stop))
    try:
        yield url
    finally:
        stop.set()
        await task


@pytest.fixture
async def server(home: Home, config: Config) -> AsyncIterator[str]:
    async with serving(home, config) as url:
        yield url


@pytest.fixture
async def http(server: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server, trust_env=False, timeout=30) as client:
        yield client


@pytest.fixture
async def local(home: Home, mesh_name: str) -> Mesh:
    """The mesh opened in this process, with a worker; the home closes it."""
    return await home.mesh(mesh_name)


@pytest.fixture
async def remote(server: str, mesh_name: str) -> AsyncIterator[RemoteMesh]:
    opened = await RemoteMesh.open(server, mesh=mesh_name)
    yield opened
    await opened.close()


def environment(config: Config, mesh: str) -> dict[str, str]:
    """A command's environment: the database, mesh and data directory of the test, nobody else's."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("HYPHAEDB_")}
    return {
        **inherited,
        "HYPHAEDB_DATABASE_URL": config.database_url,
        "HYPHAEDB_DATA_DIR": config.data_dir,
        "HYPHAEDB_MESH": mesh,
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


COMMAND = [sys.executable, "-c", "from hyphaedb.entrypoints.cli import main; main()"]


@pytest.fixture
def cli(config: Config, mesh_name: str) -> Cli:
    """Runs ``hyphaedb`` in a process of its own."""

    async def run(*arguments: str, stdin: bytes = b"", **variables: str) -> Ran:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *arguments,
            env={**environment(config, mesh_name), **variables},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(stdin), COMMAND_S)
        finally:
            if process.returncode is None:
                process.kill()
        return Ran(process.returncode or 0, out.decode(), err.decode())

    return run
