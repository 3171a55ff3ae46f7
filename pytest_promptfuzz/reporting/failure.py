"""What a person reads when a test is not robust: the verdict, each deviation, what to do about the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.answers import answer_pair
from pytest_promptfuzz.reporting.counterexamples import counterexample_lines
from pytest_promptfuzz.reporting.drift import drift_lines, fails
from pytest_promptfuzz.reporting.judged import never_ran, verdict_lines
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.rows import INDENT, LABEL, diff_lines, row
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG, Line, Style
from pytest_promptfuzz.reporting.varying import varying_lines
from pytest_promptfuzz.reporting.words import (
    MENDS,
    count,
    grouped,
    operator_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.model import TestReport, TrialReport

MOST_GROUPS = 8  # kinds of deviation shown in full
MOST_TRACE_ROWS = 20
_LONGEST = 600  # characters of an explanation or a message


def failure_lines(report: TestReport, *, width: int = 80) -> list[Line]:
    """Why a test is not robust, for somebody who has never seen this tool.

    Args:
        report: Of one test.
        width: Columns it will be rendered to; a command that fits stands beside its label.

    Returns:
        Lines for :func:`~pytest_promptfuzz.reporting.text.render`.
    """
    lines = [*counterexample_lines(report, width), *verdict_lines(report)]
    lines += _searched(report, width)
    lines += [*_deviations(report, width), *_errors(report), *_undecided(report)]
    lines += varying_lines(report)
    drift = drift_lines(report["drift"])
    if drift:
        lines = [*drift, [], *lines] if fails(report["drift"]) else [*lines, [], *drift]
    if report["notes"]:
        lines.append([])
        lines += [row("note", [(note, "plain")], indent="") for note in report["notes"]]
    return lines


def _searched(report: TestReport, width: int) -> list[Line]:
    """Where a check failed on what a search found, and how to see it again; or what came nearest."""
    searched = report.get("searched")
    if searched is None:
        return []
    found, nearest = searched["found"], searched["nearest"]
    if found is not None:
        trace = _traceback(found["failure"]["traceback"]) if found["failure"] else []
        return [[], *trace, *_command(found["reproduce"], width)]
    if nearest is None:
        return []
    about: Line = [("What came nearest", "heading"), (f"  trial {nearest['id']}", "dim")]
    return [[], about, *diff_lines(nearest["diff"]), *_answers(report, nearest), *_reasons(nearest)]


def _deviations(report: TestReport, width: int) -> list[Line]:
    deviations = [trial for trial in scored(report) if trial["outcome"] == "deviation"]
    if report["verdict"] == "brittle":
        # Minor variations cost 0.3 each, so they can be why.
        deviations += [trial for trial in scored(report) if trial["outcome"] == "minor"]
    groups = grouped(deviations, _why_key)
    # A command that is the same for every trial is given once, below them.
    shared = len(groups) > 1 and len({trial["reproduce"] for trial in deviations}) == 1
    lines: list[Line] = []
    for place, group in enumerate(groups[:MOST_GROUPS], 1):
        lines += [[], *_deviation(report, place, group)]
        lines += [] if shared else _command(group[0]["reproduce"], width)
    rest = [trial for group in groups[MOST_GROUPS:] for trial in group]
    if rest:
        lines += [[], [(f"and {count(len(rest), 'other change')}: {_who(rest)}", "dim")]]
    if shared:
        lines += [[], *_command(deviations[0]["reproduce"], width)]
    return lines


def _why_key(trial: TrialReport) -> tuple[str, ...]:
    failure = trial["failure"]
    if failure:
        return ("oracle", failure["type"], failure["message"])
    return ("compared", trial["reason"], trial["explanation"])


def _who(trials: Iterable[TrialReport]) -> str:
    """Operators and IDs, each mutation once: several samples of it have its ID."""
    named = []
    for group in grouped(trials, lambda trial: trial["id"]):
        times = f", {len(group)} times" if len(group) > 1 else ""
        named.append(f"{operator_names(group[0])} ({group[0]['id']}{times})")
    return ", ".join(named)


def _deviation(report: TestReport, place: int, group: Sequence[TrialReport]) -> list[Line]:
    trial = group[0]
    title = f"{place}. {operator_names(trial)}"
    about = f"  {trial['dimension']} change, severity {trial['severity']:.2f}, trial {trial['id']}"
    if report["inputs"]:
        about += f", input {safe(report['inputs'][trial['case']])}"
    elif any(each["case"] for each in report["trials"]):
        about += f", example {trial['case'] + 1}"
    if trial["outcome"] == "minor":
        about += ", a minor variation"
    lines: list[Line] = [[(title, "heading"), (about, "dim")]]
    lines += diff_lines(trial["diff"])
    lines += _answers(report, trial)
    lines += _reasons(trial)
    if trial["again"]:
        differs = sum(outcome != "equivalent" for outcome in trial["again"])
        lines.append(row("again", [(f"differed {differs} of {count(len(trial['again']), 'time')}", "plain")]))
    rest = [each for each in group if each["id"] != trial["id"]]
    same = len(group) - len(rest)
    if same > 1:
        lines.append(row("also", [(f"{same} samples of this mutation had the same result", "plain")]))
    if rest:
        label = "also" if same == 1 else ""
        others = count(len({each["id"] for each in rest}), "other mutation")
        lines.append(row(label, [(f"{others} had the same result: {_who(rest)}", "plain")]))
    return lines


def _answers(report: TestReport, trial: TrialReport) -> list[Line]:
    baseline, response = trial["baseline"], trial["response"]
    if report["oracle_only"] and baseline is None and response is None:
        return []
    one, other = answer_pair(baseline, response)
    return [row("baseline", [(one, "plain")]), row("response", [(other, "plain")])]


def _reasons(trial: TrialReport) -> list[Line]:
    failure = trial["failure"]
    lines: list[Line] = []
    if trial["explanation"]:
        similarity = trial["similarity"]
        how = f" (similarity {similarity:.2f})" if similarity is not None and not failure else ""
        lines.append(row("why", [(safe(trial["explanation"], limit=_LONGEST), "bad"), (how, "dim")]))
    if failure:
        message = safe(failure["message"], limit=_LONGEST) or "(no message)"
        if failure["traceback"].strip():
            # The rest stands in the traceback.
            message = message.partition("\n")[0]
        named = message if message.startswith(failure["type"]) else f"{failure['type']}: {message}"
        lines.append(row("why" if not lines else "check", [(named, "bad")]))
        lines += _traceback(failure["traceback"])
    return lines


def _traceback(text: str) -> list[Line]:
    rows = safe(text.strip("\n"), limit=6000).split("\n") if text.strip() else []
    skipped = len(rows) - MOST_TRACE_ROWS
    lines: list[Line] = []
    if skipped > 0:
        lines.append([(f"{INDENT}  … {count(skipped, 'row')} left out", "dim")])
        rows = rows[skipped:]
    for each in rows:
        body = each.lstrip(" ")
        margin = f"{INDENT}  {' ' * (len(each) - len(body))}"
        lines.append([(margin, "dim"), HANG, (body, "dim")])
    return lines


def _command(command: str, width: int) -> list[Line]:
    if not command:
        return []
    command = safe(command).replace("\n", "⏎")
    beside = len(INDENT) + LABEL + 1 + len(command) <= width
    if beside:
        return [row("reproduce", [(command, "command")])]
    return [row("reproduce", []), [(f"{INDENT}  ", "plain"), (command, "command")]]


def _errors(report: TestReport) -> list[Line]:
    left_out = never_ran(report)
    failed = [trial for trial in report["trials"] if trial["error"] and trial not in left_out]
    if not failed:
        return []
    lines: list[Line] = [
        [],
        [(f"{count(len(failed), 'error')}: these trials say nothing about the prompt", "heading")],
    ]
    for group in grouped(failed, _error_key):
        error = group[0]["error"]
        if error is None:
            continue
        lines.append(
            [
                (INDENT, "plain"),
                (error["kind"], "warn"),
                (f"  {len(group)} x  ", "plain"),
                (_who(group), "dim"),
            ]
        )
        if error["message"] not in report["explanation"]:  # which stands above
            lines.append(_block(safe(error["message"], limit=600), "plain"))
        mend = MENDS.get(error["kind"], "")
        if mend:
            lines.append(_block(mend, "good"))
    return lines


def _error_key(trial: TrialReport) -> tuple[str, ...]:
    error = trial["error"]
    return (error["kind"], error["message"]) if error else ()


def _undecided(report: TestReport) -> list[Line]:
    trials = [trial for trial in scored(report) if trial["outcome"] == "undecided"]
    if not trials:
        return []
    lines: list[Line] = [[], [(f"{len(trials)} undecided: no installed comparison can tell", "heading")]]
    for group in grouped(trials, lambda trial: (trial["reason"], trial["explanation"])):
        lines.append([(INDENT, "plain"), (_who(group), "warn")])
        if group[0]["explanation"]:
            lines.append(_block(group[0]["explanation"], "plain"))
        one, other = answer_pair(group[0]["baseline"], group[0]["response"], limit=200)
        lines += [row("baseline", [(one, "plain")]), row("response", [(other, "plain")])]
    return lines


def _block(text: str, style: Style) -> Line:
    return [(f"{INDENT}  ", "plain"), HANG, (text, style)]
