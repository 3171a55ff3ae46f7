"""Reports made by hand, as the model of reports defines them, to look at what is rendered from them."""

from __future__ import annotations

import hashlib
from typing import Any

from pytest_promptfuzz.reporting.model import (
    EffectReport,
    GroupReport,
    SpentReport,
    TestReport,
    TrialReport,
    VarianceReport,
)

PROMPT = (
    "Classify the sentiment of the following text as either POSITIVE, NEGATIVE, or NEUTRAL. "
    "Consider the overall tone and emotion. Return only one word. Be objective in your assessment.\n\n"
    "Text: {text}"
)
COMMAND = "pytest 'tests/test_triage.py::test_triage' --promptfuzz-trial={id}"


def spent(
    calls: int = 1, hits: int = 0, seconds: float = 0.4, tokens: tuple[int, int] | None = (120, 4)
) -> SpentReport:
    one, other = tokens or (None, None)
    return SpentReport(
        calls=calls,
        retries=0,
        hits=hits,
        seconds=seconds,
        input_tokens=one,
        output_tokens=other,
        unpriced=0,
        speculated=0,
        unused=0,
        judge_calls=0,
        judge_hits=0,
        saved=0,
        controls=0,
        recorded=0,
    )


def counts(e: int = 0, m: int = 0, d: int = 0, u: int = 0, x: int = 0) -> dict[str, int]:
    return {"equivalent": e, "minor": m, "deviation": d, "undecided": u, "error": x, "not-needed": 0}


def group(score: float | None, weighted: float | None = None, **tally: int) -> GroupReport:
    return GroupReport(counts=counts(**tally), score=score, weighted=weighted)


def trial(number: int, operator: str = "upper-case", dimension: str = "lexical", **given: Any) -> TrialReport:
    identity = hashlib.sha256(str(number).encode()).hexdigest()[:12]
    made = {
        "id": identity,
        "case": 0,
        "sample": 0,
        "again": [],
        "operators": [f"{operator}@1"],
        "dimension": dimension,
        "severity": 0.3,
        "change_rate": 0.1,
        "preserves": "yes",
        "relation": "invariance",
        "outcome": "equivalent",
        "similarity": 1.0,
        "reason": "exact",
        "explanation": "the answers are the same",
        "tiers": [["exact", 1.0, ""]],
        "diff": [["=", "Classify the "], ["-", "sentiment"], ["+", "SENTIMENT"], ["=", PROMPT[22:]]],
        "prompt": PROMPT.replace("sentiment", "SENTIMENT"),
        "response": "POSITIVE",
        "error": None,
        "failure": None,
        "spent": spent(),
        "reproduce": COMMAND.replace("{id}", identity),
    }
    return TrialReport(**{**made, **given})  # type: ignore[typeddict-item]


def report(**given: Any) -> TestReport:
    trials: list[TrialReport] = given.get("trials", [trial(n) for n in range(8)])
    tally = counts()
    for each in trials:
        tally[each["outcome"]] += 1
    made = TestReport(
        format=1,
        test="tests/test_triage.py::test_triage",
        location=("tests/test_triage.py", 12),
        verdict="pass",
        reason="score-reached",
        explanation="The score 1.00 reaches the threshold 0.85.",
        gate="point",
        paired=None,
        score=1.0,
        bounds=(1.0, 1.0),
        threshold=0.85,
        adjusted_score=None,
        interval=None,
        noise=None,
        variance=None,
        counts=tally,
        planned=8,
        seed=0,
        task="classification (inferred)",
        target="openai:gpt-5-mini",
        model="gpt-5-mini-2025-08-07",
        judge="",
        oracle_only=False,
        by_dimension={"lexical": group(1.0, 1.0, e=len(trials))},
        by_operator={},
        by_relation={},
        relation="invariance",
        prompt=PROMPT,
        baseline="POSITIVE",
        baselines=["POSITIVE"],
        trials=trials,
        spent=spent(calls=9, hits=0, seconds=3.24, tokens=(1080, 36)),
        cost=None,
        notes=[],
        inputs=[],
        counterexamples=[],
        replayed=[],
        reasked="",
        against_base={},
        answers={},
        beside_base={},
        compared={},
        accepted=None,
        drift=[],
        searched=None,
        gold=None,
        judging=None,
    )
    whole = TestReport(**{**made, **given})  # type: ignore[typeddict-item]
    for each in whole["trials"]:
        each.setdefault("baseline", whole["baseline"])  # type: ignore[misc]  # of the first example
    return whole


def passing() -> TestReport:
    return report()


