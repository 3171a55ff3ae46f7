"""``--promptfuzz-update``: what tests are now becomes their snapshots, once the run is over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.plugin.options import UPDATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import pytest

    from pytest_promptfuzz.history.snapshot import Snapshot
    from pytest_promptfuzz.reporting.model import TestReport
    from pytest_promptfuzz.scoring.replayed import Known

    Pinned = Callable[[str, tuple[Known, ...]], tuple[Known, ...]]

_NAMED = 3
_RANKS = {"E": 0, "M": 1, "D": 2}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What a test is now: its snapshot as JSON, the name it had before, whether it failed, and how it drifted."""

    snapshot: dict[str, Any]
    moved: str
    failed: bool
    drift: tuple[str, ...]


@dataclass(slots=True)
class Updates:
    """The snapshots that a run writes, gathered by the process that has seen every report.

    Attributes:
        which: Of which tests: ``all``, those that ``failed`` (or drifted, or became worse), ``new`` ones; or none.
        done: A sentence for each folder that was written, each drift that was accepted, and what went wrong.
        bare: The tests without a snapshot that could have one, and whether drift is to fail them.
        lost: The tests whose snapshot was to be written and could not be, each with what was said, by cause.
        refused: Why a test's is not written, by node ID.
        moved: The name in its module that a test had, where its snapshot has another name, by node ID.
    """

    which: str = ""
    done: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    lost: dict[str, dict[str, str]] = field(default_factory=dict)
    bare: dict[str, bool] = field(default_factory=dict)
    _candidates: dict[str, _Candidate] = field(default_factory=dict)

    def see(self, report: pytest.TestReport) -> None:
        """A phase of a test is over. What failed in any of them other than by its verdict is not stored."""
        data: TestReport | None = getattr(report, "promptfuzz", None)
        kept: dict[str, Any] | None = getattr(report, "promptfuzz_snapshot", None)
        if kept is not None and kept.get("moved"):
            self.moved[report.nodeid] = kept["moved"]
        if data is not None:
            self.bare.pop(report.nodeid, None)
            if kept is not None and "bare" in kept and data["verdict"] in {"pass", "brittle"}:
                self.bare[report.nodeid] = kept["bare"]
        if not self.which:
            return
        if data is not None and kept is not None and "refused" not in kept:
            self._candidates[report.nodeid] = _Candidate(
                kept["snapshot"],
                kept["moved"],
                data["verdict"] != "pass",
                tuple(each["message"] for each in data["drift"]),
            )
            self.refused.pop(report.nodeid, None)
        elif data is not None:
            self._refuse(report.nodeid, data["verdict"] if kept is None else kept["refused"])
        elif report.failed and "robust" in report.keywords:
            unmutated = hasattr(report, "promptfuzz_unmutated")
            self._refuse(
                report.nodeid, "failed unmutated" if unmutated else _PHASES.get(str(report.when), "in error")
            )
        elif report.skipped and "robust" in report.keywords:
            self._refuse(report.nodeid, "skipped")

    def _refuse(self, test: str, why: str) -> None:
        self._candidates.pop(test, None)
        self.refused[test] = why

    def write(self, root: Path, pinned: Pinned) -> None:
        """Write those that are wanted; nothing else is touched.

        Args:
            root: Of the project.
            pinned: The counterexamples that are to be pinned of a test, by node ID and what was pinned before.
        """
        from pytest_promptfuzz.history.snapshots import folder_of, path_of

        written: dict[str, Counter[str]] = {}
        for nodeid, each in self._candidates.items():
            module = root / nodeid.partition("::")[0]
            folder = folder_of(module)
            name = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)
            try:
                counts = self._written(nodeid, root, each, pinned)
            except PromptfuzzError as error:
                # A folder that cannot be written names each test's file; what is wrong with it is one thing.
                cause = str(error).replace(str(path_of(module, each.snapshot["test"])), str(folder))
                self.lost.setdefault(cause, {})[nodeid] = str(error)
                continue
            written.setdefault(name, Counter()).update(counts)
        self.done[:0] = [_told(name, counts) for name, counts in sorted(written.items())]

    def _written(self, nodeid: str, root: Path, each: _Candidate, pinned: Pinned) -> Counter[str]:
        """What was done, as counts."""
        from pytest_promptfuzz.history.snapshot import Snapshot
        from pytest_promptfuzz.history.snapshots import path_of, read_of, remove, write

        module = root / nodeid.partition("::")[0]
        new = Snapshot.from_json(each.snapshot)
        before = read_of(module, new.test)
        if before is None and each.moved:
            before = read_of(module, each.moved)
        if not self._wanted(new, before, each):
            return Counter(left=1)
        known = () if before is None else before.counterexamples
        new = replace(new, counterexamples=_settled(pinned(nodeid, known), known))
        changed = write(module, new, project=root)
        if each.moved and path_of(module, each.moved) != path_of(module, new.test):
            remove(path_of(module, each.moved))
            self.done.append(f"renamed: the snapshot of {each.moved} is that of {nodeid} now")
        self.done += [f"updated: {nodeid}: {message}" for message in each.drift]
        return Counter(stored=int(changed), same=int(not changed), pinned=len(new.counterexamples))

    def _wanted(self, new: Snapshot, before: Snapshot | None, each: _Candidate) -> bool:
        if self.which == "new":
            return before is None
        if self.which == "failed":
            return each.failed or bool(each.drift) or (before is not None and _worse(new, before))
        return True

    @property
    def taken(self) -> list[str]:
        """The former names of tests that have another one by now, as node IDs."""
        return [f"{test.partition('::')[0]}::{before}" for test, before in self.moved.items()]

    def unwatched(self, root: Path) -> Iterator[tuple[str, bool]]:
        """That tests have no snapshot, where others have, or drift is to fail them; and whether it is.

        Args:
            root: Of the project.
        """
        if not self.bare:
            return
        from pytest_promptfuzz.history.snapshots import files_in, folder_of

        loud = any(self.bare.values())
        modules = dict.fromkeys(root / each.partition("::")[0] for each in self.bare)
        if loud or any(files_in(folder_of(each)) for each in modules):
            yield (
                f"no snapshot yet, so drift cannot be seen: {some(list(self.bare))}; {UPDATE}=new stores them",
                loud,
            )

    def lines(self) -> Iterator[str]:
        """What the summary shows."""
        yield from self.done
        for cause, lost in self.lost.items():
            said = cause if len(lost) > 1 else next(iter(lost.values()))
            yield f"not stored: {some(list(lost))}: {said}"
        if not self.which:
            for test, before in self.moved.items():
                yield f"the snapshot of {before} was taken for that of {test}; {UPDATE} renames it"
        refused: dict[str, list[str]] = {}
        for test, why in self.refused.items():
            refused.setdefault(why, []).append(test)
        for why, tests in refused.items():
            yield f"not stored: {some(tests)} ({why})"


