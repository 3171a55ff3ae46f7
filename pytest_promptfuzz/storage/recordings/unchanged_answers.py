"""Answers that a model gave again: what differs between them is an ID, a time or a count, and nothing that it said.

A recording keeps the line of such an answer, so that recording again changes in git what the model answers otherwise.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.providers.formats import parse_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.providers.requests import Response
    from pytest_promptfuzz.storage.answers import StoredAnswer
    from pytest_promptfuzz.storage.recordings.entries import RecordedExchange


# Parts of answers, of all providers that are read, that are new with each call: who, when, how long, how many tokens.
_OF_THE_CALL = frozenset(
    """
    id call_id item_id tool_call_id tool_use_id response_id responseId request_id created created_at completed_at
    createTime usage usageMetadata usage_metadata system_fingerprint service_tier total_duration load_duration
    prompt_eval_count prompt_eval_duration eval_count eval_duration timings x_groq obfuscation generation_id
    """.split()  # noqa: SIM905 - a list of names is read more easily so
)
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
    bodies = [_parsed(each.body) for each in (old, new)]
    return None not in bodies and _said(bodies[0]) == _said(bodies[1])


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
            if any(value in request for value in _values(each.answer) for request in asked):
                kept.append(each)
                continue
        kept.append(replace(each, answer=answer))
    return kept


def _parsed(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _said(value: Any) -> Any:
    """A body without what is new with each call."""
    if isinstance(value, dict):
        return {name: _said(each) for name, each in value.items() if name not in _OF_THE_CALL}
    return [_said(each) for each in value] if isinstance(value, list) else value


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
    for body in bodies:
        yield from _new_values(_parsed(body), new=False)


def _new_values(value: Any, *, new: bool) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _new_values(each, new=new or name in _OF_THE_CALL)
    elif isinstance(value, list):
        for each in value:
            yield from _new_values(each, new=new)
    elif new and value is not None and len(text := str(value)) >= _TELLING:
        yield text
