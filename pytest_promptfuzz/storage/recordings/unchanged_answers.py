"""Answers that a model gave again: what differs between them is an ID, a time or a count, and nothing that it said.

A recording keeps the line of such an answer, so that recording again changes in git what the model answers otherwise.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.providers.custom_protocol import call_fields
from pytest_promptfuzz.providers.formats import format_of, parse_answer, parse_shape, parse_stream
from pytest_promptfuzz.text.json_paths import at, json_diff, without

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.providers.requests import Response
    from pytest_promptfuzz.storage.answers import StoredAnswer
    from pytest_promptfuzz.storage.recordings.entries import RecordedExchange


_MODELS = ("$.model", "$.modelVersion")  # where answers name their model
_TELLING = 6  # characters from which a value that stands in a request is no chance


def is_unchanged(old: StoredAnswer, new: StoredAnswer) -> bool:
    """Whether two answers to one request say the same, by the same model."""
    if (old.status, old.streamed, old.rules) != (new.status, new.streamed, new.rules):
        return False
    if old.body == new.body:
        return True
    if old.streamed:
        one, other = _streamed(old), _streamed(new)
        return one is not None and one == other
    one, other = _parsed(old.body), _parsed(new.body)
    if one is None or other is None:
        return False
    return not json_diff(_said(old, one), _said(new, other), exact=True)


def response_in(answer: StoredAnswer) -> Response | None:
    """What an answer says, of a format that is known; ``None`` for others, and for what cannot be read."""
    try:
        if answer.streamed:
            return parse_stream(answer.url, answer.body.encode("utf-8", "surrogatepass"))
        body = json.loads(answer.body)
        if format_of(answer.url) is None:  # of the simulated model or a proxy, whose URL tells no format
            return parse_shape(body) if isinstance(body, dict) else None
        return parse_answer(answer.url, body)
    except (TargetError, ValueError, RecursionError):
        return None


def differs_by_model_alone(old: StoredAnswer, new: StoredAnswer) -> bool:
    """Whether two answers say the same, and only the model that is named in them is another."""
    one, other = response_in(old), response_in(new)
    if one is None or other is None or one.model == other.model:
        return False
    if (old.status, old.streamed, old.rules, old.request) != (
        new.status,
        new.streamed,
        new.rules,
        new.request,
    ):
        return False
    if old.streamed:
        first, second = _streamed(old), _streamed(new)
        return first is not None and second is not None and _modelless(first) == _modelless(second)
    bodies = [_said(each, without(_parsed(each.body), _MODELS)) for each in (old, new)]
    return not json_diff(*bodies, exact=True)


def _modelless(streamed: tuple[Any, ...]) -> tuple[Any, ...]:
    text, calls, _, reason = streamed
    return text, calls, reason


def with_kept(old: Sequence[RecordedExchange], new: Sequence[RecordedExchange]) -> list[RecordedExchange]:
    """What was recorded of a test now, with the earlier answer wherever it is unchanged.

    Where a later request of the test repeats something of the new answer that the earlier one lacks, as the ID of a
    tool's call, the new one stays: a replay has to ask the same.

    Args:
        old: What was recorded of it before.
        new: What is recorded of it now.
    """
    before = {each.key: each.answer for each in old}
    asked: list[str] = []
    kept = []
    for each in new:
        answer = before.get(each.key)
        if answer is None or not is_unchanged(answer, each.answer):
            kept.append(each)
            continue
        if answer.body != each.answer.body:
            asked = asked or [json.dumps(one.answer.request, ensure_ascii=False) for one in new]
            ids = set(_values(each.answer)) - set(_values(answer))
            if any(value in request for value in ids for request in asked):
                kept.append(each)
                continue
        kept.append(replace(each, answer=answer))
    return kept


def _parsed(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _said(answer: StoredAnswer, body: Any) -> Any:
    """A body, or an event of one, without what is new with each call."""
    return without(body, call_fields(answer.url, body))


def _streamed(answer: StoredAnswer) -> tuple[Any, ...] | None:
    """What a stream comes to, however it was cut into events; ``None`` where that cannot be read."""
    try:
        response: Response | None = parse_stream(answer.url, answer.body.encode("utf-8", "surrogatepass"))
    except (TargetError, ValueError, RecursionError):
        return None
    if response is None:
        return None
    calls = [(each.name, each.arguments) for each in response.tool_calls]
    return response.text, calls, response.model, response.finish_reason


def _values(answer: StoredAnswer) -> Iterator[str]:
    """What of an answer is new with each call, where it is long enough to be told from other text."""
    bodies = [answer.body]
    if answer.streamed:
        bodies = [
            line.partition(":")[2].strip() for line in answer.body.splitlines() if line.startswith("data:")
        ]
    for body in map(_parsed, bodies):
        for path in json_diff(body, _said(answer, body)):
            _, value = at(body, path)
            if not isinstance(value, dict | list) and len(text := str(value)) >= _TELLING:
                yield text
