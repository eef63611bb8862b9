"""Pairs as token ids: rows of one length side by side, so that padding costs little."""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from hyphaedb.providers.wordpiece import bert_uncased

ENTAILS, NEUTRAL, CONTRADICTS, NOT_CONTRADICTION = range(4)
"""The fourth says less than the others: turned round, an entailed or neutral NLI pair has no label
of its own, yet it still does not contradict."""

TOKENS_MAX = 200
_WORD = re.compile(r"[a-z]{4,}")


@dataclass(frozen=True, slots=True)
class Row:
    """A directed pair with its target and where it is from."""

    a: str
    b: str
    target: int
    source: str


def nli_rows(path: Path) -> tuple[list[Row], list[Row]]:
    """(training rows, held-out rows) of train.jsonl; a premise is on one side only.

    SNLI calls two different scenes contradictory. Between statements of a memory they are simply
    unrelated, so its contradictions without one longer word in common are left out.
    """
    named = {"entailment": ENTAILS, "neutral": NEUTRAL, "contradiction": CONTRADICTS}
    learn: list[Row] = []
    held: list[Row] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        row = Row(found["a"], found["b"], named[found["label"]], found["source"])
        if row.source == "snli" and row.target == CONTRADICTS and not _shared(row):
            continue
        (held if zlib.crc32(row.a.encode()) % 12 == 0 else learn).append(row)
    return learn, held


def turned(row: Row) -> Row:
    """The pair the other way round, with what is known about it then."""
    target = CONTRADICTS if row.target == CONTRADICTS else NOT_CONTRADICTION
    return Row(row.b, row.a, target, row.source)


def _shared(row: Row) -> bool:
    return bool(set(_WORD.findall(row.a.lower())) & set(_WORD.findall(row.b.lower())))


def framed(a: str, b: str) -> tuple[list[int], list[int]]:
    """Token ids and which of them are the second statement's; the longer one is cut."""
    tokens = bert_uncased()
    ours, theirs = tokens.ids(a) or [tokens.unknown], tokens.ids(b) or [tokens.unknown]
    while len(ours) + len(theirs) > TOKENS_MAX:
        (ours if len(ours) > len(theirs) else theirs).pop()
    ids = [tokens.start, *ours, tokens.end, *theirs, tokens.end]
    return ids, [0] * (len(ours) + 2) + [1] * (len(theirs) + 1)


def batches(
    rows: Sequence[Row], size: int, chance: random.Random | None
) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor]]:
    """(positions of the rows, ids, second, real) for rows of similar length, in random order."""
    tokenised = [framed(row.a, row.b) for row in rows]
    order = sorted(range(len(rows)), key=lambda n: len(tokenised[n][0]))
    cut = [order[start : start + size] for start in range(0, len(order), size)]
    if chance is not None:
        chance.shuffle(cut)
    for members in cut:
        longest = max(len(tokenised[n][0]) for n in members)
        ids = np.zeros((len(members), longest), np.int64)
        second = np.zeros((len(members), longest), np.float32)
        real = np.zeros((len(members), longest), np.float32)
        for line, member in enumerate(members):
            found, theirs = tokenised[member]
            ids[line, : len(found)], second[line, : len(found)] = found, theirs
            real[line, : len(found)] = 1
        yield members, torch.from_numpy(ids), torch.from_numpy(second), torch.from_numpy(real)
