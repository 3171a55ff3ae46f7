"""What the local servers refuse: other hosts, what lies beside the upstream's prefix, and requests of web pages."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx2
import pytest

from pytest_promptfuzz.testing.proxy import Proxy
from pytest_promptfuzz.testing.recording import Recorder
from pytest_promptfuzz.testing.server import ModelServer

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
    f"{JSON}sec-fetch-site: cross-site\r\n": "Sec-Fetch-Site",
    f"{JSON}sec-fetch-site: same-site\r\n": "Sec-Fetch-Site",
    "content-type: text/plain\r\n": "send application/json",
    "content-type: text/plain; application/json\r\n": "send application/json",
    "content-type: application/x-www-form-urlencoded\r\n": "send application/json",
    "content-type: multipart/form-data; boundary=x\r\n": "send application/json",
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
        assert sent(port, "/chat completions")[0] == 400  # http.server's own: four words
        for headers, why in PAGES.items():
            status, body = sent(port, "/chat/completions", headers)
            assert (status, why in body) == (403, True), (headers, body)
        for host in HOSTS:
            status, body = sent(port, "/chat/completions", host=host)
            assert (status, "no name of this machine" in body) == (403, True), (host, body)
        assert sent(port, "/chat/completions", JSON + "host: evil.example\r\n")[0] == 403
        assert asked == []
        assert model.requests == []
        for headers in (JSON, JSON + f"origin: http://127.0.0.1:{port}\r\nsec-fetch-site: same-origin\r\n"):
            status, body = sent(port, "/chat/completions", headers)
            assert (status, "choices" in body) == (200, True), body
        assert sent(port, "/chat/completions", host=f"localhost:{port}")[0] == 200
        assert (
            sent(port, "/chat/completions", "content-type: text/plain\r\nauthorization: Bearer k\r\n")[0]
            == 200
        )
        assert {each.path for each in model.requests} == {"/v1/chat/completions"}


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
        assert model.requests == []
        assert sent(port, "/v1/chat/completions")[0] == 200
        # A program that names no host is no browser.
        assert sent(port, "/v1/chat/completions", host="")[0] == 200
        assert httpx2.get(f"{model.url}/v1/models").status_code == 200
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(b"POST /v1/x HTTP/1.1\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
