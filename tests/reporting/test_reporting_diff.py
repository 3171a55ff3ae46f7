from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.reporting.terminal.rows import diff_lines
from pytest_promptfuzz.reporting.terminal.styled_text import render
from pytest_promptfuzz.wording.diffs import Move, Reorder, ShownChange, explain

LONG = "Here follows a rather long stretch of text that nobody touched, and that goes on and on. "


def shown(*diff: tuple[str, str]) -> list[str]:
    text = render(diff_lines(diff), width=200, color=False)
    assert text.startswith("   prompt     ")
    return [row[14:] for row in text.split("\n")]


@pytest.mark.parametrize(
    ("diff", "rows"),
    [
        (
            [("=", "Classify the "), ("-", "text"), ("+", "passage"), ("=", ".")],
            ["Classify the [-text-]{+passage+}."],
        ),
        # White space that is all that changed is seen.
        ([("=", "a"), ("-", " "), ("+", "  "), ("=", "b")], ["a[-·-]{+··+}b"]),
        ([("=", "a b"), ("+", " \n")], ["a b{+·⏎+}"]),
        ([("=", "a"), ("-", "\n"), ("+", "\n\n"), ("=", "b")], ["a[-⏎-]{+⏎⏎+}b"]),
        ([("=", "a"), ("-", " "), ("+", "\t"), ("=", "b")], ["a[-·-]{+→+}b"]),
        ([("=", "a"), ("-", " "), ("+", "\u00a0"), ("=", "b")], ["a[-·-]{+<U+00A0>+}b"]),
        ([("-", "hello, world"), ("+", "hello , world")], ["[-hello,·world-]{+hello·,·world+}"]),
        ([("-", "naïve"), ("+", "nai\u0308ve")], ["[-na<U+00EF>ve-]{+nai<U+0308>ve+}"]),
        ([("-", "pay"), ("+", "p\u0430y")], ["[-pay-]{+p<U+0430>y+}"]),
        ([("-", "café"), ("+", "cafe")], ["[-café-]{+cafe+}"]),
        ([("-", "go\u200bne"), ("+", "here")], ["[-go<U+200B>ne-]{+here+}"]),
        # White space that both sides share is no change.
        ([("-", "the text "), ("+", "a text "), ("=", "x")], ["[-the text-]{+a text+} x"]),
        # Neighbouring words are one change.
        (
            [("-", "Classify"), ("+", "CLASSIFY"), ("=", " "), ("-", "the"), ("+", "THE"), ("=", " end")],
            ["[-Classify the-]{+CLASSIFY THE+} end"],
        ),
        ([("=", "all the same")], ["(unchanged)"]),
        ([], ["(unchanged)"]),
    ],
)
def test_changes(diff: list[tuple[str, str]], rows: list[str]) -> None:
    assert shown(*diff) == rows


def test_long_equal_stretches_are_left_out() -> None:
    assert shown(
        ("=", LONG), ("-", "one"), ("+", "two"), ("=", " " + LONG), ("-", "x"), ("+", "y"), ("=", LONG)
    ) == [
        "… and that goes on and on. [-one-]{+two+} Here follows a rather long …",
        "… and that goes on and on. [-x-]{+y+}Here follows a rather long …",
    ]


def test_what_stands_between_two_changes_is_shown_once() -> None:
    many = [("-", "word " * 30), ("+", "WORD " * 30)]
    rows = explain([*many, ("=", "kept between "), *many])
    assert sum(text == "kept between " for each in rows for _, text in each.pieces) == 1


def test_many_places_are_counted() -> None:
    diff = [piece for n in range(5) for piece in [("-", f"a{n}"), ("+", f"b{n}"), ("=", LONG)]]
    assert shown(*diff)[3:] == ["… and 2 more places changed"]


def test_a_moved_sentence_is_a_move() -> None:
    diff = [
        ("=", "First one. "),
        ("-", "Be brief. "),
        ("=", "Return a label."),
        ("+", " Be brief."),
        ("=", "\n{x}"),
    ]
    assert explain(diff) == [Move("Be brief.", "First one.", "First one. Return a label.")]
    assert shown(*diff) == [
        "moved: Be brief.",
        "stood after “First one.”; stands after “First one. Return a label.”",
    ]
    assert explain([("-", "Be brief. "), ("=", "Go on."), ("+", " Be brief.")]) == [
        Move("Be brief.", "", "Go on.")
    ]


def test_a_move_that_brings_a_change_with_it() -> None:
    diff = [
        ("+", "Text: {x}\n\n"),
        ("=", "Sort the "),
        ("-", "following"),
        ("+", "above"),
        ("=", " text."),
        ("-", "\n\nText: {x}"),
    ]
    assert shown(*diff) == [
        "moved: Text: {x}",
        "stood after “Sort the following text.”; stands at the start",
        "Sort the [-following-]{+above+} text.",
    ]


def test_reordered_sentences_are_a_reordering() -> None:
    diff = [
        ("=", "Intro.\n"),
        ("-", "One two. Three four. Five six."),
        ("+", "Five six. One two. Three four."),
    ]
    assert explain(diff) == [Reorder(((4, "Five six."), (2, "One two."), (3, "Three four.")))]
    assert shown(*diff) == [
        "reordered, the moved parts only (left: their place before)",
        " 4  Five six.",
        " 2  One two.",
        " 3  Three four.",
    ]


def test_reordered_bullets_are_a_reordering() -> None:
    diff = [("=", "Rules:\n"), ("-", "- b\n- a\n- c\n"), ("+", "- c\n- a\n- b\n"), ("=", "End")]
    assert explain(diff) == [Reorder(((4, "- c"), (3, "- a"), (2, "- b")))]


def test_a_word_that_changed_in_a_moved_sentence_is_not_hidden() -> None:
    diff = [("-", "Be brief. "), ("=", "Return a label."), ("+", " Be short.")]
    assert shown(*diff) == ["[-Be brief.·-]Return a label.{+·Be short.+}"]


pieces = st.tuples(st.sampled_from("=-+"), st.text(st.sampled_from("ab .\n\t,日"), max_size=30))


@given(st.lists(pieces, max_size=8))
def test_a_change_is_never_shown_as_none(diff: list[tuple[str, str]]) -> None:
    before = "".join(text for kind, text in diff if kind in "=-")
    after = "".join(text for kind, text in diff if kind in "=+")
    found = explain(diff)
    if before != after:
        assert found
    for each in found:
        if isinstance(each, ShownChange):
            assert any(kind != "=" for kind, _ in each.pieces)
        elif isinstance(each, Reorder):
            assert len(each.segments) >= 2
