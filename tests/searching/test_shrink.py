"""``shrink``: mutations made smaller, down to characters and single moves."""

from __future__ import annotations

import contextlib

import pytest

from pytest_promptfuzz import Mutation, UsageError, mutate, shrink
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits, reorder, replace
from pytest_promptfuzz.searching import shrinker
from pytest_promptfuzz.searching.shrinker import (
    BudgetSpent,
    by_characters,
    by_words,
    is_move,
    shrunk,
    smaller_moves,
)
from pytest_promptfuzz.text import word_diffs

TEXT = """You sort support tickets. Read the ticket and choose one of these:
- billing: payments, refunds
- technical: crashes, errors
- account: login, password
- other: everything else

Answer with the label only. Do not explain your choice. Keep it short and polite."""


def made(*edits) -> Mutation:
    return Mutation(TEXT, tuple(sorted(edits)), ("several@1",), "lexical", 0.3, "yes")


def at(old: str, new: str):
    start = TEXT.index(old)
    return replace(start, start + len(old), new)


def test_the_one_word_that_matters_is_what_is_left() -> None:
    mutation = made(
        at("Read the ticket and choose", "Look at the message and pick"),
        at("label only", "category alone"),
        at("short and polite", "brief and kind"),
    )
    asked: list[str] = []

    def fails(text: str) -> bool:
        asked.append(text)
        return "category" in text

    found = shrink(mutation, fails)
    assert found.minimal
    assert found.calls == len(asked) <= 14
    assert found.mutation.text == TEXT.replace("label", "category")
    assert found.mutation.severity < mutation.severity
    assert found.mutation.operators == mutation.operators


def test_what_is_needed_of_a_word_is_what_is_left_of_it() -> None:
    found = shrink(
        made(at("explain your", "EXPLAIN Your")), lambda text: "eXplain" in text or "EXPLAIN" in text
    )
    assert found.minimal
    assert found.mutation.text != TEXT
    # One letter would do, and all letters of a word are one change by characters: the smallest of what there is.
    assert [TEXT[edit.start : edit.end] for edit in found.mutation.edits] == ["explain"]
    spaced = shrink(made(at("label only", "l-abe-l only!")), lambda text: "l-a" in text)
    assert spaced.mutation.text == TEXT.replace("label only", "l-abel only")


def test_a_reordering_becomes_the_smallest_move_that_fails() -> None:
    lines = [line for line in TEXT.splitlines() if line.startswith("-")]
    segments = [(TEXT.index(line), TEXT.index(line) + len(line)) for line in lines]
    mutation = made(reorder(segments, [3, 2, 1, 0]))

    def fails(text: str) -> bool:  # what breaks it: "account" stands before "technical"
        return text.index("account") < text.index("technical")

    found = shrink(mutation, fails)
    assert fails(found.mutation.text)
    (edit,) = found.mutation.edits
    assert is_move(edit)
    moved = [a for a, b in zip(TEXT.splitlines(), found.mutation.text.splitlines(), strict=True) if a != b]
    assert moved == lines[1:3]


def test_parts_of_an_edit_are_the_edit() -> None:
    for mutation in mutate(TEXT, 200):
        coarse = by_words(mutation.edits, TEXT)
        assert apply_edits(TEXT, coarse) == mutation.text
        check_edits(coarse, len(TEXT))
        fine = [each for atom in coarse for each in by_characters(atom, TEXT)]
        assert apply_edits(TEXT, fine) == mutation.text
        check_edits(fine, len(TEXT))
        for edit in filter(is_move, mutation.edits):
            for move in smaller_moves(edit):
                assert sorted(apply_edits(TEXT, [move])) == sorted(TEXT)


