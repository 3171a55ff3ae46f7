"""A judge's answer, read strictly: one JSON object with the fields that were asked for."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.judging.model import RATINGS

if TYPE_CHECKING:
    from collections.abc import Collection

_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n?```\Z", re.DOTALL | re.IGNORECASE)
_SHOWN = 60
_LONGEST = 300


class UnusableAnswerError(Exception):
    """A judge's answer cannot be used; the message says what is wrong with it."""


def read_rating(answer: str) -> tuple[int, str]:
    """The rating and its explanation.

    Raises:
        UnusableAnswerError: It is no such JSON, or the rating is not 1, 2 or 3.
    """
    return _read(answer, "rating", RATINGS)


def read_preference(answer: str) -> tuple[str, str]:
    """Which answer is better, and why.

    Raises:
        UnusableAnswerError: It is no such JSON.
    """
    return _read(answer, "better", ("first", "second", "neither"))


def _read(answer: str, key: str, known: Collection[Any]) -> tuple[Any, str]:
    value = _object(answer)
    if set(value) != {key, "explanation"}:
        names = ", ".join(sorted(map(str, value))) or "none"
        raise UnusableAnswerError(f"its fields must be explanation and {key}, and are {_short(names)}")
    found, explanation = value[key], value["explanation"]
    if not any(type(found) is type(each) and found == each for each in known):
        options = " or ".join(json.dumps(each) for each in known)
        raise UnusableAnswerError(f"{key} must be {options}, and is {_short(json.dumps(found))}")
    if not isinstance(explanation, str) or not explanation.strip():
        raise UnusableAnswerError("explanation must be a sentence")
    return found, " ".join(explanation.split())[:_LONGEST]


def _object(answer: str) -> dict[str, Any]:
    text = answer.strip()
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        if isinstance(error, _TwiceError):
            raise UnusableAnswerError(str(error)) from None
        raise UnusableAnswerError(f"it is no JSON object: {_short(text) or 'it is empty'}") from None
    if not isinstance(value, dict):
        raise UnusableAnswerError(f"it is no JSON object: {_short(text)}")
    return value


class _TwiceError(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object, unless it has a field twice: which one is meant, nobody can tell."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError("it has a field twice")
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
