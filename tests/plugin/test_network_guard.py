"""What a test reaches beside its model calls: said in the place of a claim, refused in a replay, no recording's part."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING

import openai  # noqa: F401 - loaded once, not again for each run within
import pytest

import pytest_promptfuzz.plugin.execution.engine  # noqa: F401 - likewise
from pytest_promptfuzz import Prompt, robust  # noqa: F401 - likewise
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.wire import network
from tests.wire.test_wire_network_guard import Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD = """
import asyncio, os, socket, subprocess, sys, urllib.request
from concurrent.futures import ThreadPoolExecutor
from pytest_promptfuzz import Prompt, robust

MOOD = Prompt("Classify the mood as good or bad. Answer with one word only.\\n\\nText: What a lovely day!")

def raw(port, host="127.0.0.1"):
    socket.create_connection((host, port), timeout=5).close()
"""
INI = "[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n"
CLAIM = "no real model was called"


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as running:
        yield running


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine counts as another one."""
    monkeypatch.setattr(network, "is_local", lambda host: False)


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """Write a module of tests, and run them in this process."""
    monkeypatch.setenv("COLUMNS", "600")
    monkeypatch.delenv("CI", raising=False)
    pytester.makefile(".ini", pytest=INI)

    def run(source: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=HEAD + textwrap.dedent(source))
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    return run


def one_line(result: pytest.RunResult) -> str:
    return " ".join(" ".join(result.outlines).split())


SIMULATED = """
@robust(MOOD, mutations=2)
def test_followed(prompt, llm):
    return llm(prompt)

@robust(MOOD, mutations=2)
def test_remote(prompt, llm):
    raw(443, "192.0.2.1")
    return llm(prompt)

@robust(MOOD, mutations=2)
def test_name(prompt, llm):
    urllib.request.urlopen("https://model.example.com/v1/chat/completions", b"{{}}", 5)

@robust(MOOD, mutations=2)
async def test_loop(prompt, llm):
    await asyncio.open_connection("model.example.com", 443)

@robust(MOOD, mutations=2)
def test_pool(prompt, llm):
    with ThreadPoolExecutor(2) as pool:
        pool.submit(raw, 443, "192.0.2.1").result()

@robust(MOOD, mutations=2)
def test_httpx(prompt, llm):
    import httpx
    httpx.post("https://192.0.2.1/ask", json={{}})

@robust(MOOD, mutations=2)
def test_mutations_only(prompt, llm):
    if str(prompt) != MOOD.text:
        raw(443, "192.0.2.1")
    return llm(prompt)

@robust(MOOD, mutations=2)
def test_swallowed(prompt, llm):
    try:
        raw(443, "192.0.2.1")
    except OSError:
        pass
    return llm(prompt)
"""


def test_a_simulated_test_reaches_this_machine_only(run) -> None:
    result = run(SIMULATED.format(), "--promptfuzz-target=simulated", "--asyncio-mode=auto", "-rN")
    said = one_line(result)
    result.assert_outcomes(passed=2, errors=6)
    what = r"a connection to {} \(test_it\.py:\d+{}\) was refused: it is not followed, and a simulated test reaches"
    for to, by in (
        (r"192\.0\.2\.1:443", ""),
        (r"model\.example\.com:443", ", by urllib"),
        (r"model\.example\.com", ", by asyncio"),
    ):
        assert re.search(f"ConfigurationError: (?:\\S+: )?{what.format(to, by)}", said), to
    assert re.search(r"POST https://192\.0\.2\.1/ask \(test_it\.py:\d+, by httpx2?\) was refused", said)
    assert "allow it: promptfuzz_allow_hosts = 192.0.2.1:443" in said
    # A mutation that is kept from connecting says nothing of the prompt; what is refused was no call.
    assert re.search(r"test_mutations_only inconclusive \S+ \S+ \S+ 0 0 0 2 ", said), said
    assert re.search(r"note test_it\.py::test_swallowed: A connection to 192\.0\.2\.1:443", said)
    assert f"Answers are simulated: {CLAIM}." in said


