"""Texts of one role replaced on the wire, under the real SDKs, over real HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import httpx2
import openai
import pytest

from pytest_promptfuzz.providers.formats import respoken, spoken
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.targets.sdk_clients import AnthropicTarget, CompatibleTarget
from pytest_promptfuzz.targets.simulated import SimulatedTarget
from pytest_promptfuzz.wire.in_flight import InFlight
from pytest_promptfuzz.wire.target_calls import aask, ask
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, RunSettings, Watch, watching

OLD, NEW = "Be brief, and polite.", "be brief,  and “polite” 🙂"
ASK = "Where is my parcel?"
USER = {"role": "user", "content": ASK}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": OLD}]}
CHATS = {
    "chat": ("chat.completions", {"messages": [{"role": "system", "content": OLD}, USER]}),
    "chat-developer": ("chat.completions", {"messages": [{"role": "developer", "content": OLD}, USER]}),
    "chat-parts": (
        "chat.completions",
        {"messages": [{"role": "system", "content": [{"type": "text", "text": OLD}]}, USER]},
    ),
    "responses": ("responses", {"instructions": OLD, "input": ASK}),
    "responses-items": (
        "responses",
        {"input": [{"role": "developer", "content": [{"type": "input_text", "text": OLD}]}, USER]},
    ),
    "messages": ("messages", {"system": OLD, "messages": [USER], "max_tokens": 9}),
    "messages-blocks": (
        "messages",
        {
            "system": [{"type": "text", "text": OLD, "cache_control": {"type": "ephemeral"}}],
            "messages": [USER],
            "max_tokens": 9,
        },
    ),
}


@pytest.fixture
def server(parrot):
    with ModelServer(parrot) as running:
        yield running


def client_of(api: str, server: ModelServer, *, asynchronous: bool = False):
    name = ("Async" if asynchronous else "") + ("Anthropic" if api == "messages" else "OpenAI")
    url = server.anthropic_url if api == "messages" else server.openai_url
    module = anthropic if api == "messages" else openai
    return getattr(module, name)(api_key="none", base_url=url, max_retries=0)


def create(client, api: str, **arguments):
    place = client
    for name in api.split("."):
        place = getattr(place, name)
    return place.create(model="m", **arguments)


async def acreate(server: ModelServer, api: str, *, stream: bool, **arguments) -> None:
    async with client_of(api, server, asynchronous=True) as client:
        answer = await create(client, api, stream=stream, **arguments)
        if stream:
            assert [event async for event in answer]


def send(server: ModelServer, shape: str, way: str) -> None:
    api, arguments = CHATS[shape]
    stream = way.endswith("stream")
    if way.startswith("async"):
        asyncio.run(acreate(server, api, stream=stream, **arguments))
        return
    with client_of(api, server) as client:
        answer = create(client, api, stream=stream, **arguments)
        if stream:
            assert list(answer)


def swapped(value, old: str, new: str):
    return json.loads(json.dumps(value).replace(json.dumps(old), json.dumps(new)))


@pytest.mark.parametrize("way", ["sync", "sync-stream", "async", "async-stream"])
@pytest.mark.parametrize("shape", CHATS)
def test_the_text_of_a_role_is_replaced_and_nothing_else(server, shape, way) -> None:
    send(server, shape, way)
    watch = Watch(RunSettings(fresh=MemoryStore()), RunRoute(in_flight=InFlight("system", {OLD: NEW})))
    with intercepting(), watching(watch):
        send(server, shape, way)
        send(server, shape, way)
    plain, first, second = (each.body for each in server.requests)
    assert first == second == swapped(plain, OLD, NEW) != plain
    assert watch.route.in_flight.arrived
    assert [NEW in call.texts and OLD not in call.texts for call in watch.calls] == [True, True]
    # What is kept is the answer to what was asked: the unmutated request does not find it.
    other = Watch(RunSettings(fresh=watch.settings.fresh))
    with intercepting(), watching(other):
        send(server, shape, way)
    assert other.misses == 1


@pytest.mark.parametrize("shape", CHATS)
def test_a_run_that_looks_on_changes_nothing_and_tells_who_said_what(server, shape) -> None:
    send(server, shape, "sync")
    watch = Watch(RunSettings(fresh=MemoryStore()), RunRoute(in_flight=InFlight("system")))
    with intercepting(), watching(watch):
        send(server, shape, "sync")
    assert server.requests[0].body == server.requests[1].body
    (asked,) = watch.route.in_flight.asked
    assert asked.model == "m"
    assert [(each.role, each.texts) for each in asked.messages] == [("system", (OLD,)), ("user", (ASK,))]
    assert not watch.route.in_flight.arrived


def test_earlier_turns_are_replaced_wherever_they_come_again_and_tool_results_are_left_alone() -> None:
    body = {
        "messages": [
            {"role": "user", "content": OLD},
            {"role": "assistant", "content": OLD},
            {"role": "user", "content": [TOOL_RESULT, {"type": "text", "text": OLD}]},
            {"role": "user", "content": "Another turn. " + OLD},
        ],
        "input": [{"role": "user", "content": OLD}, {"type": "function_call_output", "output": OLD}, "x", 3],
        "system": OLD,
    }
    before = json.dumps(body)
    changed, found = respoken(body, "user", {OLD: NEW, "absent": "x"})
    assert json.dumps(body) == before
    assert found == {OLD}
    assert [each.texts for each in spoken(changed) if each.role == "user"] == [
        (NEW,),
        (NEW,),
        ("Another turn. " + OLD,),
        (NEW,),
    ]
    assert changed["messages"][1] == body["messages"][1]
    assert changed["messages"][2]["content"][0] == TOOL_RESULT
    assert changed["input"][1:] == body["input"][1:]
    assert changed["system"] == OLD


@pytest.mark.parametrize(
    "body", [{}, {"messages": 3, "system": {}, "input": None}, {"messages": [None, {"role": []}]}]
)
def test_bodies_of_any_shape_are_passed(body) -> None:
    assert spoken(body) == ()
    assert respoken(body, "system", {OLD: NEW}) == (body, frozenset())


def test_a_streamed_request_body_is_sent_whole_and_headers_about_it_are_true(server) -> None:
    content = json.dumps(CHATS["chat"][1] | {"model": "m"}).encode()
    headers = {"content-type": "application/json", "content-md5": "of the old body", "x-mine": "kept"}
    watch = Watch(RunSettings(fresh=MemoryStore()), RunRoute(in_flight=InFlight("system", {OLD: NEW})))
    with intercepting(), watching(watch), httpx2.Client() as client:
        answer = client.post(
            f"{server.openai_url}/chat/completions", content=iter([content[:9], content[9:]]), headers=headers
        )
    assert answer.status_code == 200
    (seen,) = server.requests
    assert seen.body["messages"][0]["content"] == NEW
    assert "content-md5" not in seen.headers
    assert "transfer-encoding" not in seen.headers
    assert seen.headers["x-mine"] == "kept"
    assert int(seen.headers["content-length"]) == len(seen.text.encode())


PLAIN = json.dumps(CHATS["chat"][1] | {"model": "m"}).encode()
JSON = {"content-type": "application/json"}


def posted(url: str, content: bytes, headers: dict[str, str], way: str = "sync"):
    """The answer to a request that no SDK makes."""
    if way == "sync":
        with httpx2.Client() as client:
            return client.post(url, content=content, headers=headers)

    async def main():
        async with httpx2.AsyncClient() as client:
            return await client.post(url, content=content, headers=headers)

    return asyncio.run(main())


@pytest.fixture
def unpacking():
    """A server that unpacks what it is sent, as a provider's may, and keeps headers and bodies."""
    seen: list = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            wbits = {"gzip": 31, "deflate": 15}.get(headers.get("content-encoding", "").lower())
            with contextlib.suppress(zlib.error):
                body = zlib.decompress(body, wbits) if wbits else body
            seen.append((headers, body))
            said = {"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}], "model": "m"}
            answer = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions", seen
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    ("encoding", "packed"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("GZIP", gzip.compress)]
)
def test_a_compressed_request_is_changed_and_compressed_again(unpacking, encoding, packed, way) -> None:
    url, seen = unpacking
    fresh = MemoryStore()
    for in_flight in (None, InFlight("system"), InFlight("system", {OLD: NEW})):
        watch = Watch(RunSettings(fresh=fresh), RunRoute(in_flight=in_flight))
        with intercepting(), watching(watch):
            answer = posted(url, packed(PLAIN), {**JSON, "content-encoding": encoding}, way)
        assert answer.json()["choices"][0]["message"]["content"] == "fine"
        assert (len(watch.calls), watch.notes) == (1, [])
    (first, plain), (second, changed) = seen  # the second of three was answered from the store
    assert plain == PLAIN
    assert json.loads(changed) == swapped(json.loads(PLAIN), OLD, NEW)
    assert (first["content-encoding"], second["content-encoding"]) == (encoding, encoding.lower())
    # What is asked counts, not how it travels.
    watch = Watch(RunSettings(fresh=fresh))
    with intercepting(), watching(watch):
        posted(url, PLAIN, JSON, way)
    assert (watch.hits, len(seen)) == (1, 2)


