"""``promptfuzz history``: list the runs that are kept on this machine, the newest first."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache_stats import sized
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import PromptfuzzError, UsageError, nearest
from pytest_promptfuzz.history.bases import Places, find, last
from pytest_promptfuzz.history.changes import met, read_conditions
from pytest_promptfuzz.history.run_comparison import changes
from pytest_promptfuzz.history.runs import FOLDER, KEEP, LAST, MOST, Runs, trends
from pytest_promptfuzz.reporting.report_files import read_document
from pytest_promptfuzz.reporting.terminal.changes import (
    base_text,
    change_lines,
    condition_lines,
    runs_lines,
    trend_lines,
)
from pytest_promptfuzz.reporting.wording.words import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.history.changes import ChangesReport, Condition
    from pytest_promptfuzz.history.entries import HistoryEntry
    from pytest_promptfuzz.history.runs import KeptRun
    from pytest_promptfuzz.reporting.document import Document
    from pytest_promptfuzz.reporting.terminal.changes import RunRow


# What the commands about earlier runs share: where runs are kept, and which one is meant.


STORE = ".promptfuzz"


def add_store(parser: argparse.ArgumentParser) -> None:
    """``--cache-dir``."""
    parser.add_argument(
        "--cache-dir",
        default=STORE,
        metavar="DIR",
        help=f"the folder of stored answers, in this folder or above ({STORE})",
    )


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
        raise UsageError(f"no run is kept in {runs.folder} or above: run pytest first.")
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
        raise UsageError(f"{text!r} is in the names of {len(ends)} tests: {some}. Write more of it.")
    raise UsageError(f"no run that is kept has a test {text!r}. {nearest(text, known)}")


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
            "a test, show its score and verdict in each run."
        ),
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
        output.lines(runs_lines(rows))
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
    parser.set_defaults(execute=execute_trend)


def execute_trend(options: argparse.Namespace, output: Output) -> int:
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


# ``promptfuzz gc``: delete the oldest runs that have no name; named runs stay.


def add_gc_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "gc",
        help="delete the oldest runs that have no name",
        description="promptfuzz gc: delete the oldest runs that have no name; named runs stay.",
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
    parser.set_defaults(execute=execute_gc)


def execute_gc(options: argparse.Namespace, output: Output) -> int:
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


# ``promptfuzz compare``: compare two runs: which tests got worse or better by more than noise, and which did not.


_AS_HOPED, _AGAINST = 0, 1
_NAMED = "a saved run's name, a run's ID or its beginning, a report or history file, or a git commit"


def add_compare_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "compare",
        help="compare two runs: which tests got worse by more than noise",
        description=(
            "promptfuzz compare: compare two runs: which tests got worse or better by more than "
            "noise, and which did not. It runs no test."
        ),
        epilog="exit codes: 0: passed, 1: a condition of --fail-on is met (without any: a test is worse by more than "
        "noise), 2: wrong usage or environment",
        allow_abbrev=False,
    )
    parser.add_argument("base", metavar="BASE", help=f"{_NAMED}, or last (the previous run of each test)")
    parser.add_argument("now", nargs="?", metavar="NOW", help=f"{_NAMED} (the newest run)")
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        metavar="EXPR",
        help="conditions that make the exit code 1, as for --promptfuzz-fail-on: such as 'score drop > 0.05' or 'any "
        "new deviation'",
    )
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute_compare)


def execute_compare(options: argparse.Namespace, output: Output) -> int:
    """Compare two runs; returns the exit code.

    Raises:
        PromptfuzzError: One of them is not there or cannot be read, they share no test, or a condition cannot be read.
    """
    conditions = _conditions(options.fail_on)
    places = places_of(options)
    now, used, notes = _now(options.now, places)
    files = [each.path for each in used]
    base = (
        last(
            now.keys(),
            places.runs,
            before=min(files, default=None),
            targets={test: entry["target"] for test, entry in now.items()},
        )
        if options.base == LAST
        else find(options.base, places, besides=files)
    )
    if options.now is None and [each.path for each in base.runs] == files:
        raise UsageError(f"{base_text(base.report)} is the run that is compared itself. Name another one.")
    if not base.tests and base.notes:
        raise UsageError(f"{base.notes[0]}. Name a run or a report.")
    if not any(test in base.tests for test in now):
        raise UsageError(f"{base_text(base.report)} has none of the tests of the run.")
    gone = () if options.base == LAST else base.tests.keys()
    found = changes(base.report, base.tests, now, gone=gone)
    found["conditions"] = met(conditions, found, now)
    for note in [*notes, *base.notes]:
        output.error(f"promptfuzz compare: {note}")
    warn_of_damage(places.runs, output, "compare")
    if options.json:
        output.json(found)
    else:
        operators = {test: entry["operators"] for test, entry in now.items()}
        lines = change_lines(found, operators, most=len(found["tests"]))
        output.lines(lines or [[(_unchanged(found, base_text(base.report)), "good")]])
        for sentence in condition_lines(found["conditions"], "--fail-on"):
            output.lines([[(sentence, "bad")]])
    worse = any(each["status"] == "worse" for each in found["tests"])
    return _AGAINST if found["conditions"] or (worse and not conditions) else _AS_HOPED


def _unchanged(found: ChangesReport, base: str) -> str:
    new = sum(each["status"] == "new" for each in found["tests"])
    same = count(len(found["tests"]) - new, "test")
    return f"{same} as in {base}" + (f", {new} new." if new else ".")


def _conditions(written: list[str]) -> list[Condition]:
    try:
        return [each for text in written for each in read_conditions(text)]
    except UsageError as error:
        raise UsageError(f"--fail-on: {error}") from None


def _now(named: str | None, places: Places) -> tuple[dict[str, HistoryEntry], list[KeptRun], list[str]]:
    """The tests of the run that is compared, the runs of this machine that they are of, and what is to be said."""
    if named is None or named == LAST:
        run = newest(places.runs)
        notes = [] if run.complete else [f"the newest run, {run.id}, ended before its last test"]
        return run.tests(), [run], notes
    try:
        found = find(named, places)
    except PromptfuzzError as error:
        raise UsageError(f"NOW: {error}") from None
    ids = {found.report["run"], *(each.id for each in found.runs)}
    return found.tests, [each for each in places.runs.every() if each.id in ids], found.notes


# ``promptfuzz report``: show a finished run again, write its report in any format, or merge reports.


_TO = "FORMAT:PATH,…"


def add_report_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "report",
        help="show the last run again, write its report in any format, or merge reports",
        description=(
            "promptfuzz report: show a finished run again, write its report in any format, or merge "
            "reports. Without --to, it shows the run as pytest did."
        ),
        epilog="exit codes: 0: done, 2: wrong usage or environment",
        allow_abbrev=False,
    )
    _add_source(parser)
    _add_to(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute_report)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    merge = actions.add_parser(
        "merge",
        help="make one report of several: of the parts of a suite, or of several models",
        description="Make one report of several: of the parts of a suite that ran separately, or of runs with several "
        "models. If several runs have the same test with the same target, the last run counts.",
        allow_abbrev=False,
    )
    merge.add_argument(
        "files", nargs="+", metavar="FILE", help="a JSON report (--promptfuzz-report=json:FILE)"
    )
    _add_to(merge, required=True)
    add_output_options(merge)
    merge.set_defaults(execute=execute_merge)
    schema = actions.add_parser(
        "schema",
        help="print the JSON Schema of a JSON report",
        description="The JSON Schema (2020-12) of what --promptfuzz-report=json:PATH writes.",
        allow_abbrev=False,
    )
    add_output_options(schema)
    schema.set_defaults(execute=execute_schema)


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="a JSON report, or a file of .promptfuzz/report (the last run here)",
    )
    add_store(parser)


def _add_to(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    parser.add_argument(
        "--to",
        metavar=_TO,
        required=required,
        help="the reports to write, such as html:report.html,md:report.md,github",
    )


def execute_report(options: argparse.Namespace, output: Output) -> int:
    """Show the report of a run, or write it; returns the exit code.

    Raises:
        PromptfuzzError: There is none, it cannot be read, or a report cannot be written.
    """
    from pytest_promptfuzz.reporting.report_files import read_document

    found = read_document(_source(options))
    if options.to:
        _write(found, options.to, output)
    elif options.json:
        from pytest_promptfuzz.reporting.report_files import json_report

        output.text(json_report(found).rstrip())
    else:
        from pytest_promptfuzz.reporting.terminal.summary import document_lines

        output.lines(document_lines(found, width=output.width))
    return 0


def execute_merge(options: argparse.Namespace, output: Output) -> int:
    """Merge reports; returns the exit code.

    Raises:
        PromptfuzzError: One cannot be read, or the whole cannot be written.
    """
    from pytest_promptfuzz.reporting.document import merged
    from pytest_promptfuzz.reporting.report_files import read_document

    whole = merged([read_document(Path(each)) for each in options.files])
    for warning in whole["warnings"]:
        output.error(f"promptfuzz report merge: {warning}")
    _write(whole, options.to, output)
    return 0


def execute_schema(options: argparse.Namespace, output: Output) -> int:
    """Print the schema; returns the exit code."""
    from pytest_promptfuzz.reporting.schema import report_schema

    del options
    output.json(report_schema())
    return 0


def _source(options: argparse.Namespace) -> Path:
    from pytest_promptfuzz.reporting.report_files import latest

    if options.source is not None:
        return Path(options.source)
    here = Path.cwd()
    for each in (here, *here.parents):
        found = latest(each / options.cache_dir)
        if found is not None:
            return found
    raise UsageError(
        f"no run has left a report in {options.cache_dir} here or above: run pytest first, or name a JSON report with "
        "--from FILE."
    )


def _write(found: Document, to: str, output: Output) -> None:
    from pytest_promptfuzz.reporting.report_files import check, publish, read_wanted

    wanted = read_wanted(to)
    for each in wanted:
        check(each.format, Path(each.path))
    for each in wanted:
        output.say(publish(found, each.format, Path(each.path), shown=each.path, log=output.text))
