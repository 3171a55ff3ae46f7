"""What changed since an earlier run, as lines of a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.history.run_comparison import changes
from pytest_promptfuzz.reporting import markdown
from pytest_promptfuzz.reporting.html import test_page
from pytest_promptfuzz.reporting.terminal.changes import base_text, change_lines, condition_lines, one_line
from pytest_promptfuzz.reporting.terminal.styled_text import render
from tests.history.past import entry_of

if TYPE_CHECKING:
    from pytest_promptfuzz.history.changes import BaseReport, ChangesReport
    from pytest_promptfuzz.history.entries import HistoryEntry

BASE: BaseReport = {
    "label": "main",
    "kind": "name",
    "run": "x",
    "started": "2026-11-22T21:05:00Z",
    "commit": "c0ffee" * 6,
    "branch": "main",
}


def of(before: list[HistoryEntry], now: list[HistoryEntry], **given: Any) -> ChangesReport:
    return changes(BASE, {e["test"]: e for e in before}, {e["test"]: e for e in now}, **given)


def shown(found: ChangesReport, width: int = 400, *, operators: Any = None, **given: Any) -> list[str]:
    return render(change_lines(found, operators or {}, **given), width=width, color=False).splitlines()


def test_nothing_is_said_where_nothing_changed() -> None:
    found = of([entry_of("t", "EEEE")], [entry_of("t", "EEEE"), entry_of("new", "DDDD")])
    assert (change_lines(found, {}), one_line(found)) == ([], "")


def test_the_worst_stand_first_and_the_rest_is_counted() -> None:
    before = [entry_of(f"t{n}", "E" * 8) for n in range(12)]
    now = [entry_of(f"t{n}", "D" * 8 if n == 7 else "EEEEEEED") for n in range(12)]
    lines = shown(of(before, now), operators={"t7": {f"t{n}": f"operator-{n}" for n in range(8)}}, most=3)
    assert lines == [
        "Since the run main (2026-11-22 21:05 UTC, on main, at c0ffeec0ffee): 1 newly brittle, 11 cannot tell.",
        (
            "newly brittle t7: pass before, brittle now; score 0.00, was 1.00; of 8 trials in both runs 8 came out worse and 0 better; "
            "more than noise; new deviations by operator-0, operator-1, operator-2, operator-3, operator-4 and 3 more"
        ),
        *(
            f"cannot tell t{n}: score 0.88, was 1.00; of 8 trials in both runs 1 came out worse and 0 better; within noise; "
            "1 of 8 trials failed anew, and 4 are needed for a proof: more mutations or inputs can prove a smaller drop; "
            "new deviation by t7"
            for n in (0, 1)
        ),
        "... and 9 more tests; promptfuzz compare shows all.",
    ]
    assert one_line(of(before, now)).endswith(": 1 newly brittle, 11 cannot tell: t7")


def test_p_stands_beside_a_change_only_where_figures_are_wanted() -> None:
    found = of([entry_of("t", "EEEEEEEE")], [entry_of("t", "EEEDDDDD")])
    plain, full = "\n".join(shown(found)), "\n".join(shown(found, figures=True))
    assert "more than noise" in plain
    assert "p =" not in plain
    assert "more than noise; p = 0.05 among all tests" in full


def test_what_cannot_be_compared_is_counted_and_named_where_the_verdict_is_another() -> None:
    other = {"baselines": {"0": "TECHNICAL"}}
    found = of([entry_of("t", "EEEE")], [entry_of("t", "EEEE", **other)])
    assert shown(found) == [
        f"Since {base_text(BASE)}: 1 cannot tell.",
        "cannot tell t: the baseline answer changed, so trials cannot be compared one by one",
    ]
    found = of([entry_of("t", "EEEE")], [entry_of("t", "DDDD", **other)])
    assert shown(found)[1].startswith(
        "newly brittle t: pass before, brittle now; score 0.00, was 1.00; the baseline answer changed, so trials cannot"
    )


TURNS = (  # before and now: verdict, trials; what the test is called
    (("pass", "E" * 8), ("brittle", "EEEEEEDD"), "newly brittle"),
    (("pass", "E" * 8), ("brittle", "E" * 8), "newly brittle"),
    (("pass", "EEEEEEDD"), ("brittle", "E" * 8), "newly brittle"),
    (("pass", "E" * 8), ("noisy", "EEEEEEED"), "newly noisy"),
    (("brittle", "EEEEEEDD"), ("pass", "E" * 8), "passes now"),
    (("pass", "E" * 8), ("brittle", "D" * 8), "newly brittle"),
    (("pass", "E" * 8), ("pass", "D" * 8), "worse"),
    (("pass", "E" * 8), ("pass", "EEEEEEED"), "cannot tell"),
    (("pass", "EEEEEEED"), ("pass", "E" * 8), "cannot tell"),
)


@pytest.mark.parametrize(("before", "now", "called"), TURNS)
def test_a_test_that_fails_now_is_never_called_within_noise(before: Any, now: Any, called: str) -> None:
    found = of(
        [entry_of("t", before[1], verdict=before[0]), entry_of("still", "E" * 8)],
        [entry_of("t", now[1], verdict=now[0]), entry_of("still", "E" * 8)],
    )
    summary, line = shown(found)
    assert line.startswith(f"{called} t: ")
    assert summary.endswith(f": 1 {called}, 1 the same.")
    assert ("; within noise" in line) == (called == "cannot tell")
    page = json.dumps(test_page.changes_section(found, {}))
    assert called in page or called == "cannot tell"
    assert ("is-worse" in page) == (called.startswith("newly") or called == "worse")
    assert called in markdown._change(found["tests"][0])


def test_trials_that_changed_places_are_told() -> None:
    lines = shown(of([entry_of("t", "DE")], [entry_of("t", "ED")]))
    assert lines[1].startswith(
        "the same t: score 0.50 as before; of 2 trials in both runs 1 came out worse and 1 better"
    )


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (("inconclusive", 2), ("pass", 0), True),
        (("brittle", 1), ("pass", 0), True),
        (("inconclusive", 2), ("pass", 1), False),
        (("pass", 1), ("pass", 0), False),
        (("inconclusive", 0), ("pass", 0), False),
    ],
)
def test_a_pass_without_the_control_of_the_run_before_says_so(before: Any, now: Any, told: bool) -> None:
    found = of(
        [entry_of("t", "EEEE", verdict=before[0], controls=before[1])],
        [entry_of("t", "EEEE", verdict=now[0], controls=now[1])],
    )
    assert ("no control was asked this time" in found["tests"][0]["explanation"]) == told


@pytest.mark.parametrize("width", [80, 120])
def test_rows_fit_and_hostile_names_do_nothing(width: int) -> None:
    hostile = "t.py::test[\x1b[2J\n::error::x\u202e" + "x" * 200 + "]"
    found = of([entry_of(hostile, "E" * 8)], [entry_of(hostile, "D" * 8, model="\x1b]0;x\x07")])
    rows = shown(found, width, operators={hostile: {"t0": "\x1b[31m"}})
    assert all(len(row) <= width for row in rows)
    assert not any(bad in "\n".join(rows) for bad in ("\x1b", "\x07", "\u202e", "\n::"))
    said = condition_lines([{"expression": "score drop", "tests": [hostile]}], "--fail-on")
    assert "\x1b" not in said[0]
    assert "\n" not in said[0]


def test_what_was_compared_with_has_a_name() -> None:
    bare = {**BASE, "started": "", "commit": "", "branch": ""}
    kinds = {
        "last": "the last run",
        "name": "the run x",
        "file": "the run in x",
        "ref": "commit x",
    }
    for kind, text in kinds.items():
        assert base_text({**bare, "kind": kind, "label": "x"}) == text  # type: ignore[typeddict-item]
