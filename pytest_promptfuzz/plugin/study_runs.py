"""``python -m pytest_promptfuzz.plugin.study_runs``: runs the robust tests of a study, for one model in one run.

It reads an order from standard input, and writes a line of JSON for each test, then ``{"done": true}``.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_promptfuzz.errors import PromptfuzzError, UsageError, without_test
from pytest_promptfuzz.plugin.dry_run import Planned, Rehearsal
from pytest_promptfuzz.plugin.execution.declarative_tests import DeclarativeTest, is_declarative
from pytest_promptfuzz.plugin.execution.searches import is_search
from pytest_promptfuzz.plugin.limits import prices_of
from pytest_promptfuzz.plugin.marks import KEYS_OVER, is_robust, merged
from pytest_promptfuzz.plugin.output.redaction import redaction_of
from pytest_promptfuzz.plugin.state import SESSION_OF_RUN
from pytest_promptfuzz.plugin.suite_runs import RunResults
from pytest_promptfuzz.providers.requests import WireRequest
from pytest_promptfuzz.running.limits.budget import Caps, Prices, SharedLedger, estimate, summed
from pytest_promptfuzz.running.limits.limits import SessionLimits
from pytest_promptfuzz.studies.answer_cells import (
    ASKS_EVERYTHING,
    CellFrame,
    CellInput,
    RunSession,
    StudiedEvaluation,
    UnitCells,
    in_a_line,
    unasked_cells,
)
from pytest_promptfuzz.studies.cells import AGAIN
from pytest_promptfuzz.studies.executors import settings_of
from pytest_promptfuzz.studies.measures import check_measures
from pytest_promptfuzz.studies.robust_tests import NO_CALLS, TestsOrder, TestsPrice
from pytest_promptfuzz.studies.study import FoundTest, StudyModel, planned_changes
from pytest_promptfuzz.targets.resolution import CallableTarget, resolve
from pytest_promptfuzz.wire.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.evaluating.contract import EvaluationSettings
    from pytest_promptfuzz.evaluating.evaluate import Input, TargetAsker
    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.plugin.execution.engine import Engine
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.storage.answers import AnswerStore, StoredAnswer
    from pytest_promptfuzz.studies.cells import Cell


_REPORTS = ("xmlpath", "htmlpath")
"""Options of pytest and pytest-html that name a file."""
Tell = Callable[[dict[str, Any]], None]
_REPLACED = ("mutations", "operators", "max_deviations")
"""Keys of marks that a study has in their place, or does without."""


class _Unchanged:
    """A store that is read, while it is only reckoned what tests would ask."""

    def __init__(self, store: AnswerStore) -> None:
        self.get, self.stats, self.close = store.get, store.stats, store.close

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Keep nothing."""


@dataclass(slots=True, eq=False)
class StudiedTests:
    """What a study makes of the tests of a run: their keys, sessions and evaluations."""

    order: TestsOrder

    @property
    def asks_again(self) -> bool:
        """Whether unmutated prompts are asked once more."""
        return AGAIN in self.order.operators

    def pytest_configure(self, config: pytest.Config) -> None:
        """Be found by what runs the tests."""
        config.stash[KEYS_OVER] = self.keys
        config.stash[SESSION_OF_RUN] = self.session

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out every test that was left out when they were collected."""
        items[:] = [item for item in items if item.nodeid in self.order.names]

    def keys(self, given: dict[str, Any]) -> dict[str, Any]:
        """The keys of a test's marks as the study wants them: it decides who is asked, and what."""
        kept = {key: value for key, value in given.items() if key not in _REPLACED}
        if not _is_function(kept.get("target")):
            kept.pop("target", None)
        if self.order.model.parameters:
            own = kept.get("parameters")
            kept["parameters"] = {**(own if isinstance(own, dict) else {}), **self.order.model.parameters}
        return {
            **kept,
            **ASKS_EVERYTHING,
            "gate": "point",
            "seed": self.order.seed,
            "samples": 1,
            "baseline_runs": 1 + self.asks_again,
        }

    def session(self, session: Session) -> RunSession:
        """The session of the study's run, which counts what it spends with the study's other processes."""
        order = self.order
        if order.process.books:
            ledger = SharedLedger(Path(order.process.books), lambda text: print(text, file=sys.stderr))  # noqa: T201
            settings = settings_of(order.process.limits)
            if order.action == "price":
                settings = replace(settings, caps=Caps(dry=True))
                session.store = None if session.store is None else _Unchanged(session.store)
            session.gate = SessionLimits(settings, ledger=ledger)
        return RunSession.of(session, order.run)

    def evaluation(self, settings: EvaluationSettings) -> Evaluation:
        """The evaluation of a test, which grades its answers."""
        found = StudiedEvaluation(settings)
        found.planner = self.changes
        found.measures = check_measures(list(self.order.measures), settings.where)
        found.prices = (
            settings_of(self.order.process.limits).prices if self.order.process.limits else Prices()
        )
        return found

    def changes(self, prompt: Prompt) -> Any:
        """The changes of a prompt."""
        return planned_changes(prompt, self.order.operators, self.order.mutations, self.order.seed)


