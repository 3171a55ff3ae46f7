"""Real answers: what one prompt was answered at several times is noise, however the answers differ."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_promptfuzz import Session, evaluate
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.targets.simulated.target import SimulatedTarget

RUNS = json.loads((Path(__file__).parents[1] / "data/quirx/answers.json").read_text(encoding="utf-8"))
TESTS = 3


def repeats():
    """By run: the mutant that was asked more than once, and what it was answered."""
    found = {}
    for run in RUNS:
        answers: dict[str, list[str]] = {}
        for pair in run["pairs"]:
            answers.setdefault(pair["mutated_prompt"], []).append(pair["response"])
        (found[run["run"]],) = [each for each in answers.items() if len(each[1]) > 1] or [None]
    return {name: each for name, each in found.items() if each}


REPEATS = repeats()
CLAUDE = REPEATS["anthropic_claude_3_5_sonnet_20241022_sql_generation"]
GPT = REPEATS["openai_gpt_3_5_turbo_sql_generation"]


class Recorded(SimulatedTarget):
    """Answers with one of some texts, drawn from test, prompt and sample: mutations from ``others``."""

    def __init__(self, prompt, own, others, seed):
        super().__init__(seed=seed)
        self.prompt, self.own, self.others = prompt, own, others

    def send(self, request, *, sample=None):
        body = super().send(request, sample=sample)
        text = request.messages[-1]["content"]
        answers = self.own if text == self.prompt else self.others
        drawn = hashlib.sha256(f"{self.model.seed} {sample} {text}".encode()).digest()
        body["choices"][0]["message"]["content"] = answers[int.from_bytes(drawn[:8], "big") % len(answers)]
        return body


def verdicts(recorded, task, others=None):
    prompt, answers = recorded
    found = [
        evaluate(
            prompt,
            Recorded(prompt, answers, others or answers, number),
            seed=number,
            task=task,
            session=Session(store=MemoryStore()),
        )
        for number in range(TESTS)
    ]
    return Counter(each.verdict for each in found), Counter(each.reason for each in found)


def test_four_prompts_were_asked_again_and_two_of_them_answered_differently() -> None:
    assert [len(answers) for _, answers in REPEATS.values()] == [3, 3, 3, 2]
    assert [len(set(answers)) for _, answers in REPEATS.values()] == [1, 3, 1, 2]


def test_one_prompt_answered_differently_is_noise() -> None:
    as_usual = [verdicts(each, None) for each in (CLAUDE, GPT)]
    decided = [verdicts(CLAUDE, "classification"), verdicts(GPT, "free")]
    brittle = sum(found["brittle"] for found, _ in as_usual + decided)
    assert brittle <= 0.05 * 4 * TESTS
    for found, _ in as_usual:  # queries in another form are left undecided
        assert found["noisy"] + found["inconclusive"] >= TESTS - 1
    for _, reasons in decided:
        assert reasons["noise-floor"] >= TESTS - 1


def test_answers_that_vary_where_words_cannot_tell_are_no_brittleness() -> None:
    found, _ = verdicts(CLAUDE, "free")  # they share most words, and some are other ones
    assert found == {"inconclusive": TESTS}


@pytest.mark.parametrize("recorded", [CLAUDE, GPT], ids=["claude", "gpt"])
def test_mutations_that_are_answered_past_the_point_are_called_brittle(recorded) -> None:
    found, _ = verdicts(recorded, "classification", ["POSITIVE"])
    assert found == {"brittle": TESTS}
