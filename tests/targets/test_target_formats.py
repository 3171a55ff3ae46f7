"""Answers and streams of the three formats: what is read, and what is refused in one clear sentence."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from provider_answers import CHAT, MESSAGES, RESPONSES

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.providers.formats import parse_answer, parse_stream, request_texts
from pytest_promptfuzz.providers.requests import Response, ToolCall, Usage

CHAT_PATH, RESPONSES_PATH, MESSAGES_PATH = "/v1/chat/completions", "/v1/responses", "/v1/messages"
PATHS = (CHAT_PATH, RESPONSES_PATH, MESSAGES_PATH)


def chat(message: Any, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}


def responses(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"model": "m", "status": status, "output": list(output), **more}


def messages(*content: Any, stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    return {"model": "m", "content": list(content), "stop_reason": stop, **more}


def said(*parts: Any) -> dict[str, Any]:
    return {"type": "message", "content": list(parts)}


WEATHER = ToolCall("weather", {"city": "Zürich"}, "c1")
FUNCTION = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Zürich"}'},
}
ITEM = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Zürich"}'}
BLOCK = {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Zürich"}}


def text_of(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def out(text: str) -> dict[str, str]:
    return {"type": "output_text", "text": text}


READ = [
    (CHAT_PATH, CHAT, Response("SPAM", (), Usage(12, 3), "gpt-5-mini-2025-08-07", "stop")),
    (RESPONSES_PATH, RESPONSES, Response("SPAM", (), Usage(12, 3), "gpt-5-mini-2025-08-07", "completed")),
    (MESSAGES_PATH, MESSAGES, Response("SPAM", (), Usage(12, 3), "claude-sonnet-4-5-20250929", "end_turn")),
    (CHAT_PATH, chat({"content": ""}, "length"), Response("", model="m", finish_reason="length")),
    (CHAT_PATH, chat({"content": None, "refusal": "No."}), Response("No.", model="m", finish_reason="stop")),
    (
        CHAT_PATH,
        chat({"content": [text_of("a"), {"type": "thinking"}, text_of("b")]}),
        Response("ab", (), Usage(), "m", "stop"),
    ),
    (
        CHAT_PATH,
        chat({"content": None, "tool_calls": [FUNCTION]}, "tool_calls"),
        Response("", (WEATHER,), Usage(), "m", "tool_calls"),
    ),
    (
        CHAT_PATH,
        chat(
            {
                "content": None,
                "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
            }
        ),
        Response("", (ToolCall("sh", {"input": "ls"}, "c"),), Usage(), "m", "stop"),
    ),
    (
        CHAT_PATH,
        chat({"content": None, "function_call": {"name": "now", "arguments": ""}}),
        Response("", (ToolCall("now", {}),), Usage(), "m", "stop"),
    ),
    (
        RESPONSES_PATH,
        responses({"type": "reasoning"}, said(out("a"), out("b")), said(out("c"))),
        Response("abc", (), Usage(), "m", "completed"),
    ),
    (RESPONSES_PATH, responses(ITEM), Response("", (WEATHER,), Usage(), "m", "completed")),
    (
        RESPONSES_PATH,
        responses(said({"type": "refusal", "refusal": "No."})),
        Response("No.", (), Usage(), "m", "completed"),
    ),
    (
        RESPONSES_PATH,
        responses(
            {"type": "reasoning"}, status="incomplete", incomplete_details={"reason": "max_output_tokens"}
        ),
        Response("", (), Usage(), "m", "max_output_tokens"),
    ),
    (
        MESSAGES_PATH,
        messages({"type": "thinking", "thinking": "hm"}, text_of("a"), text_of("b"), BLOCK),
        Response("ab", (WEATHER,), Usage(), "m", "end_turn"),
    ),
    (
        MESSAGES_PATH,
        messages(stop="refusal", stop_details={"type": "refusal", "explanation": "Not that."}),
        Response("Not that.", (), Usage(), "m", "refusal"),
    ),
    (
        MESSAGES_PATH,
        messages(text_of("a"), usage={"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 1}),
        Response("a", (), Usage(12, 1), "m", "end_turn"),
    ),
    (CHAT_PATH, chat({"content": "bad \ud800 half"}), Response("bad \ufffd half", (), Usage(), "m", "stop")),
]


@pytest.mark.parametrize(("path", "body", "expected"), READ)
def test_answers_are_read(path: str, body: dict[str, Any], expected: Response) -> None:
    assert parse_answer(path, body) == expected


def test_the_path_may_be_a_url() -> None:
    assert parse_answer("https://api.example.com/gateway/v1/messages?beta=true", MESSAGES).text == "SPAM"


BAD_ARGUMENTS = {"id": "c", "function": {"name": "weather", "arguments": '{"city": '}}
REFUSED = [
    (CHAT_PATH, {"choices": []}, "not-text", "'choices' is empty"),
    (CHAT_PATH, chat({"content": None}, "content_filter"), "not-text", "content_filter"),
    (CHAT_PATH, {"object": "list"}, "malformed", "'choices'"),
    (CHAT_PATH, {"choices": {"a": 1}}, "malformed", "found dict {'a': 1}"),
    (CHAT_PATH, chat({"content": 7}), "malformed", "found int 7"),
    (CHAT_PATH, chat("hello"), "malformed", "found str 'hello'"),
    (CHAT_PATH, chat({"content": None, "tool_calls": [BAD_ARGUMENTS]}), "malformed", "'weather' to be JSON"),
    (CHAT_PATH, chat({"tool_calls": [{"function": {"name": "f", "arguments": "[1]"}}]}), "malformed", "found list"),
    (CHAT_PATH, chat({"tool_calls": [{"function": {"name": "f", "arguments": "NaN"}}]}), "malformed", "NaN"),
    (CHAT_PATH, chat({"tool_calls": [{"function": {"name": "f", "arguments": "[" * 99999}}]}), "malformed", "JSON"),
    (CHAT_PATH, {"error": {"message": "slow down", "type": "rate_limit_error"}}, "rate-limit", "slow down"),
    (CHAT_PATH, {"error": "model not loaded"}, "server", "model not loaded"),
    (RESPONSES_PATH, responses(), "not-text", "neither a message nor a tool call"),
    (RESPONSES_PATH, responses(status="in_progress"), "malformed", "in_progress"),
    (RESPONSES_PATH, {"status": "failed", "error": {"code": "server_error", "message": "oh"}}, "server", "oh"),
    (RESPONSES_PATH, {"status": "completed"}, "malformed", "'output'"),
    (MESSAGES_PATH, messages(), "not-text", "no content blocks"),
    (MESSAGES_PATH, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "rate-limit", "Overloaded"),
    (MESSAGES_PATH, messages({"type": "tool_use", "name": "f", "input": "x"}), "malformed", "'f' to be JSON"),
    (MESSAGES_PATH, {"content": "text"}, "malformed", "found str 'text'"),
    ("/v1/embeddings", {"data": []}, "not-text", "/v1/embeddings"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "kind", "words"), REFUSED)
def test_what_cannot_be_read_is_named(path: str, body: dict[str, Any], kind: str, words: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse_answer(path, body)
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert len(str(caught.value)) < 500


WORDS = [
    "choices",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "output",
    "type",
    "text",
]
WORDS += ["usage", "error", "status", "input", "delta", "index", "messages", "system", "role", "input_tokens"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)
HOSTILE = st.dictionaries(
    st.sampled_from(["choices", "content", "output", "error", "status", "usage", "model", "stop_reason"]),
    JSON,
)


@given(path=st.sampled_from(PATHS), body=HOSTILE)
@settings(max_examples=150, deadline=None)
def test_any_json_is_read_or_refused_never_a_crash(path: str, body: dict[str, Any]) -> None:
    with contextlib.suppress(TargetError):
        parse_answer(path, body).text.encode()


@given(body=JSON)
@settings(max_examples=100, deadline=None)
def test_texts_of_any_json_are_strings(body: Any) -> None:
    assert all(isinstance(each, str) and each for each in request_texts(body))


def sse(*chunks: Any, end: str = "\n\n", names: bool = False) -> bytes:
    lines = []
    for each in chunks:
        data = each if isinstance(each, str) else json.dumps(each)
        name = f"event: {each['type']}{end[: len(end) // 2]}" if names else ""
        lines.append(f"{name}data: {data}{end}")
    return "".join(lines).encode()


def delta(index: int = 0, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": index, "delta": fields, "finish_reason": finish}]}


CHAT_STREAM = (
    delta(role="assistant", content=""),
    delta(content="It is "),
    delta(content="wärm"),
    delta(index=1, content="another choice"),
    delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "weather", "arguments": ""}}]),
    delta(tool_calls=[{"index": 0, "function": {"arguments": '{"city": "Zü'}}]),
    delta(tool_calls=[{"index": 0, "function": {"arguments": 'rich"}'}}]),
    delta(finish="tool_calls"),
    {"model": "m", "choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 9}},
)
RESPONSES_STREAM = (
    {"type": "response.created", "response": {"status": "in_progress", "output": []}},
    {"type": "response.output_text.delta", "delta": "It is wärm"},
    {
        "type": "response.completed",
        "response": responses(said(out("It is wärm")), ITEM, usage={"input_tokens": 4, "output_tokens": 9}),
    },
)
MESSAGES_STREAM = (
    {"type": "ping"},
    {"type": "message_start", "message": messages(stop=None, usage={"input_tokens": 4, "output_tokens": 1})},
    {"type": "content_block_start", "index": 0, "content_block": text_of("")},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It is "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "wärm"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {**BLOCK, "input": {}}},
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"city": "Zü'},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": 'rich"}'},
    },
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
)
STREAMS = {
    CHAT_PATH: (*CHAT_STREAM, "[DONE]"),
    RESPONSES_PATH: RESPONSES_STREAM,
    MESSAGES_PATH: MESSAGES_STREAM,
}
FINISH = {CHAT_PATH: "tool_calls", RESPONSES_PATH: "completed", MESSAGES_PATH: "tool_use"}


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r"])
@pytest.mark.parametrize("path", PATHS)
def test_a_stream_reads_as_the_whole_answer(path: str, end: str) -> None:
    raw = sse(*STREAMS[path], end=end, names=path != CHAT_PATH)
    assert parse_stream(path, raw) == Response("It is wärm", (WEATHER,), Usage(4, 9), "m", FINISH[path])


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_cut_anywhere_is_no_answer(path: str) -> None:
    raw = sse(*STREAMS[path])
    whole = parse_stream(path, raw)
    for length in range(len(raw) - 2):
        found = parse_stream(path, raw[:length])
        # Only the blank line after [DONE] may be missing.
        assert found is None or (found == whole and raw[:length].rstrip().endswith(b"[DONE]"))


@pytest.mark.parametrize(
    ("path", "event", "kind"),
    [
        (CHAT_PATH, {"error": {"message": "no", "type": "server_error"}}, "server"),
        (
            CHAT_PATH,
            {"object": "error", "message": "no", "type": "InternalServerError", "code": 500},
            "server",
        ),
        (CHAT_PATH, {"code": "rate_limit_exceeded", "message": "no"}, "rate-limit"),
        (CHAT_PATH, "not json", "malformed"),
        (CHAT_PATH, {"choices": [{"delta": 3}]}, "malformed"),
        (RESPONSES_PATH, {"type": "error", "code": "rate_limit_exceeded", "message": "no"}, "rate-limit"),
        (RESPONSES_PATH, {"type": "response.completed"}, "malformed"),
        (
            MESSAGES_PATH,
            {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
            "rate-limit",
        ),
    ],
)
def test_an_error_in_a_stream_is_named(path: str, event: Any, kind: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse_stream(path, sse(event))
    assert caught.value.kind == kind


@given(
    path=st.sampled_from(PATHS),
    chunks=st.lists(JSON | st.sampled_from(MESSAGES_STREAM + CHAT_STREAM), max_size=6),
)
@settings(max_examples=150, deadline=None)
def test_any_stream_is_read_or_refused_never_a_crash(path: str, chunks: list[Any]) -> None:
    with contextlib.suppress(TargetError):
        str(parse_stream(path, sse(*chunks, "[DONE]"))).encode()


def test_a_stream_of_another_kind_is_no_answer() -> None:
    assert parse_stream("/v1/audio", sse("[DONE]")) is None


def test_every_human_text_of_a_request_is_seen() -> None:
    body = {
        "model": "m",
        "system": [text_of("S")],
        "instructions": "I",
        "messages": [
            {"role": "user", "name": "n", "content": "A"},
            {"role": "user", "content": [text_of("B"), {"type": "image_url", "image_url": {"url": "U"}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": [text_of("C")]}],
            },
            {"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": "D"}}]},
            {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": "X"}}]},
            {"role": "assistant", "content": None, "tool_calls": [FUNCTION]},
        ],
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "E"}]},
            {"type": "function_call_output", "call_id": "c", "output": "F"},
        ],
        "prompt": {"id": "p", "variables": {"v": "G", "w": {"type": "input_text", "text": "H"}}},
        "tools": [{"type": "function", "function": {"name": "f", "description": "T"}}],
    }
    assert request_texts(body) == ("S", "I", "A", "B", "C", "D", "E", "F", "G", "H")
    assert request_texts({"input": "plain"}) == ("plain",)
    assert request_texts({"input": ["a", "b"]}) == ("a", "b")


# Empty siblings never win


GET = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
GOT = ToolCall("get_weather", {"city": "Oslo"}, "c1")
NOTHING = {"name": "", "input": ""}
EMPTY_SIBLINGS: list[tuple[str, dict[str, Any], tuple[ToolCall, ...], str]] = [
    ("custom, empty", {"tool_calls": [{"id": "c1", "function": GET, "custom": NOTHING}]}, (GOT,), ""),
    ("custom, null", {"tool_calls": [{"id": "c1", "function": GET, "custom": None}]}, (GOT,), ""),
    ("custom, {}", {"tool_calls": [{"id": "c1", "function": GET, "custom": {}}]}, (GOT,), ""),
    (
        "custom, empty, by its type",
        {"tool_calls": [{"id": "c1", "type": "custom", "function": GET, "custom": NOTHING}]},
        (GOT,),
        "",
    ),
    (
        "function, empty",
        {
            "tool_calls": [
                {
                    "id": "c1",
                    "function": {"name": "", "arguments": ""},
                    "custom": {"name": "sql", "input": "SELECT 1"},
                }
            ]
        },
        (ToolCall("sql", {"input": "SELECT 1"}, "c1"),),
        "",
    ),
    (
        "no calls, and a legacy one",
        {"tool_calls": [], "function_call": GET},
        (ToolCall(GOT.name, GOT.arguments, ""),),
        "",
    ),
    (
        "an empty call, and a legacy one",
        {"tool_calls": [{"id": "c1", "function": {"name": "", "arguments": ""}}], "function_call": GET},
        (ToolCall(GOT.name, GOT.arguments, ""),),
        "",
    ),
    (
        "an empty legacy call",
        {"content": "Hello", "function_call": {"name": "", "arguments": ""}},
        (),
        "Hello",
    ),
    (
        "an empty legacy call beside a call",
        {"tool_calls": [{"id": "c1", "function": GET}], "function_call": {"name": "", "arguments": ""}},
        (GOT,),
        "",
    ),
    (
        "null arguments",
        {"tool_calls": [{"id": "c1", "function": {"name": "now", "arguments": None}}]},
        (ToolCall("now", {}, "c1"),),
        "",
    ),
    ("empty content, a refusal", {"content": "", "refusal": "I cannot help."}, (), "I cannot help."),
    ("empty parts, a refusal", {"content": [{"type": "text", "text": ""}], "refusal": "No."}, (), "No."),
    ("a refusal among the parts", {"content": [{"type": "refusal", "refusal": "No."}]}, (), "No."),
    ("content, an empty refusal", {"content": "Hello", "refusal": ""}, (), "Hello"),
    ("empty content, reasoning", {"content": "", "reasoning_content": "Let me think."}, (), ""),
]


def test_what_is_empty_beside_a_tool_call_or_a_text_never_takes_its_place() -> None:
    for name, message, calls, text in EMPTY_SIBLINGS:
        whole = parse_answer(CHAT_PATH, chat(message))
        assert (whole.tool_calls, whole.text) == (calls, text), name
        # Streamed: each key of the message in a chunk of its own, and the empty ones once more at the end.
        deltas = []
        for key, value in message.items():
            if key == "content" and isinstance(value, list):
                break
            numbered = (
                [{"index": n, **each} for n, each in enumerate(value)] if key == "tool_calls" else value
            )
            deltas.append({key: numbered})
        else:
            chunks = [
                {"choices": [{"index": 0, "delta": each}]}
                for each in [*deltas, {"content": None, "tool_calls": []}]
            ]
            raw = (
                b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in chunks)
                + b"data: [DONE]\n\n"
            )
            streamed = parse_stream(CHAT_PATH, raw)
            assert streamed is not None
            assert (streamed.tool_calls, streamed.text) == (calls, text), f"{name}, streamed"


def test_custom_and_legacy_calls_are_put_together_from_their_parts() -> None:
    parts = [
        {"tool_calls": [{"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sql", "input": ""}}]},
        {"tool_calls": [{"index": 0, "custom": {"input": "SELECT "}}]},
        {"tool_calls": [{"index": 0, "custom": {"input": "1"}, "function": {"name": "", "arguments": ""}}]},
    ]
    legacy = [
        {"function_call": {"name": "get_weather", "arguments": ""}},
        {"function_call": {"arguments": '{"city": '}},
        {"function_call": {"arguments": '"Oslo"}'}},
    ]
    for deltas, expected in (
        (parts, ToolCall("sql", {"input": "SELECT 1"}, "c1")),
        (legacy, ToolCall("get_weather", {"city": "Oslo"}, "")),
    ):
        chunks = [{"choices": [{"index": 0, "delta": each}]} for each in deltas]
        raw = (
            b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in chunks) + b"data: [DONE]\n\n"
        )
        found = parse_stream(CHAT_PATH, raw)
        assert found is not None
        assert found.tool_calls == (expected,)


def events_of(*found: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in found)


def test_an_empty_end_of_a_stream_takes_nothing_away() -> None:
    ended = {"type": "response.completed", "response": responses()}
    items = [{"type": "response.output_item.done", "item": each} for each in (ITEM, said(out("Hello")))]
    found = parse_stream(RESPONSES_PATH, events_of(*items, ended))
    assert found is not None
    assert (found.tool_calls, found.text) == ((WEATHER,), "Hello")
    start = {"type": "message_start", "message": messages(text_of(""), BLOCK, usage={"input_tokens": 7})}
    more = {"type": "message_delta", "delta": {}, "usage": {"input_tokens": 0, "output_tokens": 2}}
    found = parse_stream(MESSAGES_PATH, events_of(start, more, {"type": "message_stop"}))
    assert found is not None
    assert (found.tool_calls, found.text, found.usage) == ((WEATHER,), "", Usage(7, 2))
