"""How often the comparison errs, on pairs written before the guards were (tests/comparing/data)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_promptfuzz.judging.compare import compare

DATA = Path(__file__).parent / "data"


def pairs(name):
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


# frozen*.jsonl were written by another hand and committed before the comparison first saw them; docs/comparison.md
# gives the rates of that first contact.
FROZEN = [each for path in sorted(DATA.glob("frozen*.jsonl")) for each in pairs(path.name)]
ALTERED = [each for path in sorted(DATA.glob("altered*.jsonl")) for each in pairs(path.name)] + [
    each for each in FROZEN if each["expect"] == "altered"
]
HARMLESS = [each for path in sorted(DATA.glob("harmless*.jsonl")) for each in pairs(path.name)] + [
    each for each in FROZEN if each["expect"] == "harmless"
]


def outcomes(some, semantic=None):
    found = {}
    for each in some:
        found[each["a"], each["b"]] = compare(
            each["a"], each["b"], task=each["task"], semantic=semantic
        ).outcome
    return found


@pytest.mark.parametrize("pair", ALTERED, ids=lambda pair: f"{pair['class']}-{pair['b'][:40]}")
def test_an_altered_answer_is_never_equivalent(pair) -> None:
    for first, second in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
        found = compare(first, second, task=pair["task"])
        assert found.outcome != "equivalent", found.explanation


@pytest.mark.parametrize("pair", HARMLESS, ids=lambda pair: pair["b"][:40])
def test_a_harmless_rewording_is_never_a_deviation(pair) -> None:
    found = compare(pair["a"], pair["b"], task=pair["task"])
    assert found.outcome != "deviation", found.explanation


def test_rates_of_the_core() -> None:
    altered, harmless = Counter(outcomes(ALTERED).values()), Counter(outcomes(HARMLESS).values())
    assert altered["deviation"] >= 0.9 * len(ALTERED), altered
    assert harmless["equivalent"] >= 0.6 * len(HARMLESS), harmless


@pytest.mark.minilm
def test_rates_with_meaning(minilm) -> None:
    altered, harmless = outcomes(ALTERED, minilm), outcomes(HARMLESS, minilm)
    assert [pair for pair, outcome in altered.items() if outcome == "equivalent"] == []
    assert [pair for pair, outcome in harmless.items() if outcome == "deviation"] == []
    # Where another word stands in a kept frame, likeness of meaning settles nothing.
    assert list(harmless.values()).count("undecided") <= 0.25 * len(HARMLESS)
    assert Counter(altered.values())["deviation"] >= 0.9 * len(ALTERED)
    assert Counter(harmless.values())["equivalent"] >= 0.7 * len(HARMLESS)
