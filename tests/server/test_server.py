"""The local server below the SDKs: its life, its log, its faults' arithmetic, its HTTP, its speed."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from typing import Any

import pytest

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.providers.requests import Request, Response
from pytest_promptfuzz.server import faults
from pytest_promptfuzz.server.command import serve
from pytest_promptfuzz.server.model_server import ModelServer


def post(
    server: ModelServer, text: str = "Classify as spam or ham: lunch tomorrow?", **headers: str
) -> tuple[int, Any]:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
    return raw(server, "POST", "/v1/chat/completions", body, headers)


def raw(
    server: ModelServer, method: str, path: str, body: str, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=120)
    try:
        connection.request(method, path, body.encode(), headers or {})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_starts_stops_and_starts_again() -> None:
    before = threading.active_count()
    server = ModelServer()
    with pytest.raises(UsageError, match="not running"):
        _ = server.url
    for _ in range(2):
        with server:
            assert post(server)[0] == 200
            with pytest.raises(UsageError, match="already running"):
                server.start()
    server.stop()
    assert server.calls == 2
    assert threading.active_count() == before


def test_stops_while_a_client_waits() -> None:
    server = ModelServer(latency=30).start()
    connection = socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])))
    body = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    connection.sendall(
        b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    )
    while not server.calls:
        time.sleep(0.005)
    begun = time.perf_counter()
    server.stop()
    assert time.perf_counter() - begun < 15, "half of what the client would have waited"
    connection.close()


def test_a_taken_port_is_named() -> None:
    with ModelServer() as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port}"):
            ModelServer(port=port).start()
        assert post(server)[0] == 200


@pytest.mark.parametrize(
    "arguments", [{"latency": -1}, {"latency": "fast"}, {"latency": True}, {"port": 70000}, {"port": "80"}]
)
def test_bad_arguments_are_named(arguments: dict[str, Any]) -> None:
    [name] = arguments
    with pytest.raises(UsageError, match=f"{name}="):
        ModelServer(**arguments)


def test_the_log_holds_no_secret() -> None:
    with ModelServer() as server:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
        headers = {
            "Authorization": "Bearer s3cret",
            "X-Api-Key": "s3cret",
            "Cookie": "a=s3cret",
            "X-Trace": "kept",
        }
        raw(server, "POST", "/v1/chat/completions?api-key=s3cret&v=1", body, headers)
        [record] = server.requests
        assert record.path == "/v1/chat/completions?api-key=***&v=1"
        assert record.headers["x-trace"] == "kept"
        assert record.body == json.loads(body)
        assert "s3cret" not in repr(server.requests)


def test_faults_count_times_every_and_when() -> None:
    with ModelServer() as server:
        server.fail(faults.ServerError(), next=2, when="poison")
        assert [post(server, text)[0] for text in ("fine", "poison", "fine", "poison", "poison")] == [
            200,
            500,
            200,
            500,
            200,
        ]
        server.reset()
        server.fail(faults.RateLimited(times=None), every=3)
        assert [post(server)[0] for _ in range(7)] == [429, 200, 200, 429, 200, 200, 429]
        server.reset()
        server.fail(faults.BadRequest(), when=lambda body: len(body) > 500)
        assert [post(server, text)[0] for text in ("short", "long" * 200)] == [200, 400]
        with pytest.raises(UsageError, match="no fault"):
            server.fail("rate-limit")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("rate-limit:times=2,retry-after=1", faults.RateLimited(times=2, retry_after=1)),
        ("server-error:status=529,times=always", faults.ServerError(status=529, times=None)),
        ("slow:seconds=0.5,every=3", faults.Slow(seconds=0.5, every=3)),
        ("dropped:when=poison", faults.Dropped(when="poison")),
        ("html", faults.ContentTypeHtml()),
    ],
)
def test_faults_are_written_on_the_command_line(text: str, fault: faults.Fault) -> None:
    assert faults.parse_fault(text) == fault


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate-limt", "Did you mean 'rate-limit'"),
        ("slow:second=1", "Did you mean 'seconds'"),
        ("slow:seconds=long", "not a number"),
        ("slow:seconds=-1", "seconds, 0 or more"),
        ("slow:seconds", "seconds=VALUE"),
        ("dropped:times=0", "at least 1"),
        ("dropped:every=0", "at least 1"),
    ],
)
def test_bad_faults_are_named(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        faults.parse_fault(text)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "part"),
    [
        ("POST", "/v1/chat/completions", "{nope", 400, "JSON body"),
        ("POST", "/v1/chat/completions", "[1]", 400, "an object"),
        ("POST", "/v1/chat/completions", '{"model": "m"}', 400, "messages"),
        ("POST", "/v1/chat/completions", '{"messages": [{"role": "user", "content": "x"}]}', 400, "model"),
        (
            "POST",
            "/v1/chat/completions",
            '{"model": "m", "messages": [{"role": "king", "content": "x"}]}',
            400,
            "king",
        ),
        (
            "POST",
            "/v1/chat/completions",
            '{"model": "m", "messages": [{"role": "user", "content": 1}]}',
            400,
            "content",
        ),
        (
            "POST",
            "/v1/chat/completions",
            '{"model":"m","n":2,"messages":[{"role":"user","content":"x"}]}',
            400,
            "'n'",
        ),
        ("POST", "/v1/responses", '{"model": "m"}', 400, "input"),
        (
            "POST",
            "/v1/messages",
            '{"model":"m","messages":[{"role":"user","content":"x"}]}',
            400,
            "max_tokens",
        ),
        ("POST", "/v1/messages", '{"model":"m","max_tokens":0,"messages":[]}', 400, "max_tokens"),
        ("POST", "/v1/embeddings", '{"model": "m", "input": []}', 400, "input"),
        ("GET", "/v1/chat/completions", "", 405, "POST"),
        ("POST", "/v2/teapot", "{}", 404, "Invalid URL"),
    ],
)
def test_bad_requests_get_the_providers_errors(
    method: str, path: str, body: str, status: int, part: str
) -> None:
    with ModelServer() as server:
        found, answer = raw(server, method, path, body)
    assert found == status
    assert part in answer["error"]["message"]
    assert ("type" in answer and answer["type"] == "error") == path.endswith("/messages")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"POST /v1/models HTTP/1.1\r\ncontent-length: many\r\n\r\n", 400),
        (b"POST /v1/models HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", 411),
        (b"POST /v1/models HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", 413),
        (b"POST /v1/models HTTP/1.1\r\nx: " + b"y" * 100_000 + b"\r\n\r\n", 431),
    ],
)
def test_what_is_not_http_is_refused(sent: bytes, status: int) -> None:
    with ModelServer() as server:
        with socket.create_connection(
            ("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=120
        ) as connection:
            connection.sendall(sent)
            assert connection.recv(65536).startswith(b"HTTP/1.1 %d " % status)
        assert post(server)[0] == 200


class Broken:
    def answer(self, request: Request, *, sample: int = 0) -> Response:
        raise ZeroDivisionError("on purpose")


def test_a_model_that_raises_is_a_server_error() -> None:
    with ModelServer(Broken()) as server:
        status, answer = post(server)
    assert status == 500
    assert "ZeroDivisionError: on purpose" in answer["error"]["message"]


class Counting:
    def answer(self, request: Request, *, sample: int = 0) -> Response:
        return Response(f"sample {sample}")


def test_identical_requests_are_numbered_and_faults_take_no_number() -> None:
    with ModelServer(Counting(), faults=[faults.ServerError()]) as server:
        statuses = [post(server, "a") for _ in range(3)] + [post(server, "b")]
    texts = [answer["choices"][0]["message"]["content"] for status, answer in statuses if status == 200]
    assert texts == ["sample 0", "sample 1", "sample 0"]


def test_fifty_at_once_cost_one_latency() -> None:
    async def one(server: ModelServer, index: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        body = json.dumps(
            {"model": "m", "messages": [{"role": "user", "content": f"hello {index}"}]}
        ).encode()
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    async def all_of_them(server: ModelServer) -> list[bytes]:
        return list(await asyncio.gather(*(one(server, index) for index in range(50))))

    # One after the other they would take fifty times as long, and never meet.
    with ModelServer(latency=1.0) as server:
        answers = asyncio.run(all_of_them(server))
        assert all(each.startswith(b"HTTP/1.1 200") for each in answers)
        assert server.peak > 10


def test_serve_refuses_what_it_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    with ModelServer() as server:
        taken = server.url.rpartition(":")[2]
        assert serve(["--port", taken]) == 2
    assert serve(["--port", "0", "--fault", "rate-limt"]) == 2
    assert serve(["--port", "0", "--noise", "7"]) == 2
    assert serve(["--port", "0", "--latency-ms", "-5"]) == 2
    assert serve(["--bogus"]) == 2
    errors = capsys.readouterr().err
    for part in (
        "cannot listen",
        "Did you mean 'rate-limit'",
        "--noise 7 is out",
        "--latency-ms -5 is out",
        "--bogus",
    ):
        assert part in errors
    assert serve(["--help"]) == 0
