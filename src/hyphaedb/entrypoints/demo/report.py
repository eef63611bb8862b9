"""The demo as one JSON object: the same story with nothing left out.

Waves and recalls are the model's own types, so they have the shapes that ``trace --json`` and
``recall --json`` print.
"""

from __future__ import annotations

from typing import Any

from hyphaedb.entrypoints.demo.sample import Sample
from hyphaedb.entrypoints.demo.story import Asked, Figures, Heard, broadcast, measure


def whole(
    sample: Sample, mesh: str, heard: Heard, commands: list[tuple[str, str]]
) -> dict[str, Any]:
    """Everything the demo shows, ready to be written as JSON."""
    return {
        "mesh": mesh,
        "sample": {
            "source": sample.source,
            "credit": sample.credit,
            "licence": sample.licence,
            "earlier": len(sample.earlier),
            "later": len(sample.later),
        },
        "learnt": heard.learnt,
        "pushed": [
            {
                "id": one.proposal.number,
                "title": one.proposal.title,
                "named": one.proposal.sigs,
                "received": one.receivers,
                "trace": one.trace,
            }
            for one in heard.pushed
        ],
        "recall": _recall(heard.asked),
        "figures": {
            "this_run": _figures(measure(heard.pushed)),
            "broadcast": _figures(broadcast(heard.pushed, len(sample.sigs))),
        },
        "next": [{"what": what, "command": command} for what, command in commands],
    }


def _recall(asked: Asked | None) -> dict[str, Any] | None:
    if asked is None:
        return None
    return {"agent": asked.agent, "question": asked.question, "answer": asked.answer}


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "precision": figures.precision,
        "recall": figures.recall,
        "f1": figures.f1,
        "delivered": figures.delivered,
        "wanted": figures.wanted,
        "right": figures.right,
    }
