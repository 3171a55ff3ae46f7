"""The report as a page: one HTML file that needs no network, no server and no other file."""

from __future__ import annotations

from pytest_promptfuzz.reporting.html.page import html_report

__all__ = ["html_report"]
