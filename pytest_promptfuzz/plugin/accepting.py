"""What was accepted of a test, given to its job; and whether a run may accept what tests are now."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.plugin.modes import in_ci
from pytest_promptfuzz.plugin.options import UPDATE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.job import Job
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.history.snapshot import Snapshot
    from pytest_promptfuzz.plugin.engine import Engine
    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.model import TestReport
    from pytest_promptfuzz.scoring.robustness import Robustness

_BESIDE = "__promptfuzz__"


def check_update(config: pytest.Config, overrides: Mapping[str, Any]) -> None:
    """Refuse to store what is not the tests' own, or in a place where nobody reviews it.

    Raises:
        pytest.UsageError: Naming what stands against it.
    """
    if not config.getoption("promptfuzz_update"):
        return
    reason = ""
    if in_ci():
        reason = "CI is set, and what is stored is to be reviewed and committed; run it on your own machine"
    elif config.getoption("promptfuzz") == "off":
        reason = "--promptfuzz=off runs no mutations; leave it out"
    elif config.getoption("promptfuzz_dry_run"):
        reason = "--promptfuzz-dry-run asks nothing; leave it out"
    elif config.getoption("promptfuzz_trial"):
        reason = "--promptfuzz-trial runs one trial of a test; leave it out"
    elif overrides:
        reason = f"--promptfuzz-override {next(iter(overrides))}=… makes another test of each; leave it out"
    if reason:
        raise pytest.UsageError(f"{UPDATE}: {reason}.")


def updated(contract: Contract, session: Session) -> Contract:
    """The settings of a test whose snapshot is to be written: it asks its whole plan, and its prompt some times.

    What a recording holds is enough: it was paid for, and one more call would mix answers of two days.
    """
    from pytest_promptfuzz.evaluating.behaviour import ANSWERS
    from pytest_promptfuzz.evaluating.contract import DRIFTS

    # To update is to accept: what drifted is said, and fails nothing.
    eased: dict[str, Any] = {name: "warn" for name in DRIFTS if getattr(contract, name) == "fail"}
    contract = replace(contract, stop="never", **eased)
    tape = session.tape
    recorded = tape is not None and not tape.recording and tape.samples > 0
    if session.mode == "replay" or recorded or not contract.compare:
        return contract
    return replace(contract, baseline_runs=max(contract.baseline_runs, ANSWERS))


def accept(job: Job, item: pytest.Item, state: State) -> None:
    """Give a test's job its snapshot; where it has none, those of tests that are gone.

    Raises:
        UsageError: It cannot be read, and the test cannot do without.
    """
    job.accepted.updates = bool(state.config.getoption("promptfuzz_update"))
    job.accepted.hide = functools.partial(_hidden, job.session)  # the job would wait for the collector
    module, _, test = item.nodeid.partition("::")
    path = state.config.rootpath / module
    if job.contract.gate == "no-worse":
        job.before = replace(job.before, store=f"{UPDATE} stores this one")
    if not (path.parent / _BESIDE).is_dir():
        return
    from pytest_promptfuzz.evaluating.accepted import take
    from pytest_promptfuzz.history.snapshots import read_of

    try:
        found = read_of(path, test)
    except StoreError as error:
        if needs(job.contract):
            raise UsageError(f"{item.nodeid}: {error}") from None
        job.notes.append(f"its snapshot was not used: {error}")
        job.accepted.unread = True
        return
    if found is not None:
        take(job, found)
    else:
        job.accepted.gone = _gone(state, path, test)


def _hidden(session: Session, value: Any) -> Any:
    """Plain data as it is stored: without what looks like a secret."""
    from pytest_promptfuzz.plugin.redacting import redaction_of

    return redaction_of(session).json(value, names=False)


def kept_of(engine: Engine) -> Callable[[Robustness], dict[str, Any]]:
    """What makes plain data of a test's snapshot once it is judged, or says why it has none; nothing without need.

    It is made before that, for the answers are gone afterwards.
    """
    if not engine.state.config.getoption("promptfuzz_update"):
        return lambda _: _unstored(engine)
    from pytest_promptfuzz.evaluating.behaviour import inputs_of, snapshot_of

    job, hide = engine.job, engine.job.accepted.hide
    inputs = inputs_of(job, job.ended, hide)

    def kept(result: Robustness) -> dict[str, Any]:
        if engine.examples:
            return {"refused": "hypothesis draws its inputs anew in each run"}
        snapshot = snapshot_of(engine.where.partition("::")[2], job, result, inputs, hide)
        if snapshot is None:
            return {"refused": result.verdict}
        return {"snapshot": snapshot.to_json(), "moved": job.accepted.moved}

    return kept


def _unstored(engine: Engine) -> dict[str, Any]:
    """The name that a test had before; that it has no snapshot, and whether drift is to fail it."""
    from pytest_promptfuzz.evaluating.contract import DRIFTS

    accepted = engine.job.accepted
    if accepted.moved:
        return {"moved": accepted.moved}
    policies = {getattr(engine.job.contract, name) for name in DRIFTS}
    if (
        accepted.snapshot
        or accepted.unread
        or engine.examples
        or engine.state.trial
        or policies == {"ignore"}
    ):
        return {}
    return {"bare": "fail" in policies}


def needs(contract: Contract) -> bool:
    """Whether a test's outcome depends on its snapshot."""
    drift = (contract.model_drift, contract.prompt_drift, contract.comparator_drift)
    return contract.gate == "no-worse" or "fail" in (contract.pinned, *drift)


def drift_fails(report: TestReport, effects: Mapping[str, Any]) -> bool:
    """Whether a test fails for its drift: its policy is to, and its verdict alone would not fail it."""
    return any(each["policy"] == "fail" for each in report["drift"]) and (
        report["verdict"] == "pass" or effects[report["verdict"]] not in {"fail", "error"}
    )


def _gone(state: State, module: Path, test: str) -> tuple[tuple[Snapshot, ...], ...]:
    """The snapshots of tests of a module that are not there any more: of the same function, then of others."""
    every = state.gone.of(module)
    function = test.partition("[")[0]
    same = tuple(each for each in every if each.test.partition("[")[0] == function)
    return tuple(group for group in (same, tuple(each for each in every if each not in same)) if group)


SNAPSHOT = pytest.StashKey[dict[str, Any]]()
"""What is kept of a test until its report is made."""
