"""Earlier runs, and the results of tests in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.history.changes import PastRunReport, PointReport, TrendsReport

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pytest_promptfuzz.history.runs import Run, Runs

MOST = 50
"""The runs that a trend goes back."""


def trends(
    runs: Runs, tests: Collection[str] | None = None, *, before: Path | None = None, most: int = MOST
) -> TrendsReport:
    """The results of tests in the runs before, the oldest first.

    Runs that were set aside, and those that had none of the tests, are left out.

    Args:
        runs: The runs of this machine.
        tests: Which; ``None`` takes all.
        before: The file of a run; only runs that began before it are told.
        most: How many runs there are at most.
    """
    wanted = None if tests is None else frozenset(tests)
    found: list[tuple[Run, dict[str, PointReport]]] = []
    for each in runs.every(results=True):
        if len(found) == most:
            break
        if each.aside or (before is not None and each.path.name >= before.name):
            continue
        try:
            results = each.all_results()
        except StoreError as error:
            runs.damaged.append(str(error))
            continue
        points = {
            test: PointReport(run=0, score=score, verdict=verdict, cost=cost)
            for test, (score, verdict, cost) in results.items()
            if wanted is None or test in wanted
        }
        if points:
            found.append((each, points))
    found.reverse()
    report = TrendsReport(runs=[_past(each) for each, _ in found], tests={})
    for number, (_, points) in enumerate(found):
        for test, point in points.items():
            report["tests"].setdefault(test, []).append({**point, "run": number})
    return report


def _past(each: Run) -> PastRunReport:
    run = each.run
    return PastRunReport(
        id=each.id,
        name=each.name,
        started=str(run.get("started", "")),
        commit=str(run.get("commit", "")),
        branch=str(run.get("branch", "")),
        dirty=run.get("dirty"),
    )