@dataclass(slots=True, eq=False)
class StudyResults(RunResults):
    """Makes the cells of tests, and tells them.

    Attributes:
        studied: What the study wants.
        tell: Takes the cells of a test.
        items: The tests, by node ID.
    """

    studied: StudiedTests = field(kw_only=True)
    tell: Tell = field(kw_only=True)
    items: dict[str, pytest.Item] = field(default_factory=dict)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Only what was collected before is run."""
        self.items = {each.nodeid: each for each in session.items}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep why a test has no result."""
        super(StudyResults, self).pytest_runtest_logreport(report)
        if report.nodeid not in self.failed or report.nodeid in self.found:
            return
        missing = str(getattr(report.longrepr, "errorstring", "")).partition("\n")[0]  # of a fixture
        said = missing or self.failed[report.nodeid]
        if report.skipped:
            said = f"skipped: {said.removeprefix('skipped: ')}"
        self.failed[report.nodeid] = in_a_line(said)

    def take(
        self, test: str, result: Robustness, evaluation: Evaluation, inputs: Sequence[Input] | None
    ) -> None:
        """Tell the cells of a test that was asked."""
        studied = cast("StudiedEvaluation", evaluation)
        parameters = _parameters(self.items[test])
        names = [each.cell_name for each in inputs or ()]
        rows = [
            CellInput(
                _joined(parameters, names[case.number] if case.number < len(names) else case.name),
                case.expected,
                studied.changes.get(case.unmutated, ()),
            )
            for case in studied.findings.cases
        ]
        hidden = redaction_of(evaluation.session)
        cells = UnitCells(self._frame(test), rows).of(result, studied)
        self.found[test] = (result, hidden)
        self._told(
            test,
            (
                each._replace(
                    answer=hidden.text(each.answer),
                    reason=hidden.text(each.reason),
                    error=hidden.text(each.error),
                )
                for each in cells
            ),
        )

    def tell_rest(self) -> None:
        """Tell the cells of tests that came to nothing: they were skipped, or failed before a model was asked."""
        order = self.studied.order
        for test in order.names:
            if test in self.found:
                continue
            why = self.failed.get(test, "the test did not run")
            item = self.items.get(test)
            for name in _inputs(item)[0] if item is not None else ("",):
                self._told(
                    test, unasked_cells(self._frame(test), name, order.operators, without_test(why, test))
                )

    def _told(self, test: str, cells: Iterable[Cell]) -> None:
        self.tell({"test": test, "cells": [each.row() for each in cells]})

    def _frame(self, test: str) -> CellFrame:
        order = self.studied.order
        model = StudyModel(order.model.name, order.model.target or None, order.model.parameters)
        return CellFrame.of(order.study, order.names[test], model, order.run, order.group)


# What tests are called, and what their inputs are


def found_test(item: pytest.Function) -> FoundTest:
    """What a study must know of a test before it is run.

    Raises:
        UsageError: Its marks are wrong.
    """
    keys = merged(item)[1]
    inputs, expected = _inputs(item)
    asks_ours = is_declarative(item) or "llm" in item.fixturenames
    parameters = _parameters(item)
    return FoundTest(
        item.nodeid,
        item.nodeid.removesuffix(f"[{parameters}]") if parameters else item.nodeid,
        parameters,
        _is_function(keys.get("target")) or not asks_ours,
        inputs,
        expected,
        bool(keys.get("quality")),
    )