def test_what_is_let_through_takes_the_place_of_the_claim(run, listener, pytester) -> None:
    source = f"""
        @robust(MOOD, mutations=2)
        def test_local(prompt, llm):
            raw({listener.port})
            return llm(prompt)

        @robust(MOOD, mutations=2)
        def test_child(prompt, llm):
            subprocess.run([sys.executable, "-c", ""], check=True)
            return llm(prompt)

        @robust(MOOD, mutations=2)
        def test_other(prompt, llm):
            return llm(prompt)
        """
    formats = "json:out.json,html:out.html,md:out.md"
    result = run(source, "--promptfuzz-target=simulated", f"--promptfuzz-report={formats}")
    result.assert_outcomes(passed=3)
    place = rf"4 connections to 127\.0\.0\.1:{listener.port} \(test_it\.py:\d+\) were not followed\."
    child = r"4 programs \(python[\d.]*\) were started and not followed\."
    assert re.search(f"Answers are simulated. {place} {child}", one_line(result))
    assert CLAIM not in one_line(result)
    tests = {each["test"]: each for each in json.loads((pytester.path / "out.json").read_text())["tests"]}
    (found,) = tests["test_it.py::test_local"]["unfollowed"]
    assert (found["kind"], found["to"], found["count"]) == ("connection", f"127.0.0.1:{listener.port}", 4)
    assert not tests["test_it.py::test_other"].get("unfollowed")
    for name in ("out.html", "out.md"):
        written = (pytester.path / name).read_text(encoding="utf-8")
        assert CLAIM not in written, name
        assert f"4 connections to 127.0.0.1:{listener.port}" in written, name
    alone = run(source, "--promptfuzz-target=simulated", "-k", "other", f"--promptfuzz-report={formats}")
    assert CLAIM in one_line(alone)
    assert CLAIM in (pytester.path / "out.html").read_text(encoding="utf-8")
    assert CLAIM in (pytester.path / "out.md").read_text(encoding="utf-8")


def test_what_was_begun_before_a_test_takes_the_place_of_the_claim(run, listener, pytester) -> None:
    pytester.makeconftest(
        f"""
        import socket
        import pytest

        EARLY = socket.create_connection(("127.0.0.1", {listener.port}), timeout=5)

        @pytest.fixture
        def asked():
            socket.create_connection(("127.0.0.1", {listener.port}), timeout=5).close()
        """
    )
    source = """
        import pytest

        @pytest.fixture(scope="module")
        def service():
            with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as own:
                yield
                own.kill()

        @robust(MOOD, mutations=2)
        def test_import(prompt, llm):
            return llm(prompt)

        @robust(MOOD, mutations=2)
        def test_fixtures(prompt, llm, asked, service):
            return llm(prompt)

        def test_over():
            import conftest
            conftest.EARLY.close()

        @robust(MOOD, mutations=2)
        def test_last(prompt, llm):
            return llm(prompt)
        """
    result = run(source, "--promptfuzz-target=simulated", "--promptfuzz-report=json:out.json")
    result.assert_outcomes(passed=4)
    to, programs = f"127.0.0.1:{listener.port}", ("earlier program", "python")
    tests = json.loads((pytester.path / "out.json").read_text())["tests"]
    found = {
        each["test"].rpartition("::")[2]: [
            (one["kind"], one["to"], one["count"]) for one in each["unfollowed"]
        ]
        for each in tests
    }
    assert found["test_import"] == [("earlier connection", to, 1)]
    assert found["test_fixtures"][0] == ("earlier connection", to, 2)
    assert found["test_fixtures"][1][0] == found["test_last"][0][0] == programs[0]
    assert found["test_fixtures"][1][1].startswith(programs[1])
    assert len(found["test_last"]) == 1
    said = one_line(result)
    assert f"Answers are simulated. 2 earlier connections to {to} (conftest.py:" in said
    assert re.search(r"1 earlier program \(python[\d.]*\) was not followed\.", said)
    assert CLAIM not in said


