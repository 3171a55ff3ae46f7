"""Running a robust test: its body once for the baseline and once for each mutation, inside pytest's own call phase.

``item.obj`` is swapped for a wrapper for the length of the call. A wrapper of ``pytest_pyfunc_call`` would not do:
async plugins take that hook over, and the body would then run once, silently green.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import UsageError, nearest, unstopped
from pytest_promptfuzz.evaluating.contract import BodyTraits, Contract, EvaluationSettings, RunOrder
from pytest_promptfuzz.evaluating.evaluate import speculating
from pytest_promptfuzz.evaluating.evaluation import Evaluation
from pytest_promptfuzz.evaluating.phases.baseline import BaselineFailed
from pytest_promptfuzz.evaluating.phases.gold import read_expected
from pytest_promptfuzz.evaluating.role_prompts import PREFIX, OnWire
from pytest_promptfuzz.evaluating.search_tests import SearchedTest
from pytest_promptfuzz.evaluating.session import simulated_backend, simulated_of
from pytest_promptfuzz.evaluating.settings import CONTRACT_KEYS, RUN_KEYS
from pytest_promptfuzz.plugin import replays, test_bodies
from pytest_promptfuzz.plugin.declared import declaration, is_declarative
from pytest_promptfuzz.plugin.marks import laid_over, merged, refuse_unused_prompt
from pytest_promptfuzz.plugin.output.outcome import BehaviourDrift, BrittlePrompt, UntrustedVerdict
from pytest_promptfuzz.plugin.output.progress import ItemProgress
from pytest_promptfuzz.plugin.output.redaction import redaction_of
from pytest_promptfuzz.plugin.output.test_reports import attach, tell
from pytest_promptfuzz.plugin.replays import RESULTS, pin
from pytest_promptfuzz.plugin.snapshots import SNAPSHOT, accept, drift_fails, kept_of, updated
from pytest_promptfuzz.plugin.state import REPORT, UNMUTATED, State
from pytest_promptfuzz.plugin.test_bodies import (
    acheck,
    as_search,
    baselines_of,
    check,
    checks_something,
    ends_test,
    is_search,
    refuse_other,
    search_settings_of,
    without_unused,
)
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.reporting.terminal.summary import one_line
from pytest_promptfuzz.running.run import adrive, drive
from pytest_promptfuzz.targets.resolution import CallableTarget
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.evaluating.background_calls import Calls
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.reporting.model import TestReport
    from pytest_promptfuzz.results.robustness import Robustness


# Hypothesis on top: every example runs the whole plan, and all of them make one score.


_SETTINGS = "_hypothesis_internal_use_settings"


@contextmanager
def inner_test(
    item: pytest.Function, job: Evaluation, max_runs: int
) -> Iterator[tuple[Callable[..., Any] | None, Callable[[Callable[..., Any]], None]]]:
    """The body inside a hypothesis test, and how to put another in its place; ``None`` for other tests.

    Raises:
        UsageError: Examples times runs exceed ``max_runs``, or the test is a search.
    """
    handle: Any = getattr(item.obj, "hypothesis", None)
    inner = getattr(handle, "inner_test", None)
    if inner is None or not getattr(item.obj, "is_hypothesis_test", False):
        yield None, _nothing
        return
    if isinstance(job, SearchedTest):
        raise UsageError(
            f"{item.nodeid}: @given draws many examples, and each would be a search of its own. Parametrize the test "
            "with the examples worth a search, or leave search= out."
        )
    function = getattr(item.obj, "__func__", item.obj)
    settings = _relaxed(function, job, max_runs, item)
    before = getattr(function, _SETTINGS, None)

    def install(body: Callable[..., Any]) -> None:
        handle.inner_test = body

    setattr(function, _SETTINGS, settings)
    try:
        yield inner, install
    finally:
        handle.inner_test = inner
        setattr(function, _SETTINGS, before)


def _nothing(_: Callable[..., Any]) -> None:
    """Nothing to install."""


def _relaxed(function: Any, job: Evaluation, max_runs: int, item: pytest.Function) -> Any:
    """The test's settings without the limits that count a plan of runs as one example."""
    import hypothesis

    own = getattr(function, _SETTINGS, None) or hypothesis.settings()
    runs = job.contract.plan.mutations + 1
    product = own.max_examples * runs
    text = f"up to {own.max_examples} examples × {runs} runs = {product:,} runs"
    if product > max_runs:
        raise UsageError(
            f"{item.nodeid}: {text}, and promptfuzz_max_runs is {max_runs:,}. Lower @settings(max_examples=...) or "
            "mutations=, or raise promptfuzz_max_runs."
        )
    job.notes.append(f"hypothesis: {text}")
    checks = hypothesis.HealthCheck
    return hypothesis.settings(
        own,
        deadline=None,
        suppress_health_check=[*own.suppress_health_check, checks.function_scoped_fixture, checks.too_slow],
    )


