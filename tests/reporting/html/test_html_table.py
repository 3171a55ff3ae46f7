"""The table of tests in a real browser: files, what broke a test, keys, thousands of rows, charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import handmade
import pages
import pytest
from browsing import ENTER, Browser

from pytest_promptfuzz.reporting.document import document
from pytest_promptfuzz.reporting.html.page import html_report
from pytest_promptfuzz.reporting.markdown import markdown_report

if TYPE_CHECKING:
    from collections.abc import Iterator

DOWN, UP = "\ue015", "\ue013"  # as WebDriver names keys
MANY = 1_000
ROWS = "return document.querySelectorAll('#tests tbody tr:not(.empty)').length"


@pytest.fixture(scope="module")
def everything() -> str:
    return html_report(pages.everything())


@pytest.fixture(scope="module")
def large() -> str:
    return html_report(pages.many(MANY, 2))


@pytest.fixture(autouse=True)
def quiet(browser: Browser) -> Iterator[None]:
    yield
    assert browser.logged() == []
    assert browser.requests() == []


def row(browser: Browser, name: str) -> list[str]:
    """The cells of a test's row, as they can be seen."""
    found: list[str] = browser.run(
        "return [...[...document.querySelectorAll('#tests tbody th a')].find(a => a.innerText === arguments[0])"
        ".closest('tr').cells].map(e => e.innerText)",
        name,
    )
    return found


def column(browser: Browser, name: str) -> int:
    heads: list[str] = browser.texts("#tests thead th")
    return heads.index(name)


def test_what_changed_search_and_table_stand_at_the_top(browser: Browser, everything: str) -> None:
    browser.look(1280)
    browser.open(everything)
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    assert browser.run(top, "#changes-title") < 320
    assert browser.run(top, "#find") < 750
    assert browser.run(top, "#tests tbody tr") < 860
    assert browser.texts("header.top nav a")[:3] == ["What changed", "Tests", "Not judged"]
    browser.run("[...document.querySelectorAll('#contents a')].at(-1).click()")
    browser.until("return scrollY > 500")


def test_tests_stand_below_their_files(browser: Browser, everything: str) -> None:
    browser.open(everything)
    assert browser.texts("#tests .group .file") == [
        "tests/test_orders.py",
        "tests/test_triage.py",
        "tests/test_models.py",
        "tests/test_mood.py",
    ]
    tallies = "return [...document.querySelectorAll('#tests .group')].map(e => [...e.querySelectorAll('.tally')].map(e => e.textContent.trim()))"
    assert browser.run(tallies)[:2] == [["! 1 not judged"], ["✗ 6 brittle", "? 2 inconclusive", "✓ 1 pass"]]
    browser.click("#tests tbody tr:nth-of-type(3) .fold")
    assert browser.run("return document.activeElement.getAttribute('aria-expanded')") == "false"
    assert len(browser.texts("#tests tbody th a")) == 4
    browser.keys(ENTER)
    assert browser.run("return document.activeElement.getAttribute('aria-expanded')") == "true"
    assert len(browser.texts("#tests tbody th a")) == 13


def test_a_row_shows_the_edit_and_the_answer(browser: Browser, everything: str) -> None:
    browser.open(everything)
    find = "return [...document.querySelectorAll('#tests tbody tr')].find(e => e.innerText.includes('test_brittle'))"
    assert browser.run(f"{find}.querySelector('del').textContent") == "sentiment"
    assert browser.run(f"{find}.querySelector('ins').textContent") == "mood"
    assert browser.run(f"{find}.querySelector('.answers bdi').textContent") == "POSITIVE"
    assert browser.run(f"{find}.querySelector('.answers b').textContent") == (
        "The text expresses a positive sentiment."
    )
    assert "rate-limit" in row(browser, "test_rate_limited")[1]
    assert "AssertionError: assert 'Total' in ''" in row(browser, "test_total")[1]
    assert row(browser, "test_passing")[1].split("\n") == ["test_passing", "openai:gpt-5-mini"]