def _parameters(item: pytest.Item) -> str:
    found = getattr(item, "callspec", None)
    return "" if found is None else str(found.id)


def _joined(parameters: str, name: str) -> str:
    return " / ".join(filter(None, [parameters, name]))


def _is_function(target: Any) -> bool:
    return target is not None and not isinstance(target, str) and isinstance(resolve(target), CallableTarget)


def _inputs(item: pytest.Item) -> tuple[tuple[str, ...], bool]:
    """The names of a test's inputs, as far as they are known before it runs, and whether answers are expected."""
    parameters = _parameters(item)
    keys = merged(item)[1]
    if not isinstance(item, pytest.Function) or not is_declarative(item):
        return (parameters,), keys.get("expected") is not None
    target = keys.get("target")
    try:
        declarative = DeclarativeTest(item, keys, resolve(target if _is_function(target) else "simulated"))
        prompt = declarative.known_prompt()
        inputs = () if prompt is None else declarative.cases({"prompt": prompt}).inputs
    except PromptfuzzError:
        inputs = ()  # said when the test runs
    names = tuple(_joined(parameters, each.cell_name) for each in inputs) or (parameters,)
    return names, any(each.expected is not None for each in inputs)


def _left_out(item: pytest.Item) -> str:
    """Why a test can be no part of a study; empty where it can."""
    if not isinstance(item, pytest.Function):
        return "it is no Python test function"
    if hasattr(item.obj, "hypothesis"):
        return "hypothesis draws its inputs, which have no names"
    if is_search(item, merged(item)[1]):
        return "it searches, and chooses each request from earlier answers"
    return ""


# The three things that can be ordered


class _Collector:
    """Tells of each robust test what a study must know."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.wrong = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Every test is known."""
        for item in filter(is_robust, session.items):
            try:
                why = _left_out(item)
                told = {"left": item.nodeid, "why": why} if why else {"test": found_test(item)._asdict()}  # type: ignore[arg-type]  # a function, or it were left out
            except UsageError as error:
                self.wrong = str(error)
                return
            self._tell(told)


@dataclass
class StudyPlan(Planned):
    """What the tests of a unit ask, added up.

    Attributes:
        studied: What the study wants.
        price: The sum.
    """

    studied: StudiedTests | None = None
    price: TestsPrice = NO_CALLS

    def add(self, engine: Engine, prompts: Sequence[Prompt], asker: TargetAsker | None) -> None:
        """Nothing: ``add_runs`` knows more."""

    def add_runs(self, engine: Engine, runs: Sequence[tuple[Prompt, int]], asker: TargetAsker | None) -> None:
        """The calls of a declarative test."""
        if asker is None or isinstance(asker.target, CallableTarget):
            self._count(len(runs))
            return
        session = engine.evaluation.session
        watches = session.test()
        ignore = engine.evaluation.contract.comparison.ignore
        for prompt, repeat in runs:
            wire = asker.target.prepare(asker.request(prompt))
            exchange = Exchange(watches.watch(repeat=repeat, ignore=ignore), wire, parse=asker.target.parse)
            self._ask(wire, engine, stored=exchange.stored() is not None)

    def add_rehearsal(self, engine: Engine, rehearsal: Rehearsal) -> None:
        """The calls of a test whose body was rehearsed: what it would ask next is not known."""
        if rehearsal.unknown:
            self.unplanned(engine.where, rehearsal.unknown)
            return
        self.price = self.price._replace(stored=self.price.stored + len(rehearsal.found))
        for call in rehearsal.answered:
            self._ask(WireRequest(call.url, call.body), engine, stored=False)
        for each in rehearsal.missing:
            self._ask(each.wire, engine, stored=False)
        if rehearsal.missing:
            self.price = self.price._replace(exact=False)

    def unplanned(self, test: str, why: str) -> None:
        """A test could not be planned: it makes a call for each answer, at the least."""
        super().unplanned(test, why)
        assert self.studied is not None
        order = self.studied.order
        self._count(1 + sum(1 if each == AGAIN else order.mutations for each in order.operators))

    def _count(self, calls: int) -> None:
        self.price = self.price._replace(calls=self.price.calls + calls, low=None, high=None, exact=False)

    def _ask(self, wire: WireRequest, engine: Engine, *, stored: bool) -> None:
        price = self.price
        if stored:
            self.price = price._replace(stored=price.stored + 1)
            return
        found = estimate(wire, prices_of(engine.state.tables))
        self.price = price._replace(
            calls=price.calls + 1,
            tokens=price.tokens + found.tokens,
            low=summed([price.low, found.low]),
            high=summed([price.high, found.high]),
        )


