"""docs/results/bench.md: what was measured beside what was aimed at, read from the results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGE = "bench.md"


@dataclass(frozen=True, slots=True)
class Aim:
    """One figure: where it stands in a result, how it is told, and its bound."""

    bench: str
    what: str
    read: Callable[[Any], float]
    bound: float
    at_most: bool
    unit: str = ""
    #: The size from which on it is aimed at; below it the figure is only told.
    cells: int = 0

    @property
    def said(self) -> str:
        """The bound in words."""
        bound = f"{'≤' if self.at_most else '≥'} {self.bound:g}{self.unit}"
        return f"{bound} (at {self.cells:,} cells)" if self.cells else bound


AIMS = (
    Aim(
        "wave", "CPU of the literal design, over the wave's",
        lambda x: x["ratio"], 300, False, " ×", 100_000,
    ),
    Aim("wave", "a typical wave", lambda x: x["shipped"]["typical_ms"], 3, True, " ms"),
    Aim("wave", "a wave to every cell", lambda x: x["everything"]["ms"], 200, True, " ms"),
    Aim(
        "store", "CPU of a store, over a bare indexed insert's",
        lambda x: x["ratio"], 0.5, True, " ×",
    ),
    Aim(
        "store", "store to inbox, p95, idle",
        lambda x: x["worker_in_process"]["1"]["to_inbox_ms"]["p95"], 50, True, " ms",
    ),
    Aim(
        "store", "linked and gossiped, a second of one core",
        lambda x: x["sustained"]["cells_per_s"], 150, False, " cells",
    ),
    Aim(
        "recall", "vector recall, over a bare query",
        lambda x: x["tail"]["empty"]["vector_ratio"], 1.5, True, " ×",
    ),
    Aim(
        "recall", "the same with 2,000 vectors not indexed yet",
        lambda x: x["tail"]["normal"]["vector_ratio"], 1.5, True, " ×",
    ),
    Aim(
        "recall", "full recall, over a bare query",
        lambda x: x["tail"]["empty"]["full_ratio"], 4, True, " ×",
    ),
    Aim(
        "recall", "the same with 2,000 vectors not indexed yet",
        lambda x: x["tail"]["normal"]["full_ratio"], 4, True, " ×",
    ),
    Aim("recall", "recall@10", lambda x: x["tail"]["normal"]["recall_at_10"], 0.97, False),
    Aim(
        "recall", "recall@10 right after a store",
        lambda x: x["right_after_a_store"]["recall_at_10"], 0.97, False,
    ),
    Aim("mirror", "mirror, a cell", lambda x: x["bytes_per_cell"], 2_200, True, " bytes"),
    Aim("mirror", "opening the mesh", lambda x: x["rebuild_s"], 8, True, " s"),
)  # fmt: skip


def write(folder: Path) -> None:
    """Write the page for the results that are there."""
    found = {
        p.stem.removeprefix("bench-"): json.loads(p.read_text("utf-8")) for p in _files(folder)
    }
    sizes = sorted({int(s) for result in found.values() for s in result["sizes"]})
    lines = [
        "# Speed",
        "",
        "Written by `make bench` from the JSON files beside it, which hold every other figure.",
        "Embedding is left out; ratios are of CPU time, client and server together. A figure that",
        "misses its aim is marked.",
        "",
        "| | aim | " + " | ".join(f"{s:,} cells" for s in sizes) + " |",
        "| --- | --- | " + " | ".join("---" for _ in sizes) + " |",
    ]
    for aim in AIMS:
        if aim.bench in found:
            cells = [_told(aim, s, found[aim.bench]["sizes"].get(str(s))) for s in sizes]
            lines.append(f"| {aim.what} | {aim.said} | " + " | ".join(cells) + " |")
    lines += ["", "## Measured on", ""]
    for _, result in sorted(found.items()):
        machine = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in result["machine"].items())
        data = result["data"][max(result["data"], key=int)]
        lines += [
            f"- `{result['command']}`: {machine}. Texts: {', '.join(data['sources'])};"
            f" {data['real']:,} real, {data['mixes']:,} mixes of real ones."
        ]
    (folder / PAGE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("bench-*.json"))


def _told(aim: Aim, cells: int, figures: Any) -> str:
    if figures is None:
        return ""
    value = float(aim.read(figures))
    met = value <= aim.bound if aim.at_most else value >= aim.bound
    return f"{value:g}{aim.unit}" + ("" if met or cells < aim.cells else " (missed)")
