"""What a person reads when a test is not robust: the verdict, each deviation, what to do about the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.answers import answer_pair
from pytest_promptfuzz.reporting.diff import Change, Move, Reorder, explain
from pytest_promptfuzz.reporting.judged import never_ran, verdict_lines
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG, Line, Piece, Style
from pytest_promptfuzz.reporting.varying import varying_lines
from pytest_promptfuzz.reporting.words import (
    MENDS,
    count,
    grouped,
    operator_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.diff import Shown
    from pytest_promptfuzz.reporting.model import TestReport, TrialReport

MOST_CHANGES = 3  # changed places of one prompt shown in full
MOST_GROUPS = 8  # kinds of deviation shown in full
MOST_SEGMENTS = 6
MOST_TRACE_ROWS = 20
_LABEL = 10
_INDENT = "   "


def failure_lines(report: TestReport, *, width: int = 80) -> list[Line]:
    """Why a test is not robust, for somebody who has never seen this tool.

    Args:
        report: Of one test.
        width: Columns it will be rendered to; a command that fits stands beside its label.

    Returns:
        Lines for :func:`~pytest_promptfuzz.reporting.text.render`.
    """
    lines = [*verdict_lines(report), *_deviations(report, width), *_errors(report), *_undecided(report)]
    lines += varying_lines(report)
    if report["notes"]:
        lines.append([])
        lines += [_row("note", [(note, "plain")], indent="") for note in report["notes"]]
    return lines


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
        lines.append(_row("again", [(f"differed {differs} of {len(trial['again'])} times", "plain")]))
    rest = [each for each in group if each["id"] != trial["id"]]
    same = len(group) - len(rest)
    if same > 1:
        lines.append(
            _row("also", [(f"{count(same, 'answer')} of this trial in all, of the same kind", "plain")])
        )
    if rest:
        label = "also" if same == 1 else ""
        lines.append(_row(label, [(f"and {len(rest)} more of the same: {_who(rest)}", "plain")]))
    return lines


def diff_lines(diff: Iterable[Sequence[str]], *, label: str = "prompt") -> list[Line]:
    """A mutation's diff under a label: the changed places with their neighbourhood, moves as moves."""
    lines: list[Line] = []
    shown = explain(diff)
    for each in shown[:MOST_CHANGES]:
        lines += _shown(each, label if not lines else "")
    rest = len(shown) - MOST_CHANGES
    if rest > 0:
        lines.append(_row("", [(f"… and {count(rest, 'more place')} changed", "dim")]))
    return lines or [_row(label, [("(unchanged)", "dim")])]


def _shown(each: Shown, label: str) -> list[Line]:
    if isinstance(each, Change):
        styles: dict[str, Style] = {"=": "plain", "-": "removed", "+": "added"}
        return [_row(label, [(text, styles[kind]) for kind, text in each.pieces])]
    if isinstance(each, Move):
        return _move(each, label)
    return _reorder(each, label)


def _move(move: Move, label: str) -> list[Line]:
    def place(after: str) -> str:
        return f"after “{after}”" if after else "at the start"

    return [
        _row(label, [("moved: ", "label"), (_short(move.text), "moved")]),
        _row("", [(f"stood {place(move.was_after)}; stands {place(move.now_after)}", "plain")]),
    ]


def _reorder(reorder: Reorder, label: str) -> list[Line]:
    lines = [
        _row(label, [("reordered: ", "label"), ("the parts in their new order, numbered as before", "plain")])
    ]
    for place, text in reorder.segments[:MOST_SEGMENTS]:
        lines.append(_row("", [(f"{place:>2}  ", "label"), HANG, (_short(text), "moved")]))
    rest = len(reorder.segments) - MOST_SEGMENTS
    if rest > 0:
        lines.append(_row("", [(f"… and {count(rest, 'more part')}", "dim")]))
    return lines


def _short(text: str, limit: int = 100) -> str:
    flat = safe(text).replace("\n", "⏎")
    return flat if len(flat) <= limit else f"{flat[: limit // 2]} … {flat[-limit // 2 :]}"


def _answers(report: TestReport, trial: TrialReport) -> list[Line]:
    baseline, response = trial["baseline"], trial["response"]
    if report["oracle_only"] and baseline is None and response is None:
        return []
    one, other = answer_pair(baseline, response)
    return [_row("baseline", [(one, "plain")]), _row("response", [(other, "plain")])]


def _reasons(trial: TrialReport) -> list[Line]:
    failure = trial["failure"]
    lines: list[Line] = []
    if trial["explanation"]:
        similarity = trial["similarity"]
        how = f" (similarity {similarity:.2f})" if similarity is not None and not failure else ""
        lines.append(_row("why", [(trial["explanation"], "bad"), (how, "dim")]))
    if failure:
        message = safe(failure["message"], limit=600) or "(no message)"
        if failure["traceback"].strip():
            # The rest stands in the traceback.
            message = message.partition("\n")[0]
        named = message if message.startswith(failure["type"]) else f"{failure['type']}: {message}"
        lines.append(_row("why" if not lines else "check", [(named, "bad")]))
        lines += _traceback(failure["traceback"])
    return lines


def _traceback(text: str) -> list[Line]:
    rows = safe(text.strip("\n"), limit=6000).split("\n") if text.strip() else []
    skipped = len(rows) - MOST_TRACE_ROWS
    lines: list[Line] = []
    if skipped > 0:
        lines.append([(f"{_INDENT}  … {count(skipped, 'row')} left out", "dim")])
        rows = rows[skipped:]
    for row in rows:
        body = row.lstrip(" ")
        margin = f"{_INDENT}  {' ' * (len(row) - len(body))}"
        lines.append([(margin, "dim"), HANG, (body, "dim")])
    return lines


def _command(command: str, width: int) -> list[Line]:
    if not command:
        return []
    command = safe(command).replace("\n", "⏎")
    beside = len(_INDENT) + _LABEL + 1 + len(command) <= width
    if beside:
        return [_row("reproduce", [(command, "command")])]
    return [_row("reproduce", []), [(f"{_INDENT}  ", "plain"), (command, "command")]]


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
                (_INDENT, "plain"),
                (error["kind"], "warn"),
                (f"  {len(group)} x  ", "plain"),
                (_who(group), "dim"),
            ]
        )
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
        lines.append([(_INDENT, "plain"), (_who(group), "warn")])
        if group[0]["explanation"]:
            lines.append(_block(group[0]["explanation"], "plain"))
        one, other = answer_pair(group[0]["baseline"], group[0]["response"], limit=200)
        lines += [_row("baseline", [(one, "plain")]), _row("response", [(other, "plain")])]
    return lines


def _row(label: str, pieces: Sequence[Piece], *, indent: str = _INDENT) -> Line:
    return [(indent, "plain"), (label.ljust(_LABEL) + " ", "label"), HANG, *pieces]


def _block(text: str, style: Style) -> Line:
    return [(f"{_INDENT}  ", "plain"), HANG, (text, style)]
