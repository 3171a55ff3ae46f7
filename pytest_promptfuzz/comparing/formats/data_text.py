"""JSON and YAML in answers: found in text, read, checked against ``schema=``; any value as JSON."""

from __future__ import annotations

import ast
import dataclasses
import datetime as dt
import decimal
import enum
import importlib.util
import json
import math
import os
import pathlib
import re
import uuid
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier
from pytest_promptfuzz.comparing.reading.text import strip_fence
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.files import read_text
from pytest_promptfuzz.providers.requests import Response
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.json_paths import child

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_BLOCK = expression(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_MAX_STARTS = 20
_LONGEST_LITERAL = 100_000
_DECODER = json.JSONDecoder()


class _Missing:
    """No JSON was found; ``None`` is a JSON value."""


MISSING = _Missing()


def parse(text: str) -> Any:
    """The object or array that a text is, fenced or not; ``MISSING`` where it is anything else."""
    stripped = strip_fence(text).strip()
    if not stripped or stripped[0] not in "{[" or stripped[-1] not in "}]":
        return MISSING
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return MISSING


def spans(text: str) -> Iterator[tuple[int, int, Any]]:
    """Where an object or array stands in a text, and its value; what is empty or a mere ``[1]`` is a mark of prose."""
    at = 0
    for _ in range(_MAX_STARTS):
        start = min((place for place in (text.find("{", at), text.find("[", at)) if place >= 0), default=-1)
        if start < 0:
            return
        try:
            value, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = text.rfind("}") + 1
            value = _literal(text[start:end]) if text[start] == "{" else MISSING
            at = start + 1 if value is MISSING else end
        if isinstance(value, dict) or (isinstance(value, list) and value):
            yield start, at, value


def embedded(text: str) -> Any:
    """The only object or array that stands within prose; ``MISSING`` where there is none, or more than one."""
    found = [value for block in _BLOCK.findall(text) if (value := parse(block)) is not MISSING]
    found = found or [value for _, _, value in spans(text)]
    if found:
        return found[0] if len(found) == 1 else MISSING
    return _literal(text)


def _literal(text: str) -> Any:
    """An object or array written as Python writes it, with single quotes and ``True``."""
    stripped = strip_fence(text).strip()
    if (
        not stripped
        or stripped[0] not in "{["
        or stripped[-1] not in "}]"
        or len(stripped) > _LONGEST_LITERAL
    ):
        return MISSING
    try:
        value = ast.literal_eval(stripped)
        return json.loads(json.dumps(value)) if isinstance(value, (dict, list)) else MISSING
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return MISSING


def keys(value: Any, path: str = "") -> set[tuple[str, str]]:
    """Every place in a value and the type that stands there; places in lists are not told apart."""
    here = {
        (
            path,
            "number"
            if isinstance(value, (int, float)) and not isinstance(value, bool)
            else type(value).__name__,
        )
    }
    if isinstance(value, dict):
        for key, item in value.items():
            here |= keys(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            here |= keys(item, f"{path}[]")
    return here


def depth(value: Any) -> int:
    """How deep objects and arrays are nested; 0 for a scalar."""
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


def similarity(first: Any, second: Any) -> float:
    """Likeness of shape, 0..1: mean of the shared places with their types (Jaccard) and the ratio of depths."""
    one, two = keys(first), keys(second)
    deepest = max(depth(first), depth(second))
    shallow = min(depth(first), depth(second))
    return (len(one & two) / len(one | two) + (shallow / deepest if deepest else 1.0)) / 2


# Values as plain JSON-able data: what a test returned, ready to be compared and stored.


_DEPTH = 100
_BITS = 13_950  # about 4,200 digits: Python writes and reads numbers of 4,300
_HALVES = expression("[\ud800-\udbff][\udc00-\udfff]")


def plain(value: Any) -> Any:
    """A value as strings, numbers, booleans, ``None``, lists and dictionaries with string keys.

    Dataclasses and pydantic models become dictionaries, enums their value; dates, times, ``Decimal``, ``UUID`` and
    paths become strings; tuples become lists, sets sorted lists. A ``Response`` with tool calls becomes
    ``{"text": ..., "tool_calls": [{"name": ..., "arguments": ...}]}``, without them its text.

    A text is as it was given, but that two halves of one character which were joined (as an application does
    with what is streamed to it) are that character, as they are once they were written to a file and read back.

    Raises:
        UsageError: Something in it is none of these; the message names its path and type.
    """
    if type(value) is str:
        return whole(value)
    return _plain(value, "$", 0)


def whole(text: str) -> str:
    """The text with each high surrogate that a low one follows as the character that they are together."""
    if text.isascii() or _HALVES.search(text) is None:
        return text
    return _HALVES.sub(lambda found: found[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _plain(value: Any, path: str, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if depth > _DEPTH:
        raise UsageError(
            f"the value at {path} is nested deeper than {_DEPTH} levels, or contains itself; return a flatter value"
        )
    if isinstance(value, enum.Enum):
        return _plain(value.value, path, depth + 1)
    if isinstance(value, str):
        return whole(str(value))
    if isinstance(value, int):
        if value.bit_length() > _BITS:
            raise UsageError(
                f"the value at {path} is a whole number of more than 4,200 digits, which Python does not write as"
                " text; return a string instead"
            )
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UsageError(
                f"the value at {path} is {value!r}, which JSON cannot hold; return None or a string instead"
            )
        return float(value)
    if isinstance(value, Response):
        return _response(value, path, depth)
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, uuid.UUID, pathlib.PurePath)):
        return str(value)
    return _container(value, path, depth)


def _container(value: Any, path: str, depth: int) -> Any:
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise UsageError(
                    f"the key {key!r} at {path} is of type {type(key).__name__}; JSON objects have string keys"
                )
        return {whole(str(key)): _plain(item, child(path, key), depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, AbstractSet):
        items = [_plain(item, f"{path}[*]", depth + 1) for item in value]
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True, ensure_ascii=False))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: _plain(getattr(value, each.name), child(path, each.name), depth + 1)
            for each in dataclasses.fields(value)
        }
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return _plain(dump(mode="json"), path, depth + 1)
    raise UsageError(
        f"the value at {path} is of type {type(value).__name__}, which cannot be compared; return text, a Response, "
        "or something JSON-able (dict, list, number, dataclass, pydantic model)"
    )


def _response(value: Response, path: str, depth: int) -> Any:
    if not value.tool_calls:
        return value.text
    calls = [
        {
            "name": call.name,
            "arguments": _plain(call.arguments, f"{path}.tool_calls[{index}].arguments", depth + 1),
        }
        for index, call in enumerate(value.tool_calls)
    ]
    return {"text": value.text, "tool_calls": calls}


def text_of(value: Any) -> str:
    """A plain value as one text, for whoever compares texts only: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1)


# Answers held to a JSON Schema, with the library ``jsonschema``; nothing that a schema refers to is fetched.


_LONGEST = 120
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Schema(NamedTuple):
    """A JSON Schema that has been read and is one.

    Attributes:
        name: The file it came from, or ``schema=``.
        text: It as JSON.
    """

    name: str
    text: str

    def broken_by(self, value: Any, *, formats: bool) -> Observation | None:
        """Where and how a plain value breaks the schema; ``None`` if it keeps it.

        Args:
            value: Of JSON types.
            formats: Whether ``format`` is checked.

        Raises:
            ConfigurationError: The schema refers to what is not in it.
        """
        from jsonschema.exceptions import best_match
        from referencing.exceptions import Unresolvable

        try:
            errors = list(_validator(self, formats=formats).iter_errors(value))
        except Unresolvable as error:
            raise ConfigurationError(
                f"{self.name}: its $ref {error.ref!r} leads to nothing in the schema, and nothing is "
                'fetched; put what it names under "$defs" and refer to that.'
            ) from None
        except RecursionError:
            return Observation("nested-too-deeply")
        if not errors:
            return None
        decisive: Any = best_match(errors)
        path = "$"
        for step in decisive.absolute_path:
            path = f"{path}[{step}]" if isinstance(step, int) else child(path, step)
        more = Observation("and-more", len(errors) - 1) if len(errors) > 1 else ""
        return Observation("breaks-rule", path, _short(decisive.message), decisive.validator, more)


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def read_schema(given: Any) -> Schema:
    """The schema that ``schema=`` gives: a mapping, or a path to a JSON file.

    Raises:
        UsageError: It is neither, cannot be read, or is no valid JSON Schema.
        ConfigurationError: ``jsonschema`` is not installed.
    """
    if isinstance(given, Schema):
        return given
    if isinstance(given, Mapping):
        try:
            text = json.dumps(given, sort_keys=True)
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(f"schema= is no JSON: {error}") from None
        return _checked(Schema("schema=", text))
    if not isinstance(given, (str, os.PathLike)):
        raise UsageError(
            f"schema={given!r:.80} is not a JSON Schema as a mapping, or the path of a JSON file, not "
            f"{type(given).__name__}."
        )
    name = os.fspath(given)
    try:
        value = json.loads(read_text(given, "utf-8-sig"))
    except FileNotFoundError:
        here = os.fspath(Path.cwd())
        raise UsageError(
            f"schema={name!r:.200}: there is no such file; relative paths start at {here!r}."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"schema={name!r:.200} cannot be read as JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(
            f"schema={name!r:.200} holds no JSON Schema but {type(value).__name__}; write an object."
        )
    return _checked(Schema(name, json.dumps(value, sort_keys=True)))


def _checked(schema: Schema) -> Schema:
    _validator(schema, formats=False)
    return schema


@lru_cache(maxsize=64)
def _validator(schema: Schema, *, formats: bool) -> Any:
    try:
        from jsonschema import validators
        from jsonschema.exceptions import SchemaError
        from jsonschema_specifications import REGISTRY
    except ImportError:
        raise ConfigurationError(
            "schema= needs the library jsonschema: pip install 'pytest-promptfuzz[schema]'"
        ) from None
    value = json.loads(schema.text)
    draft: Any = validators.validator_for({"$schema": value.get("$schema", _DRAFT)}, default=None)
    if draft is None:
        raise UsageError(
            f"{schema.name}: $schema={value['$schema']!r:.80} is no draft of JSON Schema that is known."
        )
    try:
        draft.check_schema(value)
    except RecursionError:
        raise UsageError(
            f"{schema.name} is nested too deeply to be checked, it or one of its patterns."
        ) from None
    except SchemaError as error:
        raise UsageError(
            f"{schema.name} is no valid JSON Schema: {error.json_path}: {error.message:.200}"
        ) from None
    checker = draft.FORMAT_CHECKER if formats else None
    # With a registry of our own, what is not in it is an error; without one the library would fetch it.
    return draft(value, registry=REGISTRY, format_checker=checker)


def held_to(schema: Schema, baseline: Any, response: Any, *, formats: bool) -> Comparison | None:
    """What a schema says of a response: a deviation, or nothing.

    Args:
        schema: What both must keep.
        baseline: As ``plain`` makes it; a text is read as JSON, of tool calls without text the one call's arguments.
        response: The same.
        formats: Whether ``format`` is checked.

    Returns:
        The deviation that the response is; ``None`` where it keeps the schema, or is no JSON at all, which the
        comparison by value finds.

    Raises:
        ConfigurationError: The baseline breaks the schema, or is no JSON.
    """
    value = data_in(baseline)
    broken = Observation("no-json") if value is MISSING else schema.broken_by(value, formats=formats)
    if broken:
        raise ConfigurationError(
            f"The baseline itself breaks the schema ({schema.name}): {broken}. Fix the prompt or the schema."
        )
    value = data_in(response)
    if value is MISSING:
        return None
    broken = schema.broken_by(value, formats=formats)
    if broken is None:
        return None
    observed = Observation("schema-broken", broken)
    return Comparison("deviation", 0.0, "json-schema", observed, (Tier("schema", 0.0, observed),))


def one_breaks(schema: Schema, first: Any, second: Any, *, formats: bool) -> bool:
    """Whether one of two answers, of which neither is the baseline that a test names, keeps a schema and the other not.

    Args:
        schema: What both should keep.
        first: As ``held_to`` takes it.
        second: The same.
        formats: Whether ``format`` is checked.
    """
    values = data_in(first), data_in(second)
    keeps = [each is not MISSING and schema.broken_by(each, formats=formats) is None for each in values]
    return keeps[0] != keeps[1]


def data_in(answer: Any) -> Any:
    """The JSON that an answer is or holds; ``MISSING`` where there is none."""
    if isinstance(answer, str):
        value = parse(answer)
        return value if value is not MISSING else embedded(answer)
    if isinstance(answer, dict) and answer.keys() == {"text", "tool_calls"}:
        calls = answer["tool_calls"]
        if answer["text"].strip() or len(calls) != 1:
            return data_in(answer["text"])
        return calls[0].get("arguments", MISSING)
    return answer


# YAML as models answer with it, read by PyYAML where that is installed (the extra ``yaml``).
#
# An answer is hostile input: anchors, aliases and tags are refused, nothing is constructed but mappings, lists and
# scalars, and depth and length are bounded.


YAML_EXTRA = "pip install 'pytest-promptfuzz[yaml]'"

_NUMBER = expression(r"[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?\Z")
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_LONGEST_YAML = 50_000  # characters; PyYAML without its C library reads some 80,000 a second
_DEEPEST = 100
_MOST_DIGITS = 300


class YamlError(ValueError):
    """The text is not YAML, or more of it than is read here; the message says where."""


class YamlMissingError(YamlError):
    """PyYAML is not installed."""


@lru_cache(maxsize=1)
def yaml_installed() -> bool:
    """Whether PyYAML is there."""
    return importlib.util.find_spec("yaml") is not None


def load(text: str) -> Any:
    r"""The value that a YAML document holds; JSON is YAML as well, and is read without PyYAML.

    Raises:
        YamlError: It does not parse.
        YamlMissingError: It is not JSON, and PyYAML is not installed.

    >>> load("name: Ada\ntags:\n  - urgent")
    {'name': 'Ada', 'tags': ['urgent']}
    """
    if len(text) > _LONGEST_YAML:
        raise YamlError(f"it is longer than {_LONGEST_YAML:,} characters")
    stripped = text.strip()
    if stripped[:1] in {"{", "["}:
        try:
            return json.loads(stripped)
        except (ValueError, RecursionError):
            pass
    if not yaml_installed():
        raise YamlMissingError(f"it is read by PyYAML: {YAML_EXTRA}")
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        _check(yaml.parse(text, Loader=loader))
        return _value(yaml.compose(text, Loader=loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or getattr(error, "reason", "it cannot be read")
        raise YamlError(f"line {mark.line + 1}: {said}" if mark else str(said)) from None
    except UnicodeError:
        raise YamlError("it holds half of a surrogate pair") from None


def _check(events: Iterable[Any]) -> None:
    """Refuse what could grow when it is read, before it is."""
    depth = 0
    for event in events:
        kind = type(event).__name__
        line = f"line {event.start_mark.line + 1}"
        if getattr(event, "anchor", None) is not None:
            raise YamlError(f"{line}: anchors and aliases are not read")
        if getattr(event, "tag", None) is not None:
            raise YamlError(f"{line}: tags are not read")
        depth += kind in {"MappingStartEvent", "SequenceStartEvent"}
        depth -= kind in {"MappingEndEvent", "SequenceEndEvent"}
        if depth > _DEEPEST:
            raise YamlError(f"{line}: it is nested too deeply")


def _value(node: Any) -> Any:
    if node is None:
        return None
    if node.id == "scalar":
        return _scalar(node.value, node.style)
    if node.id == "sequence":
        return [_value(each) for each in node.value]
    found: dict[str, Any] = {}
    for key, value in node.value:
        line = f"line {key.start_mark.line + 1}"
        if key.id != "scalar":
            raise YamlError(f"{line}: a key that is no text is not read")
        if key.value in found:
            raise YamlError(f"{line}: the key {key.value!r} stands there twice")
        found[key.value] = _value(value)
    return found


def _scalar(text: str, style: str | None) -> Any:
    """A scalar with its type: of what stands without quotation marks, the types that JSON has."""
    if style in {"|", ">"}:
        return text.rstrip("\n")
    if style:  # in quotation marks
        return text
    if text in {text.lower(), text.upper(), text.capitalize()} and text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if len(text) > _MOST_DIGITS or not _NUMBER.match(text):
        return text
    return int(text) if text.lstrip("+-").isdigit() else float(text)
