"""The whole output for hand-made reports, at 80 and 120 columns, with and without colour."""

from __future__ import annotations

import re
from typing import Any

import goldens
import handmade
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.styled_text import columns, render
from pytest_promptfuzz.reporting.terminal.summary import one_line, side_by_side_lines, summary_lines


@pytest.mark.parametrize("name", goldens.NAMES)
def test_pages_look_as_they_should(name: str) -> None:
    expected = (goldens.HERE / f"{name}.txt").read_text(encoding="utf-8")
    assert goldens.page(name) == expected, "run tests/reporting/goldens.py and read the difference"


def test_no_golden_is_left_over() -> None:
    assert sorted(path.stem for path in goldens.HERE.glob("*.txt")) == sorted(goldens.NAMES)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("name", list(handmade.ALL))
@pytest.mark.parametrize("width", [40, 61, 80, 120, 200])
def test_nothing_is_wider_than_asked_but_commands(name: str, width: int) -> None:
    report = handmade.ALL[name]()
    lines = [*failure_lines(report, width=width), *summary_lines([report], width=width)]
    lines += side_by_side_lines([report, report, report], width=width)
    for row in render(lines, width=width, color=False).split("\n"):
        assert columns(row) <= width or "--promptfuzz-trial" in row or "pytest '" in row, row


@pytest.mark.parametrize("name", list(handmade.ALL))
def test_colour_changes_no_word_but_the_marks(name: str) -> None:
    report = handmade.ALL[name]()
    coloured = plain(render(failure_lines(report), width=200, color=True))
    uncoloured = render(failure_lines(report), width=200, color=False)
    for mark in ("[-", "-]", "{+", "+}"):
        uncoloured = uncoloured.replace(mark, "")
    assert "".join(uncoloured.split()) == "".join(coloured.split())


@pytest.mark.parametrize("color", [False, True])
def test_hostile_output_does_nothing(color: bool) -> None:
    report = handmade.hostile()
    lines = [*failure_lines(report), *summary_lines([report])]
    shown = render(lines, width=80, color=color) + one_line(report)
    shown.encode("utf-8")
    bare = plain(shown)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", bare)
    assert not re.search(r"^\s*::\w", bare, re.MULTILINE)
    assert "##vso[" not in bare
    assert "␛]0;owned␇" in bare
    assert "\n" not in one_line(report)


hostile_text = st.text(
    st.characters(codec=None) | st.sampled_from("\x1b\r\n\t:#[ \u202e\ud800\u3042\u0301"), max_size=120
)


@settings(max_examples=60, deadline=None)
@given(hostile_text, hostile_text, hostile_text, st.integers(40, 130))
def test_any_text_anywhere_is_laid_out_safely(one: str, other: str, third: str, width: int) -> None:
    trial = handmade.trial(
        1,
        outcome="deviation",
        response=one,
        explanation=other,
        diff=[["=", one], ["-", other], ["+", third], ["=", one]],
        failure={"type": "AssertionError", "message": third, "traceback": one},
        reproduce="",
    )
    report = handmade.report(
        test=other, verdict="brittle", baseline=third, trials=[trial], notes=[one], planned=1
    )
    shown = render([*failure_lines(report), *summary_lines([report], width=width)], width=width, color=False)
    shown.encode("utf-8")
    for row in shown.split("\n"):
        assert columns(row) <= width
        assert not re.match(r"\s*::\S", row)
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]|##[A-Za-z]*\[", row)


@pytest.mark.parametrize("before", ["##", "a ##vso"])
def test_two_pieces_make_no_command_of_a_log(before: str) -> None:
    shown = render([[(before, "plain"), ("0", "removed")]], width=80, color=False)
    assert shown == before + "\\[-0-]"
    assert render([[(before, "plain"), ("[x]", "dim")]], width=80, color=False) == before + "\\[x]"


def test_one_line_names_who_deviates() -> None:
    assert one_line(handmade.brittle()) == (
        "brittle: 3 of 8 trials deviate (synonym, politeness, sentence-shuffle), score 0.62 < 0.85"
    )
    assert one_line(handmade.passing()) == "pass: score 1.00 >= 0.85"
    assert one_line(handmade.rate_limited()) == (
        "inconclusive: 3 of 8 trials are errors (rate-limit, not-exercised): score between 0.62 and 1.00, threshold "
        "0.85"
    )
    nothing = handmade.report(
        verdict="inconclusive",
        reason="nothing-scored",
        explanation="No trial entered the score.",
        score=None,
        trials=[],
    )
    assert one_line(nothing) == "inconclusive: no trial entered the score"


def test_one_line_below_the_verdict_does_not_repeat_it() -> None:
    assert one_line(handmade.rate_limited(), verdict=False).startswith("3 of 8 trials are errors (rate-limit")
    noisy = handmade.report(
        verdict="noisy", reason="noise-floor", score=0.5, trials=[handmade.trial(1, outcome="deviation")]
    )
    assert one_line(noisy).startswith("noisy: 1 of 1 trial deviates")
    assert one_line(noisy, verdict=False).startswith("1 of 1 trial deviates")


