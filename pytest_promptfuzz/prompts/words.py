"""The words of a text, found once and asked by every detector before it does any work."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Container

Found = tuple[int, int, str]

# Up to so many names, a search for each is faster than one pass over all words.
_FEW = 8
_WORD = re.compile(r"\w+")
_PARTED = re.compile(r"(\w+)")
# What is no word character in ASCII becomes a space.
_SPACED = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(128)).ljust(256)


class Words:
    """The words of a text, in order: runs of letters, digits and underscores of any script.

    Attributes:
        forms: As written; the empty ones among them are none.
        lower: Each of ``forms`` in lower case.
        known: The distinct ones in lower case.
        cased: The distinct ones, as written, that hold a capital.
    """

    __slots__ = ("_pieces", "cased", "forms", "known", "lower")

    def __init__(self, text: str) -> None:
        if text.isascii():  # several times faster than looking for each word
            spaced = text.encode().translate(_SPACED).decode()
            self.forms = spaced.split(" ")
            self.lower = spaced.lower().split(" ")
            self._pieces: list[str] | None = None
            self.cased = {form for form, low in zip(self.forms, self.lower, strict=True) if form != low}
        else:
            self._pieces = _PARTED.split(text)
            self.forms = self._pieces[1::2]
            self.lower = [form.lower() for form in self.forms]
            # A capital may have no lower case.
            self.cased = {
                form
                for form, low in zip(self.forms, self.lower, strict=True)
                if form != low or form.isupper()
            }
        self.known = frozenset(self.lower)

    def at(self, vocabulary: Container[str]) -> list[tuple[int, str]]:
        """Where words stand that ``vocabulary`` holds in lower case: ``(start, word in lower case)``, ascending."""
        if self._pieces is None:
            before = list(accumulate(map(len, self.forms), initial=0))  # without the spaces, one after each
            return [
                (before[number] + number, word)
                for number, word in enumerate(self.lower)
                if word in vocabulary
            ]
        ends = list(accumulate(map(len, self._pieces)))
        return [(ends[2 * number], word) for number, word in enumerate(self.lower) if word in vocabulary]

    def capitals(self) -> set[str]:
        """The distinct words without a small letter that hold a capital."""
        return {form for form in self.cased if form.isupper()}


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
