"""Who did what to whom: two words or names that changed places around a verb."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import opposed, written
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.order import parts_moved, rotated, voiced
from pytest_promptfuzz.comparing.words import canonical_set
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.comparing.guards.pair import Pair

_LONGEST = 6
_SWAP_EDITS = 2
_BE = word_set("is are was were be been being get gets got gotten")
_JOINING = word_set("and or & with between nor plus y e et ou und oder o")
_LEADING = word_set("by via in on at through to from per par por mit durch per door")
_ARTICLES = word_set("a an the this that our your its his her their")
_PLACING = word_set("in on at during for as")
_DECLINED = word_set("der den dem")
_TIMES = word_set(
    """montag dienstag mittwoch donnerstag freitag samstag sonntag heute morgen gestern morgens abends
    today tomorrow yesterday hoy ayer demain hier aujourd'hui"""
)
_SYMMETRIC = word_set("equal marri meet match resembl differ same as")
_LIST = expression(r"(?:[^,;.]{1,40},)+ ?(?:and|or|&)\s+[^,;.]{1,40}")


def check(pair: Pair) -> Finding | None:
    """Whether two parties changed places."""
    if pair.similarity > 0.999 or (pair.similarity < 0.4 and (pair.only_a or pair.only_b)):
        return None
    exchanged = _exchanged(pair)
    if exchanged:
        return exchanged
    if pair.middle_a and pair.middle_b:
        for side in pair.sides:
            found = _declined(side) or _stood_in(side)
            if found:
                return found
    if len(pair.edits) < _SWAP_EDITS and "by" not in pair.only_a and "by" not in pair.only_b:
        return None
    for side in pair.sides:
        swapped = _swap(side.a.tokens, side.b.tokens)
        if swapped and not _listed(side.a.clean, swapped) and not parts_moved(pair):
            first, second = (" ".join(written(side, token) for token in part.split()) for part in swapped)
            return Finding("roles", "contradiction", f"{first!r} and {second!r} changed places")
        turned = _turned(side.a.tokens, side.b.tokens)
        if turned:
            return Finding(
                "roles",
                "contradiction",
                f"{written(side, turned[0])!r} and {written(side, turned[1])!r} changed places",
            )
    return None


_NUMBERED = expression(r"(?<!\S)1[.)]\s+\S")
"""The first item of a numbered list, which the guard of sequences reads."""


def _exchanged(pair: Pair) -> Finding | None:
    """The same words in the same places, but two of them, or two names, stand throughout in each other's place."""
    a, b = pair.middle_a, pair.middle_b
    only = (pair.only_a | pair.only_b) - _OWNERS
    if len(a) != len(b) or len(a) < _FEWEST or only or _NUMBERED.search(pair.a.raw):
        return None
    swaps: dict[str, str] = {}
    for one, two in zip(a, b, strict=True):
        if one in _OWNERS and two in _OWNERS:
            continue
        if swaps.setdefault(one, two) != two:
            return None
    moved = {one: two for one, two in swaps.items() if one != two}
    if not moved or len(moved) > _MOST_MOVED or any(swaps.get(two) != one for one, two in moved.items()):
        return None
    if any(one in lexicon.FUNCTION_WORDS or one[0].isdigit() for one in moved):
        return None
    if parts_moved(pair) or rotated(pair.a.tokens, pair.b.tokens) or voiced(pair):
        return None
    first, second = next(iter(moved.items()))
    between = a[a.index(first) + 1 : a.index(second)]
    if len(between) <= _CLOSE and _harmless("", [first], between or ["and"], [second]):
        return None
    said = f"{written(pair, first)!r} and {written(pair, second)!r} changed places"
    return Finding("roles", "contradiction" if len(moved) in _PARTIES else "doubt", said)


def _declined(side: Pair) -> Finding | None:
    """Who does what to whom in German: the article says it, wherever the noun stands."""
    if _CASES.isdisjoint(side.a.token_set) or _CASES.isdisjoint(side.b.token_set):
        return None
    if not (side.only_a | side.only_b) <= _ARTICLES_ABROAD or not _PASSIVE.isdisjoint(side.a.token_set):
        return None
    here, there = _cases(side.a.tokens), _cases(side.b.tokens)
    for noun, article in here.items():
        if {article, there.get(noun)} in ({"der", "den"}, {"der", "dem"}):
            said = f"{article} {written(side, noun)} became {there[noun]} {written(side, noun)}"
            return Finding("roles", "contradiction", said)
    return None


_CASES = frozenset({"der", "den", "dem"})
_ARTICLES_ABROAD = word_set("der die das den dem des ein eine einen einem einer")
_PASSIVE = word_set("wird werden wurde wurden worden")


def _cases(tokens: Sequence[str]) -> dict[str, str]:
    """The nouns that follow an article of their own, each with it."""
    return {noun: article for article, noun in pairwise(tokens) if article in _CASES and noun not in _CASES}


