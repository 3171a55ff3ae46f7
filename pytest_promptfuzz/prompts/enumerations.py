"""Reading an enumeration: ``a, b, or c``, ``a / b``, ``"a" or "b"``, and bullets."""

from __future__ import annotations

import re

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.cues import vocabulary

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
_STOP = vocabulary(
    "a an the this that these those his her its their your our my some such each every any all both for",
    "from by with in on at to of as into using based depending according about per under over than if",
    "when where while whether because since so then otherwise please only just exactly is are was were be",
    "been being has have had do does did will would can could should shall must may might i you he she it",
    "we they who which what how why there here and or e.g i.e etc following between among either exactly",
    "ce cet cette ces comme dieser diese dieses als zwischen unter como este esta come tra entre",
    "parmi par uniquement seulement exclusivement ausschließlich únicamente solamente unicamente soltanto",
    "apenas somente uitsluitend com questo questa tussen der die das den dem des ein",
    "eine einer einem einen für mit je nach ist sind le la les l un une des du pour avec selon est sont",
    "el los las unos unas para con según es son lo il gli i per os as um uma seu sua het een voor",
)
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
