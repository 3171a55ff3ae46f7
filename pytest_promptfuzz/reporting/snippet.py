"""A test in a few lines of HTML, for reports of other tools that take a piece of it. Nothing of a model is markup."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.answers import answer_pair
from pytest_promptfuzz.reporting.diff import Change, explain
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.rows import diff_lines
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.terminal import one_line, render
from pytest_promptfuzz.reporting.words import operator_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.reporting.model import TestReport, TrialReport

_TAGS = {"-": "del", "+": "ins"}
_WIDE = 100
_PRE = '<pre style="white-space: pre-wrap">'


def html_snippet(report: TestReport) -> str:
    """The verdict in a line; of a test that is not robust, the smallest edit that breaks it and both answers."""
    parts = [f"<p><b>Prompt robustness</b>: {escape(one_line(report))}</p>"]
    for each in report["drift"]:
        if each["policy"] != "ignore":
            parts += [
                f"<p>{escape(safe(each['message']))}</p>",
                _answers("Then", "Now", each["before"], each["after"]),
            ]
    found = report["counterexamples"]
    trial = _deviation(report)
    if found:
        parts.append(
            _shown(
                "The smallest change that breaks it",
                found[0]["diff"],
                found[0]["baseline"],
                found[0]["answer"],
            )
        )
    elif trial is not None:
        what = f"A change that breaks it ({operator_names(trial)})"
        parts.append(_shown(what, trial["diff"], trial["baseline"], trial["response"]))
    if trial is not None and trial["reproduce"]:
        parts.append(f"<p>See it again: <code>{escape(safe(trial['reproduce']))}</code></p>")
    return "".join(parts)


def _deviation(report: TestReport) -> TrialReport | None:
    if report["verdict"] == "pass":
        return None
    return next((each for each in scored(report) if each["outcome"] == "deviation"), None)


def _shown(what: str, diff: Sequence[Sequence[str]], before: object, after: object) -> str:
    return f"<p>{escape(safe(what))}:</p>{_PRE}{_edit(diff)}</pre>{_answers('Unmutated', 'Mutated', before, after)}"


def _answers(one: str, other: str, before: object, after: object) -> str:
    shown = zip((one, other), answer_pair(before, after), strict=True)
    return "".join(f"<p>{name}:</p>{_PRE}{escape(text)}</pre>" for name, text in shown)


def _edit(diff: Sequence[Sequence[str]]) -> str:
    """The changed places with what was removed and added; what moved, in words."""
    shown = explain(diff)
    changes = [each for each in shown if isinstance(each, Change)]
    if len(changes) < len(shown) or not changes:
        return escape(render(diff_lines(diff, label=""), width=_WIDE, color=False))
    return "\n".join("".join(_piece(kind, text) for kind, text in each.pieces) for each in changes)


def _piece(kind: str, text: str) -> str:
    said = escape(safe(text))
    tag = _TAGS.get(kind)
    return f"<{tag}>{said}</{tag}>" if tag else said
