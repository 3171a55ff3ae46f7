"""What the local servers refuse: other hosts, what lies beside the upstream's prefix, and requests of web pages."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx2
import pytest

from pytest_promptfuzz.server.command import Recorder
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.server.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
JSON = "content-type: application/json\r\n"


class Listening(BaseHTTPRequestHandler):
    """Answers everything, and notes what was asked."""

    asked: list[str]

    def do_POST(self) -> None:
        self.asked.append(self.path)
        self.rfile.read(int(self.headers.get("content-length", "0")))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def listener() -> Iterator[tuple[int, list[str]]]:
    """Port and requested paths of a server that is or is not to be reached."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Listening,), {"asked": asked}))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server.server_address[1], asked
    server.shutdown()
    server.server_close()
    thread.join()


def sent(
    port: int, target: str, headers: str = JSON, *, body: bytes = BODY, host: str | None = None
) -> tuple[int, str]:
    """Status and body of what is answered to a request, written as it is."""
    name = f"host: {host or f'127.0.0.1:{port}'}\r\n" if host != "" else ""
    head = (
        f"POST {target} HTTP/1.1\r\n{name}{headers}content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.encode("latin-1") + body)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    first, _, rest = answer.partition(b"\r\n\r\n")
    return int(first.split(b" ")[1]), rest.decode()


TARGETS = {
    "@127.0.0.1:{port}/v1": "is no path",
    ".evil.example/x": "is no path",
    ":80/x": "is no path",
    "http://127.0.0.1:{port}/v1": "is no path",
    "*": "is no path",
    "//127.0.0.1:{port}/v1": "two slashes",
    "/../../admin": "leads upwards",
    "/v1/%2e%2e/%2E%2e/admin": "leads upwards",
    "/v1/..%2f..%2fadmin": "leads upwards",
    "/%252e%252e/admin": "leads upwards",
    "/v1\\..\\..\\admin": "leads upwards",
    "/v1/..;/admin": "leads upwards",
    "/%2525252525252e%2525252525252e/": "several times",
    "/v1/\x1b[31m": "control character",
    "/v1/\x7f": "control character",
    "/v1/\xe4": "beyond ASCII",
    "/v1/a%0d%0aX-Evil:1": "control character",
    "/v1/a#b": "fragment",
}
PAGES = {
    f"{JSON}origin: https://evil.example\r\n": "Origin: 'https://evil.example'",
    f"{JSON}origin: null\r\n": "Origin: 'null'",
    f"{JSON}origin: http://localhost:1\r\n": "Origin",
    f"{JSON}origin: http://127.0.0.1.evil.example\r\n": "Origin",
    f"{JSON}referer: https://evil.example/page\r\n": "Referer: 'https://evil.example/page'",
    f"{JSON}sec-fetch-site: cross-site\r\n": "Sec-Fetch-Site",
    f"{JSON}sec-fetch-site: same-site\r\n": "Sec-Fetch-Site",
    "content-type: text/plain\r\n": "send application/json",
    "content-type: text/plain; application/json\r\n": "send application/json",
    "content-type: application/x-www-form-urlencoded\r\n": "send application/json",
    "content-type: multipart/form-data; boundary=x\r\n": "send application/json",
}
BROKEN = {
    f"{JSON}host: evil.example\r\n": (400, "host is there twice"),
    f"{JSON}origin: http://localhost\r\norigin: http://evil.example\r\n": (400, "origin is there twice"),
    f"content-type: text/plain\r\n{JSON}": (400, "content-type is there twice"),
    f"{JSON}content-length: 1\r\n": (400, "content-length is there twice"),
    f"{JSON}transfer-encoding: chunked\r\n": (400, "has a Content-Length and a Transfer-Encoding"),
    f"{JSON}x: \x1b[31m\r\n": (400, "'x' is malformed"),
    f"{JSON}x: a\0b\r\n": (400, "'x' is malformed"),
    f"{JSON}x y: b\r\norigin: http://evil.example\r\n": (400, "malformed"),
    f"no header\r\n{JSON}origin: http://evil.example\r\n": (400, "malformed"),
    f": no name\r\n{JSON}": (400, "malformed"),
}
HOSTS = [
    "evil.example",
    "127.0.0.1.evil.example:80",
    "localhost.evil.example",
    "0.0.0.0",
    "[::2]:80",
    "127.0.0.1 evil",
]


def test_the_proxy_reaches_its_upstream_below_its_prefix_and_nothing_else(
    listener: tuple[int, list[str]], tmp_path: Path
) -> None:
    other, asked = listener
    with ModelServer() as model, Recorder(f"{model.url}/v1", 0, str(tmp_path)) as recorder:
        port = int(recorder.url.rpartition(":")[2].partition("/")[0])
        for target, why in TARGETS.items():
            status, body = sent(port, target.format(port=other))
            assert status in {400, 403}, (target, status, body)
            assert why in body, (target, body)
            assert json.loads(body)["error"]["type"] == "promptfuzz_proxy"
        for target in ("/chat completions", ""):  # http.server's own: four words, and two
            assert json.loads(sent(port, target)[1])["error"]["type"] == "promptfuzz_proxy"
        for headers, why in PAGES.items():
            status, body = sent(port, "/chat/completions", headers)
            assert (status, why in body) == (403, True), (headers, body)
        for host in HOSTS:
            status, body = sent(port, "/chat/completions", host=host)
            assert (status, "no name of this machine" in body) == (403, True), (host, body)
        for headers, (expected, why) in BROKEN.items():
            status, body = sent(port, "/chat/completions", headers)
            assert (status, why in body) == (expected, True), (headers, body)
        assert asked == []
        assert model.requests == []
        for headers in (JSON, JSON + f"origin: http://127.0.0.1:{port}\r\nsec-fetch-site: same-origin\r\n"):
            status, body = sent(port, "/chat/completions", headers)
            assert (status, "choices" in body) == (200, True), body
        assert sent(port, "/chat/completions", host=f"localhost:{port}")[0] == 200
        assert sent(port, "/chat/completions", f"{JSON}x-title: caf\xe9\r\n")[0] == 200
        assert model.requests[-1].headers["x-title"] == "caf\xe9"
        assert (
            sent(port, "/chat/completions", "content-type: text/plain\r\nauthorization: Bearer k\r\n")[0]
            == 200
        )
        assert {each.path for each in model.requests} == {"/v1/chat/completions"}


FRAMES = {
    b"transfer-encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n": 501,
    b"transfer-encoding: identity\r\n\r\nGET /v1/admin HTTP/1.1\r\n\r\n": 501,
    b"transfer-encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n": 400,
    b"transfer-encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n": 400,
    b"transfer-encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n": 400,
    b"transfer-encoding: chunked\r\n\r\n50\r\nhello": 400,
    b"transfer-encoding: chunked\r\n\r\nfffffff\r\nhello": 413,
    b"transfer-encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 200: 400,
    b"content-length: 500\r\n\r\nhello": 400,
    b"content-length: +5\r\n\r\nhello": 400,
    b"content-length: 0_5\r\n\r\nhello": 400,
    b"content-length: 5, 5\r\n\r\nhello": 400,
}


def answered(port: int, request: bytes) -> list[bytes]:
    """What comes back for bytes after which the sender is done: the first line of each answer, and what is left."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer.split(b"HTTP/1.1 ")[1:]


def test_where_a_body_ends_is_told_in_one_way(
    listener: tuple[int, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    port, asked = listener
    with Proxy(upstream=f"http://127.0.0.1:{port}/v1") as proxy:
        for rest, status in FRAMES.items():
            head = f"POST /x HTTP/1.1\r\nhost: localhost\r\n{JSON}".encode()
            answers = answered(proxy.port, head + rest)
            assert [int(each[:3]) for each in answers] == [status], (rest, answers)
        assert [each[:3] for each in answered(proxy.port, b"GET /x HTTP/0.9\r\n\r\n")] == [b"400"]
        assert [each[:3] for each in answered(proxy.port, b"\x16\x03\x01\r\n\r\n")] == [b"400"]
        assert asked == []
        assert sent(proxy.port, "/x")[0] == 200
    assert capsys.readouterr().err == ""


def test_the_prefix_of_a_base_url_of_a_run_holds_too(listener: tuple[int, list[str]]) -> None:
    port, asked = listener
    with Proxy() as proxy:
        base = proxy.url(f"http://127.0.0.1:{port}/tenants/a").removeprefix(f"http://127.0.0.1:{proxy.port}")
        assert sent(proxy.port, f"{base}/x")[0] == 200
        assert sent(proxy.port, f"{base}/..%2fb/x")[0] == 403
        assert sent(proxy.port, f"{base}")[0] == 200
        assert sent(proxy.port, f"{base}//127.0.0.1:1/x")[0] == 200
    assert asked == ["/tenants/a/x", "/tenants/a", "/tenants/a//127.0.0.1:1/x"]


def test_the_model_server_refuses_web_pages() -> None:
    with ModelServer() as model:
        port = int(model.url.rpartition(":")[2])
        for headers, why in PAGES.items():
            status, body = sent(port, "/v1/chat/completions", headers)
            assert (status, why in body) == (403, True), (headers, body)
        for host in HOSTS:
            assert sent(port, "/v1/chat/completions", host=host)[0] == 403
        for headers, (expected, why) in BROKEN.items():
            status, body = sent(port, "/v1/chat/completions", headers)
            assert (status, why in body) == (expected, True), (headers, body)
        deep = b"[" * 100_000
        for path in ("chat/completions", "responses", "messages/batches", "batches", "embeddings"):
            assert sent(port, f"/v1/{path}", body=deep)[0] == 400
        model.reset()
        assert sent(port, "/v1/chat/completions")[0] == 200
        # A program that names no host is no browser.
        assert sent(port, "/v1/chat/completions", host="")[0] == 200
        assert httpx2.get(f"{model.url}/v1/models").status_code == 200
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(b"POST /v1/x HTTP/1.1\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
