"""Runs a study: asks its units at once, within the limits of a session, and returns their cells."""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pytest_promptfuzz.errors import (
    ConfigurationError,
    PromptfuzzError,
    PromptfuzzWarning,
    TargetError,
    UsageError,
)
from pytest_promptfuzz.evaluating.evaluate import (
    EvaluateOptions,
    TargetEvaluation,
    make_evaluation,
    watch_of_the_run,
)
from pytest_promptfuzz.evaluating.session import Session, installed_embedder, installed_entailment
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.running.batches import BatchCall
from pytest_promptfuzz.running.limits.budget import Prices, estimate, summed
from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
from pytest_promptfuzz.studies.answer_cells import (
    ASKS_EVERYTHING,
    NO_PLACE,
    NOT_ASKED,
    RUN_SAMPLES,
    CellFrame,
    CellInput,
    RunSession,
    StudiedEvaluation,
    UnitCells,
    answer_key,
    in_one_line,
)
from pytest_promptfuzz.studies.conversations import priced_turns, turn_requests
from pytest_promptfuzz.studies.prompting import delimited, prompted
from pytest_promptfuzz.studies.robust_tests import (
    cells_of_tests,
    collected,
    expected_cells,
    price_of_tests,
    shared_books,
)
from pytest_promptfuzz.studies.study import Study, StudyUnit, mutations_of, read_study, requests
from pytest_promptfuzz.targets.resolution import CallableTarget, connected, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.providers.requests import WireRequest
    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.storage.redaction import Redaction
    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.robust_tests import TestsPrice
    from pytest_promptfuzz.studies.study import PlannedChange
    from pytest_promptfuzz.wire.watch import Watch


CONCURRENCY = 16
MOST_FAILURES = 16
"""A model that fails on so many inputs, and has answered none, is asked for no other."""
_OF_THE_MODEL = {"authentication", "billing", "not-found"}
"""Errors that every other input would have, too."""


class StudyPrice(NamedTuple):
    """What a study costs before it is run.

    Attributes:
        calls: How many calls are made.
        stored: How many answers are in the store already.
        tokens: Of the requests that are made, about.
        low: US dollars at the least; ``None`` where the price of a model is not known.
        high: At the most, likewise.
        exact: Whether all calls are known; robust tests may make more of them.
    """

    calls: int
    stored: int
    tokens: int
    low: float | None
    high: float | None
    exact: bool = True


def price_of(given: Study, session: Session, prices: Prices, shard: tuple[int, int] = (1, 1)) -> StudyPrice:
    """What a study, or a share of it, costs; nothing is asked.

    Raises:
        UsageError: A task, a model or a prompt of the study cannot be asked.
    """
    given = collected(given, _warn)
    calls = stored = tokens = 0
    lows: list[float | None] = []
    highs: list[float | None] = []
    planned = {task.name: given.asked(task, given.changes(task)) for task in given.tasks}
    store = None if session.mode == "live" else session.store
    made: dict[tuple[Any, ...], _PricedCall] = {}
    for number, unit in enumerate(given.units(shard)):
        asked = planned[unit.task.name]
        found_calls = _priced(unit, asked, (store, session.redaction))
        if found_calls is None:
            calls += unit.task.turns * sum(1 + unit.task.asks_again + len(each) for each in asked)
        for call in found_calls or ():
            # Inputs find each other's answers in the store alone.
            made.setdefault((call.key,) if store is not None else (number, call.input, call.key), call)
    for call in made.values():
        if call.is_stored:
            stored += 1
            continue
        found = estimate(call.wire, prices)
        calls, tokens = calls + 1, tokens + found.tokens
        lows.append(found.low)
        highs.append(found.high)
    whole = StudyPrice(calls, stored, tokens, summed(lows), summed(highs))
    for tests in given.test_units(shard):
        whole = _added(whole, price_of_tests(given, tests, session, _settings_of(session)))
    return whole


