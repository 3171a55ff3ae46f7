"""``promptfuzz trend``: show the score of one test in each run that is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.kept import add_store, named_test, places_of, warn_of_damage
from pytest_promptfuzz.cli.options import add_output_options, plain
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.history.trends import MOST, trends
from pytest_promptfuzz.reporting.past import trend_lines

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.output import Output


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "trend",
        help="show the score of one test in each run that is kept",
        description=f"{plain(__doc__)} The newest run is last.",
        epilog="exit codes: 0: done, 2: wrong usage or environment",
        allow_abbrev=False,
    )
    parser.add_argument(
        "test", metavar="TEST", help="name of a test, or a part of it that only this test has"
    )
    parser.add_argument(
        "-n", dest="most", type=int, default=MOST, metavar="N", help=f"how many runs ({MOST})"
    )
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Draw the trend; returns the exit code.

    Raises:
        PromptfuzzError: No run has the test.
    """
    runs = places_of(options).runs
    known = {name for each in runs.every(results=True) for name in each.all_results()}
    if not known:
        raise UsageError(f"no run is kept in {runs.folder} or above: run pytest first.")
    test = named_test(options.test, known)
    found = trends(runs, {test}, most=max(1, options.most))
    warn_of_damage(runs, output, "trend")
    if options.json:
        output.json(found)
    else:
        output.lines(trend_lines(found, test, width=output.width))
    return 0
