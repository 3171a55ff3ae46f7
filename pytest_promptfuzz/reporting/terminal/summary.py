"""The table of robust tests at the end of a run, its columns and notes; one prompt on several models."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.reporting.model import fails, scored, untried
from pytest_promptfuzz.reporting.phrases import (
    accepted_text,
    adjusted_text,
    gold_text,
    interval_text,
    minor_cost,
    number,
    operator_names,
    real_judges,
    score_text,
    search_text,
    simulated,
    simulation,
    stored_answers,
    unfollowed,
    verdicts,
    worst_first,
)
from pytest_promptfuzz.reporting.terminal.rows import (
    drift_lines,
    summed_lines,
    verdict_style,
)
from pytest_promptfuzz.reporting.terminal.styled_text import (
    HANG,
    MIN_WIDTH,
    Line,
    Style,
    columns,
    named,
    pad,
    shorten_middle,
    shorten_start,
)
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.evaluations import ROBUST_BUT_WRONG
from pytest_promptfuzz.wording.sentences import counted, lowered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_promptfuzz.reporting.document import Document
    from pytest_promptfuzz.reporting.model import SpentReport, TestReport, TestSummary, TrialReport


MOST_NAMED = 5  # tests named in a note below the table
MOST_DRIFTED = 8  # tests whose drift is shown there, with both answers
_WIDE = 100  # columns from which there is room for wider gaps
_LEAST_TEST = 24  # columns of a test's name below which other columns give way
# Of each column that its heading does not explain.
_LEGEND = {
    "adj": "adj: the score adjusted for the model's own noise",
    "95 %": "95 %: the true score lies here with 95 % confidence",
    "min": "min: lowest score that passes",
    "E": "E: equivalent",
    "M": "M: minor",
    "D": "D: deviations",
    "und": "und: undecided (nothing installed can tell)",
    "err": "err: errors (trials that say nothing about the prompt)",
    "calls": "calls: calls to models",
    "hits": "hits: stored answers",
    "time": "time: all runs of the test together",
    "tokens": "tokens: in and out",
    "gold": "gold: answers as expected, without/with mutations",
}
_DROPPED_FIRST = ("95 %", "tokens", "hits", "time", "calls", "min", "und", "err", "M", "E")
_DROPPED_FIRST_OF_FIGURES = ("time", "tokens", "hits", "calls", "min", "und", "err", "M", "E")


class _Column(NamedTuple):
    name: str
    cell: Callable[[TestSummary], str]
    right: bool = True


def _tokens(report: TestSummary) -> str:
    spent = report["spent"]
    known = [each for each in (spent["input_tokens"], spent["output_tokens"]) if each is not None]
    return f"{sum(known):,}" if known else "-"


def _count(outcome: str) -> Callable[[TestSummary], str]:
    """How many mutations came to that; a search has no plan, and controls alone can be in error only."""

    def cell(report: TestSummary) -> str:
        without = report.get("searched") or untried(report)
        without = without or (report["relation"] == "must-change" and outcome != "error")
        return "-" if without else str(report["counts"][outcome])

    return cell


_COLUMNS = (
    _Column("verdict", lambda report: report["verdict"], right=False),
    _Column("score", score_text),
    _Column("adj", lambda report: adjusted_text(report) or "-"),
    _Column("95 %", lambda report: interval_text(report) or "-"),
    _Column("min", lambda report: "-" if report.get("searched") else number(report["threshold"])),
    _Column("gold", lambda report: gold_text(report) or "-"),
    _Column("E", _count("equivalent")),
    _Column("M", _count("minor")),
    _Column("D", _count("deviation")),
    _Column("und", _count("undecided")),
    _Column("err", _count("error")),
    _Column("calls", lambda report: f"{report['spent']['calls']:,}"),
    _Column("hits", lambda report: f"{report['spent']['hits']:,}"),
    _Column("time", lambda report: seconds(report["spent"]["seconds"])),
    _Column("tokens", _tokens),
)


def summary_lines(
    reports: Iterable[TestSummary],
    *,
    width: int = 80,
    most: int | None = None,
    legend: str = "",
    figures: bool = False,
    recording: bool = False,
    unjudged: int = 0,
) -> list[Line]:
    """The table of robust tests, worst first, a total and notes; nothing without tests.

    Args:
        reports: One a test.
        width: Columns; where they are few, tokens, hits and time give way to the tests' names.
        most: The most rows of tests that passed, those of the lowest scores; ``None`` for all of them.
        legend: What has the columns for which there is no room, where it is to be said what the columns are.
        figures: Whether figures that need statistics to be read are always shown, and other columns give way to them.
        recording: Whether the run records.
        unjudged: How many robust tests failed or ended in an error without a verdict.
    """
    ordered = sorted(reports, key=worst_first)
    if not ordered:
        return []
    room = max(width, MIN_WIDTH)
    rows = _rows(ordered, most)
    needed = _columns_needed(rows)
    shown = _columns_that_fit(needed, rows, room, figures=figures) if rows else []
    return [
        *(_table(rows, shown, room) if rows else []),
        *(_unshown(len(ordered) - len(rows)) if most else []),
        *_total(ordered, unjudged, recording=recording),
        *summed_lines(ordered),
        *_notes(ordered, figures=figures),
        *(_legend(needed, shown, legend, recording=recording) if legend and rows else []),
    ]


def _rows(ordered: Sequence[TestSummary], most: int | None) -> Sequence[TestSummary]:
    """The tests that are shown: all that did not pass, and the worst of the others."""
    passed = next(
        (at for at, report in enumerate(ordered) if report["verdict"] == "pass"),
        len(ordered),
    )
    # One row in the place of the line that stands for it.
    return ordered if most is None or len(ordered) <= passed + most + 1 else ordered[: passed + most]


def _unshown(rest: int) -> list[Line]:
    return [[(f"… and {counted(rest, 'more test')} that passed (-v shows them)", "dim")]] if rest else []


def _legend(
    needed: Sequence[_Column], shown: Sequence[_Column], elsewhere: str, *, recording: bool
) -> list[Line]:
    """What the columns are, and which of them found no room."""
    known = (
        {**_LEGEND, "hits": "hits: answers from the recording, and equal requests not asked again"}
        if recording
        else _LEGEND
    )
    said = "; ".join(known[each.name] for each in shown if each.name in known)
    lines: list[Line] = [[(f"{said}.", "dim")]]
    if left := [each.name for each in needed if each not in shown]:
        them = "it" if len(left) == 1 else "them"
        lines.append([(f"Left out for lack of width: {', '.join(left)}. {elsewhere} has {them}.", "dim")])
    return lines


def seconds(amount: float) -> str:
    """A duration for people: ``0.04s``, ``3.2s``, ``2m05s``."""
    if amount < 1:
        return f"{amount:.2f}s"
    if amount < 60:
        return f"{amount:.1f}s"
    minutes, rest = divmod(round(amount), 60)
    return f"{minutes}m{rest:02d}s"


def _columns_needed(reports: Sequence[TestSummary]) -> list[_Column]:
    """The columns that say something of these tests."""
    planless = all(report.get("searched") for report in reports)
    needless = {
        **dict.fromkeys(("score", "min", "E", "M", "D", "err"), planless),
        "und": not any(report["counts"]["undecided"] for report in reports),
        "adj": not any(map(adjusted_text, reports)),
        "95 %": not any(map(interval_text, reports)),
        "gold": not any(map(gold_text, reports)),
    }
    return [each for each in _COLUMNS if not needless.get(each.name)]


def _columns_that_fit(
    needed: Sequence[_Column], reports: Sequence[TestSummary], width: int, *, figures: bool
) -> list[_Column]:
    """Those that leave room for the tests' names."""
    shown = list(needed)
    natural = max(map(columns, _names(reports)))
    for name in _DROPPED_FIRST_OF_FIGURES if figures else _DROPPED_FIRST:
        if _room(reports, shown, width) >= min(natural, _LEAST_TEST):
            break
        shown = [each for each in shown if each.name != name]
    return shown


