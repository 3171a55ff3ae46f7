"""The report of a run as one JSON document; reports merged; the run in figures and sentences (overview).

On disk it is packed: a trial has its edits over one of its test's ``prompts``, and no copy of them;
``reporting.schema`` goes both ways. ``promptfuzz report schema`` prints its JSON Schema.
"""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections import Counter
from datetime import datetime, timezone
from importlib import metadata
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, TypeVar

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.history.changes import ChangesReport, TrendsReport, finding_of
from pytest_promptfuzz.reporting.model import UPDATED, TestReport, scored
from pytest_promptfuzz.reporting.phrases import verdicts, worst_first
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_promptfuzz.history.bases import Commit
    from pytest_promptfuzz.history.changes import AnswerChange, ChangeReport, PastRunReport, PointReport
    from pytest_promptfuzz.reporting.model import DriftReport, TrialReport


KIND = "report"
FORMAT = 1
"""Another number is another language; keys may be added under the same."""


class RunReport(TypedDict):
    """A run: when (UTC, ISO 8601, to the millisecond) and how long, by which version, in which mode, on which commit.

    ``complete`` is false of a run that ended before its last test. ``dirty`` is ``None`` outside of git.
    """

    id: str
    name: str
    started: str
    seconds: float
    version: str
    python: str
    mode: str
    seed: int
    commit: str
    branch: str
    dirty: bool | None
    complete: bool


def run_report(
    folder: Path, began: float, commit: Commit, *, name: str, mode: str, seed: int, complete: bool
) -> RunReport:
    """What is known of a run.

    Args:
        folder: Where it is made.
        began: When, in seconds since 1970.
        commit: Of the folder.
        name: What it is saved as; mostly empty.
        mode: Where answers come from.
        seed: Of the mutations.
        complete: Whether it is over.
    """
    seed_of_id = f"{began!r} {os.getpid()} {folder}"
    started = datetime.fromtimestamp(began, timezone.utc).replace(tzinfo=None)
    return RunReport(
        id=hashlib.sha256(seed_of_id.encode()).hexdigest()[:12],
        name=name,
        started=f"{started.isoformat(timespec='milliseconds')}Z",
        seconds=round(time.time() - began, 3) if complete else 0.0,
        version=version(),
        python=platform.python_version(),
        mode=mode,
        seed=seed,
        commit=commit.commit,
        branch=commit.branch,
        dirty=commit.dirty,
        complete=complete,
    )


class DocumentTest(TestReport):
    """A robust test that was judged; ``outcome`` is pytest's: ``passed|failed|error|skipped|xfailed``."""

    outcome: str


class UnjudgedReport(TypedDict):
    """A robust test that was not judged: it failed unmutated, or could not run; ``outcome`` as pytest has it.

    The outcome ``uncollected`` is of a file, or a class, whose tests pytest could not collect: ``test`` is its name.
    ``target`` is as that of a test that was judged; ``None``, and missing in older reports, where it is not known.
    """

    test: str
    outcome: str
    message: str
    location: tuple[str, int] | None
    target: str | None


class Document(TypedDict):
    """All that is known of a run. ``tests`` are in the order in which they ended."""

    promptfuzz: str
    format: int
    run: RunReport
    tests: list[DocumentTest]
    unjudged: list[UnjudgedReport]
    changes: ChangesReport | None
    trends: TrendsReport | None
    warnings: list[str]


def version() -> str:
    """Of this package."""
    try:
        return metadata.version("pytest-promptfuzz")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def document(
    run: RunReport,
    tests: Iterable[DocumentTest],
    *,
    unjudged: Iterable[UnjudgedReport] = (),
    changes: ChangesReport | None = None,
    trends: TrendsReport | None = None,
    warnings: Iterable[str] = (),
) -> Document:
    """The document of a run."""
    return Document(
        promptfuzz=KIND,
        format=FORMAT,
        run=run,
        tests=list(tests),
        unjudged=list(unjudged),
        changes=changes,
        trends=trends,
        warnings=list(warnings),
    )


# Reports of parts of a suite, or of several models, as one.


_T = TypeVar("_T")
_MOST_NAMED = 3


