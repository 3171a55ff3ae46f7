"""``promptfuzz history``, ``trend`` and ``gc``: the runs kept on this machine are listed, drawn and deleted."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.stats import agreed, sized
from pytest_promptfuzz.cli.options import add_output_options, from_one
from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.history.bases import Places
from pytest_promptfuzz.history.runs import FOLDER, KEEP, MOST, Runs, trends
from pytest_promptfuzz.reporting.report_files import read_document
from pytest_promptfuzz.reporting.terminal.changes import (
    runs_lines,
    trend_lines,
)
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.history.runs import KeptRun
    from pytest_promptfuzz.reporting.terminal.changes import RunRow


# What the commands about earlier runs share: where runs are kept, and which one is meant.


STORE = ".promptfuzz"


def add_store(parser: argparse.ArgumentParser) -> None:
    """``--cache-dir``."""
    parser.add_argument(
        "--cache-dir",
        default=STORE,
        metavar="DIR",
        help=f"folder of the local cache, in this folder or above ({STORE})",
    )


def root_of(cache_dir: str) -> Path:
    """The folder that what is stored lies in: this one, or the nearest above that has the local cache."""
    here = Path.cwd()
    return next((each for each in (here, *here.parents) if (each / cache_dir).is_dir()), here)


def places_of(options: argparse.Namespace) -> Places:
    """Where runs are: in this folder, or the nearest above that keeps any."""
    here = Path.cwd()
    for each in (here, *here.parents):
        if (each / options.cache_dir / FOLDER).is_dir():
            return Places(Runs(each / options.cache_dir), each, here, read_document)
    return Places(Runs(here / options.cache_dir), here, here, read_document)


def newest(runs: Runs) -> KeptRun:
    """The newest run.

    Raises:
        UsageError: None is kept.
    """
    found = next(iter(runs.every()), None)
    if found is None:
        raise UsageError(f"no run is kept in {runs.folder} or above. Run pytest first.")
    return found


def named_test(text: str, known: Collection[str]) -> str:
    """The test that is meant: its whole name, or what only one has.

    Raises:
        UsageError: None, or several have it.
    """
    if text in known:
        return text
    ends = [each for each in known if each.rpartition("::")[2] == text] or [
        each for each in known if text in each
    ]
    if len(ends) == 1:
        return ends[0]
    if ends:
        some = ", ".join(sorted(ends)[:5])
        raise UsageError(f"{text!r} is in the names of {len(ends)} tests: {some}. Write more of the name.")
    raise UsageError(f"no kept run has a test {text!r}. {nearest(text, known)}")


def warn_of_damage(runs: Runs, output: Output, command: str) -> None:
    """Say which files hold no runs."""
    for each in runs.damages():
        output.error(f"promptfuzz {command}: {each}")


_MOST = 20


def add_history_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "history",
        help="list the runs that are kept on this machine",
        description=(
            "promptfuzz history: list the runs that are kept on this machine, the newest first. With "
            "a test, list the runs that have it, as promptfuzz trend does."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "test", nargs="?", metavar="TEST", help="name of a test, or a part of it that only this test has"
    )
    parser.add_argument(
        "-n", dest="most", type=from_one, default=_MOST, metavar="N", help=f"most runs to show ({_MOST})"
    )
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute_history)


def execute_history(options: argparse.Namespace, output: Output) -> int:
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
        output.lines([[(test, "heading")], *runs_lines(rows)] if test is not None else runs_lines(rows))
    else:
        output.say(f"No run is kept in {runs.folder}.")
    return 0


def _row(each: KeptRun, test: str | None) -> RunRow:
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


# ``promptfuzz trend``: show the score of one test in each run that is kept.


def add_trend_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "trend",
        help="show the score of one test in each run that is kept",
        description=(
            "promptfuzz trend: show the score of one test in each run that is kept. The newest run is last."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "test", metavar="TEST", help="name of a test, or a part of it that only this test has"
    )
    parser.add_argument(
        "-n", dest="most", type=from_one, default=MOST, metavar="N", help=f"most runs to show ({MOST})"
    )
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute_trend)


def execute_trend(options: argparse.Namespace, output: Output) -> int:
    """Draw the trend; returns the exit code.

    Raises:
        PromptfuzzError: No run has the test.
    """
    runs = places_of(options).runs
    known = {name for each in runs.every(results=True) for name in each.all_results()}
    if not known:
        raise UsageError(f"no run is kept in {runs.folder} or above. Run pytest first.")
    test = named_test(options.test, known)
    found = trends(runs, {test}, most=max(1, options.most))
    warn_of_damage(runs, output, "trend")
    if options.json:
        output.json(found)
    else:
        output.lines(trend_lines(found, test, width=output.width))
    return 0


# ``promptfuzz gc``: delete the oldest runs that have no name; named runs stay.


def add_gc_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "gc",
        help="delete the oldest runs that have no name",
        description="promptfuzz gc: delete the oldest runs that have no name; named runs stay.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--keep",
        type=int,
        default=KEEP,
        metavar="N",
        help=f"how many of the newest runs without a name to keep ({KEEP})",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="delete nothing, only show what would be deleted"
    )
    parser.add_argument("--yes", action="store_true", help="delete without asking")
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute_gc)


def execute_gc(options: argparse.Namespace, output: Output) -> int:
    """Delete runs; returns the exit code.

    Raises:
        PromptfuzzError: A number that is none, or nobody can be asked.
    """
    if options.keep < 0:
        raise UsageError(f"--keep {options.keep} is out of range. Write a whole number of 0 or more.")
    runs = places_of(options).runs
    gone = runs.disposable(options.keep)
    size = sum(each.path.stat().st_size for each in gone)
    what = f"{counted(len(gone), 'run')} ({sized(size)})"
    refused = False
    if gone and not options.dry_run:
        refused = not agreed(f"Delete {what}?", yes=options.yes, stream=sys.stdin)
        gone = [] if refused else runs.forget(options.keep)
    warn_of_damage(runs, output, "gc")
    if options.json:
        output.json(
            {
                "deleted": not (options.dry_run or refused),
                "runs": [each.id for each in gone],
                "bytes": size if gone else 0,
                "kept": sum(1 for _ in runs.every()) - (len(gone) if options.dry_run else 0),
            }
        )
    elif gone:
        output.say(f"{'Would delete' if options.dry_run else 'Deleted'} {what}.")
    else:
        output.say("Nothing was deleted." if refused else "No run to delete.")
    return 0
