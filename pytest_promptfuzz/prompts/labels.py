"""The labels that a prompt asks to choose from, and where they stand.

Lists are known by what announces them: a cue (``one of``, ``either``, ``Classify … as``, ``Labels:``, ``answer with``)
before an enumeration or above bullets. Enumerations of capitals or of quoted words need no cue
(``POSITIVE, NEGATIVE, or NEUTRAL``); they count as the label set only where no cue announces one.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from pytest_promptfuzz.data.tables import words_in
from pytest_promptfuzz.prompts.cues import (
    CONDITIONS,
    CUES,
    MARKS,
    SIGNS,
    Words,
    json_spans,
    places,
    vocabulary,
)
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.prompts.cues import Found


# Reading an enumeration: ``a, b, or c``, ``a / b``, ``"a" or "b"``, and bullets.


_AND = r"(?:or|and|oder|und|ou|et|o|y|e|of|en|или|и|または|或者?|和)"
_SEPARATOR = expression(
    rf"\s{{0,2}}(?:[,;、，]\s{{0,3}}(?P<c1>{_AND}\s{{1,2}})?|(?P<bar>[/|])\s{{0,2}})|\s{{1,2}}(?P<c2>{_AND})\s{{1,2}}",
    re.IGNORECASE,
)
_QUOTED = expression(
    r"""(?:\*\*)?(?:"([^"\n]{1,60})"|'([^'\n]{1,60})'(?!\w)|“([^“”\n]{1,60})”|‘([^‘’\n]{1,60})’"""
    r"|«\s?([^«»\n]{1,60}?)\s?»|„([^„“”\n]{1,60})[“”]|`([^`\n]{1,60})`|「([^「」\n]{1,60})」"
    r"|\*\*([^*\n]{1,60})\*\*|<([\w -]{1,40})>)(?:\*\*)?"
)
_WORD = expression(r"[^\W_][\w+&#'’]*(?:-\w+)*")
_MORE = expression(rf"(?: {_WORD.pattern}){{1,4}}")
_MARKS = frozenset("\"'“‘«„`「")
_OPENERS = _MARKS | {"*", "<"}
_NOTE = expression(r"\s?\([^()\n]{1,160}\)")
# Words that no label begins with or holds; an enumeration ends before them.
_STOP = words_in("prompts/label_ends.txt")
# "yes or no, followed by a reason", "yes or no first": where the list is over, and the sentence says how to answer.
_RUNS_ON = expression(
    r"(?:followed|preceded|accompanied) (?:by|with)\b|(?<=[^\W_] )first(?=[.;:!?\n]|\Z)", re.IGNORECASE
)
_ARTICLES = vocabulary(
    "a an the this that these those his her its their your our my der die das le la les el los las",
)
_OR = vocabulary(
    "or oder ou o of или または 或 或者",
)
BULLET = expression(r"[ \t]{0,8}(?:[-*•–·+]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]+(?=\S)")
_BULLET_LABEL = expression(
    r"(?:\*\*|__|[\"'`“‘«])?(?P<name>[^\s*\"'`“”«»:(–—,.;][^*\n\"`“”«»:(–—,;]{0,48}?)(?:\*\*|__|[\"'`”’»])?"
    r"(?P<tail>\s*(?:[:(–—]|[ ]-[ ]).*|[ \t]*[.;,]?[ \t]*(?:\*\*)?)?$"
)
_SHORT = 4  # words in a label
_LIMIT = 200  # labels in a list


def enumeration(text: str, position: int, *, commas: bool, ands: bool) -> tuple[list[tuple[int, int]], int]:
    """Read the enumeration that begins at ``position``.

    Args:
        text: The whole text.
        position: Where its first item begins.
        commas: Whether commas alone make an enumeration; else it takes a conjunction or a slash.
        ands: Whether "and" will do for a conjunction; else it takes "or".

    Returns:
        The spans of the items, without their quotes, and where reading ended; no items if it is not an enumeration
        of two or more.
    """
    items: list[tuple[int, int]] = []
    joined = commas
    end = after = position
    last_joins = False
    tight: list[bool] = []
    while len(items) < _LIMIT and (item := _item(text, after)) is not None:
        start, stop, next_end = item
        if items and text[items[0][0] - 1] in _MARKS and start == after and text[start - 1] not in _MARKS:
            break  # "'yes' or 'no', followed by a reason": among quoted labels a bare word is none
        end = next_end
        items.append((start, stop))
        joined = joined or last_joins
        separator = _SEPARATOR.match(text, end)
        if separator is None:
            break
        after = separator.end()
        word = (separator["c1"] or separator["c2"] or "").strip().lower()
        tight.append(separator[0] == "/")
        last_joins = separator["bar"] is not None or word in _OR or (ands and bool(word))
    if len(items) < 2 or not joined:
        return [], end
    if True in tight and False in tight[: len(items) - 1]:
        # "World, Sports, or Sci/Tech": where commas separate the labels, a slash is part of one.
        whole = items[:1]
        for glued, (start, stop) in zip(tight, items[1:], strict=False):
            whole = [*whole[:-1], (whole[-1][0], stop)] if glued else [*whole, (start, stop)]
        items = whole
    return items, end


