"""Options that several commands share."""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.selection import as_operator, read_mutations, read_operators
from pytest_promptfuzz.reporting.terminal.styled_text import MIN_WIDTH
from pytest_promptfuzz.reporting.terminal.summary import render
from pytest_promptfuzz.running.limits.settings import (
    GIVEN,
    PROFILES,
    read_tool,
    rules_and_prices,
    settings_of,
)
from pytest_promptfuzz.text.safe_text import fit_encoding, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.reporting.terminal.styled_text import Line
    from pytest_promptfuzz.running.limits.limits import SessionLimits
    from pytest_promptfuzz.running.limits.settings import Given


_PREFIX = "--"


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """``--json``, ``--width`` and ``--no-color``."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="write JSON instead of text")
    group.add_argument(
        "--width",
        type=_width,
        metavar="COLUMNS",
        help=f"columns to fill, at least {MIN_WIDTH} (the terminal's)",
    )
    group.add_argument(
        "--no-color", action="store_true", help="no colour (also: NO_COLOR=1; FORCE_COLOR=1 is yes)"
    )


def add_plan_options(parser: argparse.ArgumentParser, *, mixed: bool = False) -> None:
    """``-n``, ``--seed`` and ``--operators``.

    Args:
        parser: Gets them.
        mixed: Whether ``-n`` also takes counts by name: ``lexical=3,synonym=2``.
    """
    group = parser.add_argument_group("mutations")
    group.add_argument(
        "-n",
        "--mutations",
        type=_mutations if mixed else int,
        default=8,
        metavar="N|A=2,B=1" if mixed else "N",
        help="how many mutations, 1 to 10,000 (8)" + (", or how many of what" if mixed else ""),
    )
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed gives the same mutations (0)"
    )
    group.add_argument(
        "--operators",
        type=_operators,
        metavar="A,B|A=2,B=1",
        help="use only these operators or dimensions (`promptfuzz operators` lists them), or give them weights; A:3 "
        "and A:20%% say how much of A, A+B applies both",
    )


def add_comparing_options(group: argparse._ArgumentGroup) -> None:
    """``--task``, ``--embedder``, ``--entailment`` and ``--judge``."""
    group.add_argument(
        "--task",
        metavar="NAME",
        help="how answers are compared (by default inferred from the answer to the unmutated prompt)",
    )
    group.add_argument(
        "--embedder",
        metavar="NAME",
        help="provider of embeddings that compares answers by meaning: openai:MODEL or compatible:MODEL@URL (by "
        "default a model on this machine)",
    )
    group.add_argument(
        "--entailment",
        metavar="FOLDER",
        type=_entailment,
        help="folder of the model that tells whether one text follows from another (by default an installed one)",
    )
    group.add_argument(
        "--judge",
        metavar="NAME",
        help="model that rates answers which the built-in comparisons cannot decide (none)",
    )


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """``--max-calls``, ``--rpm`` and the others that pytest knows as ``--promptfuzz-…``."""
    group = parser.add_argument_group("limits and budget")
    for each in GIVEN:
        group.add_argument(
            _PREFIX + each.name.replace("_", "-"),
            type=functools.partial(_read, each),
            default=each.default,
            metavar=each.metavar,
            help=each.help,
        )


def limits_of(options: argparse.Namespace) -> SessionLimits:
    """The gate that they make, with limits and prices of pyproject.toml in the working folder.

    Raises:
        UsageError: That file cannot be read, or they are wrong in it.
    """
    from pytest_promptfuzz.running.limits.limits import SessionLimits

    rules, prices = rules_and_prices(read_tool(Path.cwd()))
    settings = settings_of(vars(options), rules=rules, prices=prices, prefix=_PREFIX)
    return SessionLimits(settings, told=lambda text: print(f"promptfuzz: {safe(text)}", file=sys.stderr))


def named_profiles() -> dict[str, Profile]:
    """The profiles that pyproject.toml in the working folder names.

    Raises:
        UsageError: That file cannot be read, or they are wrong in it.
    """
    from pytest_promptfuzz.comparing.profiles import profiles_from

    return profiles_from(read_tool(Path.cwd()).get("profiles", {}), PROFILES)


def _read(given: Given, text: str) -> Any:
    try:
        return given.read(text)
    except ValueError:
        expected = (given.read.__doc__ or "").strip(".").lower()
        raise argparse.ArgumentTypeError(f"{text!r} is not {expected}") from None


def _entailment(text: str) -> str:
    from pytest_promptfuzz.judging.models import check_entailment_folder

    try:
        return check_entailment_folder(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _width(text: str) -> int:
    try:
        width = int(text)
    except ValueError:
        width = 0
    if width < MIN_WIDTH:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of columns from {MIN_WIDTH}")
    return width


def written(mutations: int | dict[str, float] | list[str]) -> str:
    """What ``-n`` or ``--operators`` was given, as it is written there."""
    if isinstance(mutations, dict):
        return ",".join(f"{name}={count}" for name, count in mutations.items())
    return ",".join(mutations) if isinstance(mutations, list) else str(mutations)


def _mutations(text: str) -> int | dict[str, float] | list[str]:
    try:
        made = read_mutations(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(re.sub("^mutations ", "", str(error))) from None
    if isinstance(made, list) and len(made) == 1:
        try:
            as_operator(made[0])
        except UsageError as error:
            said = str(error).removeprefix("operators: ")
            raise argparse.ArgumentTypeError(f"{text!r} is no count such as 8, and {said}") from None
    return made


def _operators(text: str) -> dict[str, float] | list[str]:
    try:
        return read_operators(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(re.sub("^operators ", "", str(error))) from None


def operator_names(text: str) -> list[str]:
    """Operators as ``--operators`` is given them where weights mean nothing.

    Raises:
        argparse.ArgumentTypeError: An unknown one.
    """
    return list(_operators(text))


def plain(docstring: str | None) -> str:
    """A docstring as a person reads it in a terminal: without the marks of code."""
    return (docstring or "").replace("``", "")


def queries(text: str) -> int | str:
    """A number of queries; anything else is left to whoever reads the other settings, since ``off`` is one, too."""
    return int(text) if text.isdecimal() else text


# Where a command writes: colour, width and encoding of the terminal, and a reader that may go away.


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