def test_a_request_that_is_encoded_twice_is_left_as_it_is(unpacking) -> None:
    url, seen = unpacking
    packed = zlib.compress(gzip.compress(PLAIN))
    watch = Watch(route=RunRoute(in_flight=InFlight("system", {OLD: NEW})))
    with intercepting(), watching(watch):
        posted(url, packed, {**JSON, "content-encoding": "gzip, deflate"})
    ((headers, body),) = seen
    assert (headers["content-encoding"], body) == ("gzip, deflate", packed)
    assert not watch.route.in_flight.arrived


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    ("content", "headers", "said"),
    [
        (
            b"?" + PLAIN,
            {**JSON, "content-encoding": "snappy"},
            "is encoded with snappy, which cannot be undone here",
        ),
        (
            b"no gzip",
            {**JSON, "content-encoding": "gzip"},
            "is encoded with gzip, which cannot be undone here",
        ),
        (b"[1]", JSON, "holds no readable JSON object"),
        (b"{", JSON, "holds no readable JSON object"),
        (b"[" * 99_999, JSON, "holds no readable JSON object"),
        (b"--x", {"content-type": "multipart/form-data; boundary=x"}, "is no JSON but multipart/form-data"),
        (b"x=1", {}, "holds no readable JSON object"),
    ],
)
def test_a_body_that_cannot_be_read_is_said_and_passed_on(unpacking, content, headers, said, way) -> None:
    url, seen = unpacking
    watch = Watch(RunSettings(fresh=MemoryStore()), RunRoute(in_flight=InFlight("system", {OLD: NEW})))
    with intercepting(), watching(watch):
        assert posted(url, content, headers, way).status_code == 200
    assert [body for _, body in seen] == [content]
    assert watch.calls == []
    assert not watch.route.in_flight.arrived
    ((note,), (refused,)) = watch.notes, watch.route.in_flight.unreadable
    assert note == refused
    assert said in note
    # Without anything to mutate it is a note alone; what is sent elsewhere is nobody's business.
    other = Watch()
    with intercepting(), watching(other):
        posted(url, content, headers, way)
        posted(url.replace("completions", "search"), content, headers, way)
    assert other.notes == [note]


