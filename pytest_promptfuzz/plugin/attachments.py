"""What pytest-html and allure show of a robust test, where a run writes their reports; nothing is loaded elsewhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.plugin.translate import PHASE

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_promptfuzz.reporting.model import TestReport

_WIDE = 100  # columns of attached text
_LISTENER = "allure_listener"


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
    from pytest_promptfuzz.reporting.snippet import html_snippet

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


def attach(item: pytest.Item, report: TestReport) -> None:
    """Attach what was found to the test that allure is being told of, if it is."""
    if not _allure(item.config):
        return
    import allure

    from pytest_promptfuzz.reporting.terminal import failure_lines, one_line, render

    text = render(failure_lines(report, width=_WIDE), width=_WIDE, color=False)
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
    if not _allure(item.config) or not hasattr(report, "promptfuzz"):
        return
    from allure_commons.model2 import StatusDetails

    listener: Any = item.config.pluginmanager.get_plugin(_LISTENER)
    result = listener.allure_logger.get_test(listener._cache.get(item.nodeid))  # noqa: SLF001 - no public way
    untrusted = report.when == PHASE
    result.status = "broken" if untrusted else report.outcome
    result.statusDetails = None
    if report.outcome != "passed":
        from pytest_promptfuzz.reporting.terminal import one_line

        crash = getattr(report.longrepr, "reprcrash", None)  # it knows of drift, too
        said = getattr(report, "wasxfail", "") or (crash.message if crash else one_line(report.promptfuzz))
        result.statusDetails = StatusDetails(message=said, trace=report.longreprtext)


def _allure(config: pytest.Config) -> bool:
    active = getattr(config.option, "allure_report_dir", None)
    return bool(active) and config.pluginmanager.has_plugin(_LISTENER)


def _plain(report: TestReport) -> dict[str, Any]:
    """As reports of a run hold it."""
    from pytest_promptfuzz.reporting.packing import packed

    return packed({**report, "outcome": ""})
