"""What a prompt wants back letter by letter, although nothing marks it: templates, labels, names of keys, data.

An operator that changes how words look (their case, the space around them) leaves these parts alone: an answer copies
``Score: <1-5>`` from the prompt, a program looks for the key ``title``, and data is what the answer is made of. Nothing
is lost by finding too much.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.fields import data_spans, field_spans, merged
from pytest_promptfuzz.mutations.lexicon.sparing import own_words
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.said import said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line

_LABEL_WORDS = 4  # a label is no longer than that, and neither is an item that is a name
_NAMING = words(
    """
    key keys field fields column columns attribute attributes property properties header headers heading headings
    element elements tag tags label labels category categories class classes value values name names
    """
)
_NAMES = words(
    """
    key keys field fields column columns attribute attributes properties header headers headings element elements tag
    tags label labels categories category class classes value values name names clave claves campo campos columna
    columnas atributo atributos etiqueta etiquetas categoría categorías schlüssel schlüsseln feld felder feldern spalte
    spalten attributen kategorie kategorien clé clés champ champs colonne colonnes attribut attributs étiquette
    étiquettes catégorie catégories chiave chiavi campi colonna etichetta etichette categoria categorie velden kolommen
    sleutel sleutels chave chaves coluna colunas categorias filas
    """
)
"""Words for keys or columns, in any language; :data:`_NAMING` are the English ones."""
_ANSWERING = words("answer reply respond say print")
_GIVING = words(
    """
    replies write output return mark put use label tag classify rate grade antworte schreib schreibe répond réponds
    répondz réponde répondes répondez écris écrit responda responde escriba escribe escreva escreve rispondi scrivi
    antwoord schrijf
    """
)
_WITH = words("with as word words by mit par avec con com met solo só nur")
_ANSWERING_OR_GIVING = _ANSWERING | _GIVING
_BETWEEN = expression("[,;/](?= |a)|or(?<= or) ")
_BEGINS = expression(r"(?<![\w'\x00-])[\w\x00]")
_VALUES = words("null none nil nan true false unknown undefined yes")  # answers that nothing needs to list
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
def _patterns(flags: int) -> _Patterns:
    letters = r"[^\W\d_][\w'’-]*"
    word = rf"(?:{letters}|\x00+)"
    some = rf"{word}(?: {word})?"
    conjunction = r"(?:and|or|AND|OR|und|oder|et|ou|y|e|o|u|en|of|és|i|lub|och|eller)"
    names, answering = "|".join(sorted(_NAMES)), "|".join(sorted(_ANSWERING))
    giving = "|".join(sorted(_ANSWERING_OR_GIVING))
    return _Patterns(
        re.compile(r"\[\d+\] |[^\s=]+(?: [^\s=]+){0,5} ?(?:[-=]>|[=→|])|.*(?:\t|=>|->|→)"),
        re.compile(
            r"\b(?:formats?|form|template|structure|outline|layout|schema|pattern|exactly|follows|like|so|thus|this|these"
            r"|lines?|output|returns?|example|así|formato?|ejemplo|estructura|assim|exemplo|così|formato|esempio"
            r"|ainsi|forme|exemple|suivante?s?|wie folgt|so aus|folgend\w*|format|beispiel|als volgt|voorbeeld)\b",
            flags,
        ),
        re.compile(
            rf"\b(?:{names})\b(?: are| is| named| called)?:? (?=[^.!?\n]{{0,200}},|\S+ (?:and|or)\b)", flags
        ),
        re.compile(
            rf"\b(?:{giving})(?: (?:it|them|this|only|just|exactly|nothing but))*"
            r"(?: (?:with|as|the words?|by|mit|par|avec|con|com|met|solo|só|nur))+ ([^.,;:!?(\n]{1,40})(?=[.,;:!?\n]|$)"
            rf"|\b(?:{answering})(?: (?:only|just|exactly))* ([^\s.,;:!?(]+(?: [^\s.,;:!?(]+)?)(?=[.,;:!?\n]|$)",
            flags,
        ),
        re.compile(
            rf"(?<![\w'’\x00-])(?:{some}(?:[,;/] {some}){{1,30}}[,;]? {conjunction} {some}|{word}(?:[,;] {word}){{2,}}"
            rf"|{letters} (?:or|OR) {letters}"
            r"|(?:[Nn]ull|[Nn]one|nil|nan|[Tt]rue|[Ff]alse|unknown|undefined|[Yy]es|n/a)\b)"
        ),
        re.compile(r"[:：][ \t]+(\S[^.!?\n]*)"),
    )


def written(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The spans ``(start, end)`` of a draft that stay as they are written, ascending and apart.

    Ask for it with ``draft.once(written)``.
    """
    free = draft.free
    # Small letters are found three times faster than letters of either case; positions agree in ASCII only.
    plain = free.isascii()
    patterns, heard = (_patterns(0), free.lower()) if plain else (_patterns(re.IGNORECASE), free)
    found = [*draft.once(data_spans), *draft.once(field_spans)]
    found += _lines(draft, patterns, heard)
    found += _prose(draft, patterns, heard)
    return merged(found)


