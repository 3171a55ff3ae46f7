from __future__ import annotations

from handmade import report, trial

from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.styled_text import render


def page(trials: list) -> str:
    unreached = report(
        verdict="inconclusive",
        reason="baseline-error",
        explanation="We could not get the baseline: no route to host (connection)",
        score=None,
        bounds=(0.0, 1.0),
        by_dimension={},
        trials=trials,
    )
    return render(failure_lines(unreached), width=80, color=False)


def test_trials_that_never_ran_are_counted_and_not_listed() -> None:
    error = {"kind": "baseline-error", "message": "We could not get the baseline: no route to host"}
    failed = {"outcome": "error", "similarity": None, "reason": "", "explanation": "", "response": None}
    text = page([trial(n, "synonym", error=error, **failed) for n in range(8)])
    assert text.count("no route to host") == 1
    assert "No mutation was tried." in text
    assert "synonym" not in text
    one_ran = page([trial(0), *(trial(n, "synonym", error=error, **failed) for n in range(1, 8))])
    assert "8 mutations were tried: 1 equivalent" in one_ran
    assert "1 equivalent" in one_ran
