"""A traceback that held a key keeps its style, its place and the short summary's line."""

from __future__ import annotations

import re

import pytest

from tests.plugin.conftest import PROMPT

TESTS = """
KEY = "sk-" + "proj-Hd72kLw0Qz81mNvB"

def _ask(api_key):
    settings_of_1 = {"key": api_key}
    if api_key:
        raise RuntimeError("refused " + api_key + "\\nsecond line")
    api_key = settings_of_1.get("key")

@robust(TRIAGE, mutations=2, target="simulated")
def test_raises(prompt, llm):
    llm(prompt.format(ticket=TICKET))
    note = "unrelated"
    # api_key = settings_of_1.get
    _ask(KEY)

@robust(TRIAGE, mutations=2, target="simulated")
def test_compares(prompt, llm):
    llm(prompt.format(ticket=TICKET))
    assert "shipping" == KEY * 12

@robust(TRIAGE, mutations=2, target="simulated")
def test_skips(prompt, llm):
    import pytest
    pytest.skip("not with " + KEY)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_fixture_that_fails_before_any_robust_test_shows_no_key(pytester, workers) -> None:
    source = """
import pytest

@pytest.fixture
def client():
    raise RuntimeError("401: Incorrect API key provided: " + "BvNm18zQ0wLk27dH-jorp-ks"[::-1])

@robust(TRIAGE, mutations=2, target="simulated")
def test_it(prompt, llm, client):
    pass
"""
    pytester.makepyfile(test_it=PROMPT + source)
    reports = "json:a.json,md:a.md,html:a.html,sarif:a.sarif"
    result = pytester.runpytest(f"--promptfuzz-report={reports}", "--junitxml=a.xml", *workers)
    result.assert_outcomes(errors=1)
    assert "401: Incorrect API key provided" in result.stdout.str()
    written = [path for path in pytester.path.rglob("*") if path.is_file() and path.suffix != ".py"]
    shown = [result.stdout.str(), *(path.read_bytes().decode("utf-8", "replace") for path in written)]
    assert len(shown) > 5
    assert not [text for text in shown if "Hd72" in text]


@pytest.mark.parametrize(
    ("style", "ci", "workers"),
    [
        ("long", True, ()),
        ("long", False, ("-n", "1")),
        ("short", True, ()),
        ("native", True, ()),
        ("line", False, ()),
    ],
)
def test_a_traceback_with_a_key_stays_a_traceback(pytester, monkeypatch, style, ci, workers) -> None:
    for name in ("CI", "BUILD_NUMBER", "PROMPTFUZZ_MODE"):
        monkeypatch.delenv(name, raising=False)
    if ci:
        monkeypatch.setenv("CI", "true")
    pytester.makepyfile(test_it=PROMPT + TESTS)
    result = pytester.runpytest(
        f"--tb={style}", "-rsf", "-l", "--color=yes", "--promptfuzz-mode=live", *workers
    )
    out = result.stdout.str()
    result.assert_outcomes(failed=2, skipped=1)
    assert "Hd72" not in out
    assert "mNvB" not in out
    summary = out[out.index("short test summary") :].splitlines()
    failed = [each for each in summary if "FAILED" in each]
    assert "RuntimeError: refused [redacted]" in next(each for each in failed if "test_raises" in each)
    assert "AssertionError" in next(each for each in failed if "test_compares" in each)
    assert len(summary) < 40, "the traceback is not repeated"
    assert any("not with [redacted]" in each for each in summary)
    if style == "long":
        assert "settings_of_1" in out
        assert re.search(r"\x1b\[31mE +RuntimeError: refused \[redacted\]", out), "with its colour"
        assert "# api_key = settings_of_1.get" in out, "an expression is no secret"


WARNS = """
import warnings
KEY = "sk-" + "proj-Hd72kLw0Qz81mNvB"

@robust(TRIAGE, mutations=2, target="simulated")
def test_warns(prompt, llm):
    warnings.warn("refused " + KEY, DeprecationWarning)
    assert llm(prompt.format(ticket=TICKET)).text
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "in a worker"])
def test_a_warning_shows_no_key(pytester, monkeypatch, workers) -> None:
    for name in ("CI", "PROMPTFUZZ_MODE", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile(test_it=PROMPT + WARNS)
    result = pytester.runpytest("--promptfuzz-mode=live", *workers)
    result.stdout.fnmatch_lines(["*DeprecationWarning: refused [[]redacted]"])
    assert "Hd72" not in result.stdout.str()
