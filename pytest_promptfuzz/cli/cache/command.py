"""``promptfuzz cache``: look after stored answers: the local cache, and the recordings that lie in git."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache import clear, diff, prune, stats, transfer, verify
from pytest_promptfuzz.cli.options import plain

if TYPE_CHECKING:
    import argparse

_ACTIONS = (stats, verify, diff, prune, clear, transfer)


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "cache",
        help="look after stored answers and recordings",
        description=plain(__doc__),
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for module in _ACTIONS:
        module.add_parser(actions)
