"""Labels in prose and in JSON."""

from __future__ import annotations

import pytest
from label_pairs import GIVEN, NOT_GIVEN

from pytest_promptfuzz.comparing.labels import in_data, labels_given, without_confidence
from pytest_promptfuzz.judging.compare import compare


@pytest.mark.parametrize(("label", "answer"), GIVEN)
def test_an_answer_that_gives_the_label_is_equivalent(label, answer):
    for pair in ((label, answer), (answer, label)):
        found = compare(*pair, task="classification")
        assert found.outcome == "equivalent", found.explanation
    assert compare(label, answer).outcome == "equivalent"


@pytest.mark.parametrize(("label", "answer"), NOT_GIVEN)
def test_an_answer_that_only_names_the_label_is_never_equivalent(label, answer):
    for task in ("classification", None):
        for pair in ((label, answer), (answer, label)):
            assert compare(*pair, task=task).outcome != "equivalent"


@pytest.mark.parametrize(
    ("label", "answer"),
    [
        ("refund", "I would classify this as BILLING because the customer wants a refund."),
        ("refund", "Category: billing (confidence 0.9, refund 0.1)"),
        ("refund", "The customer wants a refund, so the category is billing."),
        ("refund", "Die Kategorie ist nicht refund."),
        ("refund", "Kategorie: exchange"),
        ("A", "The correct answer is B. A is wrong."),
        ("not_spam", "Label: spam"),
    ],
)
def test_another_label_is_a_deviation_that_names_both(label, answer):
    found = compare(label, answer, task="classification")
    assert (found.outcome, found.reason) == ("deviation", "label")
    assert label.replace("_", " ").casefold() in found.explanation


@pytest.mark.parametrize(
    ("baseline", "response", "outcome"),
    [
        ("refund, as they were charged twice", "The category is refund. The invoice was paid two times.", "equivalent"),
        ("Category: refund\n\nThey paid twice.", "Category: exchange\n\nThey paid twice.", "deviation"),
        ("Category: refund (0.91)", "Category: refund (0.87)", "equivalent"),
        ('{"label": "refund"}', '{"label": "refund", "confidence": 0.9}', "minor"),
        ('{"label": "refund", "confidence": 0.8}', '{"label": "refund", "confidence": 0.9}', "minor"),
        ('{"label": "refund", "reason": "paid twice"}', '{"label": "refund", "reason": "double charge"}', "minor"),
        ('{"label": "refund", "confidence": 0.9}', '{"label": "exchange", "confidence": 0.9}', "deviation"),
        ("refund", '{"label": "refund", "confidence": 0.9}', "equivalent"),
        ("refund", 'Here it is:\n```json\n{"category": "refund"}\n```', "equivalent"),
        ("refund", '{"label": "exchange", "alternatives": ["refund"]}', "deviation"),
        ("refund", '{"label": "exchange", "not": "refund"}', "deviation"),
        ("refund", '{"label": "not refund"}', "deviation"),
        ('{"label": "refund"}', "refund", "minor"),
        ('{"label": "refund"}', "exchange", "deviation"),
        ("5", "Rating: 5/5", "minor"),
        ("5", "Rating: 4/5", "deviation"),
    ],
)  # fmt: skip
def test_reasons_confidence_and_json_around_a_label(baseline, response, outcome):
    assert compare(baseline, response, task="classification").outcome == outcome


def test_confidence_at_the_end_is_no_part_of_a_label():
    for end in (" (confidence: 0.9)", " [0.87]", " (high confidence)", " (95%)", " (90% sure).", ""):
        assert without_confidence("refund" + end).rstrip(".") == "refund"
    for kept in ("refund (exchange)", "refund (not exchange)", "building (2)", "f(x)"):
        assert without_confidence(kept) == kept


def test_the_label_in_json_is_the_one_member_named_for_it():
    assert in_data('{"label": "a", "confidence": 1}') == "a"
    assert in_data('{"predictedLabel": "a", "why": "b"}') == "a"
    assert in_data('{"x": "a"}') == "a"
    assert in_data('{"rating": 5}') == "5"
    for text in (
        '{"label": "a", "category": "b"}',
        '{"x": 1, "y": 2}',
        '{"label": ["a"]}',
        "[1]",
        "a",
        "{",
        "",
    ):
        assert in_data(text) is None


def test_no_answer_is_too_hostile_to_be_read():
    for text in ("label is " + " " * 60_000, "\n" * 60_000, "label is " * 7_000, "<label>" * 9_000, "label of " * 7_000,
                 "label is " + "*" * 60_000, "(" * 60_000, "a " * 30_000):  # fmt: skip
        assert len(labels_given(text)) < 20
        assert without_confidence(text) == text
        assert in_data(text) is None


@pytest.mark.parametrize(
    "answer",
    [
        "billing, because the customer wants a refund",
        "Billing (the customer asks for a refund)",
        "billing - the customer mentions a refund",
        "Label: billing. The text speaks of a refund.",
        "I chose billing over refund",
        "The message goes to billing, as the customer wants a refund",
    ],
)
def test_a_word_in_the_reason_is_not_the_label(answer: str) -> None:
    for pair in (("refund", answer), (answer, "refund")):
        assert compare(*pair, task="classification").outcome == "deviation"
        assert compare(*pair, semantic=False).outcome != "equivalent"
    assert compare("billing", answer, task="classification").outcome == "equivalent"


@pytest.mark.parametrize("task", [None, "classification"])
@pytest.mark.parametrize(
    ("label", "answer", "outcome"),
    [
        ("Paris", "We do not know whether Paris is the capital.", "undecided"),
        ("Paris", "It is Paris, I think, or perhaps Lyon.", "undecided"),
        ("Paris", "If the map is right, it is Paris.", "undecided"),
        ("Paris", "Is it Paris?", "undecided"),
        ("Paris", "I think it is Paris.", "equivalent"),
        ("May", "It is May.", "equivalent"),
        ("refund", "The customer asks if he can return it, so the label is refund.", "equivalent"),
        ("refund", "The customer asks whether a refund is possible. Category: refund.", "equivalent"),
        ("Paris", "It is not Paris.", "deviation"),
    ],
)
def test_a_doubt_beside_a_label_leaves_it_open(
    label: str, answer: str, outcome: str, task: str | None
) -> None:
    for pair in ((label, answer), (answer, label)):
        assert compare(*pair, task=task, semantic=False).outcome == outcome


@pytest.mark.parametrize("task", [None, "classification", "extraction"])
@pytest.mark.parametrize(
    ("one", "other", "outcome"),
    [
        ("2024-03-05", "5 March 2024", "equivalent"),
        ("2024-03-05", "March 5, 2024", "equivalent"),
        ("2024-03-05", "2024/03/05", "equivalent"),
        ("2024-03-05", "6 March 2024", "deviation"),
        ("2024-03-05", "May 3, 2024", "deviation"),
        ("2024-03-05", "5 March 2025", "deviation"),
    ],
)
def test_a_date_is_the_same_in_another_notation(one: str, other: str, outcome: str, task: str | None) -> None:
    for pair in ((one, other), (other, one)):
        assert compare(*pair, task=task).outcome == outcome
