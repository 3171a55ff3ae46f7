"""Outcomes of the last accepted run of each test: ``__promptfuzz__/<module>.outcomes.jsonl`` beside the test module.

The first line names format and version; every other is one test, in the order of their names, so that a change shows as
a line and two branches that change different tests rarely conflict::

    {"promptfuzz": "outcomes", "format": 1}
    {"test": "test_triage", "score": 1.0, "model": "gpt-5-mini", "trials": {"0": {"07ebbef8af45": "E"}}}

``trials`` has, for each input by its name (by its number where it has none), the outcome of each trial by its ID, a
letter for each sample: equivalent, minor, deviation, or ``?`` without an outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.history.rows import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pytest_promptfuzz.scoring.score import TrialOutcome

    Key = tuple[str, str, int]
    Outcomes = Mapping[Key, TrialOutcome]

KIND = Kind("outcomes", "outcomes of a test", 1)
_LETTERS = {"equivalent": "E", "minor": "M", "deviation": "D"}
_OUTCOMES: Mapping[str, TrialOutcome] = {
    "E": "equivalent",
    "M": "minor",
    "D": "deviation",
    "?": "undecided",
}


def file_of(module: Path) -> Path:
    """Where the outcomes of a test module's tests are kept, whether or not the file exists."""
    return KIND.file_of(module)


def entry(outcomes: Iterable[tuple[Key, str]], *, score: float | None, model: str) -> dict[str, Any]:
    """What is kept of a run.

    Args:
        outcomes: By input, trial and sample, in order.
        score: For whoever reads the file.
        model: As answered, likewise.
    """
    trials: dict[str, dict[str, str]] = {}
    for (case, trial, _), outcome in outcomes:
        found = trials.setdefault(case, {})
        found[trial] = found.get(trial, "") + _LETTERS.get(outcome, "?")
    return {"score": None if score is None else round(score, 4), "model": model, "trials": trials}


def outcomes_of(found: Mapping[str, Any]) -> Outcomes:
    """The outcomes in what is kept of a run, by input, trial and sample."""
    return {
        (case, trial, sample): _OUTCOMES[letter]
        for case, trials in found["trials"].items()
        for trial, letters in trials.items()
        for sample, letter in enumerate(letters)
    }


def read(path: Path) -> dict[str, dict[str, Any]]:
    """What is kept, by test; nothing where there is no file.

    Raises:
        StoreError: It cannot be read, holds conflict markers or other damage, or is of another version.
    """
    found: dict[str, dict[str, Any]] = {}
    for number, each in KIND.read(path):
        if not _is_entry(each):
            raise KIND.damaged(path, number)
        if each["test"] in found:
            raise StoreError(
                f"{path}, line {number}: {each['test']} stands there twice. Keep one of the lines."
            )
        found[each.pop("test")] = each
    return found


def merge(path: Path, tests: Mapping[str, dict[str, Any]]) -> None:
    """Put what is to be kept of some tests into a file, in the place of what it held of them; the others' stays.

    Raises:
        StoreError: As :func:`read`, or it cannot be written. It is as it was.
    """
    merged = {**read(path), **tests}
    KIND.write(path, [{"test": test, **merged[test]} for test in sorted(merged)])


def _is_entry(each: Any) -> bool:
    return (
        isinstance(each, dict)
        and isinstance(each.get("test"), str)
        and isinstance(each.get("trials"), dict)
        and all(
            isinstance(trials, dict)
            and all(
                isinstance(letters, str) and set(letters) <= set(_OUTCOMES) for letters in trials.values()
            )
            for trials in each["trials"].values()
        )
    )