def _item(text: str, position: int) -> tuple[int, int, int] | None:
    """One item at ``position``: its span without quotes, and where it ends with them."""
    if text[position : position + 1] in _OPENERS:
        quoted = _QUOTED.match(text, position)
        if quoted is not None:
            group = quoted.lastindex or 0
            return quoted.start(group), quoted.end(group), _after_note(text, quoted.end())
    word = _WORD.match(text, position)
    if word is None or word[0].lower() in _STOP or _RUNS_ON.match(text, position):
        return None
    end = word.end()
    more = _MORE.match(text, end)
    if more is not None:
        for count, following in enumerate(more[0][1:].split(" "), 2):
            lower = following.lower()
            # "done and notify the team": what an article follows is a verb.
            if lower in _ARTICLES:
                return None
            if lower in _STOP or lower in _OR or _RUNS_ON.match(text, end + 1):
                break
            if count > _SHORT:
                return None
            end += 1 + len(following)
    return position, end, _after_note(text, end)


def _after_note(text: str, end: int) -> int:
    note = _NOTE.match(text, end) if text.find("(", end, end + 2) >= 0 else None
    return note.end() if note else end


def bullets(text: str, position: int) -> list[tuple[int, int]]:
    """The labels of the bullets that begin at ``position``; none if one of them is longer than a label."""
    items: list[tuple[int, int]] = []
    while len(items) < _LIMIT and (bullet := BULLET.match(text, position)):
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        label = _BULLET_LABEL.match(text[bullet.end() : line_end].rstrip("\r"))
        if label is None or label["name"].count(" ") >= _SHORT:
            return []
        items.append(
            (
                bullet.end() + label.start("name"),
                bullet.end() + label.start("name") + len(label["name"].rstrip()),
            )
        )
        position = line_end + 1
    return items if len(items) > 1 else []