SIGNED = "is signed, and its signature would not fit another body"


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"authorization": "AWS4-HMAC-SHA256 Credential=planted-id/20261122, Signature=ab"}, ""),
        ({"authorization": "AWS4-ECDSA-P256-SHA256 Credential=x"}, ""),
        ({"authorization": "ACS3-HMAC-SHA256 Credential=x"}, ""),
        ({"signature-input": 'sig=("content-digest")', "signature": "sig=:ab:"}, ""),
        ({}, "?X-Amz-Algorithm=AWS4&X-Amz-Signature=ab"),
    ],
)
def test_a_signed_body_is_never_changed_and_its_texts_are_known(unpacking, headers, query) -> None:
    url, seen = unpacking
    for texts in ({}, {OLD: NEW}):
        watch = Watch(route=RunRoute(in_flight=InFlight("system", texts)))
        with intercepting(), watching(watch):
            posted(url + query, PLAIN, {**JSON, **headers})
        assert seen[-1][1] == PLAIN
        assert not watch.route.in_flight.arrived
        assert list(watch.route.in_flight.signed) == [OLD]
        assert SIGNED in watch.route.in_flight.signed[OLD]
        assert "planted-id" not in watch.route.in_flight.signed[OLD]
        assert watch.notes == []
    watch = Watch(route=RunRoute(in_flight=InFlight("system")))
    with intercepting(), watching(watch):
        posted(url, PLAIN, {**JSON, "authorization": "Bearer x"})
    assert watch.route.in_flight.signed == {}


