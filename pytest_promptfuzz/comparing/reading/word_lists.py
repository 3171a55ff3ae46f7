"""Tables of words that stand in files of ``data/``: an entry a line, its columns parted by tabs, ``#`` before remarks.

A module keeps such a table as ``_POLES = when_used(_poles)``: a name like any other, whose file is read once something
asks it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


T = TypeVar("T")
_FOLDER = files("pytest_promptfuzz.comparing").joinpath("data")
_NAME = expression("<([A-Z]+)>")


def entries(name: str, entry: Callable[..., T]) -> list[T]:
    """What ``entry`` makes of the columns of each line.

    Raises:
        ValueError: A line has other columns than ``entry`` takes, or one that it cannot read.
    """
    found = []
    for number, columns in _lines(name):
        try:
            found.append(entry(*columns))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{_FOLDER.joinpath(name)}, line {number}: {error}") from error
    return found


def alternatives(name: str, kind: str) -> str:
    """One regular expression of the lines of a kind; ``<NAME>`` in them stands for those of the kind ``NAME``."""
    lines: dict[str, list[str]] = {}
    for each, line in entries(name, lambda each, line: (each, line)):
        lines.setdefault(each, []).append(line)
    joined = {each: f"(?:{'|'.join(some)})" for each, some in lines.items()}
    return _NAME.sub(lambda found: joined[found[1]], joined[kind])


@cache
def _lines(name: str) -> list[tuple[int, list[str]]]:
    lines = _FOLDER.joinpath(name).read_text(encoding="utf-8").splitlines()
    return [
        (number, line.split("\t"))
        for number, line in enumerate(lines, start=1)
        if line and not line.startswith("#")
    ]


def when_used(make: Callable[[], T]) -> T:
    """A set or a dictionary that is made when it is first used, as ``expression`` is for regular expressions.

    ``isinstance`` does not know it, and what C code does with a whole set (``some.isdisjoint(this)``) goes through it
    word by word: ask the large one, ``this.isdisjoint(some)``.
    """
    return cast("T", _WhenUsed(make))


class _WhenUsed:
    """Stands for a container, whose methods are its own once one of them was asked for."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name == "_made":
            found = self._make()
            # From now on ``in`` asks the container itself: a method written in Python costs three times as much.
            self.__class__ = type(type(self).__name__, (type(self),), {"__contains__": found.__contains__})
        elif name.startswith("__"):
            raise AttributeError(name)
        else:
            found = getattr(self._made, name)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"when_used({self._make!r})"

    def __contains__(self, key: object) -> bool:
        return key in self._made

    def __getitem__(self, key: object) -> Any:
        return self._made[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __and__(self, other: Any) -> Any:
        return self._made & other

    def __or__(self, other: Any) -> Any:
        return self._made | other

    def __sub__(self, other: Any) -> Any:
        return self._made - other

    def __rand__(self, other: Any) -> Any:
        return other & self._made

    def __ror__(self, other: Any) -> Any:
        return other | self._made

    def __rsub__(self, other: Any) -> Any:
        return other - self._made


# Words the comparison knows: function words, negators, number words, units; the larger tables stand in ``data/``.
#
# Small on purpose: a word belongs here or there only if confusing it with its neighbour would reverse an answer, or
# if telling it from its neighbour would call a harmless rewording a change.


def word_set(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


FUNCTION_WORDS = word_set(
    """a an the this that these those it its he she they them their his her we us our you your i me my mine
    is are was were be been being am do does did done has have had having will would shall to of in on
    at by for from with as and or but so if then than there here which who whom whose what when where
    while also just very really please kindly simply currently now yes no sure certainly course well ok
    okay thanks thank hello hi hey dear via per about into onto over under up down out off upon within
    during through both either each any such same own too s t re ve ll d m degree can could's because
    since therefore thus hence however moreover additionally overall indeed great happy degree degrees °
    let know going go make made's"""
)
"""Words whose presence or absence alone changes no meaning that another guard does not look at."""

NEGATORS = word_set(
    """not no never none nobody nothing neither nor nowhere without cannot lack hardly barely scarcely
    nicht kein keine keinen keiner keines keinem nie niemals nichts niemand ne pas jamais aucun aucune personne rien
    nunca nem não nadie nada ninguno ninguna non niet geen nie inte ikke nessuno niente не нет ни никогда нельзя
    без لا لم لن ليس ليست غير بدون לא אין בלי नहीं değil 不 没 沒 無 无 ない"""
)
"""Words that deny what follows them."""

CONTRACTIONS: dict[str, tuple[str, ...]] = {
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("is", "not"),
    "unable": ("can", "not"),
    "let's": ("let", "us"),
}

NUMBER_WORDS: dict[str, int] = when_used(
    lambda: dict(entries("number_words.tsv", lambda word, number: (word, int(number))))
)

MULTIPLIERS: dict[str, int] = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "k": 1_000,
    "m": 10**6,
    "mn": 10**6,
    "bn": 10**9,
    "b": 10**9,
}

UNITS: dict[str, str] = when_used(
    lambda: dict(entries("unit_spellings.tsv", lambda form, unit: (form, unit)))
)
"""Spellings of units that are the same unit."""

SPELLINGS: dict[str, str] = {"without": "not", "cannot": "not"}
"""Words that are other words when read closely."""

IN_SMALLER_UNITS: dict[str, tuple[int, str]] = {"week": (7, "day"), "dozen": (12, "")}
"""A counted unit and what it is in a smaller one: two weeks are 14 days."""

IN_LARGER_UNITS: dict[str, tuple[int, str]] = {
    "second": (60, "minute"),
    "minute": (60, "hour"),
    "hour": (24, "day"),
    "month": (12, "year"),
}
"""How many of a unit make a larger one: 24 hours are a day."""
