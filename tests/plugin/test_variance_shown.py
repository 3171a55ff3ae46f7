"""Where the variance of a test with several inputs comes from, as a real pytest run shows it."""

from __future__ import annotations

import pytest

MOODS = """
MOOD = Prompt("Classify the mood of the text as good or bad. Be brief.\\n\\nText: {text}")
TEXTS = {"sun": "A lovely day!", "rain": "What an awful day.", "cake": "I love this cake."}
OPERATORS = ["imperative-to-question", "upper-case", "double-space"]

@robust(MOOD, inputs=TEXTS, mutations=3, operators=OPERATORS, samples=2)
def test_brittle(response):
    assert response.text in {"good", "bad"}  # the question gets a sentence
"""
ONCE = MOODS.replace(", samples=2", "")
ROLLING = MOODS.replace("samples=2", 'samples=2, threshold=0, target="simulated?noise=0.3&seed=2"')
SHARES = "mutations 100 %, inputs 0 %, the model's sampling 0 %"
EFFECT = "imperative-to-question *-1.00 on every input  3 inputs"


def shown(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


def test_a_failure_has_it_in_one_line(project):
    result = project(MOODS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"variance: {SHARES}"])
    result.stdout.no_fnmatch_line("*operators, against*")


def test_in_a_verbose_run_the_operators_effects_stand_below_the_table(project):
    result = project(MOODS, "-v")
    result.stdout.fnmatch_lines(
        [
            "* prompt robustness *",
            "What scores vary with: test_it.py::test_brittle",
            f"variance: {SHARES}",
            "operators, against the others on the same inputs:",
            f"* {EFFECT}",
            "* upper-case *+0.50 *",
        ]
    )


def test_with_one_run_each_it_says_what_would_tell(project):
    result = project(ONCE, "-v")
    text = shown(result)
    assert text.count("variance: The variance of perturbations is not identifiable") == 2
    assert "Ask at least twice (samples=2)." in text
    result.stdout.fnmatch_lines([f"* {EFFECT}"])  # the effects of operators need no second run


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "xdist"])
def test_a_test_that_passes_has_it_in_a_verbose_run(project, workers):
    result = project(ROLLING, "-v", *workers)
    result.assert_outcomes(passed=1)
    result.stdout.re_match_lines(
        [r"variance: mutations \d+ % \[\d+, \d+\], inputs \d+ %, the model's sampling [1-9]\d %"]
    )
    assert "variance" not in project(ROLLING, *workers).stdout.str()


def test_one_input_has_none(project):
    result = project(MOODS.replace(', "rain": "What an awful day.", "cake": "I love this cake."', ""), "-v")
    result.assert_outcomes(failed=1)
    assert "variance" not in result.stdout.str()


def test_where_nothing_varies_nothing_is_said(project):
    result = project(MOODS.replace('"imperative-to-question", ', ""), "-v")
    result.assert_outcomes(passed=1)
    assert "variance" not in result.stdout.str()
