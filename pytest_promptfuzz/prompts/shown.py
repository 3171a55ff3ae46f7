"""Answers that a prompt shows: those of its examples, patterns of the answer, headings that the answer must have.

A model copies what it is shown, so ``A: Mercury`` is no prose although no quotation marks say so. What is found is
short: an example's long answer is a text like others.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.cues import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_promptfuzz.prompts.words import Found

_MOST_WORDS = 10
_MOST = 80  # characters of an answer
_FEWEST_COLONS = 3  # one example, and the place of the answer: "Q: … A: … A:"
_FIELD = expression(
    r"[ \t]{0,8}(?:[-*•] )?(?:\*\*|__)?(?P<label>[^\W\d_][\w '’/-]{0,30}?)(?:\*\*|__)?[ ]?[:：](?:\*\*|__)?[ \t]*"
    r"(?P<value>[^\n]*)"
)
# What an example's answer is called where the prompt does not end with it.
_ANSWER = vocabulary(
    "a answer output response reply assistant ai bot result label category class sentiment intent target prediction",
    "antwort ausgabe ergebnis kategorie réponse sortie résultat catégorie respuesta salida resultado categoría",
    "risposta uscita risultato categoria resposta saída antwoord uitvoer resultaat categorie",
)
_ARROW = expression(r"[^\n]*\S[ \t]*(?:->|=>|→)[ \t]*(?P<value>[^\n]*)")
_ARROWS = ("->", "=>", "→")
_MOST_AFTER_ARROW = 3  # words; more may be a rule: "no answer -> ask for the number"
_LINE_OF_COLON = expression(r"[:：][*_ \t]*\n")
# The last words of a line that announces what an answer looks like; headings may be named anywhere in it.
_ANNOUNCED = expression(
    r"(?<!\w)(?:like this|(?:as|like) (?:follows|in this example)|this (?:way|pattern)|formats?|examples?|outputs?"
    r"|for instance|e\.g\.|exactly so|outline|headings|sections|template|structure"
    r"|so|wie folgt|beispiele?|format|muster|überschriften|abschnitte[n]?|gliederung"
    r"|ainsi|comme suit|exemples?|suivante?s?|titres|así|(?:por )?ejemplo|formato|apartados|encabezados|secciones"
    r"|così|(?:ad |per )?esempio|come segue|titoli|sezioni|assim|(?:por )?exemplo|títulos|seções"
    r"|als volgt|(?:bij)?voorbeeld|zo|koppen|kopjes)"
    r"(?: exactly| only| genau)?(?:\*\*)?[ ]?[:：]\Z",
    re.IGNORECASE,
)
_NAMES_HEADINGS = expression(
    r"(?<!\w)(?:outline|headings?|sections?|überschrift(?:en)?|abschnitte?n?|titres?|encabezados?|apartados|secciones"
    r"|titoli|sezioni|títulos?|seções|koppen|kopjes)(?!\w)",
    re.IGNORECASE,
)
_LEAD = 120  # characters at its end that are read
_HEADING = expression(r"#{1,6}[ \t]+\S[^\n]*")
_VALUE = expression(r"[^\n:：;|]{1,40}[:：][ \t]*[^\s;|]+(?:[ ][^\s;|]+){0,2}|[^\n;|]+(?:[;|][^\n;|]+)+")
_BULLET = expression(r"[ \t]*(?:[-*•–+]|\(?(?:\d{1,2}|[a-zA-Z])[.)])[ \t]")
_PROSE_END = (".", "!", "?", ":", "。", "：")
_FILLED_IN = expression(r"[{}<>\[\]$%]")  # a slot in a pattern is a slot


class _Field(NamedTuple):
    label: str
    start: int
    end: int


def shown_spans(text: str) -> list[Found]:
    """The answers, patterns and headings that ``text`` shows, kind ``label``."""
    found: list[tuple[int, int]] = []
    if "\n" not in text:
        return []
    if _LINE_OF_COLON.search(text):
        found += _announced(text)
    if text.count(":") + text.count("：") >= _FEWEST_COLONS:
        found += _answers(text)
    if any(arrow in text for arrow in _ARROWS):
        found += _after_arrows(text)
    return [(start, end, "label") for start, end in found]


def _lines(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _short(text: str, start: int, end: int, most: int = _MOST_WORDS) -> tuple[int, int] | None:
    """The span without space at its ends, if an answer that short stands there."""
    inner = text[start:end]
    stripped = inner.strip()
    if not stripped or len(stripped) > _MOST or len(stripped.split()) > most or _FILLED_IN.search(stripped):
        return None
    start += len(inner) - len(inner.lstrip())
    return start, start + len(stripped)


def _answers(text: str) -> Iterator[tuple[int, int]]:
    """The values of the field that answers in examples: each follows another field, and it comes again."""
    fields: list[_Field] = []
    for start, end in _lines(text):
        match = _FIELD.match(text, start, end)
        if match is not None:
            fields.append(_Field(match["label"].lower(), match.start("value"), match.end("value")))
    pairs = [(before.label, after) for before, after in pairwise(fields) if before.label != after.label]
    counts: dict[tuple[str, str], int] = {}
    for before, after in pairs:
        counts[before, after.label] = counts.get((before, after.label), 0) + 1
    last = fields[-1] if fields else None
    asked = last.label if last is not None and not text[last.start :].strip() else ""
    for before, after in pairs:
        if counts[before, after.label] > 1 and (after.label == asked or after.label in _ANSWER):
            span = _short(text, after.start, after.end)
            if span is not None:
                yield span


def _after_arrows(text: str) -> Iterable[tuple[int, int]]:
    """What stands behind the arrows of two or more lines."""
    found = []
    for start, end in _lines(text):
        match = _ARROW.match(text, start, end)
        span = _short(text, *match.span("value"), _MOST_AFTER_ARROW) if match is not None else None
        if span is not None:
            found.append(span)
    return found if len(found) > 1 else ()


def _announced(text: str) -> Iterator[tuple[int, int]]:
    """The lines under one that announces a form: headings with nothing under them, and lines of values."""
    until = 0
    for start, end in _lines(text):
        lead = text[max(start, end - _LEAD) : end].rstrip("*_ \t")
        if start < until or not lead.endswith((":", "：")):
            continue
        values = _ANNOUNCED.search(lead) is not None
        if values or _NAMES_HEADINGS.search(lead):
            for first, last in _form_below(text, end + 1, values=values):
                until = last
                yield first, last


def _form_below(text: str, position: int, *, values: bool) -> Iterator[tuple[int, int]]:
    """Headings, with blank lines between them or without, or (where they are announced) values up to a blank line."""
    blanks = 0
    headings: bool | None = None
    for start, end in _lines(text, position):
        if not text[start:end].strip():
            blanks += 1
            if blanks > 1 or headings is False:
                return
            continue
        blanks = 0
        heading = _HEADING.match(text, start, end) is not None
        if headings is (not heading) or not (heading or (values and _is_value(text, start, end))):
            return
        headings = heading
        span = _short(text, start, end)
        if span is not None:
            yield span


def _is_value(text: str, start: int, end: int) -> bool:
    return (
        _BULLET.match(text, start, end) is None
        and not text.endswith(_PROSE_END, start, end)
        and _VALUE.fullmatch(text, start, end) is not None
    )
