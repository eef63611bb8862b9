"""Running the application: a socket that says clearly when it is taken, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Generator

import uvicorn
from fastapi import FastAPI

from hyphaedb.entrypoints.rest.guard import require_loopback
from hyphaedb.errors import Forbidden, Unavailable

#: Connections that may wait to be accepted, as many as uvicorn allows.
_WAITING = 2_048
#: How long requests under way may take to end; streams are told to end at once.
GRACE_S = 5


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one.

    Raises Unavailable where another program has the port, Forbidden where this user or host may
    not have it.
    """
    require_loopback(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol must be named, or asyncio leaves Nagle's algorithm on: 40 ms an answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # A port left a moment ago may be taken again; one in use still may not.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_WAITING)  # at once: whoever is told the address may already call it
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise Unavailable(
                f"Port {port} on {host} is in use.",
                "Stop the program that has it (another `hyphaedb up`?), or choose one with --port.",
            ) from error
        raise Forbidden(
            f"Port {port} on {host} cannot be used: {error.strerror}.",
            "Choose another with --port.",
        ) from error
    return listener


class _Server(uvicorn.Server):
    """Leaves signals to whoever runs it: they end more than the server."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


async def serve(app: FastAPI, listener: socket.socket, stop: asyncio.Event) -> None:
    """Serve until ``stop`` is set, then end the streams and finish what is under way."""
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
        )
    )
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((serving, stopped), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        app.state.served.stopping.set()
        server.should_exit = True
        await serving
