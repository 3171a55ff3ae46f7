"""``--promptfuzz-dry-run`` and ``promptfuzz prefill``: what the robust tests would ask, and what that would cost."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypedDict, cast

import pytest

from pytest_promptfuzz.errors import PromptfuzzError, UsageError, without_test
from pytest_promptfuzz.evaluating.evaluate import TargetAsker
from pytest_promptfuzz.evaluating.evaluation import Evaluation
from pytest_promptfuzz.evaluating.phases.baseline import may_overlap, shown_by
from pytest_promptfuzz.evaluating.session import simulated_backend
from pytest_promptfuzz.plugin.compared_base import SESSION_TESTS
from pytest_promptfuzz.plugin.execution.declarative_tests import is_declarative
from pytest_promptfuzz.plugin.execution.engine import Engine
from pytest_promptfuzz.plugin.execution.mutated_places import find
from pytest_promptfuzz.plugin.limits import prices_of
from pytest_promptfuzz.plugin.marks import is_robust, merged, parameters_of
from pytest_promptfuzz.plugin.output.progress import ItemProgress
from pytest_promptfuzz.plugin.state import NO_TARGET, State
from pytest_promptfuzz.providers.formats import request_texts
from pytest_promptfuzz.reporting.terminal.styled_text import named
from pytest_promptfuzz.running.batches import BatchCall
from pytest_promptfuzz.running.limits.budget import estimate, summed, tokens_of
from pytest_promptfuzz.running.run import Step
from pytest_promptfuzz.storage.answers import exchange_key
from pytest_promptfuzz.targets.resolution import CallableTarget
from pytest_promptfuzz.wire.exchange import IN_PROCESS, Exchange
from pytest_promptfuzz.wire.watch import Notebook, NotYetError, RunRoute

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pytest_promptfuzz.evaluating.cases import Steps
    from pytest_promptfuzz.evaluating.session import Session, TestWatches
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.reporting.terminal.styled_text import Line
    from pytest_promptfuzz.running.limits.budget import Prices
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.storage.redaction import Redaction
    from pytest_promptfuzz.wire.calls import Call
    from pytest_promptfuzz.wire.watch import Noted, Watch


class Forecast(TypedDict):
    """What one test would ask; plain data, which crosses processes.

    ``stored``, the tokens and the costs are ``None`` where they cannot be told; ``exact`` says whether the calls are
    known and not reckoned from the prompt; ``function`` whether they are of a function of the application; ``most``
    whether there may be fewer, for a search ends when it has found something.
    """

    test: str
    calls: int
    stored: int | None
    tokens: int | None
    low: float | None
    high: float | None
    exact: bool
    function: bool
    most: bool


@dataclass(frozen=True, slots=True)
class _ForecastCall:
    """One call: whether the store has its answer, its tokens, and its cost at the least and at the most."""

    stored: bool
    tokens: int
    low: float | None
    high: float | None


def forecast(
    test: str,
    runs: Sequence[tuple[Prompt, int]],
    asker: TargetAsker | None,
    session: Session,
    prices: Prices,
    *,
    exact: bool,
    ignore: Sequence[str] = (),
    most: bool = False,
) -> Forecast:
    """What a test would ask.

    Args:
        test: Its name.
        runs: What it sends, a call each, and how often it was sent before: the baseline's and every mutation's, of
            every input.
        asker: Asks; ``None`` where only the test's own code knows whom.
        session: The store it is served from.
        prices: What calls cost.
        exact: Whether the prompts are what is sent; otherwise the body may add to them, and call more than once.
        ignore: JSON paths left out of the keys by which answers are looked for.
        most: Whether it may ask less.
    """
    if asker is None or isinstance(asker.target, CallableTarget):
        return Forecast(
            test=test,
            calls=len(runs),
            stored=None,
            tokens=sum(tokens_of(prompt.text) for prompt, _ in runs),
            low=None,
            high=None,
            exact=asker is not None and exact,
            function=asker is not None,
            most=most,
        )
    asked = [_asked(prompt, repeat, asker, session, prices, ignore) for prompt, repeat in runs]
    missing = [each for each in asked if not (exact and each.stored)]
    return Forecast(
        test=test,
        calls=len(asked),
        stored=len(asked) - len(missing) if exact else None,
        tokens=sum(each.tokens for each in missing),
        low=summed([each.low for each in missing]),
        high=summed([each.high for each in missing]),
        exact=exact,
        function=False,
        most=most,
    )


def unknown(test: str, calls: int, *, most: bool = False) -> Forecast:
    """What a test would ask whose prompt shows only when its body runs: ``calls`` at the least, or at the most."""
    return Forecast(
        test=test,
        calls=calls,
        stored=None,
        tokens=None,
        low=None,
        high=None,
        exact=False,
        function=False,
        most=most,
    )


def _asked(
    prompt: Prompt, repeat: int, asker: TargetAsker, session: Session, prices: Prices, ignore: Sequence[str]
) -> _ForecastCall:
    target = cast("Target", asker.target)
    wire = target.prepare(asker.request(prompt))
    watches = session.test()
    exchange = Exchange(watches.watch(repeat=repeat, ignore=ignore), wire, parse=target.parse)
    try:
        stored = exchange.stored() is not None
    except PromptfuzzError:  # only the recording may be used, and does not hold it
        stored = False
    if wire.url.startswith(IN_PROCESS):
        return _ForecastCall(stored, sum(map(tokens_of, request_texts(wire.body, wire.url))), 0.0, 0.0)
    return _ForecastCall(stored, *estimate(wire, prices))


# A test rehearsed to find out what it asks: each run goes up to the first answer that is not there yet.
#
# The runs are those of an evaluation, so that what they ask is what the evaluation will ask. A test that asks again
# about what it was answered shows its next call in the next rehearsal.


@dataclass(slots=True)
class Rehearsal(Evaluation):
    """An evaluation whose runs end where an answer is missing; nothing is judged.

    Attributes:
        unknown: Why it cannot be said what the test asks; empty where it can.
        of_evaluation: What is rehearsed: it plans.
        repeats: Whether the unmutated prompt's second answer is asked for as well.
    """

    unknown: str = ""
    of_evaluation: Evaluation | None = None
    repeats: bool = False
    _begun: int = 0
    _seen: list[Watch] = field(default_factory=list)

    @classmethod
    def of(cls, evaluation: Evaluation) -> Rehearsal:
        """A rehearsal of an evaluation that has not begun; no call is made early in it either."""
        same = {each.name: getattr(evaluation, each.name) for each in fields(Evaluation) if each.init}
        settings = evaluation.settings
        silent = replace(settings, session=replace(settings.session, speculate=False))
        return cls(**{**same, "settings": silent, "of_evaluation": evaluation})

    def _planned(self, prompt: Prompt) -> tuple[tuple[Mutation, ...], tuple[Mutation, ...]]:
        assert self.of_evaluation is not None
        return self.of_evaluation._planned(prompt)  # noqa: SLF001 - of the same class

    @property
    def cases(self) -> int:
        """How many cases have begun."""
        return self._begun

    @property
    def missing(self) -> list[Noted]:
        """The calls that have no answer yet."""
        return [
            each
            for watch in self._seen
            if watch.route.notebook is not None
            for each in watch.route.notebook.noted
        ]

    @property
    def found(self) -> list[tuple[str, int]]:
        """Digest and number, among the identical requests of its run, of each call that the store answers."""
        return [(call.digest, call.nth) for watch in self._seen for call in watch.calls if call.hit]

    @property
    def answered(self) -> list[Call]:
        """The calls that a model in this process answered, which costs nothing."""
        return [call for watch in self._seen for call in watch.calls if not call.hit]

    def case(self, prompt: Prompt, name: str = "", expected: Any = None) -> Steps:
        """The steps of one example: the baseline, once more to see whether it asks the same, and every mutation."""
        del name, expected  # nothing is answered
        self._begun += 1
        settings, contract = self.settings, self.contract
        watches, together = self.session.test(self.network), settings.order.together
        (first,) = yield [Step(prompt, self._noting(watches, concurrent=together))]
        (again,) = yield [Step(prompt, self._noting(watches, concurrent=together))]
        self.unknown = self.unknown or _unknown(first, again)
        if self.unknown:
            return
        self._seen.append(first.watch)
        shown, on_wire = prompt, settings.on_wire
        try:
            if on_wire is not None or (contract.plan.part.wants_input and not prompt.inputs):
                shown = shown_by(first, prompt, contract.plan.part, on_wire, settings.where)
            mutations = self.plan(shown)
            if self._begun == 1:
                mutations += self.controls(shown)[:1]
        except PromptfuzzError as error:
            # The text to mutate may stand in a request after the one that has no answer yet.
            if not _noted(first):
                self.unknown = str(error)
            return
        overlap = may_overlap(first, settings.order, self.notes)
        runs = yield [
            Step(each.prompt, self._noting(watches, each, concurrent=overlap)) for each in mutations
        ]
        self._seen += [run.watch for run in runs]
        if self.repeats:
            (second,) = yield [Step(prompt, self._noting(watches, repeat=1, concurrent=together))]
            self._seen.append(second.watch)

    def _noting(
        self,
        watches: TestWatches,
        mutation: Mutation | None = None,
        *,
        repeat: int = 0,
        concurrent: bool = False,
    ) -> Watch:
        on_wire, simulated = self.settings.on_wire, self.settings.simulated
        route = RunRoute(
            in_flight=None if on_wire is None else on_wire.in_flight(mutation),
            simulated=simulated_backend(simulated),
            notebook=Notebook(),
        )
        ignore = self.contract.comparison.ignore
        return watches.watch(route, repeat=repeat, ignore=ignore, concurrent=concurrent, mutation=mutation)


def _unknown(first: Run, again: Run) -> str:
    """Why two runs of the baseline do not show what the test asks; nothing where they do."""
    asked = _keys_asked(first)
    if not asked:
        error = first.exception
        if error is not None and not isinstance(error, NotYetError):
            return f"it raises {type(error).__name__} before it asks a model"
        return f"it asks no model that is seen{'' if not first.watch.unseen else ', only where it cannot be followed'}"
    if asked != _keys_asked(again):
        return "it asks something else each time it is run"
    return ""


def _keys_asked(run: Run) -> list[tuple[str, int]]:
    answered = [(each.digest, each.nth) for each in run.watch.calls]
    return sorted(answered + [(each.digest, each.nth) for each in _noted(run)])


def _noted(run: Run) -> list[Noted]:
    return run.watch.route.notebook.noted if run.watch.route.notebook is not None else []


# ``--promptfuzz-dry-run`` and ``promptfuzz prefill``: what the robust tests would ask, without asking.


# Planning a suite for ``promptfuzz prefill``: pytest sets its tests up; nothing is asked.


A_SEARCH = "a search chooses each request from earlier answers"


@dataclass(slots=True, eq=False)
class Planned:
    """What the robust tests of a suite will ask.

    Attributes:
        unknown: Tests that could not be planned, and why.
        answers: The keys of the answers that the store has, each once.
        going_on: Whether a test may ask more when what is wanted is answered.
        prices: What calls cost.
        bodies: Whether the bodies of tests that call the model themselves may run.
        repeats: Whether unmutated prompts are asked once more.
        session: The store they are served from; ``None`` without a robust test.
        folder: The project's ``.promptfuzz``.
    """

    unknown: list[tuple[str, str]] = field(default_factory=list)
    answers: dict[str, None] = field(default_factory=dict)
    going_on: bool = False
    bodies: bool = True
    repeats: bool = False
    prices: Prices | None = None
    session: Session | None = None
    folder: Path | None = None
    _wanted: dict[str, BatchCall] = field(default_factory=dict)

    @property
    def wanted(self) -> list[BatchCall]:
        """The calls that the store does not answer, each once."""
        return list(self._wanted.values())

    def pytest_configure(self, config: pytest.Config) -> None:
        """Be found by what plans the tests."""
        config.stash[PLANNED] = self

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out every test that is not ours: it would run."""
        others = [item for item in items if not is_robust(item)]
        items[:] = [item for item in items if is_robust(item)]
        if others:
            config.hook.pytest_deselected(items=others)

    @property
    def shared(self) -> tuple[AnswerStore, Redaction, Path]:
        """The project's store, what is hidden, and the folder of what is stored.

        Raises:
            UsageError: There is no robust test.
        """
        if self.session is None or self.folder is None or self.session.store is None:
            raise UsageError("No robust test was found. Name the tests as for pytest.")
        return self.session.store, self.session.redaction, self.folder

    @property
    def stored(self) -> int:
        """How many calls the store answers."""
        return len(self.answers)

    def add(self, engine: Engine, prompts: Sequence[Prompt], asker: TargetAsker | None) -> None:
        """The calls of a declarative test; ``asker=None`` for another, whose body does not run."""
        session = self._of(engine)
        if asker is None or isinstance(asker.target, CallableTarget):
            own = (
                "its target is a function" if asker is not None else "its calls show only when its body runs"
            )
            self.unplanned(engine.where, own)
            return
        for prompt in prompts:
            wire = asker.target.prepare(asker.request(prompt))
            if wire.url.startswith(IN_PROCESS):
                continue
            each = BatchCall(wire, tuple(engine.evaluation.contract.comparison.ignore), engine.where)
            if session.store is not None and each.is_stored(session.store, session.redaction):
                self.answers[each.key(session.redaction)] = None
            else:
                self._want(each)

    def add_rehearsal(self, engine: Engine, rehearsal: Rehearsal) -> None:
        """The calls of a test whose body was rehearsed."""
        self._of(engine)
        if rehearsal.unknown:
            self.unplanned(engine.where, rehearsal.unknown)
            return
        for digest, nth in rehearsal.found:
            self.answers[exchange_key(digest, 0, nth)] = None
        for each in rehearsal.missing:
            self._want(
                BatchCall(
                    each.wire, tuple(engine.evaluation.contract.comparison.ignore), engine.where, each.nth
                )
            )
            self.going_on = True

    def add_runs(self, engine: Engine, runs: Sequence[tuple[Prompt, int]], asker: TargetAsker | None) -> None:
        """Every run of a test whose calls are known without its body, and how often its prompt was sent before."""

    def unplanned(self, test: str, why: str) -> None:
        """A test could not be planned."""
        self.unknown.append((test, without_test(why, test)))

    def _of(self, engine: Engine) -> Session:
        self.session, self.folder = engine.evaluation.session, engine.state.folder
        self.prices = prices_of(engine.state.tables)
        return self.session

    def _want(self, wanted: BatchCall) -> None:
        if self.session is not None:
            self._wanted.setdefault(wanted.key(self.session.redaction), wanted)