@pytest.mark.parametrize(
    ("outcomes", "score", "decisive"),
    [
        (["minor"] * 8, 0.7, True),
        (["equivalent"] * 5 + ["minor", "minor", "deviation"], 0.8, True),
        (["equivalent"] * 5 + ["minor", "deviation", "deviation"], 0.7125, False),
        (["deviation"] * 8, 0.0, False),
    ],
)
def test_what_minor_differences_cost_is_said_where_they_decide(
    outcomes: list[str], score: float, decisive: bool
) -> None:
    report = handmade.report(
        verdict="brittle",
        reason="score-below-threshold",
        score=score,
        trials=[handmade.trial(number, outcome=outcome) for number, outcome in enumerate(outcomes)],
    )
    assert ("are minor (0.7 each)" in one_line(report)) == decisive
    assert not decisive or f"{outcomes.count('minor')} " in one_line(report)
    shown = " ".join(render(failure_lines(report), width=80, color=False).split())
    assert ("A minor difference counts 0.7; without minor ones the score would reach" in shown) == decisive


def test_a_score_never_looks_like_the_threshold_it_missed() -> None:
    report = handmade.report(
        verdict="brittle", reason="score-below-threshold", score=0.8499, trials=[handmade.trial(1)]
    )
    assert one_line(report) == "brittle: score 0.8499 < 0.85"
    assert "the score 0.8499 is below the threshold 0.85" in render(
        failure_lines(report), width=80, color=False
    )


def test_worst_first() -> None:
    shown = render(
        summary_lines([make() for make in handmade.ALL.values()], width=120), width=120, color=False
    )
    verdicts = re.findall(r"^\S.*?  (brittle|noisy|inconclusive|pass) ", shown, re.MULTILINE)
    assert verdicts == ["brittle"] * 6 + ["inconclusive"] * 2 + ["pass"]


def test_no_tests_no_table() -> None:
    assert summary_lines([]) == []


def test_an_example_beyond_the_first_is_shown_against_its_own_baseline() -> None:
    trials = [
        handmade.trial(1),
        handmade.trial(2, case=1, outcome="deviation", response="SPAM", baseline="HAM"),
    ]
    report = handmade.report(verdict="brittle", reason="score-below-threshold", score=0.5, trials=trials)
    shown = render(failure_lines(report), width=80, color=False)
    assert "example 2" in shown
    assert "baseline   HAM" in shown
    assert "POSITIVE" not in shown.partition("example 2")[2]


def test_a_command_that_is_the_same_for_all_trials_stands_once() -> None:
    trials = [
        handmade.trial(n, outcome="deviation", explanation=f"why {n}", reproduce="promptfuzz run p.txt")
        for n in range(3)
    ]
    report = handmade.report(verdict="brittle", reason="score-below-threshold", score=0.0, trials=trials)
    shown = render(failure_lines(report), width=80, color=False)
    assert shown.count("promptfuzz run p.txt") == 1
    assert shown.index("why 2") < shown.index("promptfuzz run p.txt")


def test_notes_name_at_most_five_tests() -> None:
    many = [handmade.report(test=f"tests/test_a.py::test_{n}", oracle_only=True) for n in range(7)]
    shown = render(summary_lines(many, width=200), width=200, color=False)
    assert "test_4 and 2 more" in shown


def test_simulated_answers_are_named_as_such() -> None:
    report = handmade.report(target="simulated?seed=3")
    shown = render(summary_lines([report]), width=120, color=False)
    assert "Answers are simulated: no real model was called." in shown
    assert "9 calls to the simulated model" in shown


def many() -> list[Any]:
    passed = [handmade.report(test=f"test_it.py::test_{n:03}", score=1 - n / 1000) for n in range(100)]
    return [*passed, handmade.brittle()]


def test_of_many_tests_that_passed_the_worst_are_shown() -> None:
    shown = render(summary_lines(many(), width=100, most=3), width=100, color=False)
    rows = [line.split()[0] for line in shown.split("\n") if "::" in line and "note" not in line]
    assert rows[1:] == ["test_it.py::test_099", "test_it.py::test_098", "test_it.py::test_097"]
    assert "… and 97 more tests that passed (-v shows them)" in shown
    assert "101 robust tests: 1 brittle, 100 pass" in shown


def test_one_more_row_is_no_longer_than_the_line_that_stands_for_it() -> None:
    shown = render(summary_lines(many()[:4], width=100, most=3), width=100, color=False)
    assert "test_000" in shown
    assert "more test" not in shown


def test_a_brief_summary_shows_what_did_not_pass_and_the_total() -> None:
    shown = render(summary_lines(many(), width=100, most=0, legend=False), width=100, color=False)
    assert shown.count("test_it.py::") == 0
    assert "brittle" in shown.split("\n")[1]
    assert "101 robust tests" in shown
    assert "the threshold" not in shown
    alone = render(summary_lines(many()[:9], width=100, most=0, legend=False), width=100, color=False)
    assert alone.startswith("9 robust tests: 9 pass")


def test_drift_of_many_tests_is_shown_of_the_first_and_counted() -> None:
    drift = {
        "kind": "model",
        "policy": "warn",
        "message": "the answer is another",
        "before": "a",
        "after": "b",
    }
    ignored = {**drift, "policy": "ignore"}
    many = [
        {**handmade.passing(), "test": f"t.py::test_{n}", "drift": [{**drift, "case": 0, "p": None}, ignored]}
        for n in range(288)
    ]
    quiet = [{**handmade.passing(), "test": f"t.py::quiet_{n}", "drift": [ignored]} for n in range(9)]

    def shown(reports: Any) -> list[str]:
        return render(summary_lines(reports, width=100, most=0), width=100, color=False).splitlines()

    lines = shown([*many, *quiet])
    assert sum(line.startswith("Drift: ") for line in lines) == 8
    assert "... and 280 more tests drifted; reports show all." in lines
    assert len(lines) < 40
    assert not any("more test" in line for line in shown([*many[:8], *quiet]))
