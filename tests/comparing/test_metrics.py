"""Text metrics: values worked out by hand, those of the reference implementations, and what holds of any texts."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.comparing.metrics import TIERS, bleu, chrf, indel, measure, rouge_l
from pytest_promptfuzz.errors import ConfigurationError, UsageError

CAT = "the cat sat on the mat", "the cat is on the mat"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("police killed the gunman", "police kill the gunman", 3 / 4),
        ("police killed the gunman", "the gunman kill police", 2 / 4),
        ("a b c", "a x b y", 2 * 2 / 7),
        ("The refund is approved.", "the REFUND is approved", 1.0),
        ("Pay 1,000 euros", "pay 1 000 euros!", 1.0),
        ("snake_case", "snake case", 1.0),
        ("退款已批准", "退款未批准", 4 / 5),
        ("ありがとう", "ありがと", 8 / 9),
        ("one", "two", 0.0),
        ("", "word", 0.0),
        ("", "  ", 1.0),
        ("?!", " ?! ", 1.0),
        ("?!", "...", 0.0),
    ],
)
def test_rouge_l(first, second, expected) -> None:
    assert rouge_l(first, second) == pytest.approx(expected, abs=1e-12)


def test_rouge_l_is_that_of_the_package_rouge_score() -> None:
    # Computed once with rouge-score 0.1.2, RougeScorer(["rougeL"]), without stemming.
    for first, second, expected in (
        (*CAT, 5 / 6),
        ("Don't cancel the order #12-345.", "Do not cancel order 12345", 4 / 12),
        ("The U.S. team won 3.5 points", "the US team won 3 5 points", 12 / 15),
    ):
        assert rouge_l(first, second) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(*CAT, 10 / 12), ("Good.", "good.", 0.0), ("a b", "b a", 0.5), ("", "", 1.0), ("", "a", 0.0)],
)
def test_indel(first, second, expected) -> None:
    assert indel(first, second) == pytest.approx(expected, abs=1e-12)


def test_bleu_by_hand() -> None:
    # Precisions 5/6, 3/5, 1/4 and, smoothed, (1/2)/3; as long as the reference, so no brevity penalty.
    assert bleu(*CAT) == pytest.approx((5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** 0.25, abs=1e-9)
    # Two words have no three in a row; half as long as the reference: exp(1 - 4/2).
    assert bleu("a b c d", "a b") == pytest.approx(2.718281828459045**-1, abs=1e-9)
    assert bleu("one two three", "four five six") < 0.2
    assert bleu("", "") == 1.0
    assert bleu("", "word") == bleu("word", " ") == 0.0


def test_chrf_by_hand() -> None:
    # Of "abc" and "abd": 2/3 of the characters, 1/2 of the pairs, 0 of the triples; precision equals recall.
    assert chrf("abc", "abd") == pytest.approx((2 / 3 + 1 / 2 + 0) / 3, abs=1e-9)
    # Recall 2/4, 1/3 over the orders that both have, precision 1: F2 = 5 P R / (4 P + R).
    recall = (2 / 4 + 1 / 3) / 2
    assert chrf("abcd", "ab") == pytest.approx(5 * recall / (4 + recall), abs=1e-9)
    assert chrf("Good", "good") < 1.0
    assert chrf("退款已批准", "退款未批准") > 0.2


def test_ratcliff_obershelp_is_as_published() -> None:
    ratio = measure("ratcliff-obershelp")
    # Lower-cased tokens, punctuation apart: [the, cat, sat, on, the, mat, .]; 6 of 7 in common.
    assert ratio(CAT[0] + ".", CAT[1].upper() + ".") == pytest.approx(12 / 14)
    # Not symmetric, as published: the first of the longest blocks is that of the baseline.
    assert (ratio("t i d e", "d i e t"), ratio("d i e t", "t i d e")) == (0.25, 0.5)


@pytest.mark.parametrize("name", TIERS)
@given(first=st.text(max_size=80), second=st.text(max_size=80))
def test_every_measure_is_from_0_to_1(name, first, second) -> None:
    assert 0.0 <= measure(name)(first, second) <= 1.0
    assert measure(name)(first, first) == pytest.approx(1.0)


@given(first=st.text("ab .,退é", max_size=40), second=st.text("ab .,退é", max_size=40))
def test_rouge_l_and_indel_are_symmetric(first, second) -> None:
    assert rouge_l(first, second) == rouge_l(second, first)
    assert indel(first, second) == indel(second, first)


def test_an_unknown_measure_is_named() -> None:
    with pytest.raises(UsageError, match=r"tier 'rouge' is not one of .*rouge-l"):
        measure("rouge")


def test_without_sacrebleu_the_extra_is_named(monkeypatch) -> None:
    from pytest_promptfuzz.comparing import metrics

    metrics._metric.cache_clear()
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(ConfigurationError, match=r"pytest-promptfuzz\[metrics\]"):
        bleu("a b", "a c")
    monkeypatch.undo()
    assert bleu("a b", "a b") == 1.0
