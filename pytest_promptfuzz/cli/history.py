"""``promptfuzz history``: list the runs that are kept on this machine, the newest first."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.kept import add_store, named_test, places_of, warn_of_damage
from pytest_promptfuzz.cli.options import add_output_options, plain
from pytest_promptfuzz.reporting.past import runs_lines

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.output import Output
    from pytest_promptfuzz.history.runs import Run
    from pytest_promptfuzz.reporting.past import RunRow

_MOST = 20


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "history",
        help="list the runs that are kept on this machine",
        description=f"{plain(__doc__)} With a test, show its score and verdict in each run.",
        epilog="exit codes: 0: done, 2: wrong usage or environment",
        allow_abbrev=False,
    )
    parser.add_argument(
        "test", nargs="?", metavar="TEST", help="name of a test, or a part of it that only this test has"
    )
    parser.add_argument(
        "-n", dest="most", type=int, default=_MOST, metavar="N", help=f"how many runs ({_MOST})"
    )
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """List the runs; returns the exit code.

    Raises:
        PromptfuzzError: No run has the test, or a file cannot be read.
    """
    runs = places_of(options).runs
    test = options.test
    if test is not None:
        test = named_test(test, {name for each in runs.every(results=True) for name in each.all_results()})
    every = (each for each in runs.every(results=True) if test is None or test in each.all_results())
    rows = [_row(each, test) for each in islice(every, max(0, options.most))]
    warn_of_damage(runs, output, "history")
    if options.json:
        output.json(rows)
    elif rows:
        output.lines(runs_lines(rows))
    else:
        output.say(f"No run is kept in {runs.folder}.")
    return 0


def _row(each: Run, test: str | None) -> RunRow:
    results = each.all_results()
    costs = [cost for _, _, cost in results.values() if cost is not None]
    score, verdict, _ = results[test] if test is not None else (None, "", None)
    run = each.run
    return {
        "id": each.id,
        "name": each.name,
        "started": str(run.get("started", "")),
        "seconds": float(run.get("seconds") or 0.0),
        "commit": str(run.get("commit", "")),
        "branch": str(run.get("branch", "")),
        "dirty": run.get("dirty"),
        "complete": each.complete,
        "aside": each.aside,
        "verdicts": dict(Counter(verdict for _, verdict, _ in results.values())),
        "cost": round(sum(costs), 6) if costs else None,
        "test": test,
        "score": score,
        "verdict": verdict,
    }
