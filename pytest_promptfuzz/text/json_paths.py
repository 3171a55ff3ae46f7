"""JSON paths: reading them, leaving out what they name (``ignore=``), and where two JSON values differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_STEP = expression(r"""\.(\*|[^\W\d][\w-]*)|\[(\*|-?\d+)\]|\[("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]""")
_PLAIN = expression(r"[^\W\d][\w-]*")

Step: TypeAlias = str | int
EVERY = "*"


def parse_path(path: str) -> tuple[tuple[str, Step], ...]:
    """The steps of a JSON path such as ``$.items[*].date`` or ``$["unit price"]``.

    Returns:
        Pairs of ``("key", name)``, ``("index", number)`` or ``("every", "*")``.

    Raises:
        UsageError: It does not start with ``$``, names nothing, or has a step of another form.
    """
    if not isinstance(path, str) or not path.startswith("$"):
        raise UsageError(
            f"ignore={path!r}: a JSON path starts with '$', for example '$.id' or '$.items[*].date'"
        )
    return _steps(path)


def parse_paths(paths: object) -> tuple[str, ...]:
    """Paths as they were given, one or several, each known to be one that can be read.

    Raises:
        UsageError: They are no texts, or ``parse_path`` refuses one.
    """
    several = (paths,) if isinstance(paths, str) else paths
    if not isinstance(several, Iterable) or isinstance(several, Mapping | bytes):
        raise UsageError(f"ignore={paths!r:.80} is not a JSON path such as '$.id', or a list of them.")
    found = tuple(several)
    for path in found:
        parse_path(path)
    return found


@lru_cache(maxsize=256)
def _steps(path: str) -> tuple[tuple[str, Step], ...]:
    steps: list[tuple[str, Step]] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if not found:
            raise UsageError(
                f'ignore={path!r}: cannot read {path[at:]!r}; steps are .name, [0], [*] and ["any name"]'
            )
        name, index, quoted = found.groups()
        if EVERY in (name, index):
            steps.append(("every", EVERY))
        elif name is not None:
            steps.append(("key", name))
        elif index is not None:
            steps.append(("index", int(index)))
        elif quoted[0] == "'":
            steps.append(("key", quoted[1:-1].replace("\\'", "'").replace("\\\\", "\\")))
        else:
            steps.append(("key", json.loads(quoted)))
        at = found.end()
    if not steps:
        raise UsageError(
            "ignore='$' would leave out the whole answer; name a part of it, or use compare=False"
        )
    return tuple(steps)


def without(value: Any, ignore: Iterable[str]) -> Any:
    """A copy of a plain value without what the JSON paths name; a path that leads nowhere is no error.

    Removed list items leave ``None`` behind, so that the places of the others stay what they were.
    """
    if isinstance(ignore, str):
        ignore = (ignore,)
    for path in ignore:
        value = _removed(value, parse_path(path))
    return value


def _removed(value: Any, steps: tuple[tuple[str, Step], ...]) -> Any:
    (kind, name), rest = steps[0], steps[1:]
    if isinstance(value, dict) and kind in {"key", "every"}:
        chosen = set(value) if kind == "every" else {name}
        if not rest:
            return {key: item for key, item in value.items() if key not in chosen}
        return {key: _removed(item, rest) if key in chosen else item for key, item in value.items()}
    if isinstance(value, list) and kind in {"index", "every"}:
        places = set(range(len(value)))
        if kind == "index":
            number = int(name)
            places &= {number if number >= 0 else len(value) + number}
        if not rest:
            return (
                [None if index in places else item for index, item in enumerate(value)]
                if kind == "index"
                else []
            )
        return [_removed(item, rest) if index in places else item for index, item in enumerate(value)]
    return value


def child(path: str, key: str) -> str:
    """The JSON path of a member: ``$.total``, or ``$["unit price"]`` where the key is no plain word."""
    return f"{path}.{key}" if _PLAIN.fullmatch(key) else f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def equal(first: Any, second: Any) -> bool:
    """Whether two plain values are the same JSON value: ``1 == 1.0``, but ``True != 1``; key order does not count."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(equal(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(equal, first, second))
    return bool(first == second)


def json_diff(first: Any, second: Any, *, exact: bool = False) -> list[str]:
    """The JSON paths at which two plain values differ, in the order of the first; empty where they are equal.

    A member or item that only one of them has is named by its own path.

    Args:
        first: A value of JSON types.
        second: Another one.
        exact: Whether ``1`` and ``1.0``, which JSON writes differently, differ.

    >>> json_diff({"meta": {"id": 1}, "n": [1, 2]}, {"meta": {"id": 2}, "n": [1]})
    ['$.meta.id', '$.n[1]']
    """
    found: list[str] = []
    _diff(first, second, "$", found, _same_type if exact else equal)
    return found


def _same_type(first: Any, second: Any) -> bool:
    return type(first) is type(second) and bool(first == second)


def _diff(first: Any, second: Any, path: str, found: list[str], same: Callable[[Any, Any], bool]) -> None:
    if isinstance(first, dict) and isinstance(second, dict):
        for key in [*first, *(key for key in second if key not in first)]:
            if key in first and key in second:
                _diff(first[key], second[key], child(path, key), found, same)
            else:
                found.append(child(path, key))
    elif isinstance(first, list) and isinstance(second, list):
        for index in range(max(len(first), len(second))):
            here = f"{path}[{index}]"
            if index < len(first) and index < len(second):
                _diff(first[index], second[index], here, found, same)
            else:
                found.append(here)
    elif not same(first, second):
        found.append(path)


def at(value: Any, path: str) -> tuple[bool, Any]:
    """Whether a path made by ``json_diff`` leads somewhere in a value, and to what."""
    if path == "$":
        return True, value
    for kind, name in parse_path(path):
        if kind == "key" and isinstance(value, dict) and name in value:
            value = value[name]
        elif kind == "index" and isinstance(value, list) and int(name) < len(value):
            value = value[int(name)]
        else:
            return False, None
    return True, value


def strings(value: Any) -> Iterator[str]:
    """Every text in JSON, keys apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)
