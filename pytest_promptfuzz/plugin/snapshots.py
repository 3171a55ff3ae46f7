"""Snapshots in a run: what was accepted of a test, and ``--promptfuzz-update``, which accepts what it is now."""

from __future__ import annotations

import functools
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_promptfuzz.errors import PromptfuzzError, StoreError, UsageError
from pytest_promptfuzz.plugin.former_tests import FormerTests, short, some
from pytest_promptfuzz.plugin.options import UPDATE, in_ci

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.history.snapshots import Sample, Snapshot, SnapshotInput
    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.model import TestReport
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample
    from pytest_promptfuzz.results.robustness import Robustness

    Pinned = Callable[[str, tuple[KnownCounterexample, ...]], tuple[KnownCounterexample, ...]]


_RANKS = {"E": 0, "M": 1, "D": 2}


class _Candidate(NamedTuple):
    """What a test is now.

    Attributes:
        snapshot: As JSON.
        moved: The node ID under which its snapshot stands; empty where that is its own.
        gone: Whether no test has that name any more.
        same: Whether it was seen to answer as its snapshot says.
        failed: Whether it failed.
        drift: How it drifted.
    """

    snapshot: dict[str, Any]
    moved: str
    gone: bool
    same: bool
    failed: bool
    drift: tuple[str, ...]


@dataclass(slots=True)
class Updates:
    """The snapshots that a run writes, gathered by the process that has seen every report.

    Attributes:
        which: Of which tests: ``all``, those that ``failed`` (or drifted, or became worse), ``new`` ones; or none.
        done: A sentence for each folder that was written, and each snapshot that has another name now.
        bare: The tests without a snapshot that could have one, and whether drift is to fail them.
        lost: The tests whose snapshot was to be written and could not be, each with what was said, by cause.
        refused: Why a test's is not written, by node ID.
        moved: The node ID under which a test's snapshot stands, where that is another name, by node ID.
    """

    which: str = ""
    done: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    lost: dict[str, dict[str, str]] = field(default_factory=dict)
    bare: dict[str, bool] = field(default_factory=dict)
    _candidates: dict[str, _Candidate] = field(default_factory=dict)

    @classmethod
    def of(cls, config: pytest.Config) -> Updates:
        """The run's."""
        return config.stash.setdefault(_UPDATES, cls(config.getoption("promptfuzz_update") or ""))

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
                kept.get("moved", ""),
                kept.get("gone", False),
                kept["same"],
                data["verdict"] != "pass",
                tuple(each["message"] for each in data["drift"]),
            )
            self.refused.pop(report.nodeid, None)
        elif data is not None:
            self._refuse(report.nodeid, data["verdict"] if kept is None else kept["refused"])
        elif report.failed and "robust" in report.keywords:
            unmutated = hasattr(report, "promptfuzz_unmutated")
            self._refuse(
                report.nodeid,
                "failed with the unmutated prompt" if unmutated else _PHASES.get(str(report.when), "error"),
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
        before: dict[str, Snapshot | PromptfuzzError | None] = {}
        for (
            nodeid,
            each,
        ) in self._candidates.items():  # all, before any is written: one may take another's name
            try:
                before[nodeid] = _before(root, nodeid, each)
            except PromptfuzzError as error:
                before[nodeid] = error
        renamed: dict[str, str] = {}
        for nodeid, each in self._candidates.items():
            module = root / nodeid.partition("::")[0]
            folder = folder_of(module)
            name = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)
            try:
                counts = self._written(nodeid, root, each, before[nodeid], pinned)
            except PromptfuzzError as error:
                # A folder that cannot be written names each test's file; what is wrong with it is one thing.
                cause = str(error).replace(str(path_of(module, each.snapshot["test"])), str(folder))
                self.lost.setdefault(cause, {})[nodeid] = str(error)
                continue
            written.setdefault(name, Counter()).update(counts)
            if each.moved and each.gone and not counts["left"]:
                renamed[nodeid] = each.moved
        if len(renamed) == 1:
            ((test, former),) = renamed.items()
            self.done.append(f"renamed the snapshot of {short(test, former)}: its test is {test} now")
        elif renamed:
            self.done.append(f"renamed {len(renamed)} snapshots: {some(_pairs(renamed))}")
        self.done[:0] = [_told(name, counts) for name, counts in sorted(written.items())]

    def _written(
        self,
        nodeid: str,
        root: Path,
        each: _Candidate,
        before: Snapshot | PromptfuzzError | None,
        pinned: Pinned,
    ) -> Counter[str]:
        """What was done, as counts."""
        from pytest_promptfuzz.history.snapshots import Snapshot, path_of, remove, write

        if isinstance(before, PromptfuzzError):
            raise before
        module = root / nodeid.partition("::")[0]
        new = Snapshot.from_json(each.snapshot)
        if not self._wanted(new, before, each):
            return Counter(left=1)
        known = () if before is None else before.counterexamples
        new = replace(new, counterexamples=_settled(pinned(nodeid, known), known))
        if before is not None:
            new = replace(new, inputs=_as_accepted(new, before, same=each.same))
        changed = write(module, new, project=root)
        if each.moved and each.gone:
            former, _, test = each.moved.partition("::")
            remove(path_of(root / former, test))
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
        return list(self.moved.values())

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
                f"no snapshot yet, so drift cannot be seen: {some(list(self.bare))}. {UPDATE}=new writes it"
                if len(self.bare) == 1
                else f"no snapshots yet, so drift cannot be seen: {some(list(self.bare))}. {UPDATE}=new writes them",
                loud,
            )

    def lines(self) -> Iterator[str]:
        """What the summary shows."""
        yield from self.done
        for cause, lost in self.lost.items():
            said = cause if len(lost) > 1 else next(iter(lost.values()))
            yield f"no snapshot written for {some(list(lost))}: {said}"
        if not self.which and len(self.moved) == 1:
            ((test, former),) = self.moved.items()
            yield f"{test} uses the snapshot of {short(test, former)}; {UPDATE} writes it under the new name"
        elif not self.which and self.moved:
            pairs = some(_pairs(self.moved))
            yield f"{pairs} use the snapshots of their former names; {UPDATE} writes them under the new names"
        refused: dict[str, list[str]] = {}
        for test, why in self.refused.items():
            refused.setdefault(why, []).append(test)
        for why, tests in refused.items():
            yield f"no snapshot written for {some(tests)}: {_refusal(why, len(tests))}"


