"""The words of a prompt, found once for all detectors of protected text; negations; JSON inside prose."""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from pytest_promptfuzz.data.tables import entries, when_used, words_in
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Collection


def vocabulary(*lines: str) -> frozenset[str]:
    """The words of ``lines``, which are separated by spaces."""
    return frozenset(" ".join(lines).split())


def _kinds(name: str) -> dict[str, str]:
    """What kind each word of a table is."""
    return when_used(lambda: dict(entries(name, lambda kind, word: (word, kind))))


CUES = _kinds("prompts/cues.tsv")
"""Words with which a cue begins, in lower case. After ``of`` words another has to follow, and then they ``pick``."""

MARKS = _kinds("prompts/marks.tsv")
"""Signs and words after which an enumeration may begin where a cue announces one; after ``one``, another follows."""

SIGNS = (":", "：", "(", "[", "=")
"""Those of the marks that are no words."""

MONTHS = words_in("prompts/months.txt")
COUNTS = words_in("prompts/counts.txt")
CONDITIONS = frozenset({"if", "when", "unless"})
SAY = vocabulary("write answer reply respond return say state output print put")
"""What comes before an answer that is to be given to the letter."""


@cache
def known_words() -> frozenset[str]:
    """Every word that a detector looks for."""
    return frozenset({*CUES, *MARKS, *MONTHS, *COUNTS, *CONDITIONS, *SAY})


# The words of a text, found once and asked by every detector before it does any work.


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
        known = known_words()
        if text.isascii():  # several times faster than looking for each word
            spaced = text.encode().translate(_SPACED).decode()
            self.forms = spaced.split(" ")
            lower = spaced.lower().split(" ")
            before = list(accumulate(map(len, self.forms), initial=0))  # without the spaces, one after each
            self.cues = [(before[index] + index, word) for index, word in enumerate(lower) if word in known]
            self.cased = {form for form, low in zip(self.forms, lower, strict=True) if form != low}
        else:
            pieces = _PARTED.split(text)
            self.forms = pieces[1::2]
            lower = [form.lower() for form in self.forms]
            ends = list(accumulate(map(len, pieces)))
            self.cues = [(ends[2 * index], word) for index, word in enumerate(lower) if word in known]
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


# Negations and logical words: the small words that turn an instruction round when they are lost.


_LOGIC = words_in("prompts/logic.txt")
_LOGIC_WORD = expression(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CJK = expression(
    r"不要|不得|不能|不可|没有|沒有|禁止|除非|只能|之前|之后|之後|しない|せず|ないで|のみ|だけ|以外"
)


def logic_words(text: str) -> list[tuple[int, int]]:
    """Where negations and logical words stand in ``text``, in ascending order."""
    found: list[tuple[int, int]] = []
    for match in _LOGIC_WORD.finditer(text):
        word = match[0].lower()
        if word in _LOGIC or (len(word) > 3 and word[-3:] in {"n't", "n’t"}):
            found.append(match.span())
    if not text.isascii():
        known = [match.span() for match in _CJK.finditer(text)]
        if known:
            found = sorted({*found, *known})
    return found


# JSON objects and arrays inside prose, nested to any depth.


# An opening bracket that looks like JSON: `{"key"`, `{key: `, `{{"key"` (escaped for str.format), `[1`, `["a"`, `[{`.
_LIKELY = expression(
    r"""\{\s{0,80}(?:\{?\s{0,80}["'][^"'\n]{0,200}["']\s{0,8}:|\w{1,60}\s{0,4}:\s|\{?\s{0,8}\n)"""
    r"""|\[\s{0,80}(?:["'{\[]|-?\d|true\b|false\b|null\b)"""
)
# A string is skipped whole, so that a bracket in it does not count; an escape outside a string is skipped as well.
_INSIDE = expression(r'\\.|"(?:[^"\\\n]|\\.){0,2000}"|[{}\[\]]', re.DOTALL)
_OPENER = expression(r"[{\[]")
_CLOSES = {"}": "{", "]": "["}


def json_spans(text: str) -> list[Found]:
    """The outermost JSON-like objects and arrays of ``text`` whose brackets balance."""
    if "{" not in text and "[" not in text:
        return []
    first = _LIKELY.search(text)
    if first is None:
        return []
    found: list[Found] = []
    stack: list[tuple[str, int]] = []
    waiting = {"{": 0, "[": 0}
    position = first.start()
    # One pass with a stack: strings are looked for only inside brackets, where a quote is surely one of JSON's.
    while (token := (_INSIDE if stack else _OPENER).search(text, position)) is not None:
        position = token.end()
        character = token[0]
        if character in waiting:
            stack.append((character, token.start()))
            waiting[character] += 1
        elif character in _CLOSES and waiting[_CLOSES[character]]:
            while True:
                opener, start = stack.pop()
                waiting[opener] -= 1
                if opener == _CLOSES[character]:
                    break
            if _LIKELY.match(text, start):
                while found and found[-1][0] > start:
                    found.pop()
                found.append((start, position, "json"))
    return found
