"""Reports of runs, made by the parts that make them in a run."""

from __future__ import annotations

from typing import Any

from pytest_promptfuzz import evaluate
from pytest_promptfuzz.reporting.document import Document, DocumentTest, RunReport, document
from pytest_promptfuzz.reporting.model import report_test

PROMPT = """Classify the urgency of the support ticket into exactly one of these levels: high, medium, low.

- high: outages, lost payments, stolen accounts
- medium: late parcels, broken products
- low: questions, wishes, thanks

Answer with the level only.

Ticket: My payment is lost, and my parcel is late."""


def run(**given: Any) -> RunReport:
    made: RunReport = {
        "id": "0123456789ab",
        "name": "",
        "started": "2026-03-01T08:00:00Z",
        "seconds": 12.5,
        "version": "0.1.0",
        "python": "3.11.7",
        "mode": "auto",
        "seed": 0,
        "commit": "4e5f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5",
        "branch": "main",
        "dirty": False,
        "complete": True,
    }
    return {**made, **given}  # type: ignore[typeddict-item]


def judged(name: str = "test_urgency", prompt: str = PROMPT, **given: Any) -> DocumentTest:
    result = evaluate(prompt, "simulated", **{"mutations": 8, "stop": "never", **given})
    report = report_test(
        result,
        test=f"tests/test_it.py::{name}",
        location=("tests/test_it.py", 12),
        reproduce=f"pytest 'tests/test_it.py::{name}' --promptfuzz-trial={{id}}",
    )
    outcome = "passed" if report["verdict"] == "pass" else "failed"
    return {**report, "outcome": outcome}  # type: ignore[typeddict-item]


def made(*tests: DocumentTest, **given: Any) -> Document:
    return document(given.pop("run", run()), tests, **given)
