"""What judges were measured at: the file, and the judges that `judge_min_agreement` refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import ModelJudge, UsageError, judge
from pytest_promptfuzz.judging.measurements import (
    FILE,
    JudgeMeasurement,
    measured_judge,
    read_measurements,
    save_measurement,
)

if TYPE_CHECKING:
    from pathlib import Path

COUNTS = ((18, 1, 1), (2, 6, 2), (1, 3, 26))


@judge("strict")
def strict(baseline: str, response: str) -> int:
    return 1


def measurement(alpha: float | None = 0.7, questions: int = 0) -> JudgeMeasurement:
    return JudgeMeasurement(60, 2, alpha, 0.55, 0.82, COUNTS, questions)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    below = tmp_path / "tests" / "prompts"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    path = tmp_path / FILE
    save_measurement(path, "strict", measurement())
    return path


def test_a_measurement_is_read_as_it_was_written_and_leaves_others_alone(file: Path) -> None:
    save_measurement(file, "simulated", measurement(None, questions=1))
    assert read_measurements(file) == {"strict": measurement(), "simulated": measurement(None, questions=1)}
    save_measurement(file, "strict", measurement(0.9))
    assert read_measurements(file)["strict"].alpha == 0.9
    assert read_measurements(file)["strict"].errors.items == 60


def test_a_file_here_or_above_is_found(file: Path) -> None:
    assert measured_judge(strict, None, 0.6, "test_a") == measurement()
    assert measured_judge(strict, None, None, "test_a") == measurement()
    assert measured_judge(strict, str(file), 0.7, "test_a") == measurement()


@pytest.mark.parametrize(
    ("alpha", "least", "said"),
    [
        (0.7, 0.8, r"alpha 0\.70 \[0\.55, 0\.82\] on 60 items, less than judge_min_agreement=0\.8"),
        (None, 0.1, "cannot be told, since all ratings of 60 items are alike"),
    ],
)
def test_a_judge_that_agrees_too_little_is_refused(file: Path, alpha, least, said) -> None:
    save_measurement(file, "strict", measurement(alpha))
    with pytest.raises(UsageError, match=said) as caught:
        measured_judge(strict, None, least, "test_a")
    assert str(caught.value).startswith("test_a: the")


def test_a_judge_that_nobody_measured_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = ModelJudge("simulated")
    assert measured_judge(other, None, None, "test_a") is None
    with pytest.raises(
        UsageError, match=r"'simulated' has not been measured \(.*json is of 'strict'\)"
    ) as caught:
        measured_judge(other, None, 0.6, "test_a")
    assert "promptfuzz judge agree RATINGS --judge simulated --save" in str(caught.value)
    file.unlink()
    with pytest.raises(UsageError, match=rf"no {FILE} here or above"):
        measured_judge(strict, None, 0.6, "test_a")
    with pytest.raises(UsageError, match=r"judge_agreement='none\.json': there is no such file"):
        measured_judge(strict, "none.json", None, "test_a")


def test_a_judge_that_was_asked_otherwise_is_not_measured(file: Path) -> None:
    save_measurement(file, "simulated", measurement(questions=99))
    assert measured_judge(ModelJudge("simulated"), None, None, "test_a") is None
    with pytest.raises(UsageError, match="was measured with other questions than it is asked now"):
        measured_judge(ModelJudge("simulated"), None, 0.6, "test_a")


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{",
        "{}",
        '{"promptfuzz": "judge-agreement", "format": 2, "judges": {}}',
        '{"promptfuzz": "judge-agreement", "format": 1, "judges": {"a": {}}}',
        json.dumps(
            {
                "promptfuzz": "judge-agreement",
                "format": 1,
                "judges": {
                    "a": {
                        "items": 1,
                        "raters": 1,
                        "alpha": 1,
                        "low": 1,
                        "high": 1,
                        "questions": 1,
                        "confusion": [[1, 2], [1, 2]],
                    }
                },
            }
        ),
    ],
)
def test_what_is_no_such_file_is_refused(file: Path, content: str) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="holds no measurements of judges"):
        measured_judge(strict, None, None, "test_a")
    with pytest.raises(UsageError, match="holds no measurements of judges"):
        save_measurement(file, "strict", measurement())
    assert file.read_text(encoding="utf-8") == content
