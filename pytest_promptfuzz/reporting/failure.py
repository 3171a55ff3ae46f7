"""What a person reads when a test is not robust: the verdict, each deviation, what to do about the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.answers import answer_pair
from pytest_promptfuzz.reporting.diff import Change, Move, Reorder, explain
from pytest_promptfuzz.reporting.gold import gold_line
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG, Line, Piece, Style
from pytest_promptfuzz.reporting.varying import varying_lines
from pytest_promptfuzz.reporting.words import (
    MENDS,
    adjusted_text,
    count,
    grouped,
    interval_text,
    number,
    operator_names,
    simulated,
    simulation,
    verdict_style,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.diff import Shown
    from pytest_promptfuzz.reporting.model import NoiseReport, TestReport, TrialReport

MOST_CHANGES = 3  # changed places of one prompt shown in full
MOST_GROUPS = 8  # kinds of deviation shown in full
MOST_SEGMENTS = 6
MOST_TRACE_ROWS = 20
_LABEL = 10
_INDENT = "   "
# Kinds of error of trials that never ran: the verdict has said why, and their names would tell nothing.
_NEVER_RAN = {"baseline-error", "baseline-mixed", "not-repeatable"}
_ORDINARY = {"score-reached", "score-below-threshold"}


def failure_lines(report: TestReport, *, width: int = 80) -> list[Line]:
    """Why a test is not robust, for somebody who has never seen this tool.

    Args:
        report: Of one test.
        width: Columns it will be rendered to; a command that fits stands beside its label.

    Returns:
        Lines for :func:`~pytest_promptfuzz.reporting.text.render`.
    """
    lines = [*_verdict(report), *_deviations(report, width), *_errors(report), *_undecided(report)]
    lines += varying_lines(report)
    if report["notes"]:
        lines.append([])
        lines += [_row("note", [(note, "plain")], indent="") for note in report["notes"]]
    return lines


def _verdict(report: TestReport) -> list[Line]:
    style, verdict = verdict_style(report["verdict"]), report["verdict"].capitalize()
    score = number(report["score"], against=report["threshold"])
    gate = number(report["threshold"])
    lines: list[Line] = []
    odd = report["verdict"] == "brittle" and (report["score"] or 0) >= report["threshold"]
    if report["reason"] in _ORDINARY and score and not odd:
        how = "reaches" if report["reason"] == "score-reached" else "is below"
        known, adjusted = interval_text(report), adjusted_text(report)
        interval = f" ({adjusted} {known} adjusted for noise)" if adjusted else f" {known}" if known else ""
        lines.append([(f"{verdict}: the score {score}{interval} {how} the threshold {gate}.", style)])
    else:
        lines.append([(f"{verdict}. {report['explanation']}", style)])
        if score and report["verdict"] != "inconclusive":
            lines.append([(f"The score is {score}, the threshold {gate}.", "plain")])
    lines.append([(_counts(report), "plain")])
    if report.get("gold"):
        lines.append([(gold_line(report), "plain")])
    if report["noise"] and report["reason"] in _ORDINARY:
        lines.append([(_noise(report["noise"], report), "plain")])
    if report["oracle_only"]:
        lines.append(
            [("Oracle only: the answers were not compared, the test's own checks are the judge.", "dim")]
        )
    if simulated(report):
        lines.append([(simulation([report]), "warn")])
    return lines


def _noise(noise: NoiseReport, report: TestReport) -> str:
    floor = "" if noise["floor"] is None else f" agrees with itself {number(noise['floor'])}"
    text = f"Noise: the unmutated prompt{floor} ({count(noise['baselines'], 'answer')})"
    if noise["repeats"]:
        outcomes = [outcome for trial in scored(report) for outcome in trial["again"]]
        differ = sum(outcome != "equivalent" for outcome in outcomes)
        text += f"; what differed was asked again and differed {differ} of {len(outcomes)} times"
    if noise["p"] is not None:
        text += f" (p = {noise['p']:.2g})"
    return text + "."


_PROMISES = {
    "invariance": "should not matter",
    "format": "should change the format of the answer only",
    "language": "should change the language of the answer only",
    "renaming": "should change names in the answer only",
    "not-worse": "should not make the answer worse",
}


def _counts(report: TestReport) -> str:
    counts = report["counts"]
    total = sum(counts.values())
    if len(_never_ran(report)) == total and report["verdict"] != "pass":
        return f"No changed prompt was tried: {count(total or report['planned'], 'trial')} left out."
    if report["relation"] == "must-change":
        text = (
            f"The prompt was changed in {count(total, 'way')} that must change the answer: "
            f"{counts['equivalent']} did, {counts['deviation']} did not, {count(counts['error'], 'error')}"
        )
    else:
        text = (
            f"The prompt was changed in {count(total, 'way')} that {_PROMISES[report['relation']]}: "
            f"{counts['equivalent']} equivalent, {counts['minor']} minor, "
            f"{count(counts['deviation'], 'deviation')}, {count(counts['error'], 'error')}"
        )
    if counts["undecided"]:
        text += f", {counts['undecided']} undecided"
    if counts["not-needed"]:
        text += f", {counts['not-needed']} not needed"
    if report["planned"] > len(report["trials"]):
        text += f" ({report['planned']} were asked for)"
    return text + "."


def _never_ran(report: TestReport) -> list[TrialReport]:
    return [trial for trial in report["trials"] if trial["error"] and trial["error"]["kind"] in _NEVER_RAN]


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
    return ", ".join(f"{operator_names(trial)} ({trial['id']})" for trial in trials)


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
    if len(group) > 1:
        lines.append(_row("also", [(f"and {len(group) - 1} more of the same: {_who(group[1:])}", "plain")]))
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
    left_out = _never_ran(report)
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
