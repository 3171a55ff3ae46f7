"""The HTML page: the top of the page, the heat map, and everything put together into one file."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.document import changes_of, points_of
from pytest_promptfuzz.reporting.html import parts, table, test_page
from pytest_promptfuzz.reporting.html.parts import (
    SIGNS,
    WORDS,
    block,
    facts,
    folded,
    inline,
    money,
    scrolled,
    section,
    test_href,
    text_key,
    titled,
    to_html,
    to_json,
)
from pytest_promptfuzz.reporting.html.table import tests_table
from pytest_promptfuzz.reporting.html.test_page import details
from pytest_promptfuzz.reporting.phrases import real_judges, simulated, simulation, unfollowed, worst_first
from pytest_promptfuzz.reporting.terminal.summary import seconds
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.document import Document, DocumentTest, UnjudgedReport
    from pytest_promptfuzz.reporting.html.parts import Node
    from pytest_promptfuzz.reporting.model import GroupReport, SpentReport


# Parts of the page that are built when they are looked at: nodes as JSON, deflated, in base64.


_LEVEL = 4  # a higher one takes twice as long for a tenth less


def chunk(name: str, nodes: Iterable[Node]) -> str:
    """A script element that holds data, which a browser does not run: base64 has no ``<`` that could end it."""
    packed = zlib.compress(to_json(nodes).encode(), _LEVEL)
    return (
        f'<script type="application/octet-stream" id="{name}">{base64.b64encode(packed).decode()}</script>\n'
    )


# The report as a page: one HTML file that needs no network, no server and no other file.


__all__ = ["html_report"]


# The top of the page: the verdict of the run, what it cost, what went wrong apart from any prompt.


_WORST = ("brittle", "unjudged", "noisy", "inconclusive")
_ORDER = (*_WORST, "pass")
_IN_WORDS = ("brittle", "noisy", "inconclusive", "unjudged")
_NAMES = {"pass": "passed"}
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
                ["span", _word(each)],
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
                "This run ended before its last test. The tests after that are missing here.",
            ]
        )
    made += [["ul.tiles", *tiles]] if tiles else []
    return [*made, _facts(document), *_notes(document)]


def _sentence(counts: Counter[str], *, complete: bool) -> list[Node]:
    total = sum(counts.values())
    if not total:
        return ["No robust test ran"]
    others = sorted(set(counts) - set(_ORDER))
    parts = [f"{counts[each]:,} {_word(each)}" for each in (*_IN_WORDS, *others, "pass") if counts[each]]
    said = f"{counted(total, 'robust test')}: {', '.join(parts)}"
    if counts["pass"] == total:
        said = f"{counted(total, 'robust test')} passed"
    return [said if complete else f"{said}, of a run that did not end"]


def _word(verdict: str) -> str:
    return _NAMES.get(verdict, WORDS.get(verdict, verdict))


def _stored(spent: Sequence[SpentReport]) -> str:
    """How many answers were stored, and where, where a recording held some."""
    hits, recorded = sum(each["hits"] for each in spent), sum(each["recorded"] for each in spent)
    return f"{hits:,}, {recorded:,} of them from the recording" if recorded else f"{hits:,}"


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


def unjudged(found: Sequence[UnjudgedReport]) -> list[Node]:
    """The tests that were not judged, each with why: they are no better than failures."""
    if not found:
        return []
    shown = [_unjudged(each, opened=place < 3) for place, each in enumerate(found[:_SHOWN])]
    rest = [_unjudged(each, opened=False) for each in found[_SHOWN:]]
    if rest:
        shown.append(folded([f"{counted(len(rest), 'more test')}"], *rest))
    said = [
        "p",
        "Not judged: the test failed with the unmutated prompt, or could not run.",
    ]
    return [section("unjudged", f"Not judged: {counted(len(found), 'test')}", said, *shown)]


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


def score_charts(document: Document) -> list[Node]:
    """How the scores are distributed, and each run's verdicts over time."""
    figures: list[Node] = []
    histogram = parts.histogram(document["tests"])
    if histogram is not None:
        figures.append(section("scores", "Scores", histogram, parts.legend()))
    trends = document["trends"]
    if trends and trends["runs"] and trends["tests"]:
        tallies: list[Counter[str]] = [Counter() for _ in trends["runs"]]
        for points in trends["tests"].values():
            for point in points:
                if 0 <= point["run"] < len(tallies):
                    tallies[point["run"]][point["verdict"]] += 1
        tallies.append(Counter(each["verdict"] for each in document["tests"]))
        figures.append(
            section("course", "Over time", ["figure", parts.course(trends["runs"], tallies)], parts.legend())
        )
    return [["div.figures", *figures]] if figures else []


# Tests × operators, or × dimensions: where prompts break, at a glance.


SHOWN = 50
_KINDS = (("dimensions", "by_dimension"), ("operators", "by_operator"))
_STEPS = ((1.0, 0), (0.85, 1), (0.6, 2), (0.3, 3))  # the least score of each shade; below all of them 4