def _lines(draft: Draft, patterns: _Patterns, heard: str) -> Iterator[tuple[int, int]]:
    """Headings, labels, rows, names in lists, and what stands under the announcement of a form."""
    row, shape = patterns.row, patterns.shape
    free, text = draft.free, draft.text
    rows = any(map(text.__contains__, "=>→|\t["))  # without one of these no line is a row
    template = False  # whether a form was announced and has not ended
    begun = False
    timed = False  # whether the line before was a number or a time, as in subtitles
    for line in draft.lines:
        start, end, kind = line.start, line.end, line.kind
        under, timed = timed, kind == "block" and text[line.content : line.content + 1].isdecimal()
        if kind == "blank":
            template = template and not begun
            continue
        if kind in {"heading", "table"} or (rows and kind != "lead" and row.match(text, line.content, end)):
            yield start, end
        elif kind == "field":
            colon = text.index(":", line.content, end) + 1
            yield start, end if shape.search(heard, line.content, colon) else colon
        elif kind == "lead" and len(free[line.content : end].split()) <= _LABEL_WORDS:
            yield start, end
        elif kind in {"bullet", "number"}:
            yield from _item(free, line)
        elif (template or under) and kind != "lead":
            yield start, end
        begun = True
        if kind == "lead":
            template = shape.search(heard, line.content, end) is not None
            begun = False


def _item(free: str, line: Line) -> Iterator[tuple[int, int]]:
    """The name that an item of a list begins with, or that it is."""
    item = free[line.content : line.end].rstrip()
    name, colon, _ = item.partition(":")
    if len(name.split()) <= _LABEL_WORDS and (colon or not item.endswith(_CLOSED)):
        yield line.content, line.content + len(name)


def _prose(draft: Draft, patterns: _Patterns, heard: str) -> Iterator[tuple[int, int]]:
    """Names of keys, answers, lists, and what follows a colon, in sentences."""
    free = draft.free
    named = draft.language != "en" or not _NAMING.isdisjoint(draft.once(own_words))
    for (start, end, _, kind), (_, _, own, tokens) in zip(draft.sentences, draft.once(said), strict=True):
        naming: Iterable[re.Match[str]] = ()
        told: Iterable[re.Match[str]] = ()
        listed: Iterable[re.Match[str]] = ()
        if not own.isascii():
            naming = patterns.naming.finditer(heard, start, end) if named else ()
            told = patterns.told.finditer(heard, start, end)
            listed = patterns.listed.finditer(free, start, end)
        else:
            # The patterns are slow, and plain letters tell where one can begin: in most sentences nowhere.
            marked = "," in own or ";" in own or "/" in own or "or" in tokens
            if named and (marked or "and" in tokens) and not _NAMES.isdisjoint(tokens):
                naming = _found(patterns.naming, heard, end, _where(_NAMES.intersection(tokens), own, start))
            verbs = _ANSWERING if _WITH.isdisjoint(tokens) else _ANSWERING_OR_GIVING
            if not verbs.isdisjoint(tokens):
                told = _found(patterns.told, heard, end, _where(verbs.intersection(tokens), own, start))
            if marked or not _VALUES.isdisjoint(tokens):
                listed = _found(patterns.listed, free, end, _listing(own, tokens, start))
        for match in naming:
            yield match.end(), end
            break
        for match in told:
            yield match.span(match.lastindex or 0)
        for match in listed:
            yield match.span()
        if kind != "field" and (":" in own or "：" in own):
            inner = patterns.inner.search(free, start, end)
            if inner is not None:
                # "name: value" is a form as a whole.
                yield free.rfind(" ", start, inner.start()) + 1 or start, end


def _found(pattern: re.Pattern[str], text: str, end: int, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """What a search finds of a pattern that can begin at some places only, which ascend."""
    reached = 0
    for place in places:
        match = pattern.match(text, place, end) if place >= reached else None
        if match is not None:
            yield match
            reached = match.end()


def _where(known: Iterable[str], own: str, start: int) -> list[int]:
    """Where in a draft some words stand, in the sentence ``own`` that begins at ``start``."""
    places: list[int] = []
    for word in known:
        at = own.find(word)
        while at >= 0:
            places.append(start + at)
            at = own.find(word, at + 1)
    places.sort()
    return places


def _listing(own: str, tokens: list[str], start: int) -> list[int]:
    """Where a list may begin in the sentence ``own``: up to two words before a comma or an ``or``, or at a value."""
    places = _where(_VALUES.intersection(tokens), own, start)
    for mark in _BETWEEN.finditer(own):
        at = mark.start()
        begin = own.rfind(" ", 0, max(0, own.rfind(" ", 0, at))) + 1
        places += [start + match.start() for match in _BEGINS.finditer(own, begin, at)]
    return sorted(places)
