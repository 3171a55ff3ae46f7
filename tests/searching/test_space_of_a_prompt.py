"""The space that operators open in a prompt, and its states."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import Prompt
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.analysis.lexicon import TableLexicon
from pytest_promptfuzz.mutations.operators.synonyms import synonyms_from
from pytest_promptfuzz.searching.space import DELETED, MASKED, SearchLimits, Space, space_of, with_choice

TRIAGE = "Provide a concise overview of the ticket {ticket} in 3 sentences. Answer with 'high' or 'low' only."


def single_texts(space: Space) -> list[str]:
    return [
        space.text(with_choice(space.start, place, number))
        for place in range(len(space))
        for number in range(1, len(space.places[place].choices) + 1)
    ]


def test_words_are_places_with_their_substitutes() -> None:
    space = space_of("Provide a concise overview.", operators="synonym")
    texts = single_texts(space)
    assert "Provide a succinct overview." in texts
    assert len(texts) == len(set(texts))


def test_protected_spans_stay_whatever_is_chosen() -> None:
    space = space_of(TRIAGE)
    assert len(space) > 5
    for text in single_texts(space):
        for kept in ("{ticket}", "'high'", "'low'"):
            assert kept in text


def test_every_choice_at_once_is_a_text_as_well() -> None:
    space = space_of(TRIAGE)
    everything = tuple(1 for _ in space.places)
    settled = space.settled(everything)
    assert space.text(settled) == space.text(everything)
    assert 0 < sum(map(bool, settled)) <= len(space)
    assert space.mutation(everything).text == space.text(everything)


def test_where_choices_clash_the_first_in_order_stays() -> None:
    space = space_of(TRIAGE)
    assert space.crowded
    assert space.wide
    everything = tuple(1 for _ in space.places)
    for wide in space.wide:
        order = [wide, *(each for each in range(len(space)) if each != wide)]
        kept = space.settled(everything, order)
        assert kept[wide] == 1
        assert space.settled(kept) == kept
        assert space.text(kept) == space.mutation(kept).text


def test_words_alone_never_clash() -> None:
    space = space_of("Provide a concise overview of the main points.", operators="synonym")
    assert not space.crowded
    assert space.wide == ()


def test_operators_take_turns_within_the_most_choices() -> None:
    space = space_of(TRIAGE, operators=["synonym", "keyboard-typo"], top=2)
    assert all(len(place.choices) <= 2 for place in space.places)
    mixed = [{choice.operator.name for choice in place.choices} for place in space.places]
    assert {"synonym", "keyboard-typo"} in mixed


def test_masking_and_deleting_take_the_word() -> None:
    space = space_of("Provide a concise overview.", operators="synonym")
    place = next(index for index, each in enumerate(space.places) if each.spans == ((10, 17),))
    assert space.text(with_choice(space.start, place, MASKED)) == "Provide a [UNK] overview."
    assert space.text(with_choice(space.start, place, DELETED)) == "Provide a  overview."


def test_a_protected_word_is_never_masked() -> None:
    space = space_of(TRIAGE)
    for place in range(len(space)):
        for how in (MASKED, DELETED):
            assert "{ticket}" in space.text(with_choice(space.start, place, how))


def test_slot_values_may_be_searched_or_left() -> None:
    prompt = Prompt("Summarise the review: {review}").fill(review="The phone is a bargain.")
    cheap = TableLexicon("cheap", "1", "en", {("synonym", "noun"): {"bargain": ["deal"]}})
    operators = ["synonym", synonyms_from(cheap)]
    assert "deal" in " ".join(single_texts(space_of(prompt, operators=operators, part="input")))
    with pytest.raises(UsageError, match="no operator finds anything"):
        space_of(prompt, operators=[synonyms_from(cheap)], part="template")


def test_part_of_speech_is_told_by_the_words_around_unless_it_need_not_be() -> None:
    lexicon = TableLexicon("t", "1", "en", {("synonym", "noun"): {"report": ["account"]}})
    with pytest.raises(UsageError, match="no operator finds anything"):
        space_of("Report what is wrong.", operators=[synonyms_from(lexicon)])
    loose = space_of("Report what is wrong.", operators=[synonyms_from(lexicon)], any_sense=True)
    assert single_texts(loose) == ["Account what is wrong."]


def test_a_limit_of_words_and_of_the_rate_is_kept() -> None:
    text = "Provide a concise overview of the main points."
    tight = space_of(text, operators="synonym", limits=SearchLimits(words=1))
    both = tuple(1 for _ in tight.places)
    assert len(both) > 1
    assert not tight.allowed(both)
    assert tight.allowed(with_choice(tight.start, 0, 1))
    assert space_of(text, operators="synonym", limits=SearchLimits(change_rate=0.3)).most == 2


def test_a_predicate_sees_the_mutation() -> None:
    seen: list[str] = []

    def allows(mutation: object) -> bool:
        seen.append(mutation.text)  # type: ignore[attr-defined]
        return False

    space = space_of("Provide a concise overview.", operators="synonym", limits=SearchLimits(allows=allows))
    assert not space.allowed(with_choice(space.start, 0, 1))
    assert not space.allowed(with_choice(space.start, 0, 1))
    assert len(seen) == 1
    assert space.allowed(space.start)


def test_a_control_is_no_change_that_could_be_a_counterexample() -> None:
    with pytest.raises(UsageError, match=r"'remove-instruction'|is not meant to leave the answer"):
        space_of(TRIAGE, operators=["control"])


def test_nothing_to_change_is_said() -> None:
    with pytest.raises(UsageError, match=r"no operator finds anything to change in '\{a\}'"):
        space_of("{a}", operators="synonym")


@pytest.mark.parametrize("top", [0, True, 1.5])
def test_a_wrong_number_of_choices_is_named(top: object) -> None:
    with pytest.raises(UsageError, match="top="):
        space_of(TRIAGE, top=top)  # type: ignore[arg-type]


def test_chat_messages_keep_their_borders() -> None:
    prompt = Prompt.from_messages(
        [
            {"role": "system", "content": "Provide a concise overview."},
            {"role": "user", "content": "Give the main points."},
        ]
    )
    space = space_of(prompt)
    changed = space.mutation(tuple(1 for _ in space.places)).prompt
    assert [message["role"] for message in changed.messages or ()] == ["system", "user"]