def heat_map(
    ordered: Sequence[DocumentTest], hrefs: Sequence[str]
) -> tuple[list[Node], dict[str, list[Node]]]:
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
    about = ["p.legend", "Each cell is the score of one kind of mutation: ", *_shades()]
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
    return [*shades, ["span.shade", "?: no trial counts"]]


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
        said = ", ".join(_amount(amount, name) for name, amount in counts.items() if amount)
        return ["td.heat-none", ["span.sr", said], ["span", {"aria-hidden": "true"}, "?"]]
    shade = next((shade for least, shade in _STEPS if score >= least), 4)
    broken = counts.get("deviation", 0)
    total = sum(counts.values())
    shown = "·" if score == 1 else f"{score:.2f}".removeprefix("0")
    said = f"{score:.2f}, {broken} of {counted(total, 'trial')} {'deviates' if broken == 1 else 'deviate'}"
    return [f"td.heat-{shade}", ["span.sr", said], ["span", {"aria-hidden": "true"}, shown]]


def _amount(amount: int, outcome: str) -> str:
    """How many trials came to that: ``3 errors``, ``2 not needed``."""
    return counted(amount, "error") if outcome == "error" else f"{amount:,} {WORDS.get(outcome, outcome)}"


_STYLES = ("base.css", "overview.css", "details.css")
_SCRIPTS = ("build.js", "heat.js", "tests.js", "views.js", "start.js")


def html_report(document: Document) -> str:
    """The report of a run as one HTML file that needs nothing beside it.

    Args:
        document: The run, whole (not packed).

    Returns:
        The file's text, which can be encoded as UTF-8 whatever a model wrote.
    """
    tests = sorted(document["tests"], key=worst_first)
    hrefs = [test_href(name) for name in _keys(tests)]
    addresses: dict[str | tuple[str, str], str] = {
        test["test"]: href for test, href in zip(reversed(tests), reversed(hrefs), strict=True)
    }
    changes, points = changes_of(tests, document["changes"]), points_of(tests, document["trends"])
    times = Counter(test["test"] for test in tests)
    addresses |= {
        (test["test"], test["target"]): href
        for test, href in zip(tests, hrefs, strict=True)
        if times[test["test"]] > 1
    }
    found = table.families(tests)
    family = {place: places for places in found.values() for place in places}
    heat, rest = heat_map(tests, hrefs)
    body: list[Node] = [
        ["a.skip", {"href": "#main"}, "Skip to the results"],
        _header(),
        [
            "main",
            {"id": "main"},
            [
                "div",
                {"id": "overview"},
                *hero(document),
                *unjudged(document["unjudged"]),
                *test_page.changes_section(document["changes"], addresses),
                *test_page.drift_section(tests, hrefs),
                *score_charts(document),
                *(
                    [tests_table(document, tests, hrefs, changes, points)]
                    if tests or document["unjudged"]
                    else [_nothing()]
                ),
                *heat,
                *table.models_section(tests, hrefs, found),
            ],
            ["article", {"id": "test", "hidden": ""}],
        ],
        [
            "noscript",
            ["p.note", "Only the pages of single tests need JavaScript."],
        ],
    ]
    chunks = [chunk(name, nodes) for name, nodes in rest.items()]
    for place, test in enumerate(tests):
        beside = table.beside_models(tests, hrefs, family[place], place) if place in family else ()
        shown = details(
            test,
            hrefs[place],
            change=changes[place],
            runs=document["trends"]["runs"] if document["trends"] else (),
            points=points[place],
            models=beside,
        )
        chunks.append(chunk(f"t{place}", shown))
    return _page(to_html(body), chunks)


def _header() -> Node:
    return [
        "header.top",
        ["a.home", {"href": "#/"}, "promptfuzz"],
        ["nav", {"id": "steps", "aria-label": "Tests", "hidden": ""}],
        ["button", {"type": "button", "id": "theme", "hidden": ""}, "Dark"],
    ]


def _nothing() -> Node:
    return [
        "section",
        ["h2", "Tests"],
        [
            "p",
            "No robust test ran. A test is robust with ",
            ["code", "@robust"],
            " above it, and if it was selected.",
        ],
    ]


def _keys(tests: Sequence[DocumentTest]) -> list[str]:
    """A name for each test that no other has, and that stays the same from run to run."""
    made: list[str] = []
    taken: set[str] = set()
    times = Counter(test["test"] for test in tests)
    for test in tests:
        name = text_key(test["test"]) + (f" @ {text_key(test['target'])}" if times[test["test"]] > 1 else "")
        number, one = 1, name
        while one in taken:
            number += 1
            one = f"{name} ({number})"
        taken.add(one)
        made.append(one)
    return made


def _page(body: str, chunks: Sequence[str]) -> str:
    style, script = _asset(_STYLES), _asset(_SCRIPTS)
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        '<title>Prompt robustness</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n</head>\n<body>\n{body}\n{''.join(chunks)}"
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


@cache
def _asset(names: tuple[str, ...]) -> str:
    folder = files(__package__).joinpath("assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
