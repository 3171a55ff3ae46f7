"""Operators that write the same number or equation otherwise: 3 and three, 12000 and 12,000, 2+3 and 2 + 3."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.analysis.numerals import (
    MOST,
    limit_before,
    noun_after,
    numbers_in_prose,
    quantities,
    spelled,
)
from pytest_promptfuzz.mutations.engine.edits import Edit, insert, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.text.expressions import capitalised, expression, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.randomness import Rng


_LARGE = expression(
    r"(?P<currency>[$€£])?(?P<number>[1-9]\d{3,8}|[1-9]\d{0,2}(?:,\d{3}){1,2})(?P<cents>\.\d{2})?(?P<unit> [a-z]+)?"
)
_MONEY = words("dollars euros pounds")
_YEARS = range(1800, 2200)


@operator(
    "number-spelling",
    dimension="math",
    severity=0.1,
    preserves="yes",
    languages=("en",),
    touches=("number",),
    sources=("S4",),
    example=("Summarize the article in 3 sentences.", "Summarize the article in three sentences."),
    trusted=True,
    default=False,
)
def number_spelling(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``3 sentences`` becomes ``three sentences`` and the other way (1 to 100; all counts in prose, then some)."""
    places = []
    for group in quantities(draft):
        if any(each.value > MOST for each in group):
            continue
        place = []
        for each in group:
            form = str(each.value) if each.worded else spelled(each.value)
            place.append(replace(each.start, each.end, capitalised(form) if each.opens else form))
        places.append(place)
    for chosen in rng.all_then_some(places):
        yield [edit for place in chosen for edit in place]


@operator(
    "number-grouping",
    dimension="math",
    severity=0.1,
    preserves="yes",
    languages=("en",),
    touches=("number",),
    sources=("S4",),
    example=("The shop has 12000 users in the town.", "The shop has 12,000 users in the town."),
    trusted=True,
    default=False,
)
def number_grouping(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``12000 users`` becomes ``12,000 users`` and the other way (all amounts and counts in prose, then some)."""
    places = []
    for start, end in numbers_in_prose(draft):
        match = _LARGE.fullmatch(draft.text, start, end)
        if match is None or not _is_amount(draft, match):
            continue
        form = match["number"]
        other = form.replace(",", "") if "," in form else f"{int(form):,}"
        places.append(replace(*match.span("number"), other))
    return rng.all_then_some(places)


def _is_amount(draft: Draft, match: re.Match[str]) -> bool:
    """Whether a large number is money or counts something, and is no year."""
    unit = match["unit"]
    if match["currency"] is not None:
        return unit is None
    if limit_before(draft, match.start()) is None or match["cents"] is not None:
        return False
    value = int(match["number"].replace(",", ""))
    if unit is not None and unit.strip() in _MONEY:
        return True
    if value in _YEARS and unit is None and "," not in match["number"]:
        return False
    return noun_after(draft, match.end("number"), unit, value) >= 0


# The same equations written otherwise.


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


# An equation as LaTeX, and with an operation that changes nothing.


_TO_TEX = {"×": r"\times", "*": r"\times", "÷": r"\div", "≤": r"\le", "<=": r"\le", "≥": r"\ge", ">=": r"\ge",
           "≠": r"\ne", "≈": r"\approx", "±": r"\pm", "−": "-", "²": "^2", "³": "^3"}  # fmt: skip
_TEX_SIGN = expression(r"<=|>=|[×*÷≤≥≠≈±−²³]")
_NOT_PLAIN = expression(r"[$\\{}_√π%#&]|\*\*|[A-Za-z]{2,}")
_LEFT_SIDE = expression(r"\A(?P<side>[^=≤≥<>≈!]*[\w)\]}²³])(?=\s*(?:[=≤≥<>≈]))")


@operator(
    "equation-latex",
    dimension="math",
    severity=0.2,
    preserves="conditional",
    touches=("math",),
    sources=("S4",),
    example=("Is 2 × 3 = 6 right?", r"Is $2 \times 3 = 6$ right?"),
    trusted=True,
    default=False,
)
def equation_latex(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Equations in LaTeX: between dollar signs, with its commands (all, then some); not where one is LaTeX already."""
    spans = draft.of_kind("math")
    if "$" in draft.text or _LITERAL.search(draft.free):
        return
    places = [
        replace(start, end, _in_tex(draft.text[start:end]))
        for start, end in spans
        if not _NOT_PLAIN.search(draft.text, start, end) and not _prescribed(draft, start)
    ]
    yield from rng.all_then_some(places)


def _in_tex(equation: str) -> str:
    r"""``2 × 3 <= 6`` as ``$2 \times 3 \le 6$``."""

    def command(match: re.Match[str]) -> str:
        new = _TO_TEX[match[0]]
        spaced = new[0] == "\\" and equation[match.end() : match.end() + 1] not in {"", " "}
        return new + " " * spaced

    return f"${_TEX_SIGN.sub(command, equation)}$"


@operator(
    "neutral-operation",
    dimension="math",
    severity=0.3,
    preserves="conditional",
    touches=("math",),
    sources=("S4",),
    example=("Is 2 + 3 = 5 right?", "Is 2 + 3 + 0 = 5 right?"),
    trusted=True,
    default=False,
)
def neutral_operation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """An operation that changes nothing is added to equations, left of their sign (all, then some): ``+ 0``."""
    if _LITERAL.search(draft.free):
        return
    places: list[tuple[int, str]] = []
    for start, end in draft.of_kind("math"):
        side = _LEFT_SIDE.match(draft.text[start:end].removeprefix("$"))
        if (
            side is not None
            and not _prescribed(draft, start)
            and not _TEX_WITH_TEXT.search(draft.text, start, end)
        ):
            skipped = draft.text.startswith("$", start)
            tight = " " not in draft.text[start:end].strip("$ ")
            places.append((start + skipped + side.end("side"), "+0" if tight else " + 0"))
    for chosen in rng.all_then_some(places):
        yield [insert(at, added) for at, added in chosen]
