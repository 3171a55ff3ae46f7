"""From an answer to edits: by example, and over whatever prompts and answers hypothesis thinks of."""

from __future__ import annotations

import pytest
from assistants import draft_of, stretch_of
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_promptfuzz import Prompt
from pytest_promptfuzz.assistance.checks import RejectedAnswerError, marked
from pytest_promptfuzz.assistance.rewording import edits_between
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import Ref, apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.mutation import Mutation


def edits_of(prompt: str, answer: str):
    stretch = stretch_of(prompt)
    return edits_between(stretch, stretch.read(answer))


@pytest.mark.parametrize(
    ("prompt", "answer", "edits"),
    [
        ("Sort the mail.", "Sort the letters.", [(9, 13, ("letters",))]),
        ("Sort the mail.", "Sort all the mail.", [(4, 4, (" all",))]),
        ("Sort all the mail.", "Sort the mail.", [(4, 8, ("",))]),
        ("Sort the mail now.", "Please sort the mail.", [(0, 4, ("Please sort",)), (13, 17, ("",))]),
        # a comma between two changes does not split them
        ("Read it, sort it.", "Take them, file them.", [(0, 16, ("Take them, file them",))]),
        # a slot that stays is in no edit; one that moves is a reference
        ("Sort {x} by date.", "File ⟦1:{x}⟧ by age.", [(0, 4, ("File",)), (12, 16, ("age",))]),
        ("Sort {x} as {y}.", "As ⟦2⟧, sort ⟦1⟧.", None),
    ],
)
def test_the_smallest_runs_of_words_are_replaced(prompt, answer, edits) -> None:
    found = edits_of(prompt, answer)
    if edits is not None:
        assert [tuple(each) for each in found] == edits
    check_edits(found, len(prompt), draft_of(prompt).spans)


def test_slots_that_change_places_are_references() -> None:
    prompt = "Sort {x} as {y}."
    found = edits_of(prompt, "As ⟦2⟧, sort ⟦1⟧.")
    assert apply_edits(prompt, found) == "As {y}, sort {x}."
    assert sum(isinstance(part, Ref) for each in found for part in each.parts) >= 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("File ⟦1⟧ and ⟦1⟧ as ⟦2⟧", "repeats {x}"),
        ("File ⟦1⟧", "loses {y}"),
        ("File {x} and {x} as {y}", "repeats {x}"),
        ("File ⟦1⟧ as ⟦3:{z}⟧", "makes up the mark ⟦3⟧"),
        ("File ⟦1⟧ as ⟦2:{y}", "breaks a mark|loses"),
        ("File ⟦1⟧ as ⟦2⟧ ⟧", "breaks a mark"),
        ("File a⟦1⟧ as ⟦2⟧", "glues {x} to a word"),
        ("File ⟦1⟧s as ⟦2⟧", "glues {x} to a word"),
        ("File ⟦1⟧⟦2⟧", ""),
        ("File ⟦ 1 : {x} ⟧ as ⟦02⟧", ""),
        ("File ⟦1:something else⟧ as {y}", ""),
    ],
)
def test_marks_are_read_strictly_and_with_good_will(answer, problem) -> None:
    stretch = stretch_of("Sort {x} as {y}.")
    if problem:
        with pytest.raises(RejectedAnswerError, match=problem):
            stretch.read(answer)
    else:
        assert {"{x}", "{y}"} <= {stretch.render([part]) for part in stretch.read(answer)}


def test_spans_written_alike_are_told_apart_by_their_marks_or_taken_in_order() -> None:
    stretch = stretch_of("Compare {x} with the other {x} now.")
    assert [p for p in stretch.read("Now see how ⟦2⟧ differs from ⟦1⟧.") if isinstance(p, int)] == [1, 0]
    assert [p for p in stretch.read("Now see how {x} differs from {x}.") if isinstance(p, int)] == [0, 1]
    assert [p for p in stretch.read("Now see how ⟦2⟧ differs from {x}.") if isinstance(p, int)] == [1, 0]


def test_a_prompt_that_holds_the_marks_signs_gets_others() -> None:
    stretch = stretch_of("Sort {x} into ⟦a⟧ or ⟦b⟧.")
    assert stretch.brackets == ("⟪", "⟫")
    assert "⟪" in stretch.shown
    assert marked(draft_of("Sort {x}: ⟦ ⟪ ⦃ ⁅ are signs.")) == []


WORDS = st.sampled_from(
    [
        "Sort",
        "the",
        "mail",
        ",",
        ".",
        "naïve",
        "don’t",
        "質問",
        "に",
        "e\u0301",
        "🙂",
        "\n",
        "\n\n",
        "- ",
        "  ",
        "and",
        "a_b",
    ]
)
SLOTS = st.sampled_from(["{x}", "{y}", "42", '"quoted"', "`code`", "https://a.example/b"])
PROMPTS = st.lists(WORDS | SLOTS, min_size=1, max_size=25).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(PROMPTS, st.data())
def test_edits_make_the_answer_and_keep_every_span(text, data) -> None:
    try:
        prompt = Prompt(text)
    except UsageError:
        return
    draft = draft_of(prompt)
    for stretch in marked(draft):
        order = data.draw(st.permutations(range(len(stretch.spans))))
        pieces = [data.draw(st.lists(WORDS, max_size=6).map(" ".join)) for _ in range(len(order) + 1)]
        answer = pieces[0] + "".join(
            f" {stretch.mark([index])} {piece}" for index, piece in zip(order, pieces[1:], strict=True)
        )
        parts = stretch.read(answer)
        edits = edits_between(stretch, parts)
        check_edits(edits, len(text), draft.spans)
        assert apply_edits(text, edits) == text[: stretch.start] + stretch.render(parts) + text[stretch.end :]
        assert 0 <= Mutation(text, tuple(edits), ("x@1",), "semantic", 0.4, "yes").change_rate <= 1


@settings(max_examples=60, deadline=None)
@given(PROMPTS, st.text(max_size=60))
def test_any_text_at_all_is_read_or_refused(text, answer) -> None:
    try:
        stretches = marked(draft_of(text))
    except UsageError:
        return
    for stretch in stretches:
        try:
            parts = stretch.read(answer)
        except RejectedAnswerError:
            continue
        assert sorted(part for part in parts if isinstance(part, int)) == list(range(len(stretch.spans)))
        check_edits(edits_between(stretch, parts), len(text), draft_of(text).spans)


@pytest.mark.timeout(120)
def test_a_long_prompt_that_repeats_itself_is_aligned() -> None:
    sentence = (
        "Read the ticket with care and decide which of the teams in the list below should take it next week. "
    )
    prompt = (sentence * 40).strip()
    stretch = stretch_of(prompt)
    edits = edits_between(stretch, stretch.read(prompt.replace("decide", "choose").replace("week", "month")))
    assert len(edits) == 80
