"""``promptfuzz cache clear``: delete all answers of the local cache; recordings stay."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.common import add_store, agreed, counted, sized
from pytest_promptfuzz.cli.options import add_output_options, plain
from pytest_promptfuzz.embedding import vectors
from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.wire import shelf

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.output import Output


def add_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "clear",
        help="delete all answers of the local cache; recordings stay",
        description=plain(__doc__),
        allow_abbrev=False,
    )
    add_store(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Ask, and empty; returns the exit code.

    Raises:
        PromptfuzzError: It cannot be emptied, or nobody can be asked.
    """
    try:
        entries = list(shelf.kept(options.cache_dir))
        held = f"{counted(len(entries), 'answer')}, {sized(sum(each.size for each in entries))}"
        count: int | None = len(entries)
        if embedded := vectors.size(options.cache_dir):
            held += f", and {sized(embedded)} of vectors"
    except StoreError:
        count, held = None, "damaged: what is in it cannot be counted"
    done = (count != 0 or vectors.size(options.cache_dir) > 0) and agreed(
        f"Remove the local cache {options.cache_dir} ({held})? Its answers would have to be paid for again.",
        yes=options.yes,
        stream=sys.stdin,
    )
    if done:
        shelf.clear(options.cache_dir)
        vectors.clear(options.cache_dir)
    if options.json:
        output.json({"removed": count if done else 0})
    else:
        said = f"Removed: {held}." if done else "Nothing was removed."
        output.lines([[(f"{options.cache_dir}: {said} Recordings stay as they are.", "plain")]])
    return 0