def _names(reports: Sequence[TestSummary]) -> list[str]:
    return [safe(report["test"]).replace("\n", "⏎") for report in reports]


def _gap(width: int) -> str:
    return "  " if width >= _WIDE else " "


def _wide(column: _Column, reports: Sequence[TestSummary]) -> int:
    return max(len(column.name), *(len(column.cell(report)) for report in reports))


def _room(reports: Sequence[TestSummary], shown: Iterable[_Column], width: int) -> int:
    """What is left for the tests' names."""
    return width - 1 - sum(len(_gap(width)) + _wide(each, reports) for each in shown)


def _table(reports: Sequence[TestSummary], shown: Sequence[_Column], width: int) -> list[Line]:
    names = _names(reports)
    gap, widths = _gap(width), {each.name: _wide(each, reports) for each in shown}
    first = max(min(max(map(columns, names)), _room(reports, shown, width)), len("test"))
    heading = pad("test ", first + 1) + "".join(
        gap + pad(each.name, widths[each.name], right=each.right) for each in shown
    )
    lines: list[Line] = [[(heading, "heading")]]
    for report, name in zip(reports, names, strict=True):
        line: Line = [(pad(shorten_start(name, first), first + 1), "plain")]
        for each in shown:
            text = pad(each.cell(report), widths[each.name], right=each.right)
            line += [(gap, "plain"), (text, _cell_style(each.name, report))]
        lines.append(line)
    return lines


