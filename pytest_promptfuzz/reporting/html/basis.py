"""What a test's verdict rests on: figures, gold answers, a judge, the scores of each kind of change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.html.parts import digits, facts, folded, heading, inline, money, table
from pytest_promptfuzz.reporting.html.sides import beside
from pytest_promptfuzz.reporting.html.trials import spent_text
from pytest_promptfuzz.reporting.summary import seconds
from pytest_promptfuzz.reporting.words import count, interval_text, number, score_text

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.document import DocumentTest
    from pytest_promptfuzz.reporting.html.markup import Node
    from pytest_promptfuzz.reporting.model import GroupReport, TestReport
    from pytest_promptfuzz.reporting.varying import VarianceReport


def gold(test: TestReport) -> list[Node]:
    """How often answers are as expected, and the first wrong one of each input."""
    found = test["gold"]
    if found is None:
        return []
    pairs: list[tuple[str, Node | None]] = [
        ("As expected, unmutated", digits(found["accuracy"])),
        ("As expected, under mutation", digits(found["mutated"])),
        ("Drop", digits(found["drop"])),
        ("Inputs with a gold answer", f"{found['inputs']:,}"),
        ("Untold", f"{found['untold']:,}" if found["untold"] else None),
    ]
    wrong = [
        [
            "article",
            ["p.dim", _input(test, each["case"])],
            beside(each["expected"], each["answered"], names=("expected", "answered")),
        ]
        for each in found["wrong"]
    ]
    return [["section", heading(2, "Gold answers"), facts(pairs), *wrong]]


def _input(test: TestReport, case: int) -> str:
    return test["inputs"][case] if case < len(test["inputs"]) else f"example {case + 1}"


def judging(test: TestReport) -> list[Node]:
    """What a judge said, and how far it agrees with itself."""
    found = test["judging"]
    if not found:
        return []
    return [
        [
            "section",
            heading(2, "Judge"),
            facts((_plain(name), _value(value)) for name, value in found.items()),
        ]
    ]


def _plain(name: str) -> str:
    return str(name).replace("_", " ")


def _value(value: Any) -> Node | None:
    if value is None or value in ({}, []):
        return None
    if isinstance(value, dict):
        said = ", ".join(f"{_plain(key)} {_value(each)}" for key, each in value.items() if each is not None)
        return inline(said, 2_000)
    return digits(value, ".3g") if isinstance(value, float) else str(value)[:2_000]


def kinds(test: TestReport) -> list[Node]:
    """The scores by dimension, operator and relation, the lowest first."""
    made: list[Node] = []
    for title, groups in (
        ("By kind of change", test["by_dimension"]),
        ("By operator", test["by_operator"]),
        ("By relation", test["by_relation"] if len(test["by_relation"]) > 1 else {}),
    ):
        if groups:
            rows = [_group(name, group) for name, group in sorted(groups.items(), key=_lowest)]
            made.append(
                folded(
                    [title],
                    table(
                        title, ["", "score", "weighted", "deviations", "minor", "equivalent", "errors"], rows
                    ),
                )
            )
    made += _effects(test["variance"])
    return [["section", heading(2, "Scores by kind of change"), *made]] if made else []


def _effects(found: VarianceReport | None) -> list[Node]:
    """Operators against the others on the same inputs, the most harmful first."""
    if found is None or not (found["effects"] or found["notes"]):
        return []
    rows = [
        [
            each["operator"],
            digits(each["mean"], "+.2f"),
            f"{digits(each['low'], '+.2f')} to {digits(each['high'], '+.2f')}",
            f"{each['items']:,}",
            digits(each["p"], ".2g"),
        ]
        for each in found["effects"]
    ]
    listed = table("Operators against the others", ["", "difference", "95 %", "inputs", "p"], rows)
    notes: list[Node] = [["p.dim", inline(each, 600)] for each in found["notes"]]
    return [folded(["Operators against the others on the same inputs"], *([listed] if rows else []), *notes)]


def _lowest(named: tuple[str, GroupReport]) -> tuple[float, str]:
    score = named[1]["score"]
    return (2.0 if score is None else score), named[0]


def _group(name: str, group: GroupReport) -> list[Node]:
    counts = group["counts"]
    figures = [str(counts.get(each, 0)) for each in ("deviation", "minor", "equivalent", "error")]
    return [name, digits(group["score"]), digits(group["weighted"]), *figures]


def about(test: DocumentTest) -> list[Node]:
    """The figures: score, noise, what was asked, what it cost."""
    spent, noise = test["spent"], test["noise"]
    tokens = [each for each in (spent["input_tokens"], spent["output_tokens"]) if each is not None]
    said: list[tuple[str, Node | None]] = [
        ("Score", score_text(test)),
        (
            "Adjusted for noise",
            digits(test["adjusted_score"]) if test["adjusted_score"] is not None else None,
        ),
        ("Interval", _interval(test)),
        ("Threshold, gate", f"{number(test['threshold'])}, {test['gate']}"),
        (
            "Agrees with itself",
            f"{digits(noise['floor'])} ({count(noise['baselines'], 'answer')})" if noise else None,
        ),
        (
            "Asked again",
            f"{noise['repeats']:,} times, p = {digits(noise['p'], '.2g')}, "
            f"significance level {digits(noise['alpha'], '.2g')}"
            if noise and noise["p"] is not None
            else None,
        ),
        ("Target", inline(test["target"])),
        ("Model", inline(test["model"])),
        ("Task", test["task"]),
        ("Mutations asked for, seed", f"{test['planned']}, {test['seed']}"),
        ("Calls", spent_text(test)),
        ("Tokens", f"{sum(tokens):,}" if tokens else None),
        ("Cost", _cost(test)),
        ("Time", seconds(spent["seconds"])),
    ]
    return [["section", heading(2, "What it rests on"), facts(said)]]


def _interval(test: TestReport) -> str | None:
    interval = test["interval"]
    return (
        f"{interval_text(test)} at {interval['level']:.0%}, over {interval['estimand']}" if interval else None
    )


def _cost(test: TestReport) -> str | None:
    unknown = test["spent"]["unpriced"]
    if test["cost"] is None:
        return "not known" if unknown else None
    return money(test["cost"]) + (f" and {count(unknown, 'call')} of unknown price" if unknown else "")
