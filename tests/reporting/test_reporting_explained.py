"""What is said of what matters in a prompt."""

from __future__ import annotations

from pytest_promptfuzz import Prompt, mutate
from pytest_promptfuzz.reporting.terminal.explanation import explanation_lines, explanation_report
from pytest_promptfuzz.results.explanations import explain
from pytest_promptfuzz.results.trials import Trial

TEXT = "Sort the ticket - and be quick.\n- Name the team - and the mood.\n- Answer with the name only."


def reported(broken, count=60):
    plan = mutate(Prompt(TEXT), count, seed=1)
    (found,) = explain([Trial(each, "deviation" if broken(each) else "equivalent") for each in plan])
    return explanation_report(found, test="test_it.py::test_it")


def shown(report):
    lines = explanation_lines(report, width=200, color=False)
    return ["".join(each[0] for each in line if isinstance(each, tuple)) for line in lines]


def test_parts_of_the_same_text_are_told_apart_by_their_place():
    report = reported(lambda each: each.dimension == "lexical")
    named = {
        (part, place)
        for each in report["causes"]
        for kind, part, place in zip(each["kinds"], each["parts"], each["places"], strict=True)
        if kind == "word"
    }
    assert {place for part, place in named if part == "the"} == {
        "line 1",
        "line 2, 1 of 2",
        "line 3",
    }
    assert {place for part, place in named if part == "ticket"} == {""}


def test_what_changes_most_words_is_said_to_be_left_out_of_single_words():
    report = reported(lambda each: each.change_rate > 0.5 or each.dimension == "lexical", 120)
    assert report["wide"] >= report["wide_deviating"] > 1
    said = f"{report['wide']} trials change more than half of the words ({report['wide_deviating']} deviate): they count"
    assert any(line.startswith(said) for line in shown(report))
    words = [each for each in report["causes"] if each["kinds"] == ["word"]]
    assert words
    for each in words:
        assert each["touching"]["trials"] + each["others"]["trials"] == report["trials"] - report["wide"]
        assert each["touching"]["broken"] + each["others"]["broken"] == (
            report["deviating"] - report["wide_deviating"]
        )


def test_where_nearly_all_trials_deviate_nothing_tells_words_apart():
    first, *_ = plan = mutate(Prompt(TEXT), 8, seed=1)
    (found,) = explain([Trial(each, "equivalent" if each is first else "deviation") for each in plan])
    said = "\n".join(shown(explanation_report(found, test="test_it.py::test_it")))
    assert "Nearly all trials deviate, so no word can be told from the others." in said
    assert "Too few trials deviate" not in said
    (found,) = explain([Trial(each, "deviation" if each is first else "equivalent") for each in plan])
    said = "\n".join(shown(explanation_report(found, test="test_it.py::test_it")))
    assert "Too few trials deviate. Raise mutations." in said


def test_the_bound_of_p_stands_beside_the_rows_it_divides():
    report = reported(lambda each: each.dimension == "lexical")
    lines = shown(report)
    assert "deviating, of trials that touch it and of the others (shown: p of 0.05 or less):" in lines
    for each in report["causes"]:
        if each["finding"] != "few":
            assert (each["p"] <= 0.05) == (each["finding"] in {"matters", "beside"})
