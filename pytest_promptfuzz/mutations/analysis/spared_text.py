"""What noise and rewording leave alone: templates, labels, names of keys, data, and words that bind the answer.

An operator that changes how words look (their case, the space around them) leaves these parts alone: an answer copies
``Score: <1-5>`` from the prompt, a program looks for the key ``title``, and data is what the answer is made of. Nothing
is lost by finding too much.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.data.tables import words_in
from pytest_promptfuzz.mutations.analysis.draft import said
from pytest_promptfuzz.prompts.spans import logic_spans
from pytest_promptfuzz.text.expressions import expression, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line, Word


# Which words of a prompt noise may hit, and what it may not make of them.


SHORTEST = 5
"""Letters a word needs to stay readable when one of them is wrong."""

# Words that bind the answer but are no logical words: an unreadable one would change the task.
_BINDING = words(
    """
    exactly least most every neither either never always before after above below twice once daily weekly under
    within between until avoid refrain leave ignore omit exclude skip just nothing cannot none first last same
    whether
    """
)
_SHORT = words_in("words/short.txt")

_NAMING_CUES = words(
    """
    field fields key keys column columns property properties attribute attributes label labels header headers heading
    headings named called titled
    """
)


@lru_cache(maxsize=8192)
@lru_cache(maxsize=4096)
def binds(word: str) -> bool:
    """Whether a word in lower case negates, restricts, connects or else binds the answer, in any known language."""
    return word in _BINDING or bool(logic_spans(word))


@cache
def readable_words() -> frozenset[str]:
    """Words so common in prompts that they are recognised when they are damaged, in lower case."""
    from pytest_promptfuzz.data.english_words import FREQUENT, PROMPT_WORDS

    return FREQUENT | PROMPT_WORDS | IMPERATIVES


@cache
def known_words() -> frozenset[str]:
    """Every English word that the tables hold: what damage must not make of another."""
    from pytest_promptfuzz.data.english_words import NEAR

    return readable_words() | NEAR | _SHORT | _BINDING


def is_known(word: str) -> bool:
    """Whether ``word``, in lower case, is an English word or a logical one of any known language."""
    return word in known_words() or binds(word)


def own_words(draft: Draft) -> frozenset[str]:
    """The prompt's own words, in lower case: damage must not make one of another."""
    return frozenset([word.lower for word in draft.words])


_start = itemgetter(0)


def naming_words(draft: Draft) -> frozenset[int]:
    """Where words begin that name what an answer may have to contain.

    These are heads of fields (``Customer name: ...``), headings, and what follows ``keys``, ``columns`` or the like
    in a sentence.
    """
    spans = [
        (line.content, line.end if line.kind == "heading" else draft.text.find(":", line.content, line.end))
        for line in draft.lines
        if line.kind in {"field", "heading"}
    ]
    if not _NAMING_CUES.isdisjoint(draft.once(own_words)):
        cues = iter([word.end for word in draft.words if word.lower in _NAMING_CUES])
        cue = next(cues, None)
        for sentence in draft.sentences:
            while cue is not None and cue <= sentence.start:
                cue = next(cues, None)
            if cue is not None and cue <= sentence.end:
                spans.append((cue, sentence.end))
    found: set[int] = set()
    words = draft.words
    for start, end in spans:
        index = bisect_left(words, start, key=_start)
        while index < len(words) and words[index].start < end:
            found.add(words[index].start)
            index += 1
    return frozenset(found)


def hittable(draft: Draft) -> tuple[Word, ...]:
    """Words that carry the sentence and nothing else, and are long enough to stay readable.

    In lower case but at the start of a sentence, and free of logic. Names could become other names, rare words (of
    drugs, say) could not be read any more, and what names a part of the answer is repeated in it: none of them is hit,
    rare words of English only where there are no others.
    """
    text = draft.text
    named = draft.once(naming_words)
    starts = draft.starts
    english = draft.language == "en"
    common: list[Word] = []
    rare: list[Word] = []
    for word in draft.words:
        start, end, form, lower = word
        if end - start < SHORTEST:
            continue
        known = _readable(lower)
        if known is None or start in named or text[end : end + 1] == ":":
            continue
        if form != lower and not (known and start in starts and form[1:] == lower[1:]):
            continue
        (common if known or not english else rare).append(word)
    return tuple(common or rare)


