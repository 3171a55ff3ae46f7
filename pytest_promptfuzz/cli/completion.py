"""``promptfuzz completion``: a script that lets a shell complete commands, options and files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.cli.options import Output

_SHELLS = ("bash", "zsh", "tcsh")
_FILES = ("FILE", "PATH", "STUDY", "CELLS", "SOURCE", "RATINGS", "BASE", "NOW")
_FOLDERS = ("FOLDER", "DIR")


def add_parser(commands: argparse._SubParsersAction[Any], whole: argparse.ArgumentParser) -> None:
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
    parser.set_defaults(execute=execute, whole=whole)


def execute(options: argparse.Namespace, output: Output) -> int:
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
        wanted = [each for each in names.replace("|", " ").split() if each]
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
