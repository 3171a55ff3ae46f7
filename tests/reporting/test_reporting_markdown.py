"""The report as Markdown, read by the parser that GitHub itself uses: what stands there, what is cut, what is harmless."""

from __future__ import annotations

import copy
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any

import cmarkgfm
import handmade
import pytest
from cmarkgfm.cmark import Options
from hostile_texts import HOSTILE, with_text
from hypothesis import given
from hypothesis import strategies as st
from made_documents import PROMPT, judged, made, run

from pytest_promptfuzz.reporting.markdown import (
    LEAST,
    LIMIT,
    MARKER,
    block,
    cell,
    code,
    markdown_report,
    prose,
    tagged,
)

OUTCOMES = {"pass": "passed", "brittle": "failed", "noisy": "error", "inconclusive": "error"}


def html_of(text: str) -> str:
    """As GitHub renders it, before it removes what it does not allow."""
    rendered: str = cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE)
    return rendered


class Seen(HTMLParser):
    """Tags, attributes, the text outside of code, and pieces of code, of a page; tags have to be closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.prose = ""
        self.codes: list[str] = []
        self.open: list[str] = []
        self.comments: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag not in {"br", "hr", "img", "input"}:
            self.open.append(tag)
        if tag == "code":
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "code" in self.open:
            self.codes[-1] += data
        else:
            self.prose += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


#: What our own words are made of; `lang` is of fences, `align` of tables.
OURS = {
    "h3",
    "h4",
    "ul",
    "li",
    "p",
    "code",
    "pre",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "blockquote",
} | {
    "strong",
    "em",
    "sub",
    "details",
    "summary",
}


def outcome(test: Any) -> Any:
    return {**test, "outcome": OUTCOMES[test["verdict"]]}


@cache
def _handmade() -> Any:
    tests = []
    for name, make in handmade.ALL.items():
        test = make()
        tests.append(outcome({**test, "test": f"{test['test']}_{name}"}))
    return made(*tests)


def everything() -> Any:
    return copy.deepcopy(_handmade())


@cache
def _brittle() -> Any:
    return judged(mutations={"bullet-reorder": 4})


def brittle() -> Any:
    return copy.deepcopy(_brittle())


def test_a_real_brittle_test_says_what_failed_why_and_by_which_edit() -> None:
    document = made(brittle(), judged("test_sound", mutations=2))
    text = markdown_report(document)
    first, second = text.split("\n")[:2]
    assert first == MARKER
    assert second == "### ❌ Prompt robustness: 1 brittle, 1 passed of 2 robust tests"
    counterexample = document["tests"][0]["counterexamples"]
    seen = Seen(html_of(text))
    assert "tests/test_it.py::test_urgency" in seen.codes
    rows = [line for line in text.split("\n") if line.startswith("| ")]
    assert len(rows) == 4
    assert rows[2].startswith("| ❌ brittle | `tests/test_it.py::test_urgency` | 0.")
    assert rows[3].startswith("| ✅ pass | `tests/test_it.py::test_sound` | 1.00 | 0.85 | 0 of 2 |")
    edits = [each for each in seen.codes if each.startswith(("- ", "+ ", "  reordered"))]
    assert edits
    assert "test_sound" not in text.partition("####")[2], "a test that passed needs no details"
    trial = next(each for each in document["tests"][0]["trials"] if each["outcome"] == "deviation")
    assert f"  {trial['reproduce']}" in text
    assert len(counterexample) in {0, 1, 2, 3}
    assert "not judged" not in text


def test_the_smallest_edit_is_shown_removed_and_added() -> None:
    test = outcome(handmade.brittle())
    test["counterexamples"] = [
        {
            "diff": [["=", "Classify the "], ["-", "sentiment"], ["+", "mood"], ["=", " of the text."]],
            "minimal": True,
            "repeats": [5, 6],
            "failure": "label POSITIVE became NEGATIVE",
        }
    ]
    text = markdown_report(made(test))
    assert (
        "The smallest change that breaks it (5 of 6 times):\n\n```diff\n- Classify the sentiment of the text.\n"
        "+ Classify the mood of the text.\n```\n\nlabel POSITIVE became NEGATIVE\n" in text
    )


def test_each_kind_of_result_has_its_headline() -> None:
    def head(document: Any) -> str:
        return markdown_report(document).split("\n")[1].removeprefix("### ")

    passing, unsure = outcome(handmade.passing()), outcome(handmade.rate_limited())
    assert head(made(passing)) == "✅ Prompt robustness: 1 robust test passed"
    assert head(made()) == "⚠️ Prompt robustness: no robust test ran"
    assert head(made(passing, unsure)) == "⚠️ Prompt robustness: 1 inconclusive, 1 passed of 2 robust tests"
    ended = made(passing, run=run(complete=False))
    assert head(ended) == "⚠️ Prompt robustness: 1 robust test passed; the run did not reach its end"
    lost = {"test": "a.py::b", "outcome": "error", "message": "no key", "location": ("a.py", 3)}
    assert (
        head(made(passing, unjudged=[lost]))
        == "⚠️ Prompt robustness: 1 not judged, 1 passed of 2 robust tests"
    )
    other = {**passing, "outcome": "failed"}
    said = "1 passed of 1 robust test; 1 failed for another reason than the prompt"
    assert head(made(other)) == f"❌ Prompt robustness: {said}"


def test_what_is_expected_is_no_alarm() -> None:
    test = {**outcome(handmade.brittle()), "outcome": "xfailed"}
    text = markdown_report(made(test, outcome(handmade.passing())))
    said = (
        "### ✅ Prompt robustness: 1 brittle, 1 passed of 2 robust tests; 1 of these expected or let through"
    )
    assert text.split("\n")[1] == said
    assert "| ➖ brittle (xfailed) |" in text
    assert "❌" not in text


def test_drift_that_fails_is_why() -> None:
    drift = {"kind": "model", "policy": "fail", "message": "the model changed", "before": "a", "after": "b"}
    test = {**outcome(handmade.passing()), "outcome": "failed", "drift": [{**drift, "case": 0, "p": 0.029}]}
    text = markdown_report(made(test))
    assert text.split("\n")[1] == "### ❌ Prompt robustness: 1 passed of 1 robust test; 1 drifted"
    assert "- ❌ `tests/test_triage.py::test_triage`: the model changed\n" in text
    assert "- `tests/test_triage.py::test_triage`: drift, the model changed (p = 0.029)" in text
    assert "| ❌ pass (failed) |" in text
    assert "Snapshot:\n\n```\n  a\n```\n\nNow:\n\n```\n  b\n```" in text


def test_an_edit_that_is_shown_is_not_shown_again() -> None:
    test = outcome(handmade.brittle())
    assert markdown_report(made(test)).count("+ Classify the mood of") == 1
    trial = next(each for each in test["trials"] if each["outcome"] == "deviation")
    test["counterexamples"] = [{"diff": trial["diff"], "minimal": True, "repeats": [5, 6], "failure": "x"}]
    assert markdown_report(made(test)).count("+ Classify the mood of") == 1
    test["counterexamples"][0]["diff"] = [["-", "Classify"], ["+", "Sort"]]
    assert markdown_report(made(test)).count("+ Classify the mood of") == 1


def test_what_could_not_be_judged_is_said_loudly_and_nothing_tested_as_well() -> None:
    lost = {"test": "a.py::b", "outcome": "error", "message": "ConfigurationError: no key", "location": None}
    text = markdown_report(made(unjudged=[lost]))
    assert "> **1 robust test not judged:**" in text
    assert "- `a.py::b` (error): `ConfigurationError: no key`" in text
    assert "Nothing was tested" in markdown_report(made())


def test_what_changed_since_the_base_is_in_the_table_and_what_is_new() -> None:
    document = made(brittle())
    name, trial = document["tests"][0]["test"], document["tests"][0]["trials"][0]["id"]
    document = with_text(document, "x")
    document["tests"][0]["test"] = name
    document["tests"][0]["trials"][0]["id"] = trial
    document["tests"][0]["trials"][0]["operators"] = ["bullet-reorder@1"]
    changes = document["changes"]
    changes["base"]["label"] = "origin/main"
    changes["tests"][0] |= {"test": name, "new_deviations": [trial], "model_before": "m1", "model": "m2"}
    changes["conditions"] = [{"expression": "any new deviation", "tests": [name]}]
    text = markdown_report(document)
    assert "-0.5, newly brittle |" in text
    assert "gone, was x |" in text
    assert "- ❌ `any new deviation` is met by `tests/test_it.py::test_urgency`" in text
    new = (
        "- `tests/test_it.py::test_urgency`: pass before, brittle now; worse by more than noise (4 of 8 trials worse, "
        "0 better, p = 0.02); 1 new deviation by `bullet-reorder`; model `m1` before, `m2` now"
    )
    assert new in text
    assert "compared with `origin/main`" in text
    assert "drift, x" in text


def test_what_a_pull_request_changed_comes_first_and_what_was_known_is_folded() -> None:
    names = ("broken", "known", "answered", "reworded", "quiet", "accepted")
    tests = {name: judged() if name in {"answered", "reworded", "quiet"} else brittle() for name in names}
    for name, test in tests.items():
        test["test"] = f"tests/test_it.py::test_{name}"
        if test["verdict"] == "pass":
            test["outcome"] = "passed"
    tests["accepted"] |= {
        "outcome": "xfailed",
        "accepted": {"reason": "ticket 12", "until": "2027-03-01", "status": "accepted"},
    }
    plain = with_text(made(judged()), "x")["changes"]["tests"][0]

    def row(name: str, status: str, before: str, **given: Any) -> Any:
        test = tests[name]
        same = {
            "difference": 0.0,
            "new_deviations": [],
            "model_before": "m",
            "model": "m",
            "answer": "the same",
        }
        told = {"test": test["test"], "target": test["target"], "status": status, "verdict_before": before}
        return {**plain, **same, **told, "verdict": test["verdict"], **given}

    answer = {**with_text(made(judged()), "x")["changes"]["answers"][0], "test": tests["answered"]["test"]}
    answer |= {"before": "14 days", "after": "30 days", "diff": [["-", "14"], ["+", "30"], ["=", " days"]]}
    answer |= {"input": "", "explanation": "", "model": "m", "model_before": "m", "prompt_changed": False}
    new = {
        **answer,
        "test": "t.py::test_new",
        "finding": "not compared",
        "explanation": "the test is not in the base",
    }
    changes: Any = {
        "base": {"label": "main...", "kind": "ref", "run": "", "started": "", "commit": "abc", "branch": ""},
        "tests": [
            row("broken", "worse", "pass", difference=-0.5),
            row("known", "same", "brittle"),
            row("answered", "unpaired", "pass", answer="changed", prompt_changed=True),
            row("reworded", "lower", "pass", difference=-0.1, prompt_changed=True),
            row("quiet", "same", "pass", prompt_changed=True),
            row("accepted", "same", "brittle"),
        ],
        "conditions": [],
        "answers": [answer, new],
    }
    text = markdown_report(made(*tests.values(), changes=changes))
    order = (
        "**Regressions**",
        "- `tests/test_it.py::test_broken`: pass before, brittle now",
        "#### `tests/test_it.py::test_broken`",
        "**Changed answers**",
        "- `tests/test_it.py::test_answered`\n\n```diff\n- 14 days\n+ 30 days\n```",
        "- `t.py::test_new`: the test is not in the base",
        "**Changed prompts**",
        "- `tests/test_it.py::test_answered`: the answer changed",
        "- `tests/test_it.py::test_reworded`: score -0.1, may be noise",
        "- `tests/test_it.py::test_quiet`: no effect seen",
        "**Accepted as brittle**",
        "- `tests/test_it.py::test_accepted`: until `2027-03-01`: ticket 12",
        "<details><summary>All 6 tests, and 2 findings that the base has, too</summary>",
        "| ➖ brittle (accepted) | `tests/test_it.py::test_accepted` |",
        "#### `tests/test_it.py::test_known`",
        "</details>\n\n<sub>",
    )
    places = [text.find(each) for each in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    assert (
        "1 of these accepted as brittle; 1 worse than the base by more than noise; 1 test answered otherwise"
        in text
    )
    Seen(html_of(text))


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_no_text_of_others_becomes_markup(place: int) -> None:
    """In every place at once, for each kind of test; read by GitHub's own parser."""
    document = with_text(everything(), HOSTILE[place])
    text = markdown_report(document, limit=10**6)
    seen = Seen(html_of(text))
    assert set(seen.tags) <= OURS
    assert set(seen.attributes) <= {"lang", "align"}
    assert seen.comments == [" pytest-promptfuzz report "]
    for each in (
        "evil",
        "octocat",
        "@",
        "http",
        "www.",
        "#123",
        "GH-",
        "4e5f6a7b",
        "alert",
        "$",
        "::",
        "##",
        "tada",
    ):
        assert each not in seen.prose, each
    rows = re.findall(r"<tr>(.*?)</tr>", html_of(text), re.DOTALL)
    assert {each.count("<td") + each.count("<th") for each in rows} <= {7}  # every cell where it belongs
    # The head, one that was not judged, and one that is gone.
    assert len(rows) == 1 + 1 + len(document["tests"]) + 1
    assert not re.search(r"^/\w", text, re.MULTILINE), "a bot would take it for a command"
    assert not re.search(r"@\w", re.sub(r"Reproduce:\n\n(`{3,}).*?\n\1\n", "", text, flags=re.DOTALL))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\ud800-\udfff]", text)
    assert "\r" not in text


