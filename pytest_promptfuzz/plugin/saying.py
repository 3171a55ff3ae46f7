"""Writing to pytest's terminal: laid out to its width, in its colours, and in what its encoding has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

    from pytest_promptfuzz.reporting.text import Line, Style


def write(writer: Any, lines: Iterable[Line]) -> None:
    """Write styled lines to a terminal writer of pytest's; nothing where there are none."""
    from pytest_promptfuzz.reporting.safe import fit_encoding
    from pytest_promptfuzz.reporting.text import render

    held = list(lines)
    if held:
        text = render(held, width=writer.fullwidth, color=writer.hasmarkup)
        # pytest itself would escape whole lines that it cannot encode.
        encoding = getattr(getattr(writer, "_file", None), "encoding", None) or "utf-8"
        writer.line(fit_encoding(text, encoding))


def say(reporter: pytest.TerminalReporter, sentence: str, style: Style = "plain") -> None:
    """Write a sentence of ours below pytest's summary."""
    reporter.ensure_newline()
    write(reporter._tw, [ours(sentence, style)])  # noqa: SLF001 - the only way to its width and colours


def ours(sentence: str, style: Style = "plain") -> Line:
    """A sentence, marked as the plugin's."""
    from pytest_promptfuzz.reporting.text import HANG

    return [("promptfuzz: ", "label"), HANG, (sentence, style)]
