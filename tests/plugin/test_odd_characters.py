"""What a model may answer and no file or process can take as it is: no odd character ends a run."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from tests.plugin.conftest import summary_of

TESTS = r"""
import pytest

ODD = ["\ud800", "\udfff \udc80\udc81", "a\0b", "\u2028", "\u202e", "\ufffe\U0001ffff \ud83d\ude00", "e\u0301\x1b[31m"]

@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@robust(TRIAGE, mutations=2, baseline_runs=2)
def test_returned(prompt, llm, odd):
    llm(prompt.format(ticket=TICKET))
    return f"The answer is {odd}."

@robust(TRIAGE, mutations=2)
def test_joined(prompt, llm):
    llm(prompt.format(ticket=TICKET))
    return "".join(ODD)

@robust(TRIAGE, mutations=2)
def test_brittle(prompt, llm):
    llm(prompt.format(ticket=TICKET))
    if str(prompt) != str(TRIAGE):
        pytest.fail("odd " + "".join(ODD))

@robust(TRIAGE, mutations=2)
def test_raises(prompt, llm):
    print("odd \ud800")
    raise ValueError("odd \ud800")

def test_that_is_no_robust_one():
    raise ValueError("odd \ud800")
"""


@pytest.mark.parametrize("workers", [("-n", "1"), ()], ids=["xdist", "one process"])
def test_no_odd_character_ends_a_run(project, pytester, monkeypatch, workers) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    wanted = ",".join(f"{kind}:run.{kind}" for kind in ("html", "json", "md", "sarif", "gitlab"))
    result = project(
        TESTS, "--junitxml=run.xml", "--promptfuzz-update", f"--promptfuzz-report={wanted}", *workers
    )
    result.assert_outcomes(passed=8, failed=3)
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    rows = summary_of(result)
    assert rows == {
        **{f"test_returned[{number}]": "pass" for number in range(7)},
        "test_joined": "pass",
        "test_brittle": "brittle",
    }
    document = json.loads((pytester.path / "run.json").read_bytes())
    answers = {each["test"].partition("::")[2]: each["baseline"] for each in document["tests"]}
    assert answers["test_returned[0]"] == "The answer is \ud800."
    assert answers["test_returned[1]"] == "The answer is \udfff \udc80\udc81."
    assert answers["test_returned[2]"] == "The answer is a\0b."
    ET.fromstring((pytester.path / "run.xml").read_bytes())
    before = {each: each.read_bytes() for each in sorted(pytester.path.glob("__promptfuzz__/*/*.json"))}
    assert len(before) == 9
    again = pytester.runpytest_forked("-k", "returned or joined", "--promptfuzz-update", *workers)
    again.assert_outcomes(passed=8)
    assert before == {each: each.read_bytes() for each in before}
