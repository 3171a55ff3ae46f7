"""Running a declarative test: each response is had first, then the test's body checks it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.tmpdir import tmppath_result_key

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.evaluating.evaluate import TargetAsker, watch_of_the_run
from pytest_promptfuzz.evaluating.search_settings import SearchSettings
from pytest_promptfuzz.evaluating.search_tests import SearchedTest
from pytest_promptfuzz.evaluating.settings import SEARCH_KEYS
from pytest_promptfuzz.mutations.engine.selection import PlanRequest
from pytest_promptfuzz.plugin.declared import Declared, checked
from pytest_promptfuzz.plugin.marks import MARK
from pytest_promptfuzz.running.run import adrive, drive, ends_everything
from pytest_promptfuzz.searching.methods import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.evaluate import Cases
    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.plugin.engine import Engine
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.targets.resolution import CallableTarget


# What can be told of a test's body from outside, and which exceptions end it.


def checks_something(body: Any) -> bool:
    """Whether a body asserts, raises, or calls something named like a check, in its own code.

    Reads the compiled code: pytest has rewritten the source's assertions already.
    """
    function = inspect.unwrap(body)
    hypothesis = getattr(function, "hypothesis", None)
    function = getattr(hypothesis, "inner_test", function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and any(_checks(each) for each in _nested(code))


_NAMES = ("AssertionError", "@pytest_ar", "raises", "fail", "warns")
_PREFIXES = ("assert", "check", "expect", "verify", "validate")


def _checks(code: CodeType) -> bool:
    if any(name in _NAMES or name.lower().startswith(_PREFIXES) for name in code.co_names):
        return True
    import dis

    return any(
        instruction.opname in {"LOAD_ASSERTION_ERROR", "RAISE_VARARGS", "LOAD_COMMON_CONSTANT"}
        for instruction in dis.get_instructions(code)
    )


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _nested(constant)


def ends_test(error: BaseException) -> bool:
    """Whether an exception of a run ends the whole test: pytest's exit, the test's own timeout, an interrupt."""
    if ends_everything(error) or isinstance(error, pytest.exit.Exception):
        return True
    traceback = error.__traceback__
    while traceback is not None:
        # pytest-timeout interrupts the body with pytest.fail from its own signal handler.
        if traceback.tb_frame.f_globals.get("__name__") == "pytest_timeout":
            return True
        traceback = traceback.tb_next
    return False


# ``fixtures="fresh"``: function-scoped fixtures set up anew for every run of the body.


class Shared:
    """All runs of the body share the fixtures, as pytest set them up."""

    def arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the next run."""
        return arguments


class Fresh:
    """Tears the item's own fixtures down and sets them up again before every run but the first."""

    def __init__(self, item: pytest.Function) -> None:
        self._item = item
        self._first = True

    def arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the next run."""
        if self._first:
            self._first = False
            return arguments
        item = self._item
        # The item alone leaves the stack of what is set up; modules and sessions above it stay.
        state = item.session._setupstate  # noqa: SLF001 - pytest has no public way to set an item up again
        state.teardown_exact(item.parent)  # type: ignore[arg-type]  # it uses no more of it than its chain
        # tmp_path takes away what the report of its set-up left, and there is one report for all set-ups.
        item.stash.setdefault(tmppath_result_key, {})
        item._initrequest()  # noqa: SLF001 - as above
        state.setup(item)
        return {name: item.funcargs[name] for name in arguments}


def fresh_fixtures(item: pytest.Function, *, fresh: bool) -> Shared | Fresh:
    """How the runs of an item get their fixtures."""
    return Fresh(item) if fresh else Shared()


# pytest's ``subtests`` in a robust test: a failed subtest is a failure of its run, and judged as one.
#
# pytest's own fixture reports a failure at once and hides it from the body: a mutation's failed oracle would fail the
# test whatever its threshold, and count as equivalent all the same.


class RunSubtests:
    """Stands in for the ``subtests`` fixture during one run of a body: goes on after a failure, and keeps it."""

    def __init__(self) -> None:
        self._failures: list[BaseException] = []

    @contextmanager
    def test(self, msg: str | None = None, **kwargs: Any) -> Iterator[None]:
        """A subtest, as of pytest's own fixture."""
        try:
            yield
        except BaseException as error:
            if ends_test(error):
                raise
            if not isinstance(error, pytest.skip.Exception):
                _note(error, _label(msg, kwargs))
                self._failures.append(error)

    def settle(self) -> None:
        """Raise the first failure, if there was one."""
        __tracebackhide__ = True
        if self._failures:
            raise self._failures[0]


def subtests_stand_in(arguments: dict[str, Any]) -> tuple[dict[str, Any], RunSubtests]:
    """The arguments of a run with its own subtests in the place of pytest's."""
    own = RunSubtests()
    return {
        name: own if isinstance(value, pytest.Subtests) else value for name, value in arguments.items()
    }, own


