"""Numbers, times, dates and their units: 14 that became 41, kilograms that became pounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon, same_dates
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.word_lists import when_used
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import Text

_CONTEXT = 4
_MOST = 200
"""Changed numbers looked at in one pair of statements: a table of thousands is not read to its end."""

_SIGNED = expression(r"(?<![\w.)])[-−](?=[$€£]?\d)")
_OPERATOR = expression(r"[<>≤≥≠=]=?")
_ROLES = frozenset({"from", "to", "between", "by", "over", "under", "than", "until", "since"})


def _numbers(tokens: Iterable[str]) -> list[str]:
    return [token for token in tokens if token[0].isdigit()]


def _positions(tokens: Sequence[str]) -> list[int]:
    return [index for index, token in enumerate(tokens) if token[0].isdigit() or token == _HALF]


def _amounts(tokens: Iterable[str]) -> list[str]:
    """The tokens that are numbers; 50 % is read as a half."""
    return [token for token in tokens if token[0].isdigit() or token == _HALF]


_HALF = "half"


def _context(tokens: list[str], index: int) -> set[str]:
    near = tokens[max(0, index - _CONTEXT) : index] + tokens[index + 1 : index + 1 + _CONTEXT]
    return {token for token in near if token not in lexicon.FUNCTION_WORDS and not token[0].isdigit()}


def check(pair: Pair) -> Finding | None:
    """Whether a number of the baseline is another one in the response."""
    found = _symbols(pair) or _other_day(pair)
    if found:
        return found
    gone, come = map(_amounts, pair.changed)
    if not gone and not come:
        return _moved(pair)
    if gone and come:
        for side in pair.sides:
            found = _replaced(side)
            if found:
                return found
    lost = next((token for token in pair.middle_a if token in pair.only_a and _counts(token, pair.a)), None)
    if lost is not None:
        if pair.short and _refilled(pair, lost):
            return Finding(
                "numbers", "contradiction", f"number {lost} in the baseline gave way to other words"
            )
        return Finding("numbers", "doubt", f"number {lost} in the baseline is missing from the response")
    new = next((token for token in pair.middle_b if token in pair.only_b and _counts(token, pair.b)), None)
    if new is None:
        return None
    return Finding("numbers", "doubt", f"number {new} in the response is not in the baseline")


def _other_day(pair: Pair) -> Finding | None:
    """A day for another one, where one of the texts writes it in digits."""
    one, two = pair.a.clean, pair.b.clean
    if not (pair.a.once(same_dates.in_digits) or pair.b.once(same_dates.in_digits)):
        return None
    here, there = (
        {day for day, _, _ in days} for days in (same_dates.days(one, two), same_dates.days(two, one))
    )
    if here - there and there - here:
        old, new = (min(days).date() for days in (here - there, there - here))
        return Finding("numbers", "contradiction", f"the day {old} in the baseline became {new}")
    return None


_ARTICLE_LIKE = frozenset({"1"})


def _counts(token: str, text: Text) -> bool:
    """Whether a token is a number whose absence is news; "one day" and "a day" are the same."""
    return token[0].isdigit() and not (token in _ARTICLE_LIKE and "one" in text.words)


def _replaced(pair: Pair) -> Finding | None:
    fewer, more = map(_amounts, pair.changed)
    if not fewer or not more:
        return None
    gone = [index for index, token in enumerate(pair.a.tokens) if token in fewer]
    come = [index for index, token in enumerate(pair.b.tokens) if token in more]
    whole = len(_positions(pair.a.tokens)) == 1 == len(_positions(pair.b.tokens))
    places = [(index, _context(pair.b.tokens, index)) for index in come[:_MOST]]
    for index_a in gone[:_MOST]:
        around = _context(pair.a.tokens, index_a)
        for index_b, there in places:
            shared = around & there
            unit_a, unit_b = _unit(pair.a.tokens, index_a), _unit(pair.b.tokens, index_b)
            if unit_a != unit_b and (unit_a in _KNOWN_UNITS or unit_b in _KNOWN_UNITS) and not pair.short:
                continue
            if shared or (whole and pair.short) or not around:
                return Finding(
                    "numbers",
                    "contradiction",
                    f"number {pair.a.tokens[index_a]} in the baseline became {pair.b.tokens[index_b]}",
                )
    return None


_KNOWN_UNITS = when_used(lambda: frozenset({*lexicon.UNITS.values(), "day", "month", "minute", "hour"}))


def _unit(tokens: Sequence[str], index: int) -> str:
    return tokens[index + 1] if index + 1 < len(tokens) else ""


def _refilled(pair: Pair, number: str) -> bool:
    """Whether words of meaning stand where the number stood."""
    for gone, come in pair.edits:
        if number in gone:
            return any(token not in lexicon.FUNCTION_WORDS for token in come) and pair.similarity >= 0.5
    return False


def _moved(pair: Pair) -> Finding | None:
    """The same numbers, each now in the other's place: "from 18 % to 22 %" against "from 22 % to 18 %"."""
    if _numbers(pair.middle_a) == _numbers(pair.middle_b):
        return None
    for side in pair.sides:
        first, second = side.a.tokens, side.b.tokens
        places_a, places_b = _places(first), _places(second)
        if len(places_a) < 2:
            continue
        for number, place in places_a.items():
            other = places_b.get(number)
            if other is None or other == place:
                continue
            holder = next(
                (each for each, where in places_b.items() if where == place and each != number), None
            )
            if holder is not None and places_a.get(holder) == other:
                return Finding("numbers", "contradiction", f"numbers {number} and {holder} changed places")
    return None


def _places(tokens: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Each number that stands once, with the words that say what it is: the preposition, else its neighbours."""
    places: dict[str, tuple[str, ...]] = {}
    positions = _positions(tokens)
    for index in positions:
        token = tokens[index]
        before = tokens[index - 1] if index else ""
        back = index - 1
        while back >= 0 and (tokens[back][0].isdigit() or tokens[back] in {"a", "an", "the", "dollar"}):
            back -= 1
        before = tokens[back] if back >= 0 else ""
        after = (
            next((each for each in tokens[index + 1 :] if each not in _PLAIN), "")
            if before not in _ROLES
            else ""
        )
        if token in places:
            places[token] = ("twice", token)
        else:
            places[token] = (before, after)
    return places


_PLAIN = frozenset({"%", "dollar", "euro", "and", "to", "in", "of", "the"})


_MARKS = "-<>=−≤≥≠"


def _marked(text: Text) -> bool:
    clean = text.clean
    for mark in _MARKS:  # noqa: SIM110  # asked of every text: a fifth of what an expression or any() takes
        if mark in clean:
            return True
    return False


def _symbols(pair: Pair) -> Finding | None:
    raw_a, raw_b = pair.a.clean, pair.b.clean
    if not pair.a.once(_marked) and not pair.b.once(_marked):
        return None
    if ("-" in raw_a or "-" in raw_b or "−" in raw_a or "−" in raw_b) and (
        len(_SIGNED.findall(raw_a)) != len(_SIGNED.findall(raw_b))
    ):
        same = [token for token in pair.a.tokens if token[0].isdigit() and token in pair.b.token_set]
        if same:
            return Finding(
                "numbers",
                "contradiction" if pair.short else "doubt",
                f"the sign of a number changed near {same[0]}",
            )
    if _OPERATOR.search(raw_a) and _OPERATOR.search(raw_b):
        here, there = _OPERATOR.findall(raw_a), _OPERATOR.findall(raw_b)
        if here != there and len(here) == len(there):
            return Finding("numbers", "contradiction", f"the sign {' '.join(here)} became {' '.join(there)}")
    return None