def test_all_of_what_is_to_be_replaced_has_to_be_found(server) -> None:
    watch = Watch(route=RunRoute(in_flight=InFlight("system", {OLD: NEW, "Another block.": "x"})))
    with intercepting(), watching(watch):
        send(server, "messages-blocks", "sync")
    assert server.requests[-1].body["system"][0]["text"] == NEW
    assert not watch.route.in_flight.arrived


def test_a_request_that_is_retried_is_one(server) -> None:
    watch = Watch(RunSettings(fresh=MemoryStore()), RunRoute(in_flight=InFlight("system")))
    from pytest_promptfuzz.server.faults import ServerError

    server.fail(ServerError(), next=1)
    with intercepting(), watching(watch), client_of("chat.completions", server) as client:
        create(client.with_options(max_retries=2), "chat.completions", **CHATS["chat"][1])
    assert len(server.requests) == 2
    assert len(watch.route.in_flight.asked) == 1


MESSAGES = ({"role": "system", "content": OLD}, USER)


def test_what_llm_asks_is_mutated_as_well(server) -> None:
    for target in (CompatibleTarget("m", base_url=server.openai_url, api_key="none"), SimulatedTarget()):
        fresh = MemoryStore()
        base = ask(
            target, Request(MESSAGES), Watch(RunSettings(fresh=fresh), RunRoute(in_flight=InFlight("system")))
        )
        for way in (ask, lambda *given: asyncio.run(aask(*given))):
            watch = Watch(RunSettings(fresh=fresh), RunRoute(in_flight=InFlight("system", {OLD: NEW})))
            way(target, Request(MESSAGES), watch)
            assert watch.route.in_flight.arrived
            assert [NEW in call.texts for call in watch.calls] == [True]
        assert base.cached is False
        assert watch.calls[0].digest != ""
    assert [each.body["messages"][0]["content"] for each in server.requests] == [OLD, NEW]


def test_a_text_that_a_format_joins_is_found_before_the_store_is_asked(server) -> None:
    target = AnthropicTarget("m", base_url=server.anthropic_url, api_key="none")
    request = Request(({"role": "system", "content": OLD}, {"role": "system", "content": "Now."}, USER))
    fresh = MemoryStore()
    ask(target, request, Watch(RunSettings(fresh=fresh), RunRoute(in_flight=InFlight("system"))))
    watch = Watch(RunSettings(fresh=fresh), RunRoute(in_flight=InFlight("system", {f"{OLD}\n\nNow.": NEW})))
    ask(target, request, watch)
    assert watch.route.in_flight.arrived
    assert (watch.hits, watch.notes) == (0, [])
    assert [each.body["system"] for each in server.requests] == [f"{OLD}\n\nNow.", NEW]