def test_what_is_not_followed_is_counted_where_models_are_real(run, listener) -> None:
    source = f"""
        @robust(MOOD, mutations=2, threshold=0)
        def test_database(prompt, llm):
            raw({listener.port})
            return llm(prompt)
        """
    with ModelServer() as server:
        target = f"--promptfuzz-target=compatible:m@{server.openai_url}"
        for mode in ("auto", "live", "record"):
            result = run(source, target, f"--promptfuzz-mode={mode}")
            result.assert_outcomes(passed=1)
            count = r"\d+ connections to"
            assert re.search(
                rf"{count} 127\.0\.0\.1:{listener.port} \(test_it\.py:\d+\) were not followed\.",
                one_line(result),
            )
    # A database on this machine is no reason not to record, nor to fail a replay.
    assert "not recorded" not in one_line(result)
    replayed = run(source, target, "--promptfuzz-mode=replay")
    replayed.assert_outcomes(passed=1)


RED_IN_REPLAY = """
@robust(MOOD, mutations=2, threshold=0)
def test_raw(prompt, llm):
    raw({port})
    return llm(prompt)

@robust(MOOD, mutations=2, threshold=0)
def test_good(prompt, llm):
    return llm(prompt)
"""


def test_what_a_replay_would_refuse_is_not_recorded_and_says_so(
    run, listener, elsewhere, pytester, monkeypatch
) -> None:
    source = RED_IN_REPLAY.format(port=listener.port)
    recording = pytester.path / "__promptfuzz__" / "test_it.calls.jsonl"
    place = rf"connection to 127\.0\.0\.1:{listener.port} \(test_it\.py:\d+\)"
    with ModelServer() as server:
        target = f"--promptfuzz-target=compatible:m@{server.openai_url}"
        result = run(source, target, "--promptfuzz-mode=record")
        result.assert_outcomes(passed=2)
        (line,) = [each for each in result.outlines if "not recorded: " in each]
        assert re.search(
            rf"not recorded: test_it\.py::test_raw: a {place} is not followed, so that a replay of the test would fail\. "
            r"Ask models through their SDK or promptfuzz_proxy; where no model is asked, name the host in "
            r"promptfuzz_allow_hosts .*\.md\)\.$",
            line,
        )
        assert "test_good" in recording.read_text()
        assert "test_raw" not in recording.read_text()
        before = listener.received
        replayed = run(source, target, "--promptfuzz-mode=replay", "-rN")
        replayed.assert_outcomes(passed=1, errors=1)
        assert re.search(
            rf"NotRecordedError: \S+: the test cannot be replayed: a {place} was refused", one_line(replayed)
        )
        assert listener.received == before
        # The three places of the setting.
        allowed = f"127.0.0.1:{listener.port}"
        monkeypatch.setenv("PROMPTFUZZ_ALLOW_HOSTS", allowed)
        run(source, target, "--promptfuzz-mode=record").assert_outcomes(passed=2)
        assert "test_raw" in recording.read_text()
    monkeypatch.delenv("PROMPTFUZZ_ALLOW_HOSTS")
    again = [
        run(source, target, "--promptfuzz-mode=replay", f"--promptfuzz-allow-hosts=db.internal,{allowed}")
    ]
    pytester.makefile(".ini", pytest=f"{INI}promptfuzz_allow_hosts =\n    db.internal\n    {allowed}\n")
    again.append(run(source, target, "--promptfuzz-mode=replay"))
    for result in again:
        result.assert_outcomes(passed=2)
    wrong = run(source, "--promptfuzz-allow-hosts=https://db.internal/")
    assert "'https://db.internal/' is no host: write db.internal" in "\n".join(wrong.errlines)


