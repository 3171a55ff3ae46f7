"""``promptfuzz cache verify``: is what is stored what was answered, and is it fit for a repository?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.common import add_paths, add_store, counted, recordings_in
from pytest_promptfuzz.cli.options import add_output_options, plain
from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.wire.recordings.checking import check, secrets_of, why_not
from pytest_promptfuzz.wire.shelf import kept

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from pytest_promptfuzz.cli.output import Output


def add_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "verify",
        help="check checksums, keys and order, and look for credentials",
        description=plain(__doc__),
        allow_abbrev=False,
    )
    add_paths(parser)
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Check the recordings, and without paths the local cache too; returns the exit code.

    Raises:
        UsageError: A path is wrong.
    """
    problems: list[str] = []
    notes: list[str] = []
    answers = 0
    recordings = [check(path) for path in recordings_in(options.paths)]
    for checked in recordings:
        problems += [str(each) for each in checked.problems]
        notes += checked.notes
        answers += len(checked.entries)
    stored = 0
    if not options.paths:
        stored, wrong = _check_cache(options.cache_dir)
        problems += wrong
    if options.json:
        output.json(
            {
                "recordings": [str(each.path) for each in recordings],
                "recorded": answers,
                "stored": stored,
                "problems": problems,
                "notes": notes,
            }
        )
    else:
        for each in problems:
            output.text(safe(each))
        for each in notes:
            output.text(safe(f"note: {each}"))
        what = f"{counted(len(recordings), 'recording')} with {counted(answers, 'answer')}"
        local = "" if options.paths else f", {stored:,} in the local cache"
        found = counted(len(problems), "problem") if problems else "no problem"
        output.lines([[(f"Checked {what}{local}: {found}.", "bad" if problems else "good")]])
    return 1 if problems else 0


def _check_cache(directory: Path) -> tuple[int, list[str]]:
    count = 0
    problems: list[str] = []
    try:
        for entry in kept(directory):
            count += 1
            where = f"{directory}, entry {entry.key[:16]}: "
            if entry.answer is None:
                problems.append(f"{where}{entry.why}. The model will be asked again.")
                continue
            if why := why_not(entry.key, entry.answer):
                problems.append(
                    f"{where}{why}. Remove it with `promptfuzz cache prune --cache --damaged --yes`."
                )
            problems += [f"{where}{each.path} holds {each.kind}." for each in secrets_of(entry.answer)]
    except StoreError as error:
        problems.append(str(error))
    return count, problems
