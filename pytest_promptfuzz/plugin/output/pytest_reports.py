"""A verdict in the words of pytest's report."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.plugin.output.outcome import (
    PHASE,
    UNEXPECTED,
    BehaviourDrift,
    BrittlePrompt,
    MessageRepr,
    RobustnessRepr,
    UntrustedVerdict,
)
from pytest_promptfuzz.plugin.output.results import REPORT, SNAPSHOT, UNMUTATED, SessionResults
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.terminal.summary import one_line, render
from pytest_promptfuzz.reporting.wording.diffs import ShownChange, answer_pair, explain
from pytest_promptfuzz.reporting.wording.words import diff_lines, operator_names
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.model import TestReport, TrialReport


def translate(
    item: pytest.Item,
    call: pytest.CallInfo[None],
    report: pytest.TestReport,
    effects: Mapping[str, str],
) -> None:
    """Change a report to say what the verdict means; the data goes along as ``report.promptfuzz``.

    Args:
        item: The test.
        call: What came of one of its phases.
        report: Pytest's own, of that phase.
        effects: What each verdict but ``pass`` is to be: one of ``setting_kinds.EFFECT``.
    """
    data = item.stash.get(REPORT, None)
    if data is not None:
        del item.stash[REPORT]
        report.promptfuzz = data  # type: ignore[attr-defined]  # plain data survives xdist
        kept = item.stash.get(SNAPSHOT, None)
        if kept is not None:
            del item.stash[SNAPSHOT]
        if kept:
            report.promptfuzz_snapshot = kept  # type: ignore[attr-defined]  # likewise
    if call.when == "call" and item.stash.get(UNMUTATED, False):
        del item.stash[UNMUTATED]
        report.promptfuzz_unmutated = True  # type: ignore[attr-defined]  # for the summary
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, BrittlePrompt) and report.skipped:
        _show(report, error.report)  # a mark expects it
    elif isinstance(error, BehaviourDrift):
        _as_drift(report, error)
    elif isinstance(error, BrittlePrompt | UntrustedVerdict):
        _against(report, error, effects[_verdict(error)], strict=_strict_xfail(item))
    elif isinstance(error, PromptfuzzError):
        # A mistake in the test or the environment: the message says all, and no xfail is satisfied by it.
        if call.when == "call":
            _as_error(report)
        report.longrepr = _message(error, item)
        report.promptfuzz_message = True  # type: ignore[attr-defined]  # it is laid out where it is printed
    elif call.when == "call" and error is not None and report.skipped and _strict_xfail(item):
        # The baseline itself fails: not what the xfail waits for.
        report.outcome = "failed"
        del report.wasxfail
        report.longrepr = item.repr_failure(call.excinfo)  # type: ignore[arg-type]  # not None with an error


def _message(error: PromptfuzzError, item: pytest.Item) -> str:
    """What is wrong first, for the short summary cuts it off; where, last, but before lines that are to be pasted."""
    what = str(error).removeprefix(f"{item.nodeid}: ")
    where = "" if item.nodeid in what else f" ({item.nodeid})"
    said, gap, lines = what.partition("\n\n")
    return f"{type(error).__name__}: {said}{where}{gap}{lines}"


def laid_out(report: pytest.TestReport) -> None:
    """Have a message of ours, which crosses processes as text, fit the terminal that it is printed on."""
    if isinstance(report.longrepr, str):
        path, line, _ = report.location
        report.longrepr = MessageRepr(report.longrepr, path, (line or 0) + 1)  # type: ignore[assignment]  # it has a TerminalRepr's methods


def translate_unmutated(report: pytest.TestReport) -> None:
    """A strict xfail waits for brittleness, which an unmutated run cannot show: it passes."""
    if report.failed and isinstance(report.longrepr, str) and report.longrepr.startswith(UNEXPECTED):
        report.outcome, report.longrepr = "passed", None


def _show(report: pytest.TestReport, data: TestReport | None) -> None:
    if data is not None:
        report.longrepr = RobustnessRepr(data)  # type: ignore[assignment]  # a TerminalRepr by its methods


def _verdict(error: BrittlePrompt | UntrustedVerdict) -> str:
    if isinstance(error, BrittlePrompt):
        return "brittle"
    return "inconclusive" if error.report is None else error.report["verdict"]


def _against(
    report: pytest.TestReport, error: BrittlePrompt | UntrustedVerdict, effect: str, *, strict: bool
) -> None:
    """A verdict other than ``pass``, as what the user wants it to be."""
    if effect == "pass":
        _as_pass(report, strict=strict)
        return
    if effect == "skip":
        path, line = (
            error.report["location"] if error.report and error.report["location"] else (report.nodeid, 0)
        )
        report.outcome, report.longrepr = "skipped", (path, line, f"Skipped: {error}")
    elif effect == "xfail":
        report.outcome = "skipped"
        report.wasxfail = f"reason: {error}"
        _show(report, error.report)
        return
    else:
        if effect == "error":
            _as_error(report)
        report.outcome = "failed"
        _show(report, error.report)
    if hasattr(report, "wasxfail"):
        del report.wasxfail


def _as_drift(report: pytest.TestReport, error: BehaviourDrift) -> None:
    """A failure of its own, which no xfail waits for; an error where nothing can tell."""
    from pytest_promptfuzz.reporting.model import undecided  # a run without robust tests has no need of it

    if error.report is not None and undecided(error.report["drift"]):
        _as_error(report)
    report.outcome = "failed"
    _show(report, error.report)
    if hasattr(report, "wasxfail"):
        del report.wasxfail


def _as_pass(report: pytest.TestReport, *, strict: bool) -> None:
    """A pass; where a mark xfail waits for a failure, an unexpected one, as pytest has it."""
    report.outcome, report.longrepr = "passed", None
    if strict and hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"{UNEXPECTED} {report.wasxfail}"
        del report.wasxfail


def _as_error(report: pytest.TestReport) -> None:
    report.when = PHASE  # type: ignore[assignment]  # see PHASE
    report.outcome = "failed"
    if hasattr(report, "wasxfail"):
        del report.wasxfail


def _strict_xfail(item: pytest.Item) -> bool:
    default: Any = item.config.getini("xfail_strict") or item.config.getini("strict")
    mark = item.get_closest_marker("xfail")
    return bool(mark is not None and mark.kwargs.get("strict", default))


# What JUnit reports say of a robust test, and of a run.


_PYTESTS = "failed on setup with "
_PREFIX = "promptfuzz_"
_EDIT_WIDTH = 400  # characters of an edit
_LONG = 200  # of a name that a target has

Properties = dict[str, str | int | float]


def properties(report: TestReport) -> Properties:
    """What goes along as ``promptfuzz_…``: what is known, and nothing for what is not.

    ``score`` is raw and ``adjusted_score`` without the model's noise; where trials without an outcome leave the score
    open, ``score_lowest`` and ``score_highest`` stand in its place, as in the terminal. All are from 0 to 1. A search
    has none of them: its method, objective, queries and budget. ``trials_…`` count outcomes, ``worse`` and ``better``
    trials beside the run before (gate ``no-worse``); ``drift`` names what has changed since the snapshot;
    ``counterexample`` is the trial of the smallest edit known to break the test, which is ``smallest_edit``.
    """
    searched = report.get("searched")
    known: dict[str, Any] = {"verdict": report["verdict"], "reason": report["reason"]}
    if searched is None:
        known |= _scores(report) | _trials(report)
    else:
        known |= {f"search_{name}": searched[name] for name in ("method", "objective", "queries", "budget")}
    known |= _asked(report)
    kinds = dict.fromkeys(each["kind"] for each in report["drift"])
    known["drift"] = ", ".join(kinds) or None
    if report["counterexamples"]:
        first = report["counterexamples"][0]
        known |= {"counterexample": first["id"], "smallest_edit": _edit(first["diff"])}
    return {name: value for name, value in known.items() if value is not None and value != ""}


def _scores(report: TestReport) -> dict[str, Any]:
    low, high = report["bounds"]
    interval, noise = report["interval"], report["noise"]
    is_open = report["verdict"] == "inconclusive" and low < high
    return {
        "score": None if is_open else report["score"],
        **({"score_lowest": low, "score_highest": high} if is_open else {}),
        "threshold": report["threshold"],
        "adjusted_score": report["adjusted_score"],
        **({"interval_low": interval["low"], "interval_high": interval["high"]} if interval else {}),
        **({"noise_floor": noise["floor"], "noise_p": noise["p"]} if noise else {}),
    }


def _trials(report: TestReport) -> dict[str, Any]:
    paired = report["paired"]
    return {
        **{f"trials_{outcome.replace('-', '_')}": amount for outcome, amount in report["counts"].items()},
        **({"worse": paired["worse"], "better": paired["better"], "paired_p": paired["p"]} if paired else {}),
    }


def _asked(report: TestReport) -> dict[str, Any]:
    """Who answered, how often, and what that cost."""
    from pytest_promptfuzz.text.safe_text import safe

    spent = report["spent"]
    return {
        "target": safe(report["target"], limit=_LONG),
        "model": safe(report["model"], limit=_LONG),
        "judge": safe(report["judge"], limit=_LONG),
        "calls": spent["calls"],
        "hits": spent["hits"],
        "input_tokens": spent["input_tokens"],
        "output_tokens": spent["output_tokens"],
        "cost": report["cost"],
    }


def _edit(diff: list[list[str]]) -> str:
    """An edit in a line: ``Classify the [-sentiment-]{+mood+} of …``."""
    from pytest_promptfuzz.reporting.terminal.summary import diff_lines, render

    said = " ".join(render(diff_lines(diff, label=""), width=_EDIT_WIDTH, color=False).split())
    return said if len(said) <= _EDIT_WIDTH else f"{said[: _EDIT_WIDTH - 1]}…"


def tell(item: pytest.Item, report: TestReport) -> None:
    """Put the properties on the item, where JUnit reports find them once pytest makes its own report.

    A test that is run again says what its last run came to.
    """
    item.user_properties[:] = [each for each in item.user_properties if not each[0].startswith(_PREFIX)]
    item.user_properties.extend((f"{_PREFIX}{name}", value) for name, value in properties(report).items())


def tell_suite(state: State) -> None:
    """Put what holds for all robust tests of a run into the suite's own properties; nothing without any."""
    writing = _writing(state.config)
    reports = SessionResults.of(state.config).reports
    if writing is None or not reports:
        return
    from pytest_promptfuzz.reporting.document import version

    tests = list(reports.values())
    verdicts: dict[str, int] = {}
    for each in tests:
        verdicts[each["verdict"]] = verdicts.get(each["verdict"], 0) + 1
    costs = [each["cost"] for each in tests if each["cost"] is not None]
    told = {
        "version": version(),
        "mode": state.settings["mode"],
        "seed": state.settings["seed"],
        "tests": len(tests),
        **{f"tests_{verdict}": verdicts[verdict] for verdict in sorted(verdicts)},
        "calls": sum(each["spent"]["calls"] for each in tests),
        "hits": sum(each["spent"]["hits"] for each in tests),
        **({"cost": round(sum(costs), 6)} if costs else {}),
    }
    for name, value in told.items():
        writing.add_global_property(f"{_PREFIX}{name}", value)