def brittle() -> TestReport:
    """Three deviations: two of one kind, and a sentence that moved, whose check failed."""
    label = {
        "outcome": "deviation",
        "similarity": 0.31,
        "reason": "label",
        "explanation": "label POSITIVE became a sentence of 7 words",
    }
    moved = [
        ["=", PROMPT[: PROMPT.index("Consider")]],
        ["-", "Consider the overall tone and emotion. "],
        ["=", "Return only one word. Be objective in your assessment."],
        ["+", " Consider the overall tone and emotion."],
        ["=", "\n\nText: {text}"],
    ]
    return report(
        verdict="brittle",
        reason="score-below-threshold",
        explanation="The score 0.625 is below the threshold 0.85.",
        score=0.625,
        bounds=(0.625, 0.625),
        by_dimension={
            "lexical": group(1.0, 1.0, e=3),
            "semantic": group(1 / 3, 0.5, e=1, d=2),
            "structural": group(0.5, 0.5, e=1, d=1),
        },
        trials=[
            *(trial(n) for n in range(3)),
            trial(
                0x51A4,
                "synonym",
                "semantic",
                **label,
                response="The text expresses a positive sentiment.",
                diff=[["=", "Classify the "], ["-", "sentiment"], ["+", "mood"], ["=", PROMPT[22:]]],
            ),
            trial(0x51A5, "politeness", "semantic", **label, response="I would say that it is positive."),
            trial(0x51A6, "formality", "semantic"),
            trial(
                0x51A7,
                "sentence-shuffle",
                "structural",
                outcome="deviation",
                similarity=0.0,
                severity=0.62,
                reason="oracle",
                explanation="",
                response="NEUTRAL",
                diff=moved,
                failure={
                    "type": "AssertionError",
                    "message": "assert 'NEUTRAL' == 'POSITIVE'\n  - POSITIVE\n  + NEUTRAL",
                    "traceback": (
                        "    def test_triage(prompt, llm):\n"
                        "        answer = llm(prompt.format(text=TEXT))\n"
                        ">       assert answer.text == 'POSITIVE'\n"
                        "E       AssertionError: assert 'NEUTRAL' == 'POSITIVE'\n\n"
                        "tests/test_triage.py:14: AssertionError"
                    ),
                },
            ),
            trial(0x51A8, "bullet-reorder", "structural"),
        ],
        notes=["similarity: the semantic tier is not installed; 2 answers were decided by their words."],
    )


def rate_limited() -> TestReport:
    error = {
        "kind": "rate-limit",
        "message": "openai answered 429: Rate limit reached for gpt-5-mini (5 attempts, Retry-After 20 s).",
    }
    failed = {"outcome": "error", "similarity": None, "reason": "", "explanation": "", "response": None}
    return report(
        verdict="inconclusive",
        reason="errors-decide",
        explanation="3 of 8 trials ended in an error: the score lies between 0.625 and 1.00, and the threshold is 0.85.",
        score=1.0,
        bounds=(0.625, 1.0),
        trials=[
            *(trial(n) for n in range(5)),
            trial(0x6001, "synonym", "semantic", **failed, error=error),
            trial(0x6002, "typo", **failed, error=error),
            trial(
                0x6003,
                "sentence-shuffle",
                "structural",
                **failed,
                error={"kind": "not-exercised", "message": "No request held the text of this mutation."},
            ),
        ],
    )


def undecided() -> TestReport:
    return report(
        verdict="inconclusive",
        reason="undecided-decide",
        explanation="2 of 8 trials are undecided: the score lies between 0.75 and 1.00, and the threshold is 0.85.",
        bounds=(0.75, 1.0),
        baseline="Your parcel left our warehouse on Monday and arrives within three days.",
        trials=[
            *(trial(n) for n in range(6)),
            *(
                trial(
                    0x7000 + n,
                    name,
                    "semantic",
                    outcome="undecided",
                    similarity=None,
                    reason="no-tier",
                    explanation="The wording differs too much for the tiers at hand; install the semantic extra.",
                    response="It is on its way: shipped Monday, three days at the most.",
                )
                for n, name in enumerate(("synonym", "formality"))
            ),
        ],
    )


def oracle_only() -> TestReport:
    failure = {"type": "Failed", "message": "no label in the answer", "traceback": ""}
    return report(
        verdict="brittle",
        reason="score-below-threshold",
        score=0.75,
        bounds=(0.75, 0.75),
        oracle_only=True,
        baseline=None,
        target="simulated?seed=3",
        trials=[
            *(trial(n, response=None, reason="", explanation="", tiers=[]) for n in range(6)),
            *(
                trial(
                    0x8000 + n,
                    name,
                    "lexical",
                    outcome="deviation",
                    similarity=0.0,
                    reason="oracle",
                    explanation="",
                    response=None,
                    failure=failure,
                    diff=[["=", "Classify the"], ["-", " "], ["+", "  "], ["=", "sentiment" + PROMPT[22:]]],
                )
                for n, name in enumerate(("double-space", "trailing-space"))
            ),
        ],
    )


HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\x1b[31mPOSITIVE\r\n::error file=a.py::you lose\n ##vso[task.complete]done\n"
    "\u202eevil\u202c \x9b1A \ud800 a\u200bb"
)


def hostile() -> TestReport:
    return report(
        test="tests/test_evil.py::test_evil[\x1b[31m\n::error::x]",
        verdict="brittle",
        reason="score-below-threshold",
        score=0.0,
        bounds=(0.0, 0.0),
        baseline="::set-output name=x::y",
        notes=["the model said \x1b[5mboo\x1b[0m"],
        trials=[
            trial(
                1,
                outcome="deviation",
                response=HOSTILE,
                explanation="label \x1b[8mhidden\x1b[0m",
                diff=[["=", "a\x1b[1m"], ["-", "b\x07"], ["+", "c\u202e"]],
                failure={"type": "AssertionError", "message": HOSTILE, "traceback": HOSTILE},
                reproduce="pytest 'a.py::b[\x1b[31m]'\n::error::x",
            )
        ],
        planned=1,
    )


def long_answer() -> TestReport:
    body = "The customer writes that the parcel was late. " * 60
    rows = "\n".join(f"row {n}: nothing to see" for n in range(40))
    return report(
        verdict="brittle",
        reason="score-below-threshold",
        score=0.0,
        bounds=(0.0, 0.0),
        baseline=body + "They want their money back." + body,
        planned=2,
        trials=[
            trial(
                1,
                outcome="deviation",
                reason="guard:negation",
                similarity=0.7,
                explanation="“want” became “do not want”",
                response=body + "They do not want their money back." + body,
            ),
            trial(
                2,
                "typo",
                outcome="deviation",
                reason="semantic",
                similarity=0.21,
                explanation="another answer",
                response=rows,
            ),
        ],
    )


def wide() -> TestReport:
    return report(
        test="tests/test_日本語.py::test_分類[とても長い名前のテストケースで表の幅を超えるもの]",
        verdict="brittle",
        reason="score-below-threshold",
        score=0.0,
        bounds=(0.0, 0.0),
        planned=1,
        baseline={"感情": "肯定的", "理由": "とても良い商品だと書かれているため、肯定的と判断しました。"},
        prompt="次の文章の感情を分類してください。一語で答えてください。",
        trials=[
            trial(
                1,
                "synonym",
                "semantic",
                outcome="deviation",
                reason="json-value",
                similarity=0.6,
                explanation="JSON differs at $.感情: 肯定的 became 否定的",
                response='{"感情": "否定的", "理由": "配送が遅れたと書かれているため、否定的と判断しました。é"}',
                diff=[
                    ["=", "次の文章の"],
                    ["-", "感情"],
                    ["+", "気分"],
                    ["=", "を分類してください。一語で答えてください。"],
                ],
            )
        ],
    )


def several_inputs() -> TestReport:
    """Half of the variance is one operator's doing, which harms two of three inputs."""
    label = {"reason": "label", "explanation": "label POSITIVE became NEGATIVE", "response": "NEGATIVE"}
    broken = [
        trial(n, "persona", "augmentation", case=n % 3, sample=n // 3, outcome="deviation", **label)
        for n in (1, 2, 4, 5)
    ]
    kept = [trial(n, "typo", case=n % 3, sample=n // 3) for n in (0, 1, 2, 3, 4, 5)]
    effects = [
        EffectReport(operator="persona", mean=-0.6667, low=-2.5648, high=1.2315, items=3, p=0.5),
        EffectReport(operator="typo", mean=0.6667, low=-1.2315, high=2.5648, items=3, p=0.5),
    ]
    return report(
        verdict="brittle",
        reason="score-below-threshold",
        explanation="The score 0.60 is below the threshold 0.85.",
        score=0.6,
        bounds=(0.6, 0.6),
        variance=VarianceReport(
            inference=0.05,
            item=0.1,
            perturbation=0.15,
            shares=(0.1667, 0.3333, 0.5),
            share=0.5,
            share_range=(0.125, 0.875),
            effects=effects,
            notes=[],
        ),
        inputs=["'refund'", "'crash'", "'login'"],
        trials=[*broken, *kept],
    )


ALL = {
    "passing": passing,
    "brittle": brittle,
    "rate_limited": rate_limited,
    "undecided": undecided,
    "oracle_only": oracle_only,
    "hostile": hostile,
    "long_answer": long_answer,
    "wide": wide,
    "several_inputs": several_inputs,
}
