"""The real SDKs, over real HTTP: what is recorded, stored and replayed."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import anthropic
import httpx2
import openai
import pytest
import trio

from pytest_promptfuzz.server.faults import (
    BadRequest,
    ContentTypeHtml,
    Dropped,
    DroppedMidBody,
    Forbidden,
    Malformed,
    NotFound,
    RateLimited,
    ServerError,
    Slow,
    Truncated,
    Unauthorized,
)
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, RunSettings, SimulatedBackend, Watch, watching

if TYPE_CHECKING:
    from pathlib import Path

TLS = ssl.create_default_context()  # one for all clients: it costs more than the rest of a test
KEY = "sk-planted-key-0123456789"
SHAPES = [
    (api, mode, style)
    for api in ("chat", "responses", "messages")
    for mode in ("sync", "async")
    for style in ("plain", "stream")
]


@pytest.fixture
def server(parrot):
    with ModelServer(parrot) as running:
        yield running


class App:
    """An application that asks in every way; answers are (text, tool calls), as its user sees them."""

    def __init__(
        self, server: ModelServer, *, retries: int = 2, timeout: float = 5.0, key: str = KEY
    ) -> None:
        options = {"api_key": key, "max_retries": retries, "timeout": timeout}
        for_openai, for_anthropic = server.openai_url, server.anthropic_url  # known even when it is gone
        self.async_openai = lambda: openai.AsyncOpenAI(
            base_url=for_openai, http_client=openai.DefaultAsyncHttpxClient(verify=TLS), **options
        )
        self.async_anthropic = lambda: anthropic.AsyncAnthropic(
            base_url=for_anthropic, http_client=anthropic.DefaultAsyncHttpxClient(verify=TLS), **options
        )
        self._makers = {
            "openai": lambda: openai.OpenAI(
                base_url=for_openai, http_client=openai.DefaultHttpxClient(verify=TLS), **options
            ),
            "anthropic": lambda: anthropic.Anthropic(
                base_url=for_anthropic, http_client=anthropic.DefaultHttpxClient(verify=TLS), **options
            ),
        }
        self._made: dict = {}

    def __getattr__(self, name: str):
        if name not in self._makers:
            raise AttributeError(name)
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def close(self) -> None:
        for client in self._made.values():
            client.close()

    def ask(self, shape: tuple[str, str, str], text: str) -> str:
        api, mode, style = shape
        messages = [{"role": "user", "content": text}]
        name, arguments = {
            "chat": ("chat", {"model": "m", "messages": messages}),
            "responses": ("responses", {"model": "m", "input": text}),
            "messages": ("messages", {"model": "m", "messages": messages, "max_tokens": 99}),
        }[api]
        stream = style == "stream"

        def method(client):
            place = client.chat.completions if name == "chat" else getattr(client, name)
            return place.create

        if mode == "sync":
            client = self.anthropic if api == "messages" else self.openai
            answer = method(client)(**arguments, stream=stream)
            return "".join(piece(api, event) for event in answer) if stream else whole(api, answer)

        async def main() -> str:
            made = self.async_anthropic() if api == "messages" else self.async_openai()
            async with made as client:
                answer = await method(client)(**arguments, stream=stream)
                if stream:
                    return "".join([piece(api, event) async for event in answer])
                return whole(api, answer)

        return asyncio.run(main())


def whole(api: str, answer) -> str:
    if api == "chat":
        return answer.choices[0].message.content
    return answer.output_text if api == "responses" else answer.content[0].text


def piece(api: str, event) -> str:
    if api == "chat":
        return (event.choices[0].delta.content or "") if event.choices else ""
    if api == "responses":
        return event.delta if event.type == "response.output_text.delta" else ""
    return event.delta.text if event.type == "content_block_delta" else ""


@pytest.fixture
def app(server):
    made = App(server)
    yield made
    made.close()


@pytest.fixture
def store(tmp_path: Path):
    made = ResponseStore(tmp_path / ".promptfuzz")
    yield made
    made.close()


@pytest.fixture
def watch(store):
    made = Watch(RunSettings(store=store))
    with intercepting(), watching(made):
        yield made


@pytest.mark.parametrize("shape", SHAPES, ids="-".join)
def test_the_second_run_makes_no_call_and_yields_the_same(server, app, store, shape) -> None:
    seen = []
    for run in ("first", "second"):
        watch = Watch(RunSettings(store=store))
        with intercepting(), watching(watch):
            seen.append([app.ask(shape, "hello"), app.ask(shape, "hello"), app.ask(shape, "bye")])
        assert server.calls == 3
        assert [call.hit for call in watch.calls] == [run == "second"] * 3
        assert [call.nth for call in watch.calls] == [0, 1, 0]
        assert [call.texts for call in watch.calls] == [("hello",), ("hello",), ("bye",)]
        assert [call.response.text for call in watch.calls] == seen[-1], "the watch reads what the SDK reads"
        assert [call.response.cached for call in watch.calls] == [run == "second"] * 3
        assert all((call.response.latency > 0) is (run == "first") for call in watch.calls)
        assert {(call.provider, call.model, call.host) for call in watch.calls} == {
            ("compatible", "m", server.url[7:])
        }
        assert watch.unrecovered() == ()
        assert watch.notes == []
    assert seen[0] == seen[1] == ["hello #0", "hello #1", "bye #0"]
    assert store.notes == []


def test_repeats_are_other_samples(server, app, store) -> None:
    def ask(repeat: int) -> str:
        watch = Watch(RunSettings(store=store, repeat=repeat))
        with intercepting(), watching(watch):
            return app.ask(("chat", "sync", "plain"), "hello")

    assert [ask(0), ask(1), ask(0), ask(1)] == ["hello #0", "hello #1", "hello #0", "hello #1"]
    assert server.calls == 2


def test_the_whole_answers_are_equal(app, store) -> None:
    def run() -> tuple:
        with intercepting(), watching(Watch(RunSettings(store=store))):
            plain = app.openai.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "weather"}]
            )
            message = app.anthropic.messages.create(
                model="m", messages=[{"role": "user", "content": "weather"}], max_tokens=9
            )
            with app.anthropic.messages.stream(
                model="m", messages=[{"role": "user", "content": "hi"}], max_tokens=9
            ) as stream:
                streamed = stream.get_final_message()
            vectors = app.openai.embeddings.create(model="e", input="some text")
        return plain.model_dump(), message.model_dump(), streamed.model_dump(), vectors.model_dump()

    live, replayed = run(), run()
    assert live == replayed
    assert live[0]["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "get_weather"
    assert live[1]["content"][0]["input"] == {"city": "Oslo"}


def test_embeddings_are_stored_and_not_read_as_text(server, app, store) -> None:
    for hit in (False, True):
        watch = Watch(RunSettings(store=store))
        with intercepting(), watching(watch):
            app.openai.embeddings.create(model="e", input="some text")
        assert [(call.hit, call.response, call.texts) for call in watch.calls] == [
            (hit, None, ("some text",))
        ]
        assert watch.unrecovered() == ()
    assert server.calls == 1


def test_clients_made_before_and_after(server, store) -> None:
    before = App(server)
    assert before.openai.is_closed() is False, "it is made now"
    with intercepting():
        during = App(server)
        with watching(Watch(RunSettings(store=store))) as watch:
            for app in (before, during):
                app.ask(("chat", "sync", "plain"), "x")
        assert len(watch.calls) == 2
    before.close()
    during.close()


def test_everything_is_restored() -> None:
    methods = [(httpx2.HTTPTransport, "handle_request"), (httpx2.AsyncHTTPTransport, "handle_async_request")]
    originals = [each.__dict__[name] for each, name in methods]
    finders = list(sys.meta_path)

    def patched() -> bool:
        return all(
            each.__dict__[name] is not was for (each, name), was in zip(methods, originals, strict=True)
        )

    def failing() -> None:
        with intercepting():
            with intercepting():
                assert patched()
            assert patched(), "the outer block still stands"
            1 / 0  # noqa: B018

    with pytest.raises(ZeroDivisionError):
        failing()
    assert [each.__dict__[name] for each, name in methods] == originals
    assert sys.meta_path == finders


def test_a_patch_over_ours_is_left_alone(monkeypatch) -> None:
    original = httpx2.HTTPTransport.handle_request
    with intercepting():
        ours = httpx2.HTTPTransport.handle_request

        def theirs(self, request):
            return ours(self, request)

        monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", theirs)
    assert httpx2.HTTPTransport.handle_request is theirs
    monkeypatch.undo()
    httpx2.HTTPTransport.handle_request = original


def test_outside_a_watch_all_passes_through(server, app) -> None:
    with intercepting():
        assert app.ask(("chat", "sync", "plain"), "x") == "x #0"
        assert app.ask(("chat", "async", "stream"), "x") == "x #0" or server.calls == 2


def test_other_http_passes_untouched(server, watch) -> None:
    with httpx2.Client() as client:
        assert client.get(f"{server.openai_url}/models").status_code == 200
        assert client.post(f"{server.url}/elsewhere", json={"a": 1}).status_code == 404
        assert watch.notes == []
        assert client.post(f"{server.openai_url}/chat/completions", content=b"x=1").status_code == 400
    assert watch.calls == watch.faults == []
    assert [note for note in watch.notes if "holds no readable JSON object" in note] == watch.notes != []


def test_a_model_call_without_readable_json_is_passed_and_noted(server, watch) -> None:
    with httpx2.Client() as client:
        json_type = {"content-type": "application/json"}
        answer = client.post(f"{server.openai_url}/chat/completions", content=b"{no json", headers=json_type)
    assert answer.status_code == 400
    assert len(watch.notes) == 1


def test_a_library_imported_later_is_patched() -> None:
    program = (
        "import sys\n"
        "from pytest_promptfuzz.wire.transports import intercepting\n"
        "with intercepting():\n"
        "    assert 'httpx2' not in sys.modules\n"
        "    import httpx2\n"
        "    patched = httpx2.HTTPTransport.handle_request.__wrapped__\n"
        "    assert type(httpx2.__spec__.loader) is type(sys.__spec__.loader) or 'Source' in type(httpx2.__spec__.loader).__name__\n"
        "    assert httpx2.__loader__ is httpx2.__spec__.loader\n"
        "assert httpx2.HTTPTransport.handle_request is patched\n"
        "httpx2.alias_httpx()\n"
        "import httpx\n"
        "with intercepting():\n"
        "    assert httpx.HTTPTransport.handle_request.__wrapped__ is patched\n"
        "    assert not hasattr(patched, '__wrapped__')\n"
        "print('well')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "well\n", done.stderr


FAULTS = {
    "rate-limit": (RateLimited(retry_after=0.01), "rate-limit", 429),
    "overloaded": (ServerError(status=529), "rate-limit", 529),
    "server": (ServerError(), "server", 500),
    "unavailable": (ServerError(status=503), "server", 503),
    "unauthorized": (Unauthorized(), "authentication", 401),
    "forbidden": (Forbidden(), "authentication", 403),
    "not-found": (NotFound(), "not-found", 404),
    "bad-request": (BadRequest(), "bad-request", 400),
    "dropped": (Dropped(), "connection", None),
    "dropped-mid-body": (DroppedMidBody(), "connection", None),
    "malformed": (Malformed(), "malformed", 200),
    "truncated": (Truncated(), "connection", None),
    "html": (ContentTypeHtml(), "malformed", 200),
    "slow": (Slow(seconds=600.0), "timeout", None),
}


def outcome(app: App, shape: tuple[str, str, str]) -> object:
    """What the SDK makes of the fault: an exception, with its causes, or (of a cut stream) half a text."""
    try:
        return app.ask(shape, "hello")
    except Exception as error:
        chain = [error]
        while chain[-1].__cause__ is not None:
            chain.append(chain[-1].__cause__)
        return [type(each).__name__ for each in chain if "httpcore" not in type(each).__module__]


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("shape", SHAPES, ids="-".join)
def test_a_fault_is_seen_never_stored_and_recovered_by_the_same_request(server, store, shape, name) -> None:
    fault, kind, status = FAULTS[name]
    app = App(server, retries=0, timeout=0.5 if name == "slow" else 60.0)
    patient = App(server, retries=0, timeout=60.0) if name == "slow" else app
    server.fail(fault, next=2)
    unseen = outcome(app, shape)
    watch = Watch(RunSettings(store=store, fresh=MemoryStore()))
    with intercepting(), watching(watch):
        assert outcome(app, shape) == unseen, "the application meets what it would have met without us"
        assert [(each.kind, each.recovered) for each in watch.faults] == [(kind, False)]
        if not (name == "truncated" and shape[2] == "stream"):
            assert watch.faults[0].status == status
        assert server.url in watch.faults[0].message
        assert store.stats().writes == watch.settings.fresh.stats().writes == 0
        assert patient.ask(shape, "hello").startswith("hello #")
    assert watch.unrecovered() == ()
    assert watch.calls[-1].nth == 0
    assert store.stats().writes == 1
    app.close()
    patient.close()


@pytest.mark.parametrize("shape", [each for each in SHAPES if each[2] == "plain"], ids="-".join)
def test_what_the_sdk_retries_is_one_call(server, store, shape) -> None:
    app = App(server)
    server.fail(RateLimited(times=2, retry_after=0.01))
    watch = Watch(RunSettings(store=store))
    with intercepting(), watching(watch):
        assert app.ask(shape, "hello") == "hello #0"
    assert [each.kind for each in watch.faults] == ["rate-limit"] * 2
    assert watch.unrecovered() == ()
    assert [call.nth for call in watch.calls] == [0]
    assert server.calls == 3
    app.close()


def test_a_refused_connection_is_a_fault(parrot) -> None:
    with ModelServer(parrot) as gone:
        app = App(gone, retries=0)
    with intercepting(), watching(Watch()) as watch, pytest.raises(openai.APIConnectionError):
        app.ask(("chat", "sync", "plain"), "x")
    assert [each.kind for each in watch.unrecovered()] == ["connection"]
    app.close()


def test_trio(server, store) -> None:
    async def main() -> str:
        # The SDKs leave generators of streams to the garbage collector, which trio warns of: the stream is bare.
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}
        async with (
            httpx2.AsyncClient() as bare,
            bare.stream("POST", f"{server.openai_url}/chat/completions", json=body) as answer,
        ):
            lines = [line async for line in answer.aiter_lines()]
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key=KEY, max_retries=0) as client:
            with trio.move_on_after(0.3):
                await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "slow"}]
                )
        return "\n".join(lines)

    server.fail(Slow(seconds=5.0, when="slow"))
    watches = [Watch(RunSettings(store=store)), Watch(RunSettings(store=store))]
    seen = []
    for watch in watches:
        with intercepting(), watching(watch):
            seen.append(trio.run(main))
    assert seen[0] == seen[1]
    assert "[DONE]" in seen[0]
    assert [(each.kind, each.recovered) for each in watches[0].faults] == [("timeout", False)]
    assert [call.hit for watch in watches for call in watch.calls] == [False, True, False]
    assert watches[0].calls[0].response.text == "x #0"


def test_a_cancelled_call_is_a_fault(parrot) -> None:
    async def impatient(server: ModelServer) -> None:
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key=KEY) as client:
            await asyncio.wait_for(
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}]), 0.2
            )

    late, cancelled = ModelServer(parrot, latency=1.0), pytest.raises(asyncio.TimeoutError)
    with late as server, intercepting(), watching(Watch()) as watch, cancelled:
        asyncio.run(impatient(server))
    assert [each.kind for each in watch.unrecovered()] == ["timeout"]
    assert watch.reserve(watch.faults[0].digest) == 0


def test_a_stream_left_early_is_no_fault_and_not_stored(app, store, watch) -> None:
    stream = app.openai.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "one two three four five"}], stream=True
    )
    with stream:
        next(iter(stream))
    assert watch.unrecovered() == ()
    assert [(call.texts, call.response) for call in watch.calls] == [(("one two three four five",), None)]
    assert store.stats().writes == 0


def leaked(directory: Path, secret: str) -> list[str]:
    needle = secret.encode()
    return [str(path) for path in directory.rglob("*") if path.is_file() and needle in path.read_bytes()]


def test_no_secret_reaches_the_disk(server, tmp_path: Path) -> None:
    from pytest_promptfuzz.storage.redaction import Redaction

    store = ResponseStore(tmp_path / ".promptfuzz")
    watch = Watch(RunSettings(store=store, redaction=Redaction(patterns=(r"customer-\d+",))))
    planted = [
        "sk-live-9876543210abcdef",
        "customer-4711",
        "query-secret-1",
        "cookie-secret-1",
        "cred0123456789",
        KEY,
    ]
    client = openai.OpenAI(
        base_url=server.openai_url,
        api_key=KEY,
        default_headers={"cookie": "sid=cookie-secret-1", "x-custom-token": "cred0123456789"},
        default_query={"api_key": "query-secret-1"},
    )
    text = " ".join(["hide", *planted])
    with intercepting(), watching(watch):
        for stream in (False, True):
            answer = client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": text}], stream=stream, user="customer-4711"
            )
            if stream:
                list(answer)
        server.fail(BadRequest(message=f"bad key {KEY}"))
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(model="m", messages=[])
    client.close()
    store.close()
    assert store.path.stat().st_size > 0
    assert store.stats().writes == 2, "a stream that holds secrets is stored without them"
    store.close()
    said = [*watch.notes, *(each.message for each in watch.faults)]
    assert any("[redacted]" in each for each in said)
    for secret in planted:
        assert leaked(tmp_path, secret) == []
        assert not [each for each in said if secret in each]
    assert leaked(tmp_path, "hide "), "the needle is found where there is no secret"


def test_threads_of_the_application(server, app, store) -> None:
    def work(_: int) -> str:
        return app.ask(("chat", "sync", "plain"), "hello")

    watch = Watch(RunSettings(store=store))
    with intercepting(), watching(watch), ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(work, range(8))) == [f"hello #{n}" for n in range(8)]
    assert watch.unattributed == 8
    assert sorted(call.nth for call in watch.calls) == list(range(8))


def test_a_call_that_cannot_be_attributed_is_refused_loudly(server) -> None:
    app = App(server)
    one, two = Watch(RunSettings(concurrent=True)), Watch(RunSettings(concurrent=True))
    refused = pytest.raises(openai.BadRequestError, match="lost its context")
    with intercepting(), watching(one), watching(two), ThreadPoolExecutor(1) as pool, refused:
        pool.submit(app.ask, ("chat", "sync", "plain"), "x").result()
    assert server.calls == 0
    for watch in (one, two):
        assert [(each.kind, each.sent) for each in watch.unrecovered()] == [("unattributed", False)]
        assert watch.unattributed == 1
    app.close()


def test_concurrent_trials_see_their_own_calls_only(server, store) -> None:
    async def trial(client, name: str) -> Watch:
        with watching(Watch(RunSettings(store=store, concurrent=True))) as watch:
            await client.chat.completions.create(model="m", messages=[{"role": "user", "content": name}])
        return watch

    async def main() -> list[Watch]:
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key=KEY) as client:
            return await asyncio.gather(*(trial(client, f"t{n}") for n in range(6)))

    with intercepting():
        watches = asyncio.run(main())
    assert [[call.texts for call in watch.calls] for watch in watches] == [[(f"t{n}",)] for n in range(6)]


def test_the_repeat_run_is_served_from_this_tests_answers(server, app) -> None:
    fresh = MemoryStore()
    texts = []
    for _ in ("baseline", "control"):
        with intercepting(), watching(Watch(RunSettings(fresh=fresh, read=False))):
            texts.append(app.ask(("messages", "sync", "stream"), "hello"))
    assert texts == ["hello #0"] * 2
    assert server.calls == 1


@pytest.mark.parametrize("shape", SHAPES, ids="-".join)
def test_the_simulated_model_answers_without_a_network(parrot, store, shape) -> None:
    with ModelServer(parrot) as gone:
        app = App(gone, retries=0)
    seen = []
    for _ in range(2):
        watch = Watch(RunSettings(store=store), RunRoute(simulated=SimulatedBackend(parrot, "parrot-1")))
        with intercepting(), watching(watch):
            seen.append([app.ask(shape, "hello"), app.ask(shape, "hello")])
        assert {call.provider for call in watch.calls} == {"simulated"}
        assert watch.unrecovered() == ()
    assert seen == [["hello #0", "hello #1"]] * 2
    assert [call.hit for call in watch.calls] == [True, True]
    live = Watch(RunSettings(store=store))
    with (
        intercepting(),
        watching(live),
        pytest.raises((openai.APIConnectionError, anthropic.APIConnectionError)),
    ):
        app.ask(shape, "hello")
    assert [each.kind for each in live.unrecovered()] == ["connection"], "its answers are never a provider's"
    app.close()


def test_refusals_are_not_kept_between_runs(store, parrot) -> None:
    from pytest_promptfuzz.providers.requests import Response

    class Refuser:
        version = "refuser"

        def answer(self, request, *, sample=0):
            return Response("I cannot help.", finish_reason="content_filter")

    fresh = MemoryStore()
    with ModelServer(Refuser()) as server:
        app = App(server)
        with intercepting(), watching(Watch(RunSettings(store=store, fresh=fresh))) as watch:
            assert app.ask(("chat", "sync", "plain"), "x") == "I cannot help."
        app.close()
    assert watch.calls[0].response.finish_reason == "content_filter"
    assert (store.stats().entries, fresh.stats().writes) == (0, 1)


class Compressing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "compressed"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        data = gzip.compress(json.dumps(body).encode())
        if self.path.startswith("/broken"):
            data = b"\x1f\x8b broken"
        self.send_response(200)
        for name, value in {"content-type": "application/json", "content-encoding": "gzip"}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def compressing():
    with ThreadingHTTPServer(("127.0.0.1", 0), Compressing) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def ask_compressed(base_url: str) -> str:
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
    return answer.choices[0].message.content


def test_compressed_answers_are_stored_as_text(compressing, store) -> None:
    for hit in (False, True):
        with intercepting(), watching(Watch(RunSettings(store=store))) as watch:
            assert ask_compressed(f"{compressing}/v1") == "compressed"
        assert watch.calls[0].response.text == "compressed"
        assert watch.calls[0].hit is hit
    assert leaked(store.directory, "compressed")


def test_a_broken_encoding_is_malformed(compressing) -> None:
    with intercepting(), watching(Watch()) as watch, pytest.raises(openai.OpenAIError):
        ask_compressed(f"{compressing}/broken")
    assert [each.kind for each in watch.unrecovered()] == ["malformed"]
