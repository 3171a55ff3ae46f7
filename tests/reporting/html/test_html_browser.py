"""The page in a real browser: views, choosing, sorting, keys, addresses, widths, colours."""

from __future__ import annotations

import json
from typing import Any

import handmade
import pages
import pytest
from browsing import ENTER, ESCAPE, TAB, Browser

from pytest_promptfuzz.reporting.document import document
from pytest_promptfuzz.reporting.html import parts, test_page, trials
from pytest_promptfuzz.reporting.html.page import html_report
from pytest_promptfuzz.reporting.html.parts import to_html

BRITTLE = "tests/test_triage.py::test_brittle"


@pytest.fixture(scope="module")
def everything() -> str:
    return html_report(pages.everything())


@pytest.fixture(autouse=True)
def quiet(browser: Browser):
    """No test of this file leaves a word on the console, or asks for anything."""
    yield
    assert browser.logged() == []
    assert browser.requests() == []


def address(browser: Browser, name: str) -> str:
    """Of a test's page; the table has the name without the file, which stands above it."""
    return browser.run(
        "return [...document.querySelectorAll('#tests th a')].find(a => a.innerText === arguments[0]).getAttribute('href')",
        name.partition("::")[2],
    )


def shown(browser: Browser) -> list[str]:
    return [each.removeprefix("test_") for each in browser.texts("#tests tbody th a")]


def test_overview_says_what_was_found(browser: Browser, everything: str) -> None:
    browser.open(everything)
    assert browser.text("h1") == (
        "13 robust tests: 7 brittle, 2 inconclusive, 1 not judged, 3 passed; 1 worse than the base by more than noise; "
        "1 drifted"
    )
    assert [each.split("\n") for each in browser.texts(".tile")] == [
        ["✗", "7", "brittle"],
        ["!", "1", "not judged"],
        ["?", "2", "inconclusive"],
        ["✓", "3", "passed"],
    ]
    assert browser.texts("h2") == [
        "What changed",
        "Tests",
        "Not judged: 1 test",
        "Changed prompts",
        "Drift from snapshots",
        "Scores",
        "Over time",
        "Where prompts break",
        "Models side by side",
    ]
    assert shown(browser)[:3] == ["total", "hostile", "long_answer"]
    assert browser.text("#count") == "13 tests"


def test_a_test_has_a_page(browser: Browser, everything: str) -> None:
    browser.open(everything)
    browser.click(f'#tests a[href="{address(browser, BRITTLE)}"]')
    browser.settled()
    assert browser.texts("h1") == [BRITTLE]
    assert "Brittle: the score 0.62" in browser.text(".prose")
    assert browser.text(".counterexample del") == "sentiment"
    assert browser.text(".counterexample ins") == "mood"
    assert browser.texts(".counterexample .side pre") == [
        "POSITIVE",
        "The text expresses a positive sentiment.",
    ]
    assert [each.split(" ")[0].split("\n")[0] for each in browser.texts("#test h2")] == [
        "The",
        "Drift",
        "Against",
        "Deviations",
        "Equivalent",
        "Known",
        "Prompt",
        "Gold",
        "Judge",
        "Scores",
        "Over",
        "What",
    ]
    assert browser.run("return document.title") == f"{BRITTLE} · Prompt robustness"
    assert browser.run("return document.activeElement.tagName") == "H1"


def test_what_is_folded_is_built_when_it_is_opened(browser: Browser, everything: str) -> None:
    browser.open(everything)
    browser.go(address(browser, BRITTLE))
    closed = "return document.querySelectorAll('details.trial:not([open])')[0].children.length"
    assert browser.run(closed) == 1
    browser.run("document.querySelectorAll('details.trial:not([open])')[0].dataset.mine = ''")
    browser.click("[data-mine] > summary")
    browser.until("return document.querySelector('[data-mine] .sides') !== null")
    assert browser.texts("[data-mine] .side pre")[1] == "I would say that it is positive."


