"""Text put beside the task: personas, appeals, context and examples."""

from __future__ import annotations

import math
import re
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation_samples import PROMPTS, TRIAGE, draft_of

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.mutations.operators.additions import TfIdf, few_shot
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.randomness import Rng, root_key

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.engine.operator import Operator

FOUR = ("persona", "emotion-prompt", "explanatory-context", "irrelevant-context")


def made_by(
    each: Operator | str, text: str, *, seeds: int = 4, most: int = 30, intensity: float | None = None
) -> list[str]:
    each = builtin()[each] if isinstance(each, str) else each
    draft = draft_of(text)
    found: dict[str, None] = {}
    for seed in range(seeds):
        rng = Rng(root_key(seed, text), each.id, intensity=intensity)
        for edits in islice(each.proposals(draft, rng), most):
            check_edits(edits, len(text), draft.spans, source=each.name)
            found[apply_edits(text, edits)] = None
    return list(found)


BEFORE = ("persona",)
PLACES = [
    # operator, prompt, what stands before and after the added sentence
    ("persona", "Classify the ticket.\n\nTicket: {t}", "", " Classify the ticket.\n\nTicket: {t}"),
    ("persona", "# Task\nClassify {t}.", "", "\n\n# Task\nClassify {t}."),
    ("persona", "Text: {t}\n\nSummarize the text.", "", "\n\nText: {t}\n\nSummarize the text."),
    ("emotion-prompt", "Classify the ticket.\n\nTicket: {t}", "Classify the ticket. ", "\n\nTicket: {t}"),
    (
        "emotion-prompt",
        "Rules:\n- Be brief\n- Be kind\n\nText: {t}",
        "Rules:\n- Be brief\n- Be kind\n\n",
        "\n\nText: {t}",
    ),
    ("explanatory-context", "Summarize the text. Be brief.", "", " Summarize the text. Be brief."),
    ("irrelevant-context", "Summarize the text. Be brief.", "", " Summarize the text. Be brief."),
]
UNTOUCHED = [
    ("persona", "You are an experienced editor. Shorten the text."),
    ("persona", "Act as a lawyer. Explain the clause."),
    ("persona", "As an expert in law, explain the clause."),
    ("persona", "# Role\nSupport agent\n\n# Task\nAnswer."),
    ("persona", "Imagine you are a pirate. Tell a story."),
    ("persona", "Fasse den Text in 2 Sätzen zusammen.\n\nText: {text}"),
    ("emotion-prompt", "This is very important to my career. Classify the ticket."),
    ("emotion-prompt", "{text}"),
    ("irrelevant-context", "Ignore everything that is irrelevant. Find the sentence that does not belong."),
]


@pytest.mark.parametrize(("name", "text", "before", "after"), PLACES)
def test_where_a_sentence_is_put(name: str, text: str, before: str, after: str) -> None:
    made = made_by(name, text)
    assert len(made) >= 12 if name != "irrelevant-context" else len(made) >= 8
    for each in made:
        assert each.startswith(before)
        assert each.endswith(after)
        added = each[len(before) : len(each) - len(after)]
        assert re.fullmatch(r"[A-Z][^.!?]*[.!]", added), added


@pytest.mark.parametrize(("name", "text"), UNTOUCHED)
def test_what_is_left_alone(name: str, text: str) -> None:
    assert made_by(name, text) == []


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize("text", PROMPTS)
def test_what_is_added_names_nothing_of_the_prompt(name: str, text: str) -> None:
    for each in made_by(name, text):
        assert sorted(re.findall(r"\d+", each)) == sorted(re.findall(r"\d+", text))
        for label in ("POSITIVE", "NEGATIVE", "NEUTRAL"):
            assert each.upper().count(label) == text.upper().count(label)


def test_irrelevant_context_shares_no_word_with_the_prompt() -> None:
    text = (
        "Sort the mail about the weather, the office plants, coffee, the train and the lift into categories."
    )
    for each in made_by("irrelevant-context", text):
        added = set(re.findall(r"[a-z]{4,}", each.replace(text, "").lower()))
        assert added
        assert added.isdisjoint(re.findall(r"[a-z]{4,}", text.lower())), each


def test_intensity_is_how_many_sentences_are_added() -> None:
    for each in made_by("irrelevant-context", "Summarize the text.", intensity=3):
        assert each.count(".") == 4
    for each in made_by("emotion-prompt", "Summarize the text.", intensity=2):
        assert len(re.findall("[.!]", each)) == 3


def test_what_must_hold_between_the_answers() -> None:
    relations = {name: (builtin()[name].relation, builtin()[name].preserves) for name in FOUR}
    assert relations == {
        "persona": ("invariance", "conditional"),
        "emotion-prompt": ("invariance", "conditional"),
        "explanatory-context": ("not-worse", "conditional"),
        "irrelevant-context": ("not-worse", "conditional"),
    }
    assert not any(builtin()[name].by_default for name in FOUR)


