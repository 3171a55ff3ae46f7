"""Answers to a prompt whose names were changed: the names are mapped back, then the ordinary comparison can run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_promptfuzz.comparing import code
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.targets.model import Response

_WORD = expression(r"\w+")
_FENCED = expression(r"```[^\n`]*\n(.*?)(?:```|\Z)|(`{1,2})([^`\n]+)\2", re.DOTALL)
_TEXTS = expression(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*")
_KEYWORD = expression(r"\s*=(?!=)")
_OPENS_ARGUMENT = expression(r"[(,]\s*\Z")
_LEAD = 24


def under_renaming(baseline: str, response: str, renaming: Mapping[str, str]) -> str:
    """The response with the changed names mapped back, so that it can be compared with the baseline.

    A new name is mapped back wherever it stands as a whole word. Where the response's code uses an old name for
    something of its own beside the new one, that gets a number, so that two variables never fall together.

    Args:
        baseline: What was answered to the prompt with the old names.
        response: What was answered to the prompt with the new ones.
        renaming: Old name to new name, each an identifier; no new name twice.

    Raises:
        UsageError: ``renaming`` is no such mapping.

    >>> under_renaming("total is the sum", "my_total is the sum", {"total": "my_total"})
    'total is the sum'
    """
    back = _inverse(renaming)
    found = {*_WORD.findall(response)}
    present = back.keys() & found
    if not present:
        return response
    clashing = {back[new] for new in present} & (found - back.keys())
    taken = found | back.keys() | {*back.values(), *_WORD.findall(baseline)}
    apart = {name: _fresh(name, taken) for name in sorted(clashing)}
    free = _code(response) if apart else []

    def restored(match: re.Match[str]) -> str:
        word = match[0]
        if word in back:
            return back[word]
        own = word in apart and any(start <= match.start() < end for start, end in free)
        return apart[word] if own and _is_variable(response, *match.span()) else word

    return _WORD.sub(restored, response)


def answer_under_renaming(baseline: Any, answer: Any, renaming: Mapping[str, str]) -> Any:
    """Any answer with the names mapped back: text, a ``Response``, or lists and mappings that hold text.

    Args:
        baseline: What it will be compared with.
        answer: What came back for the changed prompt. It is not modified; what is no text stays as it is.
        renaming: As for :func:`under_renaming`; empty gives the answer itself.

    Raises:
        UsageError: As :func:`under_renaming`.
    """
    if not renaming:
        return answer
    text = baseline if isinstance(baseline, str) else baseline.text if isinstance(baseline, Response) else ""
    return _restored(text, answer, renaming)


def _restored(baseline: str, value: Any, renaming: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return under_renaming(baseline, value, renaming)
    if isinstance(value, Response):
        calls = tuple(
            replace(call, arguments=_restored(baseline, call.arguments, renaming))
            for call in value.tool_calls
        )
        return replace(value, text=under_renaming(baseline, value.text, renaming), tool_calls=calls)
    if type(value) in {list, tuple}:
        return type(value)(_restored(baseline, each, renaming) for each in value)
    if type(value) is dict:
        keys = [_restored(baseline, key, renaming) for key in value]
        keys = keys if len({*keys}) == len(keys) else list(value)
        return {
            key: _restored(baseline, each, renaming) for key, each in zip(keys, value.values(), strict=True)
        }
    return value


def _inverse(renaming: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(renaming, Mapping):
        raise UsageError(f"renaming is {type(renaming).__name__}; give a mapping of old names to new ones.")
    back: dict[str, str] = {}
    for old, new in renaming.items():
        for name in (old, new):
            if not (isinstance(name, str) and name.isidentifier()):
                raise UsageError(f"renaming: {name!r} is no identifier; give a mapping of names to names.")
        if new in back:
            raise UsageError(f"renaming: {back[new]!r} and {old!r} would both be {new!r}; give each its own.")
        back[new] = old
    return back


def _fresh(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    taken.add(f"{name}_{number}")
    return f"{name}_{number}"


def _code(response: str) -> list[tuple[int, int]]:
    """Where code stands in an answer, without its strings and comments."""
    spans = [match.span(1 if match[1] is not None else 3) for match in _FENCED.finditer(response)]
    if not spans and code.looks_like(response):
        spans = [(0, len(response))]
    found: list[tuple[int, int]] = []
    for start, end in spans:
        position = start
        for text in _TEXTS.finditer(response, start, end):
            found.append((position, text.start()))
            position = text.end()
        found.append((position, end))
    return found


def _is_variable(text: str, start: int, end: int) -> bool:
    """Whether a name is neither an attribute nor a keyword argument."""
    lead = text[max(0, start - _LEAD) : start]
    return not lead.endswith(".") and not (_KEYWORD.match(text, end) and _OPENS_ARGUMENT.search(lead))
