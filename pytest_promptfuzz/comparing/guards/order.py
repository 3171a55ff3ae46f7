"""Guards for order and completeness: steps that changed places, an answer that stops before its end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.guards.pair import contradiction, doubt
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.text import analyse, shared_ends
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.reading.words import canonical_words, split_words, stem, stem_set
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Finding, Pair
    from pytest_promptfuzz.comparing.reading.text import Text


# The same words in another order: which of these say the same.


def parts_moved(pair: Pair) -> bool:
    """Whether the same clauses or list items stand in another order, in a text whose order is not a sequence."""
    if tells_by_order(pair.a):
        return False
    one, two = pair.a.once(_joined), pair.b.once(_joined)
    start, end = shared_ends(one, two)
    if not any(
        _clauses(one[first : len(one) - last]) == _clauses(two[first : len(two) - last])
        for last in (end, _to_joiner(one, end))
        for first in range(start, max(-1, start - _LEAD), -1)
    ):
        return False
    return not _bound_together(pair) or pair.a.once(_whole) == pair.b.once(_whole)


def tells_by_order(text: Text) -> bool:
    """Whether the order of a text's clauses and items is part of what it says."""
    return text.once(_sequential) or text.once(ordered)


def ordered(text: Text) -> bool:
    """Whether a text gives steps one sentence each, or says who came first: its order is part of what it says."""
    return bool(_ORDERLY.search(text.clean)) or _steps(text)


def _steps(text: Text) -> bool:
    heads = [words[0] for sentence in text.sentences if (words := sentence.lower().split())]
    return len(heads) > 1 and sum(stem(head) in IMPERATIVES for head in heads) * 2 > len(heads)


_ORDERLY = expression(
    r"\bin (?:this|that|the following|the given|exactly this|descending|ascending) order\b|\bpodium\b"
    r"|\b(?:finished|arrived|ranked|came in|placed)\b[^.]{0,30}\border\b"
    r"|\b(?:fast|slow|tall|small|short|long|large|bigg|high|low|cheap|old|young|strong|earli|clos|near|great|rich|bus|b)i?est"
    r"\b(?: [\w']+){0,3} (?:were|are|:)",
    re.IGNORECASE,
)
"""What ranks, with what follows or stands before it."""


def _sequential(text: Text) -> bool:
    """Whether a text says that its order matters."""
    return bool(_SEQUENCE.search(text.clean) or _STEPS.search(text.raw) or _RANKED.match(text.clean)) or (
        "\n" in text.clean and _tells_what_to_do(text)
    )


def _tells_what_to_do(text: Text) -> bool:
    """Whether most lines begin with what is to be done: steps, though no number says so."""
    lines = [
        line.split() for line in text.clean.lower().splitlines() if line.strip() and not line.endswith(":")
    ]
    return len(lines) > 1 and sum(stem(line[0]) in IMPERATIVES for line in lines) * 2 > len(lines)


IMPERATIVES = stem_set(
    """chop fry mash peel roast season slice spread sprinkle toss add adjust allow apply attach bake beat begin
    boil bring browse build call check choose clean clear click close combine configure connect cook cool
    copy create cut delete disconnect download drag drain drop enable enter fill find fold follow go heat
    hold insert install keep launch leave let lift log mix move navigate open paste place plug pour preheat
    press pull push put reboot remove repeat replace restart rinse run save scroll select send serve set sign
    simmer start stir stop submit switch take tap test tighten turn type unplug unscrew update upload use
    verify wait wash whisk wipe write mount lower raise loosen"""
)
"""What steps begin with."""

_LEAD = 3
"""Words that items may begin with alike, as "red wine" and "red beer" do."""


def _to_joiner(tokens: list[str], end: int) -> int:
    """How many tokens stand behind the clause that the last ``end`` tokens begin in."""
    while end and tokens[-end] not in _JOINERS:
        end -= 1
    return end


def _joined(text: Text) -> list[str]:
    """The tokens of a text, its clauses and items joined by "and"."""
    clean = text.clean
    # "Shopping list: eggs, flour" begins a list; where there are several such heads, each has its own.
    if clean.count(": ") == 1 and clean.find(": ") < clean.find(","):
        clean = clean.replace(": ", " and ")
    return canonical_words(_JOINT.sub(" and ", clean))


def _whole(text: Text) -> list[tuple[str, ...]]:
    """The sentences, in no order: what a sentence binds together stays together."""
    return sorted(tuple(each for each in part.tokens if each not in _JOINERS) for part in text.parts)


def _bound_together(pair: Pair) -> bool:
    """Whether clauses belong to their neighbours: "if it rains, we stay", "Ana, the cook, and Ben, the guide"."""
    here, there = set(pair.a.sentences), set(pair.b.sentences)
    return any(_BINDING.search(sentence) for sentence in here ^ there)


