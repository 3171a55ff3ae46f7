"""Two values from different formats in one shape, so that only what they say is left to compare.

Formats lose what others tell apart: XML knows no numbers and no lists of one item, Markdown writes ``Order number``
for ``order_number`` and ``Yes`` for ``true``. What is lost is given back where the other side has it; what is said
otherwise is left for the comparison to find.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.comparison import Observation
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator


_CAMEL = expression(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD = expression(r"[\W_]+")
_NUMBER = expression(r"[-+−]?(?:[1-9]\d{0,2}(?:,\d{3})+|0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?\Z")
_UNIT = expression(r"(?:[$€£¥]|USD|EUR|GBP)\s?|\s?(?:[$€£¥%]|USD|EUR|GBP)\Z")
_TRUE, _FALSE = frozenset({"true", "yes"}), frozenset({"false", "no"})
_NULLS = frozenset({"", "null", "none", "n/a", "na", "nil", "-", "–", "—"})
_GENERIC = frozenset(
    [
        "response",
        "result",
        "results",
        "answer",
        "output",
        "root",
        "data",
        "document",
        "reply",
        "content",
        "xml",
    ]
)
_MOST_WRAPPERS = 3


def canonical_key(key: str) -> str:
    """A key as words: ``orderNumber``, ``order_number`` and ``Order number`` are one.

    >>> canonical_key("orderNumber")
    'order number'
    """
    return " ".join(_NOT_WORD.sub(" ", _CAMEL.sub(" ", key)).casefold().split())


def _singular(name: str) -> str:
    """A name of many as the name of one, as far as English endings show it: ``cities`` is ``city``."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def number_of(text: str) -> float | None:
    """The number that a text is, grouped by commas or not; ``None`` if it is something else, such as ``007``."""
    bare = text.strip()
    return float(bare.replace(",", "").replace("−", "-")) if len(bare) < 300 and _NUMBER.match(bare) else None


