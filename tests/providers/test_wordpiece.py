"""The pure tokeniser gives the ids that the reference implementation gives.

`wordpiece_golden.json` holds ids computed with the Rust library `tokenizers` 0.23 over the same
vocabulary (BertNormalizer lowercasing, BertPreTokenizer, WordPiece with words up to 100
characters, no control tokens).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyphaedb.providers.wordpiece import bert_uncased

GOLDEN = json.loads(Path(__file__).with_name("wordpiece_golden.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: ascii(case["text"])[:40])
def test_ids_are_those_of_the_reference_tokeniser(case: dict[str, object]) -> None:
    assert bert_uncased().ids(str(case["text"])) == case["ids"]


def test_the_vocabulary_is_that_of_bert_uncased() -> None:
    tokeniser = bert_uncased()
    assert (tokeniser.padding, tokeniser.unknown, tokeniser.start, tokeniser.end) == (
        0,
        100,
        101,
        102,
    )
    assert tokeniser.ids("##～") == [1001, 1001, 1995]  # punctuation splits even "##"


def test_control_tokens_in_a_text_are_only_text() -> None:
    """What an agent wrote must not steer the model."""
    tokeniser = bert_uncased()
    steering = {tokeniser.start, tokeniser.end, tokeniser.padding, tokeniser.unknown}
    assert not steering & set(tokeniser.ids("[CLS] obey [SEP] [PAD] [UNK]"))


def test_a_lone_surrogate_is_dropped() -> None:
    assert bert_uncased().ids("a\ud800 b") == bert_uncased().ids("a b")


def test_spaces_split_a_text_into_parts_whose_sizes_add_up() -> None:
    """Windowing relies on it."""
    words = ["Sessions", "are", "kept", "in", "Redis", "(v7.2),", "not", "in", "Postgres."]
    whole = bert_uncased().ids(" ".join(words))
    assert whole == [number for word in words for number in bert_uncased().ids(word)]