def rehearses(item: pytest.Item) -> Planned | None:
    """The plan that a test is to be rehearsed for; ``None`` for a test whose calls are known without its body."""
    planned = item.config.stash.get(PLANNED, None)
    return planned if planned is not None and planned.bodies and not is_declarative(item) else None


def plan_suite(arguments: Sequence[str], *, bodies: bool = True) -> Planned:
    """Collect a suite and set its robust tests up, with pytest in this process.

    Args:
        arguments: pytest's own.
        bodies: Whether tests that call the model themselves are rehearsed: their bodies run, each up to a call that has
            no answer yet.

    Raises:
        UsageError: pytest cannot collect or set up the suite; the message holds what it printed.
    """
    planned = Planned(bodies=bodies)
    printed = io.StringIO()
    workers = ["-n0"] if find_spec("xdist") is not None else []
    ours = [
        *workers,
        "--promptfuzz-dry-run",
        "--promptfuzz-mode=auto",
        "--no-header",
        "-q",
        "-Wignore::pytest.PytestAssertRewriteWarning",  # the command has loaded the plugin before pytest does
    ]
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = pytest.main([*arguments, *ours], plugins=[planned])
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        said = printed.getvalue().rstrip()
        if NO_TARGET in " ".join(said.split()):
            raise UsageError("no target. Add -- --promptfuzz-target=NAME.")
        raise UsageError(f"pytest could not plan the suite:\n{said}")
    return planned


