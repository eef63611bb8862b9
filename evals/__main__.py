"""``python -m evals NAME``: one evaluation, one JSON object on standard output."""

from __future__ import annotations

import argparse
from pathlib import Path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True)
    routing = names.add_parser("routing", help="who hears of it, unasked")
    routing.add_argument("--learn", nargs="+", type=Path, required=True, metavar="FILE")
    routing.add_argument("--push", nargs="+", type=Path, required=True, metavar="FILE")
    routing.add_argument("--no-ablations", action="store_true", help="the main figures only")
    routing.add_argument("--json", action="store_true", help="the only form there is")
    recall = names.add_parser("recall", help="does an asked question find its evidence")
    recall.add_argument("--data", type=Path, required=True, metavar="DIR")
    recall.add_argument("--json", action="store_true", help="the only form there is")
    contradiction = names.add_parser("contradiction", help="does the judge tell it from agreement")
    contradiction.add_argument("--pairs", type=Path, required=True, metavar="FILE")
    contradiction.add_argument("--json", action="store_true", help="the only form there is")
    every = names.add_parser("all", help="every pack in turn, results and a page into a folder")
    every.add_argument("--packs", type=Path, required=True, metavar="DIR")
    every.add_argument("--out", type=Path, required=True, metavar="DIR")
    page = names.add_parser("page", help="the page again, from results that are there")
    page.add_argument("--out", type=Path, required=True, metavar="DIR")
    return parser


def main() -> None:
    """Run the evaluation that the command line names."""
    asked = _parser().parse_args()
    if asked.name == "routing":
        from evals.routing import main as routing

        routing(asked.learn, asked.push, not asked.no_ablations)
    elif asked.name == "recall":
        from evals.recall import main as recall

        recall(asked.data)
    elif asked.name == "contradiction":
        from evals.contradiction import main as contradiction

        contradiction(asked.pairs)
    elif asked.name == "all":
        from evals.report import run_all

        run_all(asked.packs, asked.out)
    else:
        from evals.report import render

        render(asked.out)


if __name__ == "__main__":
    main()
