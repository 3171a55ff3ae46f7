"""Runs made by hand, as tests of history need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.history.entries import whole

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.history.entries import HistoryEntry
    from pytest_promptfuzz.history.runs import Runs

SCORES = {"E": 1.0, "M": 0.7, "D": 0.0}


def run_of(number: int = 1, **given: Any) -> dict[str, Any]:
    made = {
        "id": f"{number:04d}abcd{number:04d}",
        "name": "",
        "started": f"2026-11-22T21:{number // 60:02d}:{number % 60:02d}Z",
        "seconds": 1.5,
        "version": "1",
        "python": "3.11",
        "mode": "auto",
        "seed": 0,
        "commit": "",
        "branch": "",
        "dirty": None,
        "complete": True,
    }
    return {**made, **given}


def entry_of(test: str, letters: str | dict[str, str], **given: Any) -> HistoryEntry:
    """A test whose trials are numbered; ``letters`` has one for each, or for each input such letters."""
    inputs = {"0": letters} if isinstance(letters, str) else letters
    every = [SCORES[each] for found in inputs.values() for each in found if each in SCORES]
    score = round(sum(every) / len(every), 4) if every else None
    made = {
        "test": test,
        "verdict": "pass" if score is not None and score >= 0.85 else "brittle",
        "score": score,
        "model": "gpt-5-mini",
        "prompt": "p1",
        "baselines": dict.fromkeys(inputs, "BILLING"),
        "trials": {name: {f"t{n}": each for n, each in enumerate(found)} for name, found in inputs.items()},
        "operators": {
            f"t{n}": "synonym" for found in inputs.values() for n, each in enumerate(found) if each == "D"
        },
    }
    return whole({**made, **given})


def kept(
    runs: Runs, number: int, *tests: HistoryEntry, aside: str = "", end: bool = True, **given: Any
) -> Path:
    """Keep a run of these tests; its file."""
    run = run_of(number, **given)
    writing = runs.begin({**run, "complete": False}, aside=aside)
    for each in tests:
        writing.add(each)
    if end:
        writing.end(run)
    writing.close()
    return writing.path
