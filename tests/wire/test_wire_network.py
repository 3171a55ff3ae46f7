"""What stands between an application and its model: proxies, certificates, sign-in pages, names that lead nowhere."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import httpx2
import openai
import pytest

from pytest_promptfuzz.running.limits import lanes
from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, RunSettings, Watch, watching

TLS = (
    Path(__file__).parents[1] / "data" / "tls"
)  # a certificate for 127.0.0.1 that nobody signed, and its key
PAGE = b"<!DOCTYPE html><html><head><title>Sign in to\n the network</title></head></html>"
ANSWER = b"""{"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices":
 [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}]}"""


class Between(BaseHTTPRequestHandler):
    """A proxy that wants a password, a sign-in page, a redirection, and a model."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[list[str]] = []

    def do_CONNECT(self) -> None:
        self._say(407)

    def do_POST(self) -> None:
        self.asked.append(self.path)
        self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path.startswith("http://"):
            self._say(407, PAGE)
        elif self.path.startswith("/away"):
            self._say(int(self.path.split("/")[2]), location="/login?api_key=of-no-known-shape")
        elif self.path.startswith("/moved"):
            self._say(int(self.path.split("/")[2]), location="/v1/chat/completions")
        elif self.path.startswith("/round"):
            self._say(int(self.path.split("/")[2]), location=self.path)
        elif self.path.startswith("/nowhere"):
            self._say(int(self.path.split("/")[2]))
        elif self.path.startswith("/v1"):
            self._say(200, ANSWER, "application/json")
        else:
            self._say(503 if self.path.startswith("/down") else 200, PAGE)

    def do_GET(self) -> None:
        self._say(200, PAGE)

    def _say(self, status: int, body: bytes = b"", kind: str = "text/html", location: str = "") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if location:
            self.send_header("location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def between():
    with ThreadingHTTPServer(("127.0.0.1", 0), Between) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def signed_by_nobody():
    with ThreadingHTTPServer(("127.0.0.1", 0), Between) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.fixture
def nobody():
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(lanes, "FIRST_WAIT", 0.005)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


MESSAGES = [{"role": "user", "content": "Hi"}]


def ask(url, mode="sync", store=None, **client):
    """What the wire made of one call of an application that catches everything."""
    watch = Watch(
        RunSettings(store=store or MemoryStore()), RunRoute(gate=SessionLimits(Settings(attempts=2)))
    )

    async def asynchronous():
        async with openai.AsyncOpenAI(base_url=url, api_key="any", max_retries=0) as client:
            await client.chat.completions.create(model="m", messages=MESSAGES)

    with intercepting(), watching(watch):
        try:
            if mode == "async":
                asyncio.run(asynchronous())
            else:
                with openai.OpenAI(base_url=url, api_key="any", max_retries=0, **client) as client:
                    client.chat.completions.create(model="m", messages=MESSAGES)
        except Exception:
            pass
    return watch


def fault_of(watch):
    (fault,) = watch.unrecovered()
    assert watch.settings.store.answers() == []
    return fault


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_connection_refused(nobody, mode):
    fault = fault_of(ask(f"{nobody}/v1", mode))
    assert fault.kind == "connection"
    assert fault.message.startswith("Connect")
    assert fault.message.endswith(f" ({nobody}/v1/chat/completions) (try 2 of 2).")


def test_a_name_that_does_not_exist():
    fault = fault_of(ask("http://no-such-host.invalid/v1"))
    assert (fault.kind, "no-such-host.invalid" in fault.message) == ("connection", True)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_certificate_that_nobody_signed(signed_by_nobody, mode, monkeypatch):
    watch = ask(signed_by_nobody, mode)
    fault = fault_of(watch)
    assert fault.kind == "connection"
    assert "CERTIFICATE_VERIFY_FAILED" in fault.message
    assert "let SSL_CERT_FILE name a file with it (" in fault.message
    assert watch.retries == 0
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "cert.pem"))
    trusting = ask(signed_by_nobody, mode)
    assert (trusting.unrecovered(), trusting.misses) == ((), 1)


