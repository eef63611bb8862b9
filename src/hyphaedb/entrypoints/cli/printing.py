"""What a command says: an answer on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from hyphaedb.errors import HyphaeError

WIDTH = 80


def say(lines: Iterable[str]) -> None:
    """Print an answer made of lines."""
    for line in lines:
        print(line)


def note(line: str) -> None:
    """Tell the person something that is not the answer."""
    print(line, file=sys.stderr)


def say_json(value: object) -> None:
    """Print an answer as one JSON object on one line."""
    from hyphaedb.wire.answers import text  # pydantic takes a while that plain text spares

    print(text(value), flush=True)


def report(error: HyphaeError, as_json: bool) -> None:
    """Print an error on standard error, as a line or as a problem object."""
    if as_json:
        from hyphaedb.wire.answers import text
        from hyphaedb.wire.problems import problem_of

        print(text(problem_of(error)), file=sys.stderr)
    else:
        print(f"error[{error.code}]: {error.message} {error.remedy}", file=sys.stderr)


def quiet_end() -> None:
    """Let nothing complain at exit that whoever read our output has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def clip(line: str, width: int) -> str:
    """Text on one line of at most ``width`` characters, shortened visibly."""
    line = " ".join(line.split())
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "…"


def wrapped(text: str, indent: str = "") -> list[str]:
    """Text in lines of at most 80 characters."""
    joined = " ".join(text.split())
    return textwrap.wrap(
        joined,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,  # an option or an id in two pieces is no use
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as they need; the last takes what is left of 80 and is clipped."""
    widths = [max(len(r[i]) for r in (head, *rows)) for i in range(len(head) - 1)]
    last = max(10, WIDTH - sum(widths) - 2 * len(widths))
    return [
        "  ".join([*(c.ljust(w) for c, w in zip(r, widths, strict=False)), clip(r[-1], last)])
        .rstrip()
        for r in (head, *rows)
    ]  # fmt: skip


def age(moment: datetime | None) -> str:
    """How long ago, in one unit a person thinks in."""
    if moment is None:
        return "-"
    seconds = (datetime.now(UTC) - moment).total_seconds()
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if abs(seconds) >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
