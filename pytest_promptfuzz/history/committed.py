"""What tests were by the snapshots of an earlier commit, for comparisons with it where none of its runs is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError, unstopped
from pytest_promptfuzz.history import git
from pytest_promptfuzz.history.entries import Entry, digest, kept_answer, whole
from pytest_promptfuzz.history.snapshots import ENDING, module_of, parsed
from pytest_promptfuzz.wire.recordings.places import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.history.snapshot import Snapshot


def tests_at(commit: str, root: Path) -> tuple[dict[str, Entry], list[str]]:
    """The tests of the snapshots that a commit holds, by node ID, and a sentence for each that cannot be read.

    Args:
        commit: Its hash.
        root: Of the project, from which node IDs are told.

    Raises:
        UsageError: Git cannot tell.
    """
    names = [each for each in git.names_at(commit, root) if _is_snapshot(each)]
    tests: dict[str, Entry] = {}
    problems: list[str] = []
    for name, content in zip(names, git.contents_at(commit, names, root) if names else (), strict=True):
        path = root / name
        try:
            found = parsed(content.decode("utf-8"), path)
        except (StoreError, UnicodeDecodeError) as error:
            problems.append(f"of commit {commit[:12]}: {unstopped(error)}")
            continue
        module = module_of(path.parent).relative_to(root).as_posix()
        tests[f"{module}::{found.test}"] = _entry(f"{module}::{found.test}", found)
    return tests, problems


def _is_snapshot(name: str) -> bool:
    parts = name.split("/")
    return len(parts) >= 3 and parts[-3] == FOLDER and parts[-2].endswith(ENDING) and name.endswith(".json")


def _entry(test: str, found: Snapshot) -> Entry:
    compared = [each for each in found.inputs if each.answers]
    known: dict[str, Any] = {
        "test": test,
        "verdict": found.verdict,
        "score": found.score,
        "threshold": found.threshold,
        "target": found.target,
        "model": found.model,
        "prompt": digest(found.prompt),
        "oracle_only": not compared,
        "baselines": {each.name: kept_answer(each.answers[0].answer) for each in compared},
        "trials": {name: dict(trials) for name, trials in found.trials.items()},
    }
    return whole(known)