def _label(msg: str | None, kwargs: dict[str, Any]) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in kwargs.items())
    return (
        " ".join(filter(None, (f"[{msg}]" if msg else "", f"({values})" if values else ""))) or "(<subtest>)"
    )


def _note(error: BaseException, label: str) -> None:
    add_note = getattr(error, "add_note", None)  # Python 3.11
    if add_note is not None:
        add_note(f"in subtest {label}")


# ``@robust(search=…)``: a test that looks for the worst change, in the place of a plan of mutations.


# What a search has no use for, and what its contract holds in its place.
_OF_PLANS: dict[str, Any] = {"gate": "point", "max_deviations": None, "samples": 1, "stop": "never"}
_UNUSED = ("mutations", "threshold", *_OF_PLANS, "shrink", "controls")
_RARE = {
    "method": "method",
    "batch": "batch",
    "repeats": "repeats",
    "prune": "prune",
    "top": "top",
    "any_sense": "any_sense",
    "min_cosine": "cosine",
    "allows": "allows",
    "max_cost": "cost",
    "max_seconds": "seconds",
}


def is_search(item: pytest.Item, keys: Mapping[str, Any]) -> bool:
    """Whether a test is a search; ``search=False`` nearer to it takes back what a class or module says.

    Raises:
        UsageError: A mark says search= and what only a plan has a use for; or the test's own says what only a search
            has a use for, and it is none.
    """
    asked = _asked(keys.get("search"))
    for node, mark in item.iter_markers_with_node(MARK):
        given = mark.kwargs
        if _asked(given.get("search")):
            unused = [name for name in _UNUSED if name in given]
            if unused:
                drawn = " To say what may be done to the prompt, write operators=." * ("mutations" in unused)
                raise UsageError(
                    f"{item.nodeid}: {unused[0]}= is for tests that try a plan of mutations, and search= looks for "
                    f"one change that breaks the test, with queries=. Keep one of them.{drawn}"
                )
        elif node is item and not asked:
            idle = [name for name in SEARCH_KEYS if name != "search" and name in given]
            if idle:
                raise UsageError(
                    f"{item.nodeid}: {idle[0]}= says how to search, and the test is no search; add search=True, or "
                    f"leave {idle[0]}= out."
                )
    return asked


def _asked(search: object) -> bool:
    return search is not None and search is not False


