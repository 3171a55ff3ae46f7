"""The recording proxy, with the real SDKs and with bare sockets."""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import anthropic
import openai
import pytest

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.providers.custom_protocol import parse_endpoints
from pytest_promptfuzz.providers.formats import configure
from pytest_promptfuzz.server.command import Recorder
from pytest_promptfuzz.server.faults import Dropped, DroppedMidBody, RateLimited
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.server.proxy import Proxy, unsigned
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.wire.in_flight import InFlight
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, RunSettings, Watch, watching

if TYPE_CHECKING:
    from pathlib import Path

MESSAGES = [{"role": "user", "content": "Where is my parcel?"}]
BODY = {"model": "m", "messages": MESSAGES}


@pytest.fixture
def server():
    with ModelServer() as running:
        yield running


@pytest.fixture
def proxy():
    with Proxy() as running:
        yield running


def chat(base_url: str, *, stream: bool = False, retries: int = 0) -> str:
    with openai.OpenAI(api_key="sk-planted-0123456789", base_url=base_url, max_retries=retries) as client:
        answer = client.chat.completions.create(**BODY, stream=stream)
        if stream:
            return "".join(each.choices[0].delta.content or "" for each in answer if each.choices)
        return answer.choices[0].message.content


def messages(base_url: str) -> str:
    with anthropic.Anthropic(api_key="none", base_url=base_url, max_retries=0) as client:
        return client.messages.create(model="m", max_tokens=99, messages=MESSAGES).content[0].text


async def achat(base_url: str) -> str:
    async with openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0) as client:
        return (await client.chat.completions.create(**BODY)).choices[0].message.content


def elsewhere(work):
    """Run in a thread that knows no watch, as another process would."""
    found: list = []

    def run() -> None:
        try:
            found.append(work())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def post(proxy: Proxy, path: str, body: bytes, headers: dict[str, str], *, chunked: bool = False):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)
    content = iter([body[:7], body[7:]]) if chunked else body
    connection.request("POST", path, content, headers, encode_chunked=chunked)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_answers_are_the_providers_and_outside_a_run_nothing_is_kept(server, proxy) -> None:
    openai_url, anthropic_url = proxy.url(server.openai_url), proxy.url(server.anthropic_url)
    assert proxy.url(server.openai_url) == openai_url
    assert openai_url != anthropic_url
    assert chat(openai_url) == chat(server.openai_url)
    assert chat(openai_url, stream=True) == chat(server.openai_url, stream=True)
    assert messages(anthropic_url) == messages(server.anthropic_url)
    assert asyncio.run(achat(openai_url)) == chat(server.openai_url)
    through, direct = server.requests[0], server.requests[1]
    for name in ("user-agent", "host", "content-length"):
        assert through.headers[name] == direct.headers[name]
    assert (through.path, through.body) == (direct.path, direct.body)


@pytest.mark.parametrize("stream", [False, True])
def test_calls_are_seen_stored_and_found_under_the_key_of_a_direct_call(server, proxy, stream) -> None:
    fresh = MemoryStore()
    with intercepting():
        with watching(Watch(RunSettings(fresh=fresh))) as watch:
            text = chat(server.openai_url, stream=stream)
        again = Watch(RunSettings(fresh=fresh))
        with watching(again):
            url = proxy.url(server.openai_url)
            assert elsewhere(lambda: chat(url, stream=stream)) == text
    assert (watch.misses, again.hits, again.misses, again.unattributed) == (1, 1, 0, 0)
    assert len(server.requests) == 1


def test_runs_at_once_have_their_own_base_urls(server, proxy) -> None:
    texts = {"Where is my parcel?": "WHERE IS MY PARCEL?", "a": "b"}
    runs = [
        Watch(RunSettings(concurrent=True)),
        Watch(RunSettings(concurrent=True), RunRoute(in_flight=InFlight("user", texts))),
    ]
    urls = []
    with intercepting():
        for watch in runs:
            with watching(watch):
                urls.append(proxy.url(server.openai_url))
        with watching(runs[0]), watching(runs[1]):
            for url in urls:
                elsewhere(lambda url=url: chat(url))
    assert [[call.texts for call in watch.calls] for watch in runs] == [
        [("Where is my parcel?",)],
        [("WHERE IS MY PARCEL?",)],
    ]
    assert [each.body["messages"][0]["content"] for each in server.requests] == [
        "Where is my parcel?",
        "WHERE IS MY PARCEL?",
    ]


