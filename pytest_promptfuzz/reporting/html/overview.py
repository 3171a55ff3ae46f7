"""The top of the page: the verdict of the run, what it cost, what went wrong apart from any prompt."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.html import charts
from pytest_promptfuzz.reporting.html.parts import (
    SIGNS,
    WORDS,
    block,
    facts,
    folded,
    inline,
    money,
    section,
    titled,
)
from pytest_promptfuzz.reporting.summary import seconds
from pytest_promptfuzz.reporting.words import count, real_judges, simulated, simulation, unfollowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.reporting.document import Document, UnjudgedReport
    from pytest_promptfuzz.reporting.html.markup import Node

_WORST = ("brittle", "unjudged", "noisy", "inconclusive")
_ORDER = (*_WORST, "pass")
_NAMES = {"unjudged": "without a verdict", "pass": "robust"}
_SHOWN = 10


def tally(document: Document) -> Counter[str]:
    """How many tests came to which verdict; ``unjudged`` came to none."""
    found = Counter(each["verdict"] for each in document["tests"])
    if document["unjudged"]:
        found["unjudged"] = len(document["unjudged"])
    return found


def hero(document: Document) -> list[Node]:
    """The verdict of the run in a sentence, and as numbers that choose from the table."""
    counts = tally(document)
    run = document["run"]
    tiles: list[Node] = [
        [
            "li",
            [
                f"a.tile is-{each}",
                {"href": f"#/?verdict={each}"},
                ["span.amount", f"{counts[each]:,}"],
                ["span.sign", {"aria-hidden": "true"}, SIGNS.get(each, "·")],
                ["span", _NAMES.get(each, WORDS.get(each, each))],
            ],
        ]
        for each in (*_ORDER, *sorted(set(counts) - set(_ORDER)))
        if counts[each]
    ]
    made: list[Node] = [
        ["h1", {"tabindex": "-1"}, *_sentence(counts, complete=run["complete"])],
        *_lenient(document),
    ]
    if not run["complete"]:
        made.append(
            [
                "p.alarm",
                {"role": "note"},
                "This run ended before its last test: what is missing here was not looked at.",
            ]
        )
    made += [["ul.tiles", *tiles]] if tiles else []
    return [*made, _facts(document), *_notes(document)]


def _sentence(counts: Counter[str], *, complete: bool) -> list[Node]:
    total = sum(counts.values())
    if not total:
        return ["No robust test ran"]
    if counts["pass"] == total and not complete:
        return [f"{count(total, 'prompt test')} robust, of a run that did not end"]
    if counts["pass"] == total:
        return ["Every prompt is robust" if total > 1 else "The prompt is robust"]
    wrong = [each for each in (*_WORST, *sorted(set(counts) - set(_ORDER))) if counts[each]]
    first, *rest = wrong
    said = f"{counts[first]:,} of {count(total, 'prompt test')} {_are(counts[first], first)}"
    return ["; ".join([said, *(f"{counts[each]:,} {_are(counts[each], each)}" for each in rest)])]


def _lenient(document: Document) -> list[Node]:
    """Verdicts against a prompt that pytest counts otherwise, and passes with deviations."""
    against = Counter(each["outcome"] for each in document["tests"] if each["verdict"] != "pass")
    made = [
        f"{against[name]:,} of them {'is' if against[name] == 1 else 'are'} {word}"
        for name, word in (
            ("xfailed", "expected to fail (xfail)"),
            ("skipped", "skipped by pytest"),
            ("passed", "passed by pytest"),
        )
        if against[name]
    ]
    some = sum(each["verdict"] == "pass" and bool(each["counts"]["deviation"]) for each in document["tests"])
    made += [f"{count(some, 'test')} passed with deviations"] if some else []
    return [["p.lead", f"{'; '.join(made)}."]] if made else []


def _are(amount: int, verdict: str) -> str:
    if verdict == "unjudged":
        return "has no verdict" if amount == 1 else "have no verdict"
    return f"{'is' if amount == 1 else 'are'} {verdict}"


def _facts(document: Document) -> Node:
    run, tests = document["run"], document["tests"]
    spent = [each["spent"] for each in tests]
    costs = [each["cost"] for each in tests if each["cost"] is not None]
    unknown = sum(each["unpriced"] for each in spent)
    cost = money(sum(costs)) if costs else "not known" if unknown else None
    if costs and unknown:
        cost = f"{cost} and {count(unknown, 'call')} of unknown price"
    retries, saved = sum(each["retries"] for each in spent), sum(each["saved"] for each in spent)
    controls = sum(each["controls"] for each in spent)
    commit = run["commit"][:12] + (" with uncommitted changes" if run["dirty"] else "")
    pairs: list[tuple[str, Node | None]] = [
        (
            "Calls",
            f"{sum(each['calls'] for each in spent):,}" + (f", {retries:,} made again" if retries else ""),
        ),
        ("From the store", f"{sum(each['hits'] for each in spent):,}"),
        ("Not needed", f"{saved:,} calls" if saved else None),
        ("Controls", f"{controls:,}" if controls else None),
        ("Cost", cost),
        ("Time", seconds(run["seconds"])),
        ("Started", run["started"][:19].replace("T", " ") + " UTC" if run["started"] else None),
        ("Run", inline(run["name"] or run["id"]) if run["name"] or run["id"] else None),
        ("Commit", commit if run["commit"] else None),
        ("Branch", inline(run["branch"]) if run["branch"] else None),
        ("Mode", run["mode"]),
        ("Version", f"pytest-promptfuzz {run['version']}, Python {run['python']}"),
    ]
    return facts(pairs)


def _notes(document: Document) -> list[Node]:
    tests = document["tests"]
    made: list[Node] = [["p.note", ["b", "Warning: "], inline(each, 2_000)] for each in document["warnings"]]
    simulating = [each for each in tests if simulated(each)]
    if simulating and len(simulating) == len(tests):
        made.append(["p.note", simulation(tests)])
    elif simulating:
        made.append(
            [
                "p.note",
                f"The answers of {count(len(simulating), 'test')} are simulated"
                + (f". {said}" if (said := unfollowed(simulating)) else ": no real model gave them."),
            ]
        )
    if said := unfollowed((each for each in tests if not simulated(each)), simulated=False):
        made.append(["p.note", said])
    judges = real_judges(tests)
    made += (
        [["p.note", "Judged by ", inline(", ".join(judges), 600), "."]] if judges and not simulating else []
    )
    return made


def unjudged(found: Sequence[UnjudgedReport]) -> list[Node]:
    """The tests without a verdict, each with why: they are no better than failures."""
    if not found:
        return []
    shown = [_unjudged(each, opened=place < 3) for place, each in enumerate(found[:_SHOWN])]
    rest = [_unjudged(each, opened=False) for each in found[_SHOWN:]]
    if rest:
        shown.append(folded([f"{count(len(rest), 'more test')} without a verdict"], *rest))
    said = [
        "p",
        "They failed with the unmutated prompt, or could not be run: nothing is known of their prompts.",
    ]
    return [section("unjudged", f"Without a verdict: {len(found):,}", said, *shown)]


def _unjudged(each: UnjudgedReport, *, opened: bool) -> Node:
    where = f" {each['location'][0]}:{each['location'][1]}" if each["location"] else ""
    summary: list[Node] = [
        ["span.badge is-unjudged", ["span.sign", {"aria-hidden": "true"}, "!"], each["outcome"]],
        titled(each["test"]),
        ["span.dim", where],
    ]
    return folded(
        summary, block(each["message"] or "(no message)", 4_000), opened=opened, classes="trial is-error"
    )


def scores(document: Document) -> list[Node]:
    """How the scores are distributed, and each run's verdicts over time."""
    figures: list[Node] = []
    histogram = charts.histogram(document["tests"])
    if histogram is not None:
        figures.append(section("scores", "Scores", histogram, charts.legend()))
    trends = document["trends"]
    if trends and trends["runs"] and trends["tests"]:
        tallies: list[Counter[str]] = [Counter() for _ in trends["runs"]]
        for points in trends["tests"].values():
            for point in points:
                if 0 <= point["run"] < len(tallies):
                    tallies[point["run"]][point["verdict"]] += 1
        tallies.append(Counter(each["verdict"] for each in document["tests"]))
        figures.append(
            section(
                "course", "Over time", ["figure", charts.course(trends["runs"], tallies)], charts.legend()
            )
        )
    return [["div.figures", *figures]] if figures else []
