from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.text.safe_text import fit_encoding, is_visible, safe, show_codes, show_white, visible

anything = st.text(
    st.characters(codec=None) | st.sampled_from("\x1b\r\n\t:#[vso \x9b\u202e\ud800"), max_size=80
)


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]8;;http://evil\x07click", "␛]8;;http://evil␇click"),
        ("100%\r  0%", "100%␍  0%"),
        ("a\x00b\x7f", "a␀b␡"),
        ("\x9b31m", "\\x9b31m"),
        ("\x85", "\\x85"),
        ("abc\u202edef", "abc<U+202E>def"),
        ("\u2066x\u2069", "<U+2066>x<U+2069>"),
        ("\ud800", "<U+D800>"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("\u2028next", "<U+2028>next"),
        ("\U000e0041", "<U+E0041>"),
        ("::error file=a::b", ":\\:error file=a::b"),
        ("ok\n  ::set-output name=x::y", "ok\n  :\\:set-output name=x::y"),
        ("##vso[task.complete]", "#\\#vso[task.complete]"),
        ("text ##[error]boo", "text #\\#[error]boo"),
        ("##teamcity[x]", "#\\#teamcity[x]"),
        # What is no danger stays as it is.
        ("tests/test_a.py::test_x", "tests/test_a.py::test_x"),
        ("std::vector", "std::vector"),
        ("## Heading", "## Heading"),
        ("a\tb\nc", "a\tb\nc"),
        ("👩\u200d💻 é 日本 می\u200cخواهم", "👩\u200d💻 é 日本 می\u200cخواهم"),
    ],
)
def test_what_is_shown(given_text: str, shown: str) -> None:
    assert safe(given_text) == shown


@given(anything)
def test_safe_is_harmless_and_stays_so(text: str) -> None:
    shown = safe(text)
    assert safe(shown) == shown
    shown.encode("utf-8")
    assert not [
        each
        for each in shown
        if unicodedata.category(each) in {"Cc", "Cs", "Zl", "Zp"} and each not in "\n\t"
    ]
    assert not re.search(r"^\s*::\S", shown, re.MULTILINE)
    assert not re.search(r"##[A-Za-z]*\[", shown)


def test_length_is_capped_and_the_rest_counted() -> None:
    assert safe("x" * 1334, limit=100) == "x" * 100 + "… (+1,234 characters)"
    assert safe("x" * 101, limit=100) == "x" * 100 + "… (+1 character)"
    assert safe("x" * 100, limit=100) == "x" * 100


def test_invisible_characters_are_seen() -> None:
    assert show_white("a b\n\tc\u00a0d\u200d") == "a·b⏎→c<U+00A0>d<U+200D>"
    assert show_codes("pаy é", {1}) == "p<U+0430>y é"
    assert show_codes("é") == "<U+00E9>"


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "a… ␛ ·⏎→ ≥ “q” 日 <é>"),
        ("cp1252", "a… \\x1b ·\\n\\t >= “q” \\u65e5 <é>"),
        ("ascii", 'a... \\x1b .\\n\\t >= "q" \\u65e5 <\\xe9>'),
        (None, 'a... \\x1b .\\n\\t >= "q" \\u65e5 <\\xe9>'),
        ("no-such-encoding", 'a... \\x1b .\\n\\t >= "q" \\u65e5 <\\xe9>'),
    ],
)
def test_any_encoding_is_served(encoding: str | None, shown: str) -> None:
    assert fit_encoding("a… ␛ ·⏎→ ≥ “q” 日 <é>", encoding) == shown


@given(anything, st.sampled_from(["ascii", "cp1252", "cp437", "latin-1", "shift_jis", "utf-8"]))
def test_nothing_fails_to_be_encoded(text: str, encoding: str) -> None:
    fit_encoding(text, encoding).encode(encoding)


@given(st.text(st.characters() | st.sampled_from("a\t\n\x07\u034f\u1160\u202e\ud83d\ude00\U000e0100é…✓")))
def test_a_text_is_visible_where_nothing_of_it_has_to_be_shown(text: str) -> None:
    assert is_visible(text) == (visible(text) == text)


def test_each_character_is_visible_or_shown() -> None:
    wrong = [code for code in range(0x110000) if is_visible(chr(code)) != (visible(chr(code)) == chr(code))]
    assert wrong == []
