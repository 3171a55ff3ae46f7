"""``promptfuzz``: the command line. Each command has a module; here they are named, chosen, and their errors shown."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli import (
    compare,
    explain,
    history,
    judge,
    lexicon,
    model,
    mutate,
    operators,
    prefill,
    replay,
    report,
    run,
    search,
    snapshot,
    study,
)
from pytest_promptfuzz.cli.cache import diff, prune, stats, transfer, verify
from pytest_promptfuzz.cli.options import CommandParser, Output, WrongArguments, add_output_options
from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, continued
from pytest_promptfuzz.reporting.document import version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


# ``promptfuzz serve``: the simulated model behind the providers' protocols, on this machine.


def add_serve_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Name the command in the help; it reads its own options."""
    commands.add_parser(
        "serve", help="serve the simulated model on this machine, in the providers' protocols", add_help=False
    )


def execute_serve(argv: Sequence[str]) -> int:
    """Serve until interrupted; returns the exit code."""
    from pytest_promptfuzz.server.command import serve

    return serve(argv)


# ``promptfuzz cache``: look after stored answers: the local cache, and the recordings that lie in git.


_ACTIONS = (
    stats.add_parser,
    verify.add_parser,
    diff.add_parser,
    prune.add_prune_parser,
    prune.add_clear_parser,
    transfer.add_parser,
)


def add_cache_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "cache",
        help="show, check, compare and delete stored answers",
        description=(
            "promptfuzz cache: show, check, compare and delete stored answers: the local cache, and recordings in git."
        ),
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for add_parser in _ACTIONS:
        add_parser(actions)


# ``promptfuzz completion``: a script that lets a shell complete commands, options and files.


_SHELLS = ("bash", "zsh", "tcsh")
_FILES = ("FILE", "PATH", "STUDY", "CELLS", "SOURCE", "RATINGS", "BASE", "NOW")
_FOLDERS = ("FOLDER", "DIR")


def add_completion_parser(commands: argparse._SubParsersAction[Any], whole: CommandParser) -> None:
    """The command's arguments; ``whole`` has all commands."""
    parser = commands.add_parser(
        "completion",
        help="print a script for your shell that completes commands and options",
        description="promptfuzz completion: print a script that lets a shell complete commands, options and files. "
        "For bash: promptfuzz completion bash > ~/.local/share/bash-completion/completions/promptfuzz",
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=_SHELLS, metavar=f"{{{','.join(_SHELLS)}}}", help="your shell")
    add_output_options(parser)
    parser.set_defaults(execute=execute_completion, whole=whole)


def execute_completion(options: argparse.Namespace, output: Output) -> int:
    """Print the script; returns the exit code.

    Raises:
        ConfigurationError: The extra is missing.
    """
    try:
        import shtab
    except ImportError:
        raise ConfigurationError(
            "completion needs the package shtab. Run: pip install 'pytest-promptfuzz[completion]'"
        ) from None
    for action in _actions(options.whole):
        names = action.metavar if isinstance(action.metavar, str) else ""
        wanted = names.replace("|", " ").split()
        if any(each in _FOLDERS for each in wanted):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # as shtab documents it
        elif any(each in _FILES for each in wanted):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    script = shtab.complete(options.whole, shell=options.shell)
    if options.json:
        output.json({"shell": options.shell, "script": script})
    else:
        output.text(script.rstrip())
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no other list of them
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for each in action.choices.values():
                yield from _actions(each)


AS_HOPED, AGAINST, USAGE, INCONCLUSIVE, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: Arguments without the program's name; ``None`` takes the process's.

    Returns:
        0 passed, 1 failed, 2 wrong usage or environment, 3 inconclusive, 130 interrupted.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["serve"]:
        return execute_serve(given[1:])
    parser, commands = _parser()
    try:
        options, unknown = parser.parse_known_args(given)
    except WrongArguments as wrong:
        return _refused(wrong, given)
    except SystemExit as stop:  # --help and --version
        return stop.code if isinstance(stop.code, int) else USAGE
    if unknown:
        # The command's own usage helps; argparse would print the list of commands.
        asked = commands.get(options.command, parser)
        return _refused(WrongArguments(asked, f"unrecognized arguments: {' '.join(unknown)}"), given)
    output = Output(width=options.width, color=False if options.no_color else None)
    try:
        return int(options.execute(options, output))
    except PromptfuzzError as error:
        # An argument's name may be the command's: it is said once.
        said = str(error).removeprefix(f"{options.command}: ").removeprefix("evaluate: ")
        return _ended(output, options, continued(said), USAGE)
    except KeyboardInterrupt:
        return _ended(output, options, "interrupted", INTERRUPTED)


def _ended(output: Output, options: argparse.Namespace, why: str, code: int) -> int:
    """Say why a command ended, to programs as JSON as well; returns the exit code."""
    output.error(f"promptfuzz {_named(options)}: {why}")
    if getattr(options, "json", False):
        output.json({"error": why, "exit_code": code})
    return code


def _refused(wrong: WrongArguments, given: Sequence[str]) -> int:
    """Say what is wrong with the arguments; returns the exit code."""
    output = Output()
    output.error(f"{wrong.parser.format_usage()}{wrong.parser.prog}: error: {wrong}")
    if "--json" in given:
        output.json({"error": str(wrong), "exit_code": USAGE})
    return USAGE


def _named(options: argparse.Namespace) -> str:
    """The command, with what it is to do: ``cache diff``."""
    action = getattr(options, "action", None)
    return f"{options.command} {action}" if isinstance(action, str) else str(options.command)


def command_parser() -> CommandParser:
    """The parser of all commands."""
    return _parser()[0]


def _parser() -> tuple[CommandParser, Mapping[str, argparse.ArgumentParser]]:
    """The parser, and that of each command."""
    parser = CommandParser(
        prog="promptfuzz",
        description="Test whether a prompt still works when it is worded differently.",
        epilog="exit codes: 0: passed, 1: failed, 2: wrong usage or environment, 3: inconclusive",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"promptfuzz {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add_parser in (
        run.add_parser,
        search.add_parser,
        study.add_parser,
        study.add_init_parser,
        judge.add_parser,
        explain.add_parser,
        replay.add_parser,
        report.add_parser,
        history.add_history_parser,
        compare.add_parser,
        history.add_trend_parser,
        history.add_gc_parser,
        snapshot.add_parser,
        mutate.add_mutate_parser,
        operators.add_parser,
        add_cache_parser,
        prefill.add_parser,
        lexicon.add_parser,
        model.add_model_parser,
        add_serve_parser,
    ):
        add_parser(commands)
    add_completion_parser(commands, parser)
    return parser, commands.choices
