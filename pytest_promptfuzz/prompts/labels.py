"""The labels a prompt asks to choose from, and where they stand.

Lists are known by what announces them: a cue (``one of``, ``either``, ``Classify … as``, ``Labels:``, ``answer with``)
before an enumeration or above bullets. Enumerations of capitals or of quoted words need no cue
(``POSITIVE, NEGATIVE, or NEUTRAL``); they count as the label set only where no cue announces one.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from typing import TYPE_CHECKING

from pytest_promptfuzz.prompts.brackets import json_spans
from pytest_promptfuzz.prompts.enumerations import bullets, enumeration
from pytest_promptfuzz.prompts.words import Words, places, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.prompts.words import Found

# Every word a cue begins with; `_CUE` then looks closer.
_CUES = vocabulary(
    "one any which eine einer einem einen eines un une uno una um uma een één either entweder soit",
    "label labels category categories class classes option options choice choices value values tag tags",
    "sentiment sentiments intent intents priority severity urgency topic topics department queue",
    "kategorie kategorien klasse klassen catégorie catégories étiquette étiquettes categoría categorías",
    "etiqueta etiquetas categoria categorias categorie etichetta etichette categorieën",
    "classify classifies classified categorize categorise sort assign route rate mark group decide determine whether",
    "detect predict judge choose pick select klassifiziere ordne wähle classez classifie classifier classifiez",
    "choisis clasifica clasifique elige classifique classifica escolha scegli classificeer kies",
    "answer respond reply output return antworte réponds répondez responde responda rispondi antwoord",
)
_BE = frozenset({"Is", "is", "Are", "are", "Was", "was"})
_CUE = re.compile(
    r"(?:"
    r"(?P<pick>(?:one|any|which|eine[rsnm]?|une?|una?|uno|uma?|een|één)\s(?:of|der|von|aus|des|de|di|delle|dei|das|dos|van)"
    r"|either|entweder|soit)"
    r"|(?P<noun>labels?|categor(?:y|ies)|class(?:es)?|options?|choices?|values?|tags?|sentiments?|intents?|priority|"
    r"severity|urgency|topics?|department|queue|kategorien?|klassen?|catégories?|étiquettes?|classes?|categorías?|"
    r"etiquetas?|categorias?|categorie|etichett[ae]|categorieën)"
    r"|(?P<sort>classif(?:y|ies|ied)|categori[sz]e|sort|assign|route|rate|mark|group|decide|determine|whether|detect|predict|"
    r"judge|choose|pick|select|klassifiziere|ordne|wähle|classez|classifie[rz]?|choisis|clasifi(?:ca|que)|elige|"
    r"classifi(?:que|ca)|escolha|scegli|classificeer|kies)"
    r"|(?P<answer>answer|respond|reply|output|return|antworte|réponds|répondez|responde|responda|rispondi|antwoord)"
    r")(?!\w)",
    re.IGNORECASE,
)
# The end of what a cue governs: the end of its sentence or paragraph. Expressions that are searched for begin with a
# character class where they can: the engine looks for one many times faster than for an alternation or a lookbehind.
_END = re.compile(r"[.!?。！？\n](?:(?<!\n)(?=\s|\Z)|(?<=\n)(?=[ \t\r]{0,80}\n))")
_WINDOW = 400
_PLURAL = (
    r"labels|categories|classes|options|choices|values|tags|sentiments|intents|topics|kategorien|klassen|catégories"
    r"|étiquettes|categorías|etiquetas|categorias|categorie|etichette"
)
# Places in that window where an enumeration may begin; what it must then hold to be one depends on the place. The
# expression is tried only where `_MAYBE` finds a sign or a word that it can begin with.
_MAYBE = re.compile(r"[:：(\[=]|\w+")
_MARK_WORDS = vocabulary(
    ": ： ( [ = one any eine einer eines einem einen una un une uno",
    "labels categories classes options choices values tags sentiments intents topics kategorien klassen catégories",
    "étiquettes categorías etiquetas categorias categorie etichette",
    "label category class option choice value tag sentiment intent priority severity urgency word scale",
    "either entweder soit as into between among from als zwischen como comme come entre tra parmi tussen",
    "with about only just exactly mit avec con com met to of is are be ist sind est es é è",
)
_MARK = re.compile(
    r"(?P<open>[:：(\[=]\s{0,4})"
    rf"|(?<!\w)(?:(?P<one>(?:one|any)\sof|eine[rsnm]?\s(?:der|von|aus)|una?\sde|une?\sde|uno\sdi)|(?P<plural>{_PLURAL})"
    r"|(?P<noun>label|category|class|option|choice|value|tag|sentiment|intent|priority|severity|urgency|word|scale)"
    r"|(?P<either>either|entweder|soit)"
    r"|(?P<into>as|into|between|among|from|als|zwischen|como|comme|come|entre|tra|parmi|tussen)"
    r"|(?P<with>with|about|only|just|exactly|mit|avec|con|com|met)"
    r"|(?P<to>to)|(?P<of>of)"
    r"|(?P<be>is|are|be|ist|sind|est|es|é|è))"
    r"(?!\w)[ \t]{0,4}",
    re.IGNORECASE,
)
_BULLET_CUE = re.compile(
    r"(?<!\w)(?:(?:one|any|each)\sof|labels?|categor\w+|class(?:es|if\w+)?|options?|choices?|values|tags?|intents?"
    r"|sentiments?|topics?|departments?|queues?|into|kategorien|klassen|étiquettes|etiquetas|etichette)(?!\w)",
    re.IGNORECASE,
)
_LAST = 24
_OPEN_END = re.compile(r"(?:[:：]|(?<!\w)(?:of|from|following|are|as|into|between))[*_ \t\r]{0,8}$")
_QUESTION = re.compile(
    r"(?<!\w)(?:Is|Are|Was|is|are|was)\s(?:\w+\s){1,5}?(?P<list>\w[\w-]*(?:,\s\w[\w-]*){0,6},?\sor\s(?:not\s)?\w[\w-]*)\s?\?"
)
_CAPITAL = r"[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+){0,6}(?!\w)(?:\ [A-Z][A-Z0-9_-]+(?!\w)){0,2}"
_CAPITALS = re.compile(
    rf"[A-Z](?<![\w'’-].){_CAPITAL[5:]}(?:(?:\s?,\s?(?:(?:or|and)\s)?|\s?[/|]\s?|\s(?:or|oder|ou|o)\s){_CAPITAL})+"
)
_BARS = re.compile(r"[\"'`<\[](\w[\w -]{0,40}(?:\s?\|\s?\w[\w -]{0,40}){1,30})[\"'`>\]]")
_SPLIT = re.compile(r"\s?[,/|]\s?(?:(?:or|and)\s)?|\s(?:or|oder|ou|o)\s")
# "Respond with ACCEPT if …, otherwise with REJECT."
_VERB = r"[AaOoPpRrSsWw](?<!\w.)(?:nswer|espond|eply|eturn|utput|ay|rite|rint)"
_ANSWER = r"(?:with\s)?[\"'`]?(?P<{}>[A-Z][A-Z0-9_]+|(?<=[\"'`])[\w -]{{1,30}}(?=[\"'`]))(?!\w)[\"'`]?"
_CONDITIONAL = re.compile(
    rf"{_VERB}\s{_ANSWER.format('first')}\s(?:if|when|unless)\s[^.\n]{{1,200}}?"
    rf"(?:[Oo]therwise|else|and|or|if not),?\s(?:{_VERB}\s)?{_ANSWER.format('second')}"
)
_IF = frozenset({"if", "when", "unless"})
# Chinese names the labels after "classify as", Japanese before "one of".
_CJK = re.compile(
    r"(?:分类为|分類為|分为|归类为|归为|判断为|分类成)[:：]?(?P<zh>[^\s，。、：；或和]{1,12}(?:(?:、|，|或者?|和)[^\s，。、：；或和]{1,12}){1,30})"
    r"|[をは：:「](?P<ja>[^\s、。をは：:]{1,16}(?:(?:、|または|か)[^\s、。をは：:]{1,16}){1,30}?)の(?:いずれか|どれか|どちらか|中から|うち)"
)
_CJK_SPLIT = re.compile(r"[、，]|或者?|和|または")
_QUOTES = frozenset("\"'“‘«„`「")
_QUOTE = re.compile(r"[\"'“‘«„`「](?<!\w.)")


def labels(text: str) -> tuple[str, ...]:
    """The labels that ``text`` asks to choose from, as written, in order; empty if it has no list of labels.

    Where a cue announces a list, lists without a cue (capitals, quoted words) are no labels.

    >>> labels("Classify the ticket as billing, technical, or other.")
    ('billing', 'technical', 'other')
    """
    announced, bare = _lists(text, Words.of(text))
    return tuple(announced or bare)


def label_spans(text: str, words: Words) -> list[Found]:
    """Every label of every list in ``text``, wherever it stands, kind ``label``."""
    announced, bare = _lists(text, words)
    return label_occurrences(text, [*announced, *bare])


def label_occurrences(text: str, names: Sequence[str]) -> list[Found]:
    """Where the labels ``names`` stand in ``text``, in any case (short capitals such as ``OR``, ``US`` as written)."""
    lowered = text.lower()
    foldable = len(lowered) == len(text)
    found: list[Found] = []
    folded: dict[str, None] = {}
    exact: dict[str, None] = {}
    for name in names:
        if foldable and not (name.isupper() and len(name) < 4):
            folded[name.lower()] = None
        else:
            exact[name] = None
    if folded:
        found += [(start, end, "label") for start, end in places(lowered, folded)]
    if exact:
        found += [(start, end, "label") for start, end in places(text, exact)]
    return found


def _lists(text: str, words: Words) -> tuple[dict[str, None], dict[str, None]]:
    """The labels announced by a cue, and those of enumerations that stand alone; as ordered sets."""
    announced: list[tuple[int, int]] = []
    # The keys and values of objects announce nothing and are no enumeration; a plain array may be one.
    json = [(start, end) for start, end, _ in json_spans(text) if "{" in text[start:end]]
    if not _CUES.isdisjoint(words.lower):
        announced += _after_cues(text, words, json)
    if "?" in text and not _BE.isdisjoint(words.written):
        for match in _QUESTION.finditer(text):
            announced += enumeration(text, match.start("list"), commas=False, ands=False)[0]
    if not words.lower.isdisjoint(_IF):
        for match in _CONDITIONAL.finditer(text):
            announced += [match.span("first"), match.span("second")]
    if not text.isascii():
        for match in _CJK.finditer(text):
            announced += _split(text, *match.span("zh" if match["zh"] else "ja"), _CJK_SPLIT)
    if "|" in text:
        for match in _BARS.finditer(text):
            announced += _split(text, match.start(1), match.end(1))
    bare: list[tuple[int, int]] = []
    capitals = sum(map(str.isupper, words.written))
    if 1 < capitals <= len(words.written) * 0.7:
        for match in _CAPITALS.finditer(text):
            bare += _split(text, match.start(), match.end())
    position = 0
    while (quote := _QUOTE.search(text, position)) is not None:
        items, position = enumeration(text, quote.start(), commas=True, ands=True)
        if all(text[start - 1] in _QUOTES for start, _ in items) and not _inside(json, quote.start()):
            bare += items
        position = max(position, quote.end())
    return _names(text, announced), _names(text, bare)


def _after_cues(text: str, words: Words, json: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The items of all lists that a cue announces. Each character is looked at for one cue only."""
    found: list[tuple[int, int]] = []
    lowered = text.lower()
    if len(lowered) == len(text):
        starts = sorted(start for start, _ in places(lowered, words.lower & _CUES))
    else:
        starts = sorted(start for start, _ in places(text, [w for w in words.written if w.lower() in _CUES]))
    position = 0
    for start in starts:
        cue = _CUE.match(text, start)
        if cue is None or start < position or _inside(json, start):
            continue
        limit = min(cue.end() + _WINDOW, len(text))
        end_match = _END.search(text, cue.end(), limit)
        end = end_match.start() if end_match else limit
        # What stands in the bullets describes the labels.
        below = _bullets_below(text, start, cue.end())
        items, position = _in_window(text, cue, min(end, below[0][0]) if below else max(end, cue.end()), json)
        found += items + below
        if below:
            position = max(position, below[-1][1])
    return found