def merged(documents: Sequence[Document]) -> Document:
    """One document of several.

    A test that was run in several of them with the same target counts as it was in the run that began last; with
    another target, or one that is not known, it stands beside. Nothing is judged anew: what was compared with a base
    was compared in its part.

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
    unjudged: dict[tuple[str, str | None, str], UnjudgedReport] = {}
    twice: dict[str, None] = {}
    for each in ordered:
        for test in each["tests"]:
            key = (test["test"], test["target"])
            if unjudged.pop((*key, ""), None) or key in judged:
                twice[test["test"]] = None
            judged[key] = test
        for one in each["unjudged"]:
            name, target = one["test"], target_of(one)
            # Whose failure it is nobody knows without a target: it stands beside all but itself.
            place = (name, target, f"{one['outcome']}: {one['message']}" if target is None else "")
            earlier = judged.pop((name, target), None) if target is not None else None
            if unjudged.pop(place, None) or earlier:
                twice[name] = None
            unjudged[place] = one
    return list(judged.values()), list(unjudged.values()), list(twice)


def target_of(unjudged: UnjudgedReport) -> str | None:
    """Whom a test asked that was not judged; ``None`` where it is not known. A file asks nobody."""
    return "" if unjudged["outcome"] == UNCOLLECTED else unjudged.get("target")


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
        answers=[one for changes in every for one in changes.get("answers", []) if one["test"] in names],
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


# A run in a few figures and sentences, which every host of a report is told: added up, never computed anew.


Result = Literal["failed", "error", "passed", "empty"]

_ORDER = ("brittle", "noisy", "inconclusive", "pass")
UNCOLLECTED = "uncollected"
_LOST = ("failed", "error", UNCOLLECTED)


class Overview(NamedTuple):
    """A run as a whole.

    ``result`` is ``failed`` where a test failed or a condition was met, ``error`` where one could not be judged or the
    run did not reach its end, ``empty`` without robust tests. ``verdicts`` counts tests by verdict, the worst first;
    ``failed`` are those that fail in pytest's sense, errors included. ``score_min`` is the lowest score that is
    certain; ``cost`` is in US dollars, of the calls whose price is known.
    """

    result: Result
    tests: int
    verdicts: dict[str, int]
    failed: int
    unjudged: int
    score_min: float | None
    cost: float | None
    calls: int
    hits: int
    unpriced: int
    drifted: int
    untold: int
    worse: int
    answers: int


def overview(document: Document) -> Overview:
    """The figures of a run."""
    tests, unjudged = document["tests"], document["unjudged"]
    tried = [each for each in unjudged if each["outcome"] != UNCOLLECTED]
    outcomes = [each["outcome"] for each in (*tests, *unjudged)]
    verdicts = {name: sum(each["verdict"] == name for each in tests) for name in _ORDER}
    scores = [each["score"] for each in tests if each["score"] is not None and not is_open(each)]
    costs = [each["cost"] for each in tests if each["cost"] is not None]
    return Overview(
        result=_result(document, outcomes),
        tests=len(tests) + len(tried),
        verdicts={name: amount for name, amount in verdicts.items() if amount},
        failed=sum(each in _LOST for each in outcomes),
        unjudged=len(tried),
        score_min=min(scores, default=None),
        cost=sum(costs) if costs else None,
        calls=sum(each["spent"]["calls"] for each in tests),
        hits=sum(each["spent"]["hits"] for each in tests),
        unpriced=sum(each["spent"]["unpriced"] for each in tests),
        drifted=sum(bool(drifts(each)) for each in tests),
        untold=sum(_is_untold(each) for each in tests),
        worse=len(changed(document, "worse")),
        answers=len({each["test"] for each in answers_of(document["changes"], "changed")}),
    )


def _result(document: Document, outcomes: list[str]) -> Result:
    if "failed" in outcomes or met(document):
        return "failed"
    if "error" in outcomes or UNCOLLECTED in outcomes or not document["run"]["complete"]:
        return "error"
    return "passed" if outcomes else "empty"


def uncollected(document: Document) -> list[UnjudgedReport]:
    """The files whose tests pytest could not collect."""
    return [each for each in document["unjudged"] if each["outcome"] == UNCOLLECTED]


def unjudged(document: Document) -> list[UnjudgedReport]:
    """The robust tests that were not judged, apart from what could not be collected."""
    return [each for each in document["unjudged"] if each["outcome"] != UNCOLLECTED]


def ordered(document: Document) -> list[DocumentTest]:
    """The tests, the worst first."""
    return sorted(document["tests"], key=worst_first)


def with_targets(document: Document) -> bool:
    """Whether names alone do not tell tests apart: a report that was merged of runs with several models."""
    tests = [*document["tests"], *document["unjudged"]]
    return len({each["test"] for each in tests}) < len(tests)


def is_open(test: DocumentTest) -> bool:
    """Whether trials without an outcome leave the score open."""
    low, high = test["bounds"]
    return test["verdict"] == "inconclusive" and low < high


def is_excused(test: DocumentTest) -> bool:
    """Whether a verdict against the prompt fails nothing: it is expected, skipped or let through."""
    return test["verdict"] != "pass" and not is_lost(test)


def is_accepted(test: DocumentTest) -> bool:
    """Whether a test is brittle, and accepted so until a day that is not past."""
    accepted = test.get("accepted")
    return accepted is not None and accepted["status"] == "accepted" and not is_lost(test)


def is_lost(test: DocumentTest) -> bool:
    """Whether a test failed in pytest's sense, or is an error."""
    return test["outcome"] in _LOST


