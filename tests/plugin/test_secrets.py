"""Secrets planted everywhere are found nowhere: not on disk, not in the terminal, not in JUnit XML."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.targets.model import Request, Response, Usage
from pytest_promptfuzz.testing.faults import Unauthorized
from pytest_promptfuzz.testing.server import ModelServer
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


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_secrets_are_found_nowhere(pytester: pytest.Pytester, monkeypatch, workers) -> None:
    for name in ("CI", "PROMPTFUZZ_MODE", "PROMPTFUZZ_TARGET", "PYTEST_ADDOPTS"):
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
            result = pytester.runpytest_subprocess(f"--promptfuzz-mode={mode}", *common)
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
    result = pytester.runpytest_subprocess()
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
    result = pytester.runpytest_subprocess(
        "--promptfuzz-target=simulated", "--promptfuzz-mode=record", "--tb=line"
    )
    assert leaks(pytester.path, "") == []
    del result