# What is mutated, and how a mutated prompt is put in its place: an argument of the test, a dotted path, a role.


_MISSING = object()


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the test: a fixture or a parametrized value."""

    name: str

    def prompt(self, arguments: Mapping[str, Any], where: str) -> Prompt:
        """The prompt that the argument holds."""
        return _as_prompt(arguments[self.name], f"{where}: the argument {self.name!r}")

    @contextmanager
    def placed(self, prompt: Prompt, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The arguments with the prompt in place, in the type the test knows."""
        yield {**arguments, self.name: _like(prompt, arguments[self.name])}


@dataclass(frozen=True, slots=True)
class Wire:
    """A role in the requests of the body, which runs as it is: the watch of each run puts mutations in their place."""

    name: str

    def prompt(self, _: Mapping[str, Any], where: str) -> Prompt:
        """Stands for the prompt, which the baseline's requests will show."""
        del where
        return Prompt(self.name)

    @contextmanager
    def placed(self, _: Prompt, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The arguments as they are."""
        yield arguments


@dataclass(frozen=True, slots=True)
class Path:
    """A dotted path, patched while a run lasts: an attribute of a module, class or object, or a key of a mapping."""

    name: str
    owner: Any
    attribute: str

    def prompt(self, _: Mapping[str, Any], where: str) -> Prompt:
        """The prompt at the path."""
        value = _read(self.owner, self.attribute)
        what = f"{where}: mutate={self.name!r}"
        if isinstance(value, Mapping):
            close = f" such as mutate='{self.name}.{next(iter(value))}'" if value else ""
            raise UsageError(f"{what} is a mapping. Name one of its values{close}.")
        if callable(value):
            raise UsageError(
                f"{what} is callable, and its text is not known before it is called. Name the text that it reads, or "
                "give the test the prompt as an argument."
            )
        return _as_prompt(value, what)

    @contextmanager
    def placed(self, prompt: Prompt, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Patch the path; restored whatever happens.

        Raises:
            UsageError: What the path names cannot be replaced.
        """
        owner, name = self.owner, self.attribute
        restored = _stored(owner, name)
        try:
            _put(owner, name, _like(prompt, _read(owner, name)))
        except (AttributeError, TypeError, ValueError) as error:
            raise UsageError(
                f"mutate={self.name!r} names what cannot be replaced: {unstopped(error)}."
            ) from error
        try:
            yield arguments
        finally:
            if restored is _MISSING:
                delattr(owner, name)
            else:
                _put(owner, name, restored)


def _read(owner: Any, name: str) -> Any:
    return owner[name] if isinstance(owner, Mapping) and name in owner else getattr(owner, name)


def _stored(owner: Any, name: str) -> Any:
    """What the owner itself holds under a name; ``_MISSING`` for what it has from its class or makes on demand."""
    if isinstance(owner, Mapping) and name in owner:
        return owner[name]
    own = getattr(owner, "__dict__", {})
    if name in own:
        return own[name]
    slot = getattr(type(owner), name, None)
    return getattr(owner, name) if hasattr(type(slot), "__set__") else _MISSING


def _put(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, Mapping) and name in owner:
        owner[name] = value  # type: ignore[index]  # one that cannot be changed raises TypeError
        return
    try:
        setattr(owner, name, value)
    except (AttributeError, ValueError):
        # Frozen dataclasses and models refuse their own __setattr__ only.
        object.__setattr__(owner, name, value)


def find(mutate: Any, arguments: Mapping[str, Any], where: str) -> Argument | Path | Wire:
    """What ``mutate=`` names.

    Raises:
        UsageError: It names no argument, or a path that cannot be imported.
    """
    if not isinstance(mutate, str) or not mutate:
        raise UsageError(f"{where}: mutate={mutate!r} must name an argument of the test or a dotted path.")
    if mutate in arguments:
        return Argument(mutate)
    if mutate.startswith(PREFIX):
        return Wire(mutate)
    first, *rest = mutate.split(".")
    if rest and first.isidentifier() and all(rest):
        return _path(mutate, where)
    names = sorted(arguments)
    has = f"Its arguments: {', '.join(names)}." if names else "It has no arguments."
    close = f" {nearest(mutate, names)}" if names and nearest(mutate, names).startswith("Did") else ""
    raise UsageError(
        f"{where}: mutate={mutate!r} names no argument of the test. {has}{close} Add {mutate!r} to its arguments, or "
        "write a dotted path such as mutate='app.prompts.TRIAGE'."
    )


def _path(dotted: str, where: str) -> Path:
    parts = dotted.split(".")
    owner: Any = None
    index = 0
    for index in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:index])
        try:
            owner = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not module.startswith(error.name):
                raise UsageError(f"{where}: mutate={dotted!r}: importing {module} failed: {error}") from error
            continue
        except Exception as error:
            raise UsageError(f"{where}: mutate={dotted!r}: importing {module} failed: {error!r}") from error
        break
    if owner is None:
        raise UsageError(f"{where}: mutate={dotted!r}: there is no module {parts[0]!r} to import.")
    reached = parts[:index]
    for name in parts[index:-1]:
        owner = _attribute(owner, name, dotted, ".".join(reached), where)
        reached.append(name)
    _attribute(owner, parts[-1], dotted, ".".join(reached), where)
    return Path(dotted, owner, parts[-1])


