"""The mean of trained weights: between two runs from one start it is better than either.

python -m training.average --models one.pt@0.4 two.pt@0.6 --out judge.pt
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch


def main() -> None:
    """Average from the command line; the shares must add up to 1."""
    parser = argparse.ArgumentParser(prog="python -m training.average")
    parser.add_argument("--models", nargs="+", required=True, metavar="FILE@SHARE")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    named = [model.rsplit("@", 1) for model in asked.models]
    shares = [float(share) for _, share in named]
    if abs(sum(shares) - 1) > 1e-6:
        raise SystemExit(f"The shares add up to {sum(shares)}; they must add up to 1.")
    states = [torch.load(Path(path)) for path, _ in named]
    torch.save(
        {
            name: sum(share * state[name] for share, state in zip(shares, states, strict=True))
            for name in states[0]
        },
        asked.out,
    )


if __name__ == "__main__":
    main()
