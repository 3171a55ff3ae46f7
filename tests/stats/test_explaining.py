"""Which parts of a prompt matter, from trials of real plans."""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz import Prompt, mutate
from pytest_promptfuzz.mutations.engine.edits import (
    Tokens,
    apply_edits,
    insert,
    replace,
    touched_places,
    touched_words,
    touches,
)
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.reporting.terminal.explanation import part_name
from pytest_promptfuzz.results.explanations import ALPHA, PromptPart, explain, parts_of, touched_by
from pytest_promptfuzz.results.trials import Trial, TrialError

TRIAGE = Prompt(
    "Classify the support ticket below. Read it carefully before you answer, and think about what the customer "
    "needs. Kindly name one of these teams: billing, shipping. Answer with the name only.\n\nTicket: {ticket}"
)


def planned(broken, count=80, prompt=TRIAGE, **more):
    return [
        Trial(each, "deviation" if broken(each) else "equivalent", **more)
        for each in mutate(prompt, count, seed=1)
    ]


@pytest.mark.parametrize(
    "text",
    [
        TRIAGE.text,
        "日本語の文章を分類してください。 Answer in one word.\n- a list\n- of things\n- to move",
        "One.\n\nTwo words here. Three more words follow!\n\n# Heading\n\nThe end, my friend.",
    ],
)
def test_touched_places_are_as_many_as_are_counted(text):
    tokens = Tokens(text)
    for each in mutate(text, 60, seed=2):
        assert len(touched_places(each.edits, tokens)) == touched_words(each.edits, tokens)


@given(st.data())
def test_a_word_that_no_edit_touches_stays(data):
    text = " ".join(data.draw(st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=8)))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edit = replace(start, end, "") if start < end else insert(start, " X ")
    tokens = Tokens(text)
    places = touched_places([edit], tokens)
    changed = apply_edits(text, [edit])
    for place, (low, high) in enumerate(zip(tokens.starts, tokens.ends, strict=True)):
        if place not in places:
            assert text[low:high] in changed
            assert not touches((start, end), (low, high))


def test_a_planted_word_comes_out_on_top():
    tokens = Tokens(TRIAGE.text)
    place = [TRIAGE.text[a:b] for a, b in zip(tokens.starts, tokens.ends, strict=True)].index("carefully")
    (found,) = explain(planned(lambda each: place in touched_places(each.edits, tokens), 120))
    (first,) = found.mattering[:1]
    assert first.parts[0] == PromptPart("word", "carefully", 43, 52)
    assert first.touching.share == 1.0
    assert first.others.share == 0.0
    assert (found.told, found.missing, found.unasked, found.silent) == (120, 0, 0, 0)


def test_a_planted_dimension_comes_out_and_no_word():
    (found,) = explain(planned(lambda each: each.dimension == "lexical"))
    assert found.mattering[0].parts[0] == PromptPart("dimension", "lexical")
    assert {part.kind for each in found.mattering for part in each.parts} <= {"dimension", "operator"}


def test_changes_of_everything_blame_no_single_word():
    (found,) = explain(planned(lambda each: each.change_rate > 0.6, 200))
    kinds = {part.kind for each in found.mattering for part in each.parts}
    assert found.broken == found.wide
    assert not kinds & {"word", "sentence", "message"}


def test_nothing_is_claimed_where_nothing_deviates():
    (found,) = explain(planned(lambda _: False))
    assert found.broken == 0
    assert not found.mattering
    assert {each.finding for each in found.causes} == {"few"}


def test_what_has_no_answer_is_counted_and_tells_nothing():
    plan = mutate(TRIAGE, 6)
    trials = [
        Trial(plan[0], "error", error=TrialError("not-allowed", "max-calls is 0")),
        Trial(plan[1], "error", error=TrialError("not-recorded", "no more is recorded")),
        Trial(plan[2], "error", error=TrialError("timeout", "late")),
        Trial(plan[3], "undecided"),
        Trial(plan[4], "not-needed"),
        Trial(plan[5], "deviation"),
    ]
    (found,) = explain(trials)
    assert (found.missing, found.silent, found.unasked, found.told, found.broken) == (2, 2, 1, 1, 1)


