"""Where what is protected in a prompt stands in a translation of it, and what has been lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.spans import protected_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDED = ("number", "date")  # kinds of protected text that hold words, which a translation translates
_WORD_EDGE = expression(r"[0-9A-Za-z_À-ɏ]")
_DIGITS = expression(r"[0-9]+(?:[.,:][0-9]+)*")
_LETTERS = expression(r"[^\W\d_]{2}")
_QUOTES = "\"'“”„‟‘’‚‛«»‹›「」『』"


def located(
    original: str, spans: list[tuple[int, int]], text: str, where: str
) -> list[tuple[int, int, tuple[int, int]]]:
    """Where each protected span stands in a translation: ``(start, end, span)`` in ascending order.

    What a number counts and a month are words, and are translated: of ``20 words`` and ``3 May 2025`` the digits
    must stand there.

    Raises:
        UsageError: One of them does not stand there as often as in the prompt.
    """
    worded = {
        original[start:end]
        for start, end, kind in protected_spans(original)
        if kind in WORDED and _LETTERS.search(original[start:end])
    }
    wanted: dict[str, list[tuple[int, int]]] = {}
    for start, end in spans:
        wanted.setdefault(original[start:end], []).append((start, end))
    taken = bytearray(len(text))
    found: list[tuple[int, int, tuple[int, int]]] = []
    gone: dict[str, str] = {}
    for literal in sorted(wanted, key=lambda each: (-len(each), each)):
        places = wanted[literal]
        at = text.find(literal)
        while at >= 0 and places:
            end = at + len(literal)
            if any(taken[at:end]) or not _alone(text, at, end):
                at = text.find(literal, at + 1)
                continue
            taken[at:end] = b"\1" * len(literal)
            found.append((at, end, places.pop(0)))
            at = text.find(literal, end)
        for at, end in _quoted_otherwise(literal, text) if places else ():
            if places and not any(taken[at:end]):
                taken[at:end] = b"\1" * (end - at)
                found.append((at, end, places.pop(0)))
        lost = [literal] * len(places) if literal not in worded else _DIGITS.findall(literal) * len(places)
        for each in lost:
            starts = [at for at in _starts(each, text) if not taken[at]] if literal in worded else []
            if not starts:
                gone[each] = _instead(each, text)
                continue
            taken[starts[0] : starts[0] + len(each)] = b"\1" * len(each)
    if gone:
        *most, last = map(repr, gone)
        names = f"{', '.join(most)} and {last}: each" if most else f"{last}: it"
        raise UsageError(
            f"{where} has lost {names} must stand there as often and as exactly as in the prompt."
            + "".join(dict.fromkeys(gone.values()))
        )
    return sorted(found)


def _quoted_otherwise(literal: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a quotation stands in the quotation marks of another language."""
    inner = literal[1:-1].strip()
    if inner and literal[0] in _QUOTES and literal[-1] in _QUOTES:
        for match in re.finditer(rf"[{_QUOTES}]\s?{re.escape(inner)}\s?[{_QUOTES}]", text):
            yield match.span()


def _starts(number: str, text: str) -> list[int]:
    """Where a number stands by itself."""
    return [match.start() for match in _DIGITS.finditer(text) if match[0] == number]


def _alone(text: str, start: int, end: int) -> bool:
    """Whether ``[start, end)`` is no part of a longer word or number."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (
        (before and _WORD_EDGE.match(before) and _WORD_EDGE.match(text[start]))
        or (after and _WORD_EDGE.match(after) and _WORD_EDGE.match(text[end - 1]))
    )


def _instead(literal: str, text: str) -> str:
    """A hint where a number stands there in another style, as 1,5 for 1.5."""
    if not _DIGITS.search(literal):
        return ""
    pattern = re.sub(r"\\?[.,'\s]", lambda _: r"[.,'\s]?", re.escape(literal).replace(r"\ ", " "))
    match = re.search(rf"(?<![0-9]){pattern}(?![0-9])", text)
    if match is None or match[0] == literal:
        return ""
    return f" Here it has {match[0]!r} instead; write it as the prompt does, or protect less of it."
