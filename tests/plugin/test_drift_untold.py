"""Where nothing tells today's answer from the snapshot's, drift is neither claimed nor excluded; a failure for drift says why."""

from __future__ import annotations

from tests.plugin.conftest import summary_of
from tests.plugin.test_snapshot_runs import APP, drifts, stored

THEN = "The parcel is late and the customer wants a refund."
NOW = "The weather in Spain is sunny and warm."
WITHOUT = ("-o", "promptfuzz_model=.")
UNTOLD = "no installed comparison can tell whether the model changed; "


def test_an_answer_that_nothing_tells_from_the_accepted_one_is_never_taken_for_it(
    project, pytester, monkeypatch
):
    monkeypatch.setenv("SAYS", THEN)
    project(APP, "--promptfuzz-update", *WITHOUT).assert_outcomes(passed=1)
    same = project(APP, "--promptfuzz-model-drift=fail", *WITHOUT)
    same.assert_outcomes(passed=1)
    monkeypatch.setenv("SAYS", NOW)
    warned = project(APP, *WITHOUT)
    warned.assert_outcomes(passed=1)
    warned.stdout.fnmatch_lines(
        [f"Drift: test_it.py::test_app: {UNTOLD}install 'pytest-promptfuzz[[]semantic]'*"]
    )
    refused = project(APP, "--promptfuzz-model-drift=fail", "--junitxml=junit.xml", "-v", *WITHOUT)
    refused.assert_outcomes(errors=1)
    assert summary_of(refused) == {"test_app": "pass"}
    refused.stdout.fnmatch_lines_random(
        [
            f"Drift: {UNTOLD}*",
            "what to do *Accept the change with --promptfuzz-update, or undo it.",
            f"INCONCLUSIVE test_it.py::test_app - drift: {UNTOLD}*",
            "test_it.py::test_app INCONCLUSIVE *",
        ]
    )
    assert "<error" in (pytester.path / "junit.xml").read_text()
    monkeypatch.setenv("TEXT", "Which team is it, billing or shipping?\nTicket: {ticket}")
    both = project(APP, *WITHOUT)
    (said,) = drifts(both)
    assert said.endswith(
        "the prompt changed since the snapshot; no installed comparison can tell whether the answer changed"
    )
    monkeypatch.delenv("TEXT")
    accepted = project(APP, "--promptfuzz-update=failed", "--promptfuzz-model-drift=fail", *WITHOUT)
    accepted.assert_outcomes(passed=1)
    accepted.stdout.fnmatch_lines(
        [f"Updated: test_it.py::test_app: {UNTOLD}*", "promptfuzz: wrote 1 snapshot in *"]
    )
    assert NOW.encode() in stored(pytester)["test_app.json"]


def test_a_prompt_that_fails_for_its_drift_shows_its_words_and_how_to_accept_them(project, monkeypatch):
    project(APP, "--promptfuzz-update").assert_outcomes(passed=1)
    monkeypatch.setenv("TEXT", "Name one of those teams: billing, shipping.\nTicket: {ticket}")
    result = project(APP, "--promptfuzz-prompt-drift=fail")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "Drift: the prompt changed since the snapshot; the answer is the same*",
            "   prompt *Name one of *these*those* teams*",
            "what to do *Accept the change with --promptfuzz-update, or undo it.",
        ]
    )
