"""GitHub Actions: annotations at the lines of tests, a step's summary and its output values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.findings import Finding, findings
from pytest_promptfuzz.reporting.markdown import LEAST, markdown_report
from pytest_promptfuzz.reporting.overview import headline, overview
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.words import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.reporting.document import Document

SUMMARY_LIMIT = 1024 * 1024
"""Bytes of a step's summary; GitHub shows nothing of a longer one."""
MOST_ANNOTATIONS = 10
"""Of each level GitHub shows no more of a step."""
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_TITLES = {
    "brittle": "Brittle prompt",
    "noisy": "Noisy answers",
    "inconclusive": "Inconclusive",
    "unjudged": "Not judged",
    "failed": "Failed test",
    "condition": "Condition met",
    "worse": "Worse than the base",
    "drift": "Drift",
}
_OUTPUT = re.compile(r"[^\n\r]*\Z")


@dataclass(frozen=True, slots=True)
class GithubReport:
    """What a step tells GitHub: lines for its log, text to append to its summary, lines to append to its outputs."""

    annotations: list[str]
    summary: str
    outputs: str


def github_report(document: Document, *, summary_limit: int = SUMMARY_LIMIT) -> GithubReport:
    """What GitHub is told of a run.

    Args:
        document: Of a run; paths of tests are from the root of the repository.
        summary_limit: Bytes that are left in the step's summary; nothing is added to one that is full.
    """
    return GithubReport(
        annotations=annotation_lines(findings(document)),
        summary=markdown_report(document, limit=summary_limit) if summary_limit >= LEAST else "",
        outputs=output_lines(document),
    )


def annotation_lines(found: Sequence[Finding]) -> list[str]:
    """Workflow commands, one a finding: the worst first, ten of each level, of which the last says how many more."""
    lines = []
    for level, command in _COMMANDS.items():
        every = [each for each in found if each.level == level]
        shown = every if len(every) <= MOST_ANNOTATIONS else every[: MOST_ANNOTATIONS - 1]
        lines += [_command(each) for each in shown]
        if len(shown) < len(every):
            rest = count(len(every) - len(shown), f"more {level}")
            lines.append(f"::{command} title=Prompt robustness::{rest}; the step's summary has all of them")
    return lines


def _command(found: Finding) -> str:
    where = f"file={_property(found.path)},line={found.line}," if found.path else ""
    title = _property(f"{_TITLES[found.kind]}: {safe(found.test)}")
    return f"::{_COMMANDS[found.level]} {where}title={title}::{_data(found.message)}"


def _data(text: str) -> str:
    """As GitHub's runner reads a command's message back."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Likewise, of a property."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def output_lines(document: Document) -> str:
    """The step's output values, as ``$GITHUB_OUTPUT`` has them: ``steps.ID.outputs.brittle`` and so on."""
    whole = overview(document)
    values = {
        "verdict": whole.result,
        "headline": headline(document),
        "tests": whole.tests,
        "failed": whole.failed,
        **{name: whole.verdicts.get(name, 0) for name in ("brittle", "noisy", "inconclusive")},
        "unjudged": whole.unjudged,
        "drifted": whole.drifted,
        "worse": whole.worse,
        "score_min": "" if whole.score_min is None else whole.score_min,
        "cost": "" if whole.cost is None else f"{whole.cost:.6f}",
    }
    return "".join(output(name, str(value)) for name, value in values.items())


def output(name: str, value: str) -> str:
    """One output value; of several lines, between delimiters that none of them is."""
    if _OUTPUT.match(value):
        return f"{name}={value}\n"
    delimiter, lines = "promptfuzz", re.split(r"\r\n|\r|\n", value)
    while any(delimiter in each for each in lines):
        delimiter += "_"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def write_github(
    document: Document, environment: Mapping[str, str], write: Callable[[str], object]
) -> list[str]:
    """Tell GitHub: annotations through ``write``, a line each, the rest to the files that the environment names.

    Returns:
        What was written to files: ``a summary``, ``output values``.

    Raises:
        OSError: A file cannot be written.
    """
    summary, values = environment.get("GITHUB_STEP_SUMMARY"), environment.get("GITHUB_OUTPUT")
    used = Path(summary).stat().st_size if summary and Path(summary).exists() else 0
    told = github_report(document, summary_limit=SUMMARY_LIMIT - used)
    for line in told.annotations:
        write(line)
    written = []
    for path, text, what in ((summary, told.summary, "a summary"), (values, told.outputs, "output values")):
        if path and text:
            with Path(path).open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
            written.append(what)
    return written
