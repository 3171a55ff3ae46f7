"""The table of all tests in the HTML page: its columns, its rows by file, what chooses from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.reporting.document import is_accepted, target_of
from pytest_promptfuzz.reporting.html import charts
from pytest_promptfuzz.reporting.html.parts import (
    SIGNS,
    WORDS,
    badge,
    digits,
    inline,
    money,
    section,
    text_key,
    titled,
)
from pytest_promptfuzz.reporting.html.summaries import file_of
from pytest_promptfuzz.reporting.phrases import adjusted_text, deviation_texts
from pytest_promptfuzz.reporting.terminal.changes import called, shade, turned
from pytest_promptfuzz.reporting.terminal.summary import seconds
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.history.changes import ChangeReport, PointReport
    from pytest_promptfuzz.reporting.document import DocumentTest, UnjudgedReport
    from pytest_promptfuzz.reporting.html.parts import Node
    from pytest_promptfuzz.reporting.html.summaries import TestBrief


STATIC = 100
"""Rows that a browser shows without a script, and before the script has read the others."""
RANKS = {"unjudged": 0, "brittle": 1, "noisy": 2, "inconclusive": 3, "pass": 4}
_MOST = 1e300
_OUTCOMES = ("deviation", "minor", "equivalent", "undecided", "error")
_NAMES = {"minor": "minor variation", "equivalent": "equivalent answer", "undecided": "undecided trial"}


class Column(NamedTuple):
    """A column of the table: how it is headed, what it sorts by (nothing: not at all), its classes."""

    name: str
    by: str
    classes: str


class TableRow(NamedTuple):
    """A row as the page's script gets it; ``keys`` are what the columns sort by, ``node`` is what is shown."""

    href: str
    page: str
    verdict: str
    model: str
    changed: bool
    keys: list[float | str]
    node: list[Node]

    def to_data(self, group: int) -> list[object]:
        """As JSON has it.

        Args:
            group: The place of its file among all.
        """
        return [
            group,
            self.href,
            self.page,
            self.verdict,
            self.model,
            int(self.changed),
            self.keys,
            self.node,
        ]


