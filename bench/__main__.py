"""``python -m bench NAME [--json]``: one bench, or all, on 10,000 and 100,000 cells.

With ``--json`` the result goes to standard output as one object. Without, it is written to
docs/results/bench-NAME.json and told in a line a size.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
from pathlib import Path
from typing import Any

NAMES = ("wave", "store", "recall", "mirror")
SIZES = (10_000, 100_000)
RESULTS = Path(__file__).parent.parent / "docs" / "results"
#: One thread: several would spin for each other on small products and blur every CPU figure.
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", choices=(*NAMES, "all"))
    parser.add_argument("--json", action="store_true", help="print the result and keep nothing")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), metavar="CELLS")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("BENCH_DATA"),
        metavar="DIR",
        help="folder of public packs with real texts; without it the demo's proposals are used",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=os.environ.get("BENCH_CACHE"),
        metavar="DIR",
        help="where vectors and filled meshes are kept; the user's cache directory if left out",
    )
    return parser


async def _measure(name: str, sizes: list[int], cache: Path, corpus: Any) -> dict[str, Any]:
    from bench import machine, place

    bench = importlib.import_module(f"bench.{name}")
    result: dict[str, Any] = {"bench": name, "command": f"python -m bench {name} --json"}
    result["sizes"], result["data"] = {}, {}
    for size in sizes:
        async with place.opened(cache, corpus, size) as here:
            result.setdefault("machine", machine.describe(here.database))
            result["data"][str(size)] = corpus.describe(size)
            result["sizes"][str(size)] = await bench.run(here)
    return result


def main() -> None:
    """Run what the command line names."""
    asked = _parser().parse_args()
    for variable in _ONE_THREAD:
        os.environ[variable] = "1"  # before numpy is imported, or it is too late
    import platformdirs

    from bench import corpus, report
    from hyphaedb.sync import runner

    cache = asked.cache or platformdirs.user_cache_path("hyphaedb") / "bench"
    made = corpus.load(cache, asked.data, max(asked.sizes))
    for name in NAMES if asked.name == "all" else (asked.name,):
        with runner() as loop:
            result = loop.run(_measure(name, asked.sizes, cache, made))
        text = json.dumps(result, indent=2)
        if asked.json:
            print(text)
            continue
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"bench-{name}.json").write_text(text + "\n", encoding="utf-8")
        for line in importlib.import_module(f"bench.{name}").summary(result):
            print(f"{name}: {line}", flush=True)
    if not asked.json:
        report.write(RESULTS)


if __name__ == "__main__":
    main()
