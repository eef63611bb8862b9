"""Of two long texts, the passages that can be read side by side.

A cell's body may hold 8,000 characters; the judge reads 120 tokens of each. What is cut is the text
that has least to do with the other statement: sentence by sentence, the passage that shares most
words with it stays. A contradiction between two sentences that share no words is then missed.
"""

from __future__ import annotations

import re

from hyphaedb.providers.cues import content, stem
from hyphaedb.providers.wordpiece import bert_uncased

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
SENTENCES_MAX = 400
"""8,000 characters in sentences of twenty."""


def best_passages(first: str, second: str, tokens_max: int) -> tuple[str, str]:
    """Both texts, each cut to consecutive sentences of at most about `tokens_max` tokens. A text
    that fits comes back as it is; a single longer sentence is left for the caller to cut."""
    size = bert_uncased().ids
    long_first, long_second = len(size(first)) > tokens_max, len(size(second)) > tokens_max
    ours = _best(first, second, tokens_max) if long_first else first
    theirs = _best(second, ours, tokens_max) if long_second else second
    return ours, theirs


def _best(text: str, other: str, tokens_max: int) -> str:
    sentences = [s for s in _SENTENCE_END.split(text) if s.strip()][:SENTENCES_MAX]
    wanted = {stem(word) for word in content(other)}
    sizes = [len(bert_uncased().ids(sentence)) for sentence in sentences]
    shared = [len({stem(w) for w in content(s)} & wanted) for s in sentences]
    best, best_score, start = text, -1.0, 0
    # A window that slides over the sentences: each enters and leaves it once.
    size, score = 0, 0.0
    for end, sentence_size in enumerate(sizes):
        size, score = size + sentence_size, score + shared[end]
        while size > tokens_max and start < end:
            size, score = size - sizes[start], score - shared[start]
            start += 1
        if score > best_score:
            best, best_score = " ".join(sentences[start : end + 1]), score
    return best
