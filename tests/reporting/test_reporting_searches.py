"""What a search came to, for people."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_promptfuzz import Search, search, search_metrics
from pytest_promptfuzz.reporting.terminal.searches import (
    metrics_lines,
    search_lines,
    search_report,
    searches_lines,
)
from pytest_promptfuzz.reporting.terminal.styled_text import columns, render

PROMPT = "Provide a concise overview of the ticket and classify it as spam or not spam. Give the main reason."
FOUND = search(
    PROMPT,
    lambda prompt: "not spam" if "concise" in prompt else "spam",
    operators="synonym",
    measures={"grammar errors": lambda text: text.count("e")},
)


def shown(found: Search, name: str = "p.txt", width: int = 80) -> str:
    return render(search_lines(search_report(found, name), width=width), width=width, color=False)


def test_measures_stand_beside_those_of_the_unmutated_prompt() -> None:
    assert FOUND.mutation is not None
    assert (
        f"   grammar errors {FOUND.mutation.text.count('e')}, unmutated {PROMPT.count('e')}\n"
        in shown(FOUND) + "\n"
    )
    rows = render(metrics_lines(search_metrics([FOUND]).to_json()), width=80, color=False)
    assert (
        f"grammar errors {FOUND.mutation.text.count('e')} on average, unmutated {PROMPT.count('e')}" in rows
    )


def test_what_was_cut_short_says_so() -> None:
    cut = replace(FOUND, ended="time-spent", explanation="max_seconds=1 were spent")
    assert "   ended      max_seconds=1 were spent\n" in shown(cut)
    assert "   ended " not in shown(FOUND)


def test_a_find_of_many_changes_shows_each_word_once() -> None:
    words = [
        "Read",
        "what",
        "they",
        "say",
        "but",
        "do",
        "it",
        "now",
        "and",
        "not",
        "one",
        "day",
        "too",
        "late",
    ]
    diff = []
    for word in words:
        diff += [["=", word], ["-", " "], ["+", "   "]]
    report = {**search_report(FOUND, "p.txt"), "diff": diff}
    for width in (40, 60, 80, 120):
        text = render(search_lines(report, width=width), width=width, color=True)
        bare = re.sub(r"\x1b\[[0-9;]*m|[·\s]", " ", text.partition("baseline")[0]).split()
        assert [each for each in bare if each in words][-len(words) + 1 :] == words[
            1:
        ]  # of the first there may be no room


def test_money_errors_and_stored_answers_are_counted() -> None:
    spent = replace(FOUND.spent, calls=3, hits=1, cost=0.01)
    text = shown(replace(FOUND, spent=spent, errors=2, queries=1))
    assert (
        f"1 of 200 queries (3 calls, 1 stored answer, $0.0100); found by query {FOUND.found_at}; 2 without an answer"
        in " ".join(text.split())
    )


def test_names_are_harmless_and_tables_keep_their_width() -> None:
    reports = [search_report(FOUND, "in\x1b[2J\nput " + "x" * 200), search_report(FOUND, "b")]
    for width in (40, 60, 80, 120):
        text = render(searches_lines(reports, width=width), width=width, color=False)
        assert max(map(columns, text.splitlines())) <= width
        assert "\x1b" not in text
        table = text.partition("\nsearch")[2].splitlines()
        assert len(table) == 3
        assert table[0].split()[0] == "result"


def test_no_more_than_eight_finds_are_shown_in_full() -> None:
    reports = [search_report(FOUND, f"p{number}.txt") for number in range(11)]
    text = render(searches_lines(reports, width=100), width=100, color=False)
    assert text.count("   prompt     ") == 8
    assert "and 3 more finds: --json has them all" in text
    assert text.partition("\nsearch")[2].count("  found ") == 11 + 1  # and the head's "found at"


def test_searches_that_told_nothing_are_counted_apart() -> None:
    noisy = replace(FOUND, counterexample=None, ended="noisy", nearest=None)
    text = render(metrics_lines(search_metrics([FOUND, noisy]).to_json()), width=100, color=False)
    assert text.startswith("success rate   1 of 1 (100%; 95 %: 21% to 100%); 1 inconclusive\n")
    text = render(metrics_lines(search_metrics([noisy]).to_json()), width=100, color=False)
    assert text == "success rate   not known; 1 inconclusive"


def test_white_space_is_counted_beside_words() -> None:
    spaced = [
        ["=", "one"],
        ["-", " "],
        ["+", "  "],
        ["=", "two"],
        ["+", " "],
        ["=", "three "],
        ["-", "a"],
        ["+", "b"],
    ]
    report = {**search_report(FOUND, "p.txt"), "diff": spaced}
    text = render(search_lines(report, width=100), width=100, color=False)
    assert re.search(r"   changed    1 word, and white space in 2 places, \d+% of the prompt\n", text)
    text = render(search_lines({**report, "words_changed": 0}, width=100), width=100, color=False)
    assert re.search(r"   changed    white space in 2 places, \d+% of the prompt\n", text)
    text = render(searches_lines([report], width=100), width=100, color=False)
    assert re.search(r"p\.txt +found +1, 2 blanks +\d+%", text)


def test_what_was_ended_early_is_no_proof() -> None:
    none = replace(FOUND, counterexample=None, nearest=None, found_at=0)
    late = replace(none, ended="time-spent", explanation="max_seconds=1 were spent")
    assert "inconclusive (time-spent)" in shown(late, width=120)
    assert "inconclusive (too few queries)" in shown(
        replace(none, ended="queries-spent", prompts=9), width=120
    )
    assert ": no change found that breaks" in shown(replace(none, ended="queries-spent", prompts=10))
