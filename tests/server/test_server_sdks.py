"""The local server as the real SDKs see it: every endpoint, every fault, sync and async, whole and streamed."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest

from pytest_promptfuzz.server import faults
from pytest_promptfuzz.server.model_server import ModelServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WHAT_SDKS_RAISE = (
    openai.OpenAIError,
    anthropic.AnthropicError,
    httpx2.HTTPError,
    ValueError,
    AssertionError,
    AttributeError,
    RuntimeError,
)
PROMPT = "Classify the review as positive or negative. Return only the label.\n\nReview: I love it."
STORY = "Summarize the text in one sentence.\n\nText: Caf\u00e9 prices rose 3% in \u6771\u4eac. Tea did not."
FIRST = "Caf\u00e9 prices rose 3% in \u6771\u4eac."
QUESTION = "What is the weather in Paris?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "The weather of a city", "parameters": SCHEMA}


@pytest.fixture(scope="module")
def shared() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def server(shared: ModelServer) -> ModelServer:
    shared.reset()
    return shared


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


# One row for each SDK, protocol and colour: how to ask, and what the answer's text is.


def chat(server: ModelServer, text: str, retries: int, *, stream: bool) -> str:
    with openai.OpenAI(
        base_url=server.openai_url, api_key="sk-planted", max_retries=retries, timeout=60
    ) as client:
        if not stream:
            return (
                client.chat.completions.create(model="m", messages=user(text)).choices[0].message.content
                or ""
            )
        with client.chat.completions.create(model="m", messages=user(text), stream=True) as events:
            return "".join(each.choices[0].delta.content or "" for each in events)


def chat_async(server: ModelServer, text: str, retries: int, *, stream: bool) -> str:
    async def ask() -> str:
        options: Any = {
            "base_url": server.openai_url,
            "api_key": "sk-planted",
            "max_retries": retries,
            "timeout": 60,
        }
        async with openai.AsyncOpenAI(**options) as client:
            if not stream:
                answer = await client.chat.completions.create(model="m", messages=user(text))
                return answer.choices[0].message.content or ""
            events = await client.chat.completions.create(model="m", messages=user(text), stream=True)
            async with events:
                return "".join([each.choices[0].delta.content or "" async for each in events])

    return asyncio.run(ask())


def responses(server: ModelServer, text: str, retries: int, *, stream: bool) -> str:
    with openai.OpenAI(
        base_url=server.openai_url, api_key="sk-planted", max_retries=retries, timeout=60
    ) as client:
        if not stream:
            return client.responses.create(model="m", input=text).output_text
        with client.responses.stream(model="m", input=text) as events:
            events.until_done()
            return events.get_final_response().output_text


def messages(server: ModelServer, text: str, retries: int, *, stream: bool) -> str:
    options: Any = {
        "base_url": server.anthropic_url,
        "api_key": "sk-planted",
        "max_retries": retries,
        "timeout": 60,
    }
    with anthropic.Anthropic(**options) as client:
        if not stream:
            answer = client.messages.create(model="m", max_tokens=200, messages=user(text))
            return "".join(each.text for each in answer.content if each.type == "text")
        with client.messages.stream(model="m", max_tokens=200, messages=user(text)) as events:
            return events.get_final_text()


def messages_async(server: ModelServer, text: str, retries: int, *, stream: bool) -> str:
    async def ask() -> str:
        options: Any = {
            "base_url": server.anthropic_url,
            "api_key": "sk-planted",
            "max_retries": retries,
            "timeout": 60,
        }
        async with anthropic.AsyncAnthropic(**options) as client:
            if not stream:
                answer = await client.messages.create(model="m", max_tokens=200, messages=user(text))
                return "".join(each.text for each in answer.content if each.type == "text")
            async with client.messages.stream(model="m", max_tokens=200, messages=user(text)) as events:
                return await events.get_final_text()

    return asyncio.run(ask())


ASKERS = [chat, chat_async, responses, messages, messages_async]
by_sdk = pytest.mark.parametrize("ask", ASKERS, ids=lambda each: each.__name__)
streaming = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def family(ask: Callable[..., str]) -> Any:
    return anthropic if ask.__name__.startswith("messages") else openai


@by_sdk
@streaming
def test_answers(ask: Callable[..., str], stream: bool, server: ModelServer) -> None:
    assert ask(server, PROMPT, 0, stream=stream) == "positive"
    assert ask(server, STORY, 0, stream=stream) == FIRST
    assert server.calls == server.answered == 2
    assert "sk-planted" not in repr(server.requests)


@by_sdk
@pytest.mark.parametrize(
    "fault",
    [
        faults.RateLimited(times=2, retry_after=0.01),
        faults.ServerError(times=2),
        faults.ServerError(times=2, status=503),
        faults.ServerError(times=2, status=529),
        faults.Dropped(times=2),
        faults.Slow(seconds=0.05, times=2),
    ],
    ids=lambda each: f"{each.name}-{getattr(each, 'status', '')}",
)
def test_recovers(
    ask: Callable[..., str], fault: faults.Fault, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for sdk in (openai, anthropic):
        monkeypatch.setattr(sdk._base_client, "INITIAL_RETRY_DELAY", 0.01)
    server.fail(fault)
    assert ask(server, PROMPT, 2, stream=False) == "positive"
    assert server.calls == (1 if isinstance(fault, faults.Slow) else 3)
    assert server.answered == 1


FATAL = [
    (faults.RateLimited(times=None), "RateLimitError"),
    (faults.ServerError(times=None), "InternalServerError"),
    (faults.Unauthorized(times=None), "AuthenticationError"),
    (faults.Forbidden(times=None), "PermissionDeniedError"),
    (faults.NotFound(times=None), "NotFoundError"),
    (faults.BadRequest(times=None), "BadRequestError"),
    (faults.Dropped(times=None), "APIConnectionError"),
]


@by_sdk
@streaming
@pytest.mark.parametrize(("fault", "error"), FATAL, ids=lambda each: getattr(each, "name", ""))
def test_fails(
    ask: Callable[..., str], stream: bool, fault: faults.Fault, error: str, server: ModelServer
) -> None:
    server.fail(fault)
    with pytest.raises(getattr(family(ask), error)) as caught:
        ask(server, PROMPT, 0, stream=stream)
    if isinstance(fault, faults.StatusFault):
        assert caught.value.status_code == fault.status
        assert fault.message in str(caught.value)
    assert (server.calls, server.answered) == (1, 0)


@by_sdk
@streaming
@pytest.mark.parametrize(
    "kind", [faults.DroppedMidBody, faults.Malformed, faults.Truncated, faults.ContentTypeHtml]
)
def test_a_broken_body_is_no_answer(
    ask: Callable[..., str], stream: bool, kind: type[faults.Fault], server: ModelServer
) -> None:
    middle = {"after": 5} if stream and kind in {faults.DroppedMidBody, faults.Truncated} else {}
    server.fail(kind(times=None, **middle))
    # Some SDKs raise, some hand over what came before the break; none hands over the whole answer.
    text = None
    with contextlib.suppress(*WHAT_SDKS_RAISE):
        text = ask(server, STORY, 0, stream=stream)
    assert text != FIRST
    assert server.answered == 0


def test_timeouts(server: ModelServer) -> None:
    server.fail(faults.Slow(seconds=1.0))
    options: Any = {"base_url": server.openai_url, "api_key": "k", "max_retries": 0, "timeout": 0.1}
    with openai.OpenAI(**options) as client, pytest.raises(openai.APITimeoutError):
        client.chat.completions.create(model="m", messages=user(PROMPT))


@streaming
def test_tools_in_chat_completions(stream: bool, server: ModelServer) -> None:
    tools: Any = [{"type": "function", "function": FUNCTION}]
    with openai.OpenAI(base_url=server.openai_url, api_key="k") as client:
        if stream:
            with client.chat.completions.stream(model="m", messages=user(QUESTION), tools=tools) as events:
                events.until_done()
                choice = events.get_final_completion().choices[0]
        else:
            choice = client.chat.completions.create(model="m", messages=user(QUESTION), tools=tools).choices[
                0
            ]
        assert choice.finish_reason == "tool_calls"
        [call] = choice.message.tool_calls or []
        assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"city": "Paris"})
        result = {"role": "tool", "tool_call_id": call.id, "content": "Sunny, 21 degrees"}
        asked = [*user(QUESTION), choice.message.model_dump(exclude_none=True, exclude={"parsed"}), result]
        for each in asked[1].get("tool_calls", ()):
            each["function"].pop("parsed_arguments", None)
        final = client.chat.completions.create(model="m", messages=asked, tools=tools)
    assert "Sunny, 21 degrees" in (final.choices[0].message.content or "")


@streaming
def test_tools_in_responses(stream: bool, server: ModelServer) -> None:
    tools: Any = [{"type": "function", "strict": False, **FUNCTION}]
    with openai.OpenAI(base_url=server.openai_url, api_key="k") as client:
        if stream:
            with client.responses.stream(model="m", input=QUESTION, tools=tools) as events:
                kinds = [each.type for each in events]
                answer: Any = events.get_final_response()
            assert "response.function_call_arguments.delta" in kinds
        else:
            answer = client.responses.create(model="m", input=QUESTION, tools=tools)
        [call] = answer.output
        assert (call.type, call.name, json.loads(call.arguments)) == (
            "function_call",
            "get_weather",
            {"city": "Paris"},
        )
        items: Any = [
            *user(QUESTION),
            {
                "type": "function_call",
                "call_id": call.call_id,
                "name": call.name,
                "arguments": call.arguments,
            },
            {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny, 21 degrees"},
        ]
        final = client.responses.create(model="m", input=items, tools=tools)
    assert "Sunny, 21 degrees" in final.output_text


@streaming
def test_tools_in_messages(stream: bool, server: ModelServer) -> None:
    tools: Any = [{"name": "get_weather", "description": FUNCTION["description"], "input_schema": SCHEMA}]
    with anthropic.Anthropic(base_url=server.anthropic_url, api_key="k") as client:
        asked: Any = {"model": "m", "max_tokens": 99, "tools": tools, "messages": user(QUESTION)}
        if stream:
            with client.messages.stream(**asked) as events:
                answer: Any = events.get_final_message()
        else:
            answer = client.messages.create(**asked)
        [block] = answer.content
        assert (answer.stop_reason, block.name, block.input) == ("tool_use", "get_weather", {"city": "Paris"})
        use = {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        result = {"type": "tool_result", "tool_use_id": block.id, "content": "Sunny, 21 degrees"}
        turns = [
            *user(QUESTION),
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ]
        final = client.messages.create(**{**asked, "messages": turns})
        counted = client.messages.count_tokens(model="m", messages=user("12345678"))
    assert "Sunny, 21 degrees" in final.content[0].text
    assert counted.input_tokens == 2


def test_limits_and_usage(server: ModelServer) -> None:
    with openai.OpenAI(base_url=server.openai_url, api_key="k") as client:
        answer = client.chat.completions.create(model="m", messages=user(STORY), max_completion_tokens=3)
        assert answer.choices[0].finish_reason == "length"
        assert answer.choices[0].message.content == FIRST[:12]
        assert answer.model == "simulated-2"
        options: Any = {"include_usage": True}
        with client.chat.completions.create(
            model="m", messages=user(STORY), stream=True, stream_options=options
        ) as events:
            usage = [each.usage for each in events][-1]
        assert usage is not None
        assert usage.prompt_tokens == -(-len(STORY) // 4)
        assert client.responses.create(model="m", input=STORY, max_output_tokens=3).status == "incomplete"
    with anthropic.Anthropic(base_url=server.anthropic_url, api_key="k") as other:
        cut = other.messages.create(model="m", max_tokens=3, messages=user(STORY))
        assert (cut.stop_reason, cut.usage.output_tokens) == ("max_tokens", 3)


def test_models_and_embeddings(server: ModelServer) -> None:
    with openai.OpenAI(base_url=server.openai_url, api_key="k", max_retries=0) as client:
        assert [each.id for each in client.models.list()] == ["simulated-2"]
        assert client.models.retrieve("simulated-2").id == "simulated-2"
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("gpt-99")
        first, same, other = client.embeddings.create(
            model="m", input=["red roses", "red roses", "tax law"]
        ).data
        assert first.embedding == same.embedding
        assert abs(sum(each * each for each in first.embedding) - 1) < 1e-5
        near, far = (
            sum(a * b for a, b in zip(first.embedding, e.embedding, strict=True)) for e in (same, other)
        )
        assert near > 0.99 > far
        floats = client.embeddings.create(model="m", input="red roses", encoding_format="float", dimensions=8)
        assert len(floats.data[0].embedding) == 8
    with anthropic.Anthropic(base_url=server.anthropic_url, api_key="k") as claude:
        assert [each.id for each in claude.models.list()] == ["simulated-2"]


def test_a_key_can_be_required() -> None:
    with ModelServer(key="right") as server:
        with openai.OpenAI(base_url=server.openai_url, api_key="right") as client:
            assert client.chat.completions.create(model="m", messages=user(PROMPT)).choices
        claude = anthropic.Anthropic(base_url=server.anthropic_url, api_key="wrong", max_retries=0)
        with claude, pytest.raises(anthropic.AuthenticationError):
            claude.messages.create(model="m", max_tokens=9, messages=user(PROMPT))