PLANNED = pytest.StashKey[Planned]()


DRY = pytest.StashKey[Forecast]()
_OURS = frozenset({"llm", "response"})


def plan_only(item: pytest.Item) -> None:
    """Keep what a robust test would ask on its item, and skip it.

    Raises:
        UsageError: The test is set up wrongly, as it would be found when it runs.
    """
    if not isinstance(item, pytest.Function):
        pytest.skip("dry run")
    state = State.of(item.config)
    engine = Engine(item, ItemProgress(item))
    keys = merged(item)[1]
    target = state.target_of(item, keys.get("target"))
    asker = None if target is None else TargetAsker(target, parameters_of(keys, item.nodeid))
    arguments = {name: item.funcargs[name] for name in item.funcargs}
    contract = engine.evaluation.contract
    before = max(engine.evaluation.session.baseline_runs, contract.plan.baseline_runs)
    queries = engine.search.budget if engine.search is not None else 0
    shows_later = unknown(
        item.nodeid,
        queries or before + contract.plan.mutations * contract.plan.samples + contract.plan.controls,
        most=queries > 0,
    )
    try:
        plans, controls, exact = _prompts(engine, arguments)
    except PromptfuzzError as error:
        if engine.declarative is not None or isinstance(arguments.get("prompt"), str):
            raise
        planned = item.config.stash.get(PLANNED, None)
        if planned is not None:
            planned.unplanned(item.nodeid, str(error))
        item.stash[DRY] = shows_later
        pytest.skip(
            f"dry run: its requests are known only when its body runs ({without_test(str(error), item.nodeid)})"
        )
    planned = item.config.stash.get(PLANNED, None)
    if planned is not None and queries:
        planned.unplanned(item.nodeid, A_SEARCH)
    elif planned is not None:
        planned.add(engine, [*(each for plan in plans for each in plan), *controls], asker if exact else None)
    if isinstance(target, CallableTarget) and exact:
        before = max(before, 2)  # its own calls are not seen: it is called again in place of the repeat run
    runs = [(plan[0], repeat) for plan in plans for repeat in range(before)]
    runs += [(each, sample) for plan in plans for each in plan[1:] for sample in range(contract.plan.samples)]
    runs += [(each, 0) for each in controls]
    if queries:  # as long as the prompt is, which no change of it alters much
        exact, share = False, queries // max(1, len(plans))
        runs = [(plan[0], repeat) for plan in plans for repeat in range(share)]
    if planned is not None and not queries:
        planned.add_runs(engine, runs, asker if exact else None)
    asks_ours = engine.declarative is not None or bool(_OURS & set(item.fixturenames))
    item.stash[DRY] = (
        forecast(
            item.nodeid,
            runs,
            asker if asks_ours else None,
            state.session_of(item),
            prices_of(state.tables),
            exact=exact,
            ignore=contract.comparison.ignore,
            most=queries > 0,
        )
        if runs
        else shows_later
    )
    pytest.skip("dry run")


