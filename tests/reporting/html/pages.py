"""Documents to look at as pages: one of everything, hostile ones, large ones; and real ones, of the simulated model."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import handmade

from pytest_promptfuzz import evaluate
from pytest_promptfuzz.reporting.document import Document, DocumentTest, RunReport, document
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.reporting.schema import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = "pytest '{test}' --promptfuzz-trial={{id}}"


def run(**given: Any) -> RunReport:
    made = {
        "id": "20261122T101500Z-1f2e3d",
        "name": "",
        "started": "2026-11-22T10:15:00Z",
        "seconds": 42.5,
        "version": "0.1.0",
        "python": "3.11.2",
        "mode": "auto",
        "seed": 0,
        "commit": "4f1c2ab90de1",
        "branch": "shorter-triage-prompt",
        "dirty": True,
        "complete": True,
    }
    return RunReport(**{**made, **given})  # type: ignore[typeddict-item]


def whole(report: Any, **given: Any) -> DocumentTest:
    """A report made by hand, with the keys that it lacks."""
    outcomes = {"pass": "passed", "inconclusive": "error"}
    outcome = outcomes.get(given.get("verdict", report["verdict"]), "failed")
    baselines = [report["baseline"]] * (1 + max((each["case"] for each in report["trials"]), default=0))
    made = unpacked({"baselines": baselines, "outcome": outcome, **report, **given})
    for short, trial in zip(report["trials"], made["trials"], strict=True):
        trial.update(short)
    return made


def asked(prompt: str, target: str = "simulated", *, test: str, **given: Any) -> DocumentTest:
    """A test of the simulated model."""
    result = evaluate(prompt, target, **{"mutations": 8, **given})
    file = test.partition("::")[0]
    report: Any = report_test(result, test=test, location=(file, 12), reproduce=COMMAND.format(test=test))
    return {**report, "outcome": "passed" if report["verdict"] == "pass" else "failed"}  # type: ignore[return-value]


def change(test: str, status: str = "worse", **given: Any) -> Any:
    return {
        "test": test,
        "status": status,
        "verdict_before": "pass",
        "verdict": "brittle",
        "score_before": 1.0,
        "score": 0.63,
        "difference": -0.37,
        "pairs": 8,
        "worse": 3,
        "better": 0,
        "p": 0.01,
        "adjusted_p": 0.02,
        "new_deviations": ["8f14e45fceea"],
        "mended": [],
        "prompt_changed": True,
        "baseline": "same",
        "model_before": "gpt-5-mini-2025-08-07",
        "model": "gpt-5-mini-2025-08-07",
        "cost_before": 0.01,
        "cost": 0.01,
        "explanation": "3 of 8 trials deviate that did not before: more than noise.",
        **given,
    }


def changes(*tests: Any, conditions: Any = ()) -> Any:
    base = {
        "label": "main",
        "kind": "ref",
        "run": "20261121T090000Z-aa",
        "started": "2026-11-21T09:00:00Z",
        "commit": "0a1b2c3d4e5f",
        "branch": "main",
    }
    return {"base": base, "tests": list(tests), "conditions": list(conditions), "answers": []}


def trends(tests: list[str], runs: int = 8) -> Any:
    rng = random.Random(1)
    past = [
        {
            "id": f"r{n}",
            "name": "",
            "started": f"2026-11-{10 + n:02}T09:00:00Z",
            "commit": f"{n:x}" * 10,
            "branch": "main",
            "dirty": False,
        }
        for n in range(runs)
    ]
    points = {
        test: [
            {"run": n, "score": score, "verdict": "pass" if score >= 0.85 else "brittle", "cost": 0.01}
            for n in range(runs)
            for score in [rng.choice([1.0, 0.93, 0.88, 0.75])]
        ]
        for test in tests
    }
    return {"runs": past, "tests": points}


def found(**given: Any) -> Any:
    """A counterexample."""
    prompt = handmade.PROMPT
    return {
        "id": "0123456789ab",
        "mutation": {},
        "trial": "8f14e45fceea",
        "case": 0,
        "baseline": "POSITIVE",
        "answer": "The text expresses a positive sentiment.",
        "failure": "label POSITIVE became a sentence of 7 words",
        "minimal": True,
        "calls": 9,
        "repeats": [3, 3],
        "diff": [["=", prompt[:13]], ["-", "sentiment"], ["+", "mood"], ["=", prompt[22:]]],
        "prompt": prompt.replace("sentiment", "mood"),
        **given,
    }


def everything() -> Document:
    """All that a page can hold, in one document."""
    made = {name: make() for name, make in handmade.ALL.items()}
    names = {name: f"tests/test_triage.py::test_{name}" for name in made}
    group = {
        "synonym": handmade.group(0.3, 0.3, e=1, d=1),
        "typo": handmade.group(0.85, 0.8, e=6, d=1),
        "upper-case": handmade.group(1.0, 1.0, e=4),
        "persona": handmade.group(None, None, x=2),
        "politeness": handmade.group(0.0, 0.0, d=2),
        "sentence-shuffle": handmade.group(0.65, 0.6, e=1, d=1),
    }
    tests = [whole({**report, "test": names[name]}, by_operator=group) for name, report in made.items()]
    brittle = next(each for each in tests if each["test"] == names["brittle"])
    brittle.update(
        counterexamples=[found()],
        interval={"low": 0.31, "high": 0.86, "level": 0.95, "estimand": "operators"},
        noise={"floor": 0.95, "baselines": 8, "repeats": 6, "p": 0.003, "alpha": 0.05},
        adjusted_score=0.66,
        drift=[drift()],
        replayed=[
            {
                "id": "aaaaaaaaaaaa",
                "status": "passes",
                "why": "",
                "target": "openai:gpt-4o-mini",
                "now": found(),
            },
            {
                "id": "bbbbbbbbbbbb",
                "status": "gone",
                "why": "its sentence is gone",
                "target": "simulated",
                "now": None,
            },
        ],
        gold={
            "accuracy": 0.75,
            "mutated": 0.5,
            "drop": 0.25,
            "inputs": 4,
            "untold": 1,
            "wrong": [{"case": 0, "expected": "NEGATIVE", "answered": "NEUTRAL"}],
        },
        judging={
            "judge": "openai:gpt-5",
            "ratings": {"same": 5, "minor": 1},
            "failed": 0,
            "quality": {"overall": 0.7},
        },
    )
    for model, verdict in (("openai:gpt-5-mini", "pass"), ("anthropic:claude-haiku-4-5", "brittle")):
        one = made["passing" if verdict == "pass" else "brittle"]
        tests.append(
            whole({**one, "test": f"tests/test_models.py::test_reply[{model}]", "target": model}, cost=0.0123)
        )
    tests.append(
        asked(
            "Classify the mood as good or bad. Answer with one word only.\n\nText: What a lovely day!",
            test="tests/test_mood.py::test_mood",
        )
    )
    unjudged = [
        {
            "test": "tests/test_orders.py::test_total",
            "outcome": "failed",
            "message": "AssertionError: assert 'Total' in ''\n  the answer to the unmutated prompt is empty",
            "location": ("tests/test_orders.py", 30),
        }
    ]
    compared = changes(
        change(names["brittle"]),
        change(names["passing"], "better", verdict="pass", score=1.0, difference=0.2, explanation="Better."),
        change(names["wide"], "same", difference=0.0, new_deviations=[]),
        conditions=[{"expression": "score drop > 0.05", "tests": [names["brittle"]]}],
    )
    return document(
        run(),
        tests,
        unjudged=unjudged,  # type: ignore[arg-type]
        changes=compared,
        trends=trends([each["test"] for each in tests]),
        warnings=["the store holds answers of two models named gpt-5-mini"],
    )


def drift(**given: Any) -> Any:
    return {
        "kind": "model",
        "policy": "warn",
        "message": "The answer to the unmutated prompt is not the snapshot's.",
        "before": "POSITIVE",
        "after": "Positive.",
        "case": 0,
        "p": 0.004,
        **given,
    }


_WORDS = [
    "order",
    "refund",
    "parcel",
    "customer",
    "delivery",
    "invoice",
    "payment",
    "account",
    "ticket",
    "answer",
    "label",
    "reply",
    "agent",
    "support",
    "team",
    "policy",
    "return",
    "address",
    "email",
    "number",
    "date",
    "please",
    "kindly",
    "always",
    "never",
    "only",
    "exactly",
    "short",
    "polite",
    "clear",
    "reason",
    "urgent",
    "late",
    "broken",
    "missing",
    "double",
    "charge",
    "bank",
    "card",
    "login",
    "password",
    "screen",
    "button",
    "page",
    "error",
    "crash",
    "slow",
]


def prose(rng: random.Random, characters: int) -> str:
    """Sentences that are not all alike."""
    made: list[str] = []
    used = 0
    while used < characters:
        words = [rng.choice(_WORDS) for _ in range(rng.randrange(6, 14))]
        words[rng.randrange(len(words))] = f"{rng.choice(_WORDS)}{rng.randrange(10_000)}"
        made.append(" ".join(words).capitalize() + rng.choice([". ", ". ", "?\n", ".\n\n"]))
        used += len(made[-1])
    return "".join(made)[:characters]


def many(tests: int, trials: int = 16) -> Document:
    """A run of many tests, with prompts of 1,500 characters and answers of 300 to 600."""
    made = list(drawn(tests, trials))
    return document(run(), made, trends=trends([each["test"] for each in made]))


def drawn(tests: int, trials: int) -> Iterator[DocumentTest]:
    """The tests of such a run, one by one."""
    rng = random.Random(7)
    operators = [
        (f"{kind}-{n}", dimension)
        for kind, dimension in (
            ("typo", "lexical"),
            ("case", "lexical"),
            ("word", "semantic"),
            ("order", "structural"),
        )
        for n in range(6)
    ]
    for number in range(tests):
        yield _generated(rng, number, trials, operators)


def _generated(
    rng: random.Random, number: int, trials: int, operators: list[tuple[str, str]]
) -> DocumentTest:
    prompt, baseline = prose(rng, 1_500), prose(rng, rng.randrange(300, 600))
    harm = rng.choice([0.0, 0.0, 0.05, 0.1, 0.4])
    made: list[Any] = []
    tallies: dict[str, dict[str, dict[str, int]]] = {"by_operator": {}, "by_dimension": {}}
    for _ in range(trials):
        operator, dimension = rng.choice(operators)
        at = sorted(rng.sample(range(len(prompt) - 20), 2))
        diff = []
        start = 0
        for place in at:
            if place < start:
                continue
            end = place + rng.randrange(3, 12)
            diff += [
                ["=", prompt[start:place]],
                ["-", prompt[place:end]],
                ["+", prose(rng, rng.randrange(4, 30))],
            ]
            start = end
        diff.append(["=", prompt[start:]])
        broken = rng.random() < harm
        words = baseline.split(" ")
        for _ in range(rng.randrange(2, 9)):
            words[rng.randrange(len(words))] = rng.choice(_WORDS)
        outcome = "deviation" if broken else "equivalent"
        for key, name in (("by_operator", operator), ("by_dimension", dimension)):
            tallies[key].setdefault(name, handmade.counts())[outcome] += 1
        made.append(
            handmade.trial(
                rng.getrandbits(40),
                operator,
                dimension,
                outcome=outcome,
                similarity=0.3 if broken else 0.93,
                reason="semantic",
                explanation="the answers say different things" if broken else "the answers mean the same",
                tiers=[["exact", 0.0, ""], ["token", 0.61, ""], ["semantic", 0.3 if broken else 0.93, ""]],
                baseline=baseline,
                response=prose(rng, rng.randrange(300, 600)) if broken else " ".join(words),
                diff=diff,
                prompt="".join(text for kind, text in diff if kind != "-"),
            )
        )
    deviations = sum(each["outcome"] == "deviation" for each in made)
    score = 1 - deviations / trials
    verdict = "pass" if score >= 0.85 else "brittle"
    groups = {
        key: {
            name: {"counts": tally, "score": tally["equivalent"] / sum(tally.values()), "weighted": 1.0}
            for name, tally in found.items()
        }
        for key, found in tallies.items()
    }
    name = f"tests/test_{_WORDS[number % 40]}.py::test_{_WORDS[number % 31]}_{number}"
    report = handmade.report(
        test=name,
        verdict=verdict,
        reason="score-reached" if verdict == "pass" else "score-below-threshold",
        score=score,
        bounds=(score, score),
        prompt=prompt,
        baseline=baseline,
        trials=made,
        planned=trials,
        cost=rng.random() / 50,
    )
    return whole(report, **groups)
