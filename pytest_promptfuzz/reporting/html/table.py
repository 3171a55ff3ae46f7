"""The table of all tests in the HTML page, its columns, and one test on several models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.html import parts
from pytest_promptfuzz.reporting.html.parts import (
    WORDS,
    badge,
    digits,
    folded,
    heading,
    inline,
    money,
    scrolled,
    section,
    text_key,
    titled,
)
from pytest_promptfuzz.reporting.model import untried
from pytest_promptfuzz.reporting.phrases import adjusted_text, operator_names, score_text
from pytest_promptfuzz.reporting.terminal.changes import shade, turned
from pytest_promptfuzz.reporting.terminal.summary import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.history.changes import ChangeReport, PointReport
    from pytest_promptfuzz.reporting.document import Document, DocumentTest, UnjudgedReport
    from pytest_promptfuzz.reporting.html.parts import Node


_RANKS = {"unjudged": 0, "brittle": 1, "noisy": 2, "inconclusive": 3, "pass": 4}
_COUNTS = {
    "equivalent": ("E", "equivalent answers"),
    "minor": ("M", "minor variations"),
    "deviation": ("D", "deviations"),
    "undecided": ("und", "undecided: no installed comparison can tell"),
    "error": ("err", "errors: trials that say nothing about the prompt"),
}


def tests_table(
    document: Document,
    ordered: Sequence[DocumentTest],
    hrefs: Sequence[str],
    changes: Sequence[ChangeReport | None],
    points: Sequence[Sequence[PointReport]],
) -> Node:
    """The table, with tests that were not judged before all others.

    Args:
        document: The run.
        ordered: Its tests, worst first.
        hrefs: Each one's address, in that order.
        changes: How each one compares with its base.
        points: Each one's earlier results.
    """
    any_change, any_point = any(changes), any(points)
    targets = list(dict.fromkeys(each["target"] for each in ordered))
    counted = [
        name for name in _COUNTS if name != "undecided" or any(each["counts"][name] for each in ordered)
    ]
    adjusted = any(map(adjusted_text, ordered))
    costs = any(each["cost"] is not None for each in ordered)
    columns = [
        ("verdict", "verdict", ""),
        ("test", "test", ""),
        ("score", "score", "number"),
        *([("adj", "adjusted", "number minor-column")] if adjusted else []),
        *([("change", "change", "number")] if any_change else []),
        *([("trend", "", "minor-column")] if any_point else []),
        *((_COUNTS[name][0], name, "number minor-column") for name in counted),
        ("calls", "calls", "number minor-column"),
        *([("cost", "cost", "number minor-column")] if costs else []),
        ("time", "time", "number minor-column"),
    ]
    rows = [_unjudged(each, len(columns)) for each in document["unjudged"]]
    for place, (test, href) in enumerate(zip(ordered, hrefs, strict=True)):
        change = changes[place]
        cells: list[Node] = [
            ["td", {"data-by": str(_RANKS.get(test["verdict"], 0))}, badge(test["verdict"]), *_outcome(test)],
            ["th", {"scope": "row"}, ["a", {"href": href}, titled(test["test"])], *_model(test, targets)],
            [
                "td.number",
                {"data-by": f"{-1 if test['score'] is None else test['score']}"},
                ["span.with-bar", parts.bar(test), score_text(test)],
            ],
        ]
        if adjusted:
            cells.append(_number(test["adjusted_score"] or 0, adjusted_text(test) or "–"))
        cells += [_change(change)] if any_change else []
        if any_point:
            cells.append(["td.minor-column", parts.sparkline(points[place], test)])
        counts = test["counts"]
        none = untried(test)
        cells += [
            _number(0, "–")
            if none
            else _number(counts[name], f"{counts[name]:,}", strong=name == "deviation")
            for name in counted
        ]
        cells.append(_number(test["spent"]["calls"], f"{test['spent']['calls']:,}"))
        cells += [_number(test["cost"] or 0, money(test["cost"]))] if costs else []
        cells.append(_number(test["spent"]["seconds"], seconds(test["spent"]["seconds"])))
        changed = change is not None and (
            change["status"] != "same" or bool(turned(change) or change["new_deviations"])
        )
        about = {
            "data-verdict": test["verdict"],
            "data-model": text_key(test["target"]),
            "data-chunk": f"t{place}",
        }
        rows.append(["tr", {**about, **({"data-changed": ""} if changed or test["drift"] else {})}, *cells])
    head = ["thead", ["tr", *(_heading(*column) for column in columns)]]
    body = ["tbody", *rows]
    caption = ["caption.sr", "Robust tests, worst first"]
    verdicts = sorted(
        {each["verdict"] for each in ordered} | ({"unjudged"} if document["unjudged"] else set()),
        key=lambda each: _RANKS.get(each, 0),
    )
    return section(
        "tests",
        "Tests",
        _controls(verdicts, targets, changed=any_change or any(each["drift"] for each in ordered)),
        ["p.count", {"role": "status", "id": "count"}],
        scrolled("Robust tests, table", ["table.tests", {"id": "tests"}, caption, head, body]),
        [
            "p.legend",
            _legend(adjusted=adjusted),
        ],
    )


def _legend(*, adjusted: bool) -> str:
    lead = "adj: the score adjusted for the model's own noise; " if adjusted else ""
    return f"{lead}E: equivalent; M: minor; D: deviations; err: errors (trials that say nothing about the prompt)."


def _heading(name: str, by: str, classes: str) -> Node:
    label = _COUNTS[by][1] if by in _COUNTS else ""
    inside: list[Node] = (
        [["button.sort", {"type": "button", "data-by": by, **({"title": label} if label else {})}, name]]
        if by
        else [name]
    )
    return [f"th.{classes}" if classes else "th", {"scope": "col"}, *inside]


def _outcome(test: DocumentTest) -> list[Node]:
    """What pytest makes of a verdict, where that is not what the verdict says."""
    expected = {"pass": "passed", "brittle": "failed"}.get(test["verdict"], "error")
    said = test["outcome"] not in {expected, "", "failed"}
    return [["span.model", inline(test["outcome"])]] if said else []


def _model(test: DocumentTest, targets: Sequence[str]) -> list[Node]:
    return [["span.model", inline(test["target"])]] if len(targets) > 1 else []


def _change(change: ChangeReport | None) -> Node:
    if change is None:
        return ["td.number", {"data-by": "0"}, "–"]
    difference = change["difference"]
    said = change["status"] if difference is None else digits(difference, "+.2f")
    if turned(change):
        said = turned(change) if not difference else f"{said} {turned(change)}"
    elif not difference and change["verdict"] != change["verdict_before"] and change["status"] != "new":
        said = f"{change['verdict_before']} → {change['verdict']}"
    return [
        "td.number",
        {"data-by": f"{difference or 0}"},
        [f"span.status is-{shade(change)}", {"title": turned(change) or change["status"]}, said],
    ]


def _number(value: float, said: str, *, strong: bool = False) -> Node:
    quiet = "" if value else " zero"
    return [
        f"td.number minor-column{' bad' if strong and value else ''}{quiet}",
        {"data-by": f"{value}"},
        said,
    ]


def _unjudged(each: UnjudgedReport, columns: int) -> Node:
    message = each["message"].strip().partition("\n")[0]
    return [
        "tr",
        {"data-verdict": "unjudged", "data-model": ""},
        ["td", {"data-by": "0"}, badge("unjudged")],
        ["th", {"scope": "row"}, titled(each["test"])],
        ["td", {"data-by": "-2", "colspan": str(columns - 2)}, f"{each['outcome']}: ", inline(message, 160)],
    ]


def _controls(verdicts: Sequence[str], targets: Sequence[str], *, changed: bool) -> Node:
    """Hidden until there is a script that they mean something to."""
    made: list[Node] = [
        [
            "label",
            ["span", "Find"],
            [
                "input",
                {"type": "search", "id": "find", "autocomplete": "off", "placeholder": "part of a name"},
            ],
        ],
        [
            "label",
            ["span", "Verdict"],
            [
                "select",
                {"id": "verdict"},
                ["option", {"value": ""}, "all"],
                *(["option", {"value": each}, WORDS.get(each, each)] for each in verdicts),
            ],
        ],
    ]
    if len(targets) > 1:
        options = (["option", {"value": text_key(each)}, each[:80]] for each in targets)
        made.append(
            [
                "label",
                ["span", "Model"],
                ["select", {"id": "model"}, ["option", {"value": ""}, "all"], *options],
            ]
        )
    if changed:
        made.append(
            ["label.check", ["input", {"type": "checkbox", "id": "changed"}], ["span", "changed only"]]
        )
    return [
        "form.controls",
        {"id": "controls", "role": "search", "aria-label": "Choose tests", "hidden": ""},
        *made,
        ["button", {"type": "reset"}, "Clear"],
    ]


# The same test asked of several models: side by side on the overview, and mutation by mutation on a test's page.


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
        parts.bar(test),
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
