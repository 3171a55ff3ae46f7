"""Tests × operators, or × dimensions: where prompts break, at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.html.parts import inline, scrolled, section, titled
from pytest_promptfuzz.reporting.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.reporting.document import DocumentTest
    from pytest_promptfuzz.reporting.html.markup import Node
    from pytest_promptfuzz.reporting.model import GroupReport

SHOWN = 50
_KINDS = (("dimensions", "by_dimension"), ("operators", "by_operator"))
_STEPS = ((1.0, 0), (0.85, 1), (0.6, 2), (0.3, 3))  # the least score of each shade; below all of them 4


def heat(ordered: Sequence[DocumentTest], hrefs: Sequence[str]) -> tuple[list[Node], dict[str, list[Node]]]:
    """The section, and the rows beyond the first ones, by the names of their chunks.

    Args:
        ordered: The tests, worst first.
        hrefs: Each one's address.
    """
    made: list[Node] = []
    rest: dict[str, list[Node]] = {}
    several = len({each["target"] for each in ordered}) > 1
    for kind, key in _KINDS:
        columns = _columns(ordered, key)
        if not columns:
            continue
        rows = [
            _row(test, href, key, columns, several=several)
            for test, href in zip(ordered, hrefs, strict=True)
            if test["by_operator"] or test["by_dimension"]
        ]
        head = [
            "thead",
            [
                "tr",
                ["th", {"scope": "col"}, "test"],
                *(["th", {"scope": "col"}, ["span.turned", name]] for name in columns),
            ],
        ]
        body: Node = ["tbody", {"id": f"heat-{kind}-rows"}, *rows[:SHOWN]]
        grid: Node = [
            f"table.heat is-{kind}",
            ["caption.sr", f"Scores of tests by {kind}, worst first"],
            head,
            body,
        ]
        block: list[Any] = ["div.heat-kind", {"id": f"heat-{kind}"}, scrolled(f"Tests by {kind}", grid)]
        if len(rows) > SHOWN:
            name = f"heat-{kind}-rest"
            rest[name] = rows[SHOWN:]
            said = f"Show all {len(rows):,} tests (the {SHOWN} worst are shown)"
            block.append(
                [
                    "p",
                    [
                        "button.more",
                        {
                            "type": "button",
                            "data-chunk": name,
                            "data-into": f"heat-{kind}-rows",
                            "hidden": "",
                        },
                        said,
                    ],
                ]
            )
        made.append(block)
    if not made:
        return [], {}
    switch = [
        ["button", {"type": "button", "data-heat": kind, "aria-pressed": "false"}, kind] for kind, _ in _KINDS
    ]
    about = ["p.legend", "Each cell is the score of a test's changes of that kind: ", *_shades()]
    return [
        section(
            "heat",
            "Where prompts break",
            ["p.switch", {"id": "heat-switch", "hidden": ""}, *switch],
            about,
            *made,
        )
    ], rest


def _shades() -> list[Node]:
    said = ("1.00 (·)", "from 0.85", "from 0.60", "from 0.30", "below")
    shades: list[Node] = [["span.shade", [f"span.key heat-{shade}"], text] for shade, text in enumerate(said)]
    return [*shades, ["span.shade", "? no answer that counts"]]


def _columns(tests: Sequence[DocumentTest], key: str) -> list[str]:
    """Those that lost most credit first."""
    lost: dict[str, float] = {}
    for test in tests:
        groups: dict[str, GroupReport] = test[key]  # type: ignore[literal-required]
        for name, group in groups.items():
            score = group["score"]
            lost[name] = lost.get(name, 0.0) + (0.0 if score is None else 1.0 - score)
    return sorted(lost, key=lambda name: (-lost[name], name))


def _row(test: DocumentTest, href: str, key: str, columns: Sequence[str], *, several: bool) -> Node:
    groups: dict[str, GroupReport] = test[key]  # type: ignore[literal-required]
    target: list[Node] = [["span.model", inline(test["target"], 60)]] if several else []
    return [
        "tr",
        ["th", {"scope": "row"}, ["a", {"href": href}, titled(test["test"])], *target],
        *(_cell(groups.get(name)) for name in columns),
    ]


def _cell(group: GroupReport | None) -> Node:
    """What it says aloud is no less than what its colour says."""
    if group is None:
        return ["td.none"]
    score, counts = group["score"], group["counts"]
    if score is None:
        said = "no score, " + ", ".join(f"{amount} {name}" for name, amount in counts.items() if amount)
        return ["td.heat-none", ["span.sr", said], ["span", {"aria-hidden": "true"}, "?"]]
    shade = next((shade for least, shade in _STEPS if score >= least), 4)
    broken = counts.get("deviation", 0)
    total = sum(counts.values())
    shown = "·" if score == 1 else f"{score:.2f}".removeprefix("0")
    said = f"{score:.2f}, {broken} of {count(total, 'trial')} deviate"
    return [f"td.heat-{shade}", ["span.sr", said], ["span", {"aria-hidden": "true"}, shown]]
