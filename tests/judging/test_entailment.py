"""Verdicts of entailment: what both directions say together, and each pair asked once. No model is needed here."""

from __future__ import annotations

import sqlite3
from array import array

import pytest

from pytest_promptfuzz.comparing.meaning import Entailment, Verdict, nine_cases
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.judging import meaning
from pytest_promptfuzz.judging.meaning import (
    CachedEntailment,
    Embedded,
    VectorFile,
    check_entailment,
    claim_pairs,
)

ENTAILS, OPEN, CONTRADICTS = Verdict(0.9, 0.07, 0.03), Verdict(0.2, 0.7, 0.1), Verdict(0.05, 0.15, 0.8)


class Fake:
    """Answers by the length of the hypothesis; takes down what it is asked."""

    name = "fake"

    def __init__(self, stamp: str = "") -> None:
        self.stamp = stamp
        self.asked: list[list[tuple[str, str]]] = []

    def scores(self, pairs):
        self.asked.append(list(pairs))
        return [
            Verdict(1 / 3, 1 / 3 - len(two) / 100, 1 / 3 + len(two) / 100, len(one) > 9) for one, two in pairs
        ]


class Oracle:
    """Knows the pairs of the package, but for those of some kinds, of which it says the opposite."""

    name, stamp = "oracle", ""

    def __init__(self, *wrong: str) -> None:
        self.known = {}
        for pair in claim_pairs():
            for texts, label in (
                ((pair.first, pair.second), pair.forward),
                ((pair.second, pair.first), pair.backward),
            ):
                said = {"entailment": CONTRADICTS, "neutral": ENTAILS, "contradiction": ENTAILS}[label]
                right = {"entailment": ENTAILS, "neutral": OPEN, "contradiction": CONTRADICTS}[label]
                self.known[texts] = said if pair.kind in wrong else right

    def scores(self, pairs):
        return [self.known[pair] for pair in pairs]


@pytest.fixture
def warnings(monkeypatch) -> list[str]:
    monkeypatch.setattr(meaning, "_announced", set())
    return []


@pytest.fixture
def kept(tmp_path, warnings) -> VectorFile:
    return VectorFile(tmp_path / ".promptfuzz", warnings.append)


@pytest.mark.parametrize(
    ("forward", "backward", "case"),
    [
        (ENTAILS, ENTAILS, "equivalent"),
        (ENTAILS, OPEN, "minor"),
        (OPEN, ENTAILS, "minor"),
        (OPEN, OPEN, "undecided"),
        (ENTAILS, CONTRADICTS, "deviation"),
        (CONTRADICTS, ENTAILS, "deviation"),
        (OPEN, CONTRADICTS, "deviation"),
        (CONTRADICTS, OPEN, "deviation"),
        (CONTRADICTS, CONTRADICTS, "deviation"),
    ],
)
def test_the_nine_cases(forward, backward, case) -> None:
    assert nine_cases(forward, backward) == case


def test_a_direction_that_is_not_sure_counts_as_neutral() -> None:
    assert nine_cases(ENTAILS, ENTAILS, sure_at=0.9) == "equivalent"
    assert nine_cases(ENTAILS, ENTAILS, sure_at=0.91) == "undecided"
    assert nine_cases(ENTAILS, CONTRADICTS, sure_at=0.85) == "minor"
    assert Verdict(0.5, 0.25, 0.25).label() == "entailment"
    assert Verdict(0.49, 0.02, 0.49).label() == "neutral"
    # With a low threshold both may reach it: the likelier one counts, and contradiction where neither is.
    assert [
        Verdict(*each, 0).label(0.3) for each in ((0.4, 0.25, 0.35), (0.35, 0.25, 0.4), (0.4, 0.2, 0.4))
    ] == [
        "entailment",
        "contradiction",
        "contradiction",
    ]
    for wrong in (0, -0.1, 1.01, float("nan")):
        with pytest.raises(UsageError, match="sure_at="):
            nine_cases(ENTAILS, ENTAILS, sure_at=wrong)


def test_nothing_follows_from_a_text_that_was_cut() -> None:
    cut = Verdict(0.99, 0.01, 0.0, truncated=True)
    assert nine_cases(cut, cut) == "undecided"
    assert nine_cases(cut, ENTAILS) == "minor"
    assert nine_cases(Verdict(0.0, 0.1, 0.9, truncated=True), ENTAILS) == "deviation"


