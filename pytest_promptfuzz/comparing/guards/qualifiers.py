"""Guards for words that qualify: must and may, conditions, exceptions, words that exclude each other."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.comparison import Observation
from pytest_promptfuzz.comparing.guards.negations import TRIGGERS as _POLARITY
from pytest_promptfuzz.comparing.guards.negations import written
from pytest_promptfuzz.comparing.guards.pair import contradiction, doubt
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.reading.words import DEGREES, MONTH_TOKENS, canonical, canonical_set
from pytest_promptfuzz.data.tables import entries, when_used

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.comparing.guards.pair import Finding, Pair
    from pytest_promptfuzz.comparing.reading.text import Text


def _forces_of_words() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for name, word in entries("comparing/forces.tsv", lambda name, word: (name, word)):
        form = canonical(word)
        if len(form) == 1:
            table[form[0]] = table.get(form[0], frozenset()) | {name}
    return table


_FORCES = when_used(_forces_of_words)
_MODAL_FRAME = 0.55
_EQUAL_FRAME = 0.8
_SPARED = canonical_set(
    """need required necessary obliged obligation mandatory compulsory muss müssen musst verpflichtet erforderlich
    obligé obligée tenu tenue obligado verplicht"""
)
"""Words of duty whose denial leaves one free; to deny another one is to forbid."""
_FREELY = frozenset({"must"})
"""What forbids before its "not" and leaves one free behind it: "must not", "do not have to"."""
_OPPOSED = (
    ("ban", "spared", "leaves-open"),
    ("assured", "possible", "holds-for-possible"),
    ("right", "grace", "leaves-open"),
    ("duty", "leave", "leaves-open"),
    ("duty", "advice", "only-recommends"),
    ("certain", "possible", "holds-for-possible"),
    ("duty", "possible", "holds-for-possible"),
)


def forces(tokens: Sequence[str]) -> dict[str, str]:
    """The forces of a statement, each with the word that brings it.

    A denied duty forbids ("must not"), or leaves one free ("need not": ``spared``); denied leave forbids. Other words
    that a negator precedes or follows are left out.
    """
    found: dict[str, str] = {}
    for index, token in enumerate(tokens):
        names = _FORCES.get(token)
        if not names:
            continue
        before = not word_lists.NEGATORS.isdisjoint(tokens[max(0, index - 1) : index])
        after = not word_lists.NEGATORS.isdisjoint(tokens[index + 1 : index + 2])
        if not before and not after:
            for name in names:
                found.setdefault(name, token)
        elif token in _SPARED or (before and token in _FREELY):
            found.setdefault("spared", token)
        elif names & {"duty", "leave"}:
            found.setdefault("ban", token)
    return found


def check_modality(pair: Pair) -> Finding | None:
    """Whether a duty became a choice, or a certainty a possibility."""
    gone, come = pair.changed
    if _FORCES.keys().isdisjoint(gone) and _FORCES.keys().isdisjoint(come):
        return None
    for side in pair.sides:
        found = _statement(side)
        if found:
            return found
    return None


def _statement(side: Pair) -> Finding | None:
    gone, come = side.changed
    if _FORCES.keys().isdisjoint(gone) and _FORCES.keys().isdisjoint(come):
        return None
    if "may" in gone | come and _is_month(side):
        return None
    one, two = forces(side.a.tokens), forces(side.b.tokens)
    if side.similarity < _MODAL_FRAME:
        return None
    for strong, weak, code in _OPPOSED:
        for here, there, which, response in ((one, two, "response", True), (two, one, "baseline", False)):
            if strong in here and strong not in there and weak in there and weak not in here:
                old = written(side, here[strong], response=not response)
                new = written(side, there[weak], response=response)
                return contradiction("modality", code, which, new, old)
    for here, there, which, response in ((one, two, "response", True), (two, one, "baseline", False)):
        if (
            "possible" in there
            and not here.keys() & {"possible", "leave"}
            and side.similarity >= _EQUAL_FRAME
        ):
            new = written(side, there["possible"], response=response)
            return contradiction("modality", "only-uncertain", which, new)
    return None


def _is_month(side: Pair) -> bool:
    text = side.a.clean if "may" in side.a.token_set else side.b.clean
    return "May" in text[1:]


# Conditions and exceptions: what holds always in one text and under a condition in the other.


CONDITIONS = word_set(
    """if unless only except until whether provided wenn falls sofern nur außer bis si seulement sauf solo sólo
    salvo excepto se tranne als tenzij alleen behalve"""
)
"""Words that bring a condition, an exception or a limit."""

_BINDING = word_set(
    "if unless except wenn falls sofern nur außer seulement sauf sólo salvo excepto tranne tenzij behalve"
)
_ELSEWHERE = word_set(
    "when whenever once after until while in should who whose which for with without by but only not"
)
"""What may say in the other text what a condition says in the first."""
_POLITE = word_set(
    "like wish want prefer need have necessari possibl applic appropri any so not in desir requir ever at"
)
_FEWEST = 3


def check_conditions(pair: Pair) -> Finding | None:
    """Whether one text is the other one and a condition."""
    gone, come = pair.changed
    if _BINDING.isdisjoint(gone) and _BINDING.isdisjoint(come):
        return None
    for side in pair.sides:
        found = _added(side)
        if found:
            return found
    return None


def _added(side: Pair) -> Finding | None:
    less, more = side.residue
    if bool(less) == bool(more):
        return None
    response = bool(more)
    short, long = (side.a, side.b) if response else (side.b, side.a)
    words = (_BINDING & long.token_set) - short.token_set
    if len(words) != 1 or len(short.content) < _FEWEST:
        return None
    (word,) = words
    at = long.tokens.index(word)
    following = [
        token for token in long.tokens[at + 1 :] if token not in {"you", "i", "it", "is", "this", "that"}
    ]
    if not following or following[0] in _POLITE or not _BINDING.isdisjoint(short.token_set):
        return None
    extra = word_lists.FUNCTION_WORDS | set(more or less)
    if not _ELSEWHERE.isdisjoint(short.token_set - long.token_set) or not extra.issuperset(following[:1]):
        return None
    which = "response" if response else "baseline"
    return contradiction("conditions", "only-under-condition", which, written(side, word, response=response))


# Words of which only one can hold in one place: Monday and Tuesday, all and some, must and may.


# Neighbours that may stand for each other: neither contradicts the other.
_NEAR = """
must/should can/may can/could can/should can/might may/might may/could might/could
usually/often rarely/seldom many/several some/several many/most yearly/annually no/none
double/twice doubled/twice triple/thrice tripled/thrice
"""
_SPARED_CHOICES = when_used(
    lambda: frozenset(frozenset(canonical(word)[0] for word in pair.split("/")) for pair in _NEAR.split())
)


def _sets(*names: str) -> dict[str, list[frozenset[str]]]:
    table: dict[str, list[frozenset[str]]] = {}
    for line in chain.from_iterable(entries(name, str.split) for name in names):
        members = frozenset(word if "-" in word else canonical(word)[0] for word in line)
        for member in members:
            table.setdefault(member, []).append(members)
    return table


_SETS = when_used(lambda: _sets("comparing/exclusive.txt", "comparing/kinds.txt"))
TRIGGERS = when_used(lambda: frozenset(_SETS))
DECIDING = when_used(lambda: frozenset(_sets("comparing/exclusive.txt")))
"""Words that decide an answer even where nothing stands in their place in the other text."""
_HEDGES = canonical_set(
    "might may could possibly perhaps maybe probably likely allegedly reportedly supposedly seem appear"
)
"""Words that make a statement uncertain."""
_CHOICE_FRAME = 0.6
_NARROW = 2
_LIGHT = frozenset({"a", "an", "the", "of"})
_QUANTITY = frozenset({"all", "most", "many", "several", "some", "few"})


def excluded_by(word: str) -> frozenset[str]:
    """The canonical tokens that cannot hold where this one does."""
    others = frozenset().union(*_SETS.get(word, ())) - {word}
    return frozenset(other for other in others if frozenset({word, other}) not in _SPARED_CHOICES)


def check_choices(pair: Pair) -> Finding | None:
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
                if frozenset({word, other}) in _SPARED_CHOICES or (
                    {word, other} == _IF and _one_denies(pair)
                ):
                    continue
                if not word_lists.FUNCTION_WORDS.isdisjoint((word, other)):
                    same = _put_for(pair, word, other)
                else:
                    same = pair.short or _same_place(pair, word, other)
                if same:
                    new = written(pair, other, response=True)
                    return contradiction("choices", "word-became", written(pair, word), new)
    return None


_IF = {"if", "unless"}


def _one_denies(pair: Pair) -> bool:
    """Whether one of the texts has a negator more than the other, as "if you do not" has for "unless you"."""
    one, two = (sum(map(word_lists.NEGATORS.__contains__, text.tokens)) for text in (pair.a, pair.b))
    return one != two


def _put_for(pair: Pair, word: str, other: str) -> bool:
    """Whether a small word stands for another in an otherwise equal statement."""
    if pair.similarity < _CHOICE_FRAME:
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
        if each != word and each not in word_lists.FUNCTION_WORDS
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
            return doubt("choices", "quantity-in-one", written(pair, min(quantity)))
        return None
    side, word = ("baseline", min(here)) if here else ("response", min(there))
    text = pair.a if here else pair.b
    if word == "may" and _month(text.tokens):
        return None
    return doubt("hedging", "only-hedges", side, written(pair, word, response=not here))


def _month(tokens: list[str]) -> bool:
    at = tokens.index("may")
    near = tokens[max(0, at - 1) : at] + tokens[at + 1 : at + 2]
    return any(each[0].isdigit() or each in {"in", "since", "until", "by"} for each in near)


# What similarity of meaning must not pass: words that decide an answer and stand in one of the texts only.
#
# An embedding holds "must" and "may", "known" and "no known", Monday and Tuesday to be nearly the same. Where the texts
# differ in such a word and no guard could tell what it does there, they may be close, but not equivalent.


_DECIDING = when_used(lambda: (DECIDING | word_lists.NEGATORS) - word_lists.FUNCTION_WORDS | CONDITIONS)
_COMMON = canonical_set("get give take")
_SCALES = when_used(lambda: _POLARITY - _DECIDING - word_lists.FUNCTION_WORDS - _COMMON)
_TOGETHER = frozenset({"leave", "possible", "certain", "assured", "right", "grace", "ban", "spared"})
"""What "can" and "may" say alike, what a tense may say as well, and what only counts against its opposite."""


_ARTICLES = word_set("der die das den dem des ein eine einen einem einer")


def _ordered(text: Text) -> list[str]:
    return sorted(token for token in text.content if token not in _ARTICLES)


_RESTRICTING = when_used(lambda: (_DECIDING | DEGREES) - MONTH_TOKENS)


def restricts(tokens: list[str]) -> bool:
    """Whether a word among tokens may turn or narrow what it is added to: a negator, a degree, a condition."""
    return any(token in _RESTRICTING for token in tokens)


def forced(pair: Pair) -> Observation | None:
    """What only one of two texts says is a duty, allowed, possible or sure; ``None`` where both say the same."""
    one, two = (forces(text.tokens).keys() - _TOGETHER for text in (pair.a, pair.b))
    return Observation("only-one-says-force", min(one ^ two)) if one != two else None


def at_stake(pair: Pair) -> Observation | None:
    """What two texts differ in that decides an answer; ``None`` where they differ in nothing of the kind."""
    gone, come = pair.changed
    for tokens, others, which in ((gone, pair.only_b, "baseline"), (come, pair.only_a, "response")):
        for token in sorted(tokens):
            # What may have taken the place of one end of a scale is the other end, by a word that is not known here.
            if (
                token in _DECIDING
                or token[0].isdigit()
                or (token in _SCALES and others - word_lists.FUNCTION_WORDS - _COMMON)
            ):
                word = written(pair, token, response=which == "response")
                return Observation("word-in-one", word, which)
    if forced(pair):
        return forced(pair)
    declined = not _ARTICLES.isdisjoint(pair.only_a | pair.only_b) and _ordered(pair.a) == _ordered(pair.b)
    if len(set(pair.a.tokens)) > 1 and (pair.a.token_set == pair.b.token_set or declined):
        return Observation("words-reordered")
    return None