def _cell_style(column: str, report: TestSummary) -> Style:
    if column in {"verdict", "score"}:
        return verdict_style(report["verdict"])
    counts = report["counts"]
    if column == "D" and counts["deviation"]:
        return "bad"
    if (column == "err" and counts["error"]) or (column == "und" and counts["undecided"]):
        return "warn"
    return "plain"


def _total(reports: Sequence[TestSummary], unjudged: int, *, recording: bool) -> list[Line]:
    spent = [report["spent"] for report in reports]
    errors = sum(report["counts"]["error"] for report in reports if not untried(report))
    retries = sum(each["retries"] for each in spent)
    alone = all(map(simulated, reports)) and not real_judges(reports)
    whose = " to the simulated model" if alone else " made"
    saved = sum(each["saved"] for each in spent)
    controls = sum(each["controls"] for each in spent)
    parts = [
        _tally(reports, unjudged),
        counted(sum(each["calls"] for each in spent), "call") + whose,
        *stored_answers(spent, recording=recording),
        # Beside tests that were not judged, no errors of trials would read as none at all.
        *([counted(errors, "error")] if errors or not unjudged else []),
        *([counted(retries, "call") + " made again"] if retries else []),
        *([f"stopping early saved {counted(saved, 'call')}"] if saved else []),
        *([counted(controls, "control")] if controls else []),
        seconds(sum(each["seconds"] for each in spent)),
    ]
    inputs = [each["input_tokens"] for each in spent if each["input_tokens"] is not None]
    outputs = [each["output_tokens"] for each in spent if each["output_tokens"] is not None]
    if inputs or outputs:
        parts.append(f"{sum(inputs):,} tokens in, {sum(outputs):,} out")
    parts += [*_money(reports), *_speculated(spent), *_judged(spent)]
    tests = counted(len(reports) + unjudged, "robust test")
    return [[(f"{tests}: ", "heading"), HANG, ("; ".join(parts), "plain")]]


