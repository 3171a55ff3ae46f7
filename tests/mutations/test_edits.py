from __future__ import annotations

from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import (
    Edit,
    Ref,
    Tokens,
    apply_edits,
    check_edits,
    edits_at,
    edits_from_json,
    edits_to_json,
    insert,
    kept_refs,
    reorder,
    replace,
    touched_words,
    word_diff,
)
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.randomness import Rng


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    text = draw(st.text(alphabet="ab cd.\n", min_size=1, max_size=40))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    edits = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            edits.append(insert(start, draw(st.text(alphabet="xy ", min_size=1, max_size=4))))
        elif kind == 1:
            edits.append(replace(start, end, draw(st.text(alphabet="xy ", max_size=6))))
        else:
            inner = sorted({start, end, *draw(st.sets(st.integers(start, end), max_size=4))})
            pieces: list[str | Ref] = [Ref(a, b) for a, b in pairwise(inner)]
            if kind == 3:
                pieces.append("zz ")
            edits.append(Edit(start, end, tuple(draw(st.permutations(pieces)))))
    return text, edits


@given(texts_and_edits())
def test_a_diff_holds_both_texts(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    diff = word_diff(text, edits)
    assert "".join(piece for sign, piece in diff if sign in "=-") == text
    assert "".join(piece for sign, piece in diff if sign in "=+") == apply_edits(text, edits)


@given(texts_and_edits())
def test_stored_edits_come_back(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    mutation = Mutation(text, tuple(edits), ("x@1",), "lexical", 0.25, "yes")
    again = Mutation.from_json(mutation.to_json())
    assert again == mutation
    assert again.id == mutation.id
    assert again.text == mutation.text == apply_edits(text, edits)
    assert 0 <= mutation.change_rate <= 1
    assert edits_from_json(edits_to_json(edits)) == tuple(edits)


@pytest.mark.parametrize(
    ("text", "edits", "diff"),
    [
        ("Classify it.", [replace(3, 4, "z")], [("-", "Classify"), ("+", "Clazsify"), ("=", " it.")]),
        ("a b", [insert(2, " ")], [("=", "a "), ("+", " "), ("=", "b")]),
        ("Stop.", [replace(4, 5, "")], [("-", "Stop."), ("+", "Stop")]),
        (
            "Be brief. Use plain English.",
            [reorder([(0, 9), (10, 28)], [1, 0])],
            [("-", "Be brief. "), ("=", "Use plain English."), ("+", " Be brief.")],
        ),
        ("now", [insert(0, "Do it ")], [("+", "Do it "), ("=", "now")]),
        ("classify", [insert(4, " ")], [("-", "classify"), ("+", "clas sify")]),
    ],
)
def test_diffs_read_in_whole_words(text: str, edits: list[Edit], diff: list[tuple[str, str]]) -> None:
    assert word_diff(text, edits) == diff


@pytest.mark.parametrize(
    ("text", "edits", "touched"),
    [
        ("one two three four", [replace(4, 7, "2")], 1),
        ("one two three four", [replace(4, 5, "T"), replace(6, 7, "O")], 1),
        ("one two three four", [insert(3, " ")], 0),
        ("one two three four", [insert(5, " ")], 1),
        ("one two three four", [reorder([(0, 3), (4, 18)], [1, 0])], 1),
        ("one two three four", [reorder([(0, 3), (4, 7), (8, 13), (14, 18)], [3, 2, 1, 0])], 3),
        ("日本語", [replace(0, 1, "一")], 1),
    ],
)
def test_touched_words(text: str, edits: list[Edit], touched: int) -> None:
    assert touched_words(edits, Tokens(text)) == touched


def test_the_heaviest_run_stays() -> None:
    edit = reorder([(0, 2), (2, 12), (12, 15), (15, 30)], [3, 0, 1, 2])
    assert {edit.parts[index] for index in kept_refs(edit)} == {
        Ref(0, 2),
        Ref(2, 12),
        Ref(12, 15),
    } or kept_refs(edit) == {0}
    assert kept_refs(reorder([(0, 2), (2, 12), (12, 15)], [2, 0, 1])) == {1, 2}


@given(st.permutations(range(24)), st.lists(st.integers(1, 9), min_size=24, max_size=24))
def test_the_heaviest_run_is_found_in_long_lists_too(order: list[int], sizes: list[int]) -> None:
    starts = [sum(sizes[:i]) for i in range(24)]
    spans = [(starts[i], starts[i] + sizes[i]) for i in order]
    best: list[int] = []
    for i, (start, _) in enumerate(spans):
        best.append(sizes[order[i]] + max((best[j] for j in range(i) if spans[j][1] <= start), default=0))
    edit = reorder(sorted(spans), [sorted(spans).index(span) for span in spans])
    kept = kept_refs(edit)
    assert sum(
        part.end - part.start for i, part in enumerate(edit.parts) if i in kept and isinstance(part, Ref)
    ) == max(best)


@pytest.mark.parametrize(
    ("edits", "spans", "message"),
    [
        ([replace(5, 99, "")], [], "outside the text of 10"),
        ([replace(4, 6, ""), replace(5, 7, "")], [], "overlaps or precedes"),
        ([insert(3, "a"), insert(3, "b")], [], "overlaps or precedes"),
        ([Edit(0, 1, (Ref(2, 50),))], [], "refers to"),
        ([Edit(0, 1, (7,))], [], "type int"),  # type: ignore[arg-type]
        ([replace(1, 3, "x")], [(2, 5)], "loses the protected span"),
        ([insert(3, "x")], [(2, 5)], "loses the protected span"),
        ([insert(9, "x"), Edit(10, 10, (Ref(2, 5),))], [(2, 5)], "doubles"),
        ([Edit(1, 8, (Ref(1, 3), "-", Ref(3, 8)))], [(2, 5)], "tears"),
    ],
)
def test_edits_that_cannot_be_are_refused(
    edits: list[Edit], spans: list[tuple[int, int]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check_edits(edits, 10, spans)


def test_a_protected_span_may_move_whole() -> None:
    check_edits([reorder([(0, 3), (4, 8)], [1, 0])], 10, [(5, 7)])
    check_edits([insert(2, "x"), insert(5, "y")], 10, [(2, 5)])
    check_edits([replace(2, 5, ""), Edit(9, 9, (Ref(2, 5),))], 10, [(2, 5)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edits": 3}, "not a list"),
        ({"edits": [[1, 2]]}, "not a list"),
        ({"edits": [[0, True, []]]}, "not a list"),
        ({"edits": [[0, 99, []]]}, "outside"),
        ({"dimension": "lexcal"}, "Did you mean 'lexical'"),
        ({"severity": "high"}, "number from 0 to 1"),
        ({"operators": "x"}, "list of names"),
        ({"original": 3}, "is a str"),
    ],
)
def test_a_damaged_stored_mutation_is_refused(change: dict[str, object], message: str) -> None:
    stored = Mutation("some text", (replace(0, 4, "any"),), ("x@1",), "lexical", 0.1, "yes").to_json()
    assert Mutation.from_json(stored).text == "any text"
    with pytest.raises(UsageError, match=message):
        Mutation.from_json({**stored, **change})
    with pytest.raises(UsageError, match="lacks"):
        Mutation.from_json({key: value for key, value in stored.items() if key not in change})


@pytest.mark.parametrize(
    ("intensity", "sizes"), [(None, [8, 4, 4, 4]), (2, [2, 2, 2, 2]), (0.75, [6, 6, 6, 6])]
)
def test_all_places_are_drawn_and_then_half_of_them(intensity: float | None, sizes: list[int]) -> None:
    def drawn(items: str) -> list[list[str]]:
        return list(islice(Rng(b"", "draws", intensity=intensity).all_then_some(items), 4))

    draws = drawn("abcdefgh")
    assert [len(each) for each in draws] == sizes
    assert all(each == sorted(each) for each in draws)
    assert draws[1] != draws[2]
    assert (drawn("a"), drawn("")) == ([["a"]], [])  # a second draw of one place would be the first


def test_a_share_of_the_places_is_drawn_without_end() -> None:
    rng = Rng(b"", "draws")
    assert [len(each) for each in islice(rng.draws("abcdefgh", 0.25), 3)] == [2, 2, 2]
    assert list(islice(rng.draws("a", 0.25), 3)) == [["a"]] * 3
    assert list(rng.draws("", 0.25)) == []


def test_edits_stand_at_the_drawn_places_that_have_one() -> None:
    found = edits_at([[1, 2, 3], [2]], lambda place: insert(place, "-") if place % 2 else None)
    assert list(found) == [[insert(1, "-"), insert(3, "-")], []]