def _in_window(
    text: str, cue: re.Match[str], end: int, json: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], int]:
    """The items announced by ``cue`` up to ``end``, and how far was read."""
    sorts = cue.lastgroup == "sort"
    listy = cue.lastgroup in {"pick", "noun"}
    space = 1 if text.startswith(" ", cue.end()) else 0
    found, read = enumeration(text, cue.end() + space, commas=cue[0].lower().endswith(" of"), ands=False)
    read = read if found else cue.end()
    after = cue.end()
    for maybe in _MAYBE.finditer(text, after, end):
        if maybe[0].lower() not in _MARK_WORDS or maybe.start() < after:
            continue
        mark = _MARK.match(text, maybe.start(), end)
        if mark is None:
            continue
        where = mark.lastgroup
        after = mark.end()
        if mark.start() < read or _inside(json, mark.start()):
            continue
        listy = listy or where in {"noun", "plural"}
        if where == "noun" or (where == "to" and not sorts) or (where == "of" and not listy):
            continue
        commas = where == "one" or (where == "open" and listy)
        ands = (where in {"into", "plural"} and (listy or sorts)) or (where == "be" and listy)
        items, stop = enumeration(text, after, commas=commas, ands=ands)
        listy = listy or where == "one"
        if items:
            found += items
            read = stop
    return found, max(end, read)