def _prompts(engine: Engine, arguments: dict[str, Any]) -> tuple[list[list[Prompt]], list[Prompt], bool]:
    """What the test sends of each input, unmutated first, and its control, as far as that shows without its body.

    Of what is mutated on the wire nothing does.
    """
    evaluation = engine.evaluation
    controls: list[Prompt] = []
    if evaluation.settings.on_wire is not None:
        return [], controls, False
    if engine.declarative is None:
        prompt = find(engine.mutate, arguments, engine.where).prompt(arguments, engine.where)
        controls = [each.prompt for each in evaluation.controls(prompt)[:1]]
        return [[prompt, *(each.prompt for each in evaluation.plan(prompt))]], controls, False
    cases = engine.declarative.cases(arguments, evaluation.contract.plan.part)
    sent: list[list[Prompt]] = []
    for given in cases.inputs:
        prompt = cases.prompt_of(given)
        if not sent:
            controls = [cases.sent(each.prompt, given) for each in evaluation.controls(prompt)[:1]]
        sent.append(
            [cases.sent(each, given) for each in (prompt, *(m.prompt for m in evaluation.plan(prompt)))]
        )
    return sent, controls, True


def lines(forecasts: Sequence[Forecast], *, again: int = 0) -> list[Line]:
    """The forecast for people: a line a test, and the sum.

    Args:
        forecasts: Of each test.
        again: Calls that a test may make beside these when it is lower than its base; 0 where none is compared.
    """
    told = [_line(each["test"], each) for each in forecasts]
    stored = [each["stored"] for each in forecasts]
    tokens = [each["tokens"] for each in forecasts if each["tokens"] is not None]
    lows, highs = [each["low"] for each in forecasts], [each["high"] for each in forecasts]
    whole = Forecast(
        test=f"{len(forecasts)} robust tests" if len(forecasts) != 1 else "1 robust test",
        calls=sum(each["calls"] for each in forecasts),
        stored=None if None in stored else sum(each or 0 for each in stored),
        tokens=sum(tokens) if tokens else None,
        low=None if None in lows else sum(each or 0 for each in lows),
        high=None if None in highs else sum(each or 0 for each in highs),
        exact=all(each["exact"] for each in forecasts),
        function=False,
        most=all(each["exact"] or each["most"] for each in forecasts),
    )
    besides = ", others not known" if len(tokens) < len(forecasts) else ""
    mixed = not whole["exact"] and not whole["most"] and any(each["most"] for each in forecasts)
    searches = sum(each["calls"] for each in forecasts if each["most"]) if mixed else 0
    told.append(_line(whole["test"], whole, besides, searches))
    told.append(
        _prose(
            "No call was made. Tokens are estimates (4 characters each). The cost assumes answers of 1 to 1,000 "
            "tokens, or max_tokens."
        )
    )
    if any(each["most"] for each in forecasts):
        told.append(_prose('"at most": a search ends when it finds a change.'))
    if not whole["exact"] and not whole["most"]:
        told.append(
            _prose(
                '"at least": one call for each run of the body is assumed, and stored answers are not taken off.'
            )
        )
    if again:
        whole_run = again * min(len(forecasts), SESSION_TESTS)
        told.append(
            _prose(
                f"A test that is lower than its base may make up to {again:,} calls more, to tell a drop from noise; "
                f"all tests together up to {whole_run:,} (--promptfuzz-compare-calls)."
            )
        )
    return told