def test_the_budget_holds_and_what_was_found_by_then_is_given() -> None:
    asked: list[str] = []
    mutation = made(
        *(at(word, word.upper()) for word in ("tickets", "refunds", "errors", "login", "label", "choice"))
    )

    def fails(text: str) -> bool:
        asked.append(text)
        return "LOGIN" in text and "CHOICE" in text

    for queries in range(1, 9):
        asked.clear()
        found = shrink(mutation, fails, queries=queries)
        assert found.calls == len(asked) <= queries
        assert not found.minimal
        assert "LOGIN" in found.mutation.text
    assert shrink(mutation, fails).minimal


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"queries": 0}, "queries=0"),
        ({"queries": True}, "queries=True"),
        ({"flip": 0.5}, "flip=0.5"),
        ({"flip": "a"}, "flip='a'"),
    ],
)
def test_bad_settings_are_named(settings, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        shrink(made(at("label", "LABEL")), lambda text: True, **settings)
    with pytest.raises(UsageError, match="no edits"):
        shrink(made(), lambda text: True)


def test_a_synonym_stays_whole_and_a_typo_becomes_smaller() -> None:
    text = "Give a concise answer."
    synonym = Mutation(text, (replace(7, 14, "succinct"),), ("synonym@3",), "semantic", 0.2, "yes")
    typo = Mutation(text, (replace(7, 14, "cpncisr"),), ("keyboard-typo@2",), "lexical", 0.2, "yes")
    assert shrink(synonym, lambda changed: "concise" not in changed).mutation.text == synonym.text
    assert shrink(typo, lambda changed: "concise" not in changed).mutation.text in {
        "Give a cpncise answer.",
        "Give a concisr answer.",
    }
    shouted = Mutation(text, (replace(7, 14, "CONCIse"),), ("upper-case@1",), "semantic", 0.2, "yes")
    assert shrink(shouted, lambda changed: "concise" not in changed).mutation.text == shouted.text


def test_what_is_known_of_the_whole_is_not_asked() -> None:
    mutation = made(at("Read the ticket and choose", "Look at the message and pick"), at("short", "brief"))
    steps = shrunk(mutation, flip=0.2, known=(8, 8))
    assert mutation.text not in {each.text for each in next(steps)}
    assert {each.text for each in next(shrunk(mutation, flip=0.2))} == {mutation.text}


def test_where_no_more_can_be_asked_the_smallest_part_known_to_fail_is_what_is_left() -> None:
    mutation = made(
        at("Read the ticket and choose", "Look at the message and pick"),
        at("label only", "category alone"),
        at("short and polite", "brief and kind"),
    )
    sizes = []
    finished = shrunk(mutation, known=(1, 1))
    batch = next(finished)
    with contextlib.suppress(StopIteration):
        for most in range(1, 50):
            steps = shrunk(mutation, known=(1, 1))
            asked = next(steps)
            for _ in range(most - 1):
                asked = steps.send(["category" in each.text for each in asked])
            with pytest.raises(StopIteration) as stop:
                steps.throw(BudgetSpent())
            assert "category" in stop.value.value.mutation.text
            assert not stop.value.value.minimal
            sizes.append(len(stop.value.value.mutation.edits))
            batch = finished.send(["category" in each.text for each in batch])
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1] == 1


def test_edits_at_one_place_keep_their_order() -> None:
    text = "Give an answer."
    # What the first puts before "answer" and the second begins with stand at one place.
    mutation = Mutation(
        text,
        (replace(5, 8, "an x z "), replace(8, 14, "b answer")),
        ("several@1",),
        "lexical",
        0.3,
        "yes",
    )
    asked: list[str] = []

    def fails(changed: str) -> bool:
        asked.append(changed)
        return "x" in changed and "b " in changed

    assert shrink(mutation, fails).minimal
    assert not any("b " in each[: each.index("x")] for each in asked if "x" in each)


def test_many_segments_move_as_few_would(monkeypatch) -> None:
    places = [(3 * at, 3 * at + 1 + at % 3) for at in range(40)]
    edit = reorder(places, [*range(39, -1, -1)])
    quick = smaller_moves(edit)
    monkeypatch.setattr(shrinker, "_FEW", 100)
    assert quick == smaller_moves(edit)


def test_a_change_of_much_that_is_alike_is_taken_apart_in_a_bounded_number_of_steps(monkeypatch) -> None:
    before = "without a " * 2_000
    after = "a without not " * 2_000  # difflib alone takes the cube of it
    for most in (word_diffs._MOST_CELLS, 0):
        monkeypatch.setattr(word_diffs, "_MOST_CELLS", most)
        parts = by_words([replace(0, len(before), after)], before)
        assert apply_edits(before, parts) == after
        check_edits(parts, len(before))
    assert word_diffs.ratio(*([f"{at % 100}" for at in range(8_000)][::step] for step in (1, -1))) is None
    assert word_diffs.ratio("abcd", "bcde") == 0.75
