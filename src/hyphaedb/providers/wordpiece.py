"""WordPiece for the uncased English BERT vocabulary, in plain Python.

The rules are those of the "uncased" BERT models: drop control characters, set CJK characters
apart, decompose and drop accents, lower the case, split at white space and punctuation, then
take the longest vocabulary entry that starts the rest of each word.

Departures, and what they cost:

* A text that spells out a control token ("[SEP]") is text. The reference tokeniser would let it
  steer the model; here it becomes brackets and letters, so what an agent wrote cannot.
* Characters are decomposed one by one, so combining marks are not put into canonical order. Marks
  that do not take up space are dropped anyway; musical and Hangul tone marks could come out in
  another order, and all of them are unknown to the vocabulary.
* Character classes are those of the running Python (3.11: Unicode 14). The reference tokeniser's
  tables are older: of all code points some 500 rare ones differ, new punctuation and new marks of
  scripts that the vocabulary does not hold.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Mapping
from importlib import resources
from typing import Final

WORD_CHARS_MAX: Final = 100
"""A longer word is one unknown token. The limit is BERT's; it also bounds the matching below."""

CACHED_WORDS_MAX: Final = 65_536
"""Words whose pieces are remembered. English prose repeats itself: 65,536 words cover nearly all
of it and hold the cache near 10 MB."""

# The blocks that BERT writes without spaces. Hangul and kana are left alone on purpose: Korean and
# Japanese in kana were trained as words.
_CJK_BLOCKS: Final = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def _is_punctuation(char: str) -> bool:
    code = ord(char)
    # BERT counts every printable ASCII sign as punctuation, also the ones Unicode calls symbols.
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(char).startswith("P")


def _rewrite(char: str) -> str:
    """What one character of the input becomes before the text is split at spaces."""
    if char in "\t\n\r":
        return " "
    category = unicodedata.category(char)
    # Code points this Python does not know yet ("Cn", say a new emoji) stay: dropping them would
    # glue the words beside them together, and would do so on old Pythons only.
    if char == "\ufffd" or (category.startswith("C") and category != "Cn"):
        return ""
    if category.startswith("Z"):
        return " "
    code = ord(char)
    plain = "".join(
        part.lower()
        for part in unicodedata.normalize("NFD", char)
        if unicodedata.category(part) != "Mn"
    )
    split = "".join(f" {part} " if _is_punctuation(part) else part for part in plain)
    return f" {split} " if any(low <= code <= high for low, high in _CJK_BLOCKS) else split


class _Rewritten(dict[int, str]):
    """A translation table that fills itself; Unicode bounds it, a language fills a few hundred."""

    def __missing__(self, code: int) -> str:
        rewritten = self[code] = _rewrite(chr(code))
        return rewritten


class WordPiece:
    """Turns text into token ids. Safe to share between threads; results depend on nothing else.

    The ids carry no [CLS] or [SEP]: the caller frames them, because only it knows the window.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        """`vocabulary` maps a piece to its id and must hold [UNK], [CLS], [SEP] and [PAD]."""
        self._vocabulary = vocabulary
        self.unknown: Final = vocabulary["[UNK]"]
        self.start: Final = vocabulary["[CLS]"]
        self.end: Final = vocabulary["[SEP]"]
        self.padding: Final = vocabulary["[PAD]"]
        self._table = _Rewritten()
        self._pieces = functools.lru_cache(maxsize=CACHED_WORDS_MAX)(self._split_word)

    def ids(self, text: str) -> list[int]:
        """Token ids of the whole text, uncut. Empty for a text of spaces and control characters."""
        found: list[int] = []
        for word in text.translate(self._table).split():
            found.extend(self._pieces(word))
        return found

    def _split_word(self, word: str) -> tuple[int, ...]:
        if len(word) > WORD_CHARS_MAX:
            return (self.unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            piece, start = self._longest_piece(word, start)
            if piece is None:
                return (self.unknown,)
            pieces.append(piece)
        return tuple(pieces)

    def _longest_piece(self, word: str, start: int) -> tuple[int | None, int]:
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            piece = self._vocabulary.get(prefix + word[start:end])
            if piece is not None:
                return piece, end
        return None, start


@functools.cache
def bert_uncased() -> WordPiece:
    """The tokeniser over the vocabulary that ships with this package (30,522 pieces)."""
    source = resources.files("hyphaedb.providers").joinpath("data/vocab.txt")
    lines = source.read_text(encoding="utf-8").split("\n")
    # One piece a line, and the line number is its id; the file ends with a line break.
    return WordPiece({piece: number for number, piece in enumerate(lines) if piece})
