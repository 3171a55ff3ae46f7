"""What a failure shows first: the line of the prompt that changed, both answers, a row each."""

from __future__ import annotations

import re
from typing import Any

import pytest
from handmade import report, trial

from pytest_promptfuzz import Counterexample, Mutation
from pytest_promptfuzz.mutations.engine.edits import reorder, replace
from pytest_promptfuzz.reporting.model import counterexample_report
from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.rows import changed_lines, diff_lines
from pytest_promptfuzz.reporting.terminal.styled_text import columns, render

PROMPT = """You are a helpful assistant for a support desk that answers tickets of customers all over the world, every day.
Classify the urgency of the ticket as high, medium or low.

- high: outages
- medium: late parcels
Answer with one word only. 请只用一个词回答，不要解释你的选择。"""


def mutated(*pairs: tuple[str, str]) -> Mutation:
    edits = [replace(PROMPT.index(old), PROMPT.index(old) + len(old), new) for old, new in pairs]
    return Mutation(PROMPT, tuple(sorted(edits)), ("several@1",), "lexical", 0.3, "yes")


def shown(mutation: Mutation, width: int = 80, *, color: bool = False, **given: Any) -> list[str]:
    made: dict[str, Any] = {
        "trial": "0123456789ab",
        "case": 0,
        "baseline": "high",
        "answer": "low",
        "failure": "label 'high' became 'low'",
        "minimal": True,
        "calls": 9,
        "repeats": (3, 3),
    }
    found = counterexample_report(Counterexample(mutation, **(made | given)))
    whole = report(trials=[], verdict="brittle", counterexamples=[found])
    return render(failure_lines(whole, width=width), width=width, color=color).split("\n")


def test_it_stands_before_everything_else() -> None:
    rows = shown(mutated(("urgency", "URGENCY")))
    assert rows[:7] == [
        "The smallest change that breaks it",
        "   prompt     Classify the [-urgency-]{+URGENCY+} of the ticket as high, …",
        "   baseline   high",
        "   response   low",
        "   why        label 'high' became 'low'",
        "   shrunk     from trial 0123456789ab; breaks the test each time",
        "",
    ]
    assert rows[7].startswith("Brittle")


def test_nothing_stands_there_where_there_is_none() -> None:
    whole = report(trials=[], verdict="brittle")
    assert render(failure_lines(whole), width=80, color=False).startswith("Brittle")


def test_what_may_not_be_minimal_says_so() -> None:
    rows = shown(mutated(("urgency", "URGENCY")), minimal=False, calls=1)
    assert rows[0] == "A change that breaks it"
    assert "breaks the test each time; a smaller change may break it too" in " ".join(
        " ".join(rows[5:]).split()
    )


def test_what_does_not_always_break_is_counted() -> None:
    rows = shown(mutated(("urgency", "URGENCY")), repeats=[7, 9])
    assert rows[5] == "   shrunk     from trial 0123456789ab; breaks the test 7 of 9 times"


CHANGES = {
    "a word": mutated(("tickets", "TICKETS")),
    "the first word": mutated(("You are", "you are")),
    "the end of a line": mutated(("low.\n\n", "low.\n")),
    "a line": mutated(("\n- high: outages", "")),
    "two words of a line": mutated(("Classify", "Would you classify"), ("low.", "low?")),
    "a long insertion": mutated(("only.", f"only{', please' * 40}.")),
    "a long deletion": mutated(("support desk that answers tickets of customers all over the world", "x")),
    "wide letters": mutated(("一个词", "两个词")),
    "many words of a line": mutated(
        ("helpful", "HELPFUL"), ("support", "SUPPORT"), ("tickets", "TICKETS"), ("world", "WORLD")
    ),
}


@pytest.mark.parametrize("width", [72, 80, 120])
@pytest.mark.parametrize("name", CHANGES)
def test_a_line_of_the_prompt_is_one_row(name: str, width: int) -> None:
    rows = shown(CHANGES[name], width)
    place = next(number for number, each in enumerate(rows) if each.startswith("   baseline"))
    prompt = rows[1:place]
    assert prompt[0].startswith("   prompt     ")
    assert all(columns(row) <= width for row in prompt)
    assert len(prompt) == 1 or name == "many words of a line" or (name, width) == ("two words of a line", 72)
    joined = "".join(row[14:] for row in prompt)
    assert re.search(r"\[-.+-\]|\{\+.+\+\}", joined)


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize("every", [2, 3, 5])
def test_no_word_is_cut_in_half_however_many_places_change(every: int, width: int) -> None:
    line = "Write a short plan for the work week of the small team that answers customers, and say who does which part."
    words = line.split(" ")
    diff = []
    for number, word in enumerate(words):
        new = word.upper() if number % 4 == 1 else word
        diff += [["=", word]] if new == word else [["-", word], ["+", new]]
        diff += [["=", " "]] + [["+", "  "]] * (number % every == 0)
    lines = changed_lines(diff, width - 14)
    rows = render(lines, width=width, color=False).split("\n")
    assert len(rows) == len(lines), "each fits its row"
    assert all(columns(row) <= width for row in rows)
    joined = " ".join(row[14:] for row in rows)
    seen = re.sub(r"\{\+·+\+\}|[\[\]{}+·…-]", " ", joined).split()
    assert set(seen) <= {*words, *(word.upper() for word in words)}
    changed = [word for number, word in enumerate(words) if number % 4 == 1]
    assert re.findall(r"\[-(.+?)-\]", joined) == changed
    assert joined.count("··") == len(range(0, len(words), every))


