"""The words of a text, found once and asked by every detector before it does any work."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.cues import KNOWN

if TYPE_CHECKING:
    from collections.abc import Collection

Found = tuple[int, int, str]

# Up to so many names, a search for each is faster than one pass over all words.
_FEW = 8
_WORD = expression(r"\w+")
_PARTED = expression(r"(\w+)")
# What is no word character in ASCII becomes a space.
_SPACED = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(128)).ljust(256)


class Words:
    """The words of a text, in order: runs of letters, digits and underscores of any script.

    Attributes:
        forms: As written; the empty ones among them are none.
        cased: The distinct ones, as written, that hold a capital.
        capitals: Those of them that hold no small letter.
        cues: Where words stand that a detector looks for: ``(start, word in lower case)``, ascending.
    """

    __slots__ = ("capitals", "cased", "cues", "forms")

    def __init__(self, text: str) -> None:
        if text.isascii():  # several times faster than looking for each word
            spaced = text.encode().translate(_SPACED).decode()
            self.forms = spaced.split(" ")
            lower = spaced.lower().split(" ")
            before = list(accumulate(map(len, self.forms), initial=0))  # without the spaces, one after each
            self.cues = [(before[index] + index, word) for index, word in enumerate(lower) if word in KNOWN]
            self.cased = {form for form, low in zip(self.forms, lower, strict=True) if form != low}
        else:
            pieces = _PARTED.split(text)
            self.forms = pieces[1::2]
            lower = [form.lower() for form in self.forms]
            ends = list(accumulate(map(len, pieces)))
            self.cues = [(ends[2 * index], word) for index, word in enumerate(lower) if word in KNOWN]
            # A capital may have no lower case.
            self.cased = {
                form for form, low in zip(self.forms, lower, strict=True) if form != low or form.isupper()
            }
        self.capitals = {form for form in self.cased if form.isupper()}


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
