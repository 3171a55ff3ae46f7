"""Order and completeness: steps that changed places, an answer that stops before its end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.order import IMPERATIVES, ordered
from pytest_promptfuzz.comparing.text import analyse
from pytest_promptfuzz.comparing.words import split_words, stem, stem_set
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import Text

_NUMBER = expression(r"(\d{1,2})[.)]\s+(?=\S)")
_ORDERED = stem_set("recipe rank step top then procedure instruction order priority first next place")
_LEAD = expression(r"\b(?:how to|in order to)\b|\A\W*to \w+", re.IGNORECASE)
_SAME_ITEM = 0.5

_SHORTEST = 3
"""Words from which whole sentences that are the beginning of a longer answer count as cut off."""

_HALF = 0.5
_REST = 3
_ENDED = expression(r"[.!?…:;)\]}\"'`*。！？|>][\s*_`]*\Z|[^\w\s]\s*\Z")


def check(pair: Pair) -> Finding | None:
    """Whether numbered items changed places, or one answer is only the beginning of the other."""
    return _moved(pair) or _cut(pair) or _rearranged(pair)


def check_steps(pair: Pair) -> Finding | None:
    """The same, but an answer that ends with one of the other's sentences is complete: it only says less."""
    return _moved(pair) or _cut(pair, complete=True) or _rearranged(pair)


def _rearranged(pair: Pair) -> Finding | None:
    """Steps or ranks that stand in another order: a doubt, as some steps do not need the one before."""
    if not pair.middle_a or pair.only_a or pair.only_b or any(pair.changed) or not pair.a.once(ordered):
        return None
    return Finding("sequence", "doubt", "steps or ranks stand in another order")


def _items(text: Text) -> tuple[str, list[str]]:
    """What stands before a numbered list, and its items; none unless they are numbered from 1 on."""
    raw = text.raw
    starts: list[re.Match[str]] = []
    for found in _NUMBER.finditer(raw):
        apart = not found.start() or raw[found.start() - 1].isspace()
        if apart and int(found[1]) == len(starts) + 1:
            starts.append(found)
    if len(starts) < 2:
        return raw, []
    ends = [each.start() for each in starts[1:]] + [len(raw)]
    return raw[: starts[0].start()], [
        raw[each.end() : end].strip() for each, end in zip(starts, ends, strict=True)
    ]


def _may_list(text: Text) -> bool:
    return "1." in text.raw or "1)" in text.raw


def _moved(pair: Pair) -> Finding | None:
    if not pair.a.once(_may_list) or not pair.b.once(_may_list):
        return None
    lead, first = pair.a.once(_items)
    _, second = pair.b.once(_items)
    if not first or not second:
        return None
    sets = [frozenset(analyse(item).token_set - lexicon.FUNCTION_WORDS) for item in second]
    places: list[int] = []
    for item in first:
        here = analyse(item).token_set - lexicon.FUNCTION_WORDS
        scores = [2 * len(here & each) / (len(here) + len(each)) if here or each else 0.0 for each in sets]
        best = max(range(len(scores)), key=scores.__getitem__)
        # An item that is as like its own place's counterpart as another's has not moved.
        own = len(places)
        if own < len(scores) and scores[own] == scores[best]:
            best = own
        places.append(best if scores[best] >= _SAME_ITEM else -1)
    kept = [place for place in places if place >= 0]
    if kept == sorted(kept) or len(set(kept)) != len(kept):
        return None
    moved = next(index for index, place in enumerate(places) if place >= 0 and place != index)
    text = f"item {moved + 1} of the baseline's list is item {places[moved] + 1} of the response's"
    return Finding("sequence", "contradiction" if _is_sequence(lead, first) else "doubt", text)


def _is_sequence(lead: str, items: list[str]) -> bool:
    if _LEAD.search(lead) or not _ORDERED.isdisjoint(map(stem, split_words(lead))):
        return True
    heads = [split_words(item)[:1] for item in items]
    return sum(bool(head) and stem(head[0]) in IMPERATIVES for head in heads) * 2 >= len(items)


def _begins_alike(pair: Pair) -> bool:
    """Whether one text may be the beginning of the other; its last tokens may have been read as another phrase."""
    one, two = len(pair.a.tokens), len(pair.b.tokens)
    return one != two and pair.start >= max(min(one, two) - _MARGIN, 1)


_MARGIN = 5


_DANGLING = word_set(
    """a an the of to and or in on at by for with from as is are was were be that which your my our its his her their
    this these der die das ein eine und oder von zu mit für ihre ihr den dem le la les un une de du des et ou à votre
    el los las y o con su il lo gli e di del della een het en van"""
)
_BREAKS = frozenset(",:;–—-(/")


def _cut(pair: Pair, *, complete: bool = False) -> Finding | None:
    if not _begins_alike(pair):
        return None
    one, two = pair.a.words, pair.b.words
    if len(one) == len(two):
        return None
    short, long, which = (pair.b, pair.a, "response") if len(two) < len(one) else (pair.a, pair.b, "baseline")
    words, whole = short.words, long.words
    size = len(words)
    if size < 1 or words[: size - 1] != whole[: size - 1] or not whole[size - 1].startswith(words[-1]):
        return None
    missing = len(whole) - size
    if not _broken(short, long, missing):
        if complete or size < _SHORTEST:
            return None
        numbered = len(long.once(_items)[1]) > max(len(short.once(_items)[1]), 1)
        if not numbered and missing < _HALF * len(whole):
            return None
    tail = " ".join(words[-3:])
    return Finding("sequence", "contradiction", f"the {which} stops after {tail!r}, {missing} words early")


def _broken(short: Text, long: Text, missing: int) -> bool:
    """Whether a text breaks off within a word, a sentence or a list that the longer one completes."""
    words, whole = short.words, long.words
    if words[-1] != whole[len(words) - 1]:
        return True
    last = short.raw.rstrip(" \t\r\n*_`")[-1:]
    if last in _BREAKS:
        return True
    if _ENDED.search(short.raw):
        return False
    if words[-1] in _DANGLING or (
        missing >= _REST and len(words) > _SHORTEST and bool(_ENDED.search(long.raw))
    ):
        return True
    rest = long.clean[len(short.clean.rstrip()) :].lstrip()
    return "," in short.clean and rest[:1] in {",", ";"}
