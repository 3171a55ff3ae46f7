"""The report of a run that is over, as the terminal showed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.changes import change_lines, condition_lines, operators_of
from pytest_promptfuzz.reporting.failure import failure_lines
from pytest_promptfuzz.reporting.summary import seconds, summary_lines
from pytest_promptfuzz.reporting.text import HANG, Line, named
from pytest_promptfuzz.reporting.words import worst_first

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.document import Document


def document_lines(document: Document, *, width: int = 80) -> list[Line]:
    """What the run was, each test that did not pass, and the table.

    Args:
        document: The run.
        width: Columns it will be rendered to.
    """
    lines: list[Line] = [_run(document)]
    for test in sorted(document["tests"], key=worst_first):
        if test["verdict"] != "pass":
            lines += [[], [(test["test"], "heading")], *failure_lines(test, width=width)]
    for one in document["unjudged"]:
        lines += [
            [],
            named(one["test"], f"{one['outcome']} without a verdict: {one['message']}", style="bad"),
        ]
    lines += [[], *summary_lines(document["tests"], width=width)]
    if not document["tests"] and not document["unjudged"]:
        lines.append([("No robust test ran.", "plain")])
    if (changes := document["changes"]) is not None:
        lines += change_lines(changes, operators_of(document["tests"]))
        lines += [[(each, "bad")] for each in condition_lines(changes["conditions"], "--promptfuzz-fail-on")]
    lines += [[("note: ", "label"), HANG, (warning, "plain")] for warning in document["warnings"]]
    return lines


def _run(document: Document) -> Line:
    run = document["run"]
    parts = [
        f"run {run['id']}",
        f"{run['started'][:19]}Z",
        *([seconds(run["seconds"])] if run["seconds"] else []),
        *([f"mode {run['mode']}"] if run["mode"] else []),
        *([f"commit {run['commit'][:12]}"] if run["commit"] else []),
        *(["it ended before its last test"] if not run["complete"] else []),
    ]
    return [("; ".join(parts), "plain" if run["complete"] else "warn")]
