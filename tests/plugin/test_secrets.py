"""Secrets planted everywhere are found nowhere: not on disk, not in the terminal, not in JUnit XML."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.providers.requests import Request, Response, Usage
from pytest_promptfuzz.server.faults import Unauthorized
from pytest_promptfuzz.server.model_server import ModelServer
from tests.plugin.conftest import PROMPT, summary_of

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-proj-Hd72kLw0Qz81mNvB"  # a known shape, in a header
ODD = "hunter-two-of-no-known-shape"  # a header's value, known by the request that carries it
CUSTOMER = "CUST-90210-77"  # only the configured pattern knows it
QUERY = "qv8-token-in-the-query"
ANSWERED = "ghp_0123456789abcdefghijABCDEFGHIJ"
SECRETS = (KEY, ODD, CUSTOMER, QUERY, ANSWERED)
INI = r"""
[pytest]
asyncio_default_fixture_loop_scope = function
promptfuzz_inconclusive = pass
promptfuzz_redact =
    CUST-\d+-\d+
"""
TESTS = f"""
import openai

client = openai.OpenAI(
    max_retries=0,
    default_headers={{"x-internal-token": "{ODD}"}},
    default_query={{"token": "{QUERY}"}},
)

def ask(prompt, **more):
    return client.chat.completions.create(
        model="gpt-5-mini",
        messages=[{{"role": "user", "content": prompt.format(ticket=TICKET)}}, {{"role": "user", "content": "I am {CUSTOMER}"}}],
        metadata={{"customer": "{CUSTOMER}", "note": "{KEY}"}},
        **more,
    )

@robust(TRIAGE, mutations=3, threshold=0.0)
def test_whole(prompt):
    return ask(prompt).choices[0].message.content

@robust(TRIAGE, mutations=3, threshold=0.0)
def test_streamed(prompt):
    return "".join(each.choices[0].delta.content or "" for each in ask(prompt, stream=True) if each.choices)

@robust(TRIAGE, mutations=3, threshold=1.0)
def test_raises(prompt):
    said = ask(prompt).choices[0].message.content
    assert prompt.text == TRIAGE.text, "the application says {ODD}, {KEY}, {CUSTOMER} and {ANSWERED}"
    return said

@robust(TRIAGE, mutations=3)
def test_fails_unmutated(prompt):
    ask(prompt)
    raise RuntimeError("boom {ODD} {KEY} {CUSTOMER} {QUERY}")

@robust(TRIAGE, mutations=3)
def test_refused(prompt):
    ask(prompt, user="refused")

@robust(TRIAGE, mutations=3)
def test_not_recorded(prompt):
    import uuid
    ask(prompt, user=uuid.uuid4().hex + "{CUSTOMER}")
"""


class Leaky:
    """A model that answers with a secret, and with what it was told."""

    version = "leaky-1"

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del sample
        told = " ".join(str(each["content"]) for each in request.messages)
        return Response(f"Your token is {ANSWERED}, {told[-60:]}", usage=Usage(1, 1), finish_reason="stop")


def said(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


def leaks(folder: Path, printed: str) -> list[str]:
    """Where a secret stands."""
    found = [f"{each} is printed" for each in SECRETS if each in printed]
    for path in folder.rglob("*"):
        # The test itself, and what compiles it, hold what it plants.
        if path.is_file() and path.name != "test_it.py" and path.suffix != ".pyc":
            content = path.read_bytes()
            found += [f"{each} is in {path}" for each in SECRETS if each.encode() in content]
    return found


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "workers"])
def test_secrets_are_found_nowhere(pytester: pytest.Pytester, monkeypatch, workers) -> None:
    for name in ("CI", "PROMPTFUZZ_MODE", "PROMPTFUZZ_TARGET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    pytester.makefile(".ini", pytest=INI)
    # What pytest shows of the failing line is the test's own source: kept out by showing no source.
    pytester.makepyfile(test_it=PROMPT + TESTS)
    with ModelServer(Leaky()) as server:
        server.fail(Unauthorized(message=f"Incorrect API key provided: {KEY}, {CUSTOMER}"), when='"refused"')
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        common = (
            "-p",
            "no:cacheprovider",
            "-rA",
            "--tb=line",
            "--junitxml=junit.xml",
            "-o",
            "junit_logging=all",
            *workers,
        )
        for mode in ("record", "auto", "replay"):
            result = pytester.runpytest_forked(f"--promptfuzz-mode={mode}", *common)
            assert "test_whole" in result.stdout.str()
            assert leaks(pytester.path, result.stdout.str() + result.stderr.str()) == []
            assert "[redacted]" in result.stdout.str()
            assert summary_of(result).get("test_whole") == "pass"
            assert summary_of(result).get("test_streamed") == "pass"
            assert "an answer was not stored" not in said(result)
        assert any(KEY in each.text for each in server.requests), "they were planted"
        assert any(CUSTOMER in each.text for each in server.requests)
    recording = pytester.path / "__promptfuzz__" / "test_it.calls.jsonl"
    assert "[redacted]" in recording.read_text(encoding="utf-8")
    database = pytester.path / ".promptfuzz" / "responses" / "cache.db"
    assert sqlite3.connect(database).execute("SELECT count(*) FROM Cache").fetchone()[0] > 0


@pytest.mark.parametrize(
    ("pattern", "why"), [("CUST-(", "not a regular expression"), ("x*", "matches the empty text")]
)
def test_a_bad_pattern_is_refused_before_anything_runs(
    pytester: pytest.Pytester, pattern: str, why: str
) -> None:
    pytester.makefile(".ini", pytest=f"[pytest]\npromptfuzz_redact =\n    {pattern}\n")
    result = pytester.runpytest_forked()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert why in result.stderr.str() + result.stdout.str()
    assert "promptfuzz_redact" in result.stderr.str() + result.stdout.str()


def test_a_prompt_that_holds_a_key_is_not_recorded(pytester: pytest.Pytester, monkeypatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    pytester.makefile(".ini", pytest=INI)
    source = (
        PROMPT
        + f"""
