"""Where a command writes: colour, width and encoding of the terminal, and a reader that may go away."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, TextIO

from pytest_promptfuzz.reporting.safe import fit_encoding, safe
from pytest_promptfuzz.reporting.terminal import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_promptfuzz.reporting.text import Line


class Output:
    """Writes lines, text and JSON to standard output, and errors to standard error.

    No character makes it fail, whatever the encoding; once the reader has gone (``| head``) it is silent, so that
    a command still ends with its own exit code.

    Args:
        width: Columns; ``None`` asks the terminal (``COLUMNS`` first), 80 where there is none.
        color: ``None`` decides by ``NO_COLOR``, ``FORCE_COLOR`` and the terminal.
    """

    def __init__(self, *, width: int | None = None, color: bool | None = None) -> None:
        self.width = shutil.get_terminal_size((80, 24)).columns if width is None else width
        self.color = wants_color(sys.stdout, os.environ) if color is None else color
        self._gone: set[TextIO] = set()

    def lines(self, lines: Iterable[Line]) -> None:
        """Write styled lines."""
        held = list(lines)
        if held:
            self.text(render(held, width=self.width, color=self.color))

    def text(self, text: str) -> None:
        """Write a text that is safe already, and a line feed."""
        self._write(sys.stdout, text)

    def say(self, sentence: str) -> None:
        """Write a sentence, laid out to the width."""
        self.lines([[(sentence, "plain")]])

    def json(self, value: Any) -> None:
        """Write JSON, in ASCII: nothing in it can act on a terminal, and no encoding is lacking."""
        self.text(json.dumps(value, indent=2, ensure_ascii=True))

    def error(self, text: str) -> None:
        """Write a line to standard error, unbroken, so that it can be searched for."""
        self._write(sys.stderr, safe(text))

    def _write(self, stream: TextIO, text: str) -> None:
        if stream in self._gone:
            return
        try:
            stream.write(fit_encoding(text, stream.encoding) + "\n")
            stream.flush()
        except BrokenPipeError:
            self._gone.add(stream)
            # Python flushes once more when it ends; that must find an open file.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)


def wants_color(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether to colour: ``NO_COLOR`` says no, else ``FORCE_COLOR`` says yes, else a terminal that can.

    Both count when they are set to anything but the empty text; ``FORCE_COLOR=0`` says no.
    """
    if environment.get("NO_COLOR"):
        return False
    forced = environment.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return stream.isatty() and environment.get("TERM") != "dumb"
