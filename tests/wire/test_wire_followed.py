"""Every way of asking that the documentation says is followed, with the real SDKs; and those that it says are refused."""

from __future__ import annotations

import asyncio
import contextlib
import re
from pathlib import Path
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pydantic
import pytest

from pytest_promptfuzz.providers.requests import Response, Usage
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.wire.in_flight import InFlight
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, RunSettings, Watch, watching

OLD, NEW = "Where is my parcel?", "where is my  parcel?"
USER = [{"role": "user", "content": OLD}]
DOCUMENT = Path(__file__).parents[2] / "docs" / "unchanged-applications.md"


class Label(pydantic.BaseModel):
    label: str


class Labeller:
    """A model whose every answer is a label in JSON."""

    version = "labeller-1"

    def answer(self, request, *, sample: int = 0) -> Response:
        del request
        return Response(f'{{"label": "fine {sample}"}}', usage=Usage(3, 1), finish_reason="stop")


def gpt(server: ModelServer, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=server.openai_url, max_retries=0, **more)


def claude(server: ModelServer) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="none", base_url=server.anthropic_url, max_retries=0)


def create(client: Any, **more: Any) -> Any:
    return client.chat.completions.create(model="m", messages=USER, **more)


def azure(server: ModelServer) -> str:
    with openai.AzureOpenAI(
        api_key="none", azure_endpoint=server.url, api_version="2024-10-21", max_retries=0
    ) as client:
        return create(client).choices[0].message.content


def chat_parse(server: ModelServer) -> str:
    with gpt(server) as client:
        answer = client.chat.completions.parse(model="m", messages=USER, response_format=Label)
    return answer.choices[0].message.parsed.label


def chat_stream(server: ModelServer) -> str:
    with gpt(server) as client, client.chat.completions.stream(model="m", messages=USER) as stream:
        return stream.get_final_completion().choices[0].message.content


def chat_raw(server: ModelServer) -> str:
    with gpt(server) as client:
        raw = client.chat.completions.with_raw_response.create(model="m", messages=USER)
        assert raw.status_code == 200
        return raw.parse().choices[0].message.content


def chat_streaming_response(server: ModelServer) -> str:
    with (
        gpt(server) as client,
        client.chat.completions.with_streaming_response.create(model="m", messages=USER) as raw,
    ):
        return b"".join(raw.iter_bytes()).decode()


def responses_parse(server: ModelServer) -> str:
    with gpt(server) as client:
        return client.responses.parse(model="m", input=OLD, text_format=Label).output_parsed.label


def responses_stream(server: ModelServer) -> str:
    with gpt(server) as client, client.responses.stream(model="m", input=OLD) as stream:
        return stream.get_final_response().output_text


def claude_stream(server: ModelServer) -> str:
    with claude(server) as client, client.messages.stream(model="m", max_tokens=9, messages=USER) as stream:
        return stream.get_final_text()


def claude_parse(server: ModelServer) -> str:
    with claude(server) as client:
        answer = client.messages.parse(model="m", max_tokens=9, messages=USER, output_format=Label)
    return answer.parsed_output.label


def claude_raw(server: ModelServer) -> str:
    with claude(server) as client:
        raw = client.messages.with_raw_response.create(model="m", max_tokens=9, messages=USER)
        return raw.parse().content[0].text


def claude_beta(server: ModelServer) -> str:
    with claude(server) as client:
        answer = client.beta.messages.create(
            model="m", max_tokens=9, messages=USER, betas=["files-api-2025-04-14"]
        )
    return answer.content[0].text


def claude_counts(server: ModelServer) -> int:
    with claude(server) as client:
        return client.messages.count_tokens(model="m", messages=USER).input_tokens


def gpt_counts(server: ModelServer) -> int:
    with gpt(server) as client:
        return client.responses.input_tokens.count(model="m", input=OLD).input_tokens


def embeddings(server: ModelServer) -> list[float]:
    with gpt(server) as client:
        return client.embeddings.create(model="m", input=OLD, encoding_format="float").data[0].embedding


async def achat(server: ModelServer) -> str:
    async with openai.AsyncOpenAI(api_key="none", base_url=server.openai_url, max_retries=0) as client:
        return (await create(client)).choices[0].message.content


async def aclaude(server: ModelServer) -> str:
    async with (
        anthropic.AsyncAnthropic(api_key="none", base_url=server.anthropic_url, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=USER) as stream,
    ):
        return await stream.get_final_text()


def posted(library: Any, server: ModelServer) -> str:
    with library.Client() as client:
        answer = client.post(f"{server.openai_url}/chat/completions", json={"model": "m", "messages": USER})
    return answer.json()["choices"][0]["message"]["content"]


def through(server: ModelServer, **options: Any) -> str:
    """By a client whose HTTP the application has set up itself."""
    with gpt(server, http_client=openai.DefaultHttpxClient(**options)) as client:
        return create(client).choices[0].message.content


class Logging(httpx2.BaseTransport):
    """A transport of the application's own, around the real one."""

    def __init__(self) -> None:
        self.inner = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return self.inner.handle_request(request)

    def close(self) -> None:
        self.inner.close()


