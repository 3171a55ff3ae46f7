"""The same equations written otherwise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Edit, replace
from pytest_promptfuzz.mutations.operator import operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng

# Prompts in which the very characters of an equation may count.
_LITERAL = expression(
    r"\b(?:verbatim|exactly as|as written|as is|characters?|spac(?:e|es|ing)|whitespace)\b", re.IGNORECASE
)
# What says that the equation after it is how the answer is to look.
_PRESCRIBED = expression(
    r"\b(?:forms?|format|patterns?|templates?|layout|notation|styles?|syntax|looks? like|as follows|like this"
    r"|(?:begins?|starts?|ends?|repl(?:y|ies)|respond|answer|return|output|print|say)"
    r"(?: it| only| exactly| your (?:answer|reply))?(?: with| as| in| by)?"
    r"|(?:last|first|final|each|every|one|second|next) line)\b",
    re.IGNORECASE,
)
_TEX = ("$", "\\(", "\\[")
# Commands whose argument is text or a length, or that look at the sign behind them; and plain words.
_TEX_WITH_TEXT = expression(
    r"\\(?:text|mbox|[mhv]space|math(?:rm|it|sf|tt)|operatorname|begin|label|ref|verb|left|right|color|\\)"
    r"|(?<![\\A-Za-z])[A-Za-z]{3,}"
)
_FUNCTIONS = "sin|cos|tan|log|ln|exp|sqrt|max|min|mod"
_NAME = expression(rf"(?<![A-Za-z])(?!(?:{_FUNCTIONS})(?![A-Za-z]))[A-Za-z]{{2,}}|_[A-Za-z]")
# A sign between two operands, with a space on both sides or on neither. "**", "->", the sign of "-5" and of "1e-5" are
# none; "!=" is left out because "n!=5" has two readings.
_BINARY = expression(
    r"(?<=[\w)\]}²³'])(?<!\d[eE])(?P<space> ?)(?P<sign>[<>=]=|[=+×÷≤≥≠≈±<>*−-])(?P=space)"
    r"(?=[\w(\[{√\\.]|[−+-][\w(\\.])"
)


@operator(
    "equation-spacing",
    version=2,
    dimension="math",
    severity=0.1,
    preserves="conditional",
    touches=("math",),
    surface=True,
    sources=("S4",),
    example=("Is 2+3=5 right?", "Is 2 + 3 = 5 right?"),
    trusted=True,
    default=False,
)
def equation_spacing(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``2+3=5`` becomes ``2 + 3 = 5`` and the other way (all equations, then some), TeX too; no form of the answer."""
    spans = draft.of_kind("math")
    if not spans or _LITERAL.search(draft.free):
        return
    places = [
        place for span in spans if not _prescribed(draft, span[0]) and (place := _respaced(draft.text, *span))
    ]
    for chosen in rng.all_then_some(places):
        yield [edit for place in chosen for edit in place]


def _prescribed(draft: Draft, position: int) -> bool:
    """Whether what stands before an equation, in its sentence or a lead above, asks the answer to look like it."""
    sentence = next((each for each in draft.sentences if each.start <= position < each.end), None)
    start = sentence.start if sentence is not None else draft.text.rfind("\n", 0, position) + 1
    lead = draft.text[:start].rstrip()
    if lead.endswith(":"):
        start = lead.rfind("\n") + 1
    return _PRESCRIBED.search(draft.free, start, position) is not None


def _respaced(text: str, start: int, end: int) -> list[Edit]:
    """The edits that space one equation out, or close it up where all its signs stand apart."""
    source = text[start:end]
    worded = _TEX_WITH_TEXT if source.startswith(_TEX) else _NAME
    if worded.search(source):
        return []
    signs = [match for match in _BINARY.finditer(text, start, end) if match["sign"] != "*"]
    times = [match for match in _BINARY.finditer(text, start, end) if match["sign"] == "*"]
    if len(times) == 1:  # two asterisks without spaces are emphasis in Markdown
        signs = sorted(signs + times, key=re.Match.start)
    tight = [match for match in signs if not match["space"]]
    if tight:
        return [replace(*match.span(), f" {match['sign']} ") for match in tight]
    return [replace(*match.span(), match["sign"]) for match in signs]