SMILING = "Is it 😀 or 𝒃𝒂𝒅? Say it in one word.\n\n<b>Text</b>: {text}"
KEPT: dict[str, dict[str, Any]] = {
    "the same": {},
    "beyond the first plane": {
        "diff": [["=", SMILING[:8]], ["-", "or"], ["+", '👍🏽 <i>or</i> "else"'], ["=", SMILING[10:]]],
    },
    "nothing changed": {"diff": [["=", SMILING]], "operators": []},
    "two edits": {"diff": [["-", "Is"], ["+", "Was"], ["=", SMILING[2:11]], ["-", SMILING[11:]]]},
    "other words": {"response": "It is *POSITIVE*, I would say.", "explanation": "they mean the same"},
    "other tiers": {"tiers": [["exact", 0.0, ""], ["semantic", 0.931, "by all-MiniLM"]], "similarity": 0.931},
    "asked again": {"again": ["equivalent", "deviation"]},
    "of JSON": {"response": '{"a": [1, 2]}', "baseline": '{"a": [1, 2]}'},
    "of nothing": {"response": "", "baseline": ""},
    "of white space": {"response": " ", "baseline": " "},
    "a value": {"response": {"a": 1}, "baseline": {"a": 1}},
    "very long": {"response": "word " * 2_000, "baseline": "word " * 2_000},
    "not measured": {"similarity": None, "explanation": "", "tiers": []},
    "no command": {"reproduce": ""},
    "another case and sample": {"case": 1, "sample": 2},
    "a failed check": {"failure": {"type": "AssertionError", "message": "a\nb", "traceback": "c\nd"}},
}


def made_by_the_script(browser: Browser, heading: str) -> str:
    """A section of a test's page with all of it opened, as HTML."""
    return browser.run(
        """
        const section = [...document.querySelectorAll('#test section')].find(
          each => each.querySelector('h2')?.textContent.startsWith(arguments[0]));
        const open = async (within) => {
          for (const each of within.querySelectorAll('details:not([open])')) {
            each.open = true;
            await new Promise(done => setTimeout(done, 20));
            await open(each);
          }
        };
        return open(section).then(() => {
          for (const each of section.querySelectorAll('details')) each.removeAttribute('open');
          return section.outerHTML;
        });
        """,
        heading,
    )


@pytest.mark.parametrize("oracle_only", [False, True])
def test_a_trial_that_broke_nothing_is_built_as_it_is_known(browser: Browser, oracle_only: bool) -> None:
    kept = [handmade.trial(n, **given) for n, given in enumerate(KEPT.values())]
    kept += [handmade.trial(n + 100, "synonym", "semantic") for n in range(8)]
    control = handmade.trial(99, "answer-fixed", "control", relation="must-change", response="VIOLIN")
    if oracle_only:
        for each in kept:
            each.update(baseline=None, response=None)  # type: ignore[typeddict-item]
    test = pages.whole(handmade.report(trials=[*kept, control]), oracle_only=oracle_only)
    page = html_report(document(pages.run(), [test]))
    browser.open(page, parts.test_href(test["test"]))
    equivalent, other = trials.trials(test)
    assert "=harmless" in json.dumps(trials.trials(test, short=True))
    assert made_by_the_script(browser, "Equivalent") == to_html([equivalent])
    assert made_by_the_script(browser, "Of other") == to_html([other])


def test_a_table_is_built_as_it_is_written(browser: Browser) -> None:
    test = pages.everything()["tests"][0]
    browser.open(html_report(document(pages.run(), [test])), parts.test_href(test["test"]))
    (written,) = test_page.kinds_section(test)
    assert made_by_the_script(browser, "Scores by kind") == to_html([written])


def test_tests_of_one_page_of_data_are_told_apart(browser: Browser) -> None:
    tests = [pages.whole(handmade.report(test=f"test_a.py::test_{n}")) for n in range(60)]
    made = html_report(document(pages.run(), tests))
    assert 1 < made.count("data-holds=") < 30
    browser.open(made)
    for number in (0, 7, 31, 59):
        browser.go(parts.test_href(f"test_a.py::test_{number}"))
        assert browser.text("#test h1") == f"test_a.py::test_{number}"


def test_tests_are_chosen(browser: Browser, everything: str) -> None:
    browser.open(everything)
    browser.click("#find")
    browser.keys("MODELS reply")
    assert shown(browser) == ["reply[anthropic:claude-haiku-4-5]", "reply[openai:gpt-5-mini]"]
    assert browser.text("#count") == "2 of 13 tests. Enter opens the first."
    assert browser.run("return location.hash") == "#/?q=MODELS+reply"
    browser.click(".controls [type=reset]")
    browser.until("return document.querySelector('#count').innerText === '13 tests'")
    assert browser.run("return location.hash") == "#/"
    browser.click(".tile.is-unjudged")
    assert shown(browser) == ["total"]
    browser.click(".controls [type=reset]")
    browser.until("return document.querySelector('#count').innerText === '13 tests'")
    browser.click("#changed")
    assert shown(browser) == ["brittle", "passing"]
    browser.click("#changed")
    browser.run("document.querySelector('#model').value = 'simulated'")
    browser.run("document.querySelector('#model').dispatchEvent(new Event('input', {bubbles: true}))")
    assert shown(browser) == ["mood"]


