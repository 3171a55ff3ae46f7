"""Tests that are searches, in reports: what was asked, what was found, how near the search came."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG
from pytest_promptfuzz.reporting.words import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.reporting.model import TestReport, TestSummary, TrialReport
    from pytest_promptfuzz.reporting.text import Line
    from pytest_promptfuzz.scoring.searched import Searched
    from pytest_promptfuzz.scoring.trial import Trial


class SearchedReport(TypedDict):
    """What a search asked: ``queries`` of its ``budget``, ``errors`` of them without an answer.

    ``loss`` is how near the best came to the goal, from 0 to 1, which is there. ``found`` is the trial of the
    counterexample; without one, ``nearest`` is the trial that came nearest, if any came nearer than the prompt itself.
    ``known``: the counterexample was known before and asked again, and its input was not searched.
    """

    method: str
    objective: str
    queries: int
    budget: int
    errors: int
    places: int
    found_at: int
    loss: float
    nearest: TrialReport | None
    found: TrialReport | None
    known: bool


def searched_report(found: Searched | None, trial: Callable[[Trial], TrialReport]) -> SearchedReport | None:
    """As plain data; ``None`` of a test that is no search.

    Args:
        found: What was searched.
        trial: Makes the report of a trial.
    """
    if found is None:
        return None
    return SearchedReport(
        method=found.method,
        objective=found.objective,
        queries=found.queries,
        budget=found.budget,
        errors=found.errors,
        places=found.places,
        found_at=found.found_at,
        loss=round(found.loss, 4),
        nearest=None if found.nearest is None else trial(found.nearest),
        found=None if found.found is None else trial(found.found),
        known=found.known,
    )


def search_text(report: TestSummary) -> str:
    """What came of a search, in a few words."""
    found = report.get("searched")
    assert found is not None
    asked = f"{found['queries']:,} of {_queries(found['budget'])}"
    if report["reason"] == "counterexample-found" and found["known"]:
        return f"a known counterexample still breaks it, asked again in {_queries(found['queries'])}"
    if report["reason"] == "counterexample-found":
        return f"a counterexample by query {found['found_at']:,} of {found['budget']:,} ({found['method']})"
    if report["reason"] == "none-found":
        return f"no counterexample in {_queries(found['queries'])} ({found['method']})"
    return f"not done, {asked} were made ({report['reason']})"


def searched_line(report: TestReport) -> str:
    """What was asked, in the place of what a plan's outcomes are."""
    found = report.get("searched")
    assert found is not None
    if found["known"]:
        before = (
            f"{count(found['places'], 'place')} of earlier inputs could change" if found["places"] else ""
        )
        more = f"nothing more was searched ({before})" if before else "nothing was searched"
        return f"A known counterexample was asked again, {_queries(found['queries'])} in all; {more}."
    said = f"Searched for {found['objective']} with {found['method']}: "
    said += f"{found['queries']:,} of {_queries(found['budget'])}, {count(found['places'], 'place')} of the prompt"
    said += " could change"
    if found["errors"]:
        said += f", {_queries(found['errors'])} got no answer"
    if found["found"] is None and found["loss"] > 0:
        said += f"; the nearest came to {found['loss']:.2f}, where 1 is there"
    return f"{said}."


def summed_lines(reports: Sequence[TestSummary]) -> list[Line]:
    """Below the table: what came of each search, which has no score to show."""
    return [
        [("Searched: ", "label"), HANG, (f"{_name(report)}: {search_text(report)}", "plain")]
        for report in reports
        if report.get("searched")
    ]


def _name(report: TestSummary) -> str:
    return safe(report["test"]).replace("\n", "⏎")


def _queries(amount: int) -> str:
    return f"{amount:,} query" if amount == 1 else f"{amount:,} queries"
