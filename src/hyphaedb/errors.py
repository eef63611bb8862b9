"""The one family of errors, and the one table that maps them to every face.

Each child says whose fault it is and carries a stable ``code``. The faces never invent a
status: each reads its column of :data:`FACES`, so the same mistake reads the same everywhere.
Anything that is not a :class:`HyphaeError` is a bug in HyphaeDB.
"""

from __future__ import annotations

from dataclasses import dataclass


class HyphaeError(Exception):
    """Something HyphaeDB refused or could not do.

    ``message`` says what happened, ``remedy`` what the caller can do about it; both are always
    present and safe to show (no secrets, no SQL). ``retry_after_s`` is set where waiting helps.
    """

    code = "error"

    def __init__(self, message: str, remedy: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
        self.retry_after_s = retry_after_s


class Invalid(HyphaeError):
    """The request itself is wrong; nothing was written."""

    code = "invalid"


class TooLarge(Invalid):
    """The request as a whole is larger than a server takes; in parts it may pass."""

    code = "too_large"


class NotFound(HyphaeError):
    """What the request names does not exist; nothing was created in its place."""

    code = "not_found"


class Conflict(HyphaeError):
    """The request contradicts what is already there; nothing was changed."""

    code = "conflict"


class Forbidden(HyphaeError):
    """The caller may not do this here."""

    code = "forbidden"


class LimitReached(HyphaeError):
    """A bounded resource is full; the same request may succeed after ``retry_after_s``."""

    code = "limit_reached"


class Unavailable(HyphaeError):
    """Something HyphaeDB depends on cannot be reached; what was acknowledged is safe."""

    code = "unavailable"


class Unsupported(HyphaeError):
    """This installation, server or schema cannot do it (version, platform, missing extra)."""

    code = "unsupported"


class LeaseLost(HyphaeError):
    """Another worker owns the mesh now; the late worker wrote nothing."""

    code = "lease_lost"


@dataclass(frozen=True, slots=True)
class Face:
    """How one kind of error looks at each face."""

    http_status: int
    exit_code: int
    mcp_code: int
    title: str


#: Exit codes follow sysexits where one fits; MCP codes stay in JSON-RPC's server range.
FACES: dict[type[HyphaeError], Face] = {
    HyphaeError: Face(500, 70, -32000, "Internal fault"),
    Invalid: Face(422, 64, -32602, "Invalid request"),
    TooLarge: Face(413, 64, -32602, "Request too large"),
    NotFound: Face(404, 66, -32001, "Not found"),
    Conflict: Face(409, 65, -32002, "Conflict"),
    Forbidden: Face(403, 77, -32003, "Forbidden"),
    LimitReached: Face(429, 75, -32004, "Limit reached"),
    Unavailable: Face(503, 69, -32005, "Unavailable"),
    Unsupported: Face(501, 78, -32006, "Unsupported"),
    LeaseLost: Face(503, 75, -32007, "Lease lost"),
}


def face_of(error: HyphaeError) -> Face:
    """The face of an error: its own row of :data:`FACES`, or that of its nearest ancestor."""
    for kind in type(error).__mro__:
        if kind in FACES:
            return FACES[kind]
    return FACES[HyphaeError]
