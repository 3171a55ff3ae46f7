"""Errors of one cause: pytest's section ERRORS shows them once, with the tests that ended in them.

The reports themselves stay as they are, and so do the short summary, counts and JUnit reports.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.plugin.output.outcome import PHASE, MessageRepr, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.reporting.terminal.styled_text import Line

_MOST_TESTS = 3  # that are named


def once_each(errors: Sequence[Any]) -> list[Any]:
    """The reports with one in the place of all that say the same of robust tests."""
    groups: dict[object, list[Any]] = {}
    for report in errors:
        groups.setdefault(_cause(report), []).append(report)
    return [group[0] if len(group) == 1 else _of_all(group) for group in groups.values()]


def _cause(report: Any) -> object:
    """What a report says, apart from its test; a report that is not ours is like no other."""
    if isinstance(report.longrepr, MessageRepr):
        return report.when, report.longrepr.reprcrash.message
    if report.when == PHASE and hasattr(report, "promptfuzz"):
        return report.when, str(report.longrepr)
    return id(report)


def _of_all(group: Sequence[Any]) -> Any:
    """A report for several."""
    made = copy(group[0])
    path, line, _ = made.location
    vars(made).pop("node", None)  # the worker of xdist, which is one of several
    made.location = (path, line, f"{len(group)} tests")
    made.longrepr = _RepeatedRepr(
        made.longrepr, [each.nodeid for each in group], captured=bool(made.sections)
    )
    return made


class _RepeatedRepr:
    """What pytest prints for several tests: what all of them say, then their names.

    Args:
        said: What the first of them says.
        tests: Their node IDs.
        captured: Whether pytest may print the first one's output below.
    """

    def __init__(self, said: Any, tests: Sequence[str], *, captured: bool) -> None:
        self._said, self._tests, self._captured = said, tests, captured
        self.reprcrash = said.reprcrash

    def toterminal(self, writer: Any) -> None:
        """Print for the writer's width."""
        if isinstance(self._said, MessageRepr):
            write(writer, [[(row, "plain")] for row in self._said.reprcrash.message.split("\n")])
        else:
            self._said.toterminal(writer)
        write(writer, self._names(writer.fullwidth))

    def _names(self, width: int) -> list[Line]:
        from pytest_promptfuzz.reporting.terminal.rows import INDENT
        from pytest_promptfuzz.reporting.terminal.styled_text import MIN_WIDTH, shorten_start
        from pytest_promptfuzz.text.safe_text import safe

        room = max(width, MIN_WIDTH) - len(INDENT)
        # One more name takes no more room than the line that stands for it.
        most = _MOST_TESTS if len(self._tests) > _MOST_TESTS + 1 else len(self._tests)
        lines: list[Line] = [[(f"{len(self._tests)} tests ended in this error:", "heading")]]
        names = [shorten_start(safe(test).replace("\n", "⏎"), room) for test in self._tests[:most]]
        lines += [[(INDENT + name, "plain")] for name in names]
        if rest := len(self._tests) - most:
            lines.append([(f"{INDENT}… and {rest} more", "dim")])
        if self._captured:
            lines.append([("Output that pytest captured is the first test's.", "dim")])
        return lines

    def __str__(self) -> str:
        return str(self._said)
