"""Robust tests in reports of pytest-html and allure; nothing is loaded where a run writes none."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.plugin.output.outcome import PHASE
from pytest_promptfuzz.plugin.output.pytest_reports import ALLURE
from pytest_promptfuzz.reporting.model import UPDATED, scored
from pytest_promptfuzz.reporting.phrases import operator_names
from pytest_promptfuzz.reporting.terminal.rows import diff_lines
from pytest_promptfuzz.reporting.terminal.styled_text import render
from pytest_promptfuzz.reporting.terminal.summary import one_line
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.diffs import ShownChange, answer_pair, explain

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pytest_promptfuzz.reporting.model import TestReport, TrialReport


_ATTACHMENT_WIDTH = 100  # columns of attached text


def register(config: pytest.Config) -> None:
    """Have pytest-html's report, if this process writes one, show robust tests."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(HtmlReports(), "promptfuzz-html")


class HtmlReports:
    """Robust tests in a report of pytest-html, which knows the phases of pytest only."""

    def __init__(self) -> None:
        self._verdicts: dict[str, pytest.TestReport] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Attach what was found; while pytest-html reads a test's phases, an untrusted verdict is an error of one."""
        data: TestReport | None = getattr(report, "promptfuzz", None)
        if data is not None:
            report.extras = [*getattr(report, "extras", []), *_extras(data)]  # type: ignore[attr-defined]  # pytest-html's
        if report.when == PHASE:
            self._verdicts[report.nodeid] = report
        verdict = self._verdicts.pop(report.nodeid, None) if report.when == "teardown" else None
        if verdict is not None:
            verdict.when = "setup"
        yield
        if verdict is not None:
            verdict.when = PHASE  # type: ignore[assignment]  # see PHASE

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_row(self, report: pytest.TestReport, cells: list[str]) -> None:
        """Name the phase of an untrusted verdict as it is."""
        if hasattr(report, "promptfuzz") and report.when == "setup":
            cells[:] = [each.replace("::setup</td>", f"::{PHASE}</td>") for each in cells]


def _extras(report: TestReport) -> list[dict[str, Any]]:
    """As ``pytest_html.extras`` makes them: a piece of HTML, and of a test that did not pass, its report."""

    def extra(kind: str, content: Any, **given: str) -> dict[str, Any]:
        return {
            "name": None,
            "format_type": kind,
            "content": content,
            "mime_type": None,
            "extension": None,
            **given,
        }

    shown = [extra("html", html_snippet(report))]
    if report["verdict"] != "pass":
        named = {"name": "promptfuzz", "mime_type": "application/json", "extension": "json"}
        shown.append(extra("json", _plain(report), **named))
    return shown


def attach(report: TestReport) -> None:
    """Attach what was found to the test that allure is being told of."""
    import allure

    from pytest_promptfuzz.reporting.terminal.failure import failure_lines
    from pytest_promptfuzz.reporting.terminal.styled_text import render
    from pytest_promptfuzz.reporting.terminal.summary import one_line

    text = render(failure_lines(report, width=_ATTACHMENT_WIDTH), width=_ATTACHMENT_WIDTH, color=False)
    allure.attach(f"{one_line(report)}\n\n{text}\n", "Prompt robustness", allure.attachment_type.TEXT)
    data = json.dumps(_plain(report), indent=1)
    allure.attach(data, "Prompt robustness (JSON)", allure.attachment_type.JSON)
    allure.dynamic.label("promptfuzz_verdict", report["verdict"])
    # Not what tells runs of a test apart: its history would break with each score.
    for name in ("score", "threshold", "target", "model"):
        value = report[name]
        if value not in (None, ""):
            allure.dynamic.parameter(f"promptfuzz {name}", value, excluded=True)


def restate(item: pytest.Item, report: pytest.TestReport) -> None:
    """Have allure say what the verdict came to be; it has read the exception, before that was translated."""
    from allure_commons.model2 import StatusDetails

    listener: Any = item.config.pluginmanager.get_plugin(ALLURE)
    result = listener.allure_logger.get_test(listener._cache.get(item.nodeid))  # noqa: SLF001 - no public way
    untrusted = report.when == PHASE
    result.status = "broken" if untrusted else report.outcome
    result.statusDetails = None
    if report.outcome != "passed":
        from pytest_promptfuzz.reporting.terminal.summary import one_line

        crash = getattr(report.longrepr, "reprcrash", None)  # it knows of drift, too
        said = getattr(report, "wasxfail", "") or (crash.message if crash else one_line(report.promptfuzz))
        result.statusDetails = StatusDetails(message=said, trace=report.longreprtext)


def _plain(report: TestReport) -> dict[str, Any]:
    """As reports of a run hold it."""
    from pytest_promptfuzz.reporting.schema import packed

    return packed({**report, "outcome": ""})


_TAGS = {"-": "del", "+": "ins"}


_SNIPPET_WIDTH = 100


_PRE = '<pre style="white-space: pre-wrap">'


def html_snippet(report: TestReport) -> str:
    """The verdict in a line; of a test that is not robust, the smallest edit that breaks it and both answers."""
    parts = [f"<p><b>Prompt robustness</b>: {escape(one_line(report))}</p>"]
    for each in report["drift"]:
        if each["policy"] != "ignore":
            parts += [
                f"<p>{'Updated: ' if each['policy'] == UPDATED else ''}{escape(safe(each['message']))}</p>",
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
    answers = _answers("Unmutated", "Mutated", before, after)
    return f"<p>{escape(safe(what))}:</p>{_PRE}{_edit_html(diff)}</pre>{answers}"


def _answers(one: str, other: str, before: object, after: object) -> str:
    shown = zip((one, other), answer_pair(before, after), strict=True)
    return "".join(f"<p>{name}:</p>{_PRE}{escape(text)}</pre>" for name, text in shown)


def _edit_html(diff: Sequence[Sequence[str]]) -> str:
    """The changed places with what was removed and added; what moved, in words."""
    shown = explain(diff)
    changes = [each for each in shown if isinstance(each, ShownChange)]
    if len(changes) < len(shown) or not changes:
        return escape(render(diff_lines(diff, label=""), width=_SNIPPET_WIDTH, color=False))
    return "\n".join("".join(_piece(kind, text) for kind, text in each.pieces) for each in changes)


def _piece(kind: str, text: str) -> str:
    said = escape(safe(text))
    tag = _TAGS.get(kind)
    return f"<{tag}>{said}</{tag}>" if tag else said
