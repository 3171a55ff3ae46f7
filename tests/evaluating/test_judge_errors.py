"""A judge that was measured: refused where it agrees too little, its errors in the interval of what it decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz import UsageError, evaluate, judge
from pytest_promptfuzz.judging.measurements import FILE, JudgeMeasurement, save_measurement
from pytest_promptfuzz.reporting.model import report_test

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz import Robustness

BASELINE = "The parcel has gone out and will be there by Monday."
OTHER = "Yours is on its way since yesterday, expect it on Monday."
CASES = ["upper-case", "lower-case", "title-case", "double-space"]
COUNTS = ((14, 1, 5), (1, 8, 1), (2, 2, 26))
"""Of what people call different, the judge lets a quarter pass."""


@judge("lenient")
def lenient(baseline: str, response: str) -> int:
    return 3


def answering(prompt: str) -> str:
    return OTHER if prompt.isupper() or prompt.islower() else BASELINE


def evaluated(**settings: Any) -> Robustness:
    given = {
        "operators": CASES,
        "mutations": 4,
        "controls": 0,
        "stop": "never",
        "threshold": 0.0,
        "judge": lenient,
    }
    return evaluate("Tell me where my parcel is, please.", answering, **{**given, **settings})


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / FILE
    save_measurement(path, "lenient", JudgeMeasurement(60, 2, 0.66, 0.5, 0.8, COUNTS))
    return path


def test_the_errors_of_a_judge_are_in_the_interval(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    after = evaluated()
    measured.unlink()
    before = evaluated()
    assert before.score == after.score == 1.0
    assert before.interval is not None
    assert after.interval is not None
    assert before.judging is not None
    assert before.judging.correction is None
    assert after.interval.low < before.interval.low - 0.05
    assert after.interval.high == 1.0
    assert after.judging is not None
    correction = after.judging.correction
    assert correction is not None
    assert (correction.decided, correction.trials, correction.items) == (2, 4, 60)
    (note,) = [each for each in after.notes if "corrected" in each]
    assert note == (
        "the judge lenient decided 2 of 4 trials; corrected for its errors on 60 rated pairs, the score is "
        f"{correction.score:.2f} [{after.interval.low:.2f}, {after.interval.high:.2f}]"
    )
    report = report_test(after, test="test_parcel")
    assert report["judging"] is not None
    assert report["judging"]["corrected"]["decided"] == 2
    assert "corrected" not in (report_test(before, test="test_parcel")["judging"] or {})


def test_a_gate_that_wants_to_be_sure_knows_of_the_errors(measured: Path) -> None:
    sure = evaluated(threshold=0.45, gate="confident")
    measured.unlink()
    assert (sure.verdict, sure.reason) == ("inconclusive", "not-confident")
    assert evaluated(threshold=0.45, gate="confident").verdict == "pass"


def test_a_judge_below_the_least_agreement_is_refused(measured: Path) -> None:
    assert evaluated(judge_min_agreement=0.6).verdict == "pass"
    with pytest.raises(UsageError, match=r"the judge 'lenient' agrees too little with people: alpha 0\.66"):
        evaluated(judge_min_agreement=0.7)
    with pytest.raises(UsageError, match="has not been measured"):
        evaluated(judge="simulated", judge_min_agreement=0.1)
    moved = measured.rename(measured.with_name("elsewhere.json"))
    with pytest.raises(UsageError, match="has not been measured"):
        evaluated(judge_min_agreement=0.6)
    assert evaluated(judge_min_agreement=0.6, judge_agreement=moved).verdict == "pass"


def test_without_a_judge_nothing_is_asked_of_it(measured: Path) -> None:
    assert evaluated(judge=False, judge_min_agreement=0.9).judging is None
