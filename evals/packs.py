"""The packs: which field names the teams, in what order records came, what a record's text is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyphaedb import CellType

#: Records of one file at most; the largest pack has about nine thousand.
RECORDS_MAX = 200_000


@dataclass(frozen=True, slots=True)
class Record:
    """One labelled text: who must hear of it, in the owner's place first."""

    record_id: str
    text: str
    teams: tuple[str, ...]
    clock: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """Records to learn from and records to push, each in the order of their time."""

    name: str
    type: CellType
    salience: float
    learn: tuple[Record, ...]
    push: tuple[Record, ...]

    @property
    def teams(self) -> tuple[str, ...]:
        """Every team that some record names, by name."""
        return tuple(sorted({t for r in (*self.learn, *self.push) for t in r.teams}))


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number >= RECORDS_MAX:
                raise SystemExit(f"{path} has more than {RECORDS_MAX} records.")
            if line.strip():
                yield json.loads(line)


def _kind(raw: dict[str, Any]) -> str:
    for field, name in (
        ("owning_sig", "keps"),
        ("sigs", "k8s_notes"),
        ("components", "arrow_commits"),
        ("product", "office_reports"),
    ):
        if field in raw:
            return name
    raise SystemExit(f"Record {raw.get('id')} belongs to none of the known packs.")


def _record(raw: dict[str, Any]) -> Record:
    kind = _kind(raw)
    teams: Sequence[str]
    if kind == "keps":
        teams = [raw["owning_sig"], *(raw.get("participating_sigs") or [])]
        clock: Any = raw.get("created") or ""
    elif kind == "k8s_notes":
        teams, clock = raw["sigs"], raw["release"]
    elif kind == "arrow_commits":
        teams, clock = raw["components"], raw["date"]
    else:
        teams, clock = [raw["product"]], raw["number"]
    title, text = raw.get("title") or "", raw.get("text") or ""
    body = f"{title}. {text}".strip() if title else text
    return Record(str(raw["id"]), body, tuple(dict.fromkeys(teams)), (clock, str(raw["id"])))


def load(learn: Sequence[Path], push: Sequence[Path]) -> Pack:
    """The pack of these files: part=earlier of the learn files, part=later of the push files."""
    name = ""
    sides: list[list[Record]] = []
    for paths, part in ((learn, "earlier"), (push, "later")):
        side: list[Record] = []
        for path in paths:
            for raw in read_lines(path):
                if raw["part"] == part and (raw.get("title") or raw.get("text")):
                    name = name or _kind(raw)
                    side.append(_record(raw))
        # Stable: records of one moment keep the order of their file.
        side.sort(key=lambda r: r.clock[:1])
        sides.append(side)
    if not sides[0] or not sides[1]:
        raise SystemExit("Nothing to learn from or nothing to push: check the files' part field.")
    proposals = name == "keps"
    return Pack(
        name=name,
        type=CellType.DECISION if proposals else CellType.FACT,
        salience=0.9 if proposals else 0.7,
        learn=tuple(sides[0]),
        push=tuple(sides[1]),
    )
