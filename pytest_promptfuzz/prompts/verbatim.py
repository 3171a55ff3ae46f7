"""What must be written word for word without standing in quotes: announced answers, columns, attributes, SQL."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.cues import SAY

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.words import Found, Words

# Write exactly: I could not find that.
_EXACTLY = expression(
    r"[evwl](?<!\w.)(?:xactly|erbatim|ord for word|iterally)(?: this| as follows)?:[ \t]*(\S[^\n]{0,400})"
)
_EXACT_WORDS = ("exactly", "verbatim", "word for word", "literally")
_SENTENCE = expression(r".*?[.!?](?=\s|$)|.+", re.DOTALL)
# Then write NO REFUND and stop. The verb is not in capitals, so that a prompt that is all capitals announces nothing.
_ANNOUNCED = expression(
    r"[A-Za-z][a-z]+(?: with| only| just)*[ \t]+(?!(?:JSON|YAML|XML|HTML|CSV|SQL|ASAP|ONLY|NOT|EXACTLY|IN|THE|AS)\b)"
    r"([A-Z][A-Z0-9_]+(?:[ ][A-Z][A-Z0-9_]+){0,4})(?!\w)"
)
# date,meter,kwh
_TIGHT = expression(r",(?=[^\W\d])(?<=\w,)")  # a cheap sign that columns will be found
_COLUMNS = expression(r"(?<![\w,.])[^\W\d]\w*(?:,[^\W\d]\w*){2,}(?![\w,])")
# material="unknown"
_ATTRIBUTE = expression(r"\b[^\W\d][\w:-]{0,60}=\"[^\"\n]{0,200}\"")
_ROW = expression(r"^[^\t\n]+\t[^\n]*\S", re.MULTILINE)
_QUERY = expression(
    r"\bSELECT[ \t]+(?:DISTINCT[ \t]+)?\*(?:[ \t]+FROM[ \t]+[\w.]+)?|\bSELECT[ \t][^\n;]{1,300}?[ \t]FROM[ \t]+[\w.]+"
)


def verbatim_spans(text: str, words: Words) -> list[Found]:
    """The spans of ``text`` that must be kept to the letter, kinds ``quote``, ``label``, ``code`` and ``table``."""
    found: list[Found] = []
    if ":" in text and any(map(text.__contains__, _EXACT_WORDS)):
        for match in _EXACTLY.finditer(text):
            sentence = _SENTENCE.match(match[1])
            if sentence is not None:
                found.append((match.start(1), match.start(1) + sentence.end(), "quote"))
    if words.capitals:
        said = [_ANNOUNCED.match(text, start) for start, word in words.cues if word in SAY]
        found += [(m.start(1), m.end(1), "label") for m in said if m]
    if _TIGHT.search(text):
        found += [(m.start(), m.end(), "label") for m in _COLUMNS.finditer(text)]
    if '="' in text:
        found += [(m.start(), m.end(), "code") for m in _ATTRIBUTE.finditer(text)]
    if "SELECT" in text:
        found += [(m.start(), m.end(), "code") for m in _QUERY.finditer(text)]
    if "\t" in text:
        found += _rows(text)
    return found


def _rows(text: str) -> list[Found]:
    """Two or more lines in a row whose columns are parted by tabs."""
    rows = [match.span() for match in _ROW.finditer(text)]
    follows = [text.count("\n", end, start) == 1 for (_, end), (start, _) in pairwise(rows)]
    return [
        (start, end, "table")
        for (start, end), before, after in zip(rows, [False, *follows], [*follows, False], strict=False)
        if before or after
    ]
