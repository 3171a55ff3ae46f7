"""``promptfuzz cache verify``: check that stored answers are unchanged and hold no credentials."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.common import add_paths, add_store, counted, recordings_in
from pytest_promptfuzz.cli.cache.live import SAMPLE, as_json, ask_again, asked_lines, code_of
from pytest_promptfuzz.cli.options import add_limit_options, add_output_options, plain
from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.running.limits.given import GIVEN
from pytest_promptfuzz.wire.recordings.checking import check, secrets_of, why_not
from pytest_promptfuzz.wire.shelf import kept

if TYPE_CHECKING:
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
    group = parser.add_argument_group("asking the provider again")
    group.add_argument(
        "--live", action="store_true", help="ask some of the recorded requests again, and compare the answers"
    )
    group.add_argument(
        "--sample", type=_count, metavar="N", help=f"how many requests to ask again ({SAMPLE})"
    )
    group.add_argument("--seed", type=int, metavar="N", help="the same seed asks the same requests (0)")
    group.add_argument(
        "--host",
        action="append",
        metavar="HOST",
        help="allow this host to be asked, with the key in PROMPTFUZZ_API_KEY if that is set",
    )
    add_limit_options(parser)
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Check the recordings, and without paths the local cache too; returns the exit code.

    Raises:
        PromptfuzzError: A path is wrong, or a provider may not be asked.
    """
    given = [name for name in ("sample", "seed", "host") if getattr(options, name) is not None]
    given += [each.name for each in GIVEN if getattr(options, each.name) != each.default]
    if given and not options.live:
        option = "--" + given[0].replace("_", "-")
        raise UsageError(f"{option} is for asking the provider again; write --live with it.")
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
    # What was edited is not sent to anybody.
    asked = ask_again(recordings, options) if options.live and not problems else []
    if options.json:
        output.json(
            {
                "recordings": [str(each.path) for each in recordings],
                "recorded": answers,
                "stored": stored,
                "problems": problems,
                "notes": notes,
                **({"asked": [as_json(each) for each in asked]} if options.live else {}),
            }
        )
    else:
        output.lines([(each, "plain")] for each in [*problems, *(f"note: {each}" for each in notes)])
        what = f"{counted(len(recordings), 'recording')} with {counted(answers, 'answer')}"
        local = "" if options.paths else f", {stored:,} in the local cache"
        found = counted(len(problems), "problem") if problems else "no problem"
        output.lines([[(f"Checked {what}{local}: {found}.", "bad" if problems else "good")]])
        if options.live:
            output.lines(asked_lines(asked, refused=bool(problems)))
    return 1 if problems else code_of(asked)


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


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
