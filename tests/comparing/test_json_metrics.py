"""JSONRouge, JSONSimilarity and entity F1: hand-computed values and what holds for all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz import compare, entity_f1, json_rouge, json_similarity
from pytest_promptfuzz.comparing.formats.json_values import aligned
from pytest_promptfuzz.errors import UsageError


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ({"a": 1}, {"a": 1.0}, 1),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        ({"a": 1}, {"a": 2}, 0),
        ({"a": 1}, {"b": 1}, 0),
        ({"a": 1, "b": 2}, {"a": 1}, 1 / 2),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}, 1 / 3),
        ({"a": "red lamp"}, {"a": "red desk"}, 1 / 2),
        ({"a": "the red lamp", "b": 7}, {"a": "a red lamp", "b": 7}, (2 / 3 + 1) / 2),
        ({"orderNumber": 7}, {"order_number": 7}, 1),
        ({"a": 12}, {"a": "12"}, 1),
        ({"a": True}, {"a": "true"}, 1),
        ({"a": True}, {"a": 1}, 0),
        ({"a": None}, {"a": None}, 1),
        ([1, 2, 3], [1, 2, 4], 2 / 3),
        ([1, 2], [1, 2, 3, 4], 1 / 2),
        ([], [], 1),
        ({}, {}, 1),
        ({}, [], 0),
        ({"a": []}, {"a": {}}, 0),
        ({"a": {"b": 1, "c": 2}}, {"a": 1}, 0),
        ({"a": {"b": 1, "c": 2}, "d": 3}, {"a": 1, "d": 3}, 1 / 4),
        ("red lamp", "red desk", 1 / 2),
    ],
)
def test_rouge_by_hand(first, second, value):
    assert json_rouge(first, second) == pytest.approx(value)
    assert json_rouge(second, first) == pytest.approx(value)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab ", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


class Letters:
    """Embeds a text by how many of two letters it has."""

    name = "letters"

    def __init__(self):
        self.calls = []

    def embed(self, texts):
        self.calls.append(list(texts))
        return [[text.count("a") + 0.0, text.count("b") + 0.0] for text in texts]


@given(PLAIN, PLAIN)
def test_both_are_symmetric_shares_and_one_for_what_is_equal(first, second):
    for measure in (json_rouge, lambda *pair: json_similarity(*pair, Letters())):
        assert 0 <= measure(first, second) <= 1
        assert measure(first, second) == pytest.approx(measure(second, first))
        assert measure(first, first) == 1
    assert list(aligned(first, second))


def test_similarity_by_hand_and_in_one_call():
    embedder = Letters()
    first = {"x": "a", "y": "aab", "z": 3, "same": "b"}
    second = {"z": 4, "y": "aab b", "x": "b", "same": "b"}
    cosine = (2 * 2 + 1 * 2) / (5**0.5 * 8**0.5)
    assert json_similarity(first, second, embedder) == pytest.approx((0 + cosine + 0 + 1) / 4)
    assert embedder.calls == [["a", "b", "aab", "aab b"]]
    assert json_similarity({"z": 3}, {"z": 3}, embedder) == 1
    assert len(embedder.calls) == 1


@pytest.mark.minilm
def test_similarity_with_a_model(minilm):
    near = json_similarity({"item": "a small car"}, {"item": "a little automobile"}, minilm)
    far = json_similarity({"item": "a small car"}, {"item": "the annual report"}, minilm)
    assert near > 0.6 > 0.3 > far


def test_it_is_the_similarity_of_json_answers():
    found = compare('{"a": 1, "b": 2, "c": 3, "d": 4}', '{"a": 1, "b": 2, "c": 3, "d": 5}')
    assert (found.outcome, found.similarity) == ("deviation", 0.75)
    assert {each.name: each.similarity for each in found.tiers} == {"structure": 1.0, "json-rouge": 0.75}
    moved = compare('["a", "b", "c"]', '["c", "a", "b"]')
    assert (moved.outcome, moved.similarity) == ("minor", 0.99)


GOLD = {"name": "Ada Lovelace", "plan": "pro", "seats": 3, "wish": "a refund of the last invoice"}


@pytest.mark.parametrize(
    ("change", "f1", "lists"),
    [
        ({}, 1, ((), (), ())),
        ({"plan": "free"}, 6 / 8, (("$.plan",), (), ())),
        ({"plan": "Pro"}, 6 / 8, (("$.plan",), (), ())),
        ({"seats": 4}, 6 / 8, (("$.seats",), (), ())),
        ({"seats": "3"}, 1, ((), (), ())),
        ({"seats": True}, 6 / 8, (("$.seats",), (), ())),
        ({"wish": "a refund of the invoice"}, 1, ((), (), ())),  # 10/11
        ({"wish": "a refund"}, 6 / 8, (("$.wish",), (), ())),  # 4/8
        ({"wish": None}, 6 / 7, ((), ("$.wish",), ())),
        ({"wish": ""}, 6 / 7, ((), ("$.wish",), ())),
        ({"note": "hi"}, 8 / 9, ((), (), ("$.note",))),
        ({"Name": "Ada Lovelace", "name": None}, 6 / 8, ((), ("$.name",), ("$.Name",))),
        ({"plan": ["pro", "free"]}, 8 / 9, ((), (), ("$.plan",))),
    ],
)
def test_entities_by_hand(change, f1, lists):
    score = entity_f1(GOLD, GOLD | change, choices=["plan"])
    assert score.f1 == pytest.approx(f1)
    assert (score.wrong, score.missing, score.spurious) == lists


def test_precision_and_recall_are_told_apart():
    score = entity_f1({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4, "d": 5})
    assert (score.precision, score.recall) == (0.25, 0.5)
    assert score.f1 == pytest.approx(2 * 0.25 * 0.5 / 0.75)
    empty = entity_f1({}, {"a": None})
    assert (empty.precision, empty.recall, empty.f1) == (1, 1, 1)
    nothing = entity_f1({"a": 1}, {})
    assert (nothing.precision, nothing.recall, nothing.f1) == (0, 0, 0)


def test_lists_and_slots_within_slots():
    expected = {"of": ["the red lamp", "a desk"], "to": {"city": "Rome", "street": "Via Appia"}}
    found = {"of": ["a desk", "the red lamp"], "to": {"city": "Rome", "street": "Via Appia"}}
    assert entity_f1(expected, found).f1 == 1
    found["of"] = ["a desk", "a desk"]
    score = entity_f1(expected, found)
    assert (score.f1, score.wrong) == (0.75, ("$.of",))
    assert entity_f1({"of": ["a desk", "a desk"]}, {"of": "a desk"}).f1 == pytest.approx(2 / 3)
    found["to"] = {"city": "Oslo"}
    assert entity_f1(expected, found).missing == ("$.to.street",)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (([], {}), {}, "expected=[] is not a mapping"),
        (({}, "x"), {}, "found='x' is not a mapping"),
        (({}, {}), {"choices": "plan"}, "choices='plan' is not a list"),
        (({}, {}), {"rouge_at": 70}, "rouge_at=70 is not a number from 0 to 1"),
    ],
)
def test_wrong_arguments_are_named(arguments, options, said):
    with pytest.raises(UsageError) as caught:
        entity_f1(*arguments, **options)
    assert said in str(caught.value)
