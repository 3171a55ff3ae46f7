"""Where a stream's answer begins, in each format: what comes before only announces it."""

from __future__ import annotations

import json

import pytest

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.providers.formats import reported_error, stream_begun
from pytest_promptfuzz.providers.router import answer_http
from pytest_promptfuzz.targets.simulated import SimulatedModel

MESSAGES = [{"role": "user", "content": "Say something."}]
BODIES = {
    "/v1/chat/completions": {"messages": MESSAGES},
    "/v1/responses": {"input": "Say something."},
    "/v1/messages": {"messages": MESSAGES, "max_tokens": 50},
}


def events_of(path: str) -> list[bytes]:
    body = json.dumps({"model": "m", "stream": True, **BODIES[path]}).encode()
    return list(answer_http("POST", path, body, SimulatedModel()).payload)


@pytest.mark.parametrize(
    ("path", "announcements"), [("/v1/chat/completions", 1), ("/v1/responses", 4), ("/v1/messages", 3)]
)
def test_the_answer_begins_after_its_announcements(path, announcements):
    events = events_of(path)
    for count in range(1, len(events) + 1):
        assert stream_begun(path, b"".join(events[:count])) == (count > announcements)


@pytest.mark.parametrize(
    ("path", "event", "begun"),
    [
        ("/v1/messages", {"type": "ping"}, False),
        ("/v1/messages", {"type": "message_delta", "delta": {}}, True),
        ("/v1/responses", {"type": "response.queued"}, False),
        ("/v1/responses", {"type": "response.reasoning_summary_text.delta"}, True),
        ("/v1/chat/completions", {"choices": []}, False),
        ("/v1/chat/completions", {"choices": [{"delta": {"reasoning": "hm"}}]}, True),
        ("/v1/chat/completions", {"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}, True),
        ("/v1/chat/completions", {"choices": [{"delta": {}, "finish_reason": "stop"}]}, True),
        ("/of/another/kind", {"any": "event"}, True),
    ],
)
def test_events(path, event, begun):
    assert stream_begun(path, f"data: {json.dumps(event)}\n\n".encode()) is begun
    assert not stream_begun(path, b": a comment\n\n")


def test_the_end_of_a_stream_is_no_announcement():
    assert stream_begun("/v1/chat/completions", b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("path", "event", "kind"),
    [
        ("/v1/messages", {"type": "error", "error": {"type": "overloaded_error"}}, "rate-limit"),
        ("/v1/messages", {"type": "error", "error": {"type": "api_error"}}, "server"),
        ("/v1/responses", {"type": "error", "code": "rate_limit_exceeded", "message": "m"}, "rate-limit"),
        (
            "/v1/responses",
            {"type": "response.failed", "response": {"error": {"code": "server_error"}}},
            "server",
        ),
        ("/v1/chat/completions", {"error": {"type": "server_error", "message": "m"}}, "server"),
        ("/v1/chat/completions", {"choices": 7}, "malformed"),
    ],
)
def test_reported_errors(path, event, kind):
    with pytest.raises(TargetError) as raised:
        stream_begun(path, f"data: {json.dumps(event)}\n\n".encode())
    assert raised.value.kind == kind


def test_a_whole_body_that_is_an_error():
    path = "/v1/chat/completions"
    found = reported_error(path, b'{"error": {"type": "overloaded_error", "message": "m"}}')
    assert found is not None
    assert found.kind == "rate-limit"
    assert reported_error(path, b'{"error": null, "choices": []}') is None
    assert reported_error(path, b'{"choices": [{"message": {"content": "\\"error\\": {"}}]}') is None
    assert reported_error("/of/another/kind", b'{"error": {"type": "overloaded_error"}}') is None