def test_a_server_without_tls(between):
    fault = fault_of(ask(between.replace("http://", "https://") + "/v1"))
    assert (fault.kind, "SSL" in fault.message) == ("connection", True)


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_that_is_not_there_is_named(nobody, monkeypatch, name):
    monkeypatch.setenv(name, nobody)
    fault = fault_of(ask("https://model.example/v1"))
    assert (fault.kind, f"(by way of the proxy that {name} names)" in fault.message) == ("connection", True)


def test_a_proxy_that_wants_a_password(between, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", between)
    fault = fault_of(ask("https://model.example/v1"))
    assert fault.kind == "connection"
    assert "407 Proxy Authentication Required" in fault.message
    assert "HTTPS_PROXY names" in fault.message
    monkeypatch.setenv("HTTP_PROXY", between)
    watch = ask("http://model.example/v1")
    fault = fault_of(watch)
    assert (fault.kind, watch.retries) == ("connection", 0)
    assert "HTTP 407: the proxy that HTTP_PROXY names asks for a user and a password (" in fault.message
    assert "<" not in fault.message


def test_a_proxy_that_wants_a_password_is_named_as_it_was_given(between, monkeypatch):
    monkeypatch.setenv("all_proxy", between)
    assert "HTTP 407: the proxy that all_proxy names asks" in fault_of(ask("http://model.example/v1")).message
    monkeypatch.delenv("all_proxy")
    with intercepting(), watching(Watch()) as watch, httpx2.Client(proxy=between) as client:
        client.post("http://model.example/v1/chat/completions", json={"model": "m", "messages": MESSAGES})
    (fault,) = watch.faults
    assert "HTTP 407: the proxy asks for a user and a password (" in fault.message


def test_a_proxy_that_is_passed_by_is_not_named(nobody, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert "by way of" not in fault_of(ask(f"{nobody}/v1")).message


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_sign_in_page(between, mode):
    fault = fault_of(ask(f"{between}/portal", mode))
    assert fault.kind == "malformed"
    assert "The answer is a web page, 'Sign in to the network', and no JSON" in fault.message
    down = fault_of(ask(f"{between}/down", mode))
    assert (down.kind, "HTTP 503: The answer is a web page, 'Sign in to" in down.message) == ("server", True)


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_to_no_model(between, status, mode):
    watch = ask(f"{between}/away/{status}", mode)
    fault = fault_of(watch)
    assert (fault.kind, fault.status, watch.calls) == ("malformed", status, [])
    assert f"HTTP {status}: a redirection to {between}/login" in fault.message
    assert "of-no-known" not in fault.message


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirection_to_a_model(between, status):
    watch = ask(f"{between}/moved/{status}")
    assert (watch.unrecovered(), watch.misses) == ((), 1)
    fault = fault_of(ask(f"{between}/moved/302"))  # asked there with GET, without the question
    assert fault.status == 302


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(
    ("where", "said"),
    [("round/307", "leads round in a circle"), ("nowhere/308", "a redirection that does not say where to")],
)
def test_a_redirection_that_ends_nowhere(between, where, said, mode):
    fault = fault_of(ask(f"{between}/{where}", mode))
    assert (fault.kind, fault.status) == ("malformed", int(where[-3:]))
    assert said in fault.message


def test_a_redirection_that_the_application_does_not_follow(between):
    with httpx2.Client(follow_redirects=False) as client:
        fault = fault_of(ask(f"{between}/moved/307", http_client=client))
    assert (fault.kind, "which the HTTP client does not follow" in fault.message) == ("malformed", True)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_redirected_call_is_kept_under_what_was_asked(between, mode):
    store = MemoryStore()
    assert ask(f"{between}/moved/307", mode, store).misses == 1
    Between.asked.clear()
    again = ask(f"{between}/moved/307", mode, store)
    assert (again.hits, again.misses, again.faults, Between.asked) == (1, 0, [], [])


def test_the_models_own_html_is_an_answer():
    class Writer:
        version = "writer"

        def answer(self, request, *, sample=0):
            from pytest_promptfuzz.providers.requests import Response

            return Response("<!doctype html><title>My page</title>", finish_reason="stop")

    with ModelServer(Writer()) as server:
        watch = ask(server.openai_url)
    assert watch.unrecovered() == ()
    assert watch.calls[0].response.text.startswith("<!doctype html>")
