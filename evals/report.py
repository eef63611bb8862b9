"""All evaluations in a row, each result in a file of its own, and one page that shows them.

The page is rendered from the files and says which command made each, so it cannot differ from
them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evals.packs import load
from evals.recall import evaluate as recall
from evals.routing import evaluate as routing

PAGE = "evals.md"
#: Files of each routing pack, in the folder of that name.
PACKS: dict[str, str] = {
    "keps": "keps.jsonl",
    "k8s_notes": "notes.jsonl",
    "arrow_commits": "changes.jsonl",
    "office_reports": "reports.jsonl",
}
_ROUTING_COLUMNS = ("f1", "precision", "recall", "map", "recall_at_3", "deliveries_per_item")


def run_all(packs: Path, out: Path) -> None:
    """Run every evaluation on the packs in a directory; write the results and the page."""
    for name, file in PACKS.items():
        source = [packs / name / file]
        print(f"{name} …", file=sys.stderr, flush=True)
        _write(out / f"routing-{name}.json", asyncio.run(routing(load(source, source))))
    print("locomo …", file=sys.stderr, flush=True)
    _write(out / "recall-locomo.json", asyncio.run(recall(packs / "locomo")))
    render(out)


def _write(path: Path, result: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def render(out: Path) -> None:
    """Write the page from the results that are there."""
    lines = [
        "# Quality, measured",
        "",
        "Public, human-labelled packs through the real engine as it ships; baselines and",
        "ablations of the same run. `python -m evals all --packs DIR --out docs/results` makes the",
        "page, the command above a table that table. Ours may lose, and where it does it shows.",
        "",
    ]
    for name, file in PACKS.items():
        path = out / f"routing-{name}.json"
        if path.is_file():
            where = f"DIR/{name}/{file}"
            lines += _routing(json.loads(path.read_text(encoding="utf-8")), where)
    path = out / "recall-locomo.json"
    if path.is_file():
        lines += _recall(json.loads(path.read_text(encoding="utf-8")))
    (out / PAGE).write_text("\n".join(lines), encoding="utf-8")


def _routing(result: Mapping[str, Any], where: str) -> list[str]:
    low, high = result["f1_ci"]
    rows = [
        f"## {result['pack']}: {result['n']} pushed records",
        "",
        f"`python -m evals routing --learn {where} --push {where} --json`; F1 between {low} and"
        f" {high} in 95 of 100 resamplings.",
        "",
        "| | " + " | ".join(_ROUTING_COLUMNS) + " |",
        "|---" * (len(_ROUTING_COLUMNS) + 1) + "|",
        _row("**hyphaedb**", result, _ROUTING_COLUMNS),
    ]
    rows += [_row(n, f, _ROUTING_COLUMNS) for n, f in result["baselines"].items()]
    rows += [_row(f"ablation: {n}", f, _ROUTING_COLUMNS) for n, f in result["ablations"].items()]
    return [*rows, ""]


def _recall(result: Mapping[str, Any]) -> list[str]:
    depths = ("recall_at_5", "recall_at_10", "recall_at_20")
    names = {"**hyphaedb**": result, **result["baselines"]}
    rows = [
        f"## locomo: {result['n']} questions",
        "",
        "`python -m evals recall --data DIR/locomo --json`; all categories but adversarial.",
        "",
        "| | " + " | ".join(depths) + " |",
        "|---" * (len(depths) + 1) + "|",
    ]
    for name, figures in names.items():
        shown = {d: figures[d]["all_but_adversarial"] for d in depths}
        rows.append(_row(name, shown, depths))
    return [*rows, ""]


def _row(name: str, figures: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    return f"| {name} | " + " | ".join(f"{figures[c]:.3f}" for c in columns) + " |"
