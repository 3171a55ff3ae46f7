"""Options that several commands share."""

from __future__ import annotations

import argparse
import functools
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.selection import read_mutations, read_operators
from pytest_promptfuzz.mutations.strata import as_operator
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import MIN_WIDTH
from pytest_promptfuzz.running.limits.given import GIVEN, settings_of
from pytest_promptfuzz.running.tables import PROFILES, read_tool, rules_and_prices

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.running.limits.given import Given
    from pytest_promptfuzz.running.limits.limits import Limits

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


def limits_of(options: argparse.Namespace) -> Limits:
    """The gate that they make, with limits and prices of pyproject.toml in the working folder.

    Raises:
        UsageError: That file cannot be read, or they are wrong in it.
    """
    from pytest_promptfuzz.running.limits.limits import Limits

    rules, prices = rules_and_prices(read_tool(Path.cwd()))
    settings = settings_of(vars(options), rules=rules, prices=prices, prefix=_PREFIX)
    return Limits(settings, told=lambda text: print(f"promptfuzz: {safe(text)}", file=sys.stderr))


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
    from pytest_promptfuzz.embedding.entailment_models import check_entailment_folder

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