class TestsTable:
    """The table of a run's tests, by file.

    Args:
        tests: All of them.
        changes: How each one compares with its base, by its place in the document.
        points: Each one's earlier results, likewise.
    """

    def __init__(
        self,
        tests: Sequence[TestBrief],
        changes: Sequence[ChangeReport | None],
        points: Sequence[Sequence[PointReport]],
    ) -> None:
        self._changes, self._points = changes, points
        self._targets = list(dict.fromkeys(each.test["target"] for each in tests))
        self._costs = any(each.test["cost"] is not None for each in tests)
        self._any_change, self._any_point = any(changes), any(points)
        self._drift = any(each.test["drift"] for each in tests)

    @property
    def columns(self) -> list[Column]:
        """The columns that say something of this run."""
        return [
            Column("verdict", "verdict", "col-verdict"),
            Column("test", "test", "col-test"),
            Column("score", "score", "col-score"),
            *([Column("change", "change", "number col-change")] if self._any_change else []),
            *([Column("trend", "", "minor-column col-trend")] if self._any_point else []),
            Column("deviations", "deviation", "minor-column col-trials"),
            Column("calls", "calls", "number minor-column col-calls"),
            *([Column("cost", "cost", "number minor-column col-cost")] if self._costs else []),
            Column("time", "time", "number minor-column col-time"),
        ]

    def row(self, brief: TestBrief, href: str, page: str) -> TableRow:
        """The row of a test.

        Args:
            brief: The test.
            href: The address of its page.
            page: The data of its page.
        """
        test, change = brief.test, self._changes[brief.place]
        cells: list[tuple[float | str | None, Node]] = [
            (RANKS.get(test["verdict"], 0), ["td", badge(test["verdict"]), *_outcome(test)]),
            (test["test"].lower(), self._name(brief, href)),
            (-1 if test["score"] is None else test["score"], ["td", *_score(brief)]),
        ]
        cells += [_change(change)] if self._any_change else []
        if self._any_point:
            cells.append((None, ["td.minor-column", charts.sparkline(self._points[brief.place], test)]))
        cells.append((test["counts"]["deviation"], ["td.minor-column", *_trials(brief)]))
        cells.append(_number(test["spent"]["calls"], f"{test['spent']['calls']:,}"))
        cells += [_number(test["cost"] or 0, money(test["cost"]))] if self._costs else []
        cells.append(_number(test["spent"]["seconds"], seconds(test["spent"]["seconds"])))
        moved = change is not None and (
            change["status"] != "same"
            or change.get("answer") == "changed"
            or bool(turned(change) or change["new_deviations"])
        )
        return TableRow(
            href,
            page,
            test["verdict"],
            text_key(test["target"]),
            moved or bool(test["drift"]),
            [_key(key) for key, _ in cells if key is not None],
            [node for _, node in cells],
        )

    def unjudged_row(self, test: UnjudgedReport, href: str, page: str) -> TableRow:
        """The row of a test without a verdict: why it has none stands where others have their first deviation."""
        message = test["message"].strip().partition("\n")[0] or "(no message)"
        target = target_of(test)
        name: Node = [
            "th",
            {"scope": "row"},
            *_link(test["test"], href, file_of(test["test"], test["location"])),
            *([["span.model", inline(target)]] if target and self._targets != [target] else []),
            ["span.finding", ["span.answers", f"{test['outcome']}: ", inline(message, 300)]],
        ]
        columns = self.columns
        blank: list[Node] = [[f"td.{each.classes}", "–"] for each in columns[2:]]
        keys: list[float | str] = [0, test["test"].lower(), -2, *(0 for each in columns[3:] if each.by)]
        return TableRow(
            href,
            page,
            "unjudged",
            text_key(target or ""),
            False,
            keys,
            [["td", badge("unjudged")], name, *blank],
        )

    def _name(self, brief: TestBrief, href: str) -> Node:
        test = brief.test
        target: list[Node] = [["span.model", inline(test["target"])]] if len(self._targets) > 1 else []
        said: list[Node] = [["span.finding", *brief.finding]] if brief.finding else []
        return ["th", {"scope": "row"}, *_link(test["test"], href, brief.file), *target, *said]

    def group(self, file: str, counts: Mapping[str, int]) -> Node:
        """The row above the tests of a file.

        Args:
            file: The file.
            counts: How many of its tests came to which verdict.
        """
        tally: list[Node] = [
            [
                f"span.tally is-{each}",
                ["span.sign", {"aria-hidden": "true"}, SIGNS.get(each, "·")],
                f" {counts[each]:,}",
                ["span.sr", f" {WORDS.get(each, each)} "],
            ]
            for each in sorted(counts, key=lambda each: RANKS.get(each, 0))
        ]
        minor = sum("minor-column" in each.classes for each in self.columns)
        # What is not shown on a phone is no part of the heading's width.
        about = {"scope": "rowgroup", "colspan": str(len(self.columns) - minor)}
        rest: Node = ["td.minor-column", {"colspan": str(minor)}]
        return ["tr.group", ["th", about, ["span.file", titled(file)], *tally], rest]

    def section(self, counts: Mapping[str, int], bodies: Sequence[Node]) -> Node:
        """The table with what chooses from it.

        Args:
            counts: How many tests came to which verdict, the worst first.
            bodies: The rows that stand in the page itself, by file.
        """
        caption = ["caption.sr", "Robust tests by file; the files with the worst tests stand first"]
        return section(
            "tests",
            "Tests",
            self._controls(counts),
            ["p.count", {"role": "status", "id": "count"}, counted(sum(counts.values()), "test")],
            ["table.tests", {"id": "tests"}, caption, *self._head(), *bodies],
        )

    def _head(self) -> list[Node]:
        """The widths of the columns, and their headings."""
        columns = self.columns
        widths: Node = ["colgroup", *([f"col.{each.classes}"] for each in columns)]
        return [widths, ["thead", ["tr", *map(_heading, columns)]]]

    def _controls(self, counts: Mapping[str, int]) -> Node:
        """Hidden until there is a script that they mean something to."""
        said = "a test, a file, a model, an answer"
        made: list[Node] = [
            [
                "label.find",
                ["span.sr", "Find"],
                [
                    "input",
                    {"type": "search", "id": "find", "autocomplete": "off", "placeholder": f"Find {said}"},
                ],
            ],
            ["ul.tiles", {"aria-label": "Verdicts"}, *_tiles(counts)],
        ]
        if len(self._targets) > 1:
            options = (["option", {"value": text_key(each)}, each[:80]] for each in self._targets)
            every: Node = ["option", {"value": ""}, "all models"]
            made.append(["label", ["span.sr", "Model"], ["select", {"id": "model"}, every, *options]])
        if self._any_change or self._drift:
            made.append(
                ["label.check", ["input", {"type": "checkbox", "id": "changed"}], ["span", "changed only"]]
            )
        about = {"id": "controls", "role": "search", "aria-label": "Choose tests", "hidden": ""}
        return ["form.controls", about, *made, ["button", {"type": "reset"}, "Clear"]]


