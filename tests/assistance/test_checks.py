"""Which answers of a model are taken for rewordings of a prompt, and which edits they become."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from assistants import draft_of, stretch_of, with_marks
from rewordings import BAD, GOOD, WRAPPED, Case

from pytest_promptfuzz.assistance.checks import RejectedAnswerError, check_rewording
from pytest_promptfuzz.assistance.rewording import edits_between, reworded
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import plan


def problem_of(case: Case) -> str:
    stretch = stretch_of(case.prompt)
    try:
        parts = stretch.read(reworded(with_marks(case.reply, stretch), stretch.original))
        check_rewording(stretch, parts, given=())
    except RejectedAnswerError as error:
        return str(error)
    draft = draft_of(case.prompt)
    edits = edits_between(stretch, parts)
    check_edits(edits, len(case.prompt), draft.spans)
    changed = apply_edits(case.prompt, edits)
    assert changed.strip() == stretch.render(parts)
    assert changed.endswith(case.prompt[len(case.prompt.rstrip()) :])
    return ""


@pytest.mark.parametrize("case", GOOD + WRAPPED, ids=lambda case: case.reply[:40])
def test_faithful_rewordings_are_taken(case: Case) -> None:
    assert problem_of(case) == ""


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.reply[:40])
def test_what_is_no_rewording_is_refused_for_its_reason(case: Case) -> None:
    assert case.problem in problem_of(case)
    assert problem_of(case)


def prompts() -> list[str]:
    """Every third prompt of the corpus that operators are tested on, the shorter ones."""
    lines = (
        (Path(__file__).parents[1] / "mutations" / "data" / "corpus.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    return [text for line in lines[::3] if len(text := json.loads(line)["text"]) < 1500]


def share_taken(operator: str) -> tuple[int, int]:
    """How many of an operator's mutations would be taken for rewordings by a model that drops every mark."""
    taken = made = 0
    for prompt in prompts():
        stretch = stretch_of(prompt)
        for mutation in plan(prompt, 2, operators=operator).mutations:
            made += 1
            answer = mutation.text[stretch.start : len(mutation.text) - (len(prompt) - stretch.end)]
            try:
                check_rewording(stretch, stretch.read(answer), given=())
            except RejectedAnswerError:
                continue
            taken += 1
    return taken, made


@pytest.mark.parametrize("operator", ["synonym", "politeness", "imperative-to-question"])
def test_harmless_changes_to_real_prompts_pass(operator: str) -> None:
    taken, made = share_taken(operator)
    assert made >= 10
    assert taken / made >= 0.95


@pytest.mark.parametrize(
    "operator", ["answer-fixed", "instruction-negated", "number-changed", "labels-replaced"]
)
def test_changes_that_must_change_the_answer_do_not(operator: str) -> None:
    taken, made = share_taken(operator)
    assert made >= 2
    assert taken == 0