# What makes a cue of "one", and what makes a mark of it.
_OF = expression(r"\s(?:of|der|von|aus|des|de|di|delle|dei|das|dos|van)(?!\w)", re.IGNORECASE)
_ONE_OF = expression(
    r"(?:(?:one|any)\sof|eine[rsnm]?\s(?:der|von|aus)|una?\sde|une?\sde|uno\sdi)(?!\w)", re.IGNORECASE
)
# "Choose from: red, green", "Pick: red, green".
_FROM = expression(
    r"(?:\s(?:from|between|one|aus|zwischen|parmi|entre|de|tra|fra|uit|tussen))?\s?", re.IGNORECASE
)
_BE = frozenset({"Is", "is", "Are", "are", "Was", "was"})
# The end of what a cue governs: the end of its sentence or paragraph. Expressions that are searched for begin with a
# character class where they can: the engine looks for one many times faster than for an alternation or a lookbehind.
_END = expression(r"[.!?。！？\n](?:(?<!\n)(?=\s|\Z)|(?<=\n)(?=[ \t\r]{0,80}\n))")
_WINDOW = 400
_MARK = expression(r"[:：(\[=]|\w+")
_SPACE = expression(r"\s{0,4}")
_BLANK = expression(r"[ \t]{0,4}")
_BULLET_CUE = expression(
    r"(?<!\w)(?:(?:one|any|each)\sof|labels?|categor\w+|class(?:es|if\w+)?|options?|choices?|values|tags?|intents?"
    r"|sentiments?|topics?|departments?|queues?|into|kategorien|klassen|étiquettes|etiquetas|etichette)(?!\w)",
    re.IGNORECASE,
)
_LAST = 24
_OPEN_END = expression(r"(?:[:：]|(?<!\w)(?:of|from|following|are|as|into|between))[*_ \t\r]{0,8}$")
_QUESTION = expression(
    r"(?<!\w)(?:Is|Are|Was|is|are|was)\s(?:\w+\s){1,5}?(?P<list>\w[\w-]*(?:,\s\w[\w-]*){0,6},?\sor\s(?:not\s)?\w[\w-]*)\s?\?"
)
_CAPITAL = r"[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+){0,6}(?!\w)(?:\ [A-Z][A-Z0-9_-]+(?!\w)){0,2}"
_CAPITALS = expression(
    rf"[A-Z](?<![\w'’-].){_CAPITAL[5:]}(?:(?:\s?,\s?(?:(?:or|and)\s)?|\s?[/|]\s?|\s(?:or|oder|ou|o)\s){_CAPITAL})+"
)
_BARS = expression(r"[\"'`<\[](\w[\w -]{0,40}(?:\s?\|\s?\w[\w -]{0,40}){1,30})[\"'`>\]]")
_SPLIT = expression(r"\s?[,/|]\s?(?:(?:or|and)\s)?|\s(?:or|oder|ou|o)\s")
# "Respond with ACCEPT if …, otherwise with REJECT."
_VERB = r"[AaOoPpRrSsWw](?<!\w.)(?:nswer|espond|eply|eturn|utput|ay|rite|rint)"
_ANSWER = r"(?:with\s)?[\"'`]?(?P<{}>[A-Z][A-Z0-9_]+|(?<=[\"'`])[\w -]{{1,30}}(?=[\"'`]))(?!\w)[\"'`]?"
_CONDITIONAL = expression(
    rf"{_VERB}\s{_ANSWER.format('first')}\s(?:if|when|unless)\s[^.\n]{{1,200}}?"
    rf"(?:[Oo]therwise|else|and|or|if not),?\s(?:{_VERB}\s)?{_ANSWER.format('second')}"
)
# Chinese names the labels after "classify as", Japanese before "one of".
_CJK = expression(
    r"(?:分类为|分類為|分为|归类为|归为|判断为|分类成)[:：]?(?P<zh>[^\s，。、：；或和]{1,12}(?:(?:、|，|或者?|和)[^\s，。、：；或和]{1,12}){1,30})"
    r"|[をは：:「](?P<ja>[^\s、。をは：:]{1,16}(?:(?:、|または|か)[^\s、。をは：:]{1,16}){1,30}?)の(?:いずれか|どれか|どちらか|中から|うち)"
)
_CJK_SPLIT = expression(r"[、，]|或者?|和|または")
_QUOTES = frozenset("\"'“‘«„`「")
_QUOTE = expression(r"[\"'“‘«„`「](?<!\w.)")


def labels(text: str) -> tuple[str, ...]:
    """The labels that ``text`` asks to choose from, as written, in order; empty if it has no list of labels.

    Where a cue announces a list, lists without a cue (capitals, quoted words) are no labels.

    >>> labels("Classify the ticket as billing, technical, or other.")
    ('billing', 'technical', 'other')
    """
    announced, bare = _lists(text, Words(text), json_spans(text))
    return tuple(announced or bare)


def label_spans(text: str, words: Words, json: list[Found]) -> list[Found]:
    """Every label of every list in ``text``, wherever it stands, kind ``label``; ``json`` is that in it."""
    announced, bare = _lists(text, words, json)
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


def _lists(text: str, words: Words, json: list[Found]) -> tuple[dict[str, None], dict[str, None]]:
    """The labels announced by a cue, and those of enumerations that stand alone; as ordered sets."""
    # The keys and values of objects announce nothing and are no enumeration; a plain array may be one.
    objects = [(start, end) for start, end, _ in json if "{" in text[start:end]]
    capitals = words.capitals
    announced = _after_cues(text, words.cues, objects)
    if "?" in text and not _BE.isdisjoint(words.forms):
        for match in _QUESTION.finditer(text):
            announced += enumeration(text, match.start("list"), commas=False, ands=False)[0]
    answers = capitals or any(map(text.__contains__, "\"'`"))
    if answers and any(word in CONDITIONS for _, word in words.cues):
        for match in _CONDITIONAL.finditer(text):
            announced += [match.span("first"), match.span("second")]
    if not text.isascii():
        for match in _CJK.finditer(text):
            announced += _split(text, *match.span("zh" if match["zh"] else "ja"), _CJK_SPLIT)
    if "|" in text:
        for match in _BARS.finditer(text):
            announced += _split(text, match.start(1), match.end(1))
    return _names(text, announced), _names(text, _bare_lists(text, words, objects))


