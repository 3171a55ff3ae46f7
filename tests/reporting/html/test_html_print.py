"""The page on paper and on a phone: all rows, all colours, no page without words, no message that is cut."""

from __future__ import annotations

import base64
import math
import re
from typing import TYPE_CHECKING

import pages
import pytest

from pytest_promptfuzz.reporting.html.page import html_report

if TYPE_CHECKING:
    from browsing import Browser

PAPER = 690  # pixels between the margins of A4


@pytest.fixture(scope="module")
def everything() -> str:
    return html_report(pages.everything())


def link(browser: Browser, name: str) -> str:
    found: str = browser.run(
        "return [...document.querySelectorAll('#tests a')].find(a => a.innerText === arguments[0]).hash", name
    )
    return found


def on_paper(browser: Browser) -> None:
    """What the browser does before it prints, on the screen."""
    screen = {"width": PAPER, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.run("dispatchEvent(new Event('beforeprint'))")


def off_paper(browser: Browser) -> None:
    browser.run("dispatchEvent(new Event('afterprint'))")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def printed(browser: Browser) -> int:
    """How many pages a print has."""
    made = browser.driver.execute_cdp_cmd(
        "Page.printToPDF", {"preferCSSPageSize": True, "paperWidth": 8.27, "paperHeight": 11.69}
    )
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(made["data"])))


def test_the_heat_map_keeps_its_colours(browser: Browser, everything: str) -> None:
    browser.open(everything)
    on_paper(browser)
    style = "const style = getComputedStyle(document.querySelector('td.heat-4')); return [style.printColorAdjust, style.backgroundColor]"
    adjusted, colour = browser.run(style)
    assert adjusted == "exact"
    assert colour == "rgb(179, 38, 30)"
    assert browser.run("return document.querySelector('.heat').getBoundingClientRect().width") <= PAPER
    off_paper(browser)
    assert browser.run("return document.querySelector('.heat').style.zoom") == ""


@pytest.mark.parametrize("view", ["#/", "test_brittle", "test_long_answer"])
def test_nothing_is_cut_and_no_page_is_empty(browser: Browser, everything: str, view: str) -> None:
    browser.open(everything)
    if view != "#/":
        browser.go(link(browser, view))
    on_paper(browser)
    assert browser.run("return document.documentElement.scrollWidth") <= PAPER
    shown = "#test" if view != "#/" else "#overview"
    assert browser.run(f"return document.querySelectorAll('{shown} details:not([open])').length") == 0
    cut = browser.run(
        "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility() && "
        "e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible').map(e => e.className)",
        f"{shown} *:not(.sr, .sr *)",
    )
    assert cut == []
    tall = browser.run("return document.documentElement.scrollHeight")
    off_paper(browser)
    assert printed(browser) <= math.ceil(tall / 1000 * 1.25) + 1


def test_all_rows_are_printed(browser: Browser) -> None:
    browser.open(html_report(pages.many(600, 1)), "#/?sort=time")
    rows = "return document.querySelectorAll('#tests tbody tr:not(.empty) a').length"
    assert browser.run(rows) < 300
    on_paper(browser)
    assert browser.run(rows) == 600
    off_paper(browser)


def test_what_was_folded_is_folded_again(browser: Browser, everything: str) -> None:
    browser.open(everything)
    browser.go(link(browser, "test_brittle"))
    folded = "return document.querySelectorAll('#test details:not([open])').length"
    before = browser.run(folded)
    on_paper(browser)
    assert browser.run(folded) == 0
    off_paper(browser)
    assert browser.run(folded) >= before


@pytest.mark.parametrize("width", [360, 390])
def test_a_phone_shows_messages_whole(browser: Browser, everything: str, width: int) -> None:
    browser.look(width)
    browser.open(everything)
    for selector in (".failure pre", "#tests .is-unjudged"):
        inside = browser.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.left, box.right]",
            selector,
        )
        assert inside[0] >= 0
        assert inside[1] <= width
    said = (
        "return [...document.querySelectorAll('#tests tbody tr')].find(e => e.innerText.includes('test_total'))"
        ".querySelector('.answers')"
    )
    assert browser.run(f"{said}.innerText") == "failed: AssertionError: assert 'Total' in ''"
    assert browser.run(
        f"const box = {said.removeprefix('return ')}; return box.scrollHeight <= box.clientHeight + 1"
    )
    name = browser.run(
        "return document.querySelector('#tests tbody th a').closest('th').getBoundingClientRect().width"
    )
    assert name > width / 3


@pytest.mark.parametrize("width", [360, 390])
def test_the_header_of_a_phone_has_two_rows(browser: Browser, everything: str, width: int) -> None:
    browser.look(width)
    browser.open(everything)
    for view in ("#/", link(browser, "test_brittle")):
        browser.go(view)
        high = browser.run("return document.querySelector('header.top').getBoundingClientRect().height")
        assert high < 110
        theme = browser.run("return document.querySelector('#theme').getBoundingClientRect().right")
        assert theme <= width