def fails_otherwise(test: DocumentTest) -> bool:
    """Whether a test failed for a reason that is no part of its report: not its prompt, and not drift."""
    return (
        test["verdict"] == "pass" and is_lost(test) and all(each["policy"] != "fail" for each in drifts(test))
    )


def _is_untold(test: DocumentTest) -> bool:
    found = drifts(test)
    return bool(found) and all(each.get("undecided") for each in found)


def drifts(test: DocumentTest) -> list[DriftReport]:
    """In which ways a test is not what its snapshot says, apart from what is ignored, or accepted in this run."""
    return [each for each in test["drift"] if each["policy"] not in {"ignore", UPDATED}]


def updates(test: DocumentTest) -> list[DriftReport]:
    """In which ways a test was not what its snapshot said, before this run wrote a new one."""
    return [each for each in test["drift"] if each["policy"] == UPDATED]


def changed(document: Document, *statuses: str) -> list[ChangeReport]:
    """The tests that compare so with their base, in the comparison's order; all of them without a status."""
    changes = document["changes"]
    found = changes["tests"] if changes else []
    return [each for each in found if not statuses or each["status"] in statuses]


def is_regression(change: ChangeReport | None) -> bool:
    """Whether a run made a test worse: it is newly brittle, worse by more than noise, or new and not robust."""
    if change is None:
        return False
    before, now = change["verdict_before"], change["verdict"]
    if change["status"] == "new":
        return now != "pass"
    return change["status"] == "worse" or finding_of(change["status"], before, now) == "newly brittle"


class News(NamedTuple):
    """What a test has that its base lacks.

    ``trials`` deviate, and did not in the base, or cannot be paired with a trial of it while the score fell; ``drift``
    are kinds of drift from the snapshot; ``worse`` says that it passed, or its prompt was found robust, and is not now.
    """

    trials: frozenset[str]
    drift: frozenset[str]
    worse: bool


def news_of(test: DocumentTest, change: ChangeReport) -> News:
    """What a test has that its base lacks; a kind of drift of which a report of an older version does not tell is none.

    Args:
        test: Of the run.
        change: The same beside its base.
    """
    known = set(change.get("drift_before", [each["kind"] for each in drifts(test)]))
    if change["prompt_changed"]:
        known.discard("prompt")
    if change.get("answer") == "changed" or change["model"] != change["model_before"]:
        known.discard("model")
    trials = set(change["new_deviations"])
    if is_lower_unpaired(change):
        trials |= {each["id"] for each in deviations(test)}
    turned = test["verdict"] != "pass" and change["verdict_before"] != test["verdict"]
    lost = is_lost(test) and change.get("outcome_before", "") in {"passed", "xfailed", "xpassed"}
    return News(frozenset(trials), frozenset(each["kind"] for each in drifts(test)) - known, turned or lost)


def is_known(test: DocumentTest, change: ChangeReport) -> bool:
    """Whether its base is known to have all that is found of a test: verdict, deviations, drift."""
    if change["status"] == "new" or any(news_of(test, change)):
        return False
    if drifts(test) and "drift_before" not in change:
        return False
    if test["verdict"] == "pass" and is_lost(test) and change.get("outcome_before", "") not in _LOST:
        return False
    return bool(change["pairs"] or test["searched"]) or not deviations(test)


def is_lower_unpaired(change: ChangeReport) -> bool:
    """Whether a score fell, and no trial of the run is one of the base: the prompt is another."""
    return not change["pairs"] and change["status"] in {"worse", "lower"} and (change["difference"] or 0) < 0


def deviations(test: DocumentTest) -> list[TrialReport]:
    """The trials of a test that count, and deviate."""
    return [each for each in scored(test) if each["outcome"] == "deviation"]


def answers_of(changes: ChangesReport | None, *findings: str) -> list[AnswerChange]:
    """The answers to unmutated prompts that compare so with those of the base; none in what older versions wrote."""
    found = changes.get("answers", []) if changes else []
    return [each for each in found if each["finding"] in findings]


