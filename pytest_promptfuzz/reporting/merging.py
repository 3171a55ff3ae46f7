"""Reports of parts of a suite, or of several models, as one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeVar

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.history.changes import ChangesReport, TrendsReport
from pytest_promptfuzz.reporting.document import Document, RunReport, document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.history.changes import PastRunReport, PointReport
    from pytest_promptfuzz.reporting.document import DocumentTest, UnjudgedReport

_T = TypeVar("_T")
_MOST_NAMED = 3


def merged(documents: Sequence[Document]) -> Document:
    """One document of several.

    A test that was run in several of them with the same target counts as it was in the run that began last; with
    another target it stands beside. Nothing is judged anew: what was compared with a base was compared in its part.

    Args:
        documents: At least one, in any order.

    Raises:
        UsageError: There is none.
    """
    if not documents:
        raise UsageError("there is no report to merge.")
    ordered = sorted(documents, key=lambda each: (each["run"]["started"], each["run"]["id"]))
    tests, unjudged, twice = _tests(ordered)
    warnings = [each for one in ordered for each in one["warnings"]]
    if twice:
        more = len(twice) - _MOST_NAMED
        named = ", ".join(twice[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        warnings.append(f"in several of the merged reports, of which the last run counts: {named}")
    commits = sorted({each["run"]["commit"] for each in ordered} - {""})
    if len(commits) > 1:
        shown = ", ".join(each[:12] for each in commits)
        warnings.append(f"the merged reports are of several commits: {shown}")
    present = {each["test"] for each in tests} | {each["test"] for each in unjudged}
    return document(
        _run([each["run"] for each in ordered]),
        tests,
        unjudged=unjudged,
        changes=_changes(ordered, present),
        trends=_trends(ordered),
        warnings=dict.fromkeys(warnings),
    )


def _tests(ordered: Iterable[Document]) -> tuple[list[DocumentTest], list[UnjudgedReport], list[str]]:
    """What was judged, what was not, and what stood in several."""
    judged: dict[tuple[str, str], DocumentTest] = {}
    unjudged: dict[str, UnjudgedReport] = {}
    twice: dict[str, None] = {}
    for each in ordered:
        for test in each["tests"]:
            key = (test["test"], test["target"])
            if key in judged or test["test"] in unjudged:
                twice[test["test"]] = None
            unjudged.pop(test["test"], None)
            judged[key] = test
        for one in each["unjudged"]:
            name = one["test"]
            earlier = [key for key in judged if key[0] == name]
            if earlier or name in unjudged:
                twice[name] = None
            for key in earlier:
                del judged[key]
            unjudged[name] = one
    return list(judged.values()), list(unjudged.values()), list(twice)


def _run(runs: Sequence[RunReport]) -> RunReport:
    """The runs as one: it began with the first, and took as long as the longest of them."""
    if len(runs) == 1:
        return runs[0]
    found = runs[0].copy()
    found["id"] = hashlib.sha256("\n".join(each["id"] for each in runs).encode()).hexdigest()[:12]
    found["name"] = _only((each["name"] for each in runs), "")
    found["seconds"] = max(each["seconds"] for each in runs)
    found["version"] = _only((each["version"] for each in runs), "")
    found["python"] = _only((each["python"] for each in runs), "")
    found["mode"] = _only((each["mode"] for each in runs), "several")
    found["commit"] = _only((each["commit"] for each in runs), "")
    found["branch"] = _only((each["branch"] for each in runs), "")
    flags = [each["dirty"] for each in runs]
    found["dirty"] = True if True in flags else None if None in flags else False
    found["complete"] = all(each["complete"] for each in runs)
    return found


def _only(values: Iterable[_T], otherwise: _T) -> _T:
    """What all have in common."""
    distinct = list(dict.fromkeys(values))
    return distinct[0] if len(distinct) == 1 else otherwise


def _changes(ordered: Iterable[Document], present: set[str]) -> ChangesReport | None:
    """Each part's comparison; what one part lacks and another has is not gone."""
    every = [each["changes"] for each in ordered if each["changes"] is not None]
    if not every:
        return None
    tests = {
        (one["test"], one.get("target", "")): one
        for changes in every
        for one in changes["tests"]
        if one["status"] != "gone" or one["test"] not in present
    }
    names = {test for test, _ in tests}
    conditions: dict[str, list[str]] = {}
    for changes in every:
        for condition in changes["conditions"]:
            found = conditions.setdefault(condition["expression"], [])
            found += [test for test in condition["tests"] if test in names and test not in found]
    base = every[0]["base"].copy()
    if any(each["base"] != base for each in every):
        base["label"] = _only((each["base"]["label"] for each in every), "several bases")
        for key in ("run", "started", "commit", "branch"):
            base[key] = ""
    return ChangesReport(
        base=base,
        tests=list(tests.values()),
        conditions=[{"expression": each, "tests": found} for each, found in conditions.items()],
    )


def _trends(ordered: Iterable[Document]) -> TrendsReport | None:
    every = [each["trends"] for each in ordered if each["trends"] is not None]
    if not every:
        return None
    known: dict[str, PastRunReport] = {run["id"]: run for trends in every for run in trends["runs"]}
    runs = sorted(known.values(), key=lambda run: (run["started"], run["id"]))
    place = {run["id"]: at for at, run in enumerate(runs)}
    tests: dict[str, list[PointReport]] = {}
    for trends in every:
        for test, points in trends["tests"].items():
            found = {point["run"]: point for point in tests.get(test, [])}
            for point in points:
                moved = point.copy()
                moved["run"] = place[trends["runs"][point["run"]]["id"]]
                found[moved["run"]] = moved
            tests[test] = [found[at] for at in sorted(found)]
    return TrendsReport(runs=runs, tests=tests)