def _tiles(counts: Mapping[str, int]) -> list[Node]:
    """The verdicts, each with how many tests came to it: choosing one shows those tests only."""
    return [
        [
            "li",
            [
                f"a.tile is-{each}",
                {"href": f"#/?verdict={each}", "data-verdict": each},
                ["span.sign", {"aria-hidden": "true"}, SIGNS.get(each, "·")],
                ["span.amount", f"{amount:,}"],
                ["span", verdict_word(each)],
            ],
        ]
        for each, amount in counts.items()
    ]


def verdict_word(verdict: str) -> str:
    """A verdict as a sentence has it: ``passed``, ``not judged``."""
    return "passed" if verdict == "pass" else WORDS.get(verdict, verdict)


def brief_row(row: TableRow, test: str, score: str) -> Node:
    """A row of the tests beyond the first ones, for browsers that run no script: its verdict, name and score."""
    return [
        "tr",
        ["td", WORDS.get(row.verdict, row.verdict)],
        ["th", {"scope": "row"}, inline(test)],
        ["td", score],
    ]


def _heading(column: Column) -> Node:
    inside: Node = column.name
    if column.by:
        inside = ["button.sort", {"type": "button", "data-by": column.by}, column.name]
    return [f"th.{column.classes}", {"scope": "col"}, inside]


def _link(test: str, href: str, file: str) -> list[Node]:
    """A test's name without its file, which stands above it; where tests are not shown by file, it stands here."""
    return [
        ["a", {"href": href}, titled(test.partition("::")[2] or test)],
        ["span.model where", titled(file)],
    ]


def _outcome(test: DocumentTest) -> list[Node]:
    """What pytest makes of a verdict, where that is not what the verdict says."""
    expected = {"pass": "passed", "brittle": "failed"}.get(test["verdict"], "error")
    if is_accepted(test) and (accepted := test["accepted"]) is not None:
        return [["span.model", f"accepted until {accepted['until']}"]]
    said = test["outcome"] not in {expected, "", "failed"}
    return [["span.model", inline(test["outcome"])]] if said else []


def _score(brief: TestBrief) -> list[Node]:
    bar: Node = (
        ["span", ""] if brief.test["score"] is None and brief.score == "-" else charts.bar(brief.test, 56)
    )
    adjusted = adjusted_text(brief.test)
    return [
        ["span.with-bar", bar, ["span", "–" if brief.score == "-" else brief.score]],
        *([["span.model", f"{adjusted} adjusted"]] if adjusted else []),
    ]


def _trials(brief: TestBrief) -> list[Node]:
    """How many trials deviate, of those that were made; errors and what nothing can tell stand below."""
    counts = brief.test["counts"]
    if brief.untried or not any(counts[name] for name in _OUTCOMES):
        return ["–"]
    shown, silent = deviation_texts(counts)
    every = ", ".join(_amount(counts[name], name) for name in _OUTCOMES if counts[name])
    made: list[Node] = [
        ["span.with-bar", charts.outcomes(counts), ["span", {"title": every}, shown]],
        *([["span.model", silent]] if silent else []),
    ]
    return made


def _amount(amount: int, outcome: str) -> str:
    return (
        f"{amount:,} undecided" if outcome == "undecided" else counted(amount, _NAMES.get(outcome, outcome))
    )


def _change(change: ChangeReport | None) -> tuple[float, Node]:
    """The difference of the scores, or what became of the verdict; a dash where neither changed."""
    if change is None:
        return 0, ["td.number", "–"]
    difference = change["difference"]
    said = digits(difference, "+.3g") if difference else ""
    if turned(change):
        said = f"{said} {turned(change)}".strip()
    elif change.get("answer") == "changed":
        said = f"{said} answer changed".strip()
    elif not said and change["status"] in {"new", "unpaired"}:
        said = called(change)
    elif not said and change["verdict"] != change["verdict_before"]:
        said = f"{change['verdict_before']} → {change['verdict']}"
    if not said:
        return 0, ["td.number", "–"]
    status = [f"span.status is-{shade(change)}", {"title": called(change)}, said]
    return difference or 0, ["td.number", status]


def _number(value: float, said: str) -> tuple[float, Node]:
    return value, [f"td.number minor-column{'' if value else ' zero'}", said]


def _key(value: float | str) -> float | str:
    """What can be sorted by, and written as JSON."""
    if isinstance(value, str):
        return value
    try:
        known = float(value)
    except OverflowError:
        return _MOST
    return max(-_MOST, min(_MOST, known)) if known == known else -1  # noqa: PLR0124 - not a number
