"""The compatibility profile, against what the tool itself recorded (tests/data/quirx, MIT)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_promptfuzz.comparing import metrics
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.judging.compare import compare

DATA = Path(__file__).parents[1] / "data" / "quirx"
ANSWERS = json.loads((DATA / "answers.json").read_text(encoding="utf-8"))
EXPECTED = {run["run"]: run for run in json.loads((DATA / "expected.json").read_text(encoding="utf-8"))}
CLASSES = {"equivalent": "equivalent", "minor_variation": "minor", "behavioral_deviation": "deviation"}
PAIRS = [
    pytest.param(pair, expected, id=f"{run['run']}-{index}")
    for run in ANSWERS
    for index, (pair, expected) in enumerate(zip(run["pairs"], EXPECTED[run["run"]]["pairs"], strict=True))
]


def test_every_recorded_pair_is_there() -> None:
    assert len(PAIRS) == 38
    assert not any(
        "classification" in pair or "similarity" in pair for run in ANSWERS for pair in run["pairs"]
    )


@pytest.mark.parametrize(("pair", "expected"), PAIRS)
def test_token_and_structural_scores(pair, expected) -> None:
    baseline, response = pair["baseline"], pair["response"]
    assert metrics.token_similarity(baseline, response) == pytest.approx(
        expected["token_similarity"], abs=1e-9
    )
    assert metrics.structural_similarity(baseline, response) == pytest.approx(
        expected["structural_similarity"], abs=1e-9
    )


class Embedder:
    def embed(self, texts):
        return [[1.0, float(len(text))] for text in texts]


@pytest.mark.parametrize("unit", ["aaaa ", "&#x41;", ".   ", "….", "\n", "_", "https://a:b@c/"])
def test_long_answers_are_compared_or_said_to_be_too_long(unit) -> None:
    answers = unit * (100_000 // len(unit)), f"a {unit * (100_000 // len(unit))}"
    found = compare(*answers, profile="quirx", semantic=Embedder())
    assert (found.outcome, found.reason) == ("undecided", "too-long")
    assert all(metrics.sentences(unit * 2_000))
    metrics.tokens(unit * 2_000)
    metrics.structural_similarity(*answers)


@pytest.mark.minilm
@pytest.mark.parametrize(("pair", "expected"), PAIRS)
def test_semantic_score_and_class(minilm, pair, expected) -> None:
    found = metrics.scores(pair["baseline"], pair["response"], semantic=minilm)
    assert found.semantic == pytest.approx(expected["semantic_similarity"], abs=1e-5)
    assert found.overall == pytest.approx(expected["overall_similarity"], abs=1e-5)
    comparison = compare(pair["baseline"], pair["response"], profile="quirx", semantic=minilm)
    assert comparison.outcome == found.outcome == CLASSES[expected["classification"]]


@pytest.mark.minilm
@pytest.mark.parametrize("run", ANSWERS, ids=lambda run: run["run"])
def test_robustness_of_each_run(minilm, run) -> None:
    outcomes = [
        compare(pair["baseline"], pair["response"], profile="quirx", semantic=minilm).outcome
        for pair in run["pairs"]
    ]
    summary = EXPECTED[run["run"]]["summary"]
    assert outcomes.count("equivalent") == summary["equivalent_count"]
    assert outcomes.count("minor") == summary["minor_variation_count"]
    tenths = 10 * outcomes.count("equivalent") + 7 * outcomes.count("minor")
    assert tenths / (10 * len(outcomes)) == pytest.approx(summary["robustness_score"])


def test_needs_the_semantic_tier() -> None:
    with pytest.raises(ConfigurationError, match="semantic=True"):
        compare("one answer", "another answer", profile="quirx")
    assert compare("one answer", "one answer", profile="quirx").outcome == "equivalent"


def test_compares_texts_only() -> None:
    with pytest.raises(UsageError, match="response is of type dict"):
        compare("one", {"a": 1}, profile="quirx")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It isn't $50, is it?", ["it", "is", "n't", "$", "50", ",", "is", "it", "?"]),
        ("12-18% at 9:30.", ["12-18", "%", "at", "9:30", "."]),
        ('He said "no".', ["he", "said", "``", "no", "''", "."]),
        ("Dr. Smith left. We stayed.", ["dr.", "smith", "left", ".", "we", "stayed", "."]),
    ],
)
def test_tokens(text, expected) -> None:
    assert metrics.tokens(text) == expected


def test_json_structure() -> None:
    assert metrics.structural_similarity('{"a": 1}', '{"a": 2}') == 1.0
    assert metrics.structural_similarity('{"a": 1}', '{"b": {"c": 1}}') == pytest.approx(0.25)
    assert metrics.structural_similarity("{}", "[]") == 1.0
