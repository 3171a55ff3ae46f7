"""Earlier runs, as a terminal shows them: a list, and one test's score over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG, MIN_WIDTH
from pytest_promptfuzz.reporting.words import number, verdict_style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.history.changes import TrendsReport
    from pytest_promptfuzz.reporting.text import Line

_WIDEST = 40  # columns of a bar
_VERDICTS = ("brittle", "noisy", "inconclusive", "pass")


class RunRow(TypedDict):
    """A run in a list: how many of its tests had which verdict; score and verdict are of one ``test``, if any."""

    id: str
    name: str
    started: str
    seconds: float
    commit: str
    branch: str
    dirty: bool | None
    complete: bool
    aside: str
    verdicts: dict[str, int]
    cost: float | None
    test: str | None
    score: float | None
    verdict: str


def runs_lines(rows: Sequence[RunRow]) -> list[Line]:
    """A line for each run; its ID can be compared with."""
    return [_run_line(each) for each in rows]


def trend_lines(trends: TrendsReport, test: str, *, width: int = 80) -> list[Line]:
    """A bar for each run that has the test, the newest last.

    Args:
        trends: Earlier runs.
        test: Which of its tests.
        width: Columns.
    """
    lines: list[Line] = [[(safe(test).replace("\n", "⏎"), "heading")]]
    room = max(8, min(_WIDEST, max(width, MIN_WIDTH) - 52))
    for point in trends["tests"].get(test, ()):
        run = trends["runs"][point["run"]]
        score = point["score"]
        bar = "#" * round(room * score) if score is not None else ""
        where = _shown(run["name"]) or run["commit"][:8] or run["id"][:8]
        lines.append(
            [
                (f"{_when(run['started'])}  {where[:12]:12}  ", "plain"),
                HANG,
                (f"{number(score) or '-':>5}  ", "plain"),
                (f"{bar:{room}}", verdict_style(point["verdict"])),
                (f"  {point['verdict']}", verdict_style(point["verdict"])),
            ]
        )
    return lines


def _run_line(row: RunRow) -> Line:
    verdicts = ", ".join(f"{row['verdicts'][each]} {each}" for each in _order(row["verdicts"])) or "no tests"
    about = [
        *([_shown(row["branch"])] if row["branch"] else []),
        *([row["commit"][:12]] if row["commit"] else []),
        *(["changed since"] if row["dirty"] else []),
        *([] if row["complete"] else ["ended before its last test"]),
        *([_shown(row["aside"])] if row["aside"] else []),
        *([f"${row['cost']:.4f}"] if row["cost"] is not None else []),
    ]
    name: Line = [(f"{_shown(row['name'])}  ", "label")] if row["name"] else []
    what = f"{number(row['score']) or '-'} {row['verdict']}" if row["test"] is not None else verdicts
    style = verdict_style(row["verdict"]) if row["test"] is not None else "plain"
    return [
        (f"{_when(row['started'])}  {row['id'][:12]:12}  ", "plain"),
        HANG,
        *name,
        (what, style),
        (f"  {', '.join(about)}" if about else "", "dim"),
    ]


def _order(verdicts: Mapping[str, int]) -> Iterable[str]:
    return sorted(verdicts, key=lambda each: (_VERDICTS.index(each) if each in _VERDICTS else -1, each))


def _when(started: str) -> str:
    return f"{_shown(started).replace('T', ' ').removesuffix('Z')[:16]:16}"


def _shown(text: str) -> str:
    return safe(text).replace("\n", "⏎")