EXAMPLES = [
    {"input": "The battery lasts all day.", "output": "POSITIVE"},
    {"input": "A lovely screen and a fair price.", "output": "POSITIVE"},
    {"input": "Best phone I ever had.", "output": "POSITIVE"},
    {"input": "It broke after two weeks.", "output": "NEGATIVE"},
    {"input": "Nobody answered my emails.", "output": "NEGATIVE"},
    {"input": "The case smells of glue.", "output": "NEGATIVE"},
    {"input": "It is a phone.", "output": "NEUTRAL"},
    {"input": "It came in a box.", "output": "NEUTRAL"},
    {"input": "The colour is blue.", "output": "NEUTRAL"},
]
REVIEW = "Classify the review as POSITIVE, NEGATIVE, or NEUTRAL.\n\nReview: {review}\nSentiment:"


def test_examples_take_the_form_of_the_prompts_last_block() -> None:
    made = made_by(few_shot(EXAMPLES, count=3), REVIEW)
    assert len(made) > 1
    for each in made:
        head, tail = each.split("\n\nClassify the review")
        blocks = head.split("\n\n")
        assert len(blocks) == 3
        assert "Classify the review" + tail == REVIEW
        for block in blocks:
            found = re.fullmatch(r"Review: (.*)\nSentiment: (.*)", block)
            assert found is not None
            assert {"input": found[1], "output": found[2]} in EXAMPLES


def test_examples_after_the_instructions_stand_before_the_text() -> None:
    for each in made_by(few_shot(EXAMPLES, position="after"), REVIEW):
        assert each.startswith("Classify the review as POSITIVE, NEGATIVE, or NEUTRAL.\n\nReview: ")
        assert each.endswith("\n\nReview: {review}\nSentiment:")


def test_every_label_has_its_share() -> None:
    for count, share in ((3, 1), (6, 2), (9, 3)):
        for each in made_by(few_shot(EXAMPLES, count=count), REVIEW):
            labels = re.findall(r"Sentiment: (\w+)", each)
            assert [labels.count(label) for label in ("POSITIVE", "NEGATIVE", "NEUTRAL")] == [share] * 3


def test_an_example_that_is_asked_about_is_never_shown() -> None:
    operator = few_shot(EXAMPLES, count=8, exclude=["  it is a PHONE. "])
    for each in made_by(operator, REVIEW):
        assert "It is a phone." not in each
    asked = REVIEW.replace("{review}", "The colour is blue.")
    for each in made_by(few_shot(EXAMPLES, count=8), asked):
        assert each.count("The colour is blue.") == 1
    assert made_by(few_shot(EXAMPLES, count=9), asked) == []


def test_pairs_a_form_of_ones_own_and_plain_prompts() -> None:
    pairs = [("2 + 2", "4"), ("3 + 5", "8"), ("1 + 6", "7")]
    (made, *_) = made_by(few_shot(pairs, count=2, format="Q: {input}\nA: {output}"), "Solve the problem.")
    assert re.fullmatch(r"(Q: \d \+ \d\nA: \d\n\n){2}Solve the problem\.", made)
    (plain, *_) = made_by(few_shot(pairs, count=1), "Solve the problem: {problem}")
    assert re.fullmatch(r"Solve the problem: .*\nOutput: \d\n\nSolve the problem: \{problem\}", plain)
    (bare, *_) = made_by(few_shot(pairs, count=1), "Solve {problem}")
    assert re.fullmatch(r"Input: .*\nOutput: \d\n\nSolve \{problem\}", bare)


def test_examples_differ_as_much_as_they_can() -> None:
    alike = [
        (f"The delivery was late again number {word}", "LATE")
        for word in ("one", "two", "three", "four", "five")
    ]
    other = [("My invoice shows the wrong tax", "LATE")]
    for each in made_by(few_shot(alike + other, count=2), "Sort it.\n\nText: {t}\nLabel:", seeds=10):
        assert "wrong tax" in each


def test_an_example_of_a_length_of_its_own_is_left_out() -> None:
    usual = [(f"A short text about {word} things", "x") for word in ("red", "green", "blue", "grey")]
    for each in made_by(few_shot([*usual, ("Long " * 200, "x")], count=3), "Sort it.", seeds=10):
        assert "Long" not in each