def _added(one: StudyPrice, other: TestsPrice) -> StudyPrice:
    return StudyPrice(
        one.calls + other.calls,
        one.stored + other.stored,
        one.tokens + other.tokens,
        summed([one.low, other.low]),
        summed([one.high, other.high]),
        one.exact and other.exact,
    )


def _settings_of(session: Session) -> Settings:
    """What limits a session's calls."""
    return session.gate.settings if isinstance(session.gate, SessionLimits) else Settings()


def _warn(text: str) -> None:
    warnings.warn(text, PromptfuzzWarning, stacklevel=3)


class _PricedCall(NamedTuple):
    """A call of a unit: the key of its answer, of which input it is, and whether it is answered already."""

    key: str
    input: int
    wire: WireRequest
    is_stored: bool


def _priced(
    unit: StudyUnit, asked: Sequence[Sequence[Mutation]], found_in: tuple[AnswerStore | None, Redaction]
) -> list[_PricedCall] | None:
    """The calls of a unit; ``None`` of a function of the application."""
    first, (store, redaction) = unit.run * RUN_SAMPLES, found_in
    if unit.task.conversation:
        return _priced_conversations(unit, asked, found_in)
    wires = requests(unit, asked)
    samples = [(number, wire, 0) for number, each in enumerate(wires) for wire in each]
    if unit.task.asks_again:
        samples += [(number, each[0], 1) for number, each in enumerate(wires)]
    found = []
    for number, wire, sample in samples:
        call = BatchCall(wire, _ignored(unit), sample=first + sample)
        is_stored = store is not None and call.is_stored(store, redaction)
        found.append(_PricedCall(call.key(redaction), number, wire, is_stored))
    return found if wires else None


def _priced_conversations(
    unit: StudyUnit, asked: Sequence[Sequence[Mutation]], found_in: tuple[AnswerStore | None, Redaction]
) -> list[_PricedCall] | None:
    """Likewise of conversations: turns before the first changed one are those of the unmutated conversation."""
    target = resolve(unit.model.target)
    if isinstance(target, CallableTarget):
        return None
    found: list[_PricedCall] = []
    inputs = delimited(unit.task.inputs, unit.model.prompting)
    for place, (given, mutations) in enumerate(zip(inputs, asked, strict=True)):
        prompts = [(unit.task.prompt, sample) for sample in range(1 + unit.task.asks_again)]
        for prompt, sample in [*prompts, *((each.prompt, 0) for each in mutations)]:
            number = unit.run * RUN_SAMPLES + sample
            turns = priced_turns(
                target,
                given.put_into(prompt).messages,
                unit.model.parameters,
                found_in,
                (_ignored(unit), number),
            )
            found += [_PricedCall(key, place, *call) for key, call in turns]
    return found


def _ignored(unit: StudyUnit) -> tuple[str, ...]:
    given = unit.task.settings.get("ignore", ())
    return (given,) if isinstance(given, str) else tuple(given)


