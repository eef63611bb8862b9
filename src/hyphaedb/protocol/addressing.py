"""Whom a question is about, and what is left of it to ask (see `fusion`, point 1)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

# What may stand around a name in a sentence.
_AROUND: Final = "\"'`“”‘’()[]{}<>,.;:!?@"
_POSSESSIVE: Final = ("'s", "’s")
# Words whose bare form is remembered: the names of a mesh and the words of a few questions.
_REMEMBERED: Final = 8_192


@dataclass(frozen=True, slots=True)
class Address:
    """A question taken apart: ``topic`` is the text to embed, ``names`` the agents it is about."""

    topic: str
    names: tuple[str, ...]


def address(question: str, names: Collection[str]) -> Address:
    """Whom a question is about, and what is left to ask.

    A name counts where it stands as whole words, in its own spelling, perhaps with a possessive.
    A name that is one plain lower-case word (``storage``) counts only as ``@storage``: it may as
    well be the topic. A question with no letter or digit left over is its own topic.
    """
    words = question.split()
    bare = [_bare(word) for word in words]
    present = set(bare)
    named: set[int] = set()
    found: list[str] = []
    for name in names:
        parts = [_bare(part) for part in name.split()]
        if not parts or not parts[0] or not present.issuperset(parts):
            continue
        sure = any(c.isupper() or not c.isalpha() for c in name)
        places = [
            i
            for i in range(len(bare) - len(parts) + 1)
            if bare[i : i + len(parts)] == parts and (sure or "@" in words[i])
        ]
        if places:
            found.append(name)
            named.update(i + j for i in places for j in range(len(parts)))
    topic = " ".join(word for i, word in enumerate(words) if i not in named)
    if not found or not any(c.isalnum() for c in topic):
        return Address(question, tuple(found))
    return Address(topic, tuple(found))


@lru_cache(maxsize=_REMEMBERED)
def _bare(word: str) -> str:
    word = word.strip(_AROUND)
    return word[:-2].rstrip(_AROUND) if word.endswith(_POSSESSIVE) else word
