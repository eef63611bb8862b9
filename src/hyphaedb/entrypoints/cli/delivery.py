"""Commands for what arrives: inboxes, beacons, and who takes part."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Annotated

import typer

from hyphaedb.entrypoints.cli import show_inbox, show_wave
from hyphaedb.entrypoints.cli.calling import an_id, command, streaming, told
from hyphaedb.entrypoints.cli.knowledge import Id, a_type
from hyphaedb.model import (
    Agent,
    Beacon,
    BeaconMatch,
    InboxItem,
    InboxPage,
    Interests,
    PrincipalKind,
    Seen,
    Trace,
)
from hyphaedb.verbs import Verbs

Name = Annotated[str, typer.Argument(metavar="AGENT", help="A registered agent.")]
Types = Annotated[list[str], typer.Option("--type", "-t", help="Only this type; may repeat.")]
TagsOnly = Annotated[list[str], typer.Option("--tag", help="Only with this tag; may repeat.")]
CaresTypes = Annotated[
    list[str], typer.Option("--type", "-t", help="Cares about this type only; may repeat.")
]
CaresTags = Annotated[
    list[str], typer.Option("--tag", help="Any cell with this tag concerns it; may repeat.")
]
Radius = Annotated[float, typer.Option(help="Least cosine to the text.")]
After = Annotated[int | None, typer.Option(help="Begin after this number.")]


def add(app: typer.Typer) -> None:
    """Put these commands on the command line."""
    _inboxes(app)
    _waves(app)
    _agents(app)
    _beacons(app)


def _inboxes(app: typer.Typer) -> None:
    @command(app, "inbox", show=show_inbox.page)
    async def inbox(
        mesh: Verbs,
        agent: Name,
        items: Annotated[int | None, typer.Option("-n", "--items", help="At most so many.")] = None,
        tokens: Annotated[int | None, typer.Option(help="Token budget.")] = None,
        lease: Annotated[bool, typer.Option("--lease", help="Hide them from others.")] = False,
        after: After = None,
        bodies: Annotated[bool, typer.Option(help="With the whole text.")] = False,
    ) -> InboxPage:
        """Unread items of an agent: corrections first, then by score and salience."""
        return await mesh.inbox(
            agent, items=items, tokens=tokens, lease=lease, after=after, bodies=bodies
        )

    @command(app, "acknowledge", show=show_inbox.marked, key="acknowledged")
    async def acknowledge(
        mesh: Verbs,
        agent: Name,
        cursors: Annotated[list[int], typer.Argument(metavar="NUMBER...", help="Items.")],
    ) -> int:
        """Mark items as read."""
        return await mesh.acknowledge(agent, cursors)

    @streaming(app, "follow", show=show_inbox.item)
    def follow(mesh: Verbs, agent: Name, after: After = None) -> AsyncIterator[InboxItem]:
        """New items of an agent as they land, until interrupted."""
        return mesh.follow(agent, after=after)


def _waves(app: typer.Typer) -> None:
    @command(app, "trace", show=show_wave.trace)
    async def trace(
        mesh: Verbs, subject: Annotated[str, typer.Argument(help="The id of a cell or diff.")]
    ) -> Trace:
        """One wave hop by hop: who received it and why, who did not and why."""
        return await mesh.trace(an_id(subject))

    @streaming(app, "waves", show=show_wave.wave_line)
    async def waves(mesh: Verbs, after: After = None) -> AsyncIterator[show_wave.Passed]:
        """Waves as they settle, until interrupted."""
        async for dot, wave in mesh.waves(after=after):
            yield show_wave.Passed(dot, wave)

    @command(app, "who-saw", show=show_wave.seen, key="seen")
    async def who_saw(mesh: Verbs, cell: Id) -> tuple[Seen, ...]:
        """Every agent that knows a cell, and how."""
        return tuple(await mesh.who_saw(an_id(cell)))


def _agents(app: typer.Typer) -> None:
    group = typer.Typer(help="Those who take part.", no_args_is_help=True)
    app.add_typer(group, name="agent")

    @command(group, "add", show=show_inbox.agent)
    async def add_agent(
        mesh: Verbs,
        name: Annotated[str, typer.Argument(help="Its name.")],
        kind: Annotated[PrincipalKind, typer.Option(help="What it is.")] = PrincipalKind.AGENT,
        role: Annotated[str | None, typer.Option(help="The role it is an instance of.")] = None,
        instance: Annotated[str | None, typer.Option(help="Which instance.")] = None,
        interests: Annotated[str | None, typer.Option(help="What it cares about.")] = None,
        type: CaresTypes = [],  # noqa: A002, B006
        tag: CaresTags = [],  # noqa: B006
        attention: Annotated[int | None, typer.Option(help="Items an hour at most.")] = None,
    ) -> Agent:
        """Make an agent known; again updates what is given. Interests, types and tags are one
        declaration: whichever is given again, all of it is said anew.
        """
        declared = None
        if interests is not None or type or tag:
            declared = Interests(interests or "", tuple(tag), tuple(a_type(one) for one in type))
        return await mesh.register(
            name,
            kind=kind,
            role=role,
            instance=instance,
            interests=declared,
            attention=attention,
        )

    @command(group, "list", show=show_inbox.agents, key="agents")
    async def list_agents(mesh: Verbs) -> Sequence[Agent]:
        """All agents, retired ones included."""
        return await mesh.agents()

    @command(group, "retire", show=show_inbox.agent)
    async def retire(mesh: Verbs, name: Name) -> Agent:
        """Stop deliveries to an agent for good; what it stored stays."""
        return await mesh.retire(name)


def _beacons(app: typer.Typer) -> None:
    group = typer.Typer(help="Standing subscriptions.", no_args_is_help=True)
    app.add_typer(group, name="beacon")

    @command(group, "add", show=show_inbox.beacon)
    async def add_beacon(
        mesh: Verbs,
        agent: Name,
        name: Annotated[str, typer.Argument(help="The beacon's name.")],
        text: Annotated[str, typer.Argument(help="What it watches for.")],
        radius: Radius = 0.35,
        type: Types = [],  # noqa: A002, B006
        tag: TagsOnly = [],  # noqa: B006
    ) -> Beacon:
        """Place a beacon; again with the same name moves it."""
        types = [a_type(one) for one in type]
        return await mesh.beacon(agent, name, text, radius=radius, types=types, tags=tag)

    @command(group, "try", show=show_inbox.matches, key="matches")
    async def try_beacon(
        mesh: Verbs,
        text: Annotated[str, typer.Argument(help="What it would watch for.")],
        radius: Radius = 0.35,
        type: Types = [],  # noqa: A002, B006
        tag: TagsOnly = [],  # noqa: B006
        limit: Annotated[int, typer.Option(help="At most so many.")] = 50,
    ) -> Sequence[BeaconMatch]:
        """What such a beacon would have caught of what is stored."""
        types = [a_type(one) for one in type]
        return await mesh.beacon_dry_run(text, radius=radius, types=types, tags=tag, limit=limit)

    @command(group, "list", show=show_inbox.beacons, key="beacons")
    async def list_beacons(
        mesh: Verbs, agent: Annotated[str | None, typer.Argument(help="Only this one's.")] = None
    ) -> Sequence[Beacon]:
        """Beacons of one agent, or all."""
        return await mesh.beacons(agent)

    @command(group, "remove", show=told("Removed."), key="removed")
    async def remove_beacon(
        mesh: Verbs, agent: Name, name: Annotated[str, typer.Argument(help="The beacon's name.")]
    ) -> bool:
        """Take a beacon away; what it delivered stays."""
        await mesh.remove_beacon(agent, name)
        return True