# The first column of the table in the document, and what it says.
FOLLOWED = {
    "`chat.completions.create`, also `stream=True`": [
        lambda server: create(gpt(server)).choices[0].message.content,
        lambda server: "".join(
            each.choices[0].delta.content or "" for each in create(gpt(server), stream=True) if each.choices
        ),
    ],
    "`chat.completions.parse`, `.stream()`": [chat_parse, chat_stream],
    "`responses.create`, `.parse`, `.stream()`": [
        lambda server: gpt(server).responses.create(model="m", input=OLD).output_text,
        responses_parse,
        responses_stream,
    ],
    "`embeddings.create`": [embeddings],
    "`messages.create`, `.stream()`, `.parse`, `beta.messages`": [claude_stream, claude_parse, claude_beta],
    "`messages.count_tokens`, `responses.input_tokens.count`": [claude_counts, gpt_counts],
    "`with_raw_response`, `with_streaming_response`": [chat_raw, chat_streaming_response, claude_raw],
    "`AsyncOpenAI`, `AsyncAnthropic`": [
        lambda server: asyncio.run(achat(server)),
        lambda server: asyncio.run(aclaude(server)),
    ],
    "`AzureOpenAI`, and any host by `base_url`": [azure],
    "`httpx2` and `httpx` themselves": [
        lambda server: posted(httpx2, server),
        lambda server: posted(httpx, server),
    ],
    "`http_client=` with a transport, mounts or a proxy of its own": [
        lambda server: through(server, transport=httpx2.HTTPTransport(retries=1)),
        lambda server: through(server, transport=Logging()),
        lambda server: through(server, mounts={"http://": httpx2.HTTPTransport()}),
        lambda server: through(server, proxy=server.url),
    ],
}
WAYS = [(row, index) for row, ways in FOLLOWED.items() for index in range(len(ways))]


@pytest.fixture
def server():
    with ModelServer(Labeller()) as running:
        yield running


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(("row", "index"), WAYS, ids=[f"{row}-{index}" for row, index in WAYS])
def test_it_is_stored_replayed_and_mutated(server, row, index) -> None:
    ask, store = FOLLOWED[row][index], MemoryStore()
    said = []
    for _ in range(2):
        with intercepting(), watching(Watch(RunSettings(store=store))) as watch:
            said.append(ask(server))
        assert watch.notes == []
        assert not [each for each in watch.unseen if each.asks_model]
    assert said[0] == said[1]
    assert server.calls == 1, "the second was answered from the store"
    (call,) = watch.calls
    assert call.hit
    assert OLD in call.texts
    with (
        intercepting(),
        watching(Watch(RunSettings(store=store), RunRoute(in_flight=InFlight("user", {OLD: NEW})))) as watch,
    ):
        ask(server)
    assert watch.route.in_flight.arrived
    assert NEW in server.requests[-1].text
    assert OLD not in server.requests[-1].text


def by_aiohttp(server: ModelServer) -> None:
    async def main() -> None:
        client = openai.AsyncOpenAI(
            api_key="none", base_url=server.openai_url, http_client=openai.DefaultAioHttpClient()
        )
        async with client:
            await create(client)

    asyncio.run(main())


def by_mock(server: ModelServer) -> None:
    del server
    answer = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}]
    }
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json=answer))
    with openai.OpenAI(api_key="none", http_client=httpx2.Client(transport=transport)) as client:
        create(client)


def by_realtime(server: ModelServer) -> None:
    pytest.importorskip("websockets")
    address = server.url.replace("http", "ws") + "/v1"
    client = openai.OpenAI(api_key="none", websocket_base_url=address)
    with contextlib.suppress(Exception), client.realtime.connect(model="m", max_retries=0):
        pass


def by_other_protocols(server: ModelServer) -> None:
    for path in ("/v1beta/models/gemini:generateContent", "/model/nova-lite/converse", "/v1/completions"):
        httpx2.post(server.url + path, json={"prompt": OLD})
    httpx2.post(f"{server.url}/api/items", json={"prompt": OLD})


# The first column of the second table, and what is noted of it.
REFUSED = {
    "`DefaultAioHttpClient`, aiohttp": (by_aiohttp, ["aiohttp (POST 127.0.0.1/v1/chat/completions)"]),
    "WebSockets, `client.realtime`": (by_realtime, ["websockets (WebSocket 127.0.0.1/v1/realtime)"]),
    "`MockTransport`, respx and the like": (by_mock, []),
    "other protocols (Gemini, Bedrock, `completions`) without [configuration](#other-protocols)": (
        by_other_protocols,
        [
            "httpx2 (POST 127.0.0.1/v1beta/models/gemini:generateContent)",
            "httpx2 (POST 127.0.0.1/model/nova-lite/converse)",
            "httpx2 (POST 127.0.0.1/v1/completions)",
        ],
    ),
}


@pytest.mark.parametrize("row", REFUSED)
def test_what_is_not_followed_is_noted(server, row) -> None:
    ask, noted = REFUSED[row]
    with intercepting(), watching(Watch()) as watch:
        ask(server)
    assert watch.calls == []
    assert [str(each) for each in watch.unseen if each.asks_model] == noted


def test_the_documents_tables_name_what_is_tested() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    section = text.partition("## What is followed")[2].partition("\n## ")[0]
    rows = [row[1].strip() for row in re.finditer(r"^\| (.+?) \|", section, re.MULTILINE)]
    elsewhere = {"---", "asked through", "not followed", "requests, urllib, urllib3, boto3, another process"}
    elsewhere.add("any other connection of the process")
    assert [row for row in rows if row not in elsewhere] == [*FOLLOWED, *REFUSED]
