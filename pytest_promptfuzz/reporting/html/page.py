"""The whole page: one HTML file with its style, its script and, deflated, what is looked at later."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.html import compared, heatmap, models, overview
from pytest_promptfuzz.reporting.html.before import changes_of, points_of
from pytest_promptfuzz.reporting.html.chunks import chunk
from pytest_promptfuzz.reporting.html.details import details
from pytest_promptfuzz.reporting.html.markup import to_html
from pytest_promptfuzz.reporting.html.parts import key, test_href
from pytest_promptfuzz.reporting.html.table import tests_table
from pytest_promptfuzz.reporting.words import worst_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.reporting.document import Document, DocumentTest
    from pytest_promptfuzz.reporting.html.markup import Node

_STYLES = ("base.css", "overview.css", "details.css")
_SCRIPTS = ("build.js", "heat.js", "tests.js", "views.js", "start.js")


def html_report(document: Document) -> str:
    """The report of a run as one HTML file that needs nothing beside it.

    Args:
        document: The run, whole (not packed).

    Returns:
        The file's text, which can be encoded as UTF-8 whatever a model wrote.
    """
    tests = sorted(document["tests"], key=worst_first)
    hrefs = [test_href(name) for name in _keys(tests)]
    addresses: dict[str | tuple[str, str], str] = {
        test["test"]: href for test, href in zip(reversed(tests), reversed(hrefs), strict=True)
    }
    changes, points = changes_of(tests, document["changes"]), points_of(tests, document["trends"])
    times = Counter(test["test"] for test in tests)
    addresses |= {
        (test["test"], test["target"]): href
        for test, href in zip(tests, hrefs, strict=True)
        if times[test["test"]] > 1
    }
    found = models.families(tests)
    family = {place: places for places in found.values() for place in places}
    heat, rest = heatmap.heat(tests, hrefs)
    body: list[Node] = [
        ["a.skip", {"href": "#main"}, "Skip to the results"],
        _header(),
        [
            "main",
            {"id": "main"},
            [
                "div",
                {"id": "overview"},
                *overview.hero(document),
                *overview.unjudged(document["unjudged"]),
                *compared.changes(document["changes"], addresses),
                *compared.drifted(tests, hrefs),
                *overview.scores(document),
                *(
                    [tests_table(document, tests, hrefs, changes, points)]
                    if tests or document["unjudged"]
                    else [_nothing()]
                ),
                *heat,
                *models.models_section(tests, hrefs, found),
            ],
            ["article", {"id": "test", "hidden": ""}],
        ],
        [
            "noscript",
            ["p.note", "The pages of single tests need JavaScript; all that is on this page does not."],
        ],
    ]
    chunks = [chunk(name, nodes) for name, nodes in rest.items()]
    for place, test in enumerate(tests):
        beside = models.beside_models(tests, hrefs, family[place], place) if place in family else ()
        shown = details(
            test,
            hrefs[place],
            change=changes[place],
            runs=document["trends"]["runs"] if document["trends"] else (),
            points=points[place],
            models=beside,
        )
        chunks.append(chunk(f"t{place}", shown))
    return _page(to_html(body), chunks)


def _header() -> Node:
    return [
        "header.top",
        ["a.home", {"href": "#/"}, "promptfuzz"],
        ["nav", {"id": "steps", "aria-label": "Tests", "hidden": ""}],
        ["button", {"type": "button", "id": "theme", "hidden": ""}, "Dark"],
    ]


def _nothing() -> Node:
    return [
        "section",
        ["h2", "Tests"],
        [
            "p",
            "No robust test ran. A test is robust with ",
            ["code", "@robust"],
            " above it, and if it was selected.",
        ],
    ]


def _keys(tests: Sequence[DocumentTest]) -> list[str]:
    """A name for each test that no other has, and that stays the same from run to run."""
    made: list[str] = []
    taken: set[str] = set()
    times = Counter(test["test"] for test in tests)
    for test in tests:
        name = key(test["test"]) + (f" @ {key(test['target'])}" if times[test["test"]] > 1 else "")
        number, one = 1, name
        while one in taken:
            number += 1
            one = f"{name} ({number})"
        taken.add(one)
        made.append(one)
    return made


def _page(body: str, chunks: Sequence[str]) -> str:
    style, script = _asset(_STYLES), _asset(_SCRIPTS)
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        '<title>Prompt robustness</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n</head>\n<body>\n{body}\n{''.join(chunks)}"
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


@cache
def _asset(names: tuple[str, ...]) -> str:
    folder = files(__package__).joinpath("assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
