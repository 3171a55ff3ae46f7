"""What is said of a verdict that too few or varying answers leave open, and how changes and answers are counted."""

from __future__ import annotations

from typing import Any

import pytest
from handmade import report, trial

from pytest_promptfuzz import evaluate
from pytest_promptfuzz.reporting.model import report_test, summarised
from pytest_promptfuzz.reporting.phrases import stored_answers
from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.rows import detail_lines
from pytest_promptfuzz.reporting.terminal.styled_text import render
from pytest_promptfuzz.reporting.terminal.summary import one_line, summary_lines

PROMPT = "Classify the mood of the text as good or bad. Answer with one word only.\n\nText: A lovely day."


def text_of(data: Any) -> str:
    return " ".join(render(failure_lines(data, width=80), width=80, color=False).split())


def samples() -> list[Any]:
    """Two mutations with three samples each, of which the first deviates always, the other once."""
    deviates = {
        "outcome": "deviation",
        "similarity": 0.0,
        "explanation": "another label",
        "again": ["deviation"] * 2,
    }
    first = [trial(1, "typo", sample=sample, **deviates) for sample in range(3)]
    second = [trial(2, "synonym", sample=n, again=["deviation"] * 2) for n in (1, 2)]
    return [*first, trial(2, "synonym", **deviates), *second]


def test_samples_of_a_mutation_are_one_change_and_one_name() -> None:
    data = report(verdict="brittle", reason="score-below-threshold", score=1 / 3, planned=2, trials=samples())
    text = text_of(data)
    assert "6 trials of 2 mutations ran: 2 equivalent" in text
    assert text.count(data["trials"][0]["id"]) == 2, "in the title, and in the command that runs it"
    assert (
        "also 3 samples of this mutation had the same result 1 other mutation had the same result: synonym"
        in text
    )


def test_samples_of_other_mutations_are_named_once_and_counted() -> None:
    first, second = trial(1, "typo"), trial(2, "synonym")
    trials: list[Any] = [{**first, "outcome": "deviation"}]
    trials += [{**second, "outcome": "deviation", "sample": sample} for sample in range(2)]
    text = text_of(report(verdict="brittle", reason="score-below-threshold", score=0.0, trials=trials))
    assert f"also 1 other mutation had the same result: synonym ({second['id']}, 2 times)" in text


def test_what_was_asked_again_is_counted_once_for_all_samples() -> None:
    noise = {"floor": 1.0, "baselines": 8, "repeats": 4, "p": 0.01, "alpha": 0.05}
    data = report(
        verdict="brittle", reason="score-below-threshold", score=1 / 3, noise=noise, trials=samples()
    )
    assert (
        "Noise: asked again, the unmutated prompt gave the same answer 8 of 8 times, and the mutations that differed "
        "did so 4 of 4 times. This is more than noise."
    ) in text_of(data)
    data["noise"]["p"] = 0.2
    assert "did so 4 of 4 times. This may be noise." in text_of(data)
    assert "p =" not in text_of(data)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("openai:gpt-5-mini", "lower the temperature if the model has one"),
        ("", "lower the temperature if the model has one"),
        ("simulated?noise=0.5", "lower noise= of the simulated model"),
        ("function:app.answer", ""),
    ],
)
@pytest.mark.parametrize("reason", ["noise-floor", "not-significant", "baseline-mixed"])
def test_what_can_be_done_depends_on_the_target(reason: str, target: str, said: str) -> None:
    verdict = "inconclusive" if reason == "not-significant" else "noisy"
    text = text_of(report(verdict=verdict, reason=reason, explanation="It varies.", score=0.5, target=target))
    assert "what to do " in text
    advice = text.partition("what to do ")[2]
    assert (said in advice, "temperature" in advice) == (True, "temperature" in said)
    if reason == "not-significant":
        assert "mutations=16 or samples=2" in advice


def test_p_stands_behind_the_verdicts_and_not_in_them() -> None:
    noise = {"floor": 1.0, "baselines": 8, "repeats": 4, "p": 0.012, "alpha": 0.0021}
    paired = {"worse": 9, "better": 0, "same": 23, "unknown": 0, "p": 0.002, "alpha": 0.05}
    drift = {"kind": "model", "policy": "warn", "message": "the model changed", "before": "a", "after": "b"}
    drift |= {"case": 0, "p": 0.029, "undecided": False, "diff": []}
    data = report(verdict="brittle", reason="score-below-threshold", score=0.1, noise=noise, trials=samples())
    data |= {"paired": paired, "drift": [drift]}
    assert "p =" not in text_of(data)
    figures = " ".join(render(detail_lines([data]), width=80, color=False).split())
    assert figures == (
        "Noise: p is the chance that the model's own variation gives such a difference. Below the significance level "
        f"it is more than noise. {data['test']}: p = 0.012 (significance level 0.0021); this run against the stored "
        "one: p = 0.002 (significance level 0.05); answers against the snapshot: p = 0.029"
    )
    assert "p = 0.002" in render(
        detail_lines([summarised({**data, "verdict": "pass"})]), width=400, color=False
    )
    assert detail_lines([report()]) == []


def test_other_verdicts_need_no_such_advice() -> None:
    assert "what to do" not in text_of(report())