@given(st.text(st.characters(codec=None) | st.sampled_from("`|\\<>&@#[]()!*_~$:/\n ")))
def test_a_text_is_one_piece_of_code_wherever_it_stands(text: str) -> None:
    assert len(Seen(html_of(f"a {code(text)} b")).codes) == 1
    seen = Seen(html_of(f"| a | b |\n| - | - |\n| {cell(text)} | end |"))
    assert seen.tags.count("td") == 2
    assert len(seen.codes) == 1
    folded = Seen(html_of(f"<details><summary>{tagged(text)}</summary>\n\nend\n\n</details>"))
    assert len(folded.codes) == 1
    assert folded.tags == ["details", "summary", "code", "p"]
    fenced = Seen(html_of(f"{block([('', text)])}\n\nend"))
    assert len(fenced.codes) == 1
    assert fenced.prose.strip() == "end"
    said = Seen(html_of(f"Why: {prose(text)}"))
    assert set(said.tags) <= {"p", "code"}


def test_plain_words_are_prose_and_the_rest_is_code() -> None:
    plain = "The score 0.625 is below the threshold 0.85."
    assert prose(plain) == plain
    assert prose("brittle: 0.62 < 0.85") == "brittle: 0.62 &lt; 0.85"
    for each in (
        "see deadbeef1",
        "www.evil.example",
        "GH-12",
        "a_b_c",
        "[x]",
        "x@y",
        "1. x",
        "a/b",
        "ünïcode",
        "#1",
    ):
        assert prose(each).startswith("`"), each


