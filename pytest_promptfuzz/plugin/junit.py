"""What JUnit reports say of a robust test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.plugin.translate import PHASE

if TYPE_CHECKING:
    import pytest

    from pytest_promptfuzz.reporting.model import TestReport

_PYTESTS = "failed on setup with "


def properties(report: TestReport) -> dict[str, str | float]:
    """What goes along as ``promptfuzz_…``: what is known, and nothing for what is not.

    ``score`` is raw and ``adjusted_score`` without the model's noise; where trials without an outcome leave the score
    open, ``score_lowest`` and ``score_highest`` stand in its place, as in the terminal. All are from 0 to 1. A search
    has none of them: its method, objective, queries and budget, and the trial that it found.
    """
    searched = report.get("searched")
    if searched is not None:
        told = {name: searched[name] for name in ("method", "objective", "queries", "budget")}
        found = [each["id"] for each in report["counterexamples"]]
        ids: dict[str, str | float] = {"counterexample": found[0]} if found else {}
        return {
            "verdict": report["verdict"],
            **{f"search_{name}": each for name, each in told.items()},
            **ids,
        }
    low, high = report["bounds"]
    interval = report["interval"]
    is_open = report["verdict"] == "inconclusive" and low < high
    known: dict[str, str | float | None] = {
        "verdict": report["verdict"],
        "score": None if is_open else report["score"],
        "threshold": report["threshold"],
        "adjusted_score": report["adjusted_score"],
    }
    if is_open:
        known |= {"score_lowest": low, "score_highest": high}
    if interval is not None:
        known |= {"interval_low": interval["low"], "interval_high": interval["high"]}
    return {name: value for name, value in known.items() if value is not None}


def name_phase(report: pytest.TestReport, config: pytest.Config) -> None:
    """Name the phase of an error as it is; pytest takes all that is not the teardown for the setup."""
    from _pytest.junitxml import xml_key  # pytest has no public way to a report that it is writing

    writing = config.stash.get(xml_key, None)
    if writing is None or report.when != PHASE:
        return
    for node in writing.node_reporter(report).nodes:
        said = node.get("message", "")
        if node.tag == "error" and said.startswith(_PYTESTS):
            node.set("message", said.replace(_PYTESTS, f"failed on {PHASE} with ", 1))
