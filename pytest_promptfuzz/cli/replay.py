"""``promptfuzz replay``: run one counterexample or trial again, by its ID; without an ID, list what is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.history import add_store, root_of
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import StoreError, UsageError, continued
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.reporting.terminal.failure import Replay
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample

_CODES = {"passes": 0, "elsewhere": 0, "breaks": 1}
_UNDECIDED = 3
_MOST_NAMED = 10


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "replay",
        help="run one counterexample or trial again, by its ID; without an ID, list those that are stored",
        description="promptfuzz replay: run one counterexample or trial again, by its ID; without an ID, list what "
        "is stored. It finds the test among the runs on this machine and the counterexamples pinned "
        "in git, and runs it with pytest.",
        epilog="exit codes: 0: it passes now, 1: it still breaks, 2: unknown or ambiguous ID, 3: undecided",
        allow_abbrev=False,
    )
    parser.add_argument(
        "id", nargs="?", metavar="ID", help="ID of a counterexample or trial, or the beginning of it"
    )
    parser.add_argument(
        "pytest",
        nargs="*",
        metavar="PYTEST_ARGUMENT",
        help="arguments for pytest; write its options after --",
    )
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


@dataclass(slots=True)
class _ReplayableTests:
    """What can be replayed.

    Attributes:
        id: Of a counterexample or trial.
        test: Its node ID.
        known: The counterexample; ``None`` for a trial.
        places: Where it is kept: ``here``, ``git``.
    """

    id: str
    test: str
    known: KnownCounterexample | None = None
    places: list[str] = field(default_factory=list)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Replay one, or list them; returns the exit code.

    Raises:
        PromptfuzzError: The ID is unknown or ambiguous, or its test cannot be run.
    """
    root = root_of(options.cache_dir)
    stored = list(_stored(root, root / options.cache_dir, output))
    if options.id is None:
        _list(stored, options, output)
        return 0
    replays = [_replayed(one, root, options) for one in _found(options.id, stored)]
    if options.json:
        output.json(replays[0] if len(replays) == 1 else replays)
    else:
        from pytest_promptfuzz.reporting.terminal.failure import replay_lines

        for replay in replays:
            output.lines(replay_lines(replay, width=output.width))
    codes = {_CODES.get(replay["status"], _UNDECIDED) for replay in replays}
    return next(code for code in (1, _UNDECIDED, 0) if code in codes)


def _replayed(one: _ReplayableTests, root: Path, options: argparse.Namespace) -> Replay:
    """What a run of that one alone came to.

    Raises:
        UsageError: Its test cannot be run.
    """
    from pytest_promptfuzz.plugin.state import NO_TARGET
    from pytest_promptfuzz.plugin.suite_runs import run_one
    from pytest_promptfuzz.reporting.terminal.failure import replay_of

    results = run_one(
        str(root / one.test), one.id, [f"--promptfuzz-cache-dir={options.cache_dir}", *options.pytest]
    )
    replay: Replay | None = None
    for result, redaction in results.found.values():
        replay = replay_of(result, one.id, one.test, redaction)
    if replay is None:
        why = next(iter(results.failed.values()), "pytest did not run it")
        if NO_TARGET in why:
            raise UsageError(f"{one.id}: no model to call. {_with_target(one)}")
        raise UsageError(f"{one.id} of {one.test} has no result: {continued(why)}")
    return replay


def _with_target(one: _ReplayableTests) -> str:
    """The command that names a model: the one that the counterexample was found with, where that is known."""
    target = one.known.target if one.known is not None else ""
    said = f"It was found with {target}: " if target else "Write "
    return f"{said}promptfuzz replay {one.id} -- --promptfuzz-target={target or 'NAME'}"


def _stored(root: Path, folder: Path, output: Output) -> Iterator[_ReplayableTests]:
    """What is stored, by test: counterexamples of here and of git, then trials."""
    from pytest_promptfuzz.history.counterexamples import LocalCounterexamples
    from pytest_promptfuzz.history.snapshots import files_in, folders_below, module_of_snapshots, read

    found: dict[tuple[str, str], _ReplayableTests] = {}
    trials: dict[tuple[str, str], _ReplayableTests] = {}
    for path in (file for snapshots in folders_below(root) for file in files_in(snapshots)):
        try:
            snapshot = read(path)
        except StoreError as error:
            output.error(f"promptfuzz replay: {error}")
            continue
        if snapshot is None:
            continue
        test = f"{module_of_snapshots(path.parent).relative_to(root).as_posix()}::{snapshot.test}"
        for each in snapshot.counterexamples:
            found.setdefault((test, each.id), _ReplayableTests(each.id, test, each)).places.append("git")
    for kept in LocalCounterexamples(folder).every():
        if isinstance(kept, StoreError):
            output.error(f"promptfuzz replay: {kept}")
            continue
        for each in kept.found:
            found.setdefault((kept.test, each.id), _ReplayableTests(each.id, kept.test, each)).places.append(
                "here"
            )
        for trial in kept.trials:
            trials[kept.test, trial] = _ReplayableTests(trial, kept.test, places=["here"])
    yield from (found[key] for key in sorted(found))
    yield from (trials[key] for key in sorted(trials) if key not in found)


def _found(name: str, stored: list[_ReplayableTests]) -> list[_ReplayableTests]:
    """The one whose ID begins so; several tests may know the same, and each is run.

    Raises:
        UsageError: None does, or several IDs do.
    """
    matching = [each for each in stored if each.id.startswith(name.lower())]
    exact = [each for each in matching if each.id == name.lower()]
    matching = exact or matching
    if len({each.id for each in matching}) == 1:
        return matching
    if matching:
        raise UsageError(
            f"several IDs begin with {name!r}: {_named(matching)}. Write more characters of the ID."
        )
    lists = "`promptfuzz replay` lists them." if stored else "A test that fails stores its own."
    raise UsageError(f"no counterexample or trial {name!r} is stored. {lists}")


def _named(stored: list[_ReplayableTests]) -> str:
    more = len(stored) - _MOST_NAMED
    names = [f"{each.id} ({each.test})" for each in stored[:_MOST_NAMED]]
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _list(stored: list[_ReplayableTests], options: argparse.Namespace, output: Output) -> None:
    known = [each for each in stored if each.known is not None]
    if options.json:
        output.json(
            [
                {
                    "id": each.id,
                    "test": each.test,
                    "places": sorted(each.places),
                    "counterexample": None if each.known is None else each.known.to_json(),
                }
                for each in stored
            ]
        )
        return
    if not stored:
        output.say("No counterexample is stored.")
        return
    from pytest_promptfuzz.reporting.terminal.failure import listed_lines

    rows = [(each.id, each.test, each.known, sorted(each.places)) for each in known]
    output.lines(listed_lines(rows))
    trials = len(stored) - len(known)
    if trials:
        number = "1 trial" if trials == 1 else f"{trials} trials"
        output.say(safe(f"{number} of failed tests can be replayed as well; their failures name them."))