@lru_cache(maxsize=8192)
def _readable(word: str) -> bool | None:
    """Whether a long word in lower case is so common that it is recognised when damaged; None if it may not be hit."""
    known = word in readable_words()
    return None if binds(word) or not (known or word.isalpha()) else known


# What a prompt holds in prose that is no instruction: the names of fields, and data.
#
# A field that the answer must have is called what the prompt calls it, so nothing may reword it.
# ``Extract the name, the quantity and the delivery date as JSON`` names three keys although none is quoted. Where a
# sentence extracts things or speaks of a structured format, what it lists is taken for names: too many rather than too
# few, for a name left alone costs one place to act, and a name replaced costs the answer.


_STRUCTURED = expression(
    r"\b(?:JSON|YAML|XML|CSV|TSV|TOML|HTML|Markdown table|schema|dict(?:ionary)?|key[- ]value|keys?|fields?|columns?"
    r"|attributes?|properties|headers?|headings|entities|slots?|tuple|spreadsheet|rows?)\b",
    re.IGNORECASE | re.ASCII,
)
_TAKING = expression(
    r"\b(?:extract|capture|parse|pull out|scrape|populate|fill in|record)\b", re.IGNORECASE | re.ASCII
)
_ASKING = expression(
    r"\b(?:return|output|give|list|provide|identify|find|include|including|containing|contains?|with|report|produce"
    r"|collect|named|called|following|namely)\b",
    re.IGNORECASE | re.ASCII,
)
_LISTING = expression(
    r"\b(?:return|output|give|list|provide|identify|include|report|produce)\b", re.IGNORECASE | re.ASCII
)
_FIELD_NAMING = expression(
    r"\b(?:keys?|fields?|columns?|attributes?|properties|headers?|headings|entities|slots?|elements?)\b",
    re.IGNORECASE | re.ASCII,
)
_STOP = expression(
    r"\b(?:from|as|into|using|when|if|where|that|which|who|so|then|but|because|unless|return|output|respond|answer|use"
    r"|write|do|give|put|convert|format)\b|[.;!?]",
    re.IGNORECASE | re.ASCII,
)
_TRIGGERS = words(
    """
    json yaml xml csv tsv toml html schema dict dictionary key keys field fields column columns attribute attributes
    property properties header headers headings entities slot slots tuple spreadsheet row rows extract capture parse
    pull scrape populate fill record table
    """
)
_TOLD = words(
    """
    task tasks instruction instructions goal goals role rule rules format output note notes requirement requirements
    constraint constraints objective objectives guideline guidelines style tone language steps step important persona
    audience answer reply do don't must should how what remember please
    """
)
_ITEM_NAME = expression(r"[A-Za-z][^:\n.;!?\x00]{0,60}(?=:|$| [-–—] )")


