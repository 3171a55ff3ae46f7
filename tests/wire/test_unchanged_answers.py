"""What counts as the same answer given again, and what a recording keeps of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_promptfuzz.storage.answers import StoredAnswer
from pytest_promptfuzz.storage.recordings.entries import CallPlace, RecordedExchange
from pytest_promptfuzz.storage.recordings.unchanged_answers import is_unchanged, with_kept

URL = "https://api.openai.com/v1/chat/completions"


def answer(number, text="BILLING", **body):
    message = {"role": "assistant", "content": text}
    whole = {
        "id": f"chatcmpl-{number}00000",
        "created": 1_700_000_000 + number,
        "model": "gpt-5-mini",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": number},
        **body,
    }
    return StoredAnswer(
        URL, {"model": "gpt-5-mini"}, 200, "application/json", json.dumps(whole), 1.0 + number
    )


def called(number):
    call = {"id": f"call_{number}abcdef", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return answer(number, choices=[{"index": 0, "message": message, "finish_reason": "tool_calls"}])


def stream(number, *pieces):
    events = [
        {
            "id": f"chatcmpl-{number}",
            "model": "gpt-5-mini",
            "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}],
        }
        for piece in pieces
    ]
    events.append(
        {"id": f"chatcmpl-{number}", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    )
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
    return StoredAnswer(URL, {"stream": True}, 200, "text/event-stream", body, 1.0 + number)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (answer(1), answer(2), True),
        (answer(1), answer(2, "Billing"), False),
        (answer(1), answer(2, model="gpt-5-mini-june"), False),
        (answer(1), replace(answer(2), status=400), False),
        (answer(1), replace(answer(2), rules=1), False),
        (called(1), called(2), True),
        (stream(1, "BILL", "ING"), stream(2, "B", "ILLING"), True),
        (stream(1, "BILL", "ING"), stream(2, "BILL"), False),
        (replace(answer(1), body="oh"), replace(answer(2), body="ah"), False),
    ],
)
def test_an_answer_is_the_same_whatever_its_id_and_its_time(one, other, same):
    assert is_unchanged(one, other) is same


def entry(found, call=0, key="k"):
    return RecordedExchange("test_it", CallPlace(0, 0, "", call), f"{key}{call}", found)


def test_the_earlier_line_is_kept_unless_a_later_request_repeats_the_new_id():
    old = [entry(called(1)), entry(answer(1), 1, "old")]
    (first,) = with_kept(old, [entry(called(2))])
    assert first.answer is old[0].answer
    asks = replace(answer(2), request={"messages": [{"role": "tool", "tool_call_id": "call_2abcdef"}]})
    new = [entry(called(2)), entry(asks, 1, "new")]
    assert with_kept(old, new) == new, (
        "a replay that got call_1abcdef would ask for something that is not recorded"
    )
    assert with_kept(old, [entry(answer(2, "Billing"))]) == [entry(answer(2, "Billing"))]