def test_a_pipe_after_a_backslash_is_shown_by_another_sign_in_tables() -> None:
    """Parsers of tables differ in whether it is escaped."""
    assert cell("a\\|b|c") == "`a\\¦b\\|c`"


def test_what_is_shown_of_an_answer_is_the_answer() -> None:
    """Backticks, pipes and fences in it do not change what a reader sees."""
    for text in ("a | b", "`a` ``b``", "<b>bold</b>", "a &amp; b", "***x***"):
        assert Seen(html_of(f"x {code(text)}")).codes == [text]
        assert Seen(html_of(f"| a |\n| - |\n| {cell(text)} |")).codes == [text]
        assert Seen(html_of(block([("", text)]))).codes == [f"  {text}\n"]


@cache
def _many(amount: int) -> Any:
    tests = []
    for number in range(amount):
        test = (
            handmade.brittle()
            if number % 3 == 0
            else handmade.wide()
            if number % 3 == 1
            else handmade.passing()
        )
        tests.append(outcome({**test, "test": f"tests/test_many.py::test_{number:04}[😀]"}))
    return made(*tests)


@pytest.mark.parametrize("limit", [LEAST, 5_000, 20_000, LIMIT, 1024 * 1024])
@pytest.mark.parametrize("amount", [3, 150])
def test_a_report_is_cut_between_its_parts_and_says_so(limit: int, amount: int) -> None:
    document = _many(amount)
    text = markdown_report(document, limit=limit)
    assert len(text.encode()) <= limit
    assert len(text.encode("utf-16-le")) // 2 <= limit
    lost = amount * 2 // 3
    assert text.startswith(
        f"{MARKER}\n### ❌ Prompt robustness: {lost} brittle, {amount - lost} passed of {amount}"
    )
    page = html_of(text)
    seen = Seen(page)  # which asserts that all is closed
    assert set(seen.tags) <= OURS
    rows = max(page.count("<tr>") - 1, 0)
    details = page.count("<details>")
    said = re.search(r"\*Left out, for a host's limit: (.*?)\. The JSON", text)
    left = {"table": amount - rows, "details": lost - details}
    if not any(left.values()):
        assert said is None
        return
    assert said is not None
    if left["table"]:
        assert f"{left['table']:,} test" in said[1].partition("the details")[0]
    if left["details"]:
        assert f"the details of {left['details']:,} test" in said[1]


