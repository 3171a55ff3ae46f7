"""One prompt on several models: the same mutations, a column a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import MIN_WIDTH, Line, Style, columns, pad, shorten_middle
from pytest_promptfuzz.reporting.words import operator_names, score_text, verdict_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.reporting.model import TestReport, TrialReport

_LEAST_CELL = 10  # "equivalent"
_LEAST_NAME = 20
_STYLES: dict[str, Style] = {
    "equivalent": "good",
    "minor": "plain",
    "deviation": "bad",
    "undecided": "warn",
    "error": "warn",
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
    names = [f"{operator_names(trial)} {trial['id'][:6]}" for trial in trials.values()]
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
        lines += _table(reports[start:end], cells[start:end], first, trials, names)
        start = end
    return lines


def _table(
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
    outcomes = [{(t["id"], t["case"]): t["outcome"] for t in report["trials"]} for report in reports]
    for key, name in zip(trials, names, strict=True):
        texts = [found.get(key, "-") for found in outcomes]
        lines.append(row(name, texts, [_STYLES.get(text, "plain") for text in texts]))
    return lines