def test_a_folded_deviation_shows_the_edit_and_the_answer(browser: Browser, everything: str) -> None:
    browser.open(everything)
    browser.go(
        browser.run(
            "return [...document.querySelectorAll('#tests a')].find(a => a.innerText === 'test_brittle').hash"
        )
    )
    folded = "#test details.is-deviation:not([open]) > summary .finding"
    assert browser.texts(f"{folded} del") == ["sentiment"]
    assert browser.texts(f"{folded} .answers b") == ["I would say that it is positive."]
    browser.click("#test details.is-deviation:not([open]) > summary")
    assert browser.texts("#test details[open] > summary .finding") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"difference": 0.0, "verdict_before": "pass", "verdict": "pass"}, "–"),
        ({"difference": None, "verdict_before": "pass", "verdict": "pass"}, "–"),
        ({"difference": -0.37}, "-0.37 newly brittle"),
    ],
)
def test_no_change_is_a_dash(browser: Browser, change: dict[str, Any], said: str) -> None:
    test = pages.whole(handmade.report())
    status = "worse" if said == "-0.37 newly brittle" else "same"
    compared = pages.change(test["test"], status, new_deviations=[], **change)
    browser.open(html_report(document(pages.run(), [test], changes=pages.changes(compared))))
    assert row(browser, "test_triage")[column(browser, "change")] == said


def test_enter_opens_the_first_test_that_was_found(browser: Browser, everything: str) -> None:
    browser.open(everything)
    browser.keys("/", "expresses", ENTER)
    browser.until("return !document.querySelector('#test').hidden")
    browser.settled()
    assert browser.texts("h1") == ["tests/test_triage.py::test_brittle"]
    browser.go("#/?q=total")
    browser.click("#find")
    browser.keys(ENTER)
    browser.until("return !document.querySelector('#test').hidden")
    browser.settled()
    assert browser.texts("h1") == ["tests/test_orders.py::test_total"]
    assert "the answer to the unmutated prompt is empty" in browser.text("#test pre")


def test_arrows_lead_from_test_to_test(browser: Browser, everything: str) -> None:
    browser.open(everything)
    focus = "return document.activeElement.innerText || document.activeElement.id"
    browser.click("#find")
    browser.keys(DOWN)
    assert browser.run(focus) == "test_total"
    browser.keys(DOWN)
    assert browser.run(focus) == "test_hostile"
    browser.keys(UP, UP)
    assert browser.run(focus) == "find"


def test_a_verdict_is_chosen_and_let_go(browser: Browser, everything: str) -> None:
    browser.open(everything)
    browser.click(".tile.is-inconclusive")
    assert browser.text("#count") == "2 of 13 tests"
    assert browser.texts("[aria-current]") == ["?\n2\ninconclusive"]
    assert browser.run("return location.hash") == "#/?verdict=inconclusive"
    browser.click(".tile.is-inconclusive")
    assert browser.text("#count") == "13 tests"