@pytest.mark.parametrize("limit", [LEAST, 10_000, LIMIT])
def test_failures_that_do_not_fit_are_counted(limit: int) -> None:
    """Every list says how many more it has; a failed test is never passed over in silence."""
    lost: list[Any] = [
        {"test": f"t.py::test_{n}", "outcome": "error", "message": "no key " * 10, "location": None}
        for n in range(2000)
    ]
    text = markdown_report(made(judged(), unjudged=lost), limit=limit)
    assert len(text.encode()) <= limit
    shown = text.count("(error): `no key")
    assert shown >= limit // 500
    assert f"\n- and {2000 - shown:,} more\n" in text
    assert "| test | score |" in text, "the table keeps its share"
    Seen(html_of(text))


def test_regressions_leave_room_for_the_table_and_details() -> None:
    tests = [{**brittle(), "test": f"tests/test_it.py::test_{n}"} for n in range(900)]
    plain = with_text(made(judged()), "x")["changes"]
    rows = [
        {**plain["tests"][0], "test": each["test"], "target": each["target"]}
        | {"status": "worse", "verdict_before": "pass", "verdict": "brittle", "new_deviations": []}
        for each in tests
    ]
    text = markdown_report(made(*tests, changes={**plain, "tests": rows, "answers": [], "conditions": []}))
    assert len(text.encode()) <= LIMIT
    listed = len(re.findall(r"^- `tests/test_it.py::test_\d+`: .*pass before", text, re.MULTILINE))
    assert 20 < listed < 900
    assert f"\n- and {900 - listed:,} more\n" in text
    in_table, details = text.count("| ❌ brittle |"), text.count("#### `tests/")
    assert in_table > 50
    assert details > 2
    assert f"{900 - in_table} tests in the table and the details of {900 - details} tests" in text