def test_a_pair_is_asked_once_and_a_direction_is_a_pair_of_its_own() -> None:
    fake = Fake()
    assert isinstance(fake, Entailment)
    cached = CachedEntailment(fake)
    first = cached.scores([("a", "bb"), ("bb", "a"), ("a", "bb")])
    assert first[0] == first[2] != first[1]
    assert fake.asked == [[("a", "bb"), ("bb", "a")]]
    assert cached.scores([("bb", "a"), ("a long premise", "c")])[0] == first[1]
    assert fake.asked[1:] == [[("a long premise", "c")]]
    assert [each.truncated for each in cached.scores([("a long premise", "c"), ("a", "bb")])] == [True, False]
    assert cached.scores([]) == []
    assert (cached.name, cached.stamp) == ("fake", "")
    assert len(fake.asked) == 2


def test_texts_with_any_character_are_pairs_of_their_own() -> None:
    fake = Fake()
    CachedEntailment(fake).scores(
        [("a\0b", "c"), ("a", "b\0c"), ('a", "b', "c"), ("\ud800", "x"), ("\ud801", "x")]
    )
    assert len(fake.asked[0]) == 5


def test_a_second_run_decides_by_the_same_numbers(kept, warnings) -> None:
    pairs = [("a", "b"), ("a long premise", "bcd")]
    cold = CachedEntailment(Fake(), kept).scores(pairs)
    again = Fake()
    assert CachedEntailment(again, kept).scores(pairs[::-1]) == cold[::-1]
    assert again.asked == []
    assert cold[0].entailment == array("f", [1 / 3])[0]
    assert sum((cold[1].entailment, cold[1].neutral, cold[1].contradiction)) == pytest.approx(1)
    other = Fake("another copy")
    CachedEntailment(other, kept).scores(pairs)
    assert other.asked == [pairs]
    assert warnings == []


@pytest.mark.parametrize("numbers", [[0.5, 0.5], [0.9, 0.9, 0.9], [-0.5, 0.5, 1.0], [0.25] * 4])
def test_what_is_no_verdict_on_disk_is_asked_again(kept, numbers) -> None:
    fake = Fake()
    right = CachedEntailment(fake, kept).scores([("a", "b")])
    with sqlite3.connect(kept.directory / "vectors" / "vectors.db") as connection:
        ((key,),) = connection.execute("SELECT key FROM vectors").fetchall()
    kept.write({key: Embedded(array("f", numbers), False)})
    assert CachedEntailment(fake, kept).scores([("a", "b")]) == right
    assert len(fake.asked) == 2


def test_memory_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr("pytest_promptfuzz.judging.meaning._MOST_VERDICTS", 3)
    fake = Fake()
    cached = CachedEntailment(fake)
    many = [("a", "b" * length) for length in range(1, 6)]
    assert len(cached.scores(many)) == 5
    cached.scores(many[2:])
    assert len(fake.asked) == 1
    cached.scores(many[:1])
    assert fake.asked[1:] == [many[:1]]


def test_the_pairs_of_the_package_are_sound() -> None:
    pairs = claim_pairs()
    assert 60 <= len(pairs) == len({(each.first, each.second) for each in pairs})
    kinds = ["numbers", "negation", "roles", "quantifiers", "paraphrase", "modality", "dates"]
    assert list(dict.fromkeys(each.kind for each in pairs)) == kinds
    for pair in pairs:
        assert {pair.forward, pair.backward} <= {"entailment", "neutral", "contradiction"}
        # A contradiction has no direction.
        assert (pair.forward == "contradiction") == (pair.backward == "contradiction"), pair
    cases = [each.case for each in pairs]
    assert min(cases.count(each) for each in ("equivalent", "minor", "deviation", "undecided")) >= 4


def test_the_check_counts_what_is_wrong() -> None:
    every = check_entailment(Oracle())[-1]
    assert (every.kind, every.pairs) == ("all", len(claim_pairs()))
    assert (every.wrong_directions, every.passed, every.condemned, every.undecided) == (0, 0, 0, 0)
    assert every.same + every.different == every.pairs
    found = {each.kind: each for each in check_entailment(Oracle("negation"))}
    negation, dates = found["negation"], found["dates"]
    assert (negation.passed, negation.condemned) == (negation.different, negation.same)
    assert negation.wrong_directions == found["all"].wrong_directions == 2 * negation.pairs
    assert (dates.wrong_directions, dates.passed) == (0, 0)
    unsure = check_entailment(Oracle(), sure_at=0.95)[-1]
    assert unsure.undecided == unsure.pairs - sum(each.case == "undecided" for each in claim_pairs())