def _stood_in(side: Pair) -> Finding | None:
    """One of two opposite parties does what the other one does in the other text: "the landlord pays", "the tenant"."""
    if side.similarity < _EQUAL:
        return None
    for gone, come in side.edits:
        old, new = _meaningful(gone), _meaningful(come)
        if (
            len(old) == 1 == len(new)
            and opposed(old[0], new[0])
            and not rotated(side.a.tokens, side.b.tokens)
        ):
            said = (
                f"{written(side, old[0])!r} in the baseline became {written(side, new[0], response=True)!r}"
            )
            return Finding("roles", "contradiction", said)
    return None


_EQUAL = 0.8

_FEWEST = 3
_OWNERS = word_set("his her their its")
"""What goes with who does it: "Marta lent Igor her bicycle", "Igor lent Marta his"."""
_CLOSE = 4
"""Words between two that stand in one clause."""
_MOST_MOVED = 8
_PARTIES = (2, 4, 6)
"""Words that move where two parties change places: their two names, of one word to three."""


def _swap(a: Sequence[str], b: Sequence[str]) -> tuple[str, str] | None:
    """The segments X and Y where the one text has X…Y and the other, otherwise the same, Y…X."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    middle_a, middle_b = list(a[start : len(a) - end]), list(b[start : len(b) - end])
    if len(middle_a) != len(middle_b) or len(middle_a) < 3 or sorted(middle_a) != sorted(middle_b):
        return None
    for length in range(1, min(_LONGEST, len(middle_a) - 2) + 1):
        first = middle_a[:length]
        if middle_b[-length:] != first:
            continue
        for other in range(1, min(_LONGEST, len(middle_a) - length - 1) + 1):
            second = middle_b[:other]
            between = middle_a[length : len(middle_a) - other]
            if middle_a[-other:] != second or between != middle_b[other : len(middle_b) - length]:
                continue
            before_first = a[start - 1] if start else ""
            if _harmless(before_first, first, between, second):
                return None
            return " ".join(first), " ".join(second)
    return None


def _harmless(before: str, first: list[str], between: list[str], second: list[str]) -> bool:
    light = _ARTICLES | _JOINING
    if not _JOINING.isdisjoint(between):
        light |= _LEADING  # "by phone or by email"
    meaningful = [word for word in between if word not in light]
    if (
        between
        and _COPULA.issuperset(between)
        and "the" in {first[0], second[0]}
        and _ALL.isdisjoint((*first, *second))
    ):
        return True  # "the winner is Anna", "Anna is the winner"
    if first[0] in _EXCEPTING or second[0] in _EXCEPTING or second[-1] in _EXCEPTING:
        return True  # an exception says the same wherever it stands
    if not meaningful or not _SYMMETRIC.isdisjoint(between):
        return True
    if before in _PLACING and between[-1] in _PLACING:
        return True
    # A time or an amount is no party; what numbers do in each other's place, the guard of numbers knows.
    if _is_amount(first) != _is_amount(second):
        return True
    # German tells the subject by its article, not by its place.
    if not _DECLINED.isdisjoint((*first, *second)) or any(
        len(part) == 1 and part[0] in _TIMES for part in (first, second)
    ):
        return True
    # "In May he left in a hurry": phrases of place and time move freely with their preposition.
    if first[0] in _PLACING and second[0] in _PLACING:
        return True
    # Whole clauses around a conjunction: "the room was clean and the staff were kind".
    return bool(_JOINING & set(between)) and len(meaningful) == 0


_COPULA = word_set("is are was were")
_ALL = word_set("all every each some no not only any most many few")
_EXCEPTING = canonical_set("except excepted excluded excluding")


def _is_amount(part: list[str]) -> bool:
    """Whether a part is a number with its unit or its month: "18 May", not "the 18 year old pupil"."""
    return any(token[0].isdigit() for token in part) and len(_meaningful(part)) <= _VALUE


_VALUE = 2


def _listed(text: str, swapped: tuple[str, str]) -> bool:
    lowered = text.lower()
    heads = [part.split()[0][:4] for part in swapped]
    return any(all(head in found[0] for head in heads) for found in _LIST.finditer(lowered))


def _turned(a: Sequence[str], b: Sequence[str]) -> tuple[str, str] | None:
    """Active against passive with the parties as they stood: "A bought B" and "A was bought by B"."""
    if ("by" in a) == ("by" in b):
        return None
    active, passive = (b, a) if "by" in a else (a, b)
    at = len(passive) - 1 - list(reversed(passive)).index("by")
    after = _meaningful(passive[at + 1 :])
    if at < 2 or not after:
        return None
    verb = passive[at - 1]
    if verb not in active or not _BE & set(passive[max(0, at - 4) : at]):
        return None
    before = _meaningful(passive[: at - 1])
    place = list(active).index(verb)
    subject, target = _meaningful(active[:place]), _meaningful(active[place + 1 :])
    if before and after[0] in target and before[-1] in subject and after[0] not in subject:
        return before[-1], after[0]
    return None


def _meaningful(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token not in lexicon.FUNCTION_WORDS]