def test_what_is_listed_up_to_a_number_counts_the_rest() -> None:
    test = judged()
    drift = {
        "kind": "model",
        "policy": "warn",
        "message": "the answer is another",
        "before": "a",
        "after": "b",
    }
    test["drift"] = [{**drift, "case": 0, "p": None, "undecided": False, "diff": []}]  # type: ignore[typeddict-item]
    text = markdown_report(made(*({**test, "test": f"t.py::test_{n}"} for n in range(30))), limit=10**6)
    assert text.count(": drift, ") == 20
    assert "\n- and 10 more\n" in text


def test_a_large_limit_leaves_nothing_out() -> None:
    text = markdown_report(_many(150), limit=1024 * 1024)
    assert "Left out" not in text
    assert text.count("\n#### ") == 100
    assert len(re.findall(r"^\| [❌✅]", text, re.MULTILINE)) == 150


def test_one_huge_test_hides_no_other() -> None:
    huge = outcome(handmade.brittle())
    huge["notes"] = ["n" * 400 for _ in range(10)]
    huge["trials"] = [
        {**each, "response": f"{number} " + "ä" * 600, "explanation": f"{number}" * 200}
        for number, each in enumerate(huge["trials"] * 3)
    ]
    small = outcome({**handmade.oracle_only(), "test": "tests/test_small.py::test_small"})
    text = markdown_report(made(huge, small), limit=6_000)
    assert "#### `tests/test_small.py::test_small`" in text
    assert "the details of 1 test" in text