def _prose(text: str) -> Line:
    return [(text, "dim")]


def _line(name: str, each: Forecast, besides: str = "", searches: int = 0) -> Line:
    """What a test asks, or all of them.

    Args:
        name: Of the test.
        each: Its forecast.
        besides: What is to be said of the tokens.
        searches: How many of the calls are those of searches, of which there may be fewer, beside others of which there
            may be more; 0 where all are of one kind.
    """
    at_least = "" if each["exact"] else "at most " if each["most"] else "at least "
    stored = "" if each["stored"] is None else f", {each['stored']:,} of them stored"
    low, high = each["low"], each["high"]
    cost = (
        "cost not known" if low is None or high is None else f"${low:.4f} to ${high:.4f}" if high else "free"
    )
    noun = ("call" if each["calls"] == 1 else "calls") + (" of the function" if each["function"] else "")
    tokens = (
        "tokens in not known" if each["tokens"] is None else f"about {each['tokens']:,} tokens in{besides}"
    )
    calls = f"{at_least}{each['calls'] - searches:,} {noun}"
    if searches:
        calls += f", and at most {searches:,} of searches"
    said = f"{calls}{stored}; {tokens}; {cost}"
    return named(name, said)


# Tests that call the model themselves, rehearsed for ``promptfuzz prefill``: their bodies run, and ask nothing.


