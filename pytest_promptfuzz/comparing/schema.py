"""Answers held to a JSON Schema, with the library ``jsonschema``; nothing that a schema refers to is fetched."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_promptfuzz.comparing import jsontext
from pytest_promptfuzz.comparing.comparison import Comparison, Tier
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.files import read_text
from pytest_promptfuzz.wire.paths import child

_LONGEST = 120
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema that has been read and is one.

    Attributes:
        name: The file it came from, or ``schema=``.
        text: It as JSON.
    """

    name: str
    text: str

    def broken_by(self, value: Any, *, formats: bool) -> str | None:
        """Where and how a plain value breaks the schema, in a clause; ``None`` if it keeps it.

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
            return "it is nested too deeply to be checked"
        if not errors:
            return None
        decisive: Any = best_match(errors)
        path = "$"
        for step in decisive.absolute_path:
            path = f"{path}[{step}]" if isinstance(step, int) else child(path, step)
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return f"{path}: {_short(decisive.message)} (rule {decisive.validator!r}){more}"


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
            f"schema={given!r:.80} must be a JSON Schema as a mapping, or the path of a JSON file, not "
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
    broken = "it is no JSON" if value is jsontext.MISSING else schema.broken_by(value, formats=formats)
    if broken:
        raise ConfigurationError(
            f"The baseline itself breaks the schema ({schema.name}): {broken}. Mend the prompt or the schema."
        )
    value = data_in(response)
    if value is jsontext.MISSING:
        return None
    broken = schema.broken_by(value, formats=formats)
    if broken is None:
        return None
    explanation = f"the response breaks the schema at {broken}"
    return Comparison("deviation", 0.0, "json-schema", explanation, (Tier("schema", 0.0, explanation),))


def one_breaks(schema: Schema, first: Any, second: Any, *, formats: bool) -> bool:
    """Whether one of two answers, of which neither is the baseline that a test names, keeps a schema and the other not.

    Args:
        schema: What both should keep.
        first: As ``held_to`` takes it.
        second: The same.
        formats: Whether ``format`` is checked.
    """
    values = data_in(first), data_in(second)
    keeps = [
        each is not jsontext.MISSING and schema.broken_by(each, formats=formats) is None for each in values
    ]
    return keeps[0] != keeps[1]


def data_in(answer: Any) -> Any:
    """The JSON that an answer is or holds; ``MISSING`` where there is none."""
    if isinstance(answer, str):
        value = jsontext.parse(answer)
        return value if value is not jsontext.MISSING else jsontext.embedded(answer)
    if isinstance(answer, dict) and answer.keys() == {"text", "tool_calls"}:
        calls = answer["tool_calls"]
        if answer["text"].strip() or len(calls) != 1:
            return data_in(answer["text"])
        return calls[0].get("arguments", jsontext.MISSING)
    return answer