def test_a_limit_that_would_cut_the_verdict_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"limit=1999 is too low. Write 2,000 or more: the verdict is never cut"
    ):
        markdown_report(made(), limit=1999)


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_the_smallest_limit_holds_whatever_the_texts_are(place: int) -> None:
    text = markdown_report(with_text(everything(), HOSTILE[place] * 20), limit=LEAST)
    assert len(text.encode()) <= LEAST
    assert text.split("\n")[1].startswith("### ❌ Prompt robustness: 6 brittle")
    Seen(html_of(text))


def test_several_models_of_one_test_are_told_apart() -> None:
    one, other = outcome(handmade.passing()), outcome({**handmade.brittle(), "target": "anthropic:claude"})
    text = markdown_report(made(one, other))
    assert "| target |" in text
    assert "| `anthropic:claude` |" in text
    assert "| target |" not in markdown_report(made(one))


def test_a_change_is_that_of_the_model_it_was_made_of() -> None:
    one, other = outcome(handmade.passing()), outcome({**handmade.brittle(), "target": "anthropic:claude"})
    document = made(one, other)
    document["changes"] = with_text(made(outcome(handmade.passing())), "x")["changes"]
    change = document["changes"]["tests"][0]
    change |= {"test": one["test"], "target": "anthropic:claude"}
    rows = [line for line in markdown_report(document).split("\n") if line.startswith("| ")]
    assert rows[2].endswith("| `anthropic:claude` | -0.5, newly brittle |")
    assert rows[3].endswith("| `openai:gpt-5-mini` | - |")
    assert f"- `{one['test']}` (`anthropic:claude`): " in markdown_report(document)


def test_a_verdict_that_changed_alone_is_said() -> None:
    test = outcome(handmade.passing())
    document = made(test)
    document["changes"] = with_text(made(outcome(handmade.passing())), "x")["changes"]
    change = document["changes"]["tests"][0]
    change |= {"test": test["test"], "status": "lower", "difference": 0.0}
    change |= {"verdict_before": "pass", "verdict": "inconclusive"}
    assert "| newly inconclusive |" in markdown_report(document)


def test_a_test_that_searched_has_no_score_in_the_table() -> None:
    test = outcome(handmade.passing())
    test["searched"] = {
        "method": "beam",
        "objective": "deviation",
        "queries": 40,
        "budget": 40,
        "errors": 0,
        "places": 9,
        "found_at": 0,
        "loss": 0.2,
        "nearest": None,
        "found": None,
        "known": False,
    }
    test["reason"] = "none-found"
    assert "| - | - | `no counterexample in 40 queries (beam)` |" in markdown_report(made(test))


def test_what_it_cost_stands_below() -> None:
    document = made({**outcome(handmade.passing()), "cost": 0.0123}, run=run(mode="replay", dirty=True))
    foot = markdown_report(document).rstrip("\n").rpartition("\n")[2]
    assert foot == (
        "<sub>9 calls; 0 stored answers; $0.0123; 12.5s; mode replay; seed 0; commit `4e5f6a7b8c9d` with "
        "changes; pytest-promptfuzz 0.1.0</sub>"
    )
    assert "simulated answers, no real model was called" in markdown_report(made(brittle()))
    assert PROMPT not in foot