def test_there_is_more_of_the_line_where_there_is_room() -> None:
    narrow, wide = (shown(CHANGES["a word"], width)[1] for width in (80, 120))
    assert narrow == "   prompt     … desk that answers [-tickets-]{+TICKETS+} of customers all …"
    assert "for a support desk that answers [-tickets-]{+TICKETS+} of customers all over the world" in wide


def test_lines_that_are_far_apart_have_a_row_each() -> None:
    rows = shown(mutated(("helpful", "HELPFUL"), ("one", "ONE")))
    assert "{+HELPFUL+}" in rows[1]
    assert rows[2].startswith("              Answer with [-one-]{+ONE+} word only.")


def test_what_is_moved_is_shown_as_moved() -> None:
    first, second = PROMPT.index("- high"), PROMPT.index("- medium")
    spans = [(first, second - 1), (second, second + len("- medium: late parcels"))]
    mutation = Mutation(PROMPT, (reorder(spans, [1, 0]),), ("bullet-reorder@1",), "structural", 0.3, "yes")
    assert "moved" in shown(mutation)[1] or "reordered" in shown(mutation)[1]


def test_colours_stand_in_the_place_of_marks() -> None:
    row = shown(CHANGES["a word"], color=True)[1]
    assert "\x1b[31;9mtickets\x1b[0m\x1b[32;1mTICKETS\x1b[0m" in row
    assert "[-" not in row


def test_long_answers_are_one_row_from_where_they_differ() -> None:
    same = "The parcel left our house on Monday and travels by ship, as you asked us to do. " * 4
    rows = shown(
        mutated(("urgency", "URGENCY")),
        baseline=f"{same}\nIt is late.",
        answer=f"{same}\nIt is\x1b[31m early.",
    )
    assert [row[:14] for row in rows[2:4]] == ["   baseline   ", "   response   "]
    assert rows[2].endswith("It is late.")
    assert "early" in rows[3]
    assert "\x1b" not in rows[3]
    assert all(len(row) <= 80 for row in rows)


def test_json_is_one_row() -> None:
    rows = shown(
        mutated(("urgency", "URGENCY")),
        baseline={"urgency": "high", "tags": ["a"]},
        answer='{"urgency": "low"}',
    )
    assert rows[2:4] == [
        '   baseline   {"urgency": "high", "tags": ["a"]}',
        '   response   {"urgency": "low"}',
    ]


def test_several_are_numbered_and_name_their_input() -> None:
    mutation = mutated(("urgency", "URGENCY"))
    found = Counterexample(mutation, "0123456789ab", 1, "high", "low", "x", True, 9, (3, 3))
    whole = report(
        trials=[],
        verdict="brittle",
        inputs=["one", "two"],
        counterexamples=[counterexample_report(found), counterexample_report(found)],
    )
    rows = render(failure_lines(whole), width=80, color=False).split("\n")
    assert rows[0] == "1. the smallest change that breaks it, on input two"
    assert rows[7] == "2. the smallest change that breaks it, on input two"


# The trial that a smallest change was made of: nothing of it is shown twice.

EDIT = [["-", "Classify the"], ["+", "CLASSIFY THE"], ["=", " urgency of the ticket as high, medium or low."]]


def together(*more: Any, known: dict[str, Any] | None = None, **given: Any) -> str:
    """A failure with a smallest change and the trial it came from, and other trials."""
    made: dict[str, Any] = {
        "outcome": "deviation",
        "diff": EDIT,
        "baseline": "high",
        "response": "low",
        "explanation": "label 'high' became 'low'",
        "reproduce": "pytest it",
    }
    one = trial(1, **(made | given))
    mutation = mutated(("urgency", "URGENCY"))
    found = Counterexample(
        mutation,
        one["id"],
        **(
            {"case": 0, "baseline": "high", "answer": "low", "failure": "label 'high' became 'low'"}
            | (known or {})
        ),
        minimal=True,
        calls=9,
        repeats=(3, 3),
    )
    whole = report(
        trials=[*more, one],
        verdict="brittle",
        reason="score-below-threshold",
        score=0.0,
        counterexamples=[counterexample_report(found)],
    )
    return render(failure_lines(whole, width=80), width=80, color=False)


def test_of_the_trial_it_came_from_only_the_edit_is_new() -> None:
    text = together()
    assert text.count("baseline   high") == text.count("response   low") == 1
    assert text.count("label 'high' became 'low'") == 1
    block = text[text.index("1. upper-case") :].split("\n")
    assert block[1:] == [
        "   prompt     [-Classify the-]{+CLASSIFY THE+} urgency of the ticket as …",
        "   reproduce  pytest it",
    ]