def _clauses(tokens: list[str]) -> list[str]:
    """The clauses between joining words, each with its words of meaning, in no order."""
    kept = ["|" if token in _JOINERS else token for token in tokens if token not in _UNHEARD]
    return sorted(filter(None, [clause.strip() for clause in " ".join(kept).split("|")]))


_JOINT = expression(r"[,;.!?\n](?:(?<=\n)\n*|(?<!\n)(?=\s))")
_BINDING = expression(
    r"\b(?:if|when|whenever|unless|while|whereas|where|respectively|wenn|falls|während|si|cuando|quand|se|als"
    r"|because|since|although|though|whereas|therefore|weil|obwohl|parce que|puisque|porque|perché|omdat)\b"
    r"|,\s(?:the|our|his|her|their|its|my|your|an?)\s[^,;.!?\n]{1,40},\s(?:and\s)?[^,;.!?\n]{1,40},\s(?:the|our|his|her|their|its|my"
    r"|your|an?)\s|[;,]\s[^,;.!?\n]{1,60}:\s",
    re.IGNORECASE,
)
_RANKED = expression(
    r"[^:\n]{0,80}\b(?:rank(?:s|ed|ings?)?|(?:in|by) (?:\w+ ){0,2}order|order of|priorit(?:y|ies)|routes?|stops?"
    r"|itinerary|steps|sequence|queue|standings|podium|timeline|chronolog\w+|schedule|places?|procedure|path|reihenfolge"
    r"|rangliste"
    r"|classement|clasificación|classifica)\b[^:\n]{0,40}:\s",
    re.IGNORECASE,
)
"""What a list in a certain order begins with: "Ranking:"."""
_JOINERS = frozenset({"and", "or", "but"})
_UNHEARD = word_lists.FUNCTION_WORDS - _JOINERS
_SEQUENCE = expression(
    r"(?:\A|[.!?;:,\n]\s*|\band\s+)(?:first(?!-|\s+(?:\w+day|aid|class|floor|name|prize)\b)|firstly|next|second|secondly|third|finally|last|lastly|afterwards"
    r"|now)\b|\b(?:before|after|then)\b",
    re.IGNORECASE,
)
_STEPS = expression(r"^[ \t]*\d+[.)]", re.MULTILINE)


_NUMBER = expression(r"(\d{1,2})[.)]\s+(?=\S)")
_ORDERED = stem_set("recipe rank step top then procedure instruction order priority first next place")
_INTRODUCTION = expression(r"\b(?:how to|in order to)\b|\A\W*to \w+", re.IGNORECASE)
_SAME_ITEM = 0.5

_SHORTEST = 3
"""Words from which whole sentences that are the beginning of a longer answer count as cut off."""

_HALF = 0.5
_REST = 3
_ENDED = expression(r"[.!?…:;)\]}\"'`*。！？|>][\s*_`]*\Z|[^\w\s]\s*\Z")


def check_sequence(pair: Pair) -> Finding | None:
    """Whether numbered items changed places, or one answer is only the beginning of the other."""
    return _moved(pair) or _cut(pair) or _rearranged(pair)


def check_steps(pair: Pair) -> Finding | None:
    """The same, but an answer that ends with one of the other's sentences is complete: it only says less."""
    return _moved(pair) or _cut(pair, complete=True) or _rearranged(pair)


def _rearranged(pair: Pair) -> Finding | None:
    """Steps or ranks that stand in another order: a doubt, as some steps do not need the one before."""
    if not pair.middle_a or pair.only_a or pair.only_b or any(pair.changed) or not pair.a.once(ordered):
        return None
    return doubt("sequence", "steps-reordered")


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
    sets = [frozenset(analyse(item).token_set - word_lists.FUNCTION_WORDS) for item in second]
    places: list[int] = []
    for item in first:
        here = analyse(item).token_set - word_lists.FUNCTION_WORDS
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
    told = contradiction if _is_sequence(lead, first) else doubt
    return told("sequence", "item-moved", moved + 1, places[moved] + 1)


def _is_sequence(lead: str, items: list[str]) -> bool:
    if _INTRODUCTION.search(lead) or not _ORDERED.isdisjoint(map(stem, split_words(lead))):
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
_FULL_STOPS = (".", "!", "?")
"""Ends of a baseline that is complete: a response that goes on adds to it."""


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
        added_to = which == "baseline" and short.raw.rstrip().endswith(_FULL_STOPS)
        if not numbered and (added_to or missing < _HALF * len(whole)):
            return None
    return contradiction("sequence", "cut-off", which, " ".join(words[-3:]), missing)


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