def _bare_lists(text: str, words: Words, objects: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The items of lists that nothing announces: in capitals, or in quotes."""
    capitals = words.capitals
    bare: list[tuple[int, int]] = []
    if 1 < len(capitals) <= len({*words.forms, ""} - {""}) * 0.7:
        for match in _CAPITALS.finditer(text):
            bare += _split(text, match.start(), match.end())
    position = 0
    while (quote := _QUOTE.search(text, position)) is not None:
        items, position = enumeration(text, quote.start(), commas=True, ands=True)
        if all(text[start - 1] in _QUOTES for start, _ in items) and not _inside(objects, quote.start()):
            bare += items
        position = max(position, quote.end())
    return bare


def _after_cues(
    text: str, cues: list[tuple[int, str]], objects: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The items of all lists that a cue announces. Each character is looked at for one cue only."""
    found: list[tuple[int, int]] = []
    if not any(word in CUES for _, word in cues):
        return found
    marks = cues + [(start, sign) for sign in SIGNS if sign in text for start in _all(text, sign)]
    marks.sort()
    position = 0
    for start, word in cues:
        kind = CUES.get(word)
        if kind is None or start < position or _inside(objects, start):
            continue
        after = start + len(word)
        if kind == "of":
            of = _OF.match(text, after)
            if of is None:
                continue
            after, kind = of.end(), "pick"
        limit = min(after + _WINDOW, len(text))
        end_match = _END.search(text, after, limit)
        end = end_match.start() if end_match else limit
        # What stands in the bullets describes the labels.
        below = _bullets_below(text, start, after)
        end = min(end, below[0][0]) if below else max(end, after)
        inside = marks[bisect_left(marks, (after,)) : bisect_left(marks, (end,))]
        if end == limit < len(text):  # which may cut a word in two
            inside = [(each.start(), each[0].lower()) for each in _MARK.finditer(text, after, end)]
        items, position = _in_window(text, kind, after, end, inside, objects)
        found += items + below
        if below:
            position = max(position, below[-1][1])
    return found


def _in_window(
    text: str,
    kind: str,
    begin: int,
    end: int,
    marks: list[tuple[int, str]],
    objects: list[tuple[int, int]],
) -> tuple[list[tuple[int, int]], int]:
    """The items announced by a cue of this ``kind`` between ``begin`` and ``end``, and how far was read."""
    sorts = kind in {"sort", "choose"}
    listy = kind in {"pick", "noun"}
    space = 1 if text.startswith(" ", begin) else 0
    found, read = enumeration(
        text, begin + space, commas=text[begin - 3 : begin].lower() == " of", ands=False
    )
    read = read if found else begin
    after = begin
    for start, word in marks:
        where = MARKS.get(word)
        if where is None or start < after:
            continue
        after = start + len(word)
        if where == "one":
            one = _ONE_OF.match(text, start, end)
            if one is None:
                continue
            after = one.end()
        if start < read or _inside(objects, start):
            continue
        listy = listy or where in {"noun", "plural"}
        if where == "noun" or (where == "to" and not sorts) or (where == "of" and not listy):
            continue
        commas = where == "one" or (
            where == "open"
            and (listy or (kind == "choose" and _FROM.fullmatch(text, begin, start) is not None))
        )
        ands = (where in {"into", "plural"} and (listy or sorts)) or (where == "be" and listy)
        first = (_SPACE if where == "open" else _BLANK).match(text, after, end)
        items, stop = enumeration(text, first.end() if first else after, commas=commas, ands=ands)
        listy = listy or where == "one"
        if items:
            found += items
            read = stop
    return found, max(end, read)


def _all(text: str, sign: str) -> Iterator[int]:
    """Where ``sign`` stands."""
    start = text.find(sign)
    while start >= 0:
        yield start
        start = text.find(sign, start + 1)


def _inside(spans: list[tuple[int, int]], position: int) -> bool:
    """Whether one of ``spans``, which are in order and apart, holds ``position``."""
    index = bisect_right(spans, (position, sys.maxsize)) - 1
    return index >= 0 and position < spans[index][1]


def _bullets_below(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The bullets under the line of the cue at ``[start, end)``, if that line announces labels."""
    line_end = text.find("\n", end, end + _WINDOW)
    if line_end < 0:
        return []
    position = line_end + (2 if text.startswith("\n", line_end + 1) else 1)
    if BULLET.match(text, position) is None:
        return []
    line = text[start:line_end]
    # Only the last word of a line, and what follows it, can match at its end.
    if _OPEN_END.search(line, max(0, len(line) - _LAST)) is None or _BULLET_CUE.search(line) is None:
        return []
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