def test_tests_are_sorted(browser: Browser, everything: str) -> None:
    browser.open(everything)
    worst = shown(browser)
    heads = "return [...document.querySelectorAll('#tests thead th')].map(e => e.getAttribute('aria-sort')).join()"
    assert set(browser.run(heads)) == {","}
    browser.click("[data-by=score].sort")
    assert browser.run("return document.querySelector('th[aria-sort]').innerText") == "score"
    assert browser.run("return document.querySelector('th[aria-sort]').ariaSort") == "ascending"
    assert shown(browser)[:4] == ["total", "hostile", "long_answer", "wide"]
    browser.click("[data-by=score].sort")
    assert shown(browser)[-1] == "total"
    assert browser.texts("#tests .group") == []
    assert browser.run("return location.hash") == "#/?sort=-score"
    browser.click("[data-by=score].sort")
    assert shown(browser) == worst
    browser.click("[data-by=test].sort")
    places = [each.lower() for each in browser.texts("#tests .where")]
    names = [f"{place}::test_{name}" for place, name in zip(places, shown(browser), strict=True)]
    assert names == sorted(names)
    browser.click("[data-by=deviation].sort")
    assert shown(browser)[0] == "several_inputs"


def test_an_address_names_a_view(browser: Browser, everything: str) -> None:
    browser.open(everything, "#/?verdict=brittle&sort=-test&heat=dimensions&q=triage")
    assert shown(browser) == ["wide", "several_inputs", "oracle_only", "long_answer", "hostile", "brittle"]
    assert browser.run("return document.querySelector('#heat-operators').hidden")
    assert not browser.run("return document.querySelector('#heat-dimensions').hidden")
    browser.go("#/")
    assert len(shown(browser)) == 13
    link = address(browser, BRITTLE)
    trial = browser_trial(browser, link)
    browser.open(everything, f"{link}?trial={trial}")
    assert browser.run("return document.activeElement.parentElement.dataset.trial") == trial
    assert browser.run("return document.activeElement.parentElement.open")
    # What was said of a test's trials leads to them, on its own page as well.
    href = browser.run("return [...document.querySelectorAll('#test dd a')].at(-1).getAttribute('href')")
    assert href == f"{link}?trial=8f14e45fceea"
    browser.open(everything, "#/test/nothing%20of%20the%20kind")
    assert browser.texts("h1") == ["No such test"]
    browser.click("#steps a")
    browser.settled()
    assert len(shown(browser)) == 13


def browser_trial(browser: Browser, link: str) -> str:
    """The last trial of a page, which is folded."""
    browser.go(link)
    return browser.run("return [...document.querySelectorAll('[data-trial]')].at(-1).dataset.trial")


def test_keys_lead_to_a_test_and_back(browser: Browser, everything: str) -> None:
    browser.open(everything, "#/?verdict=brittle")
    browser.keys("/", "triage brittle")
    assert browser.run("return document.activeElement.id") == "find"
    for _ in range(40):
        browser.keys(TAB)
        if browser.run("return document.activeElement.matches('#tests th a')"):
            break
    assert browser.run("return document.activeElement.innerText") == "test_brittle"
    browser.keys(ENTER)
    browser.until("return !document.querySelector('#test').hidden")
    browser.settled()
    assert browser.run("return document.activeElement.innerText") == BRITTLE
    for _ in range(40):
        browser.keys(TAB)
        if browser.run("return document.activeElement.matches('summary')"):
            break
    was = browser.run("return document.activeElement.parentElement.open")
    browser.keys(ENTER)
    assert browser.run("return document.activeElement.parentElement.open") != was
    browser.keys(ESCAPE)
    browser.until("return document.querySelector('#test').hidden")
    browser.settled()
    assert browser.run("return document.activeElement.innerText") == "test_brittle"
    assert browser.run("return location.hash") == "#/?q=triage+brittle&verdict=brittle"