def test_a_program_that_outlives_its_run_is_the_next_ones(server, proxy) -> None:
    with intercepting():
        with watching(Watch()) as first:
            url = proxy.url(server.openai_url)
        with watching(Watch()) as second:
            elsewhere(lambda: chat(url))
    assert (first.calls, len(second.calls), second.unattributed) == ([], 1, 1)


def test_faults_are_the_runs_and_reach_the_application(server, proxy) -> None:
    server.fail(RateLimited(), next=1)
    with intercepting(), watching(Watch()) as watch:
        url = proxy.url(server.openai_url)
        with pytest.raises(openai.RateLimitError):
            elsewhere(lambda: chat(url))
        elsewhere(lambda: chat(url))
    assert [(fault.kind, fault.recovered) for fault in watch.faults] == [("rate-limit", True)]


@pytest.mark.parametrize("fault", [Dropped(), DroppedMidBody()])
def test_a_provider_that_drops_the_connection(server, proxy, fault) -> None:
    server.fail(fault, next=1)
    with intercepting(), watching(Watch()) as watch:
        url = proxy.url(server.openai_url)
        with pytest.raises(openai.APIError):
            elsewhere(lambda: chat(url))
        assert elsewhere(lambda: chat(url))
    assert [fault.kind for fault in watch.faults] == ["connection"]


def test_a_stream_that_the_application_leaves_is_no_fault(server, proxy) -> None:
    def left(url: str) -> None:
        with openai.OpenAI(api_key="none", base_url=url) as client:
            stream = client.chat.completions.create(**BODY, stream=True)
            next(iter(stream))
            stream.close()

    with intercepting(), watching(Watch()) as watch:
        url = proxy.url(server.openai_url)
        elsewhere(lambda: left(url))
        assert elsewhere(lambda: chat(url))
    assert watch.faults == []


def test_an_unreachable_provider(proxy) -> None:
    with ModelServer() as gone:
        url = gone.openai_url
    with pytest.raises(openai.InternalServerError, match="could not be reached"):
        chat(proxy.url(url))


def test_bodies_in_chunks_and_what_cannot_be_read(server, proxy) -> None:
    path = proxy.url(server.openai_url).partition(str(proxy.port))[2] + "/chat/completions"
    body = json.dumps(BODY).encode()
    headers = {"content-type": "application/json"}
    assert post(proxy, path, body, headers)[0] == 200
    assert post(proxy, path, body, {**headers, "transfer-encoding": "chunked"}, chunked=True)[0] == 200
    assert server.requests[0].body == server.requests[1].body == BODY
    status, said = post(proxy, path, b"", {**headers, "content-length": "-3"})
    assert (status, b"the Content-Length is not a number: '-3'" in said) == (400, True)
    status, said = post(proxy, "/elsewhere/chat/completions", body, headers)
    assert (status, b"no such base URL" in said) == (404, True)
    assert len(server.requests) == 2


def test_queries_arrive_and_bodies_that_are_too_long_do_not(server, proxy, monkeypatch) -> None:
    path = proxy.url(server.openai_url + "?api-version=1").partition(str(proxy.port))[2]
    body = json.dumps(BODY).encode()
    headers = {"content-type": "application/json"}
    assert post(proxy, path + "/chat/completions?beta=true", body, headers)[0] == 200
    assert server.requests[-1].path == "/v1/chat/completions?api-version=1&beta=true"
    for module in ("proxy", "http"):
        monkeypatch.setattr(f"pytest_promptfuzz.server.{module}.MAX_BODY", len(body) - 1)
    for more in ({}, {"transfer-encoding": "chunked"}):
        status, said = post(proxy, path + "/chat/completions", body, {**headers, **more}, chunked=bool(more))
        assert (status, b"body is longer than" in said) == (413, True)
    assert len(server.requests) == 1


