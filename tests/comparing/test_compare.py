"""Outcomes, reasons and explanations, case by case."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_promptfuzz.comparing.profiles import TASKS, Profile, infer_task
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.providers.requests import Response, ToolCall


@pytest.mark.parametrize(
    ("baseline", "response", "outcome", "reason", "explanation"),
    [
        ("a", "a", "equivalent", "exact", "the answers are identical"),
        ("The answer is 42.", "the  answer is 42", "equivalent", "normalised", "case, space"),
        ("caf\u00e9 is open", "cafe\u0301 is open", "equivalent", "normalised", "case, space"),
        (
            "You have 14 days.",
            "You have 41 days.",
            "deviation",
            "guard:numbers",
            "number 14 in the baseline became 41",
        ),
        ("POSITIVE", "NEGATIVE", "deviation", "label", "label 'positive' became 'negative'"),
        ('{"total": 12}', '{"total": 15}', "deviation", "json", "JSON differs at $.total: 12 became 15"),
        ('{"a": 1, "b": 2}', '{"b": 2.0, "a": 1}', "equivalent", "json-value", "equal by value"),
        ('{"a": 1}', '{"a": 1, "note": null}', "minor", "json", "$.note"),
        ('{"a": 12}', '{"a": "12"}', "minor", "json", "of another type"),
        ("[1, 2]", "[2, 1]", "minor", "json", "another order"),
        ('{"a": 1}', "It is 1.", "deviation", "json-format", "the response is not"),
        (
            "The refund is approved.",
            "The refund is not approved.",
            "deviation",
            "guard:negation",
            "only the response says 'not approved'",
        ),
        (
            "Sales rose in May.",
            "Sales fell in May.",
            "deviation",
            "guard:opposites",
            "'rose' in the baseline became 'fell'",
        ),
        (
            "All members may vote.",
            "Some members may vote.",
            "deviation",
            "guard:choices",
            "'all' in the baseline",
        ),
        ("Bob paid Ann on Monday.", "Ann paid Bob on Monday.", "deviation", "guard:roles", "changed places"),
        (
            "Ask Maria in billing.",
            "Ask Walter in billing.",
            "deviation",
            "guard:names",
            "'Maria' in the baseline",
        ),
        (
            "Open the menu and tap Print.",
            "I'm sorry, but I can't help with that.",
            "deviation",
            "guard:refusal",
            "declines",
        ),
        (
            "I'm sorry, I can't help with that.",
            "I cannot assist with this request.",
            "equivalent",
            "refusal",
            "decline",
        ),
        ("Yes.", "Yes, you can cancel within 30 days.", "equivalent", "yes-no", "both answers say yes"),
        ("Yes.", "No.", "deviation", "guard:yes-no", "says yes, the response says no"),
        ("The box is full.", "", "deviation", "empty", "the response is empty"),
        ("", " \n", "equivalent", "normalised", "case, space"),
        ("SELECT a FROM t WHERE n > 3;", "SELECT a FROM t WHERE n < 3;", "deviation", "sql", "> became <"),
        ("SELECT a FROM t", "Sorry, no idea.", "deviation", "sql-format", "the response is not"),
        ("def f(x):\n    return x", "def f(x):\n    return x + 1", "undecided", "code-form", "run them"),
    ],
)
def test_cases(baseline, response, outcome, reason, explanation) -> None:
    found = compare(baseline, response)
    assert (found.outcome, found.reason) == (outcome, reason), found.explanation
    assert explanation in found.explanation
    assert (found.similarity is None) == (outcome == "undecided")


@pytest.mark.parametrize(
    "answer", ["positive", "The sentiment is positive.", "**Positive**.", "Label: POSITIVE", '"positive"']
)
def test_a_label_in_its_dress(answer) -> None:
    for first, second in (("POSITIVE", answer), (answer, "POSITIVE")):
        assert compare(first, second, task="classification").outcome == "equivalent"
        assert compare(first, "NEGATIVE", task="classification").outcome == "deviation"


@pytest.mark.parametrize(
    ("baseline", "response"),
    [
        ("The order is not ready but the invoice is.", "The order is ready but the invoice is not."),
        ("Log in to the app.", "Log out of the app."),
        ("Ship it to Bob today.", "Ship it from Bob today."),
        ("Bring a map or a phone.", "Bring a map and a phone."),
        ("x = 3", "x = -3"),
        ("\U0001f44d", "\U0001f44e"),
        ("\u662f", "\u4e0d\u662f"),
        ("Das Rauchen ist hier erlaubt.", "Das Rauchen ist hier nicht erlaubt."),
        ("Prices rose while costs fell.", "Prices fell while costs rose."),
        ("First add salt, then pepper.", "First add pepper, then salt."),
    ],
)
def test_a_small_word_may_change_everything(baseline, response) -> None:
    class Alike:
        name = "finds everything alike"

        def embed(self, texts):
            return [[1.0] for _ in texts]

    for first, second in ((baseline, response), (response, baseline)):
        assert compare(first, second).outcome != "equivalent"
        assert compare(first, second, semantic=Alike()).outcome != "equivalent"


def test_undecided_says_what_would_decide() -> None:
    found = compare(
        "The parcel is lost; we will send another one soon.", "Expect a replacement, since ours went astray."
    )
    assert (found.outcome, found.similarity) == ("undecided", None)
    assert "pytest-promptfuzz[semantic]" in found.explanation


LONG = (
    "The council met on Tuesday and discussed the plan for the harbour. It wants to build 40 flats by 2031. "
    "Neighbours asked for more trees. The mayor promised an answer in June."
)


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("40 flats", "90 flats", "deviation"),
        ("wants to build", "does not want to build", "deviation"),
        ("in June", "in July", "deviation"),
        ("more trees", "fewer trees", "deviation"),
        ("The mayor", "The priest", "undecided"),
        ("It wants to build 40 flats by 2031. ", "It wants to build flats. ", "undecided"),
        ("The mayor promised an answer in June.", "In June the mayor promised an answer.", "equivalent"),
    ],
)
def test_one_change_in_a_long_answer(old, new, outcome) -> None:
    changed = LONG.replace(old, new)
    assert changed != LONG
    assert compare(LONG, changed, task="summarization").outcome == outcome


def test_ignored_parts_do_not_count() -> None:
    first = {"id": 1, "items": [{"sku": "a", "date": "x"}]}
    second = {"id": 2, "items": [{"sku": "a", "date": "y"}]}
    assert compare(first, second).outcome == "deviation"
    assert compare(first, second, ignore=["$.id", "$.items[*].date"]).outcome == "equivalent"
    assert compare('{"id": 1, "a": 2}', '{"id": 2, "a": 2}', ignore=("$.id",)).outcome == "equivalent"
    assert compare('{"id": 1, "a": 2}', '{"id": 2, "a": 3}', ignore="$.id").outcome == "deviation"


def call(name="find", **arguments):
    return Response("", tool_calls=(ToolCall(name, arguments, id="x"),))


def test_tool_calls() -> None:
    assert compare(call(q="a", n=1), call(n=1.0, q="a")).outcome == "equivalent"
    changed = compare(call(q="a", n=1), call(q="a", n=2))
    assert (changed.outcome, changed.reason) == ("deviation", "tool-calls")
    assert "$.tool_calls[0].arguments.n: 1 became 2" in changed.explanation
    renamed = compare(call("find"), call("search"))
    assert (renamed.outcome, renamed.explanation) == ("deviation", "tool calls find became search")
    assert compare(call(q="a"), "I cannot search.").outcome == "deviation"
    ids = compare(call(q="a", id=1), call(q="a", id=2), ignore=["$.tool_calls[*].arguments.id"])
    assert ids.outcome == "equivalent"


def test_an_answer_that_was_cut_off() -> None:
    whole, cut = (
        Response("One two three.", finish_reason="stop"),
        Response("One two three.", finish_reason="length"),
    )
    assert compare(whole, cut).outcome == "minor"
    assert compare(whole, cut).explanation == "the response was cut off at its token limit"
    assert compare(cut, cut).outcome == "equivalent"


@pytest.mark.parametrize(
    ("relation", "baseline", "response", "outcome"),
    [
        ("must-change", "Ann", "Ann", "deviation"),
        ("must-change", "You have 14 days.", "You have 41 days.", "equivalent"),
        ("format", '{"a": 1}', 'Here it is:\n```json\n{"a": 1}\n```', "equivalent"),
        ("format", '{"a": 1, "b": true}', "The value is 1.", "undecided"),
        (
            "language",
            "The dog sleeps in the old house.",
            "Der Hund ruht im alten Haus und nicht 3.",
            "undecided",
        ),
        ("invariance", "You have 14 days.", "You have 41 days.", "deviation"),
    ],
)
def test_relations(relation, baseline, response, outcome) -> None:
    assert compare(baseline, response, relation=relation).outcome == outcome


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "sumarization"}, "Did you mean 'summarization'"),
        ({"task": 3}, "task=3 is not one of classification"),
        ({"profile": "quirks"}, "quirks"),
        ({"task": "sql", "profile": "sql"}, "not both"),
        ({"relation": "same"}, "relation='same'"),
        ({"equivalent_at": 1.2}, "equivalent_at=1.2"),
        ({"minor_at": True}, "minor_at=True"),
        ({"equivalent_at": 0.5, "minor_at": 0.7}, "minor_at=0.7"),
    ],
)
def test_bad_arguments(arguments, message) -> None:
    with pytest.raises(UsageError, match=message):
        compare("a", "b", **arguments)


def test_thresholds_are_settable() -> None:
    first, second = (
        "Our new shop in town sells bread and cake daily.",
        "Our old bakery there sells bread and rolls.",
    )
    assert compare(first, second, minor_at=0.99, equivalent_at=0.99).outcome in {"undecided", "deviation"}
    quiet = Profile("mine", "text", 0.85, 0.6, guards=())
    assert compare("We have 3 cats.", "We have 4 cats.", profile=quiet).outcome != "deviation"


@pytest.mark.parametrize(
    ("value", "task"),
    [
        ("POSITIVE", "classification"),
        ('{"a": 1}', "json"),
        ([1], "json"),
        ("SELECT a FROM t", "sql"),
        ("Select the file from the menu.", "generation"),
        ("select id, name from users where id = 3", "sql"),
        ("```python\nx = 1\n```", "code"),
        ("A short story about rain.", "generation"),
    ],
)
def test_inference(value, task) -> None:
    assert infer_task(value) == task


TEXTS = st.text(max_size=60) | st.sampled_from(
    [LONG, '{"a": [1, 2]}', "```\n", "SELECT * FROM t", "Yes", "def f(:", "1,5%", "[[[", "'s"]
)


@settings(deadline=None)
@given(TEXTS, TEXTS, st.sampled_from([None, *TASKS]))
def test_any_two_texts_can_be_compared(first, second, task) -> None:
    found = compare(first, second, task=task)
    assert found.explanation
    assert found.similarity is None or 0 <= found.similarity <= 1
    assert (found.similarity is None) == (found.outcome == "undecided")
    assert compare(first, first, task=task).outcome == "equivalent"


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["the", "refund", "is", "approved", "paid", "14", "days", "Bob", "not", "by", "30%", "May"]
        ),
        min_size=4,
        max_size=12,
    )
)
def test_case_space_and_a_full_stop_change_nothing(words) -> None:
    text = " ".join(words)
    assert compare(text, "  " + text.upper().replace(" ", "\n ") + ".").outcome == "equivalent"


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_two_numbers(first, second) -> None:
    found = compare(f"Your order holds {first} items.", f"Your order holds {second:,} items.")
    assert found.outcome == ("equivalent" if first == second else "deviation")


def test_comparing_by_words_imports_nothing_heavy() -> None:
    script = (
        "import sys; from pytest_promptfuzz.judging.compare import compare; "
        "compare('a b c d', 'e f g h'); "
        "print(sorted({'torch', 'numpy', 'sentence_transformers', 'diskcache', 'pytest'} & set(sys.modules)))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )
