"""The same test asked of several models: side by side on the overview, and mutation by mutation on a test's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.html import charts
from pytest_promptfuzz.reporting.html.parts import badge, folded, heading, inline, scrolled, section, titled
from pytest_promptfuzz.reporting.words import operator_names, score_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.reporting.document import DocumentTest
    from pytest_promptfuzz.reporting.html.markup import Node

_SHOWN = 20


def families(tests: Sequence[DocumentTest]) -> dict[str, list[int]]:
    """The places of tests that are one test but for the model, by their name without it; no others.

    A test's ID names its model where that is a parameter; in a merged document one ID may stand several times.
    """
    found: dict[str, list[int]] = {}
    for place, test in enumerate(tests):
        found.setdefault(_without_model(test), []).append(place)
    return {
        name: places
        for name, places in found.items()
        if len({tests[place]["target"] for place in places}) == len(places) > 1
    }


def _without_model(test: DocumentTest) -> str:
    name, target = test["test"], test["target"]
    for each in (target, target.partition(":")[2], test["model"]):
        head, bracket, inside = name.partition("[")
        if each and bracket and each in inside:
            return f"{head}[{inside.replace(each, '*', 1)}"
    return name


def models_section(
    tests: Sequence[DocumentTest], hrefs: Sequence[str], found: dict[str, list[int]]
) -> list[Node]:
    """A row a test, a column a model."""
    if not found:
        return []
    targets = sorted({tests[place]["target"] for places in found.values() for place in places})
    rows: list[Node] = []
    for each, places in found.items():
        by_target = {tests[place]["target"]: place for place in places}
        cells = [_cell(tests, hrefs, by_target.get(target)) for target in targets]
        rows.append(["tr", ["th", {"scope": "row"}, titled(each)], *cells])
    head = [
        "thead",
        [
            "tr",
            ["th", {"scope": "col"}, "test"],
            *(["th", {"scope": "col"}, inline(each, 60)] for each in targets),
        ],
    ]

    def grid(chosen: Sequence[Node], more: str) -> Node:
        caption = ["caption.sr", f"The same tests on several models{more}"]
        return scrolled(
            f"Models side by side{more}", ["table.plain models", caption, head, ["tbody", *chosen]]
        )

    rest = (
        [folded([f"{len(rows) - _SHOWN:,} more"], grid(rows[_SHOWN:], ", the rest"))]
        if len(rows) > _SHOWN
        else []
    )
    return [section("models", "Models side by side", grid(rows[:_SHOWN], ""), *rest)]


def _cell(tests: Sequence[DocumentTest], hrefs: Sequence[str], place: int | None) -> Node:
    if place is None:
        return ["td", "–"]
    test = tests[place]
    return [
        "td",
        ["a.quiet", {"href": hrefs[place]}, badge(test["verdict"]), " ", score_text(test)],
        " ",
        charts.bar(test),
    ]


def beside_models(
    tests: Sequence[DocumentTest], hrefs: Sequence[str], places: Sequence[int], mine: int
) -> list[Node]:
    """What each mutation did to each model, this test's own first."""
    order = [mine, *(place for place in places if place != mine)]
    outcomes: list[dict[tuple[str, int], str]] = []
    names: dict[tuple[str, int], str] = {}
    for place in order:
        found: dict[tuple[str, int], str] = {}
        for trial in tests[place]["trials"]:
            key = (trial["id"], trial["case"])
            found.setdefault(key, trial["outcome"])
            names.setdefault(key, f"{operator_names(trial)} {trial['id'][:6]}")
        outcomes.append(found)
    heads = [
        [
            "th",
            {"scope": "col"},
            inline(tests[place]["target"], 60),
            ["br"],
            badge(tests[place]["verdict"]),
            " ",
        ]
        for place in order
    ]
    for place, cell in zip(order, heads, strict=True):
        score = score_text(tests[place])
        cell.append(score if place == mine else ["a", {"href": hrefs[place]}, score])
    rows = [
        [
            "tr",
            ["th", {"scope": "row"}, name],
            *(["td", badge(each[key]) if key in each else "–"] for each in outcomes),
        ]
        for key, name in names.items()
    ]
    grid = [
        "table.plain models",
        ["caption.sr", "Each mutation on each model"],
        ["thead", ["tr", ["th", {"scope": "col"}, "mutation"], *heads]],
        ["tbody", *rows],
    ]
    return [["section", heading(2, "The same test on other models"), scrolled("Mutations on models", grid)]]