_PHASES = {"setup": "failed in its setup", "call": "failed", "teardown": "failed in its teardown"}


def _refusal(why: str, tests: int) -> str:
    """Why a snapshot is not written, as the end of a sentence about so many tests."""
    the = "the test" if tests == 1 else "the tests"
    if why == "error":
        return f"{the} {'is an error' if tests == 1 else 'are errors'}"
    if why in {"skipped", "noisy", "inconclusive"}:
        return f"{the} {'is' if tests == 1 else 'are'} {why}"
    return f"{the} {why}" if why.startswith("failed") else why


def _worse(new: Snapshot, before: Snapshot) -> bool:
    """Whether a trial that both have came out worse now."""
    return any(
        _RANKS.get(now, 0) > _RANKS.get(then, 3)
        for case, trials in new.trials.items()
        for trial, letters in trials.items()
        for now, then in zip(letters, before.trials.get(case, {}).get(trial, ""), strict=False)
    )


def _settled(
    pinned: tuple[KnownCounterexample, ...], before: tuple[KnownCounterexample, ...]
) -> tuple[KnownCounterexample, ...]:
    """The same, as they were pinned before where they break in the same way: how often they were asked is no news."""
    old = {each.id: each for each in before}
    return tuple(
        old[each.id] if each.id in old and _shown(old[each.id]) == _shown(each) else each for each in pinned
    )


def _before(root: Path, nodeid: str, each: _Candidate) -> Snapshot | None:
    """What was accepted of a test, under its name or under that which it had."""
    from pytest_promptfuzz.history.snapshots import read_of

    module, _, test = (each.moved or nodeid).partition("::")
    return read_of(root / module, test)


def _as_accepted(new: Snapshot, before: Snapshot, *, same: bool) -> tuple[SnapshotInput, ...]:
    """The inputs of a test, with the accepted answers where today's say nothing else.

    How often each of some answers came, and which of several ways to say the same came first, varies from run to run.

    Args:
        new: What the test is now.
        before: What was accepted.
        same: Whether today's answers were seen to be no others than those that were accepted.
    """
    then = {each.name: each for each in before.inputs}
    found = []
    for each in new.inputs:
        old = then.get(each.name)
        alike = old is not None and (old.prompt, old.sent) == (each.prompt, each.sent)
        if old is not None and alike and old.answers and (same or _are_among(each.answers, old.answers)):
            each = each._replace(answers=old.answers)  # noqa: PLW2901 - the same input
        found.append(each)
    return tuple(found)