def study(
    given: Study | str | Path,
    *,
    session: Session | None = None,
    concurrency: int = CONCURRENCY,
    shard: tuple[int, int] = (1, 1),
    prices: Prices | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> list[Cell]:
    """The cells of a study. What the session's store holds is not asked again, so that a study goes on where it ended.

    Args:
        given: What is asked: a study, or the file that describes it.
        session: Store, limits and mode; by default answers are kept for this call only.
        concurrency: The most calls at once.
        shard: ``(K, N)`` runs the K-th of N shares.
        prices: Of models, for the column ``cost``.
        progress: Called after each answer with how many there are, and how many there will be.

    Raises:
        UsageError: A setting of the study is wrong. A model that cannot be asked is no error: its cells say why.
    """
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise UsageError(f"concurrency={concurrency!r}; give a whole number of 1 or more.")
    if session is None:
        session = Session(embedder=installed_embedder(), entailment=installed_entailment())
    whole = collected(given if isinstance(given, Study) else read_study(Path(given)), _warn)
    run = _StudyRun(whole, session, concurrency, shard, prices or Prices(), progress)
    if not run.test_units:
        return asyncio.run(run.cells())
    with shared_books(session, _settings_of(session)) as books:
        cells = asyncio.run(run.cells())
        for unit in run.test_units:  # one after the other: each process makes as many calls at once as it may
            cells += cells_of_tests(whole, unit, session, concurrency, books, run.answered)
    return cells


class _StudyRun:
    """One run of a study: its units, the calls that they make at once, and how far they are."""

    def __init__(
        self,
        whole: Study,
        session: Session,
        concurrency: int,
        shard: tuple[int, int],
        prices: Prices,
        progress: Callable[[int, int], object] | None,
    ) -> None:
        self.study, self.session, self.prices = whole, session, prices
        self.units = whole.units(shard)
        self.changes = {task.name: whole.changes(task) for task in whole.tasks}
        self.asked = {task.name: whole.asked(task, self.changes[task.name]) for task in whole.tasks}
        self.total = sum(
            task.turns * (1 + task.asks_again + len(mutations))
            for task, _, _ in self.units
            for mutations in self.asked[task.name]
        )
        self.targets: dict[str, Any] = {}
        self.test_units = whole.test_units(shard)
        self.total += sum(expected_cells(each.tests) for each in self.test_units)
        self.concurrency = concurrency
        self.calls_at_once = asyncio.Semaphore(concurrency)
        self._progress = progress
        self._done = 0

    async def cells(self) -> list[Cell]:
        """The cells of all units, in their order."""
        # Units wait for the same places: enough of them are begun that none stays empty, and no more are in memory.
        begun = asyncio.Semaphore(self.concurrency)

        async def cells_of(unit: StudyUnit) -> list[Cell]:
            async with begun:
                return await self._unit(unit)

        async with contextlib.AsyncExitStack() as connections:
            for model in self.study.models:
                target = self.targets[model.name] = _with_connections(model.target)
                await connections.enter_async_context(connected(target))
            found = await asyncio.gather(*map(cells_of, self.units))
        return [cell for cells in found for cell in cells]

    def answered(self, count: int = 1) -> None:
        """One more answer is there, or several."""
        self._done += count
        if self._progress is not None:
            self._progress(min(self._done, self.total), self.total)  # a baseline may be asked once more

    async def _unit(self, unit: StudyUnit) -> list[Cell]:
        task, model, run = unit
        changes = self.changes[task.name]
        frame = CellFrame.of(self.study.name, task.name, model, run, task.group)
        inputs = [
            CellInput(each.cell_name, each.expected, _drawn(changes, asked))
            for each, asked in zip(task.inputs, self.asked[task.name], strict=True)
        ]
        rows = UnitCells(frame, inputs, task.turns)
        if not mutations_of(changes) and not task.asks_again:
            return rows.failed(NO_PLACE)
        session = RunSession.of(self.session, run)
        session.concurrency = self.concurrency
        settings = {**task.settings, **ASKS_EVERYTHING, "baseline_runs": 1 + task.asks_again}
        options = EvaluateOptions(parameters=model.parameters or None, session=session)
        try:
            asking = _StudiedTarget(self, unit, self.targets[model.name], settings, options)
            result = await make_evaluation(asking)
        except UsageError:
            raise
        except ConfigurationError as error:
            return rows.failed(in_one_line(str(error)))
        return rows.of(result, asking.studied)


def _drawn(changes: Sequence[PlannedChange], asked: Sequence[Mutation]) -> list[PlannedChange]:
    """The changes of an input that is asked with these mutations; those that find no place belong to all."""
    drawn = {each.id for each in asked}
    return [each for each in changes if each.mutation is None or each.mutation.id in drawn]


def _with_connections(target: Any) -> Any:
    """One target for all units where they can share its connections; the others count what each unit asks."""
    try:
        found = resolve(target)
    except PromptfuzzError:
        return target  # each unit that asks it says why it cannot be asked
    return found if hasattr(found, "held_connections") else target


def _kind_of(error: Exception, watch: Watch) -> tuple[str, str]:
    """Why a run has no answer; what was seen on the wire knows more than an SDK's error."""
    for fault in watch.unrecovered() if watch.faults else ():
        return fault.kind, fault.message
    if isinstance(error, TargetError):
        return error.kind, str(error)
    return "target-raised", f"{type(error).__name__}: {error}"


class _StudiedTarget(TargetEvaluation):
    """The evaluation of a unit."""

    def __init__(
        self,
        whole: _StudyRun,
        unit: StudyUnit,
        target: Any,
        settings: dict[str, Any],
        options: EvaluateOptions,
    ) -> None:
        inputs = delimited(unit.task.inputs, unit.model.prompting)
        given = inputs if inputs[0].values is not None else None
        options = options._replace(inputs=given, expected=None if given else inputs[0].expected)
        super().__init__(unit.task.prompt, target, settings, options, make=StudiedEvaluation, where="study")
        self._whole, self._unit = whole, unit
        self._answers, self._failed = False, set[int]()
        self._down: Callable[[], PromptfuzzError] | None = None
        self.studied.measures, self.studied.prices = unit.task.measures, whole.prices
        self.studied.planner = lambda _: whole.changes[unit.task.name]
        self.studied.drawn = whole.asked[unit.task.name]

    @property
    def studied(self) -> StudiedEvaluation:
        """The evaluation, whose golds and qualities are known once it is concluded."""
        return cast("StudiedEvaluation", self.evaluation)

    def _sent(self, prompt: Prompt) -> Prompt:
        """What is asked: the prompt, mutated or not, as the model is prompted."""
        task, model, _ = self._unit
        return prompted(super()._sent(prompt), model.prompting, task.examples, task.inputs)

    async def abody(self, prompt: Prompt) -> Any:
        """Ask the target, when there is a place among the calls that are made at once."""
        watch = watch_of_the_run()
        async with self._whole.calls_at_once:
            if self._down is not None and watch.settings.case not in self._failed:
                raise self._down()
            try:
                asked = self._held(prompt, watch) if self._unit.task.conversation else super().abody(prompt)
                answer = await asked
            except Exception as error:
                self._note(error, watch)
                raise
            else:
                self._answers, self._down = True, None
                return answer
            finally:
                if not watch.settings.sealed:  # the repeat run asks nothing
                    self._whole.answered(self._unit.task.turns)

    def _note(self, error: Exception, watch: Watch) -> None:
        """Note that an input has no answer, and that others would have none either."""
        if self._answers or (isinstance(error, PromptfuzzError) and not isinstance(error, TargetError)):
            return
        kind, said = _kind_of(error, watch)
        if kind == "budget":  # no call is made, and later inputs may have stored answers
            return
        self._failed.add(watch.settings.case)
        if kind in _OF_THE_MODEL:
            self._down = partial(TargetError, said, kind=kind)
        elif self._down is None and len(self._failed) >= MOST_FAILURES:
            self._down = partial(
                ConfigurationError,
                f"not asked, because the model answered none of {MOST_FAILURES} other inputs. The last error: {said}",
                kind=NOT_ASKED,
            )

    async def _held(self, prompt: Prompt, watch: Watch) -> Any:
        """Hold a conversation, each turn with the answers to those before it; returns the answer to the last."""
        messages, key = self._sent(prompt).messages, answer_key(watch)
        said: list[str] = []
        ends: list[int] = []
        while True:
            answer = await self._asker.aask(Prompt.from_messages(turn_requests(messages, said)))
            said.append(str(getattr(answer, "text", answer)))
            ends.append(len(watch.calls))
            if len(said) == self._unit.task.turns:
                self.studied.said[key], self.studied.ends[key] = said, ends
                return answer
