"""The command line: ``hyphaedb``. Commands parse, call one verb, and print; no more.

Heavy imports stay inside the commands, so that ``--help`` and a typo answer at once.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from hyphaedb.entrypoints.cli import (
    delivery,
    homes,
    importing,
    knowledge,
    serving,
    steering,
)
from hyphaedb.entrypoints.cli.logs import to_stderr
from hyphaedb.entrypoints.cli.printing import quiet_end, report
from hyphaedb.errors import HyphaeError, Invalid, face_of

#: What nearly every command takes, and people coming from other tools put before it.
SHARED = ("--mesh", "--url", "--json")
#: Typer's own name for it is private; its public child shows the way.
_USAGE: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="hyphaedb",
    help="Shared memory for teams of AI agents in which knowledge moves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for group in (serving, knowledge, importing, delivery, steering, homes):
    group.add(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(version("hyphaedb"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    del version


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with the code its outcome has in the table of errors."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run a command; returns its exit code."""
    as_json = "--json" in arguments
    to_stderr(logging.WARNING)
    try:
        code = app(list(arguments), prog_name="hyphaedb", standalone_mode=False)
        sys.stdout.flush()
    except HyphaeError as error:
        report(error, as_json)
        return face_of(error).exit_code
    except _USAGE as error:
        invalid = _usage(error)
        report(invalid, as_json)
        return face_of(invalid).exit_code
    except (KeyboardInterrupt, typer.Abort):
        return serving.INTERRUPTED
    except BrokenPipeError:  # as with `| head`: whoever read us has had enough
        quiet_end()
        return 0
    return code if isinstance(code, int) else 0


def _usage(error: Exception) -> Invalid:
    """A mistake in how the command was called, as one of our errors."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "hyphaedb"
    said = " ".join(str(getattr(error, "format_message", error.__str__)()).split())
    said = said.replace("Value error, ", "") or "A command is missing."
    option = getattr(error, "option_name", None)
    if option in SHARED and hasattr(getattr(context, "command", None), "commands"):
        return Invalid(
            f"{option} stands before the command.", f"Put it behind: {where} COMMAND … {option}"
        )
    return Invalid(said if said.endswith((".", "?")) else f"{said}.", f"See: {where} --help")