def field_spans(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The spans ``(start, end)`` of a draft that name fields of the answer, ascending and apart.

    Ask for it with ``draft.once(field_spans)``; :func:`inside` tells whether a word lies in one.
    """
    text, free = draft.text, draft.free
    # A format may be protected itself: "Return JSON with a summary".
    if _TRIGGERS.isdisjoint(draft.once(own_words)) and _TRIGGERS.isdisjoint(
        [text[start:end].lower() for start, end in draft.spans]
    ):
        return ()
    found: list[tuple[int, int]] = []
    asked = False  # whether the sentence before announced a list of names
    structured_prompt = _STRUCTURED.search(text) is not None
    for sentence in draft.sentences:
        start, end = sentence.start, sentence.end
        if sentence.kind in {"bullet", "number"} and asked:
            name = _ITEM_NAME.match(free, start, end)
            found.append((start, name.end() if name else end))
            continue
        taking = _TAKING.search(free, start, end)
        structured = _STRUCTURED.search(text, start, end)
        asked = free[end - 1] in ":：" and (taking is not None or structured is not None or structured_prompt)
        if taking is not None:
            stop = _STOP.search(free, taking.end(), end)
            found.append((taking.end(), stop.start() if stop else end))
        naming = _FIELD_NAMING.search(free, start, end)
        if naming is not None:
            found.append((naming.start(), end))
        elif structured_prompt and taking is None:
            asking = (_ASKING if structured else _LISTING).search(free, start, end)
            if asking is not None and asking.end() < end:
                found.append((asking.end(), end))
    return merged(found)


def merged(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same spans, ascending and apart; empty ones are left out."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif start < end:
            found.append((start, end))
    return tuple(found)


def inside(spans: Sequence[tuple[int, int]], position: int) -> bool:
    """Whether a position lies in one of some spans, which are ascending and apart."""
    index = bisect_right(spans, (position, sys.maxsize)) - 1
    return index >= 0 and position < spans[index][1]


def data_spans(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The spans ``(start, end)`` of a draft that look like data, ascending: text that nobody is asked to follow.

    Data is a field whose name speaks of no instruction (``Review: It broke.``), what follows a short lead or heading of
    that kind up to the next one, and what stands between tags on lines of their own.
    """
    found: list[tuple[int, int]] = []
    data = tagged = False
    for line in draft.lines:
        start, end, kind = line.start, line.end, line.kind
        if kind == "blank":
            continue
        text = draft.free[line.content : end]
        if kind == "block":
            raw = draft.text[start + line.indent : end]
            tagged = (raw[:1] == "<" and raw[:2] != "</") or (tagged and raw[:1] != "<")
        elif kind == "field":
            data = False
            if not _speaks(text.partition(":")[0]):
                found.append((start, end))
        elif kind in {"lead", "heading"} and not tagged:
            data = not _speaks(text)
        elif data or tagged:
            found.append((start, end))
    return tuple(found)


def _speaks(label: str) -> bool:
    """Whether a label announces instructions: a long one, or one that says so."""
    said = label.replace("*", " ").replace("#", " ").replace(":", " ").lower().split()
    return len(said) > 3 or not _TOLD.isdisjoint(said)


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


class _SparedPatterns(NamedTuple):
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
def _patterns(flags: int) -> _SparedPatterns:
    letters = r"[^\W\d_][\w'’-]*"
    word = rf"(?:{letters}|\x00+)"
    some = rf"{word}(?: {word})?"
    conjunction = r"(?:and|or|AND|OR|und|oder|et|ou|y|e|o|u|en|of|és|i|lub|och|eller)"
    names, answering = "|".join(sorted(_NAMES)), "|".join(sorted(_ANSWERING))
    giving = "|".join(sorted(_ANSWERING_OR_GIVING))
    return _SparedPatterns(
        expression(r"\[\d+\] |[^\s=]+(?: [^\s=]+){0,5} ?(?:[-=]>|[=→|])|.*(?:\t|=>|->|→)"),
        expression(
            r"\b(?:formats?|form|template|structure|outline|layout|schema|pattern|exactly|follows|like|so|thus|this|these"
            r"|lines?|output|returns?|example|así|formato?|ejemplo|estructura|assim|exemplo|così|formato|esempio"
            r"|ainsi|forme|exemple|suivante?s?|wie folgt|so aus|folgend\w*|format|beispiel|als volgt|voorbeeld)\b",
            flags,
        ),
        expression(
            rf"\b(?:{names})\b(?: are| is| named| called)?:? (?=[^.!?\n]{{0,200}},|\S+ (?:and|or)\b)", flags
        ),
        expression(
            rf"\b(?:{giving})(?: (?:it|them|this|only|just|exactly|nothing but))*"
            r"(?: (?:with|as|the words?|by|mit|par|avec|con|com|met|solo|só|nur))+ ([^.,;:!?(\n]{1,40})(?=[.,;:!?\n]|$)"
            rf"|\b(?:{answering})(?: (?:only|just|exactly))* ([^\s.,;:!?(]+(?: [^\s.,;:!?(]+)?)(?=[.,;:!?\n]|$)",
            flags,
        ),
        expression(
            rf"(?<![\w'’\x00-])(?:{some}(?:[,;/] {some}){{1,30}}[,;]? {conjunction} {some}|{word}(?:[,;] {word}){{2,}}"
            rf"|{letters} (?:or|OR) {letters}"
            r"|(?:[Nn]ull|[Nn]one|nil|nan|[Tt]rue|[Ff]alse|unknown|undefined|[Yy]es|n/a)\b)"
        ),
        expression(r"[:：][ \t]+(\S[^.!?\n]*)"),
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


def _lines(draft: Draft, patterns: _SparedPatterns, heard: str) -> Iterator[tuple[int, int]]:
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


def _prose(draft: Draft, patterns: _SparedPatterns, heard: str) -> Iterator[tuple[int, int]]:
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
