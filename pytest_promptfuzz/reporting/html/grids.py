"""Grids of the HTML page: tests × kinds of mutation (the heat map), and tests × models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.html import charts
from pytest_promptfuzz.reporting.html.parts import (
    WORDS,
    badge,
    heading,
    inline,
    scrolled,
    section,
    titled,
)
from pytest_promptfuzz.reporting.phrases import operator_names, score_text
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_promptfuzz.reporting.document import DocumentTest
    from pytest_promptfuzz.reporting.html.parts import Node
    from pytest_promptfuzz.reporting.html.summaries import KindScore, TestBrief


# The heat map: tests × operators, or × dimensions; where prompts break, at a glance.


SHOWN = 50
_KINDS = (("dimensions", "by_dimension"), ("operators", "by_operator"))
_STEPS = ((1.0, 0), (0.85, 1), (0.6, 2), (0.3, 3))  # the least score of each shade; below all of them 4


class HeatMap:
    """The scores of tests by kind of mutation.

    Args:
        tests: The tests, worst first.
        hrefs: Each one's address, by its place in the document.
    """

    def __init__(self, tests: Sequence[TestBrief], hrefs: Mapping[int, str]) -> None:
        self._tests = [each for each in tests if any(each.kinds.values())]
        self._hrefs = hrefs
        self._several = len({each.test["target"] for each in tests}) > 1
        self._columns = {key: _columns(self._tests, key) for _, key in _KINDS}

    def section(self) -> list[Node]:
        """The map of the worst tests."""
        made = [self._grid(kind, key) for kind, key in _KINDS if self._columns[key]]
        if not made:
            return []
        switch = [
            ["button", {"type": "button", "data-heat": kind, "aria-pressed": "false"}, kind]
            for kind, _ in _KINDS
        ]
        about = ["p.legend", "Each cell is the score of one kind of mutation: ", *_shades()]
        buttons: Node = ["p.switch", {"id": "heat-switch", "hidden": ""}, *switch]
        return [section("heat", "Where prompts break", buttons, about, *made)]

    def rest(self) -> Iterator[tuple[str, list[Node], Iterator[list[Any]]]]:
        """The rows beyond the first ones, a kind at a time: the name of their data, all cells, the rows.

        Cells are few and rows are many: a row names its cells by their places.
        """
        for kind, key in _KINDS:
            if len(self._tests) <= SHOWN or not self._columns[key]:
                continue
            places: dict[KindScore | None, int] = {}
            for test in self._tests:
                for name in self._columns[key]:
                    places.setdefault(test.kinds[key].get(name), len(places))
            yield _data(kind), [_cell(each) for each in places], self._short(key, places)

    def _short(self, key: str, places: Mapping[KindScore | None, int]) -> Iterator[list[Any]]:
        for test in self._tests[SHOWN:]:
            cells = [places[test.kinds[key].get(name)] for name in self._columns[key]]
            yield [self._name(test), cells]

    def _grid(self, kind: str, key: str) -> Node:
        columns, into = self._columns[key], f"heat-{kind}-rows"
        head = [
            "thead",
            [
                "tr",
                ["th", {"scope": "col"}, "test"],
                *(["th", {"scope": "col"}, ["span.turned", name]] for name in columns),
            ],
        ]
        rows = [
            ["tr", self._name(test), *(_cell(test.kinds[key].get(name)) for name in columns)]
            for test in self._tests[:SHOWN]
        ]
        caption = ["caption.sr", f"Scores of tests by {kind}, worst first"]
        grid: Node = [f"table.heat is-{kind}", caption, head, ["tbody", {"id": into}, *rows]]
        left = len(self._tests) - SHOWN
        more = [more_button(_data(kind), into, left)] if left > 0 else []
        return ["div.heat-kind", {"id": f"heat-{kind}"}, scrolled(f"Tests by {kind}", grid), *more]

    def _name(self, brief: TestBrief) -> Node:
        target: list[Node] = [["span.model", inline(brief.test["target"], 60)]] if self._several else []
        link: Node = ["a", {"href": self._hrefs[brief.place]}, titled(brief.test["test"])]
        return ["th", {"scope": "row"}, link, *target]


def _data(kind: str) -> str:
    return f"heat-{kind}-rest"


def _shades() -> list[Node]:
    said = ("1.00 (·)", "from 0.85", "from 0.60", "from 0.30", "below")
    shades: list[Node] = [["span.shade", [f"span.key heat-{shade}"], text] for shade, text in enumerate(said)]
    return [*shades, ["span.shade", "?: no trial counts"]]


def _columns(tests: Sequence[TestBrief], key: str) -> list[str]:
    """Those that lost most credit first."""
    lost: dict[str, float] = {}
    for test in tests:
        for name, kind in test.kinds[key].items():
            lost[name] = lost.get(name, 0.0) + (0.0 if kind.score is None else 1.0 - kind.score)
    return sorted(lost, key=lambda name: (-lost[name], name))


def _cell(kind: KindScore | None) -> Node:
    """What it says aloud is no less than what its colour says."""
    if kind is None:
        return ["td.none"]
    if kind.score is None:
        said = ", ".join(_amount(amount, name) for name, amount in kind.outcomes)
        return ["td.heat-none", ["span.sr", said], ["span", {"aria-hidden": "true"}, "?"]]
    shade = next((shade for least, shade in _STEPS if kind.score >= least), 4)
    shown = "·" if kind.score == 1 else f"{kind.score:.2f}".removeprefix("0")
    deviate = "deviates" if kind.broken == 1 else "deviate"
    said = f"{kind.score:.2f}, {kind.broken} of {counted(kind.total, 'trial')} {deviate}"
    return [f"td.heat-{shade}", ["span.sr", said], ["span", {"aria-hidden": "true"}, shown]]


def _amount(amount: int, outcome: str) -> str:
    """How many trials came to that: ``3 errors``, ``2 not needed``."""
    return counted(amount, "error") if outcome == "error" else f"{amount:,} {WORDS.get(outcome, outcome)}"


# The same test asked of several models: side by side on the overview, and mutation by mutation on a test's page.


SHOWN_MODELS = 20
"""Tests that are shown side by side without being asked for."""


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
    tests: Sequence[TestBrief], hrefs: Mapping[int, str], found: Mapping[str, Sequence[int]]
) -> tuple[list[Node], list[Node]]:
    """A row a test, a column a model; and the rows beyond the first ones.

    Args:
        tests: The tests, in the order of the document.
        hrefs: Each one's address, by its place.
        found: What :func:`families` found.
    """
    if not found:
        return [], []
    targets = sorted({tests[place].test["target"] for places in found.values() for place in places})
    rows: list[Node] = []
    passed = dict.fromkeys(targets, 0)
    asked = dict.fromkeys(targets, 0)
    for each, places in found.items():
        by_target = {tests[place].test["target"]: tests[place] for place in places}
        for target, one in by_target.items():
            asked[target] += 1
            passed[target] += one.test["verdict"] == "pass"
        cells = [_model_cell(by_target.get(target), hrefs) for target in targets]
        rows.append(["tr", ["th", {"scope": "row"}, titled(each)], *cells])
    heads = [
        [
            "th",
            {"scope": "col"},
            inline(each, 60),
            ["span.model", f"{passed[each]:,} of {asked[each]:,} passed"],
        ]
        for each in targets
    ]
    grid: Node = [
        "table.plain models",
        ["caption.sr", "The same tests on several models"],
        ["thead", ["tr", ["th", {"scope": "col"}, "test"], *heads]],
        ["tbody", {"id": "models-rows"}, *rows[:SHOWN_MODELS]],
    ]
    rest = rows[SHOWN_MODELS:]
    shown: list[Node] = [scrolled("Models side by side", grid)]
    shown += [more_button("models-rest", "models-rows", len(rest))] if rest else []
    return [section("models", "Models side by side", *shown)], rest


def more_button(data: str, into: str, amount: int) -> Node:
    """A button that brings further rows of a table, some at a time; there is none without a script.

    Args:
        data: Where the rows are.
        into: The ID of the body that they come into.
        amount: How many there are.
    """
    about = {"type": "button", "data-chunk": data, "data-into": into, "data-left": str(amount), "hidden": ""}
    return ["p", ["button.more", about, f"Show more ({amount:,} left)"]]


def _model_cell(brief: TestBrief | None, hrefs: Mapping[int, str]) -> Node:
    if brief is None:
        return ["td", "–"]
    score = "–" if brief.score == "-" else brief.score
    link: Node = ["a.quiet", {"href": hrefs[brief.place]}, badge(brief.test["verdict"]), " ", score]
    return ["td", ["span.model-score", charts.bar(brief.test, 160), link]]


def beside_models(family: Sequence[tuple[DocumentTest, str]]) -> list[Node]:
    """What each mutation did to each model.

    Args:
        family: The same test of several models, each with the address of its page; the one that is shown first.
    """
    outcomes: list[dict[tuple[str, int], str]] = []
    names: dict[tuple[str, int], str] = {}
    heads: list[Node] = []
    for place, (test, href) in enumerate(family):
        found: dict[tuple[str, int], str] = {}
        for trial in test["trials"]:
            key = (trial["id"], trial["case"])
            found.setdefault(key, trial["outcome"])
            names.setdefault(key, f"{operator_names(trial)} {trial['id'][:6]}")
        outcomes.append(found)
        score: Node = ["a", {"href": href}, score_text(test)] if place else score_text(test)
        about: list[Node] = [badge(test["verdict"]), " ", score]
        heads.append(["th", {"scope": "col"}, inline(test["target"], 60), ["br"], *about])
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
