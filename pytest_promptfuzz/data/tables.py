"""Tables of words, phrases and patterns: files beside this module, an entry a line, read when they are first used.

The columns of an entry are parted by tabs; a line that begins with ``#`` is a remark. A module keeps such a table as
``POLES = when_used(_poles)`` or ``WORDS = words_in("words/frequent.txt")``: a name like any other, whose file is read
once something asks it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from importlib.abc import Traversable


T = TypeVar("T")
_NAME = expression("<([A-Z_]+)>")


def words_in(name: str, kind: str = "") -> frozenset[str]:
    """The words of a file, one a line behind its remarks; of a table of kinds and words, those of one kind."""
    return when_used(lambda: _word_sets(name)[kind] if kind else _words(name))


def word_sets(name: str) -> dict[str, frozenset[str]]:
    """The words of each kind of a table."""
    return when_used(lambda: _word_sets(name))


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
            raise ValueError(f"{_file(name)}, line {number}: {error}") from error
    return found


def pairs(name: str) -> dict[str, str]:
    """A table of two columns."""
    return when_used(lambda: dict(entries(name, lambda one, other: (one, other))))


def listed(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of each kind of a table, in order: a kind, and what is of it."""
    return when_used(lambda: _listed(name))


def alternatives(name: str, kind: str) -> str:
    """One regular expression of the lines of a kind; ``<NAME>`` in them stands for those of the kind ``NAME``."""
    groups = {each: f"(?:{'|'.join(some)})" for each, some in _listed(name).items()}
    return filled(groups[kind], groups)


def filled(pattern: str, named: Mapping[str, str]) -> str:
    """A pattern with what each ``<NAME>`` in it stands for, where that names others as well."""
    while (found := _NAME.sub(lambda match: named[match[1]], pattern)) != pattern:
        pattern = found
    return pattern


def when_used(make: Callable[[], T]) -> T:
    """A container that is made when it is first used, as ``expression`` is for regular expressions.

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


@cache
def _folder() -> Traversable:
    from importlib.resources import files

    return files(__package__)


def _file(name: str) -> Traversable:
    return _folder().joinpath(name)


@cache
def _lines(name: str) -> list[tuple[int, list[str]]]:
    lines = _file(name).read_text(encoding="utf-8").split("\n")
    return [
        (number, line.split("\t"))
        for number, line in enumerate(lines, start=1)
        if line and not line.startswith("#")
    ]


@cache
def _words(name: str) -> frozenset[str]:
    text = _file(name).read_text(encoding="utf-8")
    while text.startswith("#"):
        text = text.partition("\n")[2]
    return frozenset(text.split())


@cache
def _listed(name: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for kind, line in entries(name, lambda kind, line: (kind, line)):
        found.setdefault(kind, []).append(line)
    return {kind: tuple(some) for kind, some in found.items()}


@cache
def _word_sets(name: str) -> dict[str, frozenset[str]]:
    return {kind: frozenset(some) for kind, some in _listed(name).items()}