def test_back_and_forward(browser: Browser, everything: str) -> None:
    browser.open(everything)
    browser.go(address(browser, BRITTLE))
    browser.driver.back()
    browser.until("return !document.querySelector('#overview').hidden")
    browser.driver.forward()
    browser.until("return !document.querySelector('#test').hidden")
    browser.settled()
    before = browser.text("#test h1")
    browser.run("[...document.querySelectorAll('#steps a')].find(a => a.innerText === 'Next').click()")
    browser.settled()
    assert browser.text("#test h1") != before


def test_light_and_dark(browser: Browser, everything: str) -> None:
    browser.open(everything)
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(paper)
    browser.look(1280, dark=True)
    dark = browser.run(paper)
    assert light != dark
    browser.until("return document.querySelector('#theme').innerText === 'Light'")
    browser.click("#theme")
    assert browser.run(paper) == light
    browser.look(1280)
    browser.click("#theme")
    assert browser.run(paper) == dark
    browser.run("localStorage.clear()")
    browser.look(1280, dark=True)
    browser.open(everything)
    assert browser.text("#theme") == "Light"


@pytest.mark.parametrize("width", [360, 390, 768])
def test_nothing_is_wider_than_a_phone(browser: Browser, everything: str, width: int) -> None:
    browser.look(width)
    browser.open(everything)
    links = browser.run(
        "return [...document.querySelectorAll('#tests th a')].map(a => a.getAttribute('href'))"
    )
    for link in ["#/", *links]:
        browser.go(link)
        browser.run("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        wide = browser.run("return document.documentElement.scrollWidth")
        assert wide <= width, link
    browser.go("#/")
    inside = (
        "const box = document.querySelector('#tests').parentElement; return box.scrollWidth - box.clientWidth"
    )
    assert browser.run(inside) <= 0  # the tests need no scrolling by themselves either


def test_the_heat_map_is_switched_and_grows(browser: Browser) -> None:
    browser.open(html_report(pages.many(60, 4)))
    assert len(browser.texts("#heat-operators tbody tr")) == 50
    assert browser.texts("#heat-dimensions tbody tr") == []
    browser.click("#heat-operators .more")
    browser.until("return document.querySelectorAll('#heat-operators tbody tr').length === 60")
    assert browser.run("return document.activeElement.closest('tr').sectionRowIndex") == 50
    browser.click("[data-heat=dimensions]")
    assert len(browser.texts("#heat-dimensions tbody tr")) == 50
    assert browser.run("return location.hash") == "#/?heat=dimensions"


def test_a_command_is_copied(browser: Browser, everything: str) -> None:
    browser.open(everything)
    browser.go(address(browser, BRITTLE))
    browser.click("details[open] > .command .copy")
    browser.until(
        "return ['Copied', 'Selected'].includes(document.querySelector('details[open] > .command .copy').innerText)"
    )


def test_models_stand_side_by_side(browser: Browser, everything: str) -> None:
    browser.open(everything)
    heads = browser.texts("table.models thead th")
    assert heads == [
        "test",
        "anthropic:claude-haiku-4-5\n0 of 1 passed",
        "openai:gpt-5-mini\n1 of 1 passed",
    ]
    browser.click("table.models td a")
    browser.settled()
    assert "The same test on other models" in browser.texts("#test h2")
    assert len(browser.texts("#test table.models thead th")) == 3


def test_it_can_be_read_without_a_script(browser: Browser, everything: str) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        path = browser.folder / "page-still.html"
        path.write_text(everything, encoding="utf-8")
        browser.driver.get(path.as_uri())
        # Selenium's own scripts run still; the page's do not.
        assert browser.text("h1").startswith("13 robust tests: 7 brittle")
        assert len(browser.texts("#tests tbody th a")) == 13
        assert browser.texts(".controls") == []
        assert len(browser.texts(".heat-kind")) == 2
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_serious(browser: Browser, everything: str, width: int, dark: bool) -> None:
    browser.look(width, dark=dark)
    browser.open(everything)
    for link in (
        "#/",
        address(browser, BRITTLE),
        address(browser, "tests/test_triage.py::test_several_inputs"),
    ):
        browser.go(link)
        browser.run("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        assert browser.barriers() == [], link


def test_nothing_ran(browser: Browser) -> None:
    browser.open(html_report(document(pages.run(complete=False), [])))
    assert browser.text("h1") == "No robust test ran"
    assert "ended before its last test" in browser.text(".alarm")
    assert browser.texts("#tests") == []