def _tally(reports: Sequence[TestSummary], unjudged: int) -> str:
    """How many tests came to which verdict, and how many to none, those that passed last."""
    tally = Counter(report["verdict"] for report in reports)
    passed = tally.pop("pass", 0)
    parts = [verdicts(amount, verdict) for verdict, amount in tally.items()]
    parts += [f"{unjudged:,} not judged"] if unjudged else []
    parts += [verdicts(passed, "pass")] if passed else []
    return ", ".join(parts)


def _speculated(spent: Sequence[SpentReport]) -> list[str]:
    made, unused = sum(each["speculated"] for each in spent), sum(each["unused"] for each in spent)
    if not made:
        return []
    return [f"speculated {counted(made, 'call')}" + (f", {unused} of them unused" if unused else "")]


def _judged(spent: Sequence[SpentReport]) -> list[str]:
    made, stored = sum(each["judge_calls"] for each in spent), sum(each["judge_hits"] for each in spent)
    if not made and not stored:
        return []
    return [counted(made + stored, "judge call") + (f", {stored} of them stored" if stored else "")]


def _money(reports: Sequence[TestSummary]) -> list[str]:
    costs = [report["cost"] for report in reports if report["cost"] is not None]
    unknown = sum(report["spent"]["unpriced"] for report in reports)
    if not costs:
        return ["cost not known"] if unknown else []
    but = f" and {counted(unknown, 'call')} of unknown price" if unknown else ""
    return [f"${sum(costs):.4f}{but}"]


def _notes(reports: Sequence[TestSummary], *, figures: bool) -> list[Line]:
    lines = _simulated_notes(reports, named=figures)
    stopped = [report["test"] for report in reports if report["reason"] == "budget-spent"]
    if stopped:
        lines.append(_named("The budget was spent before these could be judged:", stopped, "warn"))
    lines += _lenient_notes(reports)
    only = [report["test"] for report in reports if report["oracle_only"]]
    if only:
        lines.append(_named("Judged by its assertions only:", only, "dim"))
    passed = [report for report in reports if report["verdict"] == "pass"]
    lines += _drift_notes(passed)
    said: dict[str, list[str]] = {}
    for report in passed:  # the others' notes stand with their failures
        for note in report["notes"]:
            said.setdefault(note, []).append(report["test"])
    for note, tests in said.items():
        if note.startswith(ROBUST_BUT_WRONG):
            what = safe(note.removeprefix(ROBUST_BUT_WRONG))
            lines.insert(0, [*_named("Robust but wrong:", tests, "bad"), (what, "plain")])
        else:
            lines.append([*_named("note", tests, "label"), (f": {safe(note)}", "plain")])
    return lines


def _drift_notes(passed: Iterable[TestSummary]) -> list[Line]:
    """How the first tests drifted that passed, and how many more did; drift that fails stands with its test."""
    lines: list[Line] = []
    drifted = [
        each
        for each in passed
        if any(one["policy"] != "ignore" for one in each["drift"]) and not fails(each["drift"])
    ]
    for report in drifted[:MOST_DRIFTED]:
        lines += drift_lines(report["drift"], test=report["test"])
    if (rest := len(drifted) - MOST_DRIFTED) > 0:
        lines.append([(f"... and {counted(rest, 'more test')} drifted; reports show all.", "warn")])
    return lines


def _simulated_notes(reports: Sequence[TestSummary], *, named: bool) -> list[Line]:
    """Whose answers are simulated, and what was asked of the network that nobody followed.

    Args:
        reports: Of the run.
        named: Whether the tests are named where some of them asked a real model.
    """
    lines: list[Line] = []
    made_up = [report for report in reports if simulated(report)]
    if len(made_up) == len(reports):
        lines.append([(simulation(reports), "warn")])
    elif made_up:
        what = f"{len(made_up):,} of {len(reports):,} tests used the simulated model"
        told = (
            [*_named(f"{what}:", [each["test"] for each in made_up], "warn")] if named else [(what, "warn")]
        )
        lines.append([*told, (f". {unfollowed(made_up)}".rstrip(), "warn")])
    if len(made_up) < len(reports):
        real = [each for each in reports if not simulated(each)]
        if left := unfollowed(real, simulated=False):
            lines.append([(left, "dim")])
    return lines


