"""Known counterexamples in a run: which a test gets, what is kept on this machine, what is pinned in git."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.plugin.options import UPDATE
from pytest_promptfuzz.plugin.suite_runs import RESULTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.history.counterexamples import KeptTest
    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.model import TestReport
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample


_LOCAL = "counterexamples"  # as the store calls its folder; it is not loaded to find that there is none


def keeps_finds(state: State) -> bool:
    """Whether this process keeps the counterexamples of its tests: not of one trial, or of stored answers alone."""
    config = state.config
    return not (state.trial or RESULTS in config.stash or hasattr(config, "workerinput"))


def pin(evaluation: Evaluation, item: pytest.Item, state: State) -> None:
    """Give a test's evaluation the counterexamples that are kept here, beside those pinned in its snapshot.

    Raises:
        UsageError: They cannot be read, and the test is to fail for them.
    """
    listening = state.config.stash.get(RESULTS, None)
    if listening is not None and not listening.replays:
        # What is stored is explained, and nothing else.
        evaluation.pins.known, evaluation.accepted.former = (), tuple
        evaluation.accepted.snapshot = None
        return
    if not (state.folder / _LOCAL).is_dir():
        return
    from pytest_promptfuzz.history.counterexamples import LocalCounterexamples

    found = {each.id: each for each in evaluation.pins.known}
    try:
        found |= {each.id: each for each in LocalCounterexamples(state.folder).read(item.nodeid).found}
    except StoreError as error:
        if evaluation.contract.verdict.pinned == "fail":
            raise UsageError(f"{item.nodeid}: {error}") from None
        evaluation.notes.append(f"known counterexamples were not replayed: {error}")
    evaluation.pins.known = tuple(found.values())


@dataclass(slots=True)
class _Seen:
    """What a run has shown of a test's counterexamples: those that hold, as they are today, and those that do not."""

    held: dict[str, KnownCounterexample] = field(default_factory=dict)
    retired: dict[str, str] = field(default_factory=dict)
    found: list[KnownCounterexample] = field(default_factory=list)


@dataclass(slots=True)
class PinKeeper:
    """Keeps what a run finds, on the process that has seen every report.

    Attributes:
        done: A sentence for each file that was written, or could not be.
        tests: What the run has shown, by node ID.
    """

    done: list[str] = field(default_factory=list)
    tests: dict[str, _Seen] = field(default_factory=dict)

    @classmethod
    def of(cls, config: pytest.Config) -> PinKeeper:
        """The run's."""
        return config.stash.setdefault(_KEEPER, cls())

    def see(self, report: pytest.TestReport, folder: Path) -> None:
        """A phase of a test is over: what was found is kept, and what was retired is not any more.

        Args:
            report: Of the phase.
            folder: That of stored answers.
        """
        data: TestReport | None = getattr(report, "promptfuzz", None)
        if data is None:
            return
        broke = [
            each
            for each in data["trials"]
            if each["outcome"] == "deviation" and each["relation"] != "must-change"
        ]
        trials = list(dict.fromkeys(each["id"] for each in broke))
        if not (trials or data["replayed"] or data["counterexamples"] or (folder / _LOCAL).is_dir()):
            return
        from pytest_promptfuzz.history.counterexamples import KeptTest, LocalCounterexamples

        seen = self.tests[report.nodeid] = self._seen(data, report.nodeid)
        local = LocalCounterexamples(folder)
        try:
            before = local.read(report.nodeid)
        except StoreError:
            before = KeptTest(report.nodeid)  # writing says so, and puts it aside
        kept = _kept(before, seen, trials)
        if kept == before and local.path_of(report.nodeid).exists() == bool(kept.found or kept.trials):
            return
        try:
            note = local.write(kept)
        except StoreError as error:
            note = str(error)
        if note:
            self.done.append(note)

    def _seen(self, data: TestReport, test: str) -> _Seen:
        seen = _Seen()
        for each in data["replayed"]:
            if each["status"] in {"passes", "gone"}:
                seen.retired[each["id"]] = each["status"]
            elif each["status"] == "breaks" and (now := _read(each["now"], data["target"])) is not None:
                seen.held[each["id"]] = now
        known = {each.id for each in seen.held.values()}
        for one in data["counterexamples"]:
            found = _read(one, data["target"])
            if found is None:
                self.done.append(
                    f"not kept: counterexample {one['id']} of {test}, whose prompt holds what looks like a secret"
                )
            elif found.id not in known:
                seen.found.append(found)
        return seen

    def pinned(self, test: str, before: tuple[KnownCounterexample, ...]) -> tuple[KnownCounterexample, ...]:
        """What is to be pinned of a test: what was and holds, as it is today, and what else is known to break it.

        Args:
            test: Its node ID.
            before: What was pinned.
        """
        seen = self.tests.get(test)
        if seen is None:
            return before
        kept = [seen.held.get(each.id, each) for each in before if each.id not in seen.retired]
        return tuple({each.id: each for each in (*kept, *seen.held.values(), *seen.found)}.values())

    def lines(self, root: Path, *, updates: bool) -> Iterator[str]:
        """What the summary shows.

        Args:
            root: Of the project.
            updates: Whether this run pins.
        """
        yield from dict.fromkeys(self.done)
        retired = {test: seen.retired for test, seen in self.tests.items() if seen.retired}
        if updates or not retired:
            return
        from pytest_promptfuzz.history.snapshots import read_of

        for nodeid, ids in retired.items():
            module, _, test = nodeid.partition("::")
            try:
                found = read_of(root / module, test)
            except StoreError:
                continue
            still = [] if found is None else [each.id for each in found.counterexamples if each.id in ids]
            if still:
                them = "it" if len(still) == 1 else "them"
                named = ", ".join(still)
                yield f"removed here, but still pinned in git: {named} of {nodeid}; {UPDATE} removes {them} there too"


def _read(report: Any, target: str) -> KnownCounterexample | None:
    """A counterexample of a report; ``None`` where what was hidden in the report made another of it."""
    from pytest_promptfuzz.results.counterexamples import Counterexample, KnownCounterexample

    try:
        found = Counterexample.from_json(report)
    except UsageError:
        return None
    return KnownCounterexample(found, target) if found.id == report["id"] else None


def _kept(before: KeptTest, seen: _Seen, trials: list[str]) -> KeptTest:
    from pytest_promptfuzz.history.counterexamples import KeptTest

    found = {
        now.id: now
        for each in before.found
        if each.id not in seen.retired
        for now in [seen.held[each.id].after(each) if each.id in seen.held else each]
    }
    found |= {each.id: each for each in seen.found}
    return KeptTest(before.test, list(found.values()), trials)


_KEEPER = pytest.StashKey[PinKeeper]()
