"""What becomes of real answers: one prompt that was answered differently, and prompts that were mutated.

    python benchmarks/recorded.py [--tests 200]

``tests/data/quirx`` holds answers that two models gave to three prompts and their mutants; four mutants were asked two
or three times. First these repeats: a test whose unmutated prompt and whose eight mutations are all answered by a draw
from the recorded repeats of one and the same prompt, through ``evaluate``. Nothing was changed, so "brittle" is an
error, however the answers differ. They are compared as SQL (inferred), where what is written in another way is left
undecided, and as other tasks, where it is decided. "Alone" is Eq. 1 against the threshold, without noise handling.
With ``broken``, the other way round: the mutations are answered from the repeats of another prompt.

Then the recorded runs as they are: one unmutated answer, six or seven mutants, nothing that could be asked again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz import Session, compare, evaluate
from pytest_promptfuzz.stats.repeats import ALONE, escalate, known
from pytest_promptfuzz.stats.scores import CREDITS, Counts, Matrix, exact
from pytest_promptfuzz.stats.verdict import decide
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.targets.simulated.target import SimulatedTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.providers.requests import Request
    from pytest_promptfuzz.results.robustness import Robustness

DATA = Path(__file__).parents[1] / "tests" / "data" / "quirx" / "answers.json"
VERDICTS = ("pass", "brittle", "noisy", "inconclusive")
TASKS = (None, "free", "classification")
THRESHOLD = exact(0.85)


class Recorded(SimulatedTarget):
    """Answers each call with one of some recorded answers, drawn from a hash of test, prompt and sample."""

    def __init__(self, prompt: str, own: Sequence[str], others: Sequence[str], number: int) -> None:
        super().__init__(seed=number)
        self.prompt, self.own, self.others = prompt, own, others

    def send(self, request: Request, *, sample: int | None = None) -> dict[str, Any]:
        """One of the answers of the unmutated prompt, or of those to its mutations."""
        body = super().send(request, sample=sample)
        text = request.messages[-1]["content"]
        answers = self.own if text == self.prompt else self.others
        digest = hashlib.sha256(f"{self.model.seed} {sample} {text}".encode()).digest()
        body["choices"][0]["message"]["content"] = answers[int.from_bytes(digest[:8], "big") % len(answers)]
        return body


def runs() -> list[dict[str, Any]]:
    """The recorded runs: prompt, model, pairs."""
    found: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def answers_of(run: dict[str, Any]) -> dict[str, list[str]]:
    """By mutated prompt, its answers."""
    found: dict[str, list[str]] = {}
    for pair in run["pairs"]:
        found.setdefault(pair["mutated_prompt"], []).append(pair["response"])
    return found


def repeats() -> dict[str, tuple[str, list[str]]]:
    """By run, the prompt that was asked more than once, and its answers."""
    return {
        run["run"]: (prompt, answers)
        for run in runs()
        for prompt, answers in answers_of(run).items()
        if len(answers) > 1
    }


def one_test(
    prompt: str, own: Sequence[str], others: Sequence[str], number: int, task: str | None
) -> Robustness:
    """A test whose prompt is answered from ``own``, and its mutations from ``others``."""
    target = Recorded(prompt, own, others, number)
    session = Session(store=MemoryStore())
    return evaluate(prompt, target, seed=number, task=task, stop="never", shrink=0, session=session)


def alone(found: Robustness) -> str:
    """The verdict that Eq. 1 gives by itself."""
    return decide(found.outcomes, THRESHOLD, evidence=ALONE).verdict


def as_recorded(run: dict[str, Any]) -> tuple[str, str, str]:
    """The verdict of Eq. 1 on a recorded run, the verdict, and its reason; repeats of a mutant are its samples."""
    answers = [run["pairs"][0]["baseline"]]

    @cache
    def credit(one: int, other: int) -> int | None:
        return CREDITS.get(compare(answers[one], answers[other]).outcome)

    matrix = Matrix(credit, baseline=[0])
    outcomes = []
    for given in answers_of(run).values():
        matrix.mutated.append(list(range(len(answers), len(answers) + len(given))))
        outcomes += [compare(answers[0], each).outcome for each in given]
        answers += given
    counts = Counts.of(outcomes)
    evidence = known([matrix])
    looks = escalate([matrix], lambda each: decide(counts, THRESHOLD, evidence=each).verdict == "brittle")
    if decide(counts, THRESHOLD, evidence=evidence).verdict == "brittle":
        try:
            next(looks)  # nobody answers
            next(looks)
        except StopIteration as stop:
            evidence = stop.value
    found = decide(counts, THRESHOLD, evidence=evidence)
    return decide(counts, THRESHOLD, evidence=ALONE).verdict, found.verdict, found.reason


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, default=200, help="of each prompt and comparison")
    args = parser.parse_args()
    print(
        "| answers to | of them different | compared as | alone: brittle | pass | brittle | noisy | inconclusive |"
    )
    print("| --- | ---: | --- |" + " ---: |" * 5)
    groups = repeats()
    whole: Counter[str] = Counter()
    for run, (prompt, answers) in groups.items():
        for task in TASKS:
            found = [one_test(prompt, answers, answers, number, task) for number in range(args.tests)]
            verdicts = Counter(each.verdict for each in found)
            whole += verdicts
            row(run, answers, task or "inferred", found, verdicts)
    print(
        f"\nof {whole.total()} tests {whole['brittle']} are called brittle ({whole['brittle'] / whole.total():.2%})\n"
    )
    for run, (prompt, answers) in groups.items():
        _, others = next(each for name, each in groups.items() if name.split("_")[:2] != run.split("_")[:2])
        found = [one_test(prompt, answers, others, number, "classification") for number in range(args.tests)]
        row(f"{run}, broken", answers, "classification", found, Counter(each.verdict for each in found))
    print("\n| recorded run | alone | verdict | reason |\n| --- | --- | --- | --- |")
    for each in runs():
        print(f"| {each['run']} | " + " | ".join(as_recorded(each)) + " |")


def row(
    run: str, answers: Sequence[str], task: str, found: Sequence[Robustness], verdicts: Counter[str]
) -> None:
    """A line of the table."""
    bad = sum(alone(each) == "brittle" for each in found) / len(found)
    shares = " | ".join(f"{verdicts[each] / len(found):.3f}" for each in VERDICTS)
    print(f"| {run} | {len(set(answers))} of {len(answers)} | {task} | {bad:.3f} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
