"""A test run has what an application that is running already asks of a recording proxy that is running already."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.connections import is_exempt
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.server.proxy import CONTROL, TOKEN, Attachment, Proxy
from tests import warm

if TYPE_CHECKING:
    from pathlib import Path

SERVE = "import sys; from pytest_promptfuzz.server.command import serve; sys.exit(serve(sys.argv[1:]))"
SYSTEM = "Classify the message as billing, shipping or technical. Answer with one word only."
APPLICATION = f"""
import http.server, json, sys, urllib.parse, urllib.request
BASE = sys.argv[1]

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        question = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["q"][0]
        said = [{{"role": "system", "content": {SYSTEM!r}}}, {{"role": "user", "content": question}}]
        body = json.dumps({{"model": "m", "messages": said}}).encode()
        headers = {{"content-type": "application/json", "authorization": "Bearer sk-planted-0123456789"}}
        request = urllib.request.Request(BASE + "/chat/completions", body, headers)
        with urllib.request.urlopen(request) as answer:
            text = json.load(answer)["choices"][0]["message"]["content"].encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
INI = "[pytest]\npromptfuzz_target = simulated\nasyncio_default_fixture_loop_scope = function\n"
TESTS = """
import os, urllib.parse, urllib.request
import pytest
from pytest_promptfuzz import robust

def asked(question):
    url = os.environ["APPLICATION"] + "/?" + urllib.parse.urlencode({"q": question})
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()

@pytest.fixture(scope="module")
def application(promptfuzz_proxy):
    with promptfuzz_proxy.attach(os.environ["RECORDER"], folder=os.environ["FOLDER"]):
        yield asked

@robust(mutate="role:system", mutations=3)
def test_system(application):
    return application("Where is my parcel?")

@robust(mutate="role:user", mutations=3)
def test_user(application):
    return application("Where is my parcel? I ordered it in May.")

def test_detached():
    pass
"""


@contextlib.contextmanager
def process(*command: str):
    with warm.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.terminate()


@pytest.fixture
def provider():
    with ModelServer() as running:
        yield running


@pytest.fixture
def recorder(provider, tmp_path: Path):
    """A recording proxy in a process of its own: its address and folder."""
    folder = tmp_path / ".promptfuzz"
    command = [
        "--proxy",
        provider.openai_url,
        "--port",
        "0",
        "--cache-dir",
        str(folder),
        "--redact",
        "parcel",
    ]
    with process("-c", SERVE, *command) as running:
        running.stdout.readline()
        yield running.stdout.readline().rpartition(" ")[2].strip(), folder


def test_an_application_that_is_running_already_is_tested(provider, recorder, pytester, monkeypatch) -> None:
    url, folder = recorder
    pytester.makefile(".ini", pytest=INI)
    pytester.makepyfile(test_it=TESTS)
    for name in ("CI", "PROMPTFUZZ_MODE"):
        monkeypatch.delenv(name, raising=False)
    with process("-c", APPLICATION, url) as application:
        address = f"http://127.0.0.1:{application.stdout.readline().strip()}"
        for name, value in (("APPLICATION", address), ("RECORDER", url), ("FOLDER", str(folder))):
            monkeypatch.setenv(name, value)
        for calls in (8, 0):
            result = pytester.runpytest()
            result.assert_outcomes(passed=3)
            result.stdout.fnmatch_lines(
                [f"2 robust tests: 2 passed; {calls} calls to the simulated model; *"]
            )
        assert provider.calls == 0, "the run had all of it"
        # Afterwards the proxy is what it was: it asks the provider, and stores what it answers.
        for _ in range(2):
            with urllib.request.urlopen(f"{address}/?q=parcel") as answer:
                assert answer.read()
        assert provider.calls == 2
    kept = b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())
    assert b"planted" not in kept
    assert b"Classify the message" in kept
    assert b"parcel" not in kept
    assert b"/via" not in kept, "what a run has is that run's to keep"


