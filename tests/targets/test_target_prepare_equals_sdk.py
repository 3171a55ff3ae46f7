"""What is prepared without an SDK is what the real SDK puts on the wire, byte for byte once parsed."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.targets.resolution import as_request, resolve

if TYPE_CHECKING:
    from pytest_promptfuzz.providers.requests import Request

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": "The weather.", "parameters": SCHEMA},
}
FLAT_TOOL = {"type": "function", "name": "weather", "description": "The weather.", "parameters": SCHEMA}
BLOCK_TOOL = {"name": "weather", "description": "The weather.", "input_schema": SCHEMA}
PIXEL = base64.b64encode(b"\x89PNG").decode()
USER = {"role": "user", "content": "Is it warm in Zürich? 🌡"}
SYSTEM = {"role": "system", "content": "Be brief."}
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Zürich"}'},
}
TURNS = [
    SYSTEM,
    USER,
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL, {**CALL, "id": "call_2"}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "21 °C"},
    {"role": "tool", "tool_call_id": "call_2", "content": "22 °C"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "And tomorrow?"},
]
IMAGE = {
    "role": "user",
    "content": [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    ],
}

# name, request, and what an application would write with each SDK for the same thing.
CASES: list[tuple[str, Request, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        "plain",
        as_request("Is it warm in Zürich? 🌡"),
        {"messages": [USER]},
        {"input": [USER]},
        {"messages": [USER], "max_tokens": 1024},
    ),
    (
        "system",
        as_request([SYSTEM, USER]),
        {"messages": [SYSTEM, USER]},
        {"input": [SYSTEM, USER]},
        {"system": "Be brief.", "messages": [USER], "max_tokens": 1024},
    ),
    (
        "two-systems",
        as_request([SYSTEM, {"role": "developer", "content": "In German."}, USER]),
        {"messages": [SYSTEM, {"role": "developer", "content": "In German."}, USER]},
        {"input": [SYSTEM, {"role": "developer", "content": "In German."}, USER]},
        {"system": "Be brief.\n\nIn German.", "messages": [USER], "max_tokens": 1024},
    ),
    (
        "temperature",
        as_request([USER], temperature=0.0, top_p=1),
        {"messages": [USER], "temperature": 0.0, "top_p": 1},
        {"input": [USER], "temperature": 0.0, "top_p": 1},
        {"messages": [USER], "max_tokens": 1024, "extra_body": {"temperature": 0.0, "top_p": 1}},
    ),
    (
        "limit",
        as_request([USER], max_completion_tokens=7),
        {"messages": [USER], "max_completion_tokens": 7},
        {"input": [USER], "max_output_tokens": 7},
        {"messages": [USER], "max_tokens": 7},
    ),
    (
        "tools",
        as_request([USER], tools=(TOOL,), tool_choice="required"),
        {"messages": [USER], "tools": [TOOL], "tool_choice": "required"},
        {"input": [USER], "tools": [FLAT_TOOL], "tool_choice": "required"},
        {"messages": [USER], "max_tokens": 1024, "tools": [BLOCK_TOOL], "tool_choice": {"type": "any"}},
    ),
    (
        "named-tool",
        as_request([USER], tools=[TOOL], tool_choice={"type": "function", "function": {"name": "weather"}}),
        {
            "messages": [USER],
            "tools": [TOOL],
            "tool_choice": {"type": "function", "function": {"name": "weather"}},
        },
        {"input": [USER], "tools": [FLAT_TOOL], "tool_choice": {"type": "function", "name": "weather"}},
        {
            "messages": [USER],
            "max_tokens": 1024,
            "tools": [BLOCK_TOOL],
            "tool_choice": {"type": "tool", "name": "weather"},
        },
    ),
    (
        "turns-with-tool-results",
        as_request(TURNS, tools=[TOOL]),
        {"messages": TURNS, "tools": [TOOL]},
        {
            "tools": [FLAT_TOOL],
            "input": [
                SYSTEM,
                USER,
                {"role": "assistant", "content": "I look."},
                {
                    "type": "function_call",
                    "call_id": "call_1",
                    "name": "weather",
                    "arguments": '{"city": "Zürich"}',
                },
                {
                    "type": "function_call",
                    "call_id": "call_2",
                    "name": "weather",
                    "arguments": '{"city": "Zürich"}',
                },
                {"type": "function_call_output", "call_id": "call_1", "output": "21 °C"},
                {"type": "function_call_output", "call_id": "call_2", "output": "22 °C"},
                {"role": "assistant", "content": "Yes."},
                {"role": "user", "content": "And tomorrow?"},
            ],
        },
        {
            "system": "Be brief.",
            "max_tokens": 1024,
            "tools": [BLOCK_TOOL],
            "messages": [
                USER,
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Zürich"}},
                        {"type": "tool_use", "id": "call_2", "name": "weather", "input": {"city": "Zürich"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "call_1", "content": "21 °C"},
                        {"type": "tool_result", "tool_use_id": "call_2", "content": "22 °C"},
                    ],
                },
                {"role": "assistant", "content": "Yes."},
                {"role": "user", "content": "And tomorrow?"},
            ],
        },
    ),
    (
        "image",
        as_request([IMAGE]),
        {"messages": [IMAGE]},
        {
            "input": [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "What is this?"},
                        {
                            "type": "input_image",
                            "image_url": f"data:image/png;base64,{PIXEL}",
                            "detail": "auto",
                        },
                    ],
                }
            ]
        },
        {
            "max_tokens": 1024,
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What is this?"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                        },
                    ],
                }
            ],
        },
    ),
    (
        "unknown-parameter",
        as_request([USER], brand_new={"a": [1, None, "ü"]}),
        {"messages": [USER], "extra_body": {"brand_new": {"a": [1, None, "ü"]}}},
        {"input": [USER], "extra_body": {"brand_new": {"a": [1, None, "ü"]}}},
        {"messages": [USER], "max_tokens": 1024, "extra_body": {"brand_new": {"a": [1, None, "ü"]}}},
    ),
    (
        "beta-header",
        as_request([USER], extra_headers={"Anthropic-Beta": "b-1", "OpenAI-Beta": "b-2", "X-Trace": "t"}),
        {"messages": [USER], "extra_headers": {"openai-beta": "b-2", "anthropic-beta": "b-1"}},
        {"input": [USER], "extra_headers": {"openai-beta": "b-2", "anthropic-beta": "b-1"}},
        {
            "messages": [USER],
            "max_tokens": 1024,
            "extra_headers": {"openai-beta": "b-2", "anthropic-beta": "b-1"},
        },
    ),
]
SCHEMES = ("openai", "openai-responses", "anthropic")


def on_the_wire(arrived: Any, url: str) -> tuple[str, Any, dict[str, str]]:
    changing = {
        key: value
        for key, value in arrived.headers.items()
        if key == "anthropic-version" or key.endswith("-beta")
    }
    return url + arrived.path, arrived.body, changing


def application_calls(scheme: str, arguments: dict[str, Any]) -> None:
    model = "m-1"
    if scheme == "anthropic":
        with anthropic.Anthropic() as client:
            client.messages.create(model=model, **arguments)
        return
    with openai.OpenAI() as client:
        if scheme == "openai":
            client.chat.completions.create(model=model, **arguments)
        else:
            client.responses.create(model=model, **arguments)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("name", "request_", "chat", "responses", "messages"), CASES, ids=[each[0] for each in CASES]
)
def test_prepared_is_what_the_sdk_sends(
    keys: Any, scheme: str, name: str, request_: Request, chat: Any, responses: Any, messages: Any
) -> None:
    wire = resolve(f"{scheme}:m-1").prepare(request_)
    application_calls(scheme, dict(zip(SCHEMES, (chat, responses, messages), strict=True))[scheme])
    assert (wire.url, wire.body, wire.headers) == on_the_wire(keys.last, keys.url)


@pytest.mark.parametrize("scheme", [*SCHEMES, "compatible"])
@pytest.mark.parametrize("request_", [each[1] for each in CASES], ids=[each[0] for each in CASES])
def test_prepared_is_what_is_sent(keys: Any, scheme: str, request_: Request) -> None:
    target = resolve(f"{scheme}:m-1@{keys.url}/v1" if scheme == "compatible" else f"{scheme}:m-1")
    wire = target.prepare(request_)
    target.send(request_)
    sync = on_the_wire(keys.last, keys.url)
    asyncio.run(target.asend(request_))
    assert (wire.url, wire.body, wire.headers) == sync == on_the_wire(keys.last, keys.url)
    target.close()


@pytest.mark.parametrize("scheme", ["openai", "anthropic"])
def test_custom_headers_of_the_environment_count(
    keys: Any, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    custom = "X-Trace: 1\nAnthropic-Beta: b-9\nAnthropic-Version: 2023-06-01"
    monkeypatch.setenv(f"{scheme.upper()}_CUSTOM_HEADERS", custom)
    target = resolve(f"{scheme}:m-1")
    wire = target.prepare(as_request("Hi"))
    target.send(as_request("Hi"))
    target.close()
    assert wire.headers == {"anthropic-beta": "b-9", "anthropic-version": "2023-06-01"}
    assert wire.headers == on_the_wire(keys.last, keys.url)[2]


def test_a_query_of_the_base_url_is_kept(keys: Any) -> None:
    target = resolve(f"compatible:d-1@{keys.url}/openai/deployments/d-1/?api-version=2024-10-21")
    wire = target.prepare(as_request("Hi"))
    target.send(as_request("Hi"))
    target.close()
    assert wire.url == f"{keys.url}/openai/deployments/d-1/chat/completions?api-version=2024-10-21"
    assert wire.url == keys.url + keys.last.path


@pytest.mark.parametrize(
    "given",
    [
        "HTTPS://API.Example.COM:443/v1/",
        "http://[::1]:8080",
        "http://host:80/a//b/",
        "https://h/v1?api-version=1",
    ],
)
def test_urls_are_written_as_the_http_library_writes_them(given: str) -> None:
    httpx2 = pytest.importorskip("httpx2")
    url = resolve(f"compatible:m@{given}").prepare(as_request("Hi")).url
    assert url == str(httpx2.URL(url))
    assert url.startswith("http")
