"""The words of a text, found once and asked by every detector before it does any work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

Found = tuple[int, int, str]

# Up to so many names, a search for each is faster than one pass over all words.
_FEW = 8
_WORD = re.compile(r"\w+")
# What is no word character in ASCII becomes a space.
_SPACED = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(128)).ljust(256)


class Words(NamedTuple):
    """The distinct words of a text, as written and in lower case."""

    written: frozenset[str]
    lower: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Words:
        """The words of ``text``; a word is a run of letters, digits and underscores of any script."""
        if text.isascii():  # several times faster than looking for each word
            spaced = text.encode().translate(_SPACED).decode()
            return cls(frozenset(spaced.split()), frozenset(spaced.lower().split()))
        written = frozenset(_WORD.findall(text))
        return cls(written, frozenset(map(str.lower, written)))


def whole_words(text: str, word: str) -> list[tuple[int, int]]:
    """Where ``word`` stands in ``text``, not inside a longer word; case counts. Linear in the text."""
    start = text.find(word)
    if start < 0:
        return []
    found = []
    size = len(word)
    last = len(text)
    # A boundary is asked for only where the word itself begins or ends with a letter or digit ("C++", "👍").
    left, right = _is_word(word[0]), _is_word(word[-1])
    while start >= 0:
        end = start + size
        if not (left and start and _is_word(text[start - 1])) and not (
            right and end < last and _is_word(text[end])
        ):
            found.append((start, end))
        start = text.find(word, end)
    return found


def places(text: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Where any of ``names`` stands in ``text`` as `whole_words` has it; linear in the text for any number of names."""
    if len(names) <= _FEW:
        return [place for name in names for place in whole_words(text, name)]
    by_first: dict[str, list[str]] = {}
    found: list[tuple[int, int]] = []
    for name in names:
        first = _WORD.match(name)
        if first is None:
            found += whole_words(text, name)
        else:
            by_first.setdefault(first[0], []).append(name)
    for word in _WORD.finditer(text):
        for name in by_first.get(word[0], ()):
            end = word.start() + len(name)
            if end == word.end() or (
                text.startswith(name, word.start())
                and not (_is_word(name[-1]) and _is_word(text[end : end + 1] or " "))
            ):
                found.append((word.start(), end))
    return found


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def vocabulary(*lines: str) -> frozenset[str]:
    """The words of ``lines``, which are separated by spaces."""
    return frozenset(" ".join(lines).split())