def test_braces_in_examples_do_not_become_slots() -> None:
    with pytest.raises(UsageError, match=r"example 1 holds the slot 'name'"):
        few_shot([("Dear {name}", "x")], count=1)
    json_out = [("Ada is 36", '{"name": "Ada", "age": 36}'), ("Alan is 41", '{"name": "Alan", "age": 41}')]
    prompt = Prompt("Extract the name.\n\nText: {text}\nJSON:")
    (mutation,) = plan(prompt, 1, operators=[few_shot(json_out, count=1)]).mutations
    assert '{"name": "A' in mutation.prompt.format(text="Bob is 7")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"examples": []}, "there are no examples"),
        ({"examples": "text"}, "give a list of"),
        ({"examples": [("a",)]}, "example 1 is"),
        ({"examples": [{"input": "a"}]}, "example 1 has no 'output'"),
        ({"examples": [("a", "b"), ("", "b")], "count": 1}, "example 2 has an empty 'input'"),
        ({"examples": [("a", " ")], "count": 1}, "example 1 has an empty 'output'"),
        ({"examples": [("a", "b")], "count": 2}, "count=2 .* only 1"),
        ({"examples": [("a", "b")], "count": 0}, "count=0"),
        ({"examples": [("a", "b")], "count": 1, "exclude": ["A"]}, "every example is excluded"),
        (
            {"examples": [("a", "b"), ("c", "d")], "count": 2, "exclude": ["a"]},
            r"count=2 .* only 1 \(1 excluded",
        ),
        ({"examples": [("a", "b")], "count": 1, "exclude": "a"}, "exclude"),
        ({"examples": [("a", "b")], "count": 1, "position": "left"}, "position='left'"),
        ({"examples": [("a", "b")], "count": 1, "format": "Q: {input}"}, "format"),
        ({"examples": [("a", "b")], "count": 1, "format": 3}, "format"),
        ({"examples": [("a", 3)], "count": 1}, "example 1"),
        ({"examples": [("a", "b"), ("a", "c")], "count": 1}, "examples 1 and 2 have the same input"),
    ],
)
def test_examples_that_cannot_be_used(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        few_shot(**arguments)


def test_few_shot_is_an_operator_like_others() -> None:
    before, after = few_shot(EXAMPLES), few_shot(EXAMPLES, position="after", name="my-examples")
    assert (before.name, after.name) == ("few-shot-before", "my-examples")
    assert (before.relation, before.preserves, before.dimension) == (
        "not-worse",
        "conditional",
        "augmentation",
    )
    one, two = (plan(REVIEW, 4, seed=3, operators=[before, after]).mutations for _ in range(2))
    assert one == two
    assert len(one) == 4
    chat = Prompt.from_messages(
        [{"role": "system", "content": "Sort the mail."}, {"role": "user", "content": "{mail}"}]
    )
    for position in ("before", "after"):
        (mutation,) = plan(chat, 1, operators=[few_shot(EXAMPLES, position=position)]).mutations
        assert mutation.prompt.messages[1]["content"] == "{mail}"


def test_label_of_an_example() -> None:
    rows = [
        {"input": f"text {n} {word}", "output": f"because of {word}", "label": "a" if n < 3 else "b"}
        for n, word in enumerate(["red", "green", "blue", "grey", "pink", "black"])
    ]
    for each in made_by(few_shot(rows, count=4), "Explain it.", seeds=6):
        shown = [row["label"] for row in rows if row["input"] in each]
        assert sorted(shown) == ["a", "a", "b", "b"]


def test_tfidf() -> None:
    index = TfIdf(["the cat sat", "the cat sat", "a dog ran", ""])
    assert index.similarity(0, 1) == pytest.approx(1.0)
    assert index.similarity(0, 2) == 0.0
    assert index.similarity(0, 3) == 0.0
    assert index.similarity(3, 3) == 0.0
    weighted = TfIdf(["red cat", "red dog", "red cow"])
    assert weighted.similarity(0, 1) == pytest.approx(1 / (1 + (1 + math.log(2)) ** 2))
    rare = TfIdf(["the red cat", "the red dog", "the blue cat", "the the the"])
    assert rare.similarity(0, 1) == pytest.approx(rare.similarity(1, 0))
    assert 0 < rare.similarity(0, 3) < rare.similarity(0, 1) < 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.text("ab c.", min_size=1, max_size=12), st.sampled_from("xyz")),
        min_size=1,
        max_size=8,
        unique_by=lambda p: " ".join(p[0].split()).strip(" ."),
    ),
    st.integers(1, 8),
    st.integers(0, 5),
)
def test_as_many_examples_as_asked_and_none_twice(
    pairs: list[tuple[str, str]], count: int, seed: int
) -> None:
    if count > len(pairs) or any(not text.strip(" .") for text, _ in pairs):
        return
    operator = few_shot(pairs, count=count, format="<{input}|{output}>")
    text = "Sort the following words."
    for edits in islice(operator.proposals(draft_of(text), Rng(root_key(seed, text), operator.id)), 3):
        found = re.findall(r"<([^|]*)\|([xyz])>", apply_edits(text, edits))
        assert len(found) == len(set(found)) == count
        assert set(found) <= {(text.strip(), label) for text, label in pairs}


def test_triage_takes_all_of_them() -> None:
    names = {m.operators[0].partition("@")[0] for m in plan(TRIAGE, 9, operators=[*FOUR[1:]]).mutations}
    assert names == {*FOUR[1:]}


@pytest.mark.parametrize("end", ["it holds that", "The rule is", "Compute it with"])
@pytest.mark.parametrize("name", ["answer-in-de", "answer-in-ja"])
def test_nothing_is_put_between_a_sentence_and_the_equation_it_ends_in(name: str, end: str) -> None:
    text = f"Can you explain the plan? Write two sentences. {end}\nh=2^8-2."
    assert plan(text, 4, operators=[name]).mutations == ()
    assert plan(text.replace(end, "Keep it short."), 4, operators=[name]).mutations
