"""``promptfuzz compare``: compare two runs: which tests got worse or better by more than noise, and which did not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.history import add_store, newest, places_of, warn_of_damage
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import PromptfuzzError, UsageError
from pytest_promptfuzz.history.bases import Places, find, last
from pytest_promptfuzz.history.changes import met, read_conditions, unproven
from pytest_promptfuzz.history.entries import digest
from pytest_promptfuzz.history.former_names import asking_the_same, former_names, renamed
from pytest_promptfuzz.history.run_comparison import changes
from pytest_promptfuzz.history.runs import LAST
from pytest_promptfuzz.history.snapshots import stored_below
from pytest_promptfuzz.reporting.terminal.answer_changes import (
    answer_lines,
    not_compared_lines,
    undecided_lines,
)
from pytest_promptfuzz.reporting.terminal.changes import (
    base_text,
    change_lines,
    condition_lines,
    unproven_lines,
)
from pytest_promptfuzz.wording.sentences import counted, sentence

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.history.bases import Base
    from pytest_promptfuzz.history.changes import ChangesReport, Condition
    from pytest_promptfuzz.history.entries import HistoryEntry
    from pytest_promptfuzz.history.runs import KeptRun
    from pytest_promptfuzz.notes import Note

_AS_HOPED, _AGAINST = 0, 1


_NAMED = "a saved run's name, a run's ID or its beginning, a report or history file, or a git commit"


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "compare",
        help="compare two runs: which tests got worse by more than noise",
        description=(
            "promptfuzz compare: compare two runs: which tests got worse or better by more than "
            "noise, and which did not. It runs no test."
        ),
        epilog="exit codes: 0: passed, 1: a condition of --fail-on is met (without any: a test is newly brittle, or "
        "worse by more than noise), 2: wrong usage or environment",
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
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Compare two runs; returns the exit code.

    Raises:
        PromptfuzzError: One of them is not there or cannot be read, they share no test, or a condition cannot be read.
    """
    conditions = _conditions(options.fail_on)
    places = places_of(options)
    now, asked, used, notes = _now(options.now, places)
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
        raise UsageError(f"{base_text(base.report)} is the newest run itself. Name another base.")
    if not base.tests and base.notes:
        raise UsageError(f"{sentence(base.notes[0])}. Name a run or a report.")
    known = _known_names(base, now, asked, places.root)
    former = former_names(base.tests, now, lambda test: test not in now, known)
    base.tests = renamed(base.tests, former)
    if not any(test in base.tests for test in now):
        raise UsageError(
            f"{base_text(base.report)} and {_now_text(options.now, used)} have no test in common."
        )
    gone = () if options.base == LAST else base.tests.keys()
    found = changes(base.report, base.tests, now, gone=gone, former=former)
    found["conditions"] = met(conditions, found, now)
    for note in map(sentence, [*notes, *base.notes]):
        output.error(f"promptfuzz compare: {note}")
    warn_of_damage(places.runs, output, "compare")
    if options.json:
        output.json(found)
    else:
        operators = {test: entry["operators"] for test, entry in now.items()}
        answers = answer_lines(found, width=output.width, most=len(found["answers"]))
        output.lines(answers)
        lines = change_lines(found, operators, most=len(found["tests"]))
        if lines or not answers:
            output.lines(lines or [[(_unchanged(found, base_text(base.report)), "good")]])
        output.lines([[(f"{line}.", "dim")] for line in not_compared_lines(found)])
        for line in condition_lines(found["conditions"], "--fail-on"):
            output.lines([[(line, "bad")]])
        undecided = undecided_lines(conditions, found, "--fail-on")
        missing = unproven_lines(unproven(conditions, found, now), "--fail-on", reasons=False)
        for line in [*undecided, *missing]:
            output.lines([[(line, "warn")]])
    worse = any(each["status"] == "worse" or each["finding"] == "newly brittle" for each in found["tests"])
    return _AGAINST if found["conditions"] or (worse and not conditions) else _AS_HOPED


def _known_names(
    base: Base, now: Mapping[str, HistoryEntry], asked: Mapping[str, str], root: Path
) -> dict[str, str]:
    """The former names that snapshots tell, as in a run of pytest.

    Args:
        base: What is compared with.
        now: The tests that are compared.
        asked: What these ask; of a run that is what today's snapshots of the same prompts say.
        root: Of the project.
    """
    gone = {test: each for test, each in base.asked.items() if test not in now}
    if not gone:
        return {}
    if not asked:
        asked = {
            test: each.asked
            for test, each in stored_below(root)[0].items()
            if test in now and digest(each.prompt) == now[test]["prompt"]
        }
    return asking_the_same(gone, {test: each for test, each in asked.items() if test not in base.tests})


def _now_text(named: str | None, used: Sequence[KeptRun]) -> str:
    """The run that is compared, in words."""
    name = f"the run {named}" if named and named != LAST else "the newest run"
    started = str(used[0].run.get("started", ""))[:16].replace("T", " ") if len(used) == 1 else ""
    return f"{name} ({started} UTC)" if started else name


def _unchanged(found: ChangesReport, base: str) -> str:
    new = sum(each["status"] == "new" for each in found["tests"])
    same = counted(len(found["tests"]) - new, "test")
    return f"{same} with the same result as in {base}" + (f", {new} new." if new else ".")


def _conditions(written: list[str]) -> list[Condition]:
    try:
        return [each for text in written for each in read_conditions(text)]
    except UsageError as error:
        raise UsageError(f"--fail-on: {error}") from None


def _now(
    named: str | None, places: Places
) -> tuple[dict[str, HistoryEntry], dict[str, str], list[KeptRun], list[Note | str]]:
    """The tests of the run that is compared, what those of a commit ask, the runs that they are of, and what to say."""
    if named is None or named == LAST:
        run = newest(places.runs)
        notes: list[Note | str] = (
            [] if run.complete else [f"the newest run, {run.id}, was stopped before its last test"]
        )
        return run.tests(), {}, [run], notes
    try:
        found = find(named, places)
    except PromptfuzzError as error:
        raise UsageError(f"NOW: {error}") from None
    ids = {found.report["run"], *(each.id for each in found.runs)}
    return found.tests, found.asked, [each for each in places.runs.every() if each.id in ids], [*found.notes]
