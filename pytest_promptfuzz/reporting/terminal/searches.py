"""Searches in the terminal: what was found, how, on which targets, and several searches in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.terminal.rows import LABEL, LABELLED, changed_lines, diff_lines, row
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line, Style, columns, pad, shorten_middle
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.diffs import answer_pair, blank_places
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.searching.search_result import Search, Transfer

    SearchReport = dict[str, Any]


MOST_SHOWN = 8  # finds of a table that are shown in full
_LEAST_NAME = 12
_UNKNOWN = ("noisy", "unconfirmed", "target-failed", "interrupted", "time-spent", "cost-spent")
_STYLES: dict[str, Style] = {"found": "bad", "nothing": "good", "unknown": "warn"}


def search_report(found: Search, name: str) -> SearchReport:
    """A search as plain data: ``Search.to_json``, with its name and the diff of the best change."""
    diff = [] if found.mutation is None else [[kind, text] for kind, text in found.mutation.diff()]
    return {"name": name, **found.to_json(), "diff": diff}


def search_lines(report: SearchReport, *, width: int = 80) -> list[Line]:
    """One search: the change that breaks the answer, both answers, why, how sure that is, and what it took."""
    state = _state(report)
    said = {
        "found": "found: a harmless change breaks the answer",
        "nothing": "no change found that breaks the answer",
        "unknown": f"inconclusive ({_unknown(report)})",
    }[state]
    lines: list[Line] = [
        [(f"{safe(report['name'])} on {safe(report['target'])}: ", "heading"), (said, _STYLES[state])]
    ]
    known = report["counterexample"]
    if known is not None:
        lines += changed_lines(report["diff"], width - LABELLED)
        lines += _answers(report)
        lines.append(row("why", [(known["failure"], "bad")]))
        reached, asked = known["repeats"]
        minimal = (
            "no smaller part of it breaks it" if known["minimal"] else "a smaller part of it may break it too"
        )
        lines.append(row("again", [(f"broke it {reached} of {counted(asked, 'time')}; {minimal}", "plain")]))
        if report["ended"] != "found":
            lines.append(row("ended", [(report["explanation"], "warn")]))
    else:
        if state == "unknown":
            lines.append(row("why", [(report["explanation"], "plain")]))
        if report["nearest"] is not None:
            lines += diff_lines(report["diff"], label="nearest")
            lines += _answers(report)
    if report["diff"]:
        rate = f"{report['change_rate']:.0%} of the prompt"
        near = "" if known is not None else f"; {report['loss']:.2f} of the way there"
        lines.append(row("changed", [(f"{_touched(report)}, {rate}{near}", "plain")]))
    lines += [row("asked", [(_asked(report), "plain")]), row("how", [(_how(report), "dim")])]
    for name in sorted(each for each in report["quality"] if f"{each}_before" in report["quality"]):
        now, before = report["quality"][name], report["quality"][f"{name}_before"]
        lines.append(row(name.ljust(LABEL), [(f"{now:.4g}, unmutated {before:.4g}", "plain")]))
    return [*lines, *(row("note", [(note, "plain")]) for note in report["notes"])]


def _touched(report: SearchReport) -> str:
    """The words that the best change touches, and the places where it touches nothing but white space."""
    words, blanks = counted(report["words_changed"], "word"), blank_places(report["diff"])
    if not blanks:
        return words
    spaces = f"white space in {counted(blanks, 'place')}"
    return f"{words}, and {spaces}" if report["words_changed"] else spaces


def searches_lines(reports: Sequence[SearchReport], *, width: int) -> list[Line]:
    """Several searches: the first finds in full, then all of them in a table."""
    finds = [each for each in reports if _state(each) == "found"]
    lines: list[Line] = []
    for each in finds[:MOST_SHOWN]:
        lines += [*search_lines(each, width=width), []]
    if len(finds) > MOST_SHOWN:
        lines += [[(f"and {counted(len(finds) - MOST_SHOWN, 'more find')}: --json has them all", "dim")], []]
    return [*lines, *_table(reports, width)]


def _state(report: SearchReport) -> str:
    if report["found"]:
        return "found"
    return "nothing" if report["conclusive"] else "unknown"


def _words(report: SearchReport) -> str:
    """The same in a table."""
    blanks = blank_places(report["diff"])
    return (
        f"{report['words_changed']}, {counted(blanks, 'blank')}" if blanks else str(report["words_changed"])
    )


def _unknown(report: SearchReport) -> str:
    """Why nothing can be told, in a word or two."""
    if report["ended"] in _UNKNOWN:
        return str(report["ended"])
    return "too few answers" if 2 * report["errors"] > report["queries"] else "too few queries"


def _answers(report: SearchReport) -> list[Line]:
    one, other = answer_pair(report["baseline"], report["answer"])
    return [row("baseline", [(one, "plain")]), row("response", [(other, "plain")])]


def _asked(report: SearchReport) -> str:
    parts = [counted(report["calls"], "call")]
    if report["hits"]:
        parts.append(f"{counted(report['hits'], 'stored answer')}")
    if report["cost"] is not None:
        parts.append(f"${report['cost']:.4f}")
    said = f"{report['queries']:,} of {report['budget']:,} queries ({', '.join(parts)})"
    if report["found"]:
        said += f"; found by query {report['found_at']}"
    return f"{said}; {report['errors']} without an answer" if report["errors"] else said


def _how(report: SearchReport) -> str:
    # A search that ended on the unmutated prompt has not looked at what could change.
    places = f"{counted(report['places'], 'place')}, " if report["places"] else ""
    return f"method {report['method']}, {places}objective {safe(report['objective'])}, seed {report['seed']}"


def _table(reports: Sequence[SearchReport], width: int) -> list[Line]:
    """A row a search."""
    heads = ("result", "words", "changed", "queries", "found at", "cost")
    rows = [
        (
            safe(each["name"]).replace("\n", "⏎"),
            [
                {"found": "found", "nothing": "nothing", "unknown": _unknown(each)}[_state(each)],
                _words(each) if each["found"] else "-",
                f"{each['change_rate']:.0%}" if each["found"] else "-",
                f"{each['queries']:,}",
                str(each["found_at"]) if each["found"] else "-",
                "-" if each["cost"] is None else f"${each['cost']:.4f}",
            ],
            _STYLES[_state(each)],
        )
        for each in reports
    ]
    wide = [
        max(columns(text) for text in (head, *(row[1][at] for row in rows))) for at, head in enumerate(heads)
    ]
    # Where there is no room the last columns go: the result is why the table is read.
    while len(wide) > 1 and width - sum(2 + each for each in wide) < _LEAST_NAME:
        wide.pop()
    natural = max(columns(row[0]) for row in rows)
    first = max(min(natural, width - sum(2 + each for each in wide)), _LEAST_NAME)

    def line(name: str, cells: Sequence[str], style: Style, result: Style) -> Line:
        made: Line = [(pad(shorten_middle(name, first), first), style)]
        for at, (text, room) in enumerate(zip(cells, wide, strict=False)):
            made += [("  ", "plain"), (pad(text, room, right=at > 0), style if at else result)]
        return made

    return [
        line("search", heads, "heading", "heading"),
        *(line(name, cells, "plain", style) for name, cells, style in rows),
    ]


# What several searches come to, and what became of their finds on other targets, for people.


_LABEL = 14


def metrics_lines(metrics: Mapping[str, Any]) -> list[Line]:
    """The metrics of several searches, as ``Metrics.to_json`` gives them."""
    lines = [_row("success rate", _share(metrics["found"], metrics["searches"], metrics["interval"]))]
    if metrics["untold"]:
        lines[0].append((f"; {metrics['untold']} inconclusive", "warn"))
    if metrics["words"]:
        rate = metrics["change_rate"]
        lines.append(
            _row(
                "words changed",
                f"{_middle(metrics['words'], '.1f')}; {rate['mean']:.1%} of the prompt on average",
            )
        )
    if metrics["queries"]:
        found_at = f"; found by query {_middle(metrics['found_at'], '.1f')}" if metrics["found_at"] else ""
        lines.append(_row("queries", f"{_middle(metrics['queries'], '.1f')}{found_at}"))
    if metrics["seconds"]:
        cost = "" if metrics["cost"] is None else f"; ${metrics['cost']:.4f} in all"
        lines.append(_row("seconds", f"{_middle(metrics['seconds'], '.2f')}{cost}"))
    for name, now in metrics["quality"].items():
        if f"{name}_before" in metrics["quality"]:
            before = metrics["quality"][f"{name}_before"]
            lines.append(_row(name, f"{now:.4g} on average, unmutated {before:.4g}"))
    return lines


def transfer_report(found: Transfer, names: Mapping[str, str]) -> dict[str, Any]:
    """``Transfer.to_json`` with the names of the searches that the changes are from, by the changes' IDs."""
    report = found.to_json()
    for each in report["left_out"]:
        each["name"] = names.get(each["id"], each["id"])
    return report


def transfer_lines(reports: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Whether the finds break other targets as well, a row each, and what was left out."""
    lines: list[Line] = [[("Do they break other models as well?", "heading")]]
    for report in reports:
        said = _share(report["broke"], report["of"], report["interval"])
        lines.append(
            [("   ", "plain"), (safe(report["target"]), "label"), ("  ", "plain"), HANG, (said, "plain")]
        )
        lines += [
            [("   ", "plain"), HANG, (f"left out: {safe(each['name'])}: {each['why']}", "warn")]
            for each in report["left_out"]
        ]
    return lines


def _share(part: int, whole: int, interval: Sequence[float] | None) -> str:
    if not whole or interval is None:
        return "not known"
    return f"{part} of {whole} ({part / whole:.0%}; 95 %: {interval[0]:.0%} to {interval[1]:.0%})"


def _middle(figure: Mapping[str, float], shown: str) -> str:
    return f"{figure['mean']:{shown}} on average, median {figure['median']:{shown}}"


def _row(label: str, said: str) -> Line:
    return [(f"{label.ljust(_LABEL)} ", "label"), HANG, (said, "plain")]
