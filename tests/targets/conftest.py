"""A bare HTTP server that keeps what arrives byte by byte and answers what it is told."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from provider_answers import CHAT, KEY, MESSAGES, RESPONSES

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Arrived:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Capture:
    """What arrived, and what is answered: one scripted answer after the other, then the default of the path.

    An answer comes after ``delay`` seconds, or once ``over`` is set.
    """

    url: str = ""
    arrived: list[Arrived] = field(default_factory=list)
    script: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    delay: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)
    connections: set[Any] = field(default_factory=set)
    peak: int = 0
    now: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        with self.lock:
            self.now += 1
            self.peak = max(self.peak, self.now)

    def end(self) -> None:
        with self.lock:
            self.now -= 1

    def answer(self, status: int, body: Any, **headers: str) -> None:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.script.append(
            (status, {key.replace("_", "-"): value for key, value in headers.items()}, payload)
        )

    @property
    def last(self) -> Arrived:
        return self.arrived[-1]


def default_answer(path: str) -> dict[str, Any]:
    if "/chat/completions" in path:
        return CHAT
    return RESPONSES if "/responses" in path else MESSAGES


@pytest.fixture
def capture() -> Iterator[Capture]:
    state = Capture()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            state.connections.add(self.client_address)
            headers = {key.lower(): value for key, value in self.headers.items()}
            state.arrived.append(Arrived(self.path, headers, json.loads(raw)))
            state.begin()
            state.over.wait(state.delay)
            state.end()
            status, more, payload = 200, {}, json.dumps(default_answer(self.path)).encode()
            if state.script:
                status, more, payload = state.script.pop(0)
            if status == 0:
                self.close_connection = True
                return
            self.send_response(status)
            for key, value in {"content-type": "application/json", **more}.items():
                self.send_header(key, value)
            if "content-length" not in more:
                self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)
            self.close_connection = "content-length" in more

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    state.over.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, capture: Capture) -> Capture:
    """Keys and base URLs in the environment, as an application has them, pointing to the capturing server."""
    clear(monkeypatch)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", capture.url + "/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", capture.url)
    return capture


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    clear(monkeypatch)


def clear(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "AZURE_OPENAI", "PROMPTFUZZ"):
        for name in ("API_KEY", "BASE_URL", "AUTH_TOKEN", "PROFILE", "FEDERATION_RULE_ID", "CUSTOM_HEADERS"):
            monkeypatch.delenv(f"{provider}_{name}", raising=False)