def collect(order: TestsOrder, tell: Tell) -> None:
    """Tell of the robust tests; none is run.

    Raises:
        UsageError: pytest cannot collect them, or their marks are wrong.
    """
    collector = _Collector(tell)
    _pytest(order, ["--collect-only"], [collector])
    if collector.wrong:
        raise UsageError(collector.wrong)


def price(order: TestsOrder, tell: Tell) -> None:
    """Tell what the tests ask; nothing is asked.

    Raises:
        UsageError: pytest cannot run them.
    """
    studied = StudiedTests(order)
    planned = StudyPlan(repeats=studied.asks_again, studied=studied)
    kind = RunResults(makes=studied.evaluation)
    _pytest(order, ["--promptfuzz-dry-run"], [planned, studied, kind])
    tell({"price": planned.price._asdict()})


def run(order: TestsOrder, tell: Tell) -> None:
    """Tell the cells of the tests.

    Raises:
        UsageError: pytest cannot run them.
        KeyboardInterrupt: The run was interrupted.
    """
    studied = StudiedTests(order)
    results = StudyResults(makes=studied.evaluation, studied=studied, tell=tell)
    status = _pytest(order, [], [studied, results])
    if status == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    results.tell_rest()


_RAN = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
    pytest.ExitCode.INTERRUPTED,
)


class _RunOfAStudy:
    """Keeps a run from writing the project's reports, and knows whether a file could not be collected.

    pytest ends then as it does after Ctrl-C.
    """

    found = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Nothing is written yet."""
        config.stash.setdefault(KEYS_OVER, lambda keys: keys)
        for name in _REPORTS:
            if hasattr(config.option, name):
                setattr(config.option, name, None)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file or a folder was collected."""
        self.found = self.found or report.failed


def _pytest(order: TestsOrder, arguments: Sequence[str], plugins: Sequence[object]) -> int:
    """Run pytest in this process; its exit code.

    Raises:
        UsageError: It could not collect or run the tests; the message holds what it printed.
    """
    printed = io.StringIO()
    errors = _RunOfAStudy()
    with tempfile.TemporaryDirectory(prefix="promptfuzz-") as folder:
        ours = [
            *order.paths,
            *(["-n0"] if find_spec("xdist") is not None else []),
            *arguments,
            *([f"--promptfuzz-target={order.model.target}"] if order.model.target else []),
            f"--promptfuzz-mode={order.process.mode}",
            f"--promptfuzz-cache-dir={order.process.folder or folder}",
            f"--promptfuzz-concurrency={order.process.concurrency}",
            "--promptfuzz=on",
            "--maxfail=0",  # a test that fails says nothing of the next one
            "--no-header",
            "-q",
            f"-ocache_dir={folder}",  # what failed last is no matter of this run
            "-Wignore::pytest.PytestAssertRewriteWarning",  # the plugin is loaded before pytest is
        ]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = pytest.main(ours, plugins=[*plugins, errors])
    if status not in _RAN or errors.found:
        raise UsageError(f"pytest could not run the tests:\n{printed.getvalue().strip()}")
    return int(status)


_ACTIONS: dict[str, Callable[[TestsOrder, Tell], None]] = {"collect": collect, "price": price, "run": run}


def main() -> int:
    """Do what standard input orders; returns the exit code."""
    order = TestsOrder.from_json(sys.stdin.read())
    # What tests print to standard output is not to meet what is told.
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii") as told:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

        def tell(row: dict[str, Any]) -> None:
            told.write(json.dumps(row) + "\n")
            told.flush()

        try:
            _ACTIONS[order.action](order, tell)
        except PromptfuzzError as error:
            tell({"error": str(error)})
            return 2
        except KeyboardInterrupt:
            return 130
        tell({"done": True})
    return 0


if __name__ == "__main__":
    sys.exit(main())
