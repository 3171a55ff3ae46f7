"""Tables of words that stand in files of ``data/``: an entry a line, its columns parted by tabs, ``#`` before remarks.

A module keeps such a table as ``_POLES = when_used(_poles)``: a name like any other, whose file is read once something
asks it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pytest_promptfuzz.expressions import expression

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