def test_only_one_run_has_the_requests_and_a_run_that_ended_is_forgotten(provider, recorder) -> None:
    url, folder = recorder

    def post() -> int:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
        request = urllib.request.Request(
            f"{url}/chat/completions", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            return answer.status

    with Proxy() as first, Proxy() as second:
        with first.attach(url, folder):
            with pytest.raises(ConfigurationError, match="Another test run"), second.attach(url, folder):
                pass
            assert post() == 200
        with second.attach(url, folder):
            assert post() == 200
    with Proxy() as third:
        attached = third.attach(url, folder)
        attached.__enter__()
    with pytest.raises(urllib.error.HTTPError, match="502"):
        post()
    assert post() == 200
    attached.__exit__(None, None, None)
    assert provider.calls == 3


def test_a_run_keeps_the_requests_when_another_address_does_not_answer(provider) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    attachment = Attachment("token")
    with Proxy(attachment=attachment) as proxy:
        assert (
            attachment.asked("PUT", "token", json.dumps({"to": provider.openai_url}).encode()).status == 200
        )
        elsewhere = proxy.url(gone)
        with pytest.raises(urllib.error.HTTPError, match="502"):
            urllib.request.urlopen(f"{elsewhere}/models")
        assert str(attachment.to) == provider.openai_url
        with urllib.request.urlopen(f"http://127.0.0.1:{proxy.port}/models") as answer:
            assert answer.status == 200
        attachment.lost(attachment.to)


def test_the_file_is_its_users_alone_and_goes_with_the_proxy(provider, tmp_path: Path) -> None:
    command = ["--proxy", provider.openai_url, "--port", "0", "--cache-dir", str(tmp_path / "x")]
    with process("-c", SERVE, *command) as running:
        running.stdout.readline()
        port = running.stdout.readline().strip().rpartition(":")[2]
        (file,) = (tmp_path / "x").glob("proxy-*.json")
        assert file.name == f"proxy-{port}.json"
        assert os.name == "nt" or stat.S_IMODE(file.stat().st_mode) == 0o600
        assert len(json.loads(file.read_text())["token"]) >= 32
    assert not file.exists() or os.name == "nt"


def test_requests_are_given_to_this_machine_and_to_who_knows_the_token() -> None:
    attachment = Attachment("token")
    to = "http://127.0.0.1:4711/via1"

    def asked(method: str = "PUT", token: str = "token", **body) -> int:
        return attachment.asked(method, token, json.dumps(body).encode()).status

    assert asked(token="tokem", to=to) == asked(token="", to=to) == asked(token="t\u00f6ken", to=to) == 403
    for bad in (
        "http://example.com:80/",
        "https://127.0.0.1:1/",
        "http://127.0.0.1/",
        "http://127.0.0.1.x:1/",
        "http://user@127.0.0.1:1/",
        3,
        None,
    ):
        assert asked(to=bad) == 400
    assert (
        attachment.asked("PUT", "token", b"[").status == attachment.asked("PUT", "token", b"[]").status == 400
    )
    assert attachment.to is None
    assert asked("POST", to=to) == 405
    assert asked(to=to) == asked(to=to) == 200
    assert is_exempt("127.0.0.1", 4711)
    assert asked(to=to + "0") == 409
    assert (asked("DELETE", to=to + "0"), str(attachment.to)) == (200, to)
    assert (asked("DELETE", to=to), attachment.to) == (200, None)
    assert not is_exempt("127.0.0.1", 4711)


def test_what_cannot_be_attached_to_is_said(tmp_path: Path) -> None:
    with Proxy() as proxy:
        with (
            pytest.raises(UsageError, match="write the address that `promptfuzz serve"),
            proxy.attach("http://x.com:80"),
        ):
            pass
        with (
            pytest.raises(ConfigurationError, match="start `promptfuzz serve --proxy"),
            proxy.attach("http://127.0.0.1:9", tmp_path),
        ):
            pass
        (tmp_path / "proxy-9.json").write_text('{"upstream": "http://localhost:1/v1", "token": "x"}')
        with (
            pytest.raises(ConfigurationError, match="on port 9 does not answer"),
            proxy.attach("http://localhost:9", tmp_path),
        ):
            pass
        # A proxy of a test run gives its requests to nobody.
        request = urllib.request.Request(
            f"http://127.0.0.1:{proxy.port}{CONTROL}",
            b"{}",
            {TOKEN: "", "content-type": "application/json"},
            method="PUT",
        )
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(request)
