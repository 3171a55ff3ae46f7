"""No text raises: whatever a model answers, a prompt holds or a file says is compared, mutated, redacted and shown."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_promptfuzz import Prompt, compare, mutate
from pytest_promptfuzz.comparing.comparison import RELATIONS
from pytest_promptfuzz.comparing.profiles import TASKS
from pytest_promptfuzz.comparing.reading.words import canonical, canonical_words, stem, words_of
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.prompts.spans import logic_spans, protected_spans
from pytest_promptfuzz.reporting.html.page import html_report
from pytest_promptfuzz.reporting.markdown import markdown_report
from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.styled_text import render
from pytest_promptfuzz.storage.redaction import Redaction
from pytest_promptfuzz.text.safe_text import fit_encoding, safe
from pytest_promptfuzz.wording.diffs import explain
from tests.reporting import handmade
from tests.reporting.hostile_texts import with_text
from tests.reporting.made_documents import made

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS = "9" * 4_400  # more than Python converts
WORDS = [
    "n't",
    "do",
    "don't",
    "can't",
    "_n't",
    "'s",
    "s's",
    "_'s",
    "o'clock",
    "'tis",
    "''",
    "’",
    "don’",
    "'ve",
    "x'd",
    "__",
    "_._",
    "$",
    "$.",
    "%",
    "5%",
    "$5",
    "$5m",
    "5k",
    "5x",
    "a.",
    ",",
    "a,",
    ".5",
    "1.",
    "1.2.3",
    "U.S",
    "u.s.",
    "US",
    "st",
    "1st",
    "21st",
    "007",
    "00",
    "0",
    "-0",
    "²",
    "½",
    "①",
    "Ⅷ",
    "٣",
    "３",
    "一百",
    "万",
    "1,000",
    "1,0,0",
    "1e400",
    "1e-400",
    "inf",
    "-inf",
    "nan",
    "NaN",
    "0/0",
    "3/0",
    "9:99",
    "25:61",
    "2024-02-30",
    "0000-00-00",
    "9999-99-99",
    "12/31/99999",
    "30.02.2024",
    "February",
    "30",
    "March",
    "99",
    "May",
    "5",
    "may",
    "Monday",
    "24",
    "pm",
    "13",
    "am",
    "uhr",
    "weeks",
    "million",
    "hours",
    "minutes",
    "dollars",
    "kg",
    "m",
    "%",
    "percent",
    "half",
    "quarter",
    "dozen",
    "twenty-one",
    "thirty",
    "one",
    "first",
    "about",
    "minus",
    "more",
    "less",
    "than",
    "at",
    "least",
    "no",
    "not",
    "nor",
    "never",
    "unable",
    "non",
    "dis",
    "yes",
    "only",
    "must",
    "if",
    "I",
    "A",
    "B12",
    "a",
    "x",
    "the",
    "John",
    "Paris",
    "is",
    "was",
    "approved",
    "denied",
    "👍",
    "👎",
    "👨\u200d👩\u200d👧",
    "日本",
    "日本語",
    "ß",
    "İ",
    "ı",
    "ǆ",
    "ﬃ",
    "µ",
    "Å",
    "é",
    "́",
    "ा",
    "مرحبا",
    "�",
    "�",
    "��",
    "\x00",
    "\u2028",
    "\u202e",
    "\u200b",
    "\ufeff",
    "\ufffe",
    "\U0001ffff",
    "\x1b[31m",
    "\x85",
    "```",
    "```json",
    "```sql",
    "SELECT",
    "(",
    "FROM",
    "ORDER",
    "BY",
    "WHERE",
    "--",
    "/*",
    "*/",
    "{",
    "}",
    "[",
    "]",
    "[[[[[[[[",
    "{{",
    "}}",
    "{a}",
    "{a.b!r:>9}",
    '{"a":',
    "null,",
    '"a"',
    ":",
    "<a>",
    "</a>",
    "<a",
    "<!--",
    "&#0;",
    "&#xD800;",
    "&#1114112;",
    "<!DOCTYPE",
    "|a|b|",
    "|-|-|",
    "---",
    "-",
    "*",
    "1.",
    "1)",
    "#",
    "a:",
    "b",
    "def",
    "f(x):",
    "return",
    "lambda",
    "http://a.b/c",
    "a@b.c",
    "://",
    "@",
    "sk-abcdefghijklmnop",
    "access_token:",
    "Bearer",
    "\\",
    "\\ud800",
    "\\x",
    "\\begin{a}",
    "$x$",
    "$$",
]
PIECES = st.one_of(
    st.sampled_from([*WORDS, DIGITS]),
    st.text(max_size=4, alphabet=st.characters(exclude_categories=[])),
)
GAPS = st.sampled_from(
    [" ", " ", " ", "", "\n", "\n- ", "\t", "\xa0", "\u3000", "\x1c", "\x0b", ". ", ", ", "'", "  "]
)
TEXTS = st.lists(st.tuples(PIECES, GAPS), max_size=9).map(lambda each: "".join(map("".join, each)))
PAIRS = st.one_of(
    st.tuples(TEXTS, TEXTS),
    st.tuples(TEXTS, PIECES, PIECES).map(lambda each: (each[0] + each[1], each[0] + each[2])),
    st.tuples(TEXTS, TEXTS, PIECES).map(
        lambda each: (f"{each[0]} {each[1]}", f"{each[0]} {each[2]} {each[1]}")
    ),
)
FEW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("task", [None, *TASKS])
@FEW
@given(PAIRS)
def test_every_text_is_compared(task, pair) -> None:
    compare(*pair, task=task)
    compare({"a": pair[0]}, {"a": pair[1]}, task=task)


@FEW
@given(PAIRS)
def test_every_text_is_compared_under_every_relation(pair) -> None:
    for relation in RELATIONS:
        compare(*pair, relation=relation)
    compare(*pair, relation="renaming", renaming={"a": "b"})
    for text in pair:
        assert compare(text, "".join(list(text))).outcome == "equivalent"


@settings(FEW, max_examples=300)
@given(TEXTS)
def test_no_token_is_empty(text) -> None:
    assert all(canonical_words(text))
    for chunk in text.lower().split():
        for word in words_of(chunk):
            assert stem(word)
            assert all(canonical(word)), word


@FEW
@given(TEXTS)
def test_every_prompt_is_read_and_mutated_or_refused(text) -> None:
    protected_spans(text)
    logic_spans(text)
    with warnings.catch_warnings(), contextlib.suppress(UsageError):
        warnings.simplefilter("ignore")
        Prompt(text)
        for mutation in mutate(text, 3):
            explain(mutation.diff())


@FEW
@given(TEXTS, TEXTS)
def test_every_text_is_redacted(text, other) -> None:
    redaction = Redaction(values=("hunter-and-two",))
    for change in (redaction.text, redaction.source, redaction.url, redaction.spans):
        change(text)
    redaction.json({text: [other, {"password": text}]})
    redaction.headers({text: other})


@settings(FEW, max_examples=25)
@given(TEXTS)
def test_every_text_is_shown(text) -> None:
    test = {
        **handmade.report(trials=[handmade.trial(1, outcome="deviation")], verdict="brittle"),
        "outcome": "failed",
    }
    document = with_text(made(test), text)
    shown = render(failure_lines(document["tests"][0]), width=60, color=True)
    for each in (shown, html_report(document), markdown_report(document)):
        each.encode("utf-8")
    assert fit_encoding(safe(text), "ascii").isascii()


DEEP: list[tuple[str, Callable[[str], object]]] = [
    ("compare", lambda text: compare(text, f"{text} ")),
    ("compare", lambda text: compare(f"{text} a", f"{text} b")),
    ("compare as format", lambda text: compare(text, "a: b", relation="format")),
    ("prompt", lambda text: Prompt(f"Say {text}")),
    ("mutate", lambda text: mutate(f"Say this in one word: {text}", 2)),
    ("redact", Redaction().text),
]


@pytest.mark.parametrize(
    "opening", ["[", "{", '{"a":', '[{"a":', "(", "<a>", "SELECT (", "- ", "> ", "{{", "f(", "\n  a:"]
)
@pytest.mark.filterwarnings("ignore::pytest_promptfuzz.errors.PromptfuzzWarning")
def test_depth_raises_nothing(opening) -> None:
    for _, use in DEEP:
        with contextlib.suppress(UsageError):
            use(opening * 1_500)