def test_bars_stand_below_each_other_and_show_the_threshold(browser: Browser, everything: str) -> None:
    browser.open(everything)
    lefts = browser.run(
        "return [...document.querySelectorAll('#tests td:nth-child(3) svg.bar')].map(e => e.getBoundingClientRect().left)"
    )
    assert len(lefts) == 12
    assert len(set(lefts)) == 1
    lenient = pages.whole(handmade.report(score=0.9, bounds=(0.9, 0.9)))
    browser.open(html_report(document(pages.run(), [lenient])))
    marks = browser.run(
        "const one = document.querySelector('#tests svg.bar'); return ['.fill', '.threshold', '.track']"
        ".map(each => one.querySelector(each).getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    (_, filled), (threshold, _), (left, right) = marks
    assert left < threshold < filled < right


def test_trends_and_models_can_be_read(browser: Browser, everything: str) -> None:
    browser.open(everything)
    wide = "return Math.min(...[...document.querySelectorAll(arguments[0])].map(e => e.getBoundingClientRect().width))"
    assert browser.run(wide, "#tests .spark") >= 100
    assert browser.run(wide, "table.models svg.bar") >= 150
    browser.go(
        browser.run(
            "return [...document.querySelectorAll('#tests a')].find(a => a.innerText === 'test_brittle').hash"
        )
    )
    assert browser.run(wide, "#test svg.trend") >= 600
    assert browser.run("return document.querySelectorAll('#test svg.trend .dot').length") == 9
    assert browser.run("return document.querySelectorAll('#test svg.trend .threshold').length") == 1


def test_of_many_tests_those_near_the_window_are_built(browser: Browser, large: str) -> None:
    browser.open(large)
    assert browser.text("#count") == "1,000 tests"
    assert browser.run(ROWS) < 300
    assert int(browser.run("return document.querySelector('#tests').getAttribute('aria-rowcount')")) > 900
    browser.click("[data-by=test].sort")
    assert browser.run(ROWS) < 300
    assert (
        int(browser.run("return document.querySelector('#tests').getAttribute('aria-rowcount')")) == MANY + 1
    )
    last = "return [...document.querySelectorAll('#tests tbody tr:not(.empty)')].at(-1)"
    browser.run("document.querySelector('#tests').scrollIntoView({block: 'end'})")
    browser.until(f"{last}.getAttribute('aria-rowindex') === arguments[0]", str(MANY + 1))
    browser.until(f"{ROWS} < 300")
    browser.run(f"{last}.scrollIntoView({{block: 'center'}})".removeprefix("return "))
    shown = browser.run(f"{last}.querySelector('a').innerText")
    # From the page of a test back to where it stood, with the focus.
    browser.run(f"{last}.querySelector('a').click()".removeprefix("return "))
    browser.until("return !document.querySelector('#test').hidden")
    browser.settled()
    assert browser.text("#test h1").endswith(f"::{shown}")
    browser.driver.back()
    browser.until("return !document.querySelector('#overview').hidden")
    browser.settled()
    assert browser.run("return document.activeElement.closest('tr').getAttribute('aria-rowindex')") == str(
        MANY + 1
    )
    assert browser.run(
        "const box = document.activeElement.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight"
    )


def test_files_whose_tests_all_pass_are_folded_in_a_large_run(browser: Browser, large: str) -> None:
    browser.open(large)
    folded = browser.run("return document.querySelectorAll('#tests .fold[aria-expanded=false]').length")
    groups = browser.run("return document.querySelectorAll('#tests .group').length")
    assert groups >= folded
    name = browser.run("return [...document.querySelectorAll('#tests tbody th a')].at(-1).innerText")
    browser.click("#find")
    browser.keys(name.removeprefix("test_"))
    browser.until("return document.querySelector('#count').innerText.includes(' of 1,000 tests')")
    assert name in browser.texts("#tests tbody th a")


def test_all_tests_can_be_read_without_a_script(browser: Browser) -> None:
    page = html_report(pages.many(160, 2))
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        path = browser.folder / "page-still-many.html"
        path.write_text(page, encoding="utf-8")
        browser.driver.get(path.as_uri())
        assert len(browser.texts("#tests tbody th a")) == 100
        assert len(browser.texts("noscript tbody tr")) == 60
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_changed_answers_stand_first_both_beside_each_other(browser: Browser) -> None:
    test = pages.whole(handmade.passing())
    row = pages.change(test["test"], status="unpaired", verdict="pass", difference=0.0, answer="changed")
    found = pages.changes(row)
    found["answers"] = [
        {
            "test": test["test"],
            "target": test["target"],
            "input": "late <b>",
            "finding": "changed",
            "before": "within 14 days",
            "after": "within 30 days",
            "diff": [["=", "within "], ["-", "14"], ["+", "30"], ["=", " days"]],
            "reason": "",
            "explanation": "",
            "prompt_changed": True,
            "model_before": "one",
            "model": "two",
        },
        {
            "test": "t.py::test_new",
            "target": "",
            "input": "",
            "finding": "not compared",
            "before": None,
            "after": None,
            "diff": [],
            "reason": "answers-new-test",
            "explanation": "the test is not in the base",
            "prompt_changed": False,
            "model_before": "",
            "model": "",
        },
    ]
    browser.look(1280)
    browser.open(html_report(document(pages.run(), [test], changes=found)))
    assert browser.texts("header.top nav a")[:3] == ["Changed answers", "What changed", "Tests"]
    (shown,) = browser.texts("#answers-title ~ article")
    for text in ("changed", "late <b>", "the prompt was changed", "two instead of one", "within 14 days"):
        assert text in shown
    assert "within 30 days" in shown
    assert "Answers of 1 test not compared" in browser.texts("#answers-title ~ details summary")
    assert "answer changed" in browser.text("#tests tbody tr:not(.group)")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"equivalent": 3, "undecided": 1}, ("0 of 4", "1 undecided")),
        ({"equivalent": 1, "deviation": 2, "error": 1, "not-needed": 4}, ("2 of 4", "1 error")),
        ({"error": 2}, ("2 errors", "")),
    ],
)
def test_deviations_are_counted_as_in_the_markdown(
    browser: Browser, found: dict[str, int], said: tuple[str, str]
) -> None:
    """Of all trials that were made, whatever came of them."""
    test: Any = {**handmade.passing(), "outcome": "passed"}
    test["counts"] = dict.fromkeys(test["counts"], 0) | found
    made = document(pages.run(), [test])
    browser.look(1280)
    browser.open(html_report(made))
    cell = row(browser, test["test"].partition("::")[2])[column(browser, "deviations")]
    assert cell.split("\n") == [each for each in said if each]
    silent = f" ({said[1]})" if said[1] else ""
    assert f"| {said[0]}{silent} |" in markdown_report(made)
