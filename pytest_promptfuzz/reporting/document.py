"""The report of a run: one JSON document, of which every report is rendered.

On disk it is packed: a trial has its edits over one of its test's ``prompts``, and no copy of them;
``reporting.packing`` goes both ways. ``promptfuzz report schema`` prints its JSON Schema.
"""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, TypedDict

from pytest_promptfuzz.reporting.model import TestReport

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.history.changes import ChangesReport, TrendsReport

KIND = "report"
FORMAT = 1
"""Another number is another language; keys may be added under the same."""


class RunReport(TypedDict):
    """A run: when (UTC, ISO 8601, to the millisecond) and how long, by which version, in which mode, on which commit.

    ``complete`` is false of a run that ended before its last test. ``dirty`` is ``None`` outside of git.
    """

    id: str
    name: str
    started: str
    seconds: float
    version: str
    python: str
    mode: str
    seed: int
    commit: str
    branch: str
    dirty: bool | None
    complete: bool


class DocumentTest(TestReport):
    """A robust test that was judged; ``outcome`` is pytest's: ``passed|failed|error|skipped|xfailed``."""

    outcome: str


class UnjudgedReport(TypedDict):
    """A robust test without a verdict: it failed unmutated, or could not be run; ``outcome`` as pytest has it."""

    test: str
    outcome: str
    message: str
    location: tuple[str, int] | None


class Document(TypedDict):
    """All that is known of a run. ``tests`` are in the order in which they ended."""

    promptfuzz: str
    format: int
    run: RunReport
    tests: list[DocumentTest]
    unjudged: list[UnjudgedReport]
    changes: ChangesReport | None
    trends: TrendsReport | None
    warnings: list[str]


def version() -> str:
    """Of this package."""
    try:
        return metadata.version("pytest-promptfuzz")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def document(
    run: RunReport,
    tests: Iterable[DocumentTest],
    *,
    unjudged: Iterable[UnjudgedReport] = (),
    changes: ChangesReport | None = None,
    trends: TrendsReport | None = None,
    warnings: Iterable[str] = (),
) -> Document:
    """The document of a run."""
    return Document(
        promptfuzz=KIND,
        format=FORMAT,
        run=run,
        tests=list(tests),
        unjudged=list(unjudged),
        changes=changes,
        trends=trends,
        warnings=list(warnings),
    )