def test_inputs_and_repeats_of_a_mutation_are_one_trial():
    (one,) = mutate(TRIAGE, 1)
    trials = [
        Trial(one, "deviation", case=0, again=("deviation", "equivalent", "error")),
        Trial(one, "equivalent", case=1),
    ]
    (found,) = explain(trials)
    assert (found.told, found.broken) == (1, 1), "most answers to the first input deviate"
    assert {(each.touching.trials, each.touching.broken, each.touching.asked) for each in found.causes} == {
        (1, 1, 1)
    }
    (found,) = explain([Trial(one, "deviation", again=("equivalent", "equivalent"))])
    assert (found.told, found.broken) == (1, 0)
    assert {each.touching.broken for each in found.causes} == {0}


def test_repeats_of_what_deviates_do_not_add_to_shares():
    once = planned(lambda each: each.dimension == "lexical", 40)
    often = [
        dataclasses.replace(each, again=("deviation",) * 5 if each.outcome == "deviation" else ())
        for each in once
    ]
    assert explain(often) == explain(once)


def test_p_is_adjusted_for_both_families_so_that_its_bound_is_one_in_twenty():
    for each in range(2, 40):
        (found,) = explain(
            planned(lambda mutation, each=each: int(mutation.id, 16) % each == 0, 40), seed=each
        )
        for cause in found.causes:
            if cause.finding in {"matters", "beside"}:
                assert cause.p <= ALPHA
            elif cause.finding == "open":
                assert cause.p > ALPHA


def test_nothing_is_claimed_where_answers_are_chance():
    """In at most one run of twenty; of 60 runs more than 8 would be worse than that (p = 0.002)."""
    claims = 0
    for seed in range(60):
        chance = random.Random(seed)
        trials = [
            dataclasses.replace(each, again=("deviation",) * 3 if each.outcome == "deviation" else ())
            for each in planned(lambda _, chance=chance: chance.random() < 0.3, 30)
        ]
        (found,) = explain(trials, seed=seed)
        claims += bool(found.mattering)
    assert claims <= 8


def test_what_must_change_the_answer_is_left_out():
    (one,) = mutate(TRIAGE, 1)
    control = Mutation(one.original, one.edits, one.operators, "control", 0.5, "no", "must-change")
    assert explain([Trial(control, "deviation")]) == []


def test_prompts_are_explained_apart():
    other = Prompt("Summarize the text in one sentence.\n\n{text}")
    found = explain(planned(lambda _: True, 5) + planned(lambda _: False, 4, other))
    assert [(each.prompt, each.told, each.broken) for each in found] == [
        (TRIAGE.text, 5, 5),
        (other.text, 4, 0),
    ]


def test_messages_are_parts_of_a_chat():
    chat = Prompt.from_messages(
        [
            {"role": "system", "content": "You sort tickets. Be quick."},
            {"role": "user", "content": "I was charged twice."},
        ]
    )
    parts = parts_of(chat)
    messages = [part for part in parts if part.kind == "message"]
    assert [(part_name(part), chat.text[part.start : part.end]) for part in messages] == [
        ("system message, 1 of 2", "You sort tickets. Be quick."),
        ("user message, 2 of 2", "I was charged twice."),
    ]
    sentences = [part.label for part in parts if part.kind == "sentence"]
    assert sentences == ["You sort tickets.", "Be quick.", "I was charged twice."]
    trials = planned(lambda each: each.edits[0].end <= messages[0].end, 60, chat)
    (found,) = explain(trials)
    assert any("message" in {part.kind for part in each.parts} for each in found.mattering)


def test_text_that_is_added_touches_its_place():
    text = "Be good. Then leave."
    tokens = Tokens(text)
    places = parts_of(Prompt(text))

    def kinds(*edits):
        made = Mutation(text, edits, ("own@1", "more@2"), "padding", 0.1, "yes")
        return [(part.kind, part_name(part)) for part in touched_by(made, places, tokens)]

    own = [("operator", "own"), ("operator", "more"), ("dimension", "padding")]
    assert kinds(insert(0, "Hello. ")) == [("added", "text at the start"), *own]
    assert kinds(insert(20, "\n\nThanks.")) == [("added", "text at the end"), *own]
    assert kinds(insert(9, "Well, ")) == [("added", "text in between"), *own]
    assert kinds(insert(2, "  ")) == [("sentence", "Be good."), *own]
    assert kinds(insert(8, " ")) == own
    assert kinds(replace(3, 7, "kind")) == [("word", "good."), ("sentence", "Be good."), *own]
