"""Whether what was read is a report: held to its JSON Schema, without a library, before anything renders it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.schema import report_schema

_Wrong = tuple[str, str]
_Check = Callable[[Any], "_Wrong | None"]
"""Where in a value something is wrong (``.trials[3].id``; empty for all of it), and what; ``None`` of a right one."""

# As json.loads has them: a truth value is no number.
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "null": ((type(None),), "null"),
    "array": ((list,), "a list"),
    "object": ((dict,), "an object"),
}
_MOST_SHOWN = 40


def wrong(key: str, value: Any) -> str:
    """What is wrong with a part of a report, as it lies on disk; empty where nothing is.

    Args:
        key: Of the document: ``run``, ``unjudged`` and so on; ``test`` is one of its ``tests``.
        value: What was read.
    """
    found = _checks()[key](value)
    if found is None:
        return ""
    if key != "test":
        return f"{key}{found[0]} {found[1]}"
    name = value.get("test") if isinstance(value, dict) else None
    of = f"test {safe(name, limit=200)}: " if isinstance(name, str) else "a test: "
    return f"{of}{found[0].lstrip('.') or 'it'} {found[1]}"


@lru_cache(maxsize=1)
def _checks() -> Mapping[str, _Check]:
    schema = report_schema()
    made: dict[str, _Check] = {}
    parts = {"test": {"$ref": "#/$defs/DocumentTest"}, **schema["properties"]}
    return {key: _check(part, schema["$defs"], made) for key, part in parts.items()}


def _check(schema: Mapping[str, Any], kinds: Mapping[str, Any], made: dict[str, _Check]) -> _Check:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in made:  # no type of a report holds itself
            made[name] = _check(kinds[name], kinds, made)
        return made[name]
    if "anyOf" in schema:
        return _either([_check(each, kinds, made) for each in schema["anyOf"]], _said(schema))
    if "type" not in schema:
        return lambda _: None
    types, said = _TYPES[schema["type"]][0], _said(schema)
    if schema["type"] not in _INNER:
        return lambda value: None if type(value) in types else _is(value, said)
    inner = _INNER[schema["type"]](schema, kinds, made)
    return lambda value: inner(value) if type(value) in types else _is(value, said)


def _either(checks: list[_Check], said: str) -> _Check:
    def check(value: Any) -> _Wrong | None:
        found = []
        for each in checks:
            one = each(value)
            if one is None:
                return None
            found.append(one)
        return next((each for each in found if each[0]), _is(value, said))

    return check


def _object(schema: Mapping[str, Any], kinds: Mapping[str, Any], made: dict[str, _Check]) -> _Check:
    known = {key: _check(part, kinds, made) for key, part in schema.get("properties", {}).items()}
    required = schema.get("required", ())
    rest = _check(schema.get("additionalProperties", {}), kinds, made)

    def check(value: dict[str, Any]) -> _Wrong | None:
        for key in required:
            if key not in value:
                return f".{key}", "is missing"
        for key, one in value.items():
            found = known.get(key, rest)(one)
            if found is not None:
                return f".{safe(key, limit=_MOST_SHOWN)}{found[0]}", found[1]
        return None

    return check


def _array(schema: Mapping[str, Any], kinds: Mapping[str, Any], made: dict[str, _Check]) -> _Check:
    first = [_check(part, kinds, made) for part in schema.get("prefixItems", ())]
    rest = _check(schema.get("items", {}), kinds, made)

    def check(value: list[Any]) -> _Wrong | None:
        if first and len(value) != len(first):
            return _is(value, f"a list of {len(first)}")
        for index, one in enumerate(value):
            found = (first[index] if first else rest)(one)
            if found is not None:
                return f"[{index}]{found[0]}", found[1]
        return None

    return check


_INNER: dict[str, Callable[..., _Check]] = {"object": _object, "array": _array}


def _said(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(map(_said, schema["anyOf"]))
    return _TYPES[schema.get("type", "object")][1]


def _is(value: Any, said: str) -> _Wrong:
    return "", f"is {safe(repr(value), limit=_MOST_SHOWN)}, and has to be {said}"