def test_an_unknown_endpoint_is_given_its_line(run, pytester) -> None:
    source = """
        import httpx2

        def reply(url, question, system="You sort letters for the shop, in one word."):
            said = {"model": "m", "turns": [{"who": "user", "words": question}], "context": system}
            return httpx2.post(f"{url}/say", json=said).text

        @robust(mutate="role:user", mutations=2, threshold=0)
        def test_reply(promptfuzz_server):
            return reply(promptfuzz_server.url, "Where is my parcel? I ordered it in May.")
        """
    result = run(source, "--promptfuzz-target=simulated", "-rN")
    result.assert_outcomes(errors=1)
    said = "\n".join(result.outlines)
    found = re.search(r"promptfuzz_endpoints =\n\s+(127\.0\.0\.1/say text=\S+ system=\S+)", said)
    assert found, said
    assert found[1] == "127.0.0.1/say text=$.turns[*].words system=$.context"
    assert "promptfuzz_proxy" not in said
    # Pasted, it does what it says: the call is followed, and mutated.
    pytester.makefile(".ini", pytest=f"{INI}promptfuzz_endpoints =\n    {found[1]} answer=$.said\n")
    followed = run(source, "--promptfuzz-target=simulated")
    followed.assert_outcomes(passed=1)
    assert "2 calls" in one_line(followed) or "3 calls" in one_line(followed)


ASKING = """
import http.server, json, threading
import httpx2
import pytest
from pytest_promptfuzz import robust

SAID = "Sort the letter for the shop: billing, shipping or technical, in one word."

@pytest.fixture(scope="module")
def url():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            answer = b'{"result": "shipping"}'
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()

BODIES = {
    "/a%20b/[1]*/ask?model=x": {"my letter": {"the.text": SAID}, "context": "Be brief."},
    "/subscriptions/0f8fad5b-d9cb-469f-a165-70867728950e/deployments/letters-of-the-shop": {"turns": [{"says": SAID}]},
    "/untyped": {"preamble": "Be brief, and polite to the customer.", "letter": SAID},
}

@pytest.mark.parametrize("path", BODIES)
@robust(mutate="role:user", mutations=2, threshold=0)
def test_it(url, path):
    said = json.dumps(BODIES[path])
    typed = {} if path == "/untyped" else {"content-type": "application/json"}
    return httpx2.post(url + path, content=said, headers=typed).text
"""


@pytest.mark.parametrize("file", ["pytest.ini", "pyproject.toml"])
def test_the_lines_of_unknown_endpoints_work_as_they_are_printed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """Also on a narrow terminal, which breaks them, and whatever stands in paths and bodies."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("CI", raising=False)  # where it is set, pytest says each message once more, whole
    settings = pytester.path / file
    table = "[pytest]" if file == "pytest.ini" else "[tool.pytest.ini_options]"
    settings.write_text(
        f'{table}\nasyncio_default_fixture_loop_scope = "function"\n'.replace(
            '"', "" if file == "pytest.ini" else '"'
        )
    )
    with settings.open("a") as stream:
        stream.write('promptfuzz_mode = "auto"\n')  # quotes are none of the value in an ini file either
    pytester.makepyfile(test_it=ASKING)
    first = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    first.assert_outcomes(errors=3)
    said = first.stdout.str()
    assert "proxy" not in said
    assert " ".join(said.split()).count(f"Paste it into {file}") == 3
    pasted = re.findall(r"^promptfuzz_endpoints =.*\n((?: .*\n)+)", said, re.MULTILINE)
    assert len(pasted) == 3, said
    first_line = said.split("promptfuzz_endpoints =", 1)[1].partition("\n")[0]
    lines = "".join(pasted).replace("    '''\n", "") + ("    '''\n" if first_line.strip() else "")
    with settings.open("a") as stream:
        stream.write(f"promptfuzz_endpoints ={first_line}\n{lines}")
    again = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    again.assert_outcomes(passed=3)
    again.stdout.fnmatch_lines(["3 robust tests: 3 passed; 9 calls made; *"])
