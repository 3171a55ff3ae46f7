"""Words of which only one can hold in one place: Monday and Tuesday, all and some, must and may."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.word_lists import entries, when_used
from pytest_promptfuzz.comparing.words import canonical, canonical_set

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair

# Neighbours that may stand for each other: neither contradicts the other.
_NEAR = """
must/should can/may can/could can/should can/might may/might may/could might/could
usually/often rarely/seldom many/several some/several many/most yearly/annually no/none
double/twice doubled/twice triple/thrice tripled/thrice
"""
_SPARED = when_used(
    lambda: frozenset(frozenset(canonical(word)[0] for word in pair.split("/")) for pair in _NEAR.split())
)


def _sets(*names: str) -> dict[str, list[frozenset[str]]]:
    table: dict[str, list[frozenset[str]]] = {}
    for line in chain.from_iterable(entries(name, str.split) for name in names):
        members = frozenset(word if "-" in word else canonical(word)[0] for word in line)
        for member in members:
            table.setdefault(member, []).append(members)
    return table


_SETS = when_used(lambda: _sets("exclusive.txt", "kinds.txt"))
TRIGGERS = when_used(lambda: frozenset(_SETS))
DECIDING = when_used(lambda: frozenset(_sets("exclusive.txt")))
"""Words that decide an answer even where nothing stands in their place in the other text."""
_HEDGES = canonical_set(
    "might may could possibly perhaps maybe probably likely allegedly reportedly supposedly seem appear"
)
"""Words that make a statement uncertain."""
_FRAME = 0.6
_NARROW = 2
_LIGHT = frozenset({"a", "an", "the", "of"})
_QUANTITY = frozenset({"all", "most", "many", "several", "some", "few"})


def excluded_by(word: str) -> frozenset[str]:
    """The canonical tokens that cannot hold where this one does."""
    others = frozenset().union(*_SETS.get(word, ())) - {word}
    return frozenset(other for other in others if frozenset({word, other}) not in _SPARED)


def check(pair: Pair) -> Finding | None:
    """Whether a word gave way to one that excludes it, or a statement became uncertain."""
    # A word that gave way in one sentence may still stand in another, so that occurrences are counted.
    gone, come = pair.changed
    if not (TRIGGERS.isdisjoint(gone) or TRIGGERS.isdisjoint(come)):
        for side in pair.sides:
            found = _exclusive(side)
            if found:
                return found
    return _hedge(pair)


def _exclusive(pair: Pair) -> Finding | None:
    for word in sorted(pair.only_a & TRIGGERS):
        for members in _SETS[word]:
            for other in sorted(pair.only_b & members):
                if frozenset({word, other}) in _SPARED or ({word, other} == _IF and _one_denies(pair)):
                    continue
                if not lexicon.FUNCTION_WORDS.isdisjoint((word, other)):
                    same = _put_for(pair, word, other)
                else:
                    same = pair.short or _same_place(pair, word, other)
                if same:
                    return Finding(
                        "choices",
                        "contradiction",
                        f"{written(pair, word)!r} in the baseline became {written(pair, other, response=True)!r}",
                    )
    return None


_IF = {"if", "unless"}


def _one_denies(pair: Pair) -> bool:
    """Whether one of the texts has a negator more than the other, as "if you do not" has for "unless you"."""
    one, two = (sum(map(lexicon.NEGATORS.__contains__, text.tokens)) for text in (pair.a, pair.b))
    return one != two


def _put_for(pair: Pair, word: str, other: str) -> bool:
    """Whether a small word stands for another in an otherwise equal statement."""
    if pair.similarity < _FRAME:
        return False
    return any(
        word in gone and other in come and max(map(_breadth, (gone, come))) <= _NARROW
        for gone, come in pair.edits
    )


def _breadth(run: tuple[str, ...]) -> int:
    return sum(token not in _LIGHT for token in run)


def _same_place(pair: Pair, word: str, other: str) -> bool:
    for gone, come in pair.edits:
        if word in gone and other in come:
            return True
    near_a = _near(pair.a.tokens, word)
    return bool(near_a & _near(pair.b.tokens, other))


def _near(tokens: list[str], word: str) -> set[str]:
    at = tokens.index(word)
    return {
        each
        for each in tokens[max(0, at - 2) : at + 3]
        if each != word and each not in lexicon.FUNCTION_WORDS
    }


def _hedge(pair: Pair) -> Finding | None:
    here, there = pair.only_a & _HEDGES, pair.only_b & _HEDGES
    if bool(here) == bool(there):
        quantity = pair.only_a & _QUANTITY or pair.only_b & _QUANTITY
        if (
            quantity
            and bool(pair.only_a & _QUANTITY) != bool(pair.only_b & _QUANTITY)
            and pair.similarity >= 0.5
        ):
            word = written(pair, min(quantity))
            return Finding("choices", "doubt", f"{word!r} stands in one of the texts only")
        return None
    side, word = ("baseline", min(here)) if here else ("response", min(there))
    text = pair.a if here else pair.b
    if word == "may" and _month(text.tokens):
        return None
    return Finding("hedging", "doubt", f"only the {side} hedges ({written(pair, word, response=not here)!r})")


def _month(tokens: list[str]) -> bool:
    at = tokens.index("may")
    near = tokens[max(0, at - 1) : at] + tokens[at + 1 : at + 2]
    return any(each[0].isdigit() or each in {"in", "since", "until", "by"} for each in near)
