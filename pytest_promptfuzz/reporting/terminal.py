"""What the terminal shows: header, one line, failure and summary, from report dictionaries alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.drift import fails
from pytest_promptfuzz.reporting.failure import failure_lines
from pytest_promptfuzz.reporting.header import header_lines
from pytest_promptfuzz.reporting.judged import never_ran
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.rows import diff_lines
from pytest_promptfuzz.reporting.safe import fit_encoding, safe
from pytest_promptfuzz.reporting.searched import search_text
from pytest_promptfuzz.reporting.summary import summary_lines
from pytest_promptfuzz.reporting.text import render
from pytest_promptfuzz.reporting.varying import detail_lines
from pytest_promptfuzz.reporting.words import interval_text, minor_cost, number, operator_names

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.model import TestReport

__all__ = [
    "detail_lines",
    "diff_lines",
    "failure_lines",
    "fit_encoding",
    "header_lines",
    "one_line",
    "render",
    "summary_lines",
]

_MOST_OPERATORS = 4


def one_line(report: TestReport, *, verdict: bool = True) -> str:
    """A verdict in one line, for a short summary.

    For example ``brittle: 0.62 < 0.85, 3 of 8 deviate (synonym, sentence-shuffle)``.

    Args:
        report: Of one test.
        verdict: Whether it begins with the verdict; pytest's short summary has a noisy or an inconclusive one as its
            status word.
    """
    if report["verdict"] == "pass" and fails(report["drift"]):
        said = next(each["message"] for each in report["drift"] if each["policy"] == "fail")
        return _shown(f"drift: {said}")
    if report.get("searched") and report["verdict"] in {"brittle", "pass"}:
        return _shown(f"{report['verdict']}: {search_text(report)}")
    counts, threshold = report["counts"], report["threshold"]
    unneeded = counts["not-needed"]
    total = sum(counts.values()) - unneeded
    score = number(report["score"], against=threshold)
    gate = number(threshold)
    if report["verdict"] == "inconclusive":
        head = f"inconclusive ({report['reason']})" if verdict else report["reason"]
        low, high = report["bounds"]
        known = f"score {score} {interval_text(report)}".rstrip()
        if low != high:
            known = f"score between {number(low)} and {number(high)}"
        # Of nothing decided, why says more than a score from 0 to 1.
        parts = [f"{known}, threshold {gate}"] if total and (low or high < 1) else []
    else:
        head = report["verdict"] if verdict or report["verdict"] != "noisy" else ""
        sign = "<" if report["score"] is not None and report["score"] < threshold else ">="
        # A score that reaches the threshold would contradict the verdict.
        parts = [f"{score} {sign} {gate}"] if score and report["reason"] != "too-many-deviations" else []
    if report["reason"] == "pinned":  # the score is not why
        return _shown(f"{head}: a known counterexample still breaks it (pinned='fail')")
    if never_ran(report) == report["trials"] != []:
        return _shown(f"{head}: {report['explanation']}")
    for outcome, verb in (("deviation", "deviate"), ("error", "errors"), ("undecided", "undecided")):
        if counts[outcome]:
            parts.append(f"{counts[outcome]} of {total} {verb}{_who(report, outcome)}")
    if costs := minor_cost(report):
        parts.append(f"{counts['minor']} of {total} minor ({costs} each)")
    if unneeded and total:
        parts.append(f"{unneeded} not needed")
    said = ", ".join(parts) or report["explanation"]
    return _shown(f"{head}: {said}" if head else said)


def _shown(text: str) -> str:
    return safe(text).replace("\n", "⏎")


def _who(report: TestReport, outcome: str) -> str:
    trials = [trial for trial in scored(report) if trial["outcome"] == outcome]
    names = [trial["error"]["kind"] if trial["error"] else operator_names(trial) for trial in trials]
    distinct = list(dict.fromkeys(names))
    if not distinct:
        return ""
    more = f", +{len(distinct) - _MOST_OPERATORS}" if len(distinct) > _MOST_OPERATORS else ""
    return f" ({', '.join(distinct[:_MOST_OPERATORS])}{more})"
