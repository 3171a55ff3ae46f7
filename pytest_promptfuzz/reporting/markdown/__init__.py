"""The report as Markdown, for a pull request's comment and a step's summary."""

from pytest_promptfuzz.reporting.markdown.page import LEAST, LIMIT, MARKER, markdown_report

__all__ = ["LEAST", "LIMIT", "MARKER", "markdown_report"]
