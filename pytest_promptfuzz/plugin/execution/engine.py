"""`Engine`: runs a robust test's body for the baseline and each mutation, inside pytest's own call phase.

``item.obj`` is swapped for a wrapper for the length of the call. A wrapper of ``pytest_pyfunc_call`` would not do:
async plugins take that hook over, and the body would then run once, silently green.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.contract import BodyTraits, Contract, EvaluationSettings, RunOrder
from pytest_promptfuzz.evaluating.evaluate import speculating
from pytest_promptfuzz.evaluating.evaluation import Evaluation
from pytest_promptfuzz.evaluating.phases.gold import read_expected
from pytest_promptfuzz.evaluating.role_prompts import OnWire
from pytest_promptfuzz.evaluating.session import simulated_of
from pytest_promptfuzz.evaluating.settings import CONTRACT_KEYS, RUN_KEYS
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.plugin.compared_base import compare_with_base
from pytest_promptfuzz.plugin.counterexamples import pin
from pytest_promptfuzz.plugin.execution.bodies import (
    checks_something,
    ends_test,
    fixtures_of,
    inner_test,
    subtests_stand_in,
)
from pytest_promptfuzz.plugin.execution.declarative_tests import acheck, check, declarative_test
from pytest_promptfuzz.plugin.execution.mutated_places import Argument, Wire, find
from pytest_promptfuzz.plugin.execution.searches import (
    as_search,
    is_search,
    refuse_other,
    search_settings_of,
    share_budget,
    without_unused,
)
from pytest_promptfuzz.plugin.marks import laid_over, merged, refuse_unused_prompt
from pytest_promptfuzz.plugin.output.junit import tell
from pytest_promptfuzz.plugin.output.outcome import (
    REPORT,
    SNAPSHOT,
    BehaviourDrift,
    BrittlePrompt,
    SessionResults,
    UntrustedVerdict,
)
from pytest_promptfuzz.plugin.output.pytest_reports import allure_listens
from pytest_promptfuzz.plugin.output.redaction import redaction_of
from pytest_promptfuzz.plugin.snapshots import (
    accept,
    contract_of_update,
    drift_fails,
    say_updated,
    snapshot_taker,
)
from pytest_promptfuzz.plugin.state import TODAY, State
from pytest_promptfuzz.plugin.suite_runs import RESULTS, reproduce_command
from pytest_promptfuzz.reporting.model import accepted_report, report_test
from pytest_promptfuzz.reporting.phrases import accepted_text
from pytest_promptfuzz.reporting.terminal.summary import one_line
from pytest_promptfuzz.running.run import adrive, drive
from pytest_promptfuzz.targets.resolution import CallableTarget
from pytest_promptfuzz.wire.transports import intercepting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.evaluating.background_calls import Calls
    from pytest_promptfuzz.evaluating.search_tests import SearchedTest
    from pytest_promptfuzz.plugin.execution.declarative_tests import DeclarativeTest
    from pytest_promptfuzz.plugin.output.progress import ItemProgress
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.reporting.model import TestReport
    from pytest_promptfuzz.results.robustness import Robustness


CallStarter = Callable[["Engine", "DeclarativeTest", dict[str, Any]], "Calls"]
"""Begins the calls of a declarative test that runs, or finds those that were begun before."""


class Engine:
    """Runs one robust test.

    Raises:
        UsageError: The marks are wrong.
        ConfigurationError: The target lacks a key, an extra or a model name.
    """

    def __init__(self, item: pytest.Function, progress: ItemProgress) -> None:
        self.item = item
        self.progress = progress
        self.state = State.of(item.config)
        self.where = item.nodeid
        _refuse_unittest(item)
        self.marks = merged(item)
        self.calls: Calls | None = None
        self.begin_calls: CallStarter | None = None
        keys = self.marks[1]
        self.mutate = keys.get("mutate", "prompt")
        self.fixtures = _check_fixtures(keys.get("fixtures", "shared"), item)
        target = self.state.target_of(item, keys.get("target"))
        self.declarative = declarative_test(item, keys, target)
        (self.expected,) = read_expected(
            None if self.declarative is not None else keys.get("expected"), None, self.where
        )
        refuse_unused_prompt(item)
        self.evaluation = self._evaluation(keys, target)

    def _evaluation(self, keys: dict[str, Any], target: Target | CallableTarget | None) -> Evaluation:
        state, settings = self.state, self.state.settings
        session = state.session_of(self.item)
        run = {**state.choice.contract, **{key: settings[key] for key in RUN_KEYS}}
        if keys.get("profile") is not None:
            run["task"] = None  # the mark's own way to compare wins over the run's
        contract = laid_over(run, {key: keys[key] for key in CONTRACT_KEYS if key in keys})
        overrides, only = state.overrides, state.trial
        listening = self.item.config.stash.get(RESULTS, None)
        kind: Callable[[EvaluationSettings], Evaluation] = (
            Evaluation if listening is None or listening.makes is None else listening.makes
        )
        self.searches = is_search(self.item, keys)
        if self.searches:
            contract, overrides = as_search(contract, keys, self.where), without_unused(overrides)
        overridden = {key: value for key, value in overrides.items() if contract.get(key) != value}
        if "task" in overridden:
            contract["profile"] = None
        settled = Contract.of(laid_over(contract, overridden), where=self.where, profiles=state.profiles)
        if state.config.getoption("promptfuzz_update") and not self.searches:
            settled = contract_of_update(settled, session)
        if self.searches:
            from pytest_promptfuzz.evaluating.search_tests import SearchedTest

            search_settings, only = search_settings_of(keys, settled, settings["queries"], self.where), None
            kind = functools.partial(SearchedTest, search_settings=search_settings)
        body = BodyTraits(
            checks=checks_something(self.item.obj),
            only_checks=self.declarative is not None,
            counts_runs=self.declarative is not None and isinstance(target, CallableTarget),
            skips=lambda error: isinstance(error, pytest.skip.Exception),
            describe=functools.partial(_traceback, self.item),
        )
        evaluation = kind(
            EvaluationSettings(
                settled,
                session,
                self.where,
                target=target.name if target is not None else "",
                simulated=simulated_of(target),
                on_wire=OnWire.of(self.mutate, keys.get("call"), keys.get("match"), self.where),
                only=only,
                body=body,
                order=RunOrder(waits=self.declarative is None),
            )
        )
        accept(evaluation, self.item, state)
        pin(evaluation, self.item, state)
        if not self.searches:
            compare_with_base(evaluation, self.where, state)
        evaluation.notes.extend(
            f"overridden on the command line: {key}={value!r} (the test's own is {contract.get(key)!r})"
            for key, value in overridden.items()
        )
        return evaluation

    @property
    def search(self) -> SearchedTest | None:
        """The test as a search; ``None`` where it tries a plan of mutations."""
        return cast("SearchedTest", self.evaluation) if self.searches else None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Have the item's body run under this engine while the block lasts."""
        item = self.item
        with (
            intercepting(),
            inner_test(
                item,
                self.evaluation,
                self.state.settings["max_runs"],
                searches=self.searches,
            ) as (inner, install),
        ):
            if inner is not None:
                install(self._wrap(inner))
                yield
                return
            original = item.obj
            item.obj = self._wrap(original)
            try:
                yield
            finally:
                item.obj = original

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(original):
            if self.fixtures == "fresh":
                raise UsageError(
                    f"{self.where}: fixtures='fresh' is for sync tests; fixtures of a running loop stay."
                )

            @functools.wraps(original)
            async def awrapper(*args: Any, **arguments: Any) -> None:
                await self._arun(functools.partial(original, *args), arguments)

            return awrapper

        @functools.wraps(original)
        def wrapper(*args: Any, **arguments: Any) -> None:
            self._run(functools.partial(original, *args), arguments)

        return wrapper

    def _run(self, original: Callable[..., Any], arguments: dict[str, Any]) -> None:
        fixtures = fixtures_of(self.item, fresh=self.fixtures == "fresh")
        if self.declarative is not None:
            calls = self._calls(self.declarative, arguments)
            check(
                self.evaluation, calls, original, functools.partial(fixtures.arguments, arguments), self._ran
            )
            return
        place = find(self.mutate, arguments, self.where)

        def body(prompt: Prompt) -> Any:
            given, own = subtests_stand_in(fixtures.arguments(arguments))
            with place.placed(prompt, given) as placed:
                returned = original(**placed)
            own.settle()
            self._ran()
            return returned

        self.evaluation.settings.order.whole = self.examples
        with speculating(self.evaluation) as told:
            steps = self.evaluation.case(place.prompt(arguments, self.where), expected=self.expected)
            drive(steps, body, ends_test, begin=told.begin, ran=told.ran)
            if not self.examples:
                drive(self.evaluation.again(), body, ends_test, begin=told.begin, ran=told.ran)

    async def _arun(self, original: Callable[..., Any], arguments: dict[str, Any]) -> None:
        if self.declarative is not None:
            await acheck(
                self.evaluation, self._calls(self.declarative, arguments), original, arguments, self._ran
            )
            return
        place = find(self.mutate, arguments, self.where)
        self.evaluation.settings.order.concurrent = self._may_overlap(isinstance(place, Argument | Wire))

        async def body(prompt: Prompt) -> Any:
            given, own = subtests_stand_in(arguments)
            with place.placed(prompt, given) as placed:
                returned = await original(**placed)
            own.settle()
            self._ran()
            return returned

        self.evaluation.settings.order.whole = self.examples
        steps = self.evaluation.case(place.prompt(arguments, self.where), expected=self.expected)
        concurrency = self.evaluation.session.concurrency if self.evaluation.settings.order.concurrent else 1
        await adrive(steps, body, ends_test, concurrency=concurrency)
        if not self.examples:
            await adrive(self.evaluation.again(), body, ends_test, concurrency=concurrency)

    def _calls(self, declarative: DeclarativeTest, arguments: dict[str, Any]) -> Calls:
        """The calls of a declarative test, under way; a search knows by then how many inputs share its budget."""
        assert self.begin_calls is not None
        calls = self.begin_calls(self, declarative, arguments)
        try:
            if self.search is not None:
                share_budget(self.search, calls.cases)
        except UsageError:
            calls.close()
            raise
        return calls

    def _ran(self) -> None:
        """One more run of the body."""
        self.progress.ran(self.evaluation, self.search)

    @property
    def examples(self) -> bool:
        """Whether hypothesis draws the arguments: those of an example that is over cannot be had again."""
        return hasattr(self.item.obj, "hypothesis")

    def _may_overlap(self, by_argument: bool) -> bool:
        if self.evaluation.session.concurrency == 1:
            return False
        if not by_argument:
            self.evaluation.notes.append(
                f"{self.mutate} is patched for the whole process, so the trials ran in sequence"
            )
            return False
        try:
            import asyncio

            asyncio.get_running_loop()
        except RuntimeError:
            self.evaluation.notes.append("this event loop is not asyncio's, so the trials ran in sequence")
            return False
        return True

    def finish(self) -> None:
        """Judge, keep the report on the item, and raise what the verdict means.

        Raises:
            BrittlePrompt: The verdict is brittle.
            UntrustedVerdict: It is noisy or inconclusive.
        """
        evaluation = self.evaluation
        if not evaluation.cases:
            raise UsageError(
                f"{self.where}: the test's body never ran. An async test needs pytest-asyncio or anyio."
            )
        if hasattr(self.item.config, "workerinput"):
            # An xdist worker has no terminal of its own to say it on.
            evaluation.notes.extend(dict.fromkeys(self.state.warnings))
        if evaluation.session.tape is not None:
            evaluation.notes.extend(evaluation.session.tape.said())
        if self.examples and evaluation.contract.plan.shrink and evaluation.judged().verdict == "brittle":
            evaluation.notes.append(
                "not shrunk: hypothesis draws the arguments, and an example that is over is gone"
            )
        if evaluation.accepted.too_few and self.state.config.get_verbosity() > 0:
            evaluation.notes.append(Note.of("drift:drift-unknown", why=evaluation.accepted.untold))
        keep = snapshot_taker(evaluation, self.state, drawn=self.examples)
        result = evaluation.conclude()
        if self.state.trial is not None:
            refuse_other(result, self.state.trial, self.where)
        report = self._reported(result)
        listening = self.item.config.stash.get(RESULTS, None)
        if listening is not None:
            inputs = None if self.calls is None else self.calls.cases.inputs
            listening.take(self.where, result, evaluation, inputs)
        self.item.stash[REPORT] = report
        self.item.stash[SNAPSHOT] = kept = keep(result)
        say_updated(report, kept, self.state.config.getoption("promptfuzz_update") or "")
        tell(self.item, report)
        if allure_listens(self.item.config):
            from pytest_promptfuzz.plugin.output.attachments import attach

            attach(report)
        if drift_fails(report, self.state.settings):
            raise BehaviourDrift(one_line(report), report)
        if result.verdict == "pass":
            return
        failed = next(iter(evaluation.ledger.failures.values()), None)
        if failed is not None and self.state.trial is not None:
            raise failed
        traceback = None if failed is None else failed.__traceback__
        kind = BrittlePrompt if result.verdict == "brittle" else UntrustedVerdict
        # With the body's frames attached, --pdb opens where the body failed.
        raise kind(one_line(report), report).with_traceback(traceback)

    def knows_verdict(self) -> bool:
        """Whether the verdict is known, though the run ends; what a search knows that found nothing yet is kept."""
        search = self.search
        if search is not None and search.runners and not search.told:
            search.told = search.has_found
            if not search.told:
                SessionResults.of(self.item.config).interrupted[self.where] = self._reported(
                    search.conclude()
                )
        return self.evaluation.told

    def _reported(self, result: Robustness) -> TestReport:
        """The report, without secrets."""
        report = report_test(
            result,
            test=self.where,
            location=_location(self.item),
            reproduce=reproduce_command(self.item),
        )
        accepted = self.evaluation.contract.verdict.acceptance(
            report["verdict"], self.item.config.stash[TODAY]
        )
        report["accepted"] = accepted_report(accepted)
        if accepted is not None and accepted.status == "expired":
            report["explanation"] = f"This test {accepted_text(report)}. {report['explanation']}"
        return redaction_of(self.evaluation.session).json(report, names=False)


def _traceback(item: pytest.Item, error: BaseException) -> str:
    """For people, made while the frames are alive; pytest cuts its own frames and ours out of it."""
    return str(item.repr_failure(pytest.ExceptionInfo.from_exception(error)))


def _location(item: pytest.Item) -> tuple[str, int]:
    path, line, _ = item.location
    return path, (line or 0) + 1


def _check_fixtures(value: Any, item: pytest.Item) -> str:
    if value not in {"shared", "fresh"}:
        raise UsageError(f"{item.nodeid}: fixtures={value!r:.80} is not one of shared, fresh.")
    return str(value)


def _refuse_unittest(item: pytest.Item) -> None:
    cls = getattr(item, "cls", None)
    import unittest

    if cls is not None and issubclass(cls, unittest.TestCase):
        raise UsageError(
            f"{item.nodeid}: @robust does not work on a method of unittest.TestCase, which pytest calls without "
            "arguments. Make it a function or a method of a plain class."
        )
