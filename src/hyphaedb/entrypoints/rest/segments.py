"""Names with slashes in a path.

Meshes are named after repositories (github.com/org/repo), and a server hands an application its
path with %2F already turned into a slash. So the path is taken apart before that: an escaped
slash stays escaped until the route has been found.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send


def unescaped(segment: str) -> str:
    """A path parameter as the name it stands for."""
    return segment.replace("%2F", "/").replace("%25", "%")


class Segments:
    """Gives the routes a path whose separators are the ones the client meant."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes | None = scope.get("raw_path")
        if raw:
            kept = raw.decode("latin-1").replace("%25", "%2525").replace("%2f", "%2F")
            scope = {**scope, "path": unquote(kept.replace("%2F", "%252F"))}
        await self._app(scope, receive, send)
