"""Options that several commands share; where a command writes: colour, width, JSON."""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from pytest_promptfuzz.errors import UsageError, unstopped
from pytest_promptfuzz.evaluating.settings import (
    LIMITS,
    MARK_KEYS,
    PROFILES,
    RUN_SETTINGS,
    read_tool,
)
from pytest_promptfuzz.mutations.engine.selection import as_operator, read_mutations, read_operators
from pytest_promptfuzz.reporting.terminal.styled_text import MIN_WIDTH, render
from pytest_promptfuzz.text.safe_text import fit_encoding, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.evaluating.settings import Setting
    from pytest_promptfuzz.reporting.terminal.styled_text import Line
    from pytest_promptfuzz.running.limits.limits import SessionLimits


class WrongArguments(Exception):  # noqa: N818 - said of what was given, as argparse says it
    """What is wrong with the arguments of a command.

    Attributes:
        parser: The command's.
    """

    def __init__(self, parser: argparse.ArgumentParser, message: str) -> None:
        super().__init__(message)
        self.parser = parser


class CommandParser(argparse.ArgumentParser):
    """A parser whose help ends with exit codes; it raises its errors, and shows its help where nothing is given."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"epilog": "exit codes: 0: done, 2: wrong usage or environment", **settings})

    def add_subparsers(self, **settings: Any) -> Any:
        """As argparse's own; where one is required and none is given, the help is shown."""
        if settings.pop("required", False):
            self.set_defaults(execute=self._without_command, width=None, no_color=False)
        return super().add_subparsers(**settings)

    def _without_command(self, options: argparse.Namespace, output: Output) -> int:
        del options
        output.text(self.format_help().rstrip())
        return 2

    def error(self, message: str) -> NoReturn:
        """As argparse's own, but that the caller shows it.

        Raises:
            WrongArguments: Always.
        """
        raise WrongArguments(self, message)


NO_TARGET = "no target. Add --target openai:MODEL, anthropic:MODEL, compatible:MODEL@URL or simulated."
_PREFIX = "--"
_SHARED = {**RUN_SETTINGS, **MARK_KEYS}
"""The settings that a command may take as well, by name."""


def add_setting(group: argparse._ActionsContainer, name: str, *names: str, **differing: Any) -> None:
    """An option that is a setting of the table: its name, default and help are the table's.

    Args:
        group: Gets it.
        name: The setting's.
        names: Other names of the option, which come first.
        differing: What this command has otherwise, as ``add_argument`` takes it.
    """
    setting = _SHARED[name]
    row = {"default": setting.default, "help": setting.command_help}
    if setting.metavar is not None and "choices" not in differing:
        row["metavar"] = setting.metavar
    group.add_argument(*names, setting.flag, **{**row, **differing})


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
        "--no-color",
        action="store_true",
        help="print without colour (as NO_COLOR=1 does; FORCE_COLOR=1 forces colour)",
    )


def options_but(parser: argparse.ArgumentParser, *others: str) -> dict[str, argparse.Action]:
    """The options that a command has by now, by what they are stored as, but for these and ``--help``."""
    own = [each for each in parser._actions if each.option_strings]  # noqa: SLF001 - argparse has no list of them
    return {each.dest: each for each in own if each.dest not in {"help", *others}}


def given_among(options: argparse.Namespace, own: Mapping[str, argparse.Action]) -> list[str]:
    """Those of some options that were given, as they are written; the default, written out, is as good as nothing."""
    return [each.option_strings[-1] for name, each in own.items() if getattr(options, name) != each.default]


OUTPUT_OPTIONS = ("json", "width", "no_color")
"""What ``add_output_options`` adds."""


def add_plan_options(parser: argparse.ArgumentParser, *, mixed: bool = False) -> None:
    """``-n``, ``--seed`` and ``--operators``.

    Args:
        parser: Gets them.
        mixed: Whether ``-n`` also takes counts by name: ``lexical=3,synonym=2``.
    """
    group = parser.add_argument_group("mutations")
    amount = _SHARED["mutations"].command_help
    add_setting(
        group,
        "mutations",
        "-n",
        type=_mutations if mixed else int,
        metavar="N|A=2,B=1" if mixed else "N",
        help=amount + (", or counts by operator: A=2,B=1" if mixed else ""),
    )
    add_setting(group, "seed", type=int)
    add_setting(group, "operators", type=_operators, metavar="A,B|A=2,B=1")


def add_comparing_options(group: argparse._ArgumentGroup) -> None:
    """``--task``, ``--embedder``, ``--entailment`` and ``--judge``."""
    add_setting(group, "task")
    add_setting(group, "embedder")
    add_setting(group, "entailment", metavar="FOLDER", type=_entailment)
    add_setting(group, "judge")


def add_answer_options(group: argparse._ActionsContainer) -> None:
    """``--mode`` and ``--cache-dir``."""
    group.add_argument(
        "--mode",
        choices=("auto", "live"),
        default="auto",
        help="auto uses stored answers and calls for the rest, live always calls (auto)",
    )
    add_setting(group, "cache_dir")


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """``--max-calls``, ``--rpm`` and the others that pytest knows as ``--promptfuzz-…``."""
    group = parser.add_argument_group("limits and budget")
    for name, setting in LIMITS.items():
        add_setting(group, name, type=functools.partial(read_setting, setting))


def limits_of(options: argparse.Namespace) -> SessionLimits:
    """The gate that they make, with limits and prices of pyproject.toml in the working folder.

    Raises:
        UsageError: That file cannot be read, or they are wrong in it.
    """
    from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings, rules_and_prices

    rules, prices = rules_and_prices(read_tool(Path.cwd()))
    settings = Settings.of(vars(options), rules=rules, prices=prices, prefix=_PREFIX)
    return SessionLimits(settings, told=lambda text: print(f"promptfuzz: {safe(text)}", file=sys.stderr))


def named_profiles() -> dict[str, Profile]:
    """The profiles that pyproject.toml in the working folder names.

    Raises:
        UsageError: That file cannot be read, or they are wrong in it.
    """
    from pytest_promptfuzz.comparing.profiles import profiles_from

    return profiles_from(read_tool(Path.cwd()).get("profiles", {}), PROFILES)


def read_setting(setting: Setting, text: str) -> Any:
    """A setting as an option gives it.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    try:
        return setting.kind.read(text)
    except ValueError as error:
        hint = f". {unstopped(error)}" if str(error).startswith("Did you mean") else ""
        raise argparse.ArgumentTypeError(f"{text!r} is not {setting.kind.expected}{hint}") from None


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
        raise argparse.ArgumentTypeError(str(error)) from None
    if isinstance(made, list) and len(made) == 1:
        try:
            as_operator(made[0])
        except UsageError as error:
            said = str(error).removeprefix("operators: ")
            raise argparse.ArgumentTypeError(f"{text!r} is not a number such as 8, and {said}") from None
    return made


def _operators(text: str) -> dict[str, float] | list[str]:
    try:
        return read_operators(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def operator_names(text: str) -> list[str]:
    """Operators as ``--operators`` is given them where weights mean nothing.

    Raises:
        argparse.ArgumentTypeError: An unknown one.
    """
    return list(_operators(text))


def from_one(text: str) -> int:
    """A count of something, at least 1."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


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
