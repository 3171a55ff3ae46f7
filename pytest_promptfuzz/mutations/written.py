"""What a prompt wants back letter by letter, although nothing marks it: templates, labels, names of keys, data.

An operator that changes how words look (their case, the space around them) leaves these parts alone: an answer copies
``Score: <1-5>`` from the prompt, a program looks for the key ``title``, and data is what the answer is made of. Nothing
is lost by finding too much.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.mutations.fields import data_spans, field_spans, merged
from pytest_promptfuzz.mutations.lexicon.sparing import own_words
from pytest_promptfuzz.mutations.lexicon.table import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line

_LABEL_WORDS = 4  # a label is no longer than that, and neither is an item that is a name
_NAMING = words(
    """
    key keys field fields column columns attribute attributes property properties header headers headings element
    elements tag tags label labels category categories class classes value values name names
    """
)
_CLOSED = (".", "!", "?", "。", "！", "？")


class _Patterns(NamedTuple):
    """Compiled when a draft is first looked at.

    Attributes:
        row: A line of data: ``key = value``, ``"title" => label``, columns, a passage with a number.
        shape: A word that announces the form of the answer at the end of a line with a colon.
        naming: A word for keys or columns; what follows it in a sentence are their names.
        told: A verb and the words that the answer is to consist of.
        listed: Words with commas or an ``or`` between them.
        inner: What follows a colon inside a sentence.
    """

    row: re.Pattern[str]
    shape: re.Pattern[str]
    naming: re.Pattern[str]
    told: re.Pattern[str]
    listed: re.Pattern[str]
    inner: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    letters = r"[^\W\d_][\w'’-]*"
    word = rf"(?:{letters}|\x00+)"
    some = rf"{word}(?: {word})?"
    conjunction = r"(?:and|or|AND|OR|und|oder|et|ou|y|e|o|u|en|of|és|i|lub|och|eller)"
    flags = re.IGNORECASE
    return _Patterns(
        re.compile(r"\[\d+\] |[^\s=]+(?: [^\s=]+){0,5} ?(?:[-=]>|[=→|])|.*(?:\t|=>|->|→)"),
        re.compile(
            r"\b(?:formats?|form|template|structure|outline|layout|schema|pattern|exactly|follows|like|so|thus|this|these"
            r"|lines?|output|returns?|example|así|formato?|ejemplo|estructura|assim|exemplo|così|formato|esempio"
            r"|ainsi|forme|exemple|suivante?s?|wie folgt|so aus|folgend\w*|format|beispiel|als volgt|voorbeeld)\b",
            flags,
        ),
        re.compile(
            r"\b(?:keys?|fields?|columns?|attributes?|properties|headers?|headings|elements?|tags?|labels?|categories"
            r"|category|class(?:es)?|values?|names?|claves?|campos?|columnas?|atributos?|etiquetas?|categorías?"
            r"|schlüsseln?|feld(?:er|ern)?|spalten?|attributen?|kategorien?|clés?|champs?|colonnes?|attributs?"
            r"|étiquettes?|catégories?|chiav[ei]|camp[oi]|colonn[ae]|etichett[ae]|categori[ae]|velden|kolommen|sleutels?"
            r"|chaves?|colunas?|categorias?|filas)\b(?: are| is| named| called)?:?"
            r" (?=[^.!?\n]{0,200},|\S+ (?:and|or)\b)",
            flags,
        ),
        re.compile(
            r"\b(?:answer|repl(?:y|ies)|respond|say|write|output|return|print|mark|put|use|label|tag|classify|rate|grade"
            r"|antworte|schreibe?|réponde?[sz]?|écri[st]|respond[ae]|escrib[ae]|respond[ae]|escrev[ae]|rispondi|scrivi"
            r"|antwoord|schrijf)(?: (?:it|them|this|only|just|exactly|nothing but))*"
            r"(?: (?:with|as|the words?|by|mit|par|avec|con|com|met|solo|só|nur))+ ([^.,;:!?(\n]{1,40})(?=[.,;:!?\n]|$)"
            r"|\b(?:answer|reply|respond|say|print)(?: (?:only|just|exactly))*"
            r" ([^\s.,;:!?(]+(?: [^\s.,;:!?(]+)?)(?=[.,;:!?\n]|$)",
            flags,
        ),
        re.compile(
            rf"(?<![\w'’\x00-])(?:{some}(?:[,;/] {some})+[,;]? {conjunction} {some}|{word}(?:[,;] {word}){{2,}}"
            rf"|{letters} (?:or|OR) {letters}"
            r"|(?:[Nn]ull|[Nn]one|nil|nan|[Tt]rue|[Ff]alse|unknown|undefined|[Yy]es|n/a)\b)"
        ),
        re.compile(r"[:：][ \t]+(\S[^.!?\n]*)"),
    )


def written(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The spans ``(start, end)`` of a draft that stay as they are written, ascending and apart.

    Ask for it with ``draft.once(written)``.
    """
    found = [*draft.once(data_spans), *draft.once(field_spans), *_lines(draft), *_prose(draft)]
    return merged(found)


def _lines(draft: Draft) -> Iterator[tuple[int, int]]:
    """Headings, labels, rows, names in lists, and what stands under the announcement of a form."""
    row, shape = _patterns().row, _patterns().shape
    free, text = draft.free, draft.text
    template = False  # whether a form was announced and has not ended
    begun = False
    timed = False  # whether the line before was a number or a time, as in subtitles
    for line in draft.lines:
        start, end, kind = line.start, line.end, line.kind
        under, timed = timed, kind == "block" and text[line.content : line.content + 1].isdecimal()
        if kind == "blank":
            template = template and not begun
            continue
        if kind in {"heading", "table"} or (kind != "lead" and row.match(text, line.content, end)):
            yield start, end
        elif kind == "field":
            colon = text.index(":", line.content, end) + 1
            yield start, end if shape.search(free, line.content, colon) else colon
        elif kind == "lead" and len(free[line.content : end].split()) <= _LABEL_WORDS:
            yield start, end
        elif kind in {"bullet", "number"}:
            yield from _item(free, line)
        elif (template or under) and kind != "lead":
            yield start, end
        begun = True
        if kind == "lead":
            template = shape.search(free, line.content, end) is not None
            begun = False


def _item(free: str, line: Line) -> Iterator[tuple[int, int]]:
    """The name that an item of a list begins with, or that it is."""
    item = free[line.content : line.end].rstrip()
    name, colon, _ = item.partition(":")
    if len(name.split()) <= _LABEL_WORDS and (colon or not item.endswith(_CLOSED)):
        yield line.content, line.content + len(name)


def _prose(draft: Draft) -> Iterator[tuple[int, int]]:
    """Names of keys, answers, lists, and what follows a colon, in sentences."""
    patterns = _patterns()
    free = draft.free
    # English has its words at hand; only other languages pay for a search.
    named = draft.language != "en" or not _NAMING.isdisjoint(draft.once(own_words))
    for sentence in draft.sentences:
        start, end = sentence.start, sentence.end
        naming = patterns.naming.search(free, start, end) if named else None
        if naming is not None:
            yield naming.end(), end
        for match in patterns.told.finditer(free, start, end):
            yield match.span(match.lastindex or 0)
        for match in patterns.listed.finditer(free, start, end):
            yield match.span()
        if sentence.kind != "field":
            inner = patterns.inner.search(free, start, end)
            if inner is not None:
                # "name: value" is a form as a whole.
                yield free.rfind(" ", start, inner.start()) + 1 or start, end
