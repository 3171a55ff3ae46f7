"""The page of one test: the verdict and why, the smallest change that breaks it, its trials, what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from pytest_promptfuzz.reporting.html import basis, charts
from pytest_promptfuzz.reporting.html.compared import status
from pytest_promptfuzz.reporting.html.edits import changed, whole
from pytest_promptfuzz.reporting.html.parts import (
    badge,
    block,
    cut,
    digits,
    facts,
    folded,
    heading,
    inline,
    key,
    table,
    terminal,
    titled,
)
from pytest_promptfuzz.reporting.html.sides import answer, beside
from pytest_promptfuzz.reporting.html.trials import trial_node, trials
from pytest_promptfuzz.reporting.judged import verdict_lines
from pytest_promptfuzz.reporting.varying import varying_lines
from pytest_promptfuzz.reporting.words import count, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.history.changes import ChangeReport, PastRunReport, PointReport
    from pytest_promptfuzz.reporting.counterexamples import CounterexampleReport
    from pytest_promptfuzz.reporting.document import DocumentTest
    from pytest_promptfuzz.reporting.drift import DriftReport
    from pytest_promptfuzz.reporting.html.markup import Node
    from pytest_promptfuzz.reporting.model import TestReport

_LINKED = 20
_REPLAYED = {
    "breaks": "still breaks",
    "passes": "passes now",
    "elsewhere": "passes here",
    "varies": "breaks now and then",
    "gone": "has no place any more",
    "unanswered": "could not be asked",
}
_DRIFT = {
    "model": "Model",
    "prompt": "Prompt",
    "comparator": "Comparison",
}


def details(
    test: DocumentTest,
    href: str,
    *,
    change: ChangeReport | None = None,
    runs: Sequence[PastRunReport] = (),
    points: Sequence[PointReport] = (),
    models: Sequence[Node] = (),
) -> list[Node]:
    """All that is known of one test.

    Args:
        test: Its report, whole.
        href: The address of its page.
        change: How it compares with its base.
        runs: Earlier runs.
        points: Its results in them.
        models: What stands beside it where the same test was asked of other models.
    """
    every: list[Node] = [
        *_top(test),
        *_counterexamples(test),
        *_drift(test["drift"]),
        *_changed(change, href),
        *models,
        *trials(test),
        *_searched(test),
        *_replayed(test),
        *_prompt(test),
        *basis.gold(test),
        *basis.judging(test),
        *basis.kinds(test),
        *_course(test, runs, points),
        *basis.about(test),
    ]
    return every


def _top(test: DocumentTest) -> list[Node]:
    where = f"{test['location'][0]}:{test['location'][1]}" if test["location"] else ""
    figure: list[Node] = [] if test["searched"] and test["score"] is None else [charts.scale(test)]
    return [
        ["h1", {"tabindex": "-1"}, titled(test["test"])],
        [
            "p.crumb",
            badge(test["verdict"]),
            ["span.dim", where],
            ["span.dim", f"pytest: {test['outcome']}"],
            ["span.dim", inline(test["target"])],
        ],
        [
            "div.verdict",
            ["div.prose", *terminal(verdict_lines(test)), *terminal(varying_lines(test))],
            *figure,
        ],
        *(["p.note", ["b", "Note: "], inline(note, 2_000)] for note in test["notes"]),
    ]


def _counterexamples(test: TestReport) -> list[Node]:
    found = test["counterexamples"]
    if not found:
        return []
    minimal = all(each["minimal"] for each in found)
    title = "The smallest change that breaks it" if minimal else "A change that breaks it"
    if len(found) > 1:
        title = "The smallest changes that break it" if minimal else "Changes that break it"
    return [["section.smallest", heading(2, title), *(_counterexample(test, each) for each in found)]]


def _counterexample(test: TestReport, found: CounterexampleReport) -> Node:
    failed, asked = found["repeats"]
    queries = count(found["calls"], "query").replace("querys", "queries")
    said = f"broke it {failed} of {count(asked, 'time')} · {queries} · trial {found['trial']}"
    said += "" if found["minimal"] else " · a smaller change may break it too"
    on = test["inputs"][found["case"]] if found["case"] < len(test["inputs"]) else ""
    return [
        "article.counterexample",
        *([["p.dim", "on input ", inline(on)]] if on else []),
        changed(found["diff"]),
        *(
            [beside(found["baseline"], found["answer"])]
            if (found["baseline"], found["answer"]) != (None, None)
            else []
        ),
        ["p.why", ["b", "Why: "], inline(found["failure"], 2_000)],
        ["p.dim", said],
        folded(["The whole prompt"], whole(found["diff"])),
    ]


def _drift(found: Sequence[DriftReport]) -> list[Node]:
    if not found:
        return []
    return [["section.drift", heading(2, "Drift from the snapshot"), *map(drift, found)]]


def drift(found: DriftReport) -> Node:
    """One way in which a test is not what its snapshot says, before beside after."""
    chance = "" if found["p"] is None else f" (noise alone would do so with p = {digits(found['p'], '.2g')})"
    made: list[Node] = [
        "article",
        [
            "p",
            ["b", f"{_DRIFT.get(found['kind'], found['kind'])}: "],
            inline(found["message"], 2_000),
            chance,
        ],
        ["p.dim", f"policy: {found['policy']}"],
    ]
    if found.get("diff"):
        made.append(changed(found["diff"]))
    if found["before"] is not None or found["after"] is not None:
        made.append(beside(found["before"], found["after"], names=("before", "after")))
    return made


def _changed(change: ChangeReport | None, href: str) -> list[Node]:
    if change is None:
        return []
    pairs: list[tuple[str, Node | None]] = [
        ("Verdict", _then(change["verdict_before"], change["verdict"])),
        ("Score", _then(number(change["score_before"]), number(change["score"]))),
        ("Pairs of trials", f"{change['pairs']}: {change['worse']} worse, {change['better']} better"),
        ("p, adjusted", digits(change["adjusted_p"], ".2g") if change["adjusted_p"] is not None else None),
        ("New deviations", _linked(change["new_deviations"], href)),
        ("Mended", _linked(change["mended"], href)),
        ("Prompt", "changed" if change["prompt_changed"] else "the same"),
        ("Unmutated answer", change["baseline"]),
        ("Model", _then(change["model_before"], change["model"])),
    ]
    head = heading(2, "Against the base: ", status(change))
    return [["section", head, ["p", inline(change["explanation"], 2_000)], facts(pairs)]]


def _linked(trials: Sequence[str], href: str) -> Node | None:
    """Trials by their IDs."""
    links: list[Node] = [
        ["a", {"href": f"{href}?trial={quote(key(each), safe='')}"}, each] for each in trials[:_LINKED]
    ]
    spaced = [piece for link in links for piece in (link, " ")]
    rest = len(trials) - _LINKED
    return ["span", *spaced, *([f"and {rest:,} more"] if rest > 0 else [])] if links else None


def _then(before: str, now: str) -> str:
    return now if before == now else f"{before or '–'} → {now or '–'}"


def _searched(test: TestReport) -> list[Node]:
    searched = test["searched"]
    if searched is None:
        return []
    trial = searched["found"] or searched["nearest"]
    made: list[Node] = [
        heading(2, "Search" if searched["found"] else "What came nearest" if trial else "Search")
    ]
    made.append(
        facts(
            [
                ("Method", searched["method"]),
                ("Objective", searched["objective"]),
                ("Queries", f"{searched['queries']:,} of {searched['budget']:,}"),
                ("Places that could change", f"{searched['places']:,}"),
                ("Without an answer", f"{searched['errors']:,}" if searched["errors"] else None),
                ("Nearest to the goal", digits(searched["loss"])),
            ]
        )
    )
    made += [trial_node(test, trial, opened=True)] if trial else []
    return [["section", *made]]


def _replayed(test: TestReport) -> list[Node]:
    if not test["replayed"]:
        return []
    made: list[Node] = [heading(2, "Known counterexamples, asked again")]
    for each in test["replayed"]:
        status = _REPLAYED.get(each["status"], each["status"])
        body: list[Node] = [["p.why", inline(each["why"], 2_000)]] if each["why"] else []
        now = each["now"]
        if now is not None:
            body += [changed(now["diff"]), beside(now["baseline"], now["answer"])]
        body.append(["p.dim", f"last seen to break {each['target']}"])
        made.append(folded([["strong", status], ["code", each["id"]]], *body, classes="trial lazy"))
    return [["section", *made]]


def _prompt(test: TestReport) -> list[Node]:
    made: list[Node] = [heading(2, "Prompt and answers, unmutated"), block(test["prompt"])]
    answers = test["baselines"] or [test["baseline"]]
    if len(answers) == 1 and not test["inputs"]:
        return [["section", *made, heading(3, "Answer"), block(answer(answers[0]), 6_000)]]
    rows: list[Sequence[Node]] = []
    for place, each in enumerate(answers[:200]):
        name = test["inputs"][place] if place < len(test["inputs"]) else f"example {place + 1}"
        rows.append([inline(name), ["div", {"dir": "auto"}, *cut(answer(each), 600)]])
    return [
        [
            "section",
            *made,
            heading(3, "Answers"),
            table("Answers to the unmutated prompt", ["input", "answer"], rows, "plain top"),
        ]
    ]


def _course(test: TestReport, runs: Sequence[PastRunReport], points: Sequence[PointReport]) -> list[Node]:
    if not points:
        return []
    rows = charts.trend_table(runs, points)
    listed = table("Earlier runs", ["run", "commit", "score", "verdict"], rows)
    return [["section", heading(2, "Over time"), charts.sparkline(points, test), listed]]
