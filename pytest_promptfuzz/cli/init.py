"""``promptfuzz init``: copy a suite into the project, a study that is ready to be run and to be changed."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import ConfigurationError, UsageError, not_among
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from importlib.abc import Traversable

    from pytest_promptfuzz.cli.options import Output

SUITES = {"enterprise": "four tasks of support teams, under changes of prompt, format and language"}
"""The folders of ``data/suites``, and what they are."""
_GENERATOR = "make_inputs.py"
_STUDY = "study.toml"


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "init",
        help="copy a suite into the project: prompts, inputs and a study",
        description="promptfuzz init: copy a suite into a folder of the project: prompts, a generator of inputs, and a "
        "study of them. Nothing that exists is overwritten.",
        epilog="exit codes: 0: done, 2: wrong usage or environment",
        allow_abbrev=False,
    )
    shown = "; ".join(f"{name}: {what}" for name, what in SUITES.items())
    parser.add_argument("suite", metavar="SUITE", help=shown)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help="where it goes (the suite's name)")
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Write the suite and its inputs; returns the exit code.

    Raises:
        UsageError: There is no such suite, a file exists already, or one cannot be written.
        ConfigurationError: The inputs could not be made.
    """
    if options.suite not in SUITES:
        raise UsageError(not_among(f"the suite {options.suite!r}", options.suite, SUITES))
    folder = Path(options.folder or options.suite)
    written = _copy(folder, dict(_texts(files("pytest_promptfuzz") / "data" / "suites" / options.suite)))
    made = subprocess.run(  # noqa: S603 - this Python, and a file of ours
        [sys.executable, str(folder / _GENERATOR)], capture_output=True, encoding="utf-8", check=False
    )
    if made.returncode:
        raise ConfigurationError(f"{folder / _GENERATOR} failed: {made.stderr.strip().splitlines()[-1]}")
    study = (folder / _STUDY).as_posix()
    if options.json:
        output.json({"folder": str(folder), "files": [str(each) for each in written], "study": study})
        return 0
    output.say(f"Wrote {counted(len(written), 'file')} and the inputs to {folder}.")
    output.text(f"promptfuzz study {study} --sample 1 --table {options.suite}")
    return 0


def _texts(folder: Traversable, before: str = "") -> Iterator[tuple[str, str]]:
    """The files of a suite, by their paths in it."""
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if each.is_dir():
            if not each.name.startswith(("_", ".")):
                yield from _texts(each, f"{before}{each.name}/")
        elif not each.name.endswith(".pyc"):
            yield f"{before}{each.name}", each.read_text(encoding="utf-8")


def _copy(folder: Path, texts: dict[str, str]) -> list[Path]:
    """Write files that do not exist yet; nothing if one of them does."""
    targets = {folder / name: text for name, text in texts.items()}
    taken = next((each for each in (*targets, folder / "data") if each.exists() or each.is_symlink()), None)
    if taken is not None:
        raise UsageError(f"{taken} exists already, and is left as it is. Name another folder.")
    try:
        for target, text in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}.") from None
    return list(targets)