def _lenient_notes(reports: Sequence[TestSummary]) -> list[Line]:
    """Which tests passed though answers deviated."""
    lines: list[Line] = []
    lenient = [r for r in reports if r["verdict"] == "pass" and r["counts"]["deviation"]]
    for report in lenient[:MOST_NAMED]:
        deviating = [operator_names(t) for t in scored(report) if t["outcome"] == "deviation"]
        what = f"Passed with {counted(report['counts']['deviation'], 'deviation')}"
        what += f" ({', '.join(dict.fromkeys(deviating))}):" if deviating else ":"
        lines.append(_named(what, [report["test"]], "warn"))
    if len(lenient) > MOST_NAMED:
        lines.append([(f"... and {len(lenient) - MOST_NAMED} more passed with deviations.", "warn")])
    return lines


def _named(what: str, tests: Sequence[str], style: Style) -> Line:
    names = ", ".join(safe(each).replace("\n", "⏎") for each in tests[:MOST_NAMED])
    rest = len(tests) - MOST_NAMED
    return [(what, style), (f" {names}" + (f" and {rest} more" if rest > 0 else ""), "plain")]


# What the terminal shows: header, one line, failure and summary, from report dictionaries alone.

_MOST_OPERATORS = 4
_FIGURED = (
    "errors-decide",
    "undecided-decide",
    "not-significant",
    "not-confident",
)  # inconclusive by figures


def one_line(report: TestReport, *, verdict: bool = True) -> str:
    """A verdict in one line, for a short summary.

    For example ``brittle: 3 of 8 trials deviate (synonym, sentence-shuffle), score 0.62 < 0.85``.

    Args:
        report: Of one test.
        verdict: Whether it begins with the verdict; pytest's short summary has a noisy or an inconclusive one as its
            status word.
    """
    if report["verdict"] == "pass" and fails(report["drift"]):
        said = next(each["message"] for each in report["drift"] if each["policy"] == "fail")
        return _shown(f"drift: {said}")
    accepted = report.get("accepted")
    ended = (
        f"; accepted until {accepted['until']} only" if accepted and accepted["status"] == "expired" else ""
    )
    return _shown(f"{report['verdict']}: {_why(report)}{ended}" if verdict else _why(report))


def _why(report: TestReport) -> str:
    """Why the verdict is what it is, without the verdict."""
    reason, threshold = report["reason"], number(report["threshold"])
    score = number(report["score"], against=report["threshold"])
    if report.get("searched") and report["verdict"] in {"brittle", "pass"}:
        return search_text(report)
    if reason == "pinned":  # the score is not why
        return "a known counterexample still breaks it (pinned='fail')"
    if reason == "insensitive":
        return _unchanged(report)
    if reason == "worse-than-before" and (paired := report["paired"]) is not None:
        pairs = paired["worse"] + paired["better"] + paired["same"] + paired["unknown"]
        return f"{paired['worse']} of {counted(pairs, 'trial')} came out worse than in the stored run"
    if untried(report) or (report["verdict"] == "inconclusive" and reason not in _FIGURED):
        return _first_sentence(report["explanation"])
    if reason == "not-significant":
        return f"score {score} may be noise (threshold {threshold})"
    if reason == "not-confident":
        known = f"score {score} {interval_text(report)}".rstrip()
        return f"the lower bound of the score is below the threshold {threshold} ({known})"
    parts = [", ".join(_outcomes(report)), _measured(report, score, threshold)]
    joined = (": " if report["verdict"] == "inconclusive" else ", ").join(filter(None, parts))
    return joined or _first_sentence(report["explanation"])


