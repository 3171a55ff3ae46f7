"""The table of tests, the worst first, and what a run brought that its base did not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.changes import turned
from pytest_promptfuzz.reporting.html.before import changes_of
from pytest_promptfuzz.reporting.markdown.escaping import cell, code, prose
from pytest_promptfuzz.reporting.overview import changed, drifts, is_excused, is_lost, ordered, with_targets
from pytest_promptfuzz.reporting.searched import search_text
from pytest_promptfuzz.reporting.words import count, number, operator_names, score_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.history.changes import ChangeReport
    from pytest_promptfuzz.reporting.document import Document, DocumentTest

MOST_NAMED = 5  # tests named in one sentence
MOST_NEWS = 20

SIGNS = {"brittle": "❌", "noisy": "⚠️", "inconclusive": "⚠️", "pass": "✅"}
EXCUSED = "➖"
LOST = "❌"
_MOVED = {
    "worse": "worse",
    "better": "better",
    "lower": "within noise",
    "higher": "within noise",
    "same": "same",
    "unpaired": "not comparable",
    "new": "new",
    "gone": "gone",
}


def heading_rows(document: Document) -> list[str]:
    """The head of the table."""
    columns = ["", "test", "score", "needs", "deviations"]
    sides = ["-", "-", "-:", "-:", "-:"]
    if with_targets(document):
        columns, sides = [*columns, "target"], [*sides, "-"]
    if document["changes"] is not None:
        columns, sides = [*columns, "against the base"], [*sides, "-"]
    return [_row(columns), _row(sides)]


def test_rows(document: Document) -> list[str]:
    """A row a test, the worst first; then those that stand in the base only."""
    compared = document["changes"] is not None
    several = with_targets(document)
    tests = ordered(document)
    rows = [
        _test_row(test, change, compared=compared, several=several)
        for test, change in zip(tests, changes_of(tests, document["changes"]), strict=True)
    ]
    between = ["-"] * (4 if several else 3)
    gone = [
        _row(["", cell(each["test"]), *between, f"gone, was {prose(each['verdict_before'])}"])
        for each in changed(document, "gone")
    ]
    return rows + gone


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _test_row(test: DocumentTest, change: ChangeReport | None, *, compared: bool, several: bool) -> str:
    scored = "-" if test.get("searched") else score_text(test)
    cells = [
        f"{sign(test)} {prose(test['verdict'])}{_excused(test)}",
        cell(test["test"]),
        scored,
        "-" if test.get("searched") else number(test["threshold"]),
        _deviations(test),
    ]
    if several:
        cells.append(cell(test["target"], limit=60))
    if compared:
        cells.append(_change(change))
    return _row(cells)


def sign(test: DocumentTest) -> str:
    """A sign for the verdict; another where it fails nothing, or where something else does."""
    if test["verdict"] == "pass" and is_lost(test):
        return LOST
    return EXCUSED if is_excused(test) else SIGNS.get(test["verdict"], LOST)


def _excused(test: DocumentTest) -> str:
    """Where the verdict is not what pytest made of the test."""
    usual = {"pass": "passed", "brittle": "failed"}.get(test["verdict"], "error")
    return "" if test["outcome"] == usual else f" ({prose(test['outcome'])})"


def _deviations(test: DocumentTest) -> str:
    if test.get("searched"):
        return cell(search_text(test))
    counts = test["counts"]
    tried = sum(counts.values()) - counts["not-needed"]
    said = f"{counts['deviation']} of {tried}"
    others = [f"{counts[each]} {each}" for each in ("undecided", "error") if counts[each]]
    return f"{said} ({', '.join(others)})" if others else said


def _change(found: ChangeReport | None) -> str:
    if found is None:
        return "-"
    turn = turned(found)
    said = prose(turn) if turn else _MOVED.get(found["status"])
    said = said or cell(found["status"])  # a later version may know more
    if found["difference"]:
        said = f"{found['difference']:+.3g}, {said}"
    return said


def named(tests: Iterable[str]) -> str:
    """Tests by name, the first few."""
    every = list(tests)
    rest = len(every) - MOST_NAMED
    return ", ".join(map(code, every[:MOST_NAMED])) + (f" and {rest:,} more" if rest > 0 else "")


def chance(p: float | None) -> str:
    """How probable noise alone makes it; nothing where that is not known."""
    return "" if p is None else f" (p = {p:.2g})"


def news_rows(document: Document) -> list[str]:
    """What the base did not have, the worst first: brittle since, worse, deviating anew, drifted, better."""
    rows = [*_changes(document), *_drift(document)]
    rest = len(rows) - MOST_NEWS
    return [*rows[:MOST_NEWS], f"- and {rest:,} more"] if rest > 0 else rows


def _changes(document: Document) -> list[str]:
    trials = {
        (name, trial["id"]): trial
        for test in document["tests"]
        for trial in test["trials"]
        for name in (test["test"], (test["test"], test["target"]))
    }
    several = with_targets(document)
    rows = []
    for each in changed(document):
        said = []
        if each["verdict"] != each["verdict_before"] and each["status"] not in {"new", "gone"}:
            said.append(
                f"{prose(each['verdict_before'] or 'not judged')} before, {prose(each['verdict'])} now"
            )
        if each["status"] == "worse":
            said.append(f"worse by more than noise ({_evidence(each)})")
        if each["status"] == "better":
            said.append(f"better by more than noise ({_evidence(each)})")
        if each["new_deviations"]:
            name = (each["test"], each.get("target", ""))
            found = [
                trials.get((name, trial), trials.get((each["test"], trial)))
                for trial in each["new_deviations"]
            ]
            operators = list(dict.fromkeys(operator_names(trial) for trial in found if trial))
            by = f" by {', '.join(map(code, operators[:MOST_NAMED]))}" if operators else ""
            said.append(f"{count(len(each['new_deviations']), 'new deviation')}{by}")
        if each["model"] != each["model_before"] and each["model_before"] and each["model"]:
            said.append(f"model {code(each['model_before'])} before, {code(each['model'])} now")
        if each["status"] == "new" and each["verdict"] != "pass":
            said.append(f"new, and {prose(each['verdict'])}")
        if said:
            target = f" ({code(each['target'])})" if several and each.get("target") else ""
            rows.append(f"- {code(each['test'])}{target}: {'; '.join(said)}")
    return rows


def _evidence(change: ChangeReport) -> str:
    told = [f"{change['worse']} of {count(change['pairs'], 'trial')} worse, {change['better']} better"]
    if change["adjusted_p"] is not None:
        told.append(f"p = {change['adjusted_p']:.2g}")
    return ", ".join(told)


def _drift(document: Document) -> list[str]:
    return [
        f"- {code(test['test'])}: drift, {prose(each['message'])}{chance(each['p'])}"
        for test in ordered(document)
        for each in drifts(test)
    ]
