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


ANTHROPIC = "https://api.anthropic.com/v1/messages"
RESPONSES = "https://api.openai.com/v1/responses"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent"
CONVERSE = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-lite-v1:0/converse"
OLLAMA = "http://localhost:11434/api/chat"
COHERE = "https://api.cohere.com/v2/chat"
PROXY = "https://models.example/ask"


def anthropic(number, wanted):
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": "refund", "input": wanted}
    usage = {"input_tokens": 1, "output_tokens": number}
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude"}
    return {**head, "content": [block], "stop_reason": "tool_use", "usage": usage}


def responses(number, wanted):
    item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "refund"}
    message = {"type": "message", "id": f"msg_{number}", "content": [{"type": "output_text", "text": "So."}]}
    head = {"id": f"resp_{number}", "created_at": number, "status": "completed", "model": "gpt-5"}
    return {**head, "output": [message, {**item, "arguments": wanted}], "usage": {"input_tokens": number}}


def chat(number, wanted):
    call = {"id": f"call_{number}", "function": {"name": "refund", "arguments": wanted}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"id": f"c-{number}", "created": number, "choices": [{"index": 0, "message": message}]}


def gemini(number, wanted):
    parts = [{"functionCall": {"id": f"f-{number}", "name": "refund", "args": wanted}}]
    return {"responseId": f"r{number}", "candidates": [{"content": {"parts": parts}}]}


def converse(number, wanted):
    use = {"toolUse": {"toolUseId": f"t-{number}", "name": "refund", "input": wanted}}
    return {"output": {"message": {"content": [use]}}, "metrics": {"latencyMs": number}}


def ollama(number, wanted):
    call = {"function": {"name": "refund", "arguments": wanted}}
    return {"created_at": f"{number}", "message": {"tool_calls": [call]}, "eval_duration": number}


def cohere(number, wanted):
    return {"id": f"c{number}", "message": {"content": [{"type": "document", "document": {"data": wanted}}]}}


@pytest.mark.parametrize(
    ("url", "body"),
    [
        (ANTHROPIC, anthropic),
        (PROXY, anthropic),
        (RESPONSES, responses),
        (URL, chat),
        (PROXY, chat),
        (GEMINI, gemini),
        (GEMINI, lambda *given: [gemini(*given)]),
        (CONVERSE, converse),
        (OLLAMA, ollama),
        (COHERE, cohere),
    ],
)
def test_what_a_model_wrote_counts_whatever_its_fields_are_called(url, body):
    def given(number, wanted):
        text = json.dumps(body(number, wanted))
        return StoredAnswer(url, {}, 200, "application/json", text, float(number))

    for name in ("id", "call_id", "created", "usage", "request_id", "service_tier"):
        assert not is_unchanged(given(1, {name: "order-1"}), given(2, {name: "order-2"}))
        assert not is_unchanged(given(1, {"of": [{name: 1}]}), given(2, {"of": [{name: 1.0}]}))
        assert is_unchanged(given(1, {name: "order-1"}), given(2, {name: "order-1"}))


def test_of_a_protocol_that_nobody_knows_everything_counts():
    one, other = (
        StoredAnswer(PROXY, {}, 200, "application/json", json.dumps({"id": each, "text": "So."}), 1.0)
        for each in ("order-1", "order-2")
    )
    assert not is_unchanged(one, other)


def test_a_word_that_both_answers_have_is_no_id():
    one, other = (answer(number, service_tier="default") for number in (1, 2))
    asks = replace(other, request={"messages": [{"role": "user", "content": "The default answer?"}]})
    (kept,) = with_kept([entry(one)], [entry(asks)])
    assert kept.answer is one


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
