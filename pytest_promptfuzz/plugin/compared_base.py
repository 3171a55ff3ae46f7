"""What tests are compared with while they run: the base of ``--promptfuzz-compare``, found once a process."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.plugin.former_tests import FormerTests, node_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.evaluating.cases import Accepted
    from pytest_promptfuzz.evaluating.contract import EvaluationSettings
    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.evaluating.phases.regressions import ComparedBase, SessionCalls
    from pytest_promptfuzz.history.entries import HistoryEntry
    from pytest_promptfuzz.history.former_names import BaseTests
    from pytest_promptfuzz.plugin.state import State

SESSION_TESTS = 10
"""All tests of a run together may make as many calls to ask again as so many tests."""


def asks_again(state: State) -> bool:
    """Whether tests that are lower than their base may make calls to ask again."""
    return bool(state.settings["compare"]) and state.settings["compare_calls"] > 0


@dataclass(slots=True)
class RunBase:
    """The base of this process's tests.

    Attributes:
        tests: What is known of each, by name.
        calls: What is left of the calls to ask again.
        last: Whether it is the latest run of each test, so that it has to be of the same target.
    """

    tests: Mapping[str, HistoryEntry]
    calls: SessionCalls
    last: bool
    _names: BaseTests | None = None
    _by_target: dict[tuple[str, str], HistoryEntry | None] = field(default_factory=dict)

    @classmethod
    def of(cls, state: State) -> RunBase | None:
        """The run's; ``None`` where no base was given, or it cannot be read, which is said elsewhere."""
        if not state.settings["compare"]:
            return None
        stash = state.config.stash
        if _BASE not in stash:
            stash[_BASE] = _found(state)
        return stash[_BASE]

    def former_name(self, test: str, prompt: str, known: str, config: pytest.Config) -> str:
        """The name that a test has in the base; see ``history.former_names``."""
        if self._names is None:
            from pytest_promptfuzz.history.former_names import BaseTests

            self._names = BaseTests(self.tests, FormerTests.of(config).seems_gone_node)
        return self._names.former_name(test, prompt, known)

    def entry(self, test: str, target: str, state: State) -> HistoryEntry | None:
        """What is known of a test of the base, if anything; of its last run, of the same target."""
        found = self.tests.get(test)
        if not self.last or found is None or not target or found["target"] in {"", target}:
            return found
        from pytest_promptfuzz.history.bases import last
        from pytest_promptfuzz.plugin.output.session_finish import runs_of

        key = (test, target)
        if key not in self._by_target:
            runs = runs_of(state)
            before = runs.folder / _stamp(state)
            other = last([test], runs, before=before, targets={test: target}).tests.get(test)
            self._by_target[key] = other if other is not None and other["target"] == target else None
        return self._by_target[key]


def compare_with_base(evaluation: Evaluation, test: str, state: State) -> None:
    """Give a test's evaluation what finds its base, so that it may ask again what failed anew."""
    run = RunBase.of(state)
    if run is not None:
        evaluation.find_base = partial(_base_of, run, test, evaluation.settings, evaluation.accepted, state)


def _base_of(
    run: RunBase, test: str, settings: EvaluationSettings, accepted: Accepted, state: State, prompt: str
) -> ComparedBase | None:
    """What a test is compared with, now that the digest of its prompt is known; ``None`` where it seems new."""
    tape, known = settings.session.tape, ""
    if accepted.moved is not None:
        known = accepted.moved.test
    elif tape is not None and tape.former:
        known = node_of(state.config.rootpath, tape.former[0].module, tape.former[0].test)
    entry = run.entry(run.former_name(test, prompt, known, state.config), settings.target, state)
    if entry is None:
        return None
    from pytest_promptfuzz.evaluating.phases.regressions import ComparedBase
    from pytest_promptfuzz.plugin.output.session_finish import embedder_of_run

    return ComparedBase(entry, state.settings["compare_calls"], run.calls, embedder_of_run(state))


def _found(state: State) -> RunBase | None:
    from pytest_promptfuzz.evaluating.phases.regressions import SessionCalls
    from pytest_promptfuzz.history.bases import find, last
    from pytest_promptfuzz.plugin.output.session_finish import Ending, places_of, runs_of

    workers = getattr(state.config, "workerinput", {}).get("workercount", 1)
    calls = SessionCalls(SESSION_TESTS * state.settings["compare_calls"] // workers)
    target = state.settings["compare"]
    known = Ending.of(state.config).earlier.base
    try:
        if target == "last":
            runs = runs_of(state)
            base = last(None, runs, before=runs.folder / _stamp(state))
        else:
            base = known if known is not None else find(target, places_of(state))
    except (UsageError, StoreError):
        return None
    return RunBase(base.tests, calls, last=target == "last")


def _stamp(state: State) -> str:
    """What the files of runs that began before this one are called less than."""
    from pytest_promptfuzz.plugin.output.session_finish import Ending

    began = datetime.fromtimestamp(Ending.of(state.config).began, timezone.utc)
    return began.strftime("%Y%m%dT%H%M%S.%fZ")


_BASE = pytest.StashKey["RunBase | None"]()