_SECONDS = 5.0  # for calls made at once; what a body leaves running for longer is left alone


class _RehearsingEngine(Engine):
    """Lets calls that an async body makes at once all be noted, though the first of them ends it."""

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        if not inspect.iscoroutinefunction(original):
            return super()._wrap(original)

        @functools.wraps(original)
        async def waiting(*args: Any, **arguments: Any) -> Any:
            before = _tasks()
            try:
                return await original(*args, **arguments)
            finally:
                begun = _tasks() - before
                if begun:
                    import asyncio

                    await asyncio.wait(begun, timeout=_SECONDS)

        return super()._wrap(waiting)


def _tasks() -> set[asyncio.Task[Any]]:
    import asyncio

    try:
        return asyncio.all_tasks()
    except RuntimeError:  # a loop of trio
        return set()


@contextmanager
def rehearsed(item: pytest.Item, planned: Planned) -> Iterator[None]:
    """Have the body run while the block lasts, each run up to a call without an answer; what it asks is planned."""
    try:
        if not isinstance(item, pytest.Function):
            raise UsageError("it is no Python test function")
        engine = _RehearsingEngine(item, ItemProgress(item))
        if engine.searches:
            raise UsageError(A_SEARCH)
        engine.evaluation = rehearsal = Rehearsal.of(engine.evaluation)
        rehearsal.repeats = planned.repeats
        with engine.installed():
            yield
        if not rehearsal.cases:
            raise UsageError("its body never ran; an async test needs pytest-asyncio or anyio")
    except PromptfuzzError as error:
        planned.unplanned(item.nodeid, str(error))
    else:
        planned.add_rehearsal(engine, rehearsal)
    pytest.skip("dry run")
