"""``hyphaedb demo``: the main job on real text, from an empty mesh to figures.

Each run works in a mesh of its own under a name that was free, so it never meets what another run
or the user has stored. It is dropped at the end unless it is to be kept, and nothing keeps running.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from hyphaedb.config import Config
from hyphaedb.entrypoints.cli.printing import say_json
from hyphaedb.entrypoints.cli.progress import Progress
from hyphaedb.entrypoints.demo import render, report, story
from hyphaedb.entrypoints.demo.sample import Sample, load
from hyphaedb.errors import LimitReached
from hyphaedb.mesh import Home
from hyphaedb.verbs import Verbs

#: Runs whose meshes may stand side by side; far more than anyone keeps.
RUNS_MAX = 1_000
PAUSE_READ_S = 3.0
PAUSE_LINE_S = 0.2


def free_name(taken: Collection[str]) -> str:
    """``demo``, or the first of ``demo-2``, ``demo-3``, … that no mesh has."""
    for run_number in range(1, RUNS_MAX + 1):
        name = "demo" if run_number == 1 else f"demo-{run_number}"
        if name not in taken:
            return name
    raise LimitReached(
        f"{RUNS_MAX} demo meshes stand side by side.", "Run the demo with another data directory."
    )


def commands(mesh: str, heard: story.Heard, *, kept: bool) -> list[tuple[str, str]]:
    """What goes on from here: in the mesh where it was ``kept``, else how to keep it next time.

    They are spelt so that they run as they stand: `make demo` calls us by our path, which need not
    be on the reader's PATH.
    """
    by_path = Path(sys.argv[0]).name == "hyphaedb" and shutil.which("hyphaedb") is None
    us = sys.argv[0] if by_path else "hyphaedb"
    own = ("A mesh for your own agents, with a server:", f"{us} up")
    if not kept:
        return [("The same, and its mesh stays to look around in:", f"{us} demo --keep"), own]
    agent = heard.asked.agent if heard.asked else heard.pushed[-1].proposal.owner
    cell_id = heard.pushed[-1].cell_id
    for one in heard.pushed:
        if one.proposal.number == story.TOLD[-1]:
            cell_id = one.cell_id
    return [
        ("What waits for an agent:", f"{us} inbox {agent} --mesh {mesh}"),
        ("One wave, hop by hop:", f"{us} trace {cell_id} --mesh {mesh}"),
        ("Erase it again:", f"{us} mesh drop {mesh}"),
        own,
    ]


def _reader(pushed: tuple[story.Pushed, ...]) -> str | None:
    """Who asks: the first receiver of the last proposal told in full, or of any other."""
    ranked = sorted(pushed, key=lambda one: one.proposal.number != story.TOLD[-1])
    return next((one.receivers[0] for one in ranked if one.receivers), None)


async def _tell(mesh: Verbs, sample: Sample, screen: render.Screen) -> story.Heard:
    """Learn, push and ask, saying each step as it happens."""
    await screen.say(render.heading(1, "The agents learn"))
    begun = time.monotonic()
    with Progress("   learning", len(sample.earlier)) as bar:
        learnt = await story.learn(mesh, sample, bar.advance)
    await screen.say(render.learnt(learnt, time.monotonic() - begun), PAUSE_READ_S)

    await screen.say(render.heading(2, "New proposals find their readers"))
    await screen.say([render.LEGEND, ""])
    await story.introduce_author(mesh)
    pushed: list[story.Pushed] = []
    for proposal in sample.later:
        one = await story.push(mesh, proposal)
        pushed.append(one)
        if proposal.number in story.TOLD:
            await screen.say(render.told(one, story.AUTHOR), PAUSE_READ_S)
        else:
            await screen.say(render.summed_up(one), PAUSE_LINE_S)

    asked: story.Asked | None = None
    if reader := _reader(tuple(pushed)):
        await screen.say(render.heading(3, "A receiver asks"))
        asked = await story.ask(mesh, reader)
        await screen.say(render.asked(asked), PAUSE_READ_S)
    return story.Heard(learnt, tuple(pushed), asked)


@asynccontextmanager
async def _stage(home: Home, name: str, keep: bool) -> AsyncIterator[Verbs]:
    """A mesh made for this run and, unless it is kept, gone after it, however it ends."""
    mesh = await home.mesh(name, create=True)
    try:
        async with mesh:
            yield mesh
    finally:
        if not keep:
            await home.drop(name)


async def run(
    config: Config, *, as_json: bool, fast: bool, keep: bool = False, sample: Sample | None = None
) -> int:
    """Show the demo on standard output and return the exit code; ``sample`` replaces the packaged.

    The mesh it works in is dropped at the end unless ``keep``.
    With ``as_json`` standard output gets one JSON object and nothing else. It waits for the reader
    only where standard output is a terminal and ``fast`` is off. Works on the server of
    ``config.database_url``, or the embedded one.
    """
    paced = sys.stdout.isatty() and not fast and not as_json
    screen = render.Screen(sys.stdout, paced=paced, silent=as_json)
    sample = sample or load()
    async with await Home.open(config) as home:
        name = free_name([info.name for info in await home.meshes()])
        place = "the configured server" if config.database_url else "the embedded Postgres"
        await screen.say(render.opening(sample, name, place))
        async with _stage(home, name, keep) as mesh:
            heard = await _tell(mesh, sample, screen)
    steps = commands(name, heard, kept=keep)
    if as_json:
        say_json(report.whole(sample, name, heard, steps))
        return 0
    ours = story.measure(heard.pushed)
    everyone = story.broadcast(heard.pushed, len(sample.sigs))
    await screen.say(render.heading(4, "Against what people wrote down"))
    await screen.say(render.compared(ours, everyone, len(heard.pushed)), PAUSE_READ_S)
    await screen.say(render.heading(5, "What to try next"))
    await screen.say(render.next_steps(steps))
    return 0
