"""Commands that steer a mesh and look after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated

import typer

from hyphaedb.config import shown
from hyphaedb.entrypoints.cli.calling import JsonOption, command, told
from hyphaedb.entrypoints.cli.place import settings
from hyphaedb.entrypoints.cli.printing import say, say_json, table, wrapped
from hyphaedb.errors import Unavailable, face_of
from hyphaedb.model import Check, MeshInfo, MuteKind, Stats
from hyphaedb.verbs import Verbs

_INDENT = " " * 5

Subject = Annotated[str, typer.Argument(help="The agent, author or cell type.")]
Kind = Annotated[MuteKind, typer.Argument(help="What to silence.")]


def add(app: typer.Typer) -> None:
    """Put these commands on the command line."""
    _switches(app)
    _mutes(app)
    _care(app)
    _looking(app)


def _info(answer: MeshInfo) -> list[str]:
    state = "paused" if answer.paused else "running"
    return [f"Mesh {answer.name} is {state}{', in shadow mode' if answer.shadow else ''}."]


def _switches(app: typer.Typer) -> None:
    @command(app, "pause", show=_info)
    async def pause(mesh: Verbs) -> MeshInfo:
        """Stop waves; stores are accepted and wait."""
        return await mesh.pause()

    @command(app, "resume", show=_info)
    async def resume(mesh: Verbs) -> MeshInfo:
        """Let waves run again; what waited goes first."""
        return await mesh.resume()

    @command(app, "shadow", show=_info)
    async def shadow(
        mesh: Verbs, off: Annotated[bool, typer.Option("--off", help="Deliver again.")] = False
    ) -> MeshInfo:
        """Record what would be delivered and deliver nothing."""
        return await mesh.shadow(not off)


def _mutes(app: typer.Typer) -> None:
    @command(app, "mute", show=told("Muted."), key="muted")
    async def mute(mesh: Verbs, kind: Kind, subject: Subject) -> bool:
        """Silence an agent's inbox, an author's diffs or a cell type."""
        await mesh.mute(kind, subject)
        return True

    @command(app, "unmute", show=told("No longer muted."), key="unmuted")
    async def unmute(mesh: Verbs, kind: Kind, subject: Subject) -> bool:
        """Undo a mute; the next sweep brings what it kept back."""
        await mesh.unmute(kind, subject)
        return True

    def show(answer: Sequence[dict[str, str]]) -> list[str]:
        rows = [(one["kind"], one["subject"]) for one in answer]
        return table(("what", "whom"), rows) if rows else ["Nothing is muted."]

    @command(app, "mutes", show=show, key="mutes")
    async def mutes(mesh: Verbs) -> list[dict[str, str]]:
        """All mutes."""
        return [{"kind": kind.value, "subject": subject} for kind, subject in await mesh.mutes()]


def _care(app: typer.Typer) -> None:
    @command(app, "sweep", show=told("Deliveries added: {}."),
             key="delivered", pumps=True)  # fmt: skip
    async def sweep(mesh: Verbs) -> int:
        """Run anti-entropy now."""
        return await mesh.sweep()

    @command(app, "settle", show=told("Diffs still pending: {}."),
             key="pending", pumps=True)  # fmt: skip
    async def settle(
        mesh: Verbs, timeout_s: Annotated[float, typer.Option(help="Longest wait.")] = 30.0
    ) -> int:
        """Wait until nothing is pending."""
        return await mesh.settle(timeout_s=timeout_s)

    @command(app, "retry-dead", show=told("Diffs that will be tried again: {}."),
             key="retried")  # fmt: skip
    async def retry_dead(mesh: Verbs) -> int:
        """Give diffs that failed for good another set of attempts."""
        return await mesh.retry_dead()


def _looking(app: typer.Typer) -> None:
    def show_stats(answer: Stats) -> list[str]:
        values = [(f.name, getattr(answer, f.name)) for f in fields(answer)]
        return [f"{name:<14} {'-' if value is None else value}" for name, value in values]

    @command(app, "stats", show=show_stats)
    async def stats(mesh: Verbs) -> Stats:
        """Gauges of a mesh."""
        return await mesh.stats()

    def show_checks(answer: Sequence[Check]) -> list[str]:
        lines: list[str] = []
        for check in answer:
            first, *rest = wrapped(f"{check.name}: {check.detail}", _INDENT)
            lines += [f"{'ok' if check.ok else 'BAD':<{len(_INDENT)}}{first.lstrip()}", *rest]
            if not check.ok and check.remedy:
                lines += wrapped(check.remedy, _INDENT)
        return lines

    @command(app, "doctor", show=show_checks, key="checks",
             exit_code=lambda checks: 0 if all(c.ok for c in checks) else _UNWELL)  # fmt: skip
    async def doctor(mesh: Verbs) -> Sequence[Check]:
        """Look at everything that can be wrong and say what to do about it."""
        return await mesh.doctor()

    @app.command("config")
    def config(as_json: JsonOption = False) -> None:
        """The effective settings, secrets masked."""
        values = shown(settings())
        if as_json:
            say_json(values)
            return
        say(f"{name:<22} {value}".rstrip() for name, value in values.items())
        say(["", "docs/settings.md says what each means and what raising it costs."])


#: What `doctor` exits with when something is wrong.
_UNWELL = face_of(Unavailable("", "")).exit_code
