"""A change of a prompt that was edited since: it goes where the same text stands, or says that it has no place."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_promptfuzz import Prompt, mutate
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref, check_edits, insert, reorder, replace
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.searching.failures import reanchored
from pytest_promptfuzz.wording.sentences import sentence

OLD = """\
Classify the ticket into one of: BILLING, TECHNICAL, OTHER.

Rules:
- Answer with the label only
- Do not explain your choice
- Be polite to the customer

Ticket: {ticket}"""


def made(*edits, text=OLD):
    return Mutation(text, tuple(sorted(edits)), ("own@1",), "lexical", 0.2, "yes")


def over(piece, becomes, text=OLD, nth=0):
    start = -1
    for _ in range(nth + 1):
        start = text.index(piece, start + 1)
    return replace(start, start + len(piece), becomes)


def moved(mutation, new):
    found = reanchored(mutation, Prompt(new))
    assert isinstance(found, Mutation), found
    assert found.original == new
    return found.text


def gone(mutation, new):
    found = reanchored(mutation, Prompt(new))
    assert isinstance(found, Note), found.text
    return sentence(found)


def test_the_same_prompt_gives_the_same_mutation():
    mutation = made(over("polite", "kind"))
    prompt = Prompt(OLD)
    found = reanchored(mutation, prompt)
    assert found == mutation
    assert found.id == mutation.id
    assert found.source is prompt


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Classify the ticket", "Please read and then classify the ticket"),
        ("- Do not explain your choice\n", ""),
        ("Ticket: {ticket}", "The customer wrote: {ticket}\n\nThank you."),
        ("Rules:", "Rules, all of which hold:"),
    ],
)
def test_an_edit_goes_where_its_text_stands(old, new):
    changed = OLD.replace(old, new)
    assert moved(made(over("polite", "kind")), changed) == changed.replace("polite", "kind")


def test_of_several_places_that_with_the_most_similar_surroundings():
    text = "Be polite to the agent. Be brief. Be polite to the customer. Answer now."
    mutation = made(over("polite", "kind", text, nth=1), text=text)
    new = "Be polite to the boss. Be polite to the customer, always. Be polite to the agent. Answer now."
    assert moved(mutation, new) == new.replace("polite to the customer", "kind to the customer")
    # A section that moved takes its edit along.
    new = "Be polite to the customer. Answer now. Be polite to the agent. Be brief."
    assert moved(mutation, new) == new.replace("polite to the customer", "kind to the customer")


def test_edits_of_the_same_word_keep_apart():
    text = "Read the text and rate the mood of the writer."
    mutation = made(*(over("the", "teh", text, nth=number) for number in range(3)), text=text)
    new = "Please read the text and rate the mood of the writer now."
    assert moved(mutation, new) == new.replace("the ", "teh ")
    assert "'the'" in gone(mutation, "Read the text and rate the mood of a writer.")


def test_a_word_is_not_a_part_of_another():
    text = "Rate the text or skip it."
    mutation = made(over("or", "/", text), text=text)
    assert moved(mutation, "Rate for me the text or skip it.") == "Rate for me the text / skip it."
    assert "'or'" in gone(mutation, "Rate for the author: story text.")
    # A typo within a word stays within that word.
    typo = made(replace(10, 12, "xt"), text=text)
    assert text[10:12] == "ex"
    assert moved(typo, "Now rate the text, or skip an exam.") == "Now rate the txtt, or skip an exam."


@pytest.mark.parametrize("piece", ["BILLING", "{ticket}", "not"])
def test_what_is_protected_is_not_touched(piece):
    """The word is free in the old text, and the only one like it is protected in the new."""
    text = f"Say {piece.strip('{}').lower()}ish words to the customer."
    word = text.split()[1]
    mutation = made(over(word, "other", text), text=text)
    new = f"Answer with exactly this: `{word}` and no more, for {{ticket}}."
    assert f"'{word}'" in gone(mutation, new)


def test_an_operator_built_to_touch_what_is_protected_still_may():
    text = "Choose one of: high, medium, low. Answer with the label only."
    spans = Prompt(text).spans
    assert any(span.start <= text.index("high") < span.end for span in spans)
    mutation = made(over("high, medium, low", "low, medium, high", text), text=text)
    new = "Look closely. Choose one of: high, medium, low. Answer with the label only."
    assert moved(mutation, new) == new.replace("high, medium, low", "low, medium, high")


def test_moves_go_as_a_whole():
    first, second = OLD.index("Answer with"), OLD.index("Do not")
    mutation = made(reorder([(first, second - 3), (second, OLD.index("- Be polite") - 1)], [1, 0]))
    assert "- Do not explain your choice\n- Answer with the label only\n" in mutation.text
    changed = OLD.replace("Rules:", "Rules of the house:")
    assert moved(mutation, changed) == mutation.text.replace("Rules:", "Rules of the house:")
    assert "does not stand in it" in gone(mutation, OLD.replace("the label only", "a label"))


def test_text_that_is_taken_from_elsewhere_has_no_place_in_another_prompt():
    text = "One part here. Another part there."
    mutation = made(Edit(0, 3, (Ref(15, 22),)), text=text)
    assert mutation.text == "Another part here. Another part there."
    assert gone(mutation, "One part here, and more. Another part there.")


@pytest.mark.parametrize(
    ("position", "new", "expected"),
    [
        ("end", OLD + "\n\nBe quick.", "\n\nBe quick. Thanks!"),
        ("end", "Sort this.\n\nTicket: {ticket}", "Sort this.\n\nTicket: {ticket} Thanks!"),
        ("start", "Sort the ticket.\n\n{ticket}", " Thanks!Sort the ticket.\n\n{ticket}"),
        ("polite", OLD.replace("- Be polite", "- You must be polite"), "must be Thanks!polite to the"),
        ("polite", "Sort the ticket.\n\n{ticket}", None),
    ],
)
def test_insertions_go_beside_their_words(position, new, expected):
    at = {"end": len(OLD), "start": 0, "polite": OLD.index("polite")}[position]
    mutation = made(insert(at, " Thanks!" if position != "polite" else "Thanks!"))
    if expected is None:
        assert "stands in it any more" in gone(mutation, new)
    else:
        assert expected in moved(mutation, new)


def test_what_the_prompt_says_by_now_is_no_change():
    text = "Answer kindly, with a label."
    mutation = made(Edit(7, 13, ("kindly",)), text="Answer nicely, with a label.")
    assert "nicely" in gone(mutation, text)
    doubled = made(insert(6, " now"), text="Answer with care.")
    assert moved(doubled, "Answer with care, please.") == "Answer now with care, please."


def test_a_chat_keeps_its_messages_apart():
    messages = [
        {"role": "system", "content": "You sort tickets for the shop."},
        {"role": "user", "content": "Sort this ticket for me, please."},
    ]
    chat = Prompt.from_messages(messages)
    mutation = made(over("please", "thanks", chat.text), text=chat.text)
    longer = Prompt.from_messages([{**messages[0], "content": "You sort tickets. Be brief."}, messages[1]])
    found = reanchored(mutation, longer)
    assert found.prompt.messages[1]["content"] == "Sort this ticket for me, thanks."
    assert found.prompt.messages[0]["content"] == "You sort tickets. Be brief."
    # What is an assistant's now is not ours to change.
    theirs = Prompt.from_messages(
        [messages[0], {**messages[1], "role": "assistant"}, {"role": "user", "content": "Go."}]
    )
    assert isinstance(reanchored(mutation, theirs), Note)


def test_only_the_part_that_may_change_is_looked_at():
    prompt = Prompt("Sort: {ticket}\nBe polite to the customer.").fill(ticket="Be polite to the customer.")
    mutation = made(over("polite", "kind", "Be polite to the customer."), text="Be polite to the customer.")
    assert (
        reanchored(mutation, prompt.limited("input")).text
        == "Sort: Be kind to the customer.\nBe polite to the customer."
    )
    template = reanchored(mutation, prompt.limited("template"))
    assert template.text == "Sort: Be polite to the customer.\nBe kind to the customer."


@pytest.mark.parametrize("seed", range(3))
def test_whole_plans_come_along_and_stay_legal(seed):
    """Every mutation of a plan, moved to a prompt with text before, within and after: never harm, mostly a place."""
    new = "You are a helpful clerk.\n\n" + OLD.replace(
        "- Be polite to the customer", "- Be kind to everybody"
    ).replace("Rules:", "These are the rules:")
    prompt = Prompt(new)
    plan = mutate(Prompt(OLD), 60, seed=seed)
    found = [reanchored(each, prompt) for each in plan]
    kept = [each for each in found if isinstance(each, Mutation)]
    assert len(kept) > len(plan) / 2
    for each in kept:
        assert each.original == new
        assert each.text != new
        assert "{ticket}" in each.text
        check_edits(each.edits, len(new))
    for each, was in zip(found, plan, strict=True):
        moves = any(isinstance(part, Ref) for edit in was.edits for part in edit.parts)
        if isinstance(each, Mutation) and not moves:  # what stands between moved pieces may be new
            assert [edit.replacement(new) for edit in each.edits] or was.edits
            assert sorted(edit.replacement(new) for edit in each.edits) == sorted(
                edit.replacement(OLD) for edit in was.edits
            )


WORDS = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]),
    min_size=1,
    max_size=8,
)


@given(WORDS, WORDS, WORDS, st.data())
def test_text_around_a_change_does_not_matter_to_a_unique_word(before, after, more, data):
    old = " ".join([*before, "UNIQUEWORD", *after]).lower()
    start = old.index("uniqueword")
    mutation = made(replace(start, start + 10, "another"), text=old)
    place = data.draw(st.integers(0, len(more)))
    new = " ".join([*more[:place], "uniqueword", *more[place:]])
    assume(new != old)
    assert moved(mutation, new) == new.replace("uniqueword", "another")


def test_two_edits_that_want_one_place_share_no_text():
    text = "Alpha word beta. Gamma word delta."
    mutation = made(over("word", "term", text), over("word", "name", text, nth=1), text=text)
    found = moved(mutation, "Alpha word delta. Omega word sigma.")
    assert sorted(each for each in found.replace(".", "").split() if each in {"term", "name"}) == [
        "name",
        "term",
    ]


LISTED = """\
Sort the mail of a shop.