@robust(TRIAGE.text.replace("label only", "label only {KEY}"), mutations=8, threshold=0.0)
def test_triage(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""
    )
    pytester.makepyfile(test_it=source)
    result = pytester.runpytest_forked(
        "--promptfuzz-target=simulated", "--promptfuzz-mode=record", "--tb=line"
    )
    assert leaks(pytester.path, "") == []
    del result


PASSWORD = "pw-of-the-base-url"
BOTH_WAYS = f"""
import logging, os, sys
import httpx2
import openai

def ask(client, **more):
    return client.chat.completions.create(
        model="gpt-5-mini",
        messages=[{{"role": "system", "content": TRIAGE.text}}, {{"role": "user", "content": more.pop("said", "Hi")}}],
        **more,
    )

def client(**more):
    token = os.environ["ODD_TOKEN"]
    return openai.OpenAI(max_retries=0, default_headers={{"x-internal-token": token}}, **more)

@robust(mutate="role:system", mutations=2, threshold=0.0)
def test_prints(capfd):
    with capfd.disabled():
        pass
    answer = ask(client(), said=os.environ["ODD_TOKEN"] + " {CUSTOMER}")
    print("printed", os.environ["ODD_TOKEN"], os.environ["OPENAI_API_KEY"], "{CUSTOMER}")
    print("to stderr", os.environ["ODD_TOKEN"], file=sys.stderr)
    logging.getLogger("app").warning("logged %s", os.environ["ODD_TOKEN"])
    return answer.choices[0].message.content

@robust(mutate="role:system", mutations=2)
def test_several_texts():
    one = ask(client())
    client().chat.completions.create(
        model="m", messages=[{{"role": "system", "content": "I am " + os.environ["ODD_TOKEN"] + " {CUSTOMER}"}}]
    )

@robust(mutate="role:system", mutations=2)
def test_unreachable():
    local = os.environ["ODD_TOKEN"]
    ask(client(base_url="http://user:" + os.environ["URL_PASSWORD"] + "@127.0.0.1:9/v1"))

@robust(mutate="role:system", mutations=2)
def test_raises_with_its_request():
    try:
        ask(client(base_url=os.environ["OPENAI_BASE_URL"] + "/nowhere"), extra_query={{"api_key": "{QUERY}"}})
    except openai.APIError as error:
        raise RuntimeError(f"{{error.request.url}} {{dict(error.request.headers)}} {{error.request.content}}")
    raise RuntimeError(os.environ["ODD_TOKEN"])

@robust(mutate="role:system", mutations=2)
def test_skips():
    ask(client())
    import pytest
    pytest.skip("no " + os.environ["ODD_TOKEN"])

@robust(mutate="role:system", mutations=2)
def test_refused_body():
    httpx2.post(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions?key={QUERY}",
        content=b"?",
        headers={{"content-type": "application/json", "authorization": "Bearer " + os.environ["ODD_TOKEN"]}},
    )

@robust(mutate="role:system", mutations=2)
def test_killed():
    answer = ask(client(), said="I am {CUSTOMER} " + os.environ["OPENAI_API_KEY"]).choices[0].message.content
    if os.environ.get("KILLED") and os.path.exists("again"):
        os.kill(os.getpid(), 9)
    open("again", "w").close()
    return answer
"""


@pytest.mark.parametrize(
    "options", [("--tb=short",), ("-vv", "--tb=long", "--showlocals"), ("-s", "--tb=native")], ids="_".join
)
def test_what_applications_say_of_their_secrets_is_not_shown(
    pytester: pytest.Pytester, monkeypatch, options
) -> None:
    for name in ("CI", "PROMPTFUZZ_MODE", "PROMPTFUZZ_TARGET", "KILLED"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (("OPENAI_API_KEY", KEY), ("ODD_TOKEN", ODD), ("URL_PASSWORD", PASSWORD)):
        monkeypatch.setenv(name, value)
    pytester.makefile(".ini", pytest=INI)
    pytester.makepyfile(test_it=PROMPT + BOTH_WAYS)
    common = ("-p", "no:cacheprovider", "-rA", "--junitxml=junit.xml", "-o", "junit_logging=all", *options)
    with ModelServer(Leaky()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        result = pytester.runpytest_forked("--promptfuzz-mode=record", *common)
        shown = result.stdout.str() + result.stderr.str()
        if "-s" in options:  # what is not captured is the application's own to say
            shown = "\n".join(
                line for line in shown.splitlines() if not re.match(r".*(printed|to stderr) \S+", line)
            )
        for name in ("stdout", "stderr"):  # pytester's own copies
            (pytester.path / name).unlink()
        secrets = (*SECRETS, PASSWORD)
        assert [f"{each} in {line}" for each in secrets for line in shown.splitlines() if each in line] == []
        assert leaks(pytester.path, "") == []
        assert all(name in shown for name in ("test_several_texts", "test_unreachable", "[redacted]"))
        # A run that is killed leaves what it was answered behind, and no secret in it.
        monkeypatch.setenv("KILLED", "1")
        pytester.runpytest_forked("--promptfuzz-mode=record", "-k", "killed", *common)
        for name in ("stdout", "stderr"):
            (pytester.path / name).unlink()
        spools = [path for path in (pytester.path / ".promptfuzz").rglob("*") if path.is_file()]
        assert any("recording" in str(path) for path in spools)
        assert leaks(pytester.path, "") == []
