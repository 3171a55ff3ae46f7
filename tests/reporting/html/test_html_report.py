"""The page as text: its policy, its size, what it says where there is little or much to say."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import math
import re
import tracemalloc
import zlib
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import handmade
import pages
import pytest

from pytest_promptfuzz.errors import PromptfuzzError, StoreError
from pytest_promptfuzz.reporting.document import Document, document
from pytest_promptfuzz.reporting.html.page import html_report
from pytest_promptfuzz.reporting.html.parts import to_html, to_json
from pytest_promptfuzz.reporting.html.test_page import details
from pytest_promptfuzz.reporting.html.trials import beside, changed
from pytest_promptfuzz.reporting.report_files import (
    PackedTests,
    ReportSource,
    Stored,
    publish,
    read_document,
)

if TYPE_CHECKING:
    from pathlib import Path

SENTENCE = re.compile(r"<h1[^>]*>(.*?)</h1>")


class Reader(HTMLParser):
    """What a browser that runs no script would show, and whether all that is opened is closed."""

    VOID = frozenset({"meta", "link", "input", "br", "wbr"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words.append(data)


def sentence(made: Document) -> str:
    found = SENTENCE.search(html_report(made))
    assert found
    return found.group(1)


def unpacked(page: str) -> dict[str, Any]:
    start = r'<script type="application/octet-stream" id="([\w-]+)"(?: data-holds="[\w ]+")?>'
    found = re.findall(rf"{start}([\w+/=]+)</script>", page)
    return {name: json.loads(zlib.decompress(base64.b64decode(data))) for name, data in found}


def pages_of(page: str) -> dict[str, list[Any]]:
    found = (held for name, held in unpacked(page).items() if re.fullmatch(r"p\d+", name))
    return {name: data for held in found for name, data in held.items() if name.startswith("t")}


def judged(*verdicts: str) -> list[Any]:
    return [
        pages.whole(handmade.report(test=f"t.py::test_{place}", verdict=verdict))
        for place, verdict in enumerate(verdicts)
    ]


def test_the_policy_allows_this_style_and_this_script_only() -> None:
    page = html_report(pages.everything())
    found = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert found
    assert page.index(found.group()) < page.index("<style>")
    policy = dict(each.strip().split(" ", 1) for each in found.group(1).split(";"))
    for name, start, end in (
        ("style-src", "<style>", "</style>"),
        ("script-src", '<script type="module" async>', "</script>"),
    ):
        text = page[page.index(start) + len(start) :]
        digest = base64.b64encode(hashlib.sha256(text[: text.index(end)].encode()).digest()).decode()
        assert policy.pop(name) == f"'sha256-{digest}'"
    assert policy == {
        "default-src": "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert page.count("<style") == 1
    assert page.count('<script type="module" async>') == 1
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_all_that_is_opened_is_closed_and_no_id_stands_twice() -> None:
    reader = Reader(html_report(pages.everything()))
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)


def test_the_same_document_gives_the_same_page() -> None:
    made = pages.everything()
    assert html_report(made) == html_report(copy.deepcopy(made))


@pytest.mark.parametrize(
    ("verdicts", "unjudged", "said"),
    [
        ((), 0, "No robust test ran"),
        (("pass",), 0, "1 robust test passed"),
        (("pass", "pass"), 0, "2 robust tests passed"),
        (("pass", "brittle"), 0, "2 robust tests: 1 brittle, 1 passed"),
        (
            ("brittle", "brittle", "noisy", "inconclusive"),
            0,
            "4 robust tests: 2 brittle, 1 noisy, 1 inconclusive",
        ),
        (("pass",), 2, "3 robust tests: 2 not judged, 1 passed"),
        (("pass", "brittle"), 1, "3 robust tests: 1 brittle, 1 not judged, 1 passed"),
        (("pass", "odd"), 0, "2 robust tests: 1 odd, 1 passed"),
    ],
)
def test_the_verdict_of_a_run(verdicts: tuple[str, ...], unjudged: int, said: str) -> None:
    failed: Any = [
        {"test": f"u.py::test_{n}", "outcome": "error", "message": "boom", "location": None}
        for n in range(unjudged)
    ]
    assert sentence(document(pages.run(), judged(*verdicts), unjudged=failed)) == said


def test_a_run_that_did_not_end_is_not_called_robust() -> None:
    assert (
        sentence(document(pages.run(complete=False), judged("pass")))
        == "1 robust test passed, of a run that did not end"
    )


def test_what_pytest_makes_of_a_verdict_is_said() -> None:
    tests = judged("brittle", "brittle", "pass")
    tests[0]["outcome"] = "xfailed"
    tests[2]["counts"]["deviation"] = 1
    words = " ".join(Reader(html_report(document(pages.run(), tests))).words)
    assert "1 of them is expected to fail (xfail); 1 test passed with deviations." in words


def test_nothing_is_said_of_what_there_is_not() -> None:
    words = " ".join(Reader(html_report(document(pages.run(), judged("pass")))).words)
    for absent in (
        "What changed",
        "Drift",
        "Over time",
        "Models side by side",
        "Without a verdict",
        "ended before",
    ):
        assert absent not in words
    assert "A test is robust with" in " ".join(Reader(html_report(document(pages.run(), []))).words)
    assert "ended before its last test" in html_report(document(pages.run(complete=False), judged("pass")))


def test_tests_of_one_name_have_an_address_each() -> None:
    same = [pages.whole(handmade.report(target=f"openai:model-{n}")) for n in (1, 2, 2)]
    page = html_report(document(pages.run(), same))
    links = re.findall(r'<th scope="row"><a href="(#/test/[^"]*)"', page)
    assert len(set(links)) == 3
    assert len(pages_of(page)) == 3


def test_of_tests_of_one_name_each_has_its_own_change_and_no_other_ones_past() -> None:
    same = [
        pages.whole(handmade.report(target="openai:one")),
        pages.whole(handmade.report(target="openai:two", verdict="brittle", score=0.63)),
    ]
    name = same[0]["test"]
    made = document(
        pages.run(),
        same,
        changes=pages.changes(pages.change(name, target="openai:two")),
        trends=pages.trends([name]),
    )
    page = html_report(made)
    found = {"openai:one": "", "openai:two": ""}
    for each in pages_of(page).values():
        text = json.dumps(each)
        first = re.search(r'"bdi", "(openai:\w+)"', text)
        assert first
        found[first.group(1)] = text
    assert "Against the base" in found["openai:two"]
    assert "Against the base" not in found["openai:one"]
    assert "Over time" not in "".join(found.values())
    assert page.count(">-0.37 newly brittle<") == 1
    alone = html_report(document(pages.run(), same[1:], changes=made["changes"], trends=made["trends"]))
    assert "Over time" in json.dumps(pages_of(alone))


def test_a_verdict_that_changed_alone_stands_in_the_table() -> None:
    test = pages.whole(handmade.report(verdict="inconclusive"))
    change = pages.change(test["test"], "lower", difference=0.0, verdict="inconclusive")
    page = html_report(document(pages.run(), [test], changes=pages.changes(change)))
    assert ">newly inconclusive</span>" in page
    assert "+0.00" not in page


def test_a_page_holds_what_is_known_of_its_test() -> None:
    made = pages.everything()
    page = html_report(made)
    (text,) = (
        said
        for said in (json.dumps(each, ensure_ascii=False) for each in pages_of(page).values())
        if "[0.31, 0.86]" in said
    )
    for said in (
        "The smallest change that breaks it",
        "broke it 3 of 3 times · 9 queries · trial ",
        "Model: ",
        "noise alone would do so with p = 0.004",
        "3 of 8 trials deviate that did not before: more than noise.",
        "passes now",
        "its sentence is gone",
        "NEUTRAL",
        "overall 0.7",
        "[0.31, 0.86] at 95%, over operators",
        "AssertionError: assert 'NEUTRAL' == 'POSITIVE'",
        "pytest 'tests/test_triage.py::test_triage' --promptfuzz-trial=",
    ):
        assert said in text, said
    # Deviations come before what is equivalent.
    assert text.index('"Deviations"') < text.index('"Equivalent"')


@pytest.mark.parametrize(
    ("given", "notes", "short"),
    [
        ({}, ["plain"], True),
        ({}, ["turned \u202e around"], False),
        ({"diff": [["=", "word " * 4_000]]}, [], False),
        ({"reproduce": "pytest 'test_a.py::test_a[{id}]' --promptfuzz-trial=7"}, [], False),
        ({"error": {"kind": "timeout", "message": "too slow"}}, [], False),
    ],
    ids=["usual", "invisible", "long", "braces", "error"],
)
def test_trials_that_broke_nothing_are_kept_short_where_that_says_all(
    given: dict[str, Any], notes: list[str], *, short: bool
) -> None:
    test = pages.whole(handmade.report(trials=[handmade.trial(n, **given) for n in range(3)]), notes=notes)
    (nodes,) = pages_of(html_report(document(pages.run(), [test]))).values()
    assert any(each[0] == "=harmless" for each in nodes) is short
    if not short:
        whole = json.loads(to_json(details(test, "#/test/x")))
        assert [each for each in nodes if each[0] == "section"] == [
            each for each in whole if each[0] == "section"
        ]


def test_a_thousand_tests_stay_below_fifteen_megabytes() -> None:
    hundred = pages.many(100)
    size, small = len(html_report(hundred).encode()), len(html_report(document(pages.run(), [])).encode())
    # Prompts and answers are drawn anew for each test, so that nothing is shared between them.
    assert small + 10 * (size - small) < 15_000_000


def test_what_both_answers_hold_is_not_marked() -> None:
    found = to_html([beside("The parcel is late, sorry.", "The parcel is on time, sorry.")])
    assert re.findall(r"<mark>(.*?)</mark>", found) == ["late", "on time"]
    several = to_html([beside("It comes late today, sorry.", "It comes soon enough, sorry.")])
    assert re.findall(r"<mark>(.*?)</mark>", several) == ["late today", "soon enough"]
    assert "the same, word for word" in to_html([beside("yes", "yes")])
    assert re.findall(r"<mark>(.*?)</mark>", to_html([beside("感情は良い", "感情は悪い")])) == ["良", "悪"]
    assert re.findall(r"<mark>(.*?)</mark>", to_html([beside("a b", "a  b")])) == ["·", "··"]


def test_what_long_answers_share_is_counted() -> None:
    head = "The same words again and again. " * 400
    found = to_html([beside(f"{head}Yes.", f"{head}No.")])
    assert "characters the same" in found
    assert re.findall(r"<mark>(.*?)</mark>", found) == ["Yes", "No"]


def test_a_move_is_shown_as_a_move() -> None:
    trial = handmade.brittle()["trials"][6]
    found = to_html([changed(trial["diff"])])
    assert "moved" in found
    assert "<del>" not in found


def test_texts_are_escaped_and_made_visible() -> None:
    node = ['p.a"b', {"title": '"<'}, "<b>&\x07\u202e\ud800"]
    assert (
        to_html([node])
        == '<p class="a&quot;b" title="&quot;&lt;">&lt;b&gt;&amp;␇&lt;U+202E&gt;&lt;U+D800&gt;</p>'
    )
    assert json.loads(to_json([node])) == [['p.a"b', {"title": '"<'}, "<b>&␇<U+202E><U+D800>"]]
    assert json.loads(to_json(["a\\u0007\n"])) == ["a\\u0007\n"]


def stored(folder: Path, made: Document) -> Path:
    """A run as pytest leaves it."""
    lines = Stored(folder, made["run"])
    for test in made["tests"]:
        lines.test(test)
    for each in made["unjudged"]:
        lines.unjudged(each)
    lines.end(made["run"], changes=made["changes"], trends=made["trends"], warnings=made["warnings"])
    return lines.path


def test_a_page_that_is_written_test_by_test_is_the_same(tmp_path: Path) -> None:
    path = stored(tmp_path, pages.everything())
    with ReportSource(path, ["html"]).document() as found:
        assert isinstance(found["tests"], PackedTests)
        said = publish(found, "html", tmp_path / "report.html", shown="report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text == html_report(read_document(path))
    assert said.startswith("wrote report.html (html, ")
    with ReportSource(path, ["html", "md"]).document() as found:
        assert isinstance(found["tests"], list)


def test_no_more_tests_are_in_memory_than_are_written(tmp_path: Path) -> None:
    def most(tests: int) -> int:
        """Bytes at the peak of writing."""
        made = judged(*["pass"] * tests)
        for each in made:
            each["prompt"] = "word " * 40_000
        path = stored(tmp_path / str(tests), document(pages.run(), made))
        tracemalloc.start()
        with ReportSource(path, ["html"]).document() as found:
            publish(found, "html", tmp_path / "report.html", shown="report.html")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    few, many = most(10), most(30)
    assert (many - few) / 20 < 50_000  # a whole test has more than 200,000


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    goal = tmp_path / "report.html"
    goal.write_text("old", encoding="utf-8")
    made = pages.everything()
    made["tests"][0]["trials"] = None  # type: ignore[typeddict-item]
    with pytest.raises(PromptfuzzError, match="cannot be rendered: TypeError"):
        publish(made, "html", goal, shown="report.html")
    assert goal.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="is a folder"):
        publish(pages.everything(), "html", tmp_path / "folder", shown="folder")


def test_a_list_that_is_too_long_for_the_page_says_where_the_rest_is() -> None:
    tests = judged(*["brittle"] * 230)
    compared = pages.changes(*(pages.change(each["test"]) for each in tests))
    page = html_report(document(pages.run(), tests, changes=compared))
    assert '<a href="#/?changed=1">All 230 stand in the table of tests</a>' in page
    assert page.count('class="plain moves"') == 2


def test_numbers_that_json_does_not_have_can_be_sorted() -> None:
    tests = judged("pass", "pass", "brittle")
    tests[0]["score"] = float("nan")
    tests[1]["spent"]["calls"] = 10**400
    tests[2]["cost"] = float("inf")
    (rows,) = (
        data for name, data in unpacked(html_report(document(pages.run(), tests))).items() if name == "rows"
    )
    keys = [key for row in rows["rows"] for key in row[6] if not isinstance(key, str)]
    assert all(math.isfinite(key) for key in keys)
    assert max(keys) == 1e300
