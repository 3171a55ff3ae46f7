"""The overview of the HTML page, apart from its tables: the verdict of the run, what it cost, what went wrong."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.document import beside_base, beside_snapshots, is_accepted, uncollected
from pytest_promptfuzz.reporting.document import overview as figures_of
from pytest_promptfuzz.reporting.html import charts
from pytest_promptfuzz.reporting.html.parts import (
    badge,
    block,
    facts,
    folded,
    inline,
    money,
    section,
    titled,
)
from pytest_promptfuzz.reporting.html.table import verdict_word
from pytest_promptfuzz.reporting.phrases import accepted_text, real_judges, simulated, simulation, unfollowed
from pytest_promptfuzz.reporting.terminal.summary import seconds
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.reporting.document import Document, UnjudgedReport
    from pytest_promptfuzz.reporting.html.parts import Node
    from pytest_promptfuzz.reporting.model import SpentReport


_ORDER = ("brittle", "unjudged", "noisy", "inconclusive")
_IN_WORDS = ("brittle", "noisy", "inconclusive", "unjudged")
_SHOWN = 10
_MOST_SHOWN = 200


def tally(document: Document) -> dict[str, int]:
    """How many tests came to which verdict, the worst first; ``unjudged`` came to none."""
    found = Counter(each["verdict"] for each in document["tests"])
    found["unjudged"] += len(document["unjudged"])
    order = (*_ORDER, *sorted(set(found) - {*_ORDER, "pass"}), "pass")
    return {each: found[each] for each in order if found[each]}


def hero(document: Document) -> list[Node]:
    """The verdict of the run in a sentence, what it cost, and what is to be known of it."""
    run, counts = document["run"], tally(document)
    if left := counts.pop("unjudged", 0) - len(uncollected(document)):
        counts["unjudged"] = left
    said, figures = _sentence(counts, complete=run["complete"]), figures_of(document)
    made: list[Node] = [
        [
            "h1",
            {"tabindex": "-1"},
            *_missing(document),
            "; ".join([said, *beside_base(figures), *beside_snapshots(document, figures)]),
        ],
        *_lenient(document),
    ]
    if not run["complete"]:
        made.append(
            [
                "p.alarm",
                {"role": "note"},
                "This run ended before its last test. The tests after that are missing here.",
            ]
        )
    return [*made, _facts(document), *_notes(document)]


def _missing(document: Document) -> list[Node]:
    files = len(uncollected(document))
    return [f"pytest could not collect {counted(files, 'file')}. "] if files else []


def _sentence(counts: Mapping[str, int], *, complete: bool) -> str:
    total = sum(counts.values())
    if not total:
        return "No robust test ran"
    others = [each for each in counts if each not in {*_IN_WORDS, "pass"}]
    order = [each for each in (*_IN_WORDS, *others, "pass") if each in counts]
    parts = [f"{counts[each]:,} {verdict_word(each)}" for each in order]
    said = f"{counted(total, 'robust test')}: {', '.join(parts)}"
    if counts.get("pass") == total:
        said = f"{counted(total, 'robust test')} passed"
    return said if complete else f"{said}, of a run that did not end"


def _stored(spent: Sequence[SpentReport]) -> str:
    """How many answers were stored, and where, where a recording held some."""
    hits, recorded = sum(each["hits"] for each in spent), sum(each["recorded"] for each in spent)
    return f"{hits:,}, {recorded:,} of them from the recording" if recorded else f"{hits:,}"


def _lenient(document: Document) -> list[Node]:
    """Verdicts against a prompt that pytest counts otherwise, and passes with deviations."""
    accepted = sum(map(is_accepted, document["tests"]))
    against = Counter(
        each["outcome"] for each in document["tests"] if each["verdict"] != "pass" and not is_accepted(each)
    )
    made = [
        f"{against[name]:,} of them {'is' if against[name] == 1 else 'are'} {word}"
        for name, word in (
            ("xfailed", "expected to fail (xfail)"),
            ("skipped", "skipped by pytest"),
            ("passed", "passed by pytest"),
        )
        if against[name]
    ]
    made += (
        [f"{accepted:,} of them {'is' if accepted == 1 else 'are'} accepted as brittle"] if accepted else []
    )
    some = sum(each["verdict"] == "pass" and bool(each["counts"]["deviation"]) for each in document["tests"])
    made += [f"{counted(some, 'test')} passed with deviations"] if some else []
    return [["p.lead", f"{'; '.join(made)}."]] if made else []


def _facts(document: Document) -> Node:
    run, tests = document["run"], document["tests"]
    spent = [each["spent"] for each in tests]
    costs = [each["cost"] for each in tests if each["cost"] is not None]
    unknown = sum(each["unpriced"] for each in spent)
    cost = money(sum(costs)) if costs else "not known" if unknown else None
    if costs and unknown:
        cost = f"{cost} and {counted(unknown, 'call')} of unknown price"
    retries, saved = sum(each["retries"] for each in spent), sum(each["saved"] for each in spent)
    controls = sum(each["controls"] for each in spent)
    commit = run["commit"][:12] + (" with uncommitted changes" if run["dirty"] else "")
    pairs: list[tuple[str, Node | None]] = [
        (
            "Calls",
            f"{sum(each['calls'] for each in spent):,}" + (f", {retries:,} made again" if retries else ""),
        ),
        ("Stored answers", _stored(spent)),
        ("Not needed", counted(saved, "call") if saved else None),
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
    accepted = [(each, said) for each in tests if (said := accepted_text(each))]
    made += [
        ["p.note", inline(each["test"]), " ", inline(f"{said}.", 2_000)] for each, said in accepted[:_SHOWN]
    ]
    if len(accepted) > _SHOWN:
        made.append(
            ["p.note", f"{counted(len(accepted) - _SHOWN, 'more test')} accepted as brittle: see the table."]
        )
    simulating = [each for each in tests if simulated(each)]
    if simulating and len(simulating) == len(tests):
        made.append(["p.note", simulation(tests)])
    elif simulating:
        made.append(
            [
                "p.note",
                f"{len(simulating):,} of {len(tests):,} tests used the simulated model."
                + (f" {said}" if (said := unfollowed(simulating)) else ""),
            ]
        )
    if said := unfollowed((each for each in tests if not simulated(each)), simulated=False):
        made.append(["p.note", said])
    judges = real_judges(tests)
    made += (
        [["p.note", "Judged by ", inline(", ".join(judges), 600), "."]] if judges and not simulating else []
    )
    return made


def unjudged(found: Sequence[UnjudgedReport], hrefs: Sequence[str]) -> list[Node]:
    """The tests that were not judged, each with why: they are no better than failures.

    Args:
        found: The tests.
        hrefs: Each one's address.
    """
    if not found:
        return []
    shown = [_unjudged(each, href) for each, href in zip(found[:_SHOWN], hrefs, strict=False)]
    rest = [
        _unjudged(each, href) for each, href in zip(found[_SHOWN:_MOST_SHOWN], hrefs[_SHOWN:], strict=False)
    ]
    if rest:
        shown.append(folded([f"{counted(len(found) - _SHOWN, 'more test')}"], *rest, *_left_out(len(found))))
    said: Node = ["p", "These tests failed with the unmutated prompt, or could not run."]
    return [section("unjudged", f"Not judged: {counted(len(found), 'test')}", said, *shown)]


def _left_out(amount: int) -> list[Node]:
    """Where the rest of a long list is."""
    if amount <= _MOST_SHOWN:
        return []
    return [["p.dim", f"{counted(amount - _MOST_SHOWN, 'more test')}: see the table above."]]


def _unjudged(each: UnjudgedReport, href: str) -> Node:
    return [
        "article.failure",
        [
            "p.crumb",
            ["span.badge is-unjudged", ["span.sign", {"aria-hidden": "true"}, "!"], each["outcome"]],
            ["a", {"href": href}, titled(each["test"])],
            ["span.dim", _where(each)],
        ],
        block(each["message"] or "(no message)", 4_000),
    ]


def unjudged_page(each: UnjudgedReport) -> list[Node]:
    """The page of a test that was not judged."""
    return [
        ["h1", {"tabindex": "-1"}, titled(each["test"])],
        [
            "p.crumb",
            badge("unjudged"),
            ["span.dim", _where(each)],
            ["span.dim", f"pytest: {each['outcome']}"],
        ],
        ["p", "The test failed with the unmutated prompt, or could not run. Its prompt was not judged."],
        block(each["message"] or "(no message)"),
    ]


def _where(each: UnjudgedReport) -> str:
    return f"{each['location'][0]}:{each['location'][1]}" if each["location"] else ""


def score_charts(document: Document) -> list[Node]:
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