def test_an_edit_that_is_the_smallest_is_not_shown_again() -> None:
    text = together(diff=[[kind, part] for kind, part in mutated(("urgency", "URGENCY")).diff()])
    block = text[text.index("1. upper-case") :].split("\n")
    assert block[1:] == ["   prompt     (as above)", "   reproduce  pytest it"]


def test_what_the_smallest_change_does_otherwise_is_shown_of_the_trial() -> None:
    other = together(response="medium", explanation="label 'high' became 'medium'")
    block = other[other.index("1. upper-case") :].split("\n")
    assert block[2:5] == [
        "   response   medium",
        "   why        label 'high' became 'medium' (similarity 1.00)",
        "   reproduce  pytest it",
    ]
    drifted = together(baseline="urgent", known={"case": 0})
    assert "   baseline   urgent\n   response   low" in drifted[drifted.index("1. upper-case") :]


def test_a_traceback_is_kept_and_says_why_in_the_place_of_the_row() -> None:
    failure = {
        "type": "AssertionError",
        "message": "assert 'LOW' == 'high'",
        "traceback": "E  assert 'LOW' == 'high'",
    }
    text = together(
        failure=failure, explanation="", known={"failure": "AssertionError: assert 'low' == 'high'"}
    )
    block = text[text.index("1. upper-case") :]
    assert block.count("assert 'LOW' == 'high'") == 1
    assert "why " not in block
    bare = together(
        failure=failure | {"traceback": ""},
        explanation="",
        known={"failure": "AssertionError: assert 'low' == 'high'"},
    )
    assert "why        AssertionError: assert 'LOW' == 'high'" in bare[bare.index("1. upper-case") :]


def test_of_trials_that_failed_alike_it_is_the_one_that_is_shown() -> None:
    other = trial(
        2,
        "synonym",
        outcome="deviation",
        baseline="high",
        response="low",
        explanation="label 'high' became 'low'",
    )
    text = together(other)
    assert text.index("1. upper-case") < text.index("1 other mutation had the same result: synonym")
    assert "2. " not in text


def test_a_trial_of_another_cause_is_shown_whole() -> None:
    other = trial(
        2,
        "synonym",
        outcome="deviation",
        baseline="high",
        response="none",
        explanation="label 'high' became 'none'",
    )
    block = together(other).partition("synonym")[2]
    assert "baseline   high" in block.partition("upper-case")[0]
    assert "label 'high' became 'none'" in block


# Long prompts: what is shown of a change does not grow with the prompt.

FACTS = "Classify the ticket.\n" + "\n".join(
    f"- Fact {number}: the parcel of customer {number} left the depot on day {number}."
    for number in range(900)
)


def word_diff(every: int) -> list[list[str]]:
    """Every so-manieth word of a prompt of 50 kB in capitals."""
    diff = []
    for number, word in enumerate(re.split(r"(\s+)", FACTS)):
        new = word.upper() if number % (2 * every) == 0 else word
        diff += [["=", word]] if new == word else [["-", word], ["+", new]]
    return diff


@pytest.mark.parametrize("every", [1, 2, 3, 10, 50])
@pytest.mark.parametrize("width", [80, 120])
def test_a_change_of_many_words_takes_few_rows(every: int, width: int) -> None:
    diff = word_diff(every)
    assert len(FACTS) > 50_000
    for lines in (diff_lines(diff), changed_lines(diff, width - 14)):
        rows = render(lines, width=width, color=False).split("\n")
        assert len(rows) <= 14
        left = re.fullmatch(r"\s+… and ([\d,]+) more places changed", rows[-1])
        assert left is not None
        assert int(left[1].replace(",", "")) > 100


def test_the_places_that_are_left_out_are_counted() -> None:
    diff = [
        each
        for number in range(40)
        for each in (["-", f"old{number}"], ["+", f"NEW{number}"], ["=", " and that "])
    ]
    rows = render(diff_lines(diff), width=80, color=False)
    shown_places = rows.count("[-")
    assert 10 < shown_places < 40
    assert f"… and {40 - shown_places} more places changed" in rows
    few = render(diff_lines(diff[:24]), width=80, color=False)
    assert few.count("[-") == 8
    assert "more place" not in few


def test_an_assertion_about_a_long_prompt_takes_few_rows() -> None:
    message = f"assert 'x' in {FACTS!r}"
    trace = (
        f">   assert 'x' in prompt.text\nE   AssertionError: {message}\nE    +  where {FACTS!r} = prompt.text"
    )
    for traceback in (trace, ""):
        failure = {"type": "AssertionError", "message": message, "traceback": traceback}
        one = trial(
            1,
            outcome="deviation",
            diff=[["-", "Classify"], ["+", "classify"]],
            failure=failure,
            explanation="",
        )
        whole = report(trials=[one], verdict="brittle", reason="score-below-threshold", score=0.0)
        rows = render(failure_lines(whole), width=80, color=False).split("\n")
        assert len(rows) < 30
        assert any("assert 'x' in" in row for row in rows)
