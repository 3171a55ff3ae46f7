"""Edits after edits are edits over the original, and what is protected stays whole through both."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation_samples import TEXTS

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import (
    Edit,
    Ref,
    apply_edits,
    check_edits,
    compose_edits,
    insert,
    map_spans,
    reorder,
    replace,
)
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import builtin, compose
from pytest_promptfuzz.prompts.prompt import Prompt

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.engine.operator import Operator

# Those that leave every protected span alone, and so must leave them alone one after another.
HARMLESS = [each for each in builtin().values() if not each.touches and each.relation == "invariance"]


@st.composite
def edits_over(draw: st.DrawFn, text: str, spans: list[tuple[int, int]]) -> list[Edit]:
    """Valid edits of every kind: insertions, replacements, removals, reorderings, segments that move elsewhere."""
    apart = [at for at in range(len(text) + 1) if not any(start < at < end for start, end in spans)]
    cuts = sorted(draw(st.sets(st.sampled_from(apart), max_size=8)))
    edits: list[Edit] = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        held = any(start <= low and high <= end for low, high in spans)
        kind = draw(st.integers(0, 3))
        if kind == 0:
            edits.append(insert(start, draw(st.text(alphabet="xy ", min_size=1, max_size=4))))
        elif kind == 1 and not held:
            edits.append(replace(start, end, draw(st.text(alphabet="abxy ", max_size=6))))
        else:
            inside = st.sampled_from([at for at in apart if start <= at <= end])
            inner = sorted({start, end, *draw(st.sets(inside, max_size=4))})
            segments: list[str | Ref] = [Ref(a, b) for a, b in pairwise(inner)]
            if kind == 3:
                segments.append("zz ")
            edits.append(Edit(start, end, tuple(draw(st.permutations(segments)))))
    if len(edits) > 1 and draw(st.booleans()):  # what the first edit held goes where the last one stands
        first, last = edits[0], edits[-1]
        edits[0], edits[-1] = Edit(*first[:2], ()), Edit(*last[:2], (*last.parts, *first.parts))
    try:
        check_edits(edits, len(text), spans)
    except UsageError:  # an insertion and a replacement at one place, say
        return []
    return edits


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]], list[Edit], list[Edit]]:
    text = draw(st.text(alphabet="ab cd.\n", min_size=1, max_size=40))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    first = draw(edits_over(text, spans))
    changed = apply_edits(text, first)
    second = draw(edits_over(changed, sorted(map_spans(spans, first))))
    return text, spans, first, second


@given(cases())
@settings(max_examples=400, deadline=None)
def test_composed_edits_do_what_both_do(
    case: tuple[str, list[tuple[int, int]], list[Edit], list[Edit]],
) -> None:
    text, spans, first, second = case
    both = compose_edits(text, first, second)
    assert apply_edits(text, both) == apply_edits(apply_edits(text, first), second)
    check_edits(both, len(text), spans)


@given(cases())
@settings(max_examples=400, deadline=None)
def test_protected_spans_are_found_again(
    case: tuple[str, list[tuple[int, int]], list[Edit], list[Edit]],
) -> None:
    text, spans, first, _ = case
    changed = apply_edits(text, first)
    places = map_spans(spans, first)
    assert [changed[start:end] for start, end in places] == [text[start:end] for start, end in spans]
    assert all(before[1] <= after[0] for before, after in pairwise(sorted(places)))


@given(cases())
@settings(deadline=None)
def test_nothing_before_or_after_changes_nothing(
    case: tuple[str, list[tuple[int, int]], list[Edit], list[Edit]],
) -> None:
    text, _, first, _ = case
    assert compose_edits(text, first, []) == compose_edits(text, [], first) == tuple(first)


@pytest.mark.parametrize(
    ("first", "second", "composed"),
    [
        # Apart, they stand side by side, in ascending order whichever came first.
        ([replace(0, 3, "One")], [insert(7, "!")], [replace(0, 3, "One"), insert(7, "!")]),
        ([insert(7, "!")], [replace(0, 3, "One")], [replace(0, 3, "One"), insert(7, "!")]),
        # The second works on what the first put there.
        ([replace(4, 7, "twice")], [replace(8, 9, "")], [replace(4, 7, "twic")]),
        # What the second takes back is gone.
        ([insert(3, " x")], [replace(3, 5, "")], []),
        ([replace(0, 3, "uno")], [replace(0, 3, "one")], []),
        # A reordering moves what was changed in it.
        (
            [replace(0, 3, "1")],
            [reorder([(0, 1), (2, 5)], [1, 0])],
            [Edit(0, 7, (Ref(4, 7), Ref(3, 4), "1"))],
        ),
        # Two that undo each other.
        ([reorder([(0, 3), (4, 7)], [1, 0])], [reorder([(0, 3), (4, 7)], [1, 0])], []),
        ([reorder([(0, 2), (2, 4)], [1, 0])], [Edit(0, 4, (Ref(2, 4), Ref(0, 2), "x"))], [insert(4, "x")]),
        # What is said twice is no head or tail that stays.
        ([Edit(0, 2, (Ref(0, 4),))], [insert(9, "!")], [Edit(0, 2, (Ref(0, 4),)), insert(7, "!")]),
        ([Edit(4, 6, (Ref(2, 6),))], [insert(0, "!")], [insert(0, "!"), Edit(4, 6, (Ref(2, 6),))]),
    ],
)
def test_compositions_by_hand(first: list[Edit], second: list[Edit], composed: list[Edit]) -> None:
    assert list(compose_edits("one two", first, second)) == composed


@pytest.mark.parametrize(
    ("first", "second", "changed"),
    [
        ([Edit(0, 2, ()), Edit(8, 8, (Ref(0, 2),))], [insert(0, "ab")], "ab cd abab"),
        ([Edit(0, 2, ()), Edit(6, 8, (Ref(0, 2),))], [insert(0, "!")], "! cd ab"),
    ],
)
def test_what_left_its_place_is_not_put_back(first: list[Edit], second: list[Edit], changed: str) -> None:
    """Text and replacement look the same, but a protected span has moved: dropping the edit would double or lose it."""
    text = "ab cd ab"
    both = compose_edits(text, first, second)
    assert apply_edits(text, both) == changed
    check_edits(both, len(text), [(0, 2)])


@pytest.mark.parametrize(
    ("edits", "places"),
    [
        ([replace(0, 4, "three")], [(0, 5), (7, 11)]),  # an operator built to do so writes a number in words
        ([replace(0, 4, "")], [(0, 0), (2, 6)]),
        ([replace(1, 2, "!"), replace(3, 4, "!!")], [(0, 5), (7, 11)]),
        ([replace(3, 8, "-")], [(0, 4), (3, 6)]),
        ([reorder([(0, 4), (6, 10)], [1, 0])], [(6, 10), (0, 4)]),
        ([Edit(0, 10, (Ref(0, 10), Ref(4, 6)))], [(0, 4), (6, 10)]),
    ],
)
def test_what_stands_for_a_changed_span(edits: list[Edit], places: list[tuple[int, int]]) -> None:
    assert map_spans([(0, 4), (6, 10)], edits) == places


@given(TEXTS, st.lists(st.sampled_from(HARMLESS), min_size=2, max_size=3), st.integers(0, 99))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_operators_in_a_row_keep_what_is_protected(text: str, parts: list[Operator], seed: int) -> None:
    if len({code for each in parts for code in each.languages}) > 1:
        parts = [each for each in parts if each.languages in {(), ("en",)}]
    if len(parts) < 2:
        return
    spans = [(start, end) for start, end, _ in Prompt(text).spans]
    for mutation in plan(text, 3, operators=[compose(*parts)], seed=seed).mutations:
        check_edits(mutation.edits, len(text), spans)
        assert mutation.text == apply_edits(text, mutation.edits) != text
        assert mutation.operators == tuple(each.id for each in parts)
        assert 0 <= mutation.severity <= compose(*parts).severity
