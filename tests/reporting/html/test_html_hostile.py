"""Whatever a model, a prompt or a name holds is text on the page: it runs nothing, loads nothing, hides nothing."""

from __future__ import annotations

import base64
import copy
import json
import re
import zlib
from typing import TYPE_CHECKING, Any

import pages
import pytest

from pytest_promptfuzz.reporting.html.page import html_report

if TYPE_CHECKING:
    from browsing import Browser

PAYLOADS = (
    "<script>window.canary = 1</script>",
    "</script><script>window.canary = 1</script>",
    "<!--<script>",
    "</style><style>*{display:none}</style>",
    "<img src=http://example.invalid/x onerror=window.canary=1>",
    "\"><svg onload=window.canary=1>' onmouseover='window.canary=1' autofocus onfocus='window.canary=1",
    "javascript:window.canary=1",
    "{{constructor.constructor('window.canary=1')()}}${window.canary=1}<%= 1 %>#{1}",
    "]]><iframe srcdoc='<script>parent.canary=1</script>'></iframe><base href=//example.invalid>",
    "\x00\x07\x1b[31m\x1b]0;t\x07\r\n\x7f\x9b2J",
    "\u202eevil\u202c \u2066abc\u2069 \u200b\u200f\ufeff\U000e0041",
    "\ud800 alone \udfff",
    "مرحبا بالعالم, שלום עולם",
    "&lt;b&gt;&amp;&#0;",
)
HOSTILE = " ".join(PAYLOADS)
# Words that the report's own code chooses, not a model nor a name.
OWN = {
    "verdict",
    "verdict_before",
    "outcome",
    "relation",
    "kind",
    "status",
    "policy",
    "gate",
    "again",
    "started",
    "promptfuzz",
}


def poisoned(value: Any, poison: str, key: str = "") -> Any:
    """The same with the poison in each text, and in each name of an operator or a dimension."""
    if isinstance(value, str):
        return value if key in OWN else value + poison
    if isinstance(value, dict):
        grown = key in {"by_operator", "by_dimension", "by_relation", "ratings"}
        return {
            (name + poison if grown else name): poisoned(each, poison, name) for name, each in value.items()
        }
    if isinstance(value, (list, tuple)):
        if key == "diff":
            return [[kind, text + poison] for kind, text in value]
        return [poisoned(each, poison, key) for each in value]
    return value


def hostile(poison: str) -> Any:
    made = poisoned(pages.everything(), poison)
    for name in ("tests", "changes", "trends"):
        assert made[name]
    # Trends and changes name tests by their keys.
    made["trends"]["tests"] = {name + poison: points for name, points in made["trends"]["tests"].items()}
    return made


DATA = re.compile(
    r'<script type="application/octet-stream" id="[\w-]+"(?: data-holds="([tu\d ]+)")?>([\w+/=]+)</script>'
)


def chunks(page: str) -> list[str]:
    found = DATA.findall(page)
    assert " ".join(held for held, _ in found).split().count("t0") == 1
    return [zlib.decompress(base64.b64decode(each)).decode() for _, each in found]


def test_no_text_becomes_markup() -> None:
    page = html_report(hostile(HOSTILE))
    clean = html_report(pages.everything())
    for tag in ("script", "style", "svg", "img", "iframe", "base", "b"):
        # Not one element more than the same document has without the poison, data apart: of that there is more.
        opened = re.compile(rf"<{tag}[\s>]")
        assert len(opened.findall(DATA.sub("", page))) <= len(opened.findall(DATA.sub("", clean))), tag
    assert "<!--" not in page
    assert not re.search(r"\son\w+=[^\"]*\">", re.sub(r'"[^"]*"', '""', page))
    page.encode()
    for made in chunks(page):
        json.loads(made)


def test_nothing_is_hidden() -> None:
    page = html_report(hostile(HOSTILE))
    for text in (page, *chunks(page)):
        assert not re.search(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]",
            text,
        )
        assert "\\u" not in text.replace("\\\\", "") or text is page
    assert "<U+202E>" in "".join(chunks(page))
    assert "␛[31m" in "".join(chunks(page))


@pytest.mark.parametrize("where", ["everywhere", *range(len(PAYLOADS))])
def test_hostile_texts_do_nothing(browser: Browser, where: Any) -> None:
    page = html_report(hostile(HOSTILE if where == "everywhere" else PAYLOADS[where]))
    browser.look(360)
    browser.open(page)
    links = browser.run(
        "return [...document.querySelectorAll('#tests th a')].map(a => a.getAttribute('href'))"
    )
    assert len(links) == 13
    for link in ["#/", *(links if where == "everywhere" else links[:6])]:
        browser.go(link)
        browser.run("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        assert browser.run("return document.documentElement.scrollWidth") <= 360
        assert "No such test" not in browser.texts("h1")
        strange = (
            "script:not([type]), iframe, img, base, object, embed, form:not(#controls), [onerror], [onload]"
        )
        assert browser.run("return document.querySelectorAll(arguments[0]).length", strange) == 0
        assert browser.run("return window.canary") is None
    assert browser.run("return [...document.links].every(a => a.getAttribute('href').startsWith('#'))")
    assert browser.logged() == []
    assert browser.requests() == []


def test_lines_without_an_end_are_cut(browser: Browser) -> None:
    """A megabyte in each place of one test: the page says what it leaves out, and neither freezes nor widens."""
    long = "A" * 1_000_000
    made = pages.everything()
    made = copy.deepcopy(made)
    test = next(each for each in made["tests"] if each["test"].endswith("test_brittle"))
    test["test"] += long
    test["prompt"] += long
    test["baseline"] += long
    test["baselines"] = [test["baseline"]]
    test["notes"] = [long]
    test["target"] += long
    for trial in test["trials"]:
        trial["response"] = f"{trial['response']} {long}"
        trial["baseline"] = test["baseline"]
        trial["explanation"] = long
        trial["diff"] = [*trial["diff"], ["-", long], ["+", long[1:]], ["=", long]]
        if trial["failure"]:
            trial["failure"] = {"type": "AssertionError", "message": long, "traceback": f"{long}\n{long}"}
    made["warnings"] = [long]
    made["unjudged"][0]["message"] = long
    page = html_report(made)
    assert len(page) < 600_000
    assert long[:30_000] not in "".join(chunks(page))
    browser.look(360)
    browser.open(page)
    link = browser.run(
        "return [...document.querySelectorAll('#tests th a')].find(a => a.innerText.includes('test_brittleA')).getAttribute('href')"
    )
    for each in ("#/", link):
        browser.go(each)
        browser.run("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        assert browser.run("return document.documentElement.scrollWidth") <= 360
        assert "more characters are not shown" in browser.text("body")
    assert browser.logged() == []


def test_huge_and_odd_numbers_are_shown() -> None:
    made = copy.deepcopy(pages.everything())
    test = made["tests"][0]
    test["trials"][0]["response"] = {"n": 10**5000, "inf": float("inf"), "nan": float("nan")}
    test["trials"][0]["tiers"] = [["own", 1e308, "x"], ["other", float("nan"), ""]]
    test["cost"] = 1e300
    test["score"] = float("nan")
    test["spent"]["calls"] = 10**400
    assert html_report(made)