def _are_among(now: tuple[Sample, ...], then: tuple[Sample, ...]) -> bool:
    """Whether answers are some of those that came before, and the one that comes most often is the same."""
    known = [one._replace(times=0) for one in then]
    usual = [max(each, key=lambda one: one.times)._replace(times=0) for each in (now, then) if each]
    return all(one._replace(times=0) in known for one in now) and usual[:1] == usual[1:]


def _shown(known: KnownCounterexample) -> dict[str, Any]:
    return {key: value for key, value in known.to_json().items() if key not in {"calls", "repeats"}}


def _pairs(names: Mapping[str, str]) -> list[str]:
    return [f"{test} (was {short(test, former)})" for test, former in names.items()]


def _told(folder: str, counts: Counter[str]) -> str:
    stored, same, pinned = counts["stored"], counts["same"], counts["pinned"]
    if not stored and not same:
        return f"no snapshot written in {folder}: none of the selected tests needs one"
    beside = [
        *([f"{same} unchanged"] if same else []),
        *([f"{pinned} pinned counterexample{'s' if pinned > 1 else ''}"] if pinned else []),
    ]
    rest = f" ({', '.join(beside)})" if beside else ""
    wrote = f"wrote {stored} snapshot{'' if stored == 1 else 's'}" if stored else "no snapshot written"
    return f"{wrote} in {folder}{rest}"


# What was accepted of a test, given to its evaluation; and whether a run may accept what tests are now.


def check_update(config: pytest.Config, overrides: Mapping[str, Any]) -> None:
    """Refuse to store what is not the tests' own, or in a place where nobody reviews it.

    Raises:
        pytest.UsageError: Naming what stands against it.
    """
    if not config.getoption("promptfuzz_update"):
        return
    reason = ""
    if in_ci():
        raise pytest.UsageError(
            f"{UPDATE} does not run in CI (the variable CI is set). Run it on your own machine, review the snapshots "
            "and commit them."
        )
    if config.getoption("promptfuzz") == "off":
        reason = "--promptfuzz=off, which runs no mutations"
    elif config.getoption("promptfuzz_dry_run"):
        reason = "--promptfuzz-dry-run, which calls no model"
    elif config.getoption("promptfuzz_trial"):
        reason = "--promptfuzz-trial, which runs one trial of a test"
    elif overrides:
        reason = f"--promptfuzz-override {next(iter(overrides))}=…, which changes the tests"
    if reason:
        raise pytest.UsageError(f"{UPDATE} cannot be used with {reason}. Leave one of them out.")


def contract_of_update(contract: Contract, session: Session) -> Contract:
    """The settings of a test whose snapshot is to be written: it asks its whole plan, and its prompt some times.

    What a recording holds is enough: it was paid for, and one more call would mix answers of two days.
    """
    from pytest_promptfuzz.evaluating.contract import DRIFTS
    from pytest_promptfuzz.evaluating.session import ACCEPTED_SAMPLES

    # To update is to accept: what drifted is said, and fails nothing.
    eased: dict[str, Any] = {name: "warn" for name in DRIFTS if getattr(contract.verdict, name) == "fail"}
    plan = contract.plan._replace(stop="never")
    contract = contract._replace(plan=plan, verdict=contract.verdict._replace(**eased))
    tape = session.tape
    recorded = tape is not None and not tape.recording and tape.samples > 0
    if session.mode == "replay" or recorded or not contract.comparison.compare:
        return contract
    return contract._replace(plan=plan._replace(baseline_runs=max(plan.baseline_runs, ACCEPTED_SAMPLES)))


def say_updated(report: TestReport, kept: Mapping[str, Any], which: str) -> None:
    """Call drift updated where the run writes a snapshot of the test: nobody has to look at it any more.

    Args:
        report: The test's, which takes it.
        kept: What is kept of its snapshot.
        which: As for :class:`Updates`; ``new`` leaves a snapshot from which a test drifted.
    """
    from pytest_promptfuzz.reporting.model import UPDATED

    if which not in {"all", "failed"} or "snapshot" not in kept:
        return
    for each in report["drift"]:
        if each["policy"] != "ignore":
            each["policy"] = UPDATED


