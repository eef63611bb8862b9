"""The packaged sample: enhancement proposals of Kubernetes and the groups they concern.

Real text, and labels that nobody made for us: the owning and participating SIGs (special interest
groups) are what the people of that project wrote and reviewed. The first line of the file holds
its source, credit and licence; every further line is one proposal. The later proposals are every
fifth one by date, so none was picked for how it turns out.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

FILE = "proposals.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposal. ``sigs`` holds its owner first; ``created`` is an ISO day, or None."""

    number: str
    title: str
    text: str
    sigs: tuple[str, ...]
    created: str | None

    @property
    def owner(self) -> str:
        """The SIG that owns the proposal."""
        return self.sigs[0]

    @property
    def body(self) -> str:
        """What is stored: title and text, and nothing that names a SIG from outside them."""
        return f"{self.title}\n\n{self.text}"


@dataclass(frozen=True, slots=True)
class Sample:
    """What the demo works on: proposals to learn from and later ones to store."""

    source: str
    credit: str
    licence: str
    earlier: tuple[Proposal, ...]
    later: tuple[Proposal, ...]

    @property
    def sigs(self) -> tuple[str, ...]:
        """Every SIG that an earlier proposal names, by name: one agent each."""
        return tuple(sorted({sig for proposal in self.earlier for sig in proposal.sigs}))


def parse(lines: Iterable[str]) -> Sample:
    """A sample from its lines, the head first. Undated proposals count as earlier ones."""
    rows = [json.loads(line) for line in lines]
    head = rows[0]
    earlier: list[Proposal] = []
    later: list[Proposal] = []
    for row in rows[1:]:
        proposal = Proposal(
            number=row["id"],
            title=row["title"],
            text=row["text"],
            sigs=tuple(row["sigs"]),
            created=row["created"],
        )
        is_later = proposal.created is not None and proposal.created >= head["pushed_from"]
        (later if is_later else earlier).append(proposal)
    return Sample(head["source"], head["credit"], head["licence"], tuple(earlier), tuple(later))


def load() -> Sample:
    """The sample that ships with the package."""
    packed = resources.files(__package__).joinpath(FILE).read_bytes()
    return parse(gzip.decompress(packed).decode().splitlines())
