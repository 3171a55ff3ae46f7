"""The piece of HTML that other tools' reports take of a test."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import handmade
import pytest
from hostile_texts import HOSTILE, with_text
from made_documents import made

from pytest_promptfuzz.plugin.output.attachments import html_snippet


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {f"{name}={value}" for name, value in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", handmade.ALL)
def test_no_text_of_others_is_markup(name: str, text: str) -> None:
    (test,) = with_text(made({**handmade.ALL[name](), "outcome": "failed"}), text)["tests"]
    test["counterexamples"] = []
    for found in (
        [],
        [{"diff": [["=", text], ["-", text], ["+", f"x{text}"]], "baseline": text, "answer": text}],
    ):
        shown = html_snippet({**test, "counterexamples": found})
        seen = Tags(shown)
        assert seen.tags <= {"p", "b", "pre", "code", "del", "ins"}
        assert seen.attributes <= {"style=white-space: pre-wrap"}
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", shown)


def test_an_edit_is_what_was_removed_and_added() -> None:
    shown = html_snippet(handmade.brittle())
    assert "Classify the <del>sentiment</del><ins>mood</ins> of the" in shown
    assert "<p>Mutated:</p>" in shown
    passing = html_snippet(handmade.passing())
    assert passing == "<p><b>Prompt robustness</b>: pass: score 1.00 &gt;= 0.85</p>"