def accept(evaluation: Evaluation, item: pytest.Item, state: State) -> None:
    """Give a test's evaluation its snapshot; where it has none, those of tests that are gone.

    Raises:
        UsageError: It cannot be read, and the test cannot do without.
    """
    evaluation.accepted.updates = bool(state.config.getoption("promptfuzz_update"))
    evaluation.accepted.hide = functools.partial(
        _hidden, evaluation.session
    )  # the evaluation would wait for the collector
    module, _, test = item.nodeid.partition("::")
    path = state.config.rootpath / module
    if evaluation.contract.verdict.gate == "no-worse":
        evaluation.before = evaluation.before._replace(store=f"{UPDATE} stores this one.")
    former = FormerTests.of(state.config)
    if not former.has_snapshots():
        return

    from pytest_promptfuzz.history.snapshots import read_of

    try:
        found = read_of(path, test)
    except StoreError as error:
        if needs(evaluation.contract):
            raise UsageError(f"{item.nodeid}: {error}") from None
        shown = str(error).replace(f"{state.config.rootpath}{os.sep}", "")
        evaluation.notes.append(f"its snapshot was not used: {shown}")
        evaluation.accepted.unread = True
        return
    evaluation.accepted.former = functools.partial(former.snapshots, item.nodeid)
    evaluation.accepted.asks = functools.partial(former.asks.__setitem__, item.nodeid)
    if found is not None:
        evaluation.accept(found)


def _hidden(session: Session, value: Any) -> Any:
    """Plain data as it is stored: without what looks like a secret."""
    from pytest_promptfuzz.plugin.output.redaction import redaction_of

    return redaction_of(session).json(value, names=False)


def snapshot_taker(
    evaluation: Evaluation, state: State, *, drawn: bool
) -> Callable[[Robustness], dict[str, Any]]:
    """What makes plain data of a test's snapshot once it is judged, or says why it has none; nothing without need.

    It is made before that, for the answers are gone afterwards.

    Args:
        evaluation: That of the test.
        state: The session's.
        drawn: Whether hypothesis draws the test's arguments.
    """
    if not state.config.getoption("promptfuzz_update"):
        return lambda _: _unstored(evaluation, state, drawn=drawn)
    from pytest_promptfuzz.evaluating.phases.drift import inputs_of, snapshot_of

    hide = evaluation.accepted.hide
    inputs = inputs_of(evaluation.findings, evaluation.contract, hide)

    def taken(result: Robustness) -> dict[str, Any]:
        if drawn:
            return {"refused": "hypothesis draws its inputs anew in each run"}
        snapshot = snapshot_of(evaluation.settings, evaluation.findings, result, inputs, hide)
        if snapshot is None:
            return {"refused": result.verdict}
        told = evaluation.accepted.told
        same = told is not None and told.changed is False
        return {"snapshot": snapshot.to_json(), "same": same, **_moved(evaluation)}

    return taken


def _unstored(evaluation: Evaluation, state: State, *, drawn: bool) -> dict[str, Any]:
    """The name that a test had before; that it has no snapshot, and whether drift is to fail it."""
    from pytest_promptfuzz.evaluating.contract import DRIFTS

    accepted = evaluation.accepted
    if accepted.moved is not None:
        return _moved(evaluation)
    policies = {getattr(evaluation.contract.verdict, name) for name in DRIFTS}
    if accepted.snapshot or accepted.unread or drawn or state.trial or policies == {"ignore"}:
        return {}
    return {"bare": "fail" in policies}


def _moved(evaluation: Evaluation) -> dict[str, Any]:
    """Under which name its snapshot stands, where that is another one."""
    former = evaluation.accepted.moved
    return {} if former is None else {"moved": former.test, "gone": former.gone}


def needs(contract: Contract) -> bool:
    """Whether a test's outcome depends on its snapshot."""
    verdict = contract.verdict
    drift = (verdict.model_drift, verdict.prompt_drift, verdict.comparator_drift)
    return verdict.gate == "no-worse" or "fail" in (verdict.pinned, *drift)


def drift_fails(report: TestReport, effects: Mapping[str, Any]) -> bool:
    """Whether a test fails for its drift: its policy is to, and its verdict alone would not fail it."""
    return any(each["policy"] == "fail" for each in report["drift"]) and (
        report["verdict"] == "pass" or effects[report["verdict"]] not in {"fail", "error"}
    )


_UPDATES = pytest.StashKey[Updates]()
