"""``promptfuzz``: the command line. One module a command; here they are named, chosen, and their errors shown."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from pytest_promptfuzz.cli import (
    compare,
    explain,
    gc,
    history,
    lexicon,
    model,
    mutate,
    operators,
    prefill,
    replay,
    report,
    run,
    search,
    serve,
    trend,
)
from pytest_promptfuzz.cli.cache import command as cache
from pytest_promptfuzz.cli.output import Output
from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.reporting.document import version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

AS_HOPED, AGAINST, USAGE, INCONCLUSIVE, INTERRUPTED = 0, 1, 2, 3, 130

_EPILOG = "exit codes: 0: passed, 1: failed, 2: wrong usage or environment, 3: inconclusive"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: Arguments without the program's name; ``None`` takes the process's.

    Returns:
        0 passed, 1 failed, 2 wrong usage or environment, 3 inconclusive, 130 interrupted.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["serve"]:
        return serve.execute(given[1:])
    try:
        parser, commands = _parser()
        options, unknown = parser.parse_known_args(given)
        if unknown:
            # The command's own usage helps; argparse would print the list of commands.
            commands[options.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else USAGE
    output = Output(width=options.width, color=False if options.no_color else None)
    try:
        return int(options.execute(options, output))
    except PromptfuzzError as error:
        # An argument's name may be the command's: it is said once.
        said = str(error).removeprefix(f"{options.command}: ").removeprefix("evaluate: ")
        output.error(f"promptfuzz {options.command}: {said}")
        return USAGE
    except KeyboardInterrupt:
        output.error(f"promptfuzz {options.command}: interrupted")
        return INTERRUPTED


def _parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The parser, and that of each command."""
    parser = argparse.ArgumentParser(
        prog="promptfuzz",
        description="Test whether a prompt still works when it is worded differently.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"promptfuzz {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (
        run,
        search,
        explain,
        replay,
        report,
        history,
        compare,
        trend,
        gc,
        mutate,
        operators,
        cache,
        prefill,
        lexicon,
        model,
        serve,
    ):
        module.add_parser(commands)
    return parser, commands.choices