def test_a_score_is_said_once() -> None:
    explanation = (
        "The score 0.167 is below the threshold 0.85, but the unmutated prompt agrees with itself 0.40."
    )
    text = text_of(report(verdict="noisy", reason="noise-floor", explanation=explanation, score=1 / 6))
    assert text.count("the score") == 1


def test_nothing_decided_is_explained_in_the_short_summary() -> None:
    error = {"kind": "baseline-error", "message": "no route to host"}
    trials = [trial(n, outcome="error", error=error) for n in range(2)]
    why = "We could not get the baseline: no route to host"
    given = {"verdict": "inconclusive", "reason": "baseline-error", "score": None, "bounds": (0.0, 1.0)}
    assert (
        one_line(report(trials=trials, explanation=why, **given))
        == "inconclusive: we could not get the baseline: no route to host"
    )
    assert "No mutation was tried." in text_of(report(trials=[], planned=2, explanation=why, **given))


def test_what_was_not_tried_has_neither_score_nor_counts() -> None:
    error = {"kind": "not-repeatable", "message": "it gave another result"}
    trials = [trial(n, outcome="error", error=error) for n in range(2)]
    given = {"verdict": "inconclusive", "reason": "not-repeatable", "score": None, "bounds": (0.0, 1.0)}
    heading, row, total, *_ = table_of(report(trials=trials, explanation="It is not.", **given))
    cells = dict(zip(heading.split(), row.split(), strict=False))
    assert [cells[name] for name in ("score", "E", "M", "D", "err")] == ["-"] * 5
    assert "; 0 errors; " in total


def test_a_control_that_changes_nothing_is_no_deviation() -> None:
    trials = [trial(1, "instruction-negated", outcome="deviation", relation="must-change")]
    data = report(
        verdict="inconclusive",
        reason="insensitive",
        relation="must-change",
        explanation="1 control should have changed the answer, and none did.",
        score=0.0,
        bounds=(0.0, 0.0),
        trials=trials,
    )
    assert one_line(data, verdict=False) == "1 of 1 control did not change the answer (instruction-negated)"
    heading, row, *_ = table_of(data)
    cells = dict(zip(heading.split(), row.split(), strict=False))
    assert [cells[name] for name in ("score", "E", "M", "D", "err")] == ["-", "-", "-", "-", "0"]
    assert "1 control was tried: 0 changed the answer, 1 did not, 0 errors" in text_of(data)


def test_stored_answers_are_counted_by_where_they_came_from() -> None:
    def told(hits: int, recorded: int, *, recording: bool = False) -> list[str]:
        spent: Any = {**report()["spent"], "hits": hits, "recorded": recorded}
        return stored_answers([spent], recording=recording)

    assert told(11, 0) == ["11 stored answers"]
    assert told(11, 11) == ["11 answers from the recording"]
    assert told(11, 8) == ["8 answers from the recording, 3 from the local cache"]
    assert told(11, 0, recording=True) == ["11 equal requests not asked again"]
    assert told(11, 11, recording=True) == ["11 answers from the recording"]
    assert told(11, 8, recording=True) == ["8 answers from the recording", "3 equal requests not asked again"]


def table_of(data: Any) -> list[str]:
    return render(summary_lines([data], width=200), width=200, color=False).split("\n")


def answering(*answers: str) -> Any:
    """A function that gives the unmutated prompt these answers, the last one from then on, and mutations another."""
    left = list(answers)

    def function(prompt: str) -> str:
        if prompt != PROMPT:
            return "bad"
        return left.pop(0) if len(left) > 1 else left[0]

    return function


def test_an_odd_first_answer_is_told_from_what_mutations_do() -> None:
    found = evaluate(PROMPT, answering("good", "bad"), mutations=4, baseline_runs=4)
    said = (
        "15 of 16 answers to the unmutated prompt agree with each other; the first differs, and trials are compared "
        "with it"
    )
    assert said in found.notes
    assert said in text_of(report_test(found, test="it"))
    usual = evaluate(PROMPT, answering("good"), mutations=4, baseline_runs=4)
    assert not any("agree with each other" in note for note in usual.notes)


def test_one_line_counts_what_was_asked() -> None:
    trials = [trial(n, outcome="deviation" if n < 3 else "not-needed") for n in range(8)]
    data = report(verdict="brittle", reason="score-below-threshold", score=0.0, trials=trials)
    assert data["counts"]["not-needed"] == 5
    assert one_line(data) == "brittle: 3 of 3 trials deviate (upper-case), score 0.00 < 0.85"


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [
        (0.0, "as expected without mutations, 50 % with mutations: the prompt is wrong without any change."),
        (0.75, "50 % with mutations. This is below the threshold 0.85, without any change."),
        (0.9, "90 % of the answers are as expected without mutations, 50 % with mutations."),
    ],
)
def test_gold_answers_are_told_once_and_as_they_are(accuracy: float, said: str) -> None:
    gold = {"accuracy": accuracy, "mutated": 0.5, "drop": 0.4, "inputs": 1, "untold": 0, "wrong": []}
    assert said in text_of(report(verdict="noisy", reason="noise-floor", gold=gold))
    assert "unmutated prompt" not in text_of(report(gold=gold)), "a pass has a note where all is not right"