- billing
- shipping
- returns

Message: {message}"""


def swapped(one, other, text=LISTED):
    spans = sorted((text.index(each), text.index(each) + len(each)) for each in (one, other))
    return made(reorder(spans, [1, 0]), text=text)


def test_a_reordering_goes_where_its_segments_stand_by_now():
    more = LISTED.replace("- billing\n", "- billing\n- legal\n")
    found = moved(swapped("- billing", "- shipping"), more)
    assert found == more.replace("- billing\n- legal\n- shipping", "- shipping\n- legal\n- billing")


def test_a_segment_that_was_added_to_is_known_by_its_first_and_last_line():
    whole = LISTED[: LISTED.index("\n\nMessage")]
    more = LISTED.replace("- billing\n", "- billing\n- legal\n")
    found = moved(swapped(whole, "Message: {message}"), more)
    assert found.startswith("Message: {message}\n\nSort the mail")
    assert found.endswith("- legal\n- shipping\n- returns")


@pytest.mark.parametrize(
    "new",
    [
        LISTED.replace("- shipping\n", ""),
        LISTED.replace("- billing\n", "- billing\n- legal\n").replace("- returns", "- shipping"),
        LISTED.replace("- billing\n- shipping", "- shipping\n- legal\n- billing"),
    ],
    ids=["removed", "twice", "turned"],
)
def test_segments_that_are_not_there_once_and_in_their_order_have_no_place(new):
    gone(swapped("- billing", "- shipping"), new)