def _measured(report: TestReport, score: str, threshold: str) -> str:
    """The score and what it was to reach, after the outcomes; nothing where it would contradict the verdict."""
    if report["verdict"] == "noisy" and not score:
        return ""
    if report["verdict"] == "noisy":
        return f"but the model is noisy (score {score}, threshold {threshold})"
    if report["verdict"] == "inconclusive":
        low, high = report["bounds"]
        known = f"score between {number(low)} and {number(high)}, threshold {threshold}"
        return known if low or high < 1 else ""
    if not score or report["reason"] == "too-many-deviations":
        return ""
    below = report["score"] is not None and report["score"] < report["threshold"]
    return f"score {score} {'<' if below else '>='} {threshold}"


def _outcomes(report: TestReport) -> list[str]:
    """How many trials came to what, those that are equivalent apart: ``1 of 8 trials deviates (synonym)``."""
    counts = report["counts"]
    total = sum(counts.values()) - counts["not-needed"]
    found = [
        (counts["deviation"], ("deviates", "deviate"), _who(report, "deviation")),
        (counts["error"], ("is an error", "are errors"), _who(report, "error")),
        (counts["undecided"], ("is undecided", "are undecided"), _who(report, "undecided")),
    ]
    if costs := minor_cost(report):
        found.append((counts["minor"], ("is minor", "are minor"), f" ({costs} each)"))
    parts: list[str] = []
    for amount, (one, many), who in found:
        if amount:
            of = f" of {counted(total, 'trial')}" if not parts else ""
            parts.append(f"{amount}{of} {one if amount == 1 else many}{who}")
    return parts


def _unchanged(report: TestReport) -> str:
    """That controls, which must change the answer, did not."""
    controls = [trial for trial in report["trials"] if trial["relation"] == "must-change"]
    unchanged = [trial for trial in controls if trial["outcome"] == "deviation"]
    if not unchanged:  # the test names none, and the plugin's own are no trials of its
        return "no control changed the answer"
    names = ", ".join(dict.fromkeys(map(operator_names, unchanged)))
    return f"{len(unchanged)} of {counted(len(controls), 'control')} did not change the answer ({names})"


def _first_sentence(text: str) -> str:
    """The first sentence of a text, as the rest of a line."""
    return lowered(text.partition(". ")[0].removesuffix("."))


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


# The report of a run that is over, as the terminal showed it.


def document_lines(document: Document, *, width: int = 80) -> list[Line]:
    """What the run was, each test that did not pass, and the table.

    Args:
        document: The run.
        width: Columns it will be rendered to.
    """
    from pytest_promptfuzz.reporting.terminal.answer_changes import answer_lines
    from pytest_promptfuzz.reporting.terminal.changes import change_lines, condition_lines, operators_of
    from pytest_promptfuzz.reporting.terminal.failure import failure_lines  # a run that passes needs neither

    lines: list[Line] = [_run(document)]
    if document["changes"] is not None:
        lines += answer_lines(document["changes"], width=width)
    for test in sorted(document["tests"], key=worst_first):
        if test["verdict"] != "pass":
            lines += [[], [(test["test"], "heading")], *failure_lines(test, width=width)]
    for one in document["unjudged"]:
        lines += [
            [],
            named(one["test"], f"not judged ({one['outcome']}): {one['message']}", style="bad"),
        ]
    unjudged = len(document["unjudged"])
    lines += [
        [],
        *summary_lines(document["tests"], width=width, legend="A wider terminal", unjudged=unjudged),
    ]
    for test in document["tests"]:
        if test["verdict"] == "pass" and (said := accepted_text(test)):
            lines.append(named(test["test"], said, style="warn"))
    if not document["tests"] and not document["unjudged"]:
        lines.append([("No robust test ran.", "plain")])
    if (changes := document["changes"]) is not None:
        lines += change_lines(changes, operators_of(document["tests"]))
        lines += [[(each, "bad")] for each in condition_lines(changes["conditions"], "--promptfuzz-fail-on")]
    lines += [[("note: ", "label"), HANG, (warning, "plain")] for warning in document["warnings"]]
    return lines