def name_phase(report: pytest.TestReport, config: pytest.Config) -> None:
    """Name the phase of an error as it is; pytest takes all that is not the teardown for the setup."""
    writing = _writing(config)
    if writing is None or report.when != PHASE:
        return
    for node in writing.node_reporter(report).nodes:
        said = node.get("message", "")
        if node.tag == "error" and said.startswith(_PYTESTS):
            node.set("message", said.replace(_PYTESTS, f"failed on {PHASE} with ", 1))


def _writing(config: pytest.Config) -> Any:
    """The report that pytest is writing, if it is; it has no public way there."""
    from _pytest.junitxml import xml_key

    return config.stash.get(xml_key, None)


# What pytest-html and allure show of a robust test, where a run writes their reports; nothing is loaded elsewhere.


_ATTACHMENT_WIDTH = 100  # columns of attached text
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

    from pytest_promptfuzz.reporting.terminal.summary import failure_lines, one_line, render

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
    if not _allure(item.config) or not hasattr(report, "promptfuzz"):
        return
    from allure_commons.model2 import StatusDetails

    listener: Any = item.config.pluginmanager.get_plugin(_LISTENER)
    result = listener.allure_logger.get_test(listener._cache.get(item.nodeid))  # noqa: SLF001 - no public way
    untrusted = report.when == PHASE
    result.status = "broken" if untrusted else report.outcome
    result.statusDetails = None
    if report.outcome != "passed":
        from pytest_promptfuzz.reporting.terminal.summary import one_line

        crash = getattr(report.longrepr, "reprcrash", None)  # it knows of drift, too
        said = getattr(report, "wasxfail", "") or (crash.message if crash else one_line(report.promptfuzz))
        result.statusDetails = StatusDetails(message=said, trace=report.longreprtext)


def _allure(config: pytest.Config) -> bool:
    active = getattr(config.option, "allure_report_dir", None)
    return bool(active) and config.pluginmanager.has_plugin(_LISTENER)


def _plain(report: TestReport) -> dict[str, Any]:
    """As reports of a run hold it."""
    from pytest_promptfuzz.reporting.schema import packed

    return packed({**report, "outcome": ""})


# A test in a few lines of HTML, for reports of other tools that take a piece of it. Nothing of a model is markup.


_TAGS = {"-": "del", "+": "ins"}
_SNIPPET_WIDTH = 100
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
