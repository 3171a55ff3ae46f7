"""Protected spans: what no operator may touch unless it is built to.

Each family of things to protect has a module of its own that finds ``(start, end, kind)``; here they are brought
together. All detectors are linear in the length of the text, whatever it holds.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.prompts.brackets import json_spans
from pytest_promptfuzz.prompts.delimited import delimited_spans
from pytest_promptfuzz.prompts.equations import equation_spans, symbol_spans
from pytest_promptfuzz.prompts.identifiers import identifier_spans
from pytest_promptfuzz.prompts.labels import label_spans, labels
from pytest_promptfuzz.prompts.logic import logic_words
from pytest_promptfuzz.prompts.numerals import numeral_spans
from pytest_promptfuzz.prompts.shown import shown_spans
from pytest_promptfuzz.prompts.tables import table_spans
from pytest_promptfuzz.prompts.verbatim import verbatim_spans
from pytest_promptfuzz.prompts.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.prompts.messages import Piece
    from pytest_promptfuzz.prompts.words import Found

__all__ = ["Protect", "Span", "detect", "labels", "logic_spans", "merge", "protected_spans"]

Protect = str | re.Pattern[str] | tuple[int, int]


class Span(NamedTuple):
    """The characters ``[start, end)`` of a text, and what they are.

    Kinds: ``slot``, ``tag``, ``placeholder``, ``quote``, ``code``, ``json``, ``math``, ``number``, ``date``,
    ``identifier``, ``url``, ``email``, ``path``, ``label``, ``table``, ``custom`` (protected by hand), ``separator``
    and ``message`` (of chat prompts), ``input`` and ``template`` (of a prompt limited to the other part), ``logic``
    (from `logic_spans` only).
    """

    start: int
    end: int
    kind: str


def protected_spans(text: str, extra: Iterable[Protect] = ()) -> tuple[Span, ...]:
    """The spans of ``text`` that carry its exact meaning: slots, numbers, quotes, code, labels and so on.

    Args:
        text: Any text, in any script.
        extra: More to protect: a literal (every occurrence), a compiled pattern (every match), or ``(start, end)``.

    Returns:
        Spans in ascending order, not overlapping and never empty; overlaps become one span of the longest's kind.

    Raises:
        UsageError: A ``(start, end)`` outside the text, or something that is none of the three.
    """
    words, json = Words(text), json_spans(text)
    found = detect(text, words, json)
    found += label_spans(text, words, json)
    if extra:
        found += custom_spans(text, extra)
    return merge(found)


def chat_spans(text: str, pieces: Iterable[Piece], extra: Iterable[Protect]) -> list[Found]:
    """The spans of a chat's texts, unsorted: what stands between them and those not ours to change included.

    Each text by itself, so that a quote left open in one message does not reach into the next; but a label announced
    in one message is a label in all of them.
    """
    found = custom_spans(text, extra)
    found += label_spans(text, Words(text), json_spans(text))
    position = 0
    for piece in pieces:
        if piece.start > position:
            found.append((position, piece.start, "separator"))
        position = piece.end
        if piece.mutable:
            inner = text[piece.start : piece.end]
            found += [
                (s + piece.start, e + piece.start, kind)
                for s, e, kind in detect(inner, Words(inner), json_spans(inner))
            ]
        elif piece.end > piece.start:
            found.append((piece.start, piece.end, "message"))
    return found


def detect(text: str, words: Words, json: list[Found]) -> list[Found]:
    """Everything the detectors find in ``text`` but labels, unsorted and overlapping.

    Args:
        text: Any text.
        words: Its words.
        json: The JSON in it.
    """
    found = delimited_spans(text)
    found += json
    found += numeral_spans(text, words)
    found += identifier_spans(text, words)
    found += equation_spans(text)
    found += table_spans(text)
    found += verbatim_spans(text, words)
    found += shown_spans(text)
    found += symbol_spans(text, found)
    return found


def custom_spans(text: str, extra: Iterable[Protect]) -> list[Found]:
    """What is protected by hand; see `protected_spans`."""
    found: list[Found] = []
    for each in extra:
        if isinstance(each, str):
            if not each:
                raise UsageError("protect: an empty text protects nothing; give the words to keep.")
            start = text.find(each)
            while start >= 0:
                found.append((start, start + len(each), "custom"))
                start = text.find(each, start + len(each))
        elif isinstance(each, re.Pattern):
            found += [(m.start(), m.end(), "custom") for m in each.finditer(text) if m.end() > m.start()]
        elif isinstance(each, tuple) and len(each) == 2 and all(type(n) is int for n in each):
            if not 0 <= each[0] < each[1] <= len(text):
                raise UsageError(
                    f"protect: the span {each!r} is not inside the text of {len(text)} characters; "
                    "give (start, end) with 0 <= start < end <= length."
                )
            found.append((*each, "custom"))
        else:
            raise UsageError(
                f"protect: {each!r} is a {type(each).__name__}; give a str, a compiled re.Pattern of str, "
                "or a tuple (start, end) of two int."
            )
    return found


def merge(found: list[Found]) -> tuple[Span, ...]:
    """Sort, and join what overlaps into one span that has the kind of its longest part, or ``custom`` if a part is."""
    if not found:
        return ()
    # Stable, so that of two equal spans the first detector's kind stays.
    found.sort(key=itemgetter(0))
    spans: list[Span] = []
    start, end, kind = found[0]
    longest = end - start
    for s, e, k in found:
        if s >= end:
            spans.append(Span(start, end, kind))
            start, end, kind, longest = s, e, k, e - s
            continue
        # An operator that is built to change code or numbers still leaves alone what is protected by hand.
        if (e - s > longest or k == "custom") and kind != "custom":
            longest, kind = e - s, k
        end = max(end, e)
    spans.append(Span(start, end, kind))
    return tuple(spans)


def logic_spans(text: str) -> tuple[Span, ...]:
    """Negations and logical words (``not``, ``only``, ``unless``, ``or``, ``before``, ``must`` …), kind ``logic``.

    They are not protected; an operator asks for them and decides. English, with the commonest negations of
    German, French, Spanish, Italian, Portuguese and Dutch, and contractions with ``n't``.
    """
    return tuple(Span(start, end, "logic") for start, end in logic_words(text))
