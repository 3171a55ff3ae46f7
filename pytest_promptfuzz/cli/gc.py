"""``promptfuzz gc``: delete the oldest runs that have no name; named runs stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.common import sized
from pytest_promptfuzz.cli.kept import add_store, places_of, warn_of_damage
from pytest_promptfuzz.cli.options import add_output_options, plain
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.history.runs import KEEP
from pytest_promptfuzz.reporting.words import count

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.output import Output


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "gc",
        help="delete the oldest runs that have no name",
        description=plain(__doc__),
        epilog="exit codes: 0: done, 2: wrong usage or environment",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--keep",
        type=int,
        default=KEEP,
        metavar="N",
        help=f"how many runs without a name stay, the newest ones ({KEEP})",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="delete nothing, only say what would be deleted"
    )
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Delete runs; returns the exit code.

    Raises:
        PromptfuzzError: A number that is none.
    """
    if options.keep < 0:
        raise UsageError(f"--keep {options.keep}: write a whole number of 0 or more.")
    runs = places_of(options).runs
    before = {each.path: each.path.stat().st_size for each in runs.disposable(options.keep)}
    gone = runs.disposable(options.keep) if options.dry_run else runs.forget(options.keep)
    size = sum(before.get(each.path, 0) for each in gone)
    warn_of_damage(runs, output, "gc")
    if options.json:
        output.json(
            {
                "deleted": not options.dry_run,
                "runs": [each.id for each in gone],
                "bytes": size,
                "kept": sum(1 for _ in runs.every()) - (len(gone) if options.dry_run else 0),
            }
        )
    else:
        verb = "would be deleted" if options.dry_run else "deleted"
        output.say(f"{count(len(gone), 'run')} {verb} ({sized(size)}).")
    return 0