def _run(document: Document) -> Line:
    run = document["run"]
    parts = [
        f"run {run['id']}",
        f"{run['started'][:19]}Z",
        *([seconds(run["seconds"])] if run["seconds"] else []),
        *([f"mode {run['mode']}"] if run["mode"] else []),
        *([f"commit {run['commit'][:12]}"] if run["commit"] else []),
        *(["it ended before its last test"] if not run["complete"] else []),
    ]
    return [("; ".join(parts), "plain" if run["complete"] else "warn")]


# One prompt on several models: the same mutations, a column a model.


_LEAST_CELL = 10  # "equivalent"
_LEAST_NAME = 20
_STYLES: dict[str, Style] = {
    "equivalent": "good",
    "minor": "plain",
    "deviation": "bad",
    "undecided": "warn",
    "error": "warn",
    "changed": "good",
    "unchanged": "bad",
}


def side_by_side_lines(reports: Sequence[TestReport], *, width: int = 80) -> list[Line]:
    """What each mutation did to each model; as many tables under each other as the width asks for.

    Args:
        reports: Of one prompt, a report a target. A mutation that a report lacks is shown as ``-``.
        width: Columns.
    """
    trials: dict[tuple[str, int], TrialReport] = {}
    for report in reports:
        for trial in report["trials"]:
            trials.setdefault((trial["id"], trial["case"]), trial)
    names = [
        f"{operator_names(trial)} {trial['id'][:6]}{' (control)' if trial['relation'] == 'must-change' else ''}"
        for trial in trials.values()
    ]
    natural = max((columns(name) for name in [*names, "verdict"]), default=0)
    room = max(width, MIN_WIDTH)
    cells = [
        max(_LEAST_CELL, min(columns(safe(report["target"])), 28), len(report["verdict"]))
        for report in reports
    ]
    first = min(natural, max(_LEAST_NAME, room // 3, room - sum(2 + cell for cell in cells)))
    lines: list[Line] = []
    start = 0
    while start < len(reports):
        end, used = start, first
        while end < len(reports) and (end == start or used + 2 + cells[end] <= room):
            used += 2 + cells[end]
            end += 1
        if lines:
            lines.append([])
        lines += _models_table(reports[start:end], cells[start:end], first, trials, names)
        start = end
    return lines


def _outcome(trial: TrialReport) -> str:
    """A trial's outcome in words; of a control whether the answer changed, as it must."""
    if trial["relation"] != "must-change":
        return trial["outcome"]
    return {"equivalent": "changed", "deviation": "unchanged"}.get(trial["outcome"], trial["outcome"])


def _models_table(
    reports: Sequence[TestReport],
    cells: Sequence[int],
    first: int,
    trials: dict[tuple[str, int], TrialReport],
    names: Sequence[str],
) -> list[Line]:
    def row(name: str, texts: Sequence[str], styles: Sequence[Style]) -> Line:
        line: Line = [(pad(shorten_middle(name, first), first), "plain")]
        for text, style, wide in zip(texts, styles, cells, strict=True):
            line += [("  ", "plain"), (pad(shorten_middle(text, wide), wide), style)]
        return line

    verdicts = [verdict_style(report["verdict"]) for report in reports]
    scores = [score_text(report) for report in reports]
    lines = [
        row("mutation", [safe(report["target"]) for report in reports], ["heading"] * len(reports)),
        row("verdict", [report["verdict"] for report in reports], verdicts),
        row("score", scores, verdicts),
    ]
    outcomes = [{(t["id"], t["case"]): _outcome(t) for t in report["trials"]} for report in reports]
    for key, name in zip(trials, names, strict=True):
        texts = [found.get(key, "-") for found in outcomes]
        lines.append(row(name, texts, [_STYLES.get(text, "plain") for text in texts]))
    return lines