def test_redirections_and_answers_without_a_body_are_the_applications(proxy) -> None:
    class Elsewhere(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(307)
            self.send_header("location", "/other")
            self.send_header("content-length", "5")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(b"moved")

        do_HEAD = do_GET  # noqa: N815 - http.server's names

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        path = proxy.url(f"http://127.0.0.1:{server.server_address[1]}").partition(str(proxy.port))[2]
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)
        for method, said in (("HEAD", b""), ("GET", b"moved"), ("HEAD", b""), ("GET", b"moved")):
            connection.request(method, f"{path}/models")
            answer = connection.getresponse()
            assert (answer.status, answer.headers["location"], answer.read()) == (307, "/other", said)
        connection.close()
    finally:
        server.shutdown()
        server.server_close()


def test_base_urls_and_ports_are_checked(proxy, monkeypatch) -> None:
    with pytest.raises(UsageError, match="not an http or https URL"):
        proxy.url("ftp://example.com")
    with pytest.raises(ConfigurationError, match="Cannot listen on"), Proxy(port=proxy.port):
        pass
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
    assert proxy.openai == proxy.url("http://localhost:11434/v1") == proxy.environment["OPENAI_BASE_URL"]
    for name in ("httpx2", "httpx"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigurationError, match="which is not installed: pip install"):
        Proxy()


def test_a_recorder_answers_the_next_run_of_an_application_from_the_store(server, tmp_path: Path) -> None:
    with Recorder(server.openai_url, 0, str(tmp_path)) as recorder:
        first = chat(recorder.url)
        chat(recorder.url)
        assert (recorder.calls, recorder.hits) == (2, 0)
    with Recorder(server.openai_url, 0, str(tmp_path)) as recorder:
        assert chat(recorder.url) == first
        chat(recorder.url)
        assert (recorder.calls, recorder.hits) == (2, 2)
    assert len(server.requests) == 2
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"sk-planted" in file.read_bytes()]


@pytest.mark.parametrize("key", [None, "bedrock-key-planted-0123"])
def test_a_signature_is_left_out_and_an_api_key_sent_instead(proxy, monkeypatch, key) -> None:
    boto3 = pytest.importorskip("boto3")
    seen: list = []

    class Bedrock(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append(({name.lower(): value for name, value in self.headers.items()}, self.path, body))
            said = {"output": {"message": {"role": "assistant", "content": [{"text": "shipping"}]}}}
            answer = json.dumps({**said, "stopReason": "end_turn"}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, f"planted-{name}")
    monkeypatch.delenv("PROMPTFUZZ_BEDROCK_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("PROMPTFUZZ_BEDROCK_KEY", key)
    line = "127.0.0.1/model/*/converse text=$.messages[*].content[*].text answer=$.output.message.content[0].text"
    configure(parse_endpoints(line))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bedrock)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    store = MemoryStore()
    try:
        watch = Watch(
            RunSettings(store=store),
            RunRoute(in_flight=InFlight("user", {"Where is my parcel?": "where is it?"})),
        )
        with intercepting(), watching(watch):
            url = proxy.url(f"http://127.0.0.1:{server.server_address[1]}")
            client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=url)
            messages = [{"role": "user", "content": [{"text": "Where is my parcel?"}]}]
            answer = client.converse(modelId="amazon.nova-lite-v1:0", messages=messages)
            client.close()
    finally:
        configure(())
        server.shutdown()
        server.server_close()
    assert answer["output"]["message"]["content"][0]["text"] == "shipping"
    ((headers, path, body),) = seen
    assert headers.get("authorization") == (f"Bearer {key}" if key else None)
    assert not [name for name in headers if name.startswith("x-amz-")]
    assert (path, body["messages"][0]["content"]) == (
        "/model/amazon.nova-lite-v1%3A0/converse",
        [{"text": "where is it?"}],
    )
    assert watch.route.in_flight.arrived
    assert watch.calls[0].response.text == "shipping"
    assert "planted" not in repr(store.answers())


def test_headers_without_a_signature_stay_as_they_are() -> None:
    given = [("Authorization", "Bearer x"), ("x-amz-date", "d")]
    assert unsigned(iter(given)) == given
