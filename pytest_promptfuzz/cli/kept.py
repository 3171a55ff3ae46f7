"""What the commands about earlier runs share: where runs are kept, and which one is meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.history.bases import Places
from pytest_promptfuzz.history.runs import FOLDER, Runs
from pytest_promptfuzz.reporting.reading import read_document

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection

    from pytest_promptfuzz.cli.output import Output
    from pytest_promptfuzz.history.runs import Run

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


def newest(runs: Runs) -> Run:
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
