"""Robust tests in JUnit reports: properties of a test and of the suite, the phase of an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.plugin.output.outcome import PHASE, SessionResults

if TYPE_CHECKING:
    import pytest

    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.model import TestReport


_PYTESTS = "failed on setup with "


_PREFIX = "promptfuzz_"


_LONG = 200  # of a name that a target has


Properties = dict[str, str | int | float]


def properties(report: TestReport) -> Properties:
    """What goes along as ``promptfuzz_…``: what is known, and nothing for what is not.

    ``score`` is raw and ``adjusted_score`` without the model's noise; where trials without an outcome leave the score
    open, ``score_lowest`` and ``score_highest`` stand in its place, as in the terminal. All are from 0 to 1. A search
    has none of them: its method, objective, queries and budget. ``trials_…`` count outcomes, ``worse`` and ``better``
    trials beside the run before (gate ``no-worse``); ``drift`` names what has changed since the snapshot;
    ``accepted`` says of a test that is accepted as brittle what became of that, and the others why and until when;
    ``counterexample`` is the trial of the smallest edit known to break the test, which is ``smallest_edit``.
    """
    searched = report.get("searched")
    known: dict[str, Any] = {"verdict": report["verdict"], "reason": report["reason"]}
    if searched is None:
        known |= _scores(report) | _trials(report)
    else:
        known |= {f"search_{name}": searched[name] for name in ("method", "objective", "queries", "budget")}
    if (accepted := report["accepted"]) is not None:
        known |= {
            "accepted": accepted["status"],
            "accepted_until": accepted["until"],
            "accepted_reason": accepted["reason"],
        }
    known |= _asked(report)
    kinds = dict.fromkeys(each["kind"] for each in report["drift"])
    known["drift"] = ", ".join(kinds) or None
    if report["counterexamples"]:
        from pytest_promptfuzz.reporting.terminal.rows import edit_text

        first = report["counterexamples"][0]
        known |= {"counterexample": first["id"], "smallest_edit": edit_text(first["diff"])}
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