def leaves(
    value: Any, path: str = "$", keys: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Every scalar of a value: its path, the keys above it, and itself."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}", (*keys, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]", keys)
    else:
        yield path, keys, value


class Alignment:
    """The alignment of two values.

    Attributes:
        first: The baseline's value, without wrappers the response lacks.
        second: The response's value, in the baseline's shape as far as it says the same.
        notes: What differs in form beyond what formats lose, such as a unit that was added.
    """

    def __init__(self, first: Any, second: Any, *, rooted: tuple[bool, bool] = (False, False)) -> None:
        """Align two values.

        Args:
            first: The baseline's value.
            second: The response's.
            rooted: Whether either format needs an outer name that says nothing (XML's root element, a heading).
        """
        self.notes: list[Observation] = []
        one, two = _unwrapped(first, second, rooted)
        self.first, self.second = self._both(one, two)

    def _both(self, first: Any, second: Any) -> tuple[Any, Any]:
        if isinstance(first, dict) and isinstance(second, dict):
            return self._mappings(first, second)
        first, second = _as_mapping(first, second), _as_mapping(second, first)
        if isinstance(first, dict) and isinstance(second, dict):
            return self._mappings(first, second)
        if isinstance(first, str) or isinstance(second, str):
            first, second = _sole_list(first), _sole_list(second)
        if isinstance(first, list) != isinstance(second, list):
            first, second = as_list(first, second), as_list(second, first)
        if isinstance(first, list) and isinstance(second, list):
            pairs = [self._both(*pair) for pair in zip(first, second, strict=False)]
            cut = len(pairs)
            return [one for one, _ in pairs] + first[cut:], [two for _, two in pairs] + second[cut:]
        return self._scalars(first, second)

    def _mappings(self, first: dict[str, Any], second: dict[str, Any]) -> tuple[Any, Any]:
        own = {canonical_key(key): key for key in first}
        one, two = dict(first), {}
        repeated = self._repeated(first, second)
        for key, item in second.items():
            name = key if key in first else own.get(canonical_key(key), repeated.get(key))
            if name is None or name in two:
                two[key] = item
                continue
            one[name], two[name] = self._both(first[name], item)
        for key, item in first.items():
            # A format without null says nothing instead.
            if item is None and key not in two:
                two[key] = None
        return one, two

    def _repeated(self, first: dict[str, Any], second: dict[str, Any]) -> dict[str, str]:
        """The keys of the second under which items stand one by one that the first has as a list, or the other way."""
        names = [{canonical_key(key): key for key in each} for each in (first, second)]
        alone = [
            {_singular(name): key for name, key in names[side].items() if name not in names[1 - side]}
            for side in (0, 1)
        ]
        return {
            key: alone[0][name]
            for name, key in alone[1].items()
            if name in alone[0]
            and any(isinstance(each, list) for each in (first[alone[0][name]], second[key]))
        }

    def _scalars(self, first: Any, second: Any) -> tuple[Any, Any]:
        if isinstance(first, (dict, list)) or isinstance(second, (dict, list)):
            return (first, first) if _empty(first) and _empty(second) else (first, second)
        if isinstance(first, str) and isinstance(second, str):
            return (
                (first, first)
                if " ".join(first.split()) == " ".join(second.split())
                else self._numbers(first, second)
            )
        if isinstance(first, str) == isinstance(second, str):
            return first, second
        typed, text = (second, first) if isinstance(first, str) else (first, second)
        if self._says(typed, text):
            return first, first
        return first, second

    def _numbers(self, first: str, second: str) -> tuple[str, str]:
        one, two = number_of(first), number_of(second)
        if one is not None and one == two:
            return first, first
        said = {first.strip().casefold(), second.strip().casefold()}
        return (first, first) if any(said <= each for each in (_TRUE, _FALSE, _NULLS)) else (first, second)

    def _says(self, typed: Any, text: str) -> bool:
        """Whether a text is how an untyped format writes a value."""
        bare = text.strip()
        if typed is None:
            return bare.casefold() in _NULLS
        if isinstance(typed, bool):
            return bare.casefold() in (_TRUE if typed else _FALSE)
        if number_of(bare) == typed:
            return True
        unit = _UNIT.sub("", bare)
        if unit != bare and number_of(unit) == typed:
            self.notes.append(Observation("is-written", typed, bare))
            return True
        return False


def as_list(value: Any, other: Any) -> Any:
    """A value as the list that the other side has: items under one name, one item alone, or items in a line."""
    if not isinstance(other, list) or isinstance(value, list):
        return value
    if isinstance(value, dict) and len(value) == 1:
        (inner,) = value.values()
        if isinstance(inner, list):
            return inner
        if len(other) == 1 and not (isinstance(other[0], dict) and value.keys() == other[0].keys()):
            return [inner]
    if value is None or value == "":
        return [] if not other else value
    if (
        isinstance(value, str)
        and len(other) != 1
        and all(isinstance(each, str) and "," not in each for each in other)
    ):
        return [each.strip() for each in re.split(r"[,;、]", value)]
    return [value] if len(other) == 1 else value


def _sole_list(value: Any) -> Any:
    """The items of ``<tags><tag>…</tag><tag>…</tag></tags>``, as a line of text would have them."""
    if isinstance(value, dict) and len(value) == 1 and isinstance(inner := next(iter(value.values())), list):
        return inner
    return value


def _as_mapping(value: Any, other: Any) -> Any:
    """A table as the mapping that the other side has: its one row, or two columns of names and values."""
    if not isinstance(other, dict) or not isinstance(value, list) or not value:
        return value
    if not all(isinstance(row, dict) and row.keys() == value[0].keys() for row in value):
        return value
    keys = {canonical_key(each) for each in other}
    if len(value[0]) == 2:
        pairs = [tuple(value[0]), *(tuple(row.values()) for row in value)]
        if all(isinstance(name, str) and canonical_key(name) in keys for name, _ in pairs):
            return dict(pairs)
    return value[0] if len(value) == 1 else value


def _unwrapped(first: Any, second: Any, rooted: tuple[bool, bool]) -> tuple[Any, Any]:
    """The two values without outer names that only one of them has."""
    for _ in range(_MOST_WRAPPERS):
        one, two = _wrapped(first), _wrapped(second)
        if one and two and canonical_key(one) == canonical_key(two):
            break
        if one and _is_wrapper(one, first[one], second, rooted[0]):
            first = first[one]
        elif two and _is_wrapper(two, second[two], first, rooted[1]):
            second = second[two]
        else:
            break
    return first, second


def _wrapped(value: Any) -> str | None:
    if isinstance(value, dict) and len(value) == 1:
        (key,) = value
        return str(key)
    return None


def _is_wrapper(key: str, inner: Any, other: Any, rooted: bool) -> bool:
    """Whether a sole key only wraps what the other side says without it."""
    name = canonical_key(key)
    if not isinstance(other, dict):
        return True  # a list or a text against {"steps": [...]} or {"label": "..."}
    if isinstance(inner, dict):
        keys = {canonical_key(each) for each in other}
        if name in keys or not (rooted or name in _GENERIC):
            return False
        if name in _GENERIC and len(other) == 1 and isinstance(below := next(iter(other.values())), dict):
            keys |= {canonical_key(each) for each in below}  # "result" here, another name that wraps there
        return _shares(inner, keys)
    return rooted and name in _GENERIC and not isinstance(inner, list)


def _shares(value: Any, keys: set[str]) -> bool:
    """Whether a mapping, or the one under its sole key, has one of the keys."""
    if not isinstance(value, dict):
        return False
    return any(canonical_key(each) in keys for each in value) or (
        len(value) == 1 and _shares(next(iter(value.values())), keys)
    )


def _empty(value: Any) -> bool:
    return value is None or value in ("", [], {})