def some(tests: Sequence[str]) -> str:
    """The first of some tests by name, and how many there are."""
    if len(tests) <= _NAMED:
        return ", ".join(tests)
    return f"{len(tests)} tests, among them {', '.join(tests[:_NAMED])}"


_PHASES = {"setup": "failed in its setup", "call": "failed", "teardown": "failed in its teardown"}


def _worse(new: Snapshot, before: Snapshot) -> bool:
    """Whether a trial that both have came out worse now."""
    return any(
        _RANKS.get(now, 0) > _RANKS.get(then, 3)
        for case, trials in new.trials.items()
        for trial, letters in trials.items()
        for now, then in zip(letters, before.trials.get(case, {}).get(trial, ""), strict=False)
    )


def _settled(pinned: tuple[Known, ...], before: tuple[Known, ...]) -> tuple[Known, ...]:
    """The same, as they were pinned before where they break in the same way: how often they were asked is no news."""
    old = {each.id: each for each in before}
    return tuple(
        old[each.id] if each.id in old and _shown(old[each.id]) == _shown(each) else each for each in pinned
    )


def _shown(known: Known) -> dict[str, Any]:
    return {key: value for key, value in known.to_json().items() if key not in {"calls", "repeats"}}


def _told(folder: str, counts: Counter[str]) -> str:
    stored, same, pinned = counts["stored"], counts["same"], counts["pinned"]
    if not stored and not same:
        return f"no snapshot written in {folder}: none of the selected tests needs one"
    of = (
        "the snapshot of 1 test"
        if stored == 1
        else f"the snapshots of {stored} tests"
        if stored
        else "no snapshot"
    )
    said = f"stored {of} in {folder}"
    if same:
        said += f"; {same} {'is' if same == 1 else 'are'} as before"
    if pinned:
        said += f"; {pinned} counterexample{'s are' if pinned > 1 else ' is'} pinned there"
    return said