def _attribute(owner: Any, name: str, dotted: str, reached: str, where: str) -> Any:
    try:
        return _read(owner, name)
    except AttributeError:
        names = [*owner] if isinstance(owner, Mapping) else dir(owner)
        hint = nearest(name, [str(each) for each in names if not str(each).startswith("_")])
        hint = f" {hint}" if hint.startswith("Did") else ""
        raise UsageError(f"{where}: mutate={dotted!r}: {reached} has no {name!r}.{hint}") from None


def _as_prompt(value: Any, what: str) -> Prompt:
    try:
        return as_prompt(value)
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from None


def _like(prompt: Prompt, original: Any) -> Any:
    """The prompt in the type of the original: a ``Prompt``, chat messages, or a string."""
    if isinstance(original, Prompt):
        return prompt
    if isinstance(original, str):
        return prompt.text
    messages = prompt.observed(_unobserved).messages
    return messages if isinstance(original, tuple) else list(messages)


def _unobserved(_: object) -> None:
    """Handing a test its argument is not rendering it."""


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
        keys = self.marks[1]
        self.mutate = keys.get("mutate", "prompt")
        self.fixtures = _check_fixtures(keys.get("fixtures", "shared"), item)
        target = self.state.target(keys.get("target"))
        self.declared = declaration(item, keys, target)
        (self.expected,) = read_expected(
            None if self.declared is not None else keys.get("expected"), None, self.where
        )
        refuse_unused_prompt(item)
        self.job = self._job(keys, target)

    def _job(self, keys: dict[str, Any], target: Target | CallableTarget | None) -> Evaluation:
        state, settings = self.state, self.state.settings
        session = state.session_of(self.item)
        run = {**state.choice.contract, **{key: settings[key] for key in RUN_KEYS}}
        if keys.get("profile") is not None:
            run["task"] = None  # the mark's own way to compare wins over the run's
        contract = laid_over(run, {key: keys[key] for key in CONTRACT_KEYS if key in keys})
        overrides, only = state.overrides, state.trial
        kind: Callable[[EvaluationSettings], Evaluation] = Evaluation
        searches = is_search(self.item, keys)
        if searches:
            contract, overrides = as_search(contract, keys, self.where), without_unused(overrides)
        overridden = {key: value for key, value in overrides.items() if contract.get(key) != value}
        if "task" in overridden:
            contract["profile"] = None
        settled = Contract.of(laid_over(contract, overridden), where=self.where, profiles=state.profiles)
        if state.config.getoption("promptfuzz_update") and not searches:
            settled = updated(settled, session)
        if searches:
            search_settings, only = search_settings_of(keys, settled, settings["queries"], self.where), None
            kind = functools.partial(SearchedTest, search_settings=search_settings)
        body = BodyTraits(
            checks=checks_something(self.item.obj),
            only_checks=self.declared is not None,
            counts_runs=self.declared is not None and isinstance(target, CallableTarget),
            skips=lambda error: isinstance(error, pytest.skip.Exception),
            describe=functools.partial(_traceback, self.item),
        )
        job = kind(
            EvaluationSettings(
                settled,
                session,
                self.where,
                target=target.name if target is not None else "",
                simulated=simulated_of(target),
                on_wire=OnWire.of(self.mutate, keys.get("call"), keys.get("match"), self.where),
                only=only,
                body=body,
                order=RunOrder(waits=self.declared is None),
            )
        )
        accept(job, self.item, state)
        pin(job, self.item, state)
        job.notes.extend(
            f"overridden on the command line: {key}={value!r} (the test's own is {contract.get(key)!r})"
            for key, value in overridden.items()
        )
        return job

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Have the item's body run under this engine while the block lasts."""
        item = self.item
        with (
            intercepting(),
            inner_test(item, self.job, self.state.settings["max_runs"]) as (inner, install),
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
        if self.declared is not None:
            check(self, self.declared, original, arguments)
            return
        place = find(self.mutate, arguments, self.where)
        fixtures = test_bodies.fresh_fixtures(self.item, fresh=self.fixtures == "fresh")

        def body(prompt: Prompt) -> Any:
            given, own = test_bodies.subtests_stand_in(fixtures.arguments(arguments))
            with place.placed(prompt, given) as placed:
                returned = original(**placed)
            own.settle()
            self.progress.ran(self.job)
            return returned

        self.job.settings.order.whole = self.examples
        with speculating(self.job) as told:
            steps = self.job.case(place.prompt(arguments, self.where), expected=self.expected)
            drive(steps, body, ends_test, begin=told.begin, ran=told.ran)
            if not self.examples:
                drive(self.job.again(), body, ends_test, begin=told.begin, ran=told.ran)

    async def _arun(self, original: Callable[..., Any], arguments: dict[str, Any]) -> None:
        if self.declared is not None:
            await acheck(self, self.declared, original, arguments)
            return
        place = find(self.mutate, arguments, self.where)
        self.job.settings.order.concurrent = self._may_overlap(isinstance(place, Argument | Wire))

        async def body(prompt: Prompt) -> Any:
            given, own = test_bodies.subtests_stand_in(arguments)
            with place.placed(prompt, given) as placed:
                returned = await original(**placed)
            own.settle()
            self.progress.ran(self.job)
            return returned

        self.job.settings.order.whole = self.examples
        steps = self.job.case(place.prompt(arguments, self.where), expected=self.expected)
        concurrency = self.job.session.concurrency if self.job.settings.order.concurrent else 1
        await adrive(steps, body, ends_test, concurrency=concurrency)
        if not self.examples:
            await adrive(self.job.again(), body, ends_test, concurrency=concurrency)

    @property
    def examples(self) -> bool:
        """Whether hypothesis draws the arguments: those of an example that is over cannot be had again."""
        return hasattr(self.item.obj, "hypothesis")

    def _may_overlap(self, by_argument: bool) -> bool:
        if self.job.session.concurrency == 1:
            return False
        if not by_argument:
            self.job.notes.append(
                f"{self.mutate} is patched for the whole process, so the trials ran in sequence"
            )
            return False
        try:
            import asyncio

            asyncio.get_running_loop()
        except RuntimeError:
            self.job.notes.append("this event loop is not asyncio's, so the trials ran in sequence")
            return False
        return True

    def finish(self) -> None:
        """Judge, keep the report on the item, and raise what the verdict means.

        Raises:
            BrittlePrompt: The verdict is brittle.
            UntrustedVerdict: It is noisy or inconclusive.
        """
        job = self.job
        if not job.cases:
            raise UsageError(
                f"{self.where}: the test's body never ran. An async test needs pytest-asyncio or anyio."
            )
        if hasattr(self.item.config, "workerinput"):
            # An xdist worker has no terminal of its own to say it on.
            job.notes.extend(dict.fromkeys(self.state.warnings))
        if job.session.tape is not None:
            job.notes.extend(job.session.tape.said())
        if self.examples and job.contract.plan.shrink and job.judged().verdict == "brittle":
            job.notes.append(
                "not shrunk: hypothesis draws the arguments, and an example that is over is gone"
            )
        if job.accepted.too_few and self.state.config.get_verbosity() > 0:
            job.notes.append(f"we cannot tell whether the model drifted: {job.accepted.untold}")
        keep = kept_of(self)
        result = job.conclude()
        if self.state.trial is not None:
            refuse_other(result, self.state.trial, self.where)
        report = self._reported(result)
        listening = self.item.config.stash.get(RESULTS, None)
        if listening is not None:
            listening.found[self.where] = (result, redaction_of(job.session))
        self.item.stash[REPORT] = report
        self.item.stash[SNAPSHOT] = keep(result)
        tell(self.item, report)
        attach(self.item, report)
        if drift_fails(report, self.state.settings):
            raise BehaviourDrift(one_line(report), report)
        if result.verdict == "pass":
            return
        failed = next(iter(job.ledger.failures.values()), None)
        if failed is not None and self.state.trial is not None:
            raise failed
        traceback = None if failed is None else failed.__traceback__
        kind = BrittlePrompt if result.verdict == "brittle" else UntrustedVerdict
        # With the body's frames attached, --pdb opens where the body failed.
        raise kind(one_line(report), report).with_traceback(traceback)

    def told_by_now(self) -> bool:
        """Whether the verdict is known, though the run ends; what a search knows that found nothing yet is kept."""
        job = self.job
        if isinstance(job, SearchedTest) and job.runners and not job.told:
            job.told = job.has_found
            if not job.told:
                self.state.interrupted[self.where] = self._reported(job.conclude())
        return job.told

    def _reported(self, result: Robustness) -> TestReport:
        """The report, without secrets."""
        report = report_test(
            result,
            test=self.where,
            location=_location(self.item),
            reproduce=replays.reproduce_command(self.item),
        )
        return redaction_of(self.job.session).json(report, names=False)


def _traceback(item: pytest.Item, error: BaseException) -> str:
    """For people, made while the frames are alive; pytest cuts its own frames and ours out of it."""
    return str(item.repr_failure(pytest.ExceptionInfo.from_exception(error)))


def _location(item: pytest.Item) -> tuple[str, int]:
    path, line, _ = item.location
    return path, (line or 0) + 1


def _check_fixtures(value: Any, item: pytest.Item) -> str:
    if value not in {"shared", "fresh"}:
        raise UsageError(f"{item.nodeid}: fixtures={value!r} must be 'shared' or 'fresh'.")
    return str(value)


def _refuse_unittest(item: pytest.Item) -> None:
    cls = getattr(item, "cls", None)
    import unittest

    if cls is not None and issubclass(cls, unittest.TestCase):
        raise UsageError(
            f"{item.nodeid}: @robust does not work on a method of unittest.TestCase, which pytest calls without "
            "arguments. Make it a function or a method of a plain class."
        )


# The call phase of a robust test, around pytest's own.


@contextmanager
def called(item: pytest.Item) -> Iterator[None]:
    """Have the body run under the engine while the block lasts, then raise what its verdict means.

    Raises:
        UsageError: The item is not a Python test function.
        BrittlePrompt: The verdict is brittle.
        UntrustedVerdict: It is noisy or inconclusive.
    """
    if not isinstance(item, pytest.Function):
        raise UsageError(
            f"{item.nodeid}: @robust is for Python test functions, not for {type(item).__name__}."
        )
    state = State.of(item.config)
    engine = state.lookahead.engine(item) if is_declarative(item) else Engine(item, ItemProgress(item))
    try:
        with engine.installed():
            yield
    except BaselineFailed as failed:
        item.stash[UNMUTATED] = True
        on = f" on input {failed.case}" if failed.case else ""
        item.add_report_section(
            "call", "promptfuzz", f"The unmutated prompt fails{on} (asked twice): nothing was mutated."
        )
        raise failed.exception from None
    except (KeyboardInterrupt, pytest.fail.Exception) as ended:  # Ctrl-C, or the test's own timeout
        if not engine.told_by_now():
            raise
        # What the test came to is known: it is said first, and the run ends after it.
        interrupted = isinstance(ended, KeyboardInterrupt)
        why = "it was interrupted" if interrupted else "the test's time is up"
        engine.job.notes.append(f"shrinking ended early: {why}")
        if interrupted:
            item.session.shouldstop = "Ctrl-C, while the smallest change that breaks a test was sought"
    finally:
        engine.progress.clear()
    engine.finish()


@contextmanager
def unmutated(item: pytest.Item) -> Iterator[None]:
    """Have the body run once as it is, its calls served as in any robust test.

    Its return value is dropped: pytest warns of tests that return something.
    """
    original = getattr(item, "obj", None)
    state = State.of(item.config)
    keys = merged(item)[1]
    target = state.target(keys.get("target"))
    session, simulated = state.session_of(item), simulated_of(target)
    watches = session.test(session.network(simulated=simulated is not None))
    watches.done()
    watch = watches.watch(RunRoute(simulated=simulated_backend(simulated)))
    if original is None or hasattr(original, "hypothesis"):
        with intercepting(), watching(watch):
            yield
        return
    if is_declarative(item):
        original = baselines_of(item, keys, target)

    @functools.wraps(original)
    def body(**arguments: Any) -> None:
        original(**arguments)

    @functools.wraps(original)
    async def abody(**arguments: Any) -> None:
        await original(**arguments)

    item.obj = abody if inspect.iscoroutinefunction(original) else body  # type: ignore[attr-defined]  # it has one
    try:
        with intercepting(), watching(watch):
            yield
    finally:
        item.obj = original  # type: ignore[attr-defined]  # as above
