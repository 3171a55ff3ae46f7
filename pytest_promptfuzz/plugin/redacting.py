"""What a test's report shows is redacted, as what is stored is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.plugin.outcome import RobustnessRepr

if TYPE_CHECKING:
    import pytest

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.wire.redact import Redaction


def redaction_of(session: Session) -> Redaction:
    """What is hidden: shapes of keys, configured patterns, and the credentials that this run has used."""
    return session.redaction.with_values(tuple(sorted(session.secrets)))


def hide(report: pytest.TestReport, redaction: Redaction) -> None:
    """Take what looks like a key out of a report's traceback and captured output."""
    if report.longrepr is not None and not isinstance(
        report.longrepr, RobustnessRepr
    ):  # made of what is redacted
        said = str(report.longrepr)
        hidden = redaction.text(said)
        if hidden != said:
            if isinstance(report.longrepr, tuple):  # a skip's path, line and reason
                path, line, reason = report.longrepr
                report.longrepr = (path, line, redaction.text(reason))
            else:
                report.longrepr = hidden
    report.sections = [(name, redaction.text(content)) for name, content in report.sections]