def as_search(contract: Mapping[str, Any], keys: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The settings of a contract as a search has them.

    Raises:
        UsageError: The judge is the objective, and there is none.
    """
    settings = {**contract, **_OF_PLANS}
    if keys.get("objective") == "judge":
        if not settings.get("judge"):
            raise UsageError(f"{where}: objective='judge' needs judge=, which names who rates the answers.")
        if "judge_when" not in keys:
            settings["judge_when"] = "always"
    return settings


def without_unused(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line overrides of a test that is a search."""
    return {key: value for key, value in overrides.items() if key not in _UNUSED}


def search_settings_of(
    keys: Mapping[str, Any], contract: Contract, queries: int, where: str
) -> SearchSettings:
    """How a test searches.

    Args:
        keys: Of its marks.
        contract: Its settings.
        queries: Of a test that does not say.
        where: The test, for messages.

    Raises:
        UsageError: An unknown method, objective or setting, or a value that is out of range.
    """
    chosen = keys["search"]
    rare: Mapping[str, Any] = chosen if isinstance(chosen, Mapping) else {}
    for name in rare:
        if name not in _RARE:
            where_else = f" Write {name}= beside search=." if name in SEARCH_KEYS else ""
            raise UsageError(
                f"{where}: search= has no key {name!r}.{where_else or ' ' + nearest(name, _RARE)}"
            )
    method = rare.get("method", DEFAULT) if rare or isinstance(chosen, Mapping) else chosen
    search_settings = SearchSettings.of(
        DEFAULT if method is True else method,
        keys.get("objective", "deviation"),
        where=where,
        queries=keys.get("queries", queries),
        words=keys.get("max_words"),
        change_rate=keys.get("max_change_rate", 1.0),
        operators=_operators(contract),
        seed=contract.plan.seed,
        baseline_runs=max(2, contract.plan.baseline_runs),
        **{_RARE[name]: value for name, value in rare.items() if name != "method"},
    )
    _refuse_too_few(search_settings, 1, where)
    return search_settings


def _operators(contract: Contract) -> Any:
    """What may be done to the prompt; of a plan that says how much of each, the operators that keep the answer."""
    operators = contract.plan.operators
    if not isinstance(operators, PlanRequest):
        return operators
    drawn = [each for stratum in operators.strata for each in stratum.operators]
    return [*dict.fromkeys(each for each in drawn if each.relation == "invariance")] or None


def shared_over(job: Evaluation, cases: Cases) -> None:
    """Have a search know how many inputs share its budget.

    Raises:
        UsageError: It holds no changed prompt for each of them.
    """
    if isinstance(job, SearchedTest):
        assert job.search_settings is not None
        job.inputs = len(cases.inputs)
        _refuse_too_few(job.search_settings, job.inputs, job.settings.where)


def _refuse_too_few(search_settings: SearchSettings, inputs: int, where: str) -> None:
    least = (search_settings.baseline_runs + 1) * inputs
    if search_settings.queries < least:
        of = f" for {inputs} inputs" if inputs > 1 else ""
        raise UsageError(
            f"{where}: queries={search_settings.queries} buys no changed prompt{of}: each unmutated prompt is asked "
            f"{search_settings.baseline_runs} times first. Give at least {least}, and far more to find anything."
        )


def refuse_other(result: Robustness, trial: str, where: str) -> None:
    """Refuse to search for one trial, and to come to another.

    Raises:
        UsageError: The search found nothing, or something else.
    """
    found = None if result.searched is None else result.searched.found
    if result.searched is None or (found is not None and found.id == trial):
        return
    what = f"found trial {found.id}" if found is not None else f"found nothing ({result.reason})"
    raise UsageError(
        f"{where}: --promptfuzz-trial={trial} was searched for again, and the search {what}. A test that is a search "
        "finds the same while its prompt, its settings and the stored answers are the same."
    )


def check(
    engine: Engine, declared: Declared, original: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    """Run a sync test: every input, the baseline and every mutation."""
    calls = engine.state.lookahead.calls(engine, declared, arguments)
    fixtures = fresh_fixtures(engine.item, fresh=engine.fixtures == "fresh")

    def body(prompt: Prompt) -> Any:
        given, sent, response = calls.ask(prompt, watch_of_the_run())
        placed, own = subtests_stand_in(
            checked(fixtures.arguments(arguments), prompt=sent, given=given, response=response)
        )
        with _given(engine, response):
            returned = original(**placed)
            own.settle()
        engine.progress.ran(engine.job)
        return response if returned is None else returned

    try:
        shared_over(engine.job, calls.cases)
        for given in calls.cases.inputs:
            steps = engine.job.case(calls.cases.prompt_of(given), given.name, given.expected)
            drive(steps, body, ends_test, begin=calls.begin)
        drive(engine.job.again(), body, ends_test, begin=calls.begin)
    finally:
        calls.close()


async def acheck(
    engine: Engine, declared: Declared, original: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    """As ``check``, for an async test."""
    calls = engine.state.lookahead.calls(engine, declared, arguments)

    async def body(prompt: Prompt) -> Any:
        given, sent, response = await calls.aask(prompt, watch_of_the_run())
        placed, own = subtests_stand_in(checked(arguments, prompt=sent, given=given, response=response))
        with _given(engine, response):
            returned = await original(**placed)
            own.settle()
        engine.progress.ran(engine.job)
        return response if returned is None else returned

    try:
        shared_over(engine.job, calls.cases)
        for given in calls.cases.inputs:
            steps = engine.job.case(calls.cases.prompt_of(given), given.name, given.expected)
            await adrive(steps, body, ends_test, concurrency=1, begin=calls.begin)
        await adrive(engine.job.again(), body, ends_test, concurrency=1, begin=calls.begin)
    finally:
        calls.close()


@contextmanager
def _given(engine: Engine, response: Any) -> Iterator[None]:
    """Keep what a body fails on: a function of the application leaves no trace of what it answered."""
    try:
        yield
    except BaseException:
        engine.job.settings.body.given[watch_of_the_run()] = response
        raise


def baselines_of(
    item: pytest.Item, keys: Mapping[str, Any], target: Target | CallableTarget | None
) -> Callable[..., Any]:
    """The body of a declarative test for the unmutated prompt alone, once for every input."""
    original: Callable[..., Any] = item.obj  # type: ignore[attr-defined]  # a test function has one
    declared = Declared(item, keys, target)  # type: ignore[arg-type]  # as above
    asker = TargetAsker(declared.target)

    @functools.wraps(original)
    def body(**arguments: Any) -> None:
        cases = declared.cases(arguments)
        for given in cases.inputs:
            sent = cases.sent(cases.prompt, given)
            response = asker.ask(sent)
            original(**checked(arguments, prompt=sent, given=given, response=response))

    @functools.wraps(original)
    async def abody(**arguments: Any) -> None:
        cases = declared.cases(arguments)
        for given in cases.inputs:
            sent = cases.sent(cases.prompt, given)
            response = await asker.aask(sent)
            await original(**checked(arguments, prompt=sent, given=given, response=response))

    return abody if inspect.iscoroutinefunction(original) else body