def _inside(spans: list[tuple[int, int]], position: int) -> bool:
    """Whether one of ``spans``, which are in order and apart, holds ``position``."""
    index = bisect_right(spans, (position, sys.maxsize)) - 1
    return index >= 0 and position < spans[index][1]


def _bullets_below(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The bullets under the line of the cue at ``[start, end)``, if that line announces labels."""
    line_end = text.find("\n", end, end + _WINDOW)
    if line_end < 0:
        return []
    line = text[start:line_end]
    # Only the last word of a line, and what follows it, can match at its end.
    if _OPEN_END.search(line, max(0, len(line) - _LAST)) is None or _BULLET_CUE.search(line) is None:
        return []
    position = line_end + 1
    if text[position : position + 1] == "\n":
        position += 1
    return bullets(text, position)


def _split(text: str, start: int, end: int, separators: re.Pattern[str] = _SPLIT) -> list[tuple[int, int]]:
    """The items of an enumeration at ``[start, end)``, which holds nothing else."""
    items = []
    for separator in separators.finditer(text, start, end):
        items.append((start, separator.start()))
        start = separator.end()
    items.append((start, end))
    return items


def _names(text: str, items: list[tuple[int, int]]) -> dict[str, None]:
    """The distinct texts of ``items`` in the order in which they stand."""
    return dict.fromkeys(name for start, end in sorted(items) if (name := text[start:end].strip()))
