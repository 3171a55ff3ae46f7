"""One test in the HTML page: verdict, smallest breaking change, figures, drift, changes since an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_promptfuzz.reporting.document import answers_of, unanswered
from pytest_promptfuzz.reporting.html import charts
from pytest_promptfuzz.reporting.html.parts import (
    badge,
    block,
    cut,
    digits,
    facts,
    folded,
    heading,
    inline,
    money,
    scrolled,
    section,
    table,
    terminal,
    text_key,
    titled,
)
from pytest_promptfuzz.reporting.html.trials import (
    answer,
    beside,
    changed,
    spent_text,
    trial_node,
    trials,
    whole,
)
from pytest_promptfuzz.reporting.model import UPDATED
from pytest_promptfuzz.reporting.phrases import (
    accepted_text,
    answer_circumstances,
    interval_text,
    number,
    prompt_effect,
    score_text,
)
from pytest_promptfuzz.reporting.terminal.changes import COUNTED, called, shade, tallied
from pytest_promptfuzz.reporting.terminal.failure import verdict_lines
from pytest_promptfuzz.reporting.terminal.rows import varying_lines
from pytest_promptfuzz.reporting.terminal.summary import seconds
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.history.changes import (
        AnswerChange,
        BaseReport,
        ChangeReport,
        ChangesReport,
        PastRunReport,
        PointReport,
    )
    from pytest_promptfuzz.reporting.document import DocumentTest
    from pytest_promptfuzz.reporting.html.parts import Node
    from pytest_promptfuzz.reporting.model import (
        CounterexampleReport,
        DriftReport,
        GroupReport,
        TestReport,
        VarianceReport,
    )


# What a test's verdict rests on: figures, gold answers, a judge, the scores of each kind of change.


def gold_section(test: TestReport) -> list[Node]:
    """How often answers are as expected, and the first wrong one of each input."""
    found = test["gold"]
    if found is None:
        return []
    pairs: list[tuple[str, Node | None]] = [
        ("As expected, without mutations", digits(found["accuracy"])),
        ("As expected, with mutations", digits(found["mutated"])),
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


def judging_section(test: TestReport) -> list[Node]:
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


def kinds_section(test: TestReport) -> list[Node]:
    """The scores by dimension, operator and relation, the lowest first."""
    made: list[Node] = []
    for title, groups in (
        ("By kind of mutation", test["by_dimension"]),
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
    return [["section", heading(2, "Scores by kind of mutation"), *made]] if made else []


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


def about_section(test: DocumentTest) -> list[Node]:
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
            f"{digits(noise['floor'])} ({counted(noise['baselines'], 'answer')})" if noise else None,
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
        ("Mutations wanted, seed", f"{test['planned']}, {test['seed']}"),
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
    return money(test["cost"]) + (f" and {counted(unknown, 'call')} of unknown price" if unknown else "")


# What changed since the run that this one is compared with, and since what was accepted.


_SHOWN = 10
_MOST_SHOWN = 200  # more of a list would keep a large page from opening; the table of tests has all
_DRIFT_KINDS = {
    "model": "model",
    "prompt": "prompt",
    "comparator": "comparison",
}


def answers_section(found: ChangesReport | None, hrefs: Mapping[str | tuple[str, str], str]) -> list[Node]:
    """The answers to unmutated prompts that changed, may have changed or differ a little, and which are not compared.

    Args:
        found: How the run compares with its base.
        hrefs: As for ``changes_section``.
    """
    told = answers_of(found, "changed", "cannot tell", "minor")
    untold = unanswered(found) if found is not None and found["base"]["kind"] != "last" else {}
    if not told and not untold:
        return []
    shown = [_answer(each, hrefs) for each in told[:_SHOWN]]
    if len(told) > _SHOWN:
        rest = [_answer(each, hrefs) for each in told[_SHOWN:_MOST_SHOWN]]
        shown.append(folded([counted(len(told) - _SHOWN, "more answer")], *rest))
    if untold:
        items = [["li", *_names(tests, hrefs), ": ", inline(reason)] for reason, tests in untold.items()]
        amount = len({test for tests in untold.values() for test in tests})
        shown.append(folded([f"Answers of {counted(amount, 'test')} not compared"], ["ul", *items]))
    return [section("answers", "Changed answers" if told else "Answers", *shown)]


def _answer(change: AnswerChange, hrefs: Mapping[str | tuple[str, str], str]) -> Node:
    sure = change["finding"] == "changed"
    said = "; ".join(filter(None, [change["explanation"], answer_circumstances(change)]))
    return [
        "article.failure",
        [
            "p.crumb",
            [f"span.status is-{'worse' if sure else 'lower'}", change["finding"]],
            _link(change["test"], hrefs),
            *([["span.dim", "input ", inline(change["input"])]] if change["input"] else []),
            *([["span.dim", inline(said, 2_000)]] if said else []),
        ],
        beside(change["before"], change["after"], names=("was", "now")),
    ]


def prompts_section(found: ChangesReport | None, hrefs: Mapping[str | tuple[str, str], str]) -> list[Node]:
    """The prompts that changed, each with what became of its test, and the words where both texts are known.

    Args:
        found: How the run compares with its base.
        hrefs: As for ``changes_section``.
    """
    told = [each for each in (found["tests"] if found else ()) if each["prompt_changed"]]
    if not told:
        return []
    shown = [_rewritten(each, hrefs) for each in told[:_SHOWN]]
    if len(told) > _SHOWN:
        rest = [_rewritten(each, hrefs) for each in told[_SHOWN:_MOST_SHOWN]]
        shown.append(folded([counted(len(told) - _SHOWN, "more prompt")], *rest, *_left_out(len(told))))
    return [section("prompts", "Changed prompts", *shown)]


def _rewritten(change: ChangeReport, hrefs: Mapping[str | tuple[str, str], str]) -> Node:
    diff = change.get("prompt_diff")
    return [
        "article.failure",
        ["p.crumb", *_name(change, hrefs), ["span.dim", inline(prompt_effect(change))]],
        *([changed(diff)] if diff else []),
    ]


def _names(tests: Sequence[str], hrefs: Mapping[str | tuple[str, str], str]) -> list[Node]:
    """Links to tests, the first few."""
    made: list[Node] = [piece for test in tests[:_SHOWN] for piece in (", ", _link(test, hrefs))][1:]
    return [*made, *([f" and {len(tests) - _SHOWN:,} more"] if len(tests) > _SHOWN else [])]


def changes_section(found: ChangesReport | None, hrefs: Mapping[str | tuple[str, str], str]) -> list[Node]:
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
    summed = [f"{amount:,} {said}" for amount, said in tallied(found["tests"], COUNTED)]
    summed += [counted(fresh, "new deviation")] if fresh else []
    summed += [f"{mended:,} mended"] if mended else []
    moved = [each for each in found["tests"] if each["status"] != "same" or each["new_deviations"]]
    body: list[Node] = [["p", *_base(found["base"])], ["p", f"{'; '.join(summed) or 'No test in common'}."]]
    if moved:
        body.append(_table(moved[:_SHOWN], hrefs))
    if len(moved) > _SHOWN:
        more = [_table(moved[_SHOWN:_MOST_SHOWN], hrefs), *_left_out(len(moved))]
        body.append(folded([f"{len(moved) - _SHOWN:,} more"], *more))
    return [section("changes", "What changed", *failed, *body)]


def _left_out(amount: int) -> list[Node]:
    """Where the rest of a long list is."""
    if amount <= _MOST_SHOWN:
        return []
    return [["p", ["a", {"href": "#/?changed=1"}, f"All {amount:,} stand in the table of tests"], "."]]


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
            ["td", _before_and_now(each["verdict_before"], each["verdict"])],
            ["td.number", _before_and_now(number(each["score_before"]), number(each["score"]))],
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
    return [f"span.status is-{shade(change)}", called(change)]


def _trials(change: ChangeReport) -> str:
    fresh, mended = len(change["new_deviations"]), len(change["mended"])
    said = [counted(fresh, "new deviation")] if fresh else []
    return ", ".join([*said, *([f"{mended:,} mended"] if mended else [])]) or "–"


def _before_and_now(before: str, now: str) -> str:
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


def drift_section(tests: Sequence[DocumentTest], hrefs: Sequence[str]) -> list[Node]:
    """The tests that are not what their snapshots say, whatever their robustness."""
    found = [
        [
            "li",
            [f"span.status is-{one['policy']}", _DRIFT_KINDS.get(one["kind"], one["kind"])],
            ", updated " if one["policy"] == UPDATED else " ",
            ["a", {"href": href}, titled(test["test"])],
            " ",
            inline(one["message"]),
        ]
        for test, href in zip(tests, hrefs, strict=True)
        for one in test["drift"]
    ]
    if not found:
        return []
    rest: list[Node] = [["ul", *found[_SHOWN:_MOST_SHOWN]], *_left_out(len(found))]
    more = [folded([f"{len(found) - _SHOWN:,} more"], *rest)] if len(found) > _SHOWN else []
    return [section("drift", "Drift from snapshots", ["ul.drifts", *found[:_SHOWN]], *more)]


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
    short: bool = False,
) -> list[Node]:
    """All that is known of one test.

    Args:
        test: Its report, whole.
        href: The address of its page.
        change: How it compares with its base.
        runs: Earlier runs.
        points: Its results in them.
        models: What stands beside it where the same test was asked of other models.
        short: Whether harmless trials are in their short form, if all that the page holds is visible as it is.
    """
    every: list[Node] = [
        *_top(test),
        *_counterexamples(test),
        *_drift(test["drift"]),
        *_changed(change, href),
        *models,
        *trials(test, short=short),
        *_searched(test),
        *_replayed(test),
        *_prompt(test),
        *gold_section(test),
        *judging_section(test),
        *kinds_section(test),
        *_course(test, runs, points),
        *about_section(test),
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
        *([["p.note", "This test ", inline(f"{said}.", 2_000)]] if (said := accepted_text(test)) else []),
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
    queries = counted(found["calls"], "query")
    said = f"broke it {failed} of {counted(asked, 'time')} · {queries} · trial {found['trial']}"
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
        ("Unmutated answer", change.get("answer") or change["baseline"]),
        ("Model", _then(change["model_before"], change["model"])),
    ]
    head = heading(2, "Against the base: ", status(change))
    return [["section", head, ["p", inline(change["explanation"], 2_000)], facts(pairs)]]


def _linked(trials: Sequence[str], href: str) -> Node | None:
    """Trials by their IDs."""
    links: list[Node] = [
        ["a", {"href": f"{href}?trial={quote(text_key(each), safe='')}"}, each] for each in trials[:_LINKED]
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
                ("Places that could change", f"{searched['places']:,}" if searched["places"] else None),
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
    return [["section", heading(2, "Over time"), charts.trend(points, runs, test), listed]]
