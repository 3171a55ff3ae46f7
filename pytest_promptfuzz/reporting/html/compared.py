"""What changed since the run that this one is compared with, and since what was accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.changes import counted, shade, turned
from pytest_promptfuzz.reporting.html.parts import digits, folded, inline, scrolled, section, titled
from pytest_promptfuzz.reporting.words import count, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.history.changes import BaseReport, ChangeReport, ChangesReport, Status
    from pytest_promptfuzz.reporting.document import DocumentTest
    from pytest_promptfuzz.reporting.html.markup import Node

_SHOWN = 10
SAID: Mapping[Status, str] = {
    "worse": "worse",
    "better": "better",
    "lower": "lower, within noise",
    "higher": "higher, within noise",
    "same": "the same",
    "unpaired": "not comparable",
    "new": "new",
    "gone": "gone",
}
_DRIFT = {
    "model": "model",
    "prompt": "prompt",
    "comparator": "comparison",
}


def changes(found: ChangesReport | None, hrefs: Mapping[str | tuple[str, str], str]) -> list[Node]:
    """The run beside its base: conditions that are not met, then tests, those that changed most first.

    Args:
        found: How it compares.
        hrefs: Addresses of tests by name, and by name and target where several have one name.
    """
    if found is None:
        return []
    failed: list[Node] = []
    for each in found["conditions"]:
        if each["tests"]:
            names = [["li", _link(test, hrefs)] for test in each["tests"][:_SHOWN]]
            rest = len(each["tests"]) - _SHOWN
            names += [["li.dim", f"and {rest:,} more"]] if rest > 0 else []
            failed.append(
                [
                    "div.alarm",
                    ["p", ["b", "Failed condition: "], ["code", each["expression"]]],
                    ["ul", *names],
                ]
            )
    fresh = sum(len(each["new_deviations"]) for each in found["tests"])
    mended = sum(len(each["mended"]) for each in found["tests"])
    summed = [f"{amount:,} {said}" for amount, said in counted(found["tests"], SAID)]
    summed += [count(fresh, "new deviation")] if fresh else []
    summed += [f"{mended:,} mended"] if mended else []
    moved = [each for each in found["tests"] if each["status"] != "same" or each["new_deviations"]]
    body: list[Node] = [["p", *_base(found["base"])], ["p", f"{'; '.join(summed) or 'No test in common'}."]]
    if moved:
        body.append(_table(moved[:_SHOWN], hrefs))
    if len(moved) > _SHOWN:
        body.append(folded([f"{len(moved) - _SHOWN:,} more"], _table(moved[_SHOWN:], hrefs)))
    return [section("changes", "What changed", *failed, *body)]


def _base(base: BaseReport) -> list[Node]:
    made: list[Node] = ["Compared with ", inline(base["label"])]
    about = [base["started"][:16].replace("T", " "), base["commit"][:12], base["branch"]]
    said = ", ".join(each for each in about if each)
    return [*made, *([" (", inline(said), ")"] if said else []), "."]


def _table(tests: Sequence[ChangeReport], hrefs: Mapping[str | tuple[str, str], str]) -> Node:
    names = ("test", "change", "verdict", "score", "trials", "p", "why")
    head = ["thead", ["tr", *(["th", {"scope": "col"}, name] for name in names)]]
    rows = [
        [
            "tr",
            ["th", {"scope": "row"}, *_name(each, hrefs)],
            ["td", status(each)],
            ["td", _then(each["verdict_before"], each["verdict"])],
            ["td.number", _then(number(each["score_before"]), number(each["score"]))],
            ["td", _trials(each)],
            ["td.number", digits(each["adjusted_p"] if each["adjusted_p"] is not None else each["p"], ".2g")],
            ["td.said", inline(each["explanation"])],
        ]
        for each in tests
    ]
    return scrolled(
        "What changed, table",
        ["table.plain moves", ["caption.sr", "Tests that changed"], head, ["tbody", *rows]],
    )


def status(change: ChangeReport) -> Node:
    """What a test came to against its base."""
    said = turned(change) or SAID.get(change["status"], change["status"])
    return [f"span.status is-{shade(change)}", said]


def _trials(change: ChangeReport) -> str:
    fresh, mended = len(change["new_deviations"]), len(change["mended"])
    said = [count(fresh, "new deviation")] if fresh else []
    return ", ".join([*said, *([f"{mended:,} mended"] if mended else [])]) or "–"


def _then(before: str, now: str) -> str:
    return now or "–" if before == now else f"{before or '–'} → {now or '–'}"


def _name(change: ChangeReport, hrefs: Mapping[str | tuple[str, str], str]) -> list[Node]:
    test, target = change["test"], change.get("target", "")
    if (test, target) not in hrefs:
        return [_link(test, hrefs)]
    return [
        ["a", {"href": hrefs[test, target]}, titled(test)],
        " ",
        ["span.model", inline(target)],
    ]


def _link(test: str, hrefs: Mapping[str | tuple[str, str], str]) -> Node:
    return ["a", {"href": hrefs[test]}, titled(test)] if test in hrefs else titled(test)


def drifted(tests: Sequence[DocumentTest], hrefs: Sequence[str]) -> list[Node]:
    """The tests that are not what their snapshots say, whatever their robustness."""
    found = [
        [
            "li",
            [f"span.status is-{one['policy']}", _DRIFT.get(one["kind"], one["kind"])],
            " ",
            ["a", {"href": href}, titled(test["test"])],
            " ",
            inline(one["message"]),
        ]
        for test, href in zip(tests, hrefs, strict=True)
        for one in test["drift"]
    ]
    if not found:
        return []
    more = [folded([f"{len(found) - _SHOWN:,} more"], ["ul", *found[_SHOWN:]])] if len(found) > _SHOWN else []
    return [section("drift", "Drift from snapshots", ["ul.drifts", *found[:_SHOWN]], *more)]