def unanswered(changes: ChangesReport | None) -> dict[str, list[str]]:
    """The tests whose answers are not compared, by the reason."""
    found: dict[str, list[str]] = {}
    for each in answers_of(changes, "not compared"):
        tests = found.setdefault(each["explanation"], [])
        if each["test"] not in tests:
            tests.append(each["test"])
    return found


def met(document: Document) -> list[tuple[str, list[str]]]:
    """The conditions of ``--promptfuzz-fail-on`` that are met, and the tests that meet them."""
    changes = document["changes"]
    return [
        (each["expression"], each["tests"])
        for each in (changes["conditions"] if changes else [])
        if each["tests"]
    ]


def headline(document: Document) -> str:
    """What came of a run, in one line of our own words.

    For example ``2 brittle, 1 inconclusive, 9 passed of 12 robust tests``.
    """
    whole = overview(document)
    missing = len(uncollected(document))
    lead = f"pytest could not collect {counted(missing, 'file')}; " if missing else ""
    if not whole.tests:
        return f"{lead}no robust test ran"
    parts = [verdicts(amount, verdict) for verdict, amount in whole.verdicts.items()]
    if whole.unjudged:
        parts.insert(len(parts) - ("pass" in whole.verdicts), f"{whole.unjudged:,} not judged")
    said = f"{', '.join(parts)} of {counted(whole.tests, 'robust test')}"
    if whole.tests == whole.verdicts.get("pass") and not whole.failed:
        said = f"{counted(whole.tests, 'robust test')} passed" if whole.tests > 1 else "1 robust test passed"
    accepted = sum(map(is_accepted, document["tests"]))
    if accepted:
        said += f"; {accepted:,} of these accepted as brittle"
    excused = sum(map(is_excused, document["tests"])) - accepted
    if excused:
        said += f"; {excused:,} of these expected or let through"
    said = "; ".join([said, *beside_base(whole), *beside_snapshots(document, whole)])
    hidden = sum(map(fails_otherwise, document["tests"]))
    if hidden:
        said += f"; {hidden:,} failed for another reason than the prompt"
    said = f"{lead}{said}"
    return said if document["run"]["complete"] else f"{said}; the run did not reach its end"


def beside_base(whole: Overview) -> list[str]:
    """How many tests are not as in the base, in a few words each."""
    said = [f"{whole.worse:,} worse than the base by more than noise"] if whole.worse else []
    if whole.answers:
        said.append(f"{counted(whole.answers, 'test')} answered otherwise than in the base")
    return said


def beside_snapshots(document: Document, whole: Overview) -> list[str]:
    """Likewise, how many are not what their snapshots say."""
    said = [f"{whole.drifted - whole.untold:,} drifted"] if whole.drifted > whole.untold else []
    if whole.untold:
        said.append(
            f"{counted(whole.untold, 'test')}: no available comparison can tell whether the model changed"
        )
    if written := sum(bool(updates(each)) for each in document["tests"]):
        said.append(f"{counted(written, 'snapshot')} updated")
    return said


def money(whole: Overview) -> str:
    """What a run cost: ``$0.0123``; what is not known is said."""
    if whole.cost is None:
        return "cost not known" if whole.unpriced else ""
    but = f" and {counted(whole.unpriced, 'call')} of unknown price" if whole.unpriced else ""
    return f"${whole.cost:.4f}{but}"


# What is known of tests from before, test by test: how each compares with its base, and its earlier results.
#
# In a merged report several tests may have one name, each with another target.


def changes_of(tests: Sequence[DocumentTest], found: ChangesReport | None) -> list[ChangeReport | None]:
    """The change of each test; of several of one name that of the one with its target."""
    known = {change_key(each): each for each in found["tests"]} if found else {}
    times = Counter(each["test"] for each in tests)
    by_name = {test: each for (test, _), each in known.items() if times[test] == 1}
    return [known.get((each["test"], each["target"])) or by_name.get(each["test"]) for each in tests]


def change_key(change: ChangeReport) -> tuple[str, str]:
    """The test and its target; reports of older versions do not say which."""
    return change["test"], change.get("target", "")


def points_of(tests: Sequence[DocumentTest], found: TrendsReport | None) -> list[list[PointReport]]:
    """The earlier results of each test; none of several of one name."""
    times = Counter(each["test"] for each in tests)
    known = found["tests"] if found else {}
    return [known.get(each["test"], []) if times[each["test"]] == 1 else [] for each in tests]
