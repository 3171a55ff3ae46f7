"""``promptfuzz lexicon``: install, list or remove lexicons, from which operators take words."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.stats import agreed
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line, pad
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.assistance.lexicons import Installed
    from pytest_promptfuzz.cli.options import Output


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "lexicon",
        help="install, list or remove lexicons",
        description="promptfuzz lexicon: install, list or remove lexicons, from which operators take words.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, help_, argument, described in (
        (
            "install",
            "install a lexicon",
            "NAME|FILE",
            "a published WordNet to download (oewn:2024, omw-fr:1.4), or a file in WN-LMF (.xml, .gz, .tar.xz)",
        ),
        ("list", "list the lexicons on this machine", "", ""),
        ("remove", "remove a lexicon", "NAME", "oewn:2024; oewn for all its versions"),
    ):
        action = actions.add_parser(
            name,
            help=help_,
            description=f"promptfuzz lexicon {name}: {help_}.",
            allow_abbrev=False,
        )
        if argument:
            action.add_argument("name", metavar=argument, help=described)
        if name == "remove":
            action.add_argument("--yes", action="store_true", help="remove without asking")
        add_output_options(action)
        action.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Do what is asked; returns the exit code.

    Raises:
        UsageError: No such file or lexicon, or nobody can be asked.
        ConfigurationError: The extra is missing, the download fails, or the folder cannot be used.
    """
    from pytest_promptfuzz.assistance.lexicons import (
        install_lexicon,
        lexicon_folder,
        listed_lexicons,
        remove_lexicon,
    )

    if options.action == "list":
        known = listed_lexicons()
        if options.json:
            output.json([asdict(each) for each in known])
        elif known:
            output.lines(_table(known))
        else:
            output.text(f"No lexicon is installed in {safe(str(lexicon_folder()))}.")
        return 0
    if options.action == "remove":
        names = {each.name for each in listed_lexicons()}
        there = options.name in names | {each.partition(":")[0] for each in names}
        goes = not there or agreed(f"Remove {safe(options.name)}?", yes=options.yes, stream=sys.stdin)
        removed = remove_lexicon(options.name) if goes else []
        said = f"Removed {', '.join(removed)}." if removed else "Nothing was removed."
        output.json(removed) if options.json else output.text(safe(said))
        return 0
    new = install_lexicon(options.name)
    if options.json:
        output.json([asdict(each) for each in new])
        return 0
    if not new:
        output.text(safe(f"Nothing new: what {options.name} holds is installed already."))
    for each in new:
        output.text(safe(f"Installed {each.name} ({each.label}, {each.language}; {each.license})."))
        for missing in each.missing:
            output.text(
                safe(f"It needs {missing} for wider and narrower words: promptfuzz lexicon install {missing}")
            )
    return 0


def _table(known: list[Installed]) -> list[Line]:
    wide = max(len(each.name) for each in known)
    lines: list[Line] = []
    for each in known:
        lacks = f" (without {', '.join(each.missing)})" if each.missing else ""
        lines.append(
            [
                (f"{pad(safe(each.name), wide)}  ", "label"),
                HANG,
                (safe(f"{each.language}  {each.label}"), "plain"),
                (safe(lacks), "dim"),
            ]
        )
    return lines
