"""A test that would pass whatever the prompt says is found out: with several inputs, and on a model that varies."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_promptfuzz import Session, evaluate
from pytest_promptfuzz.randomness import Rng
from pytest_promptfuzz.storage.answers import MemoryStore

PROMPT = """Classify the ticket as billing, shipping or login. Answer with one word only.

Ticket:
{ticket}"""
TICKETS = {f"t{number}": f"Ticket number {number} says nothing of note." for number in range(10)}


class Application:
    """Does what a control asks for in the tickets it ``heeds``, and otherwise answers "billing"; ``noise`` of it not.

    What it says instead, then, is never the same.
    """

    def __init__(self, heeds: int, noise: float = 0.0) -> None:
        self.heeds, self.noise = heeds, noise
        self.rng = Rng(b"noise", "answers")
        self.odd = 0

    def __call__(self, prompt: str) -> str:
        number = int(prompt.partition("Ticket number ")[2][0])
        if self.noise and self.rng.below(100) < 100 * self.noise:
            self.odd += 1
            return f"matter {self.odd}"
        return "violin" if "VIOLIN" in prompt and number < self.heeds else "billing"


def found(heeds: int, noise: float = 0.0, **settings: Any) -> Any:
    given = {
        "inputs": TICKETS,
        "mutations": {"answer-fixed": 1, "upper-case": 1, "double-space": 2},
        "task": "classification",
    }
    return evaluate(
        PROMPT, Application(heeds, noise), session=Session(store=MemoryStore()), **{**given, **settings}
    )


def test_no_control_changed_any_input() -> None:
    result = found(0)
    assert (result.verdict, result.reason) == ("inconclusive", "insensitive")
    assert "10 controls should have changed the answer, and none did" in result.explanation


def test_a_control_must_change_so_many_inputs_that_a_broken_prompt_would_fail() -> None:
    result = found(1)
    assert (result.verdict, result.reason) == ("inconclusive", "insensitive")
    assert (
        "The control that changed most answers changed 1 of 10: at the threshold 0.85 this test would pass whatever "
        in (result.explanation)
    )
    assert found(2).verdict == "pass"
    assert found(10).verdict == "pass"
    assert found(1, threshold=0.95).verdict == "pass"
    one = {"t0": TICKETS["t0"]}
    assert found(1, inputs=one).verdict == "pass"
    assert found(0, inputs=one).reason == "insensitive"


def test_noise_does_not_pass_for_a_change() -> None:
    settings = {"baseline_runs": 8, "threshold": 0.6, "stop": "never"}
    noisy = found(0, 0.15, **settings)
    assert noisy.floor < 0.9
    changed = [each.outcome for each in noisy.trials if each.mutation.relation == "must-change"]
    assert "equivalent" in changed  # by noise
    assert (noisy.verdict, noisy.reason) == ("inconclusive", "insensitive")
    assert "hardly more than the model changes by itself" in noisy.explanation
    assert found(10, 0.15, **settings).verdict == "pass"


@pytest.mark.parametrize("heeds", [0, 10])
def test_a_threshold_of_nothing_is_not_held_against_controls(heeds: int) -> None:
    assert found(heeds, threshold=0).reason == ("insensitive" if heeds == 0 else "score-reached")
