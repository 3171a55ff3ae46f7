"""Runs a study: asks its units at once, within the limits of a session, and returns their cells."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pytest_promptfuzz.errors import ConfigurationError, PartError, PromptfuzzError, TargetError, UsageError
from pytest_promptfuzz.evaluating.evaluate import (
    EvaluateOptions,
    TargetEvaluation,
    make_evaluation,
    watch_of_the_run,
)
from pytest_promptfuzz.evaluating.evaluation import Evaluation
from pytest_promptfuzz.evaluating.judge import as_before
from pytest_promptfuzz.evaluating.phases.baseline import BaselineFailed
from pytest_promptfuzz.evaluating.phases.gold import gold_check
from pytest_promptfuzz.evaluating.session import Session, installed_embedder, installed_entailment
from pytest_promptfuzz.providers.requests import Usage
from pytest_promptfuzz.running.batches import BatchCall
from pytest_promptfuzz.running.limits.budget import Prices, estimate, summed
from pytest_promptfuzz.studies.cells import (
    AGAIN,
    BASELINE,
    NOT_APPLICABLE,
    Cell,
    CellChange,
    CellGrades,
    CellSpending,
)
from pytest_promptfuzz.studies.measures import measured_pair
from pytest_promptfuzz.studies.prompting import FACTOR, ZERO_SHOT, delimited, prompted
from pytest_promptfuzz.studies.study import Study, StudyUnit, mutations_of, read_study, requests
from pytest_promptfuzz.targets.resolution import connected, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.cases import Case
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.studies.measures import QualityMeasure
    from pytest_promptfuzz.studies.study import PlannedChange
    from pytest_promptfuzz.wire.calls import Call
    from pytest_promptfuzz.wire.watch import Watch


CONCURRENCY = 16
RUN_SAMPLES = 1 << 20
"""How many samples of a prompt lie between two runs: more than an evaluation asks for."""
_ASKS_EVERYTHING = {"threshold": 0.0, "stop": "never", "shrink": 0, "controls": 0}


class StudyPrice(NamedTuple):
    """What a study costs before it is run.

    Attributes:
        calls: How many calls are made.
        stored: How many answers are in the store already.
        tokens: Of the requests that are made, about.
        low: US dollars at the least; ``None`` where the price of a model is not known.
        high: At the most, likewise.
    """

    calls: int
    stored: int
    tokens: int
    low: float | None
    high: float | None


def price_of(given: Study, session: Session, prices: Prices, shard: tuple[int, int] = (1, 1)) -> StudyPrice:
    """What a study, or a share of it, costs; nothing is asked.

    Raises:
        UsageError: A task, a model or a prompt of the study cannot be asked.
    """
    calls = stored = tokens = 0
    lows: list[float | None] = []
    highs: list[float | None] = []
    planned = {task.name: mutations_of(given.changes(task)) for task in given.tasks}
    for unit in given.units(shard):
        mutations = planned[unit.task.name]
        wires = requests(unit, mutations)
        if not wires:
            calls += len(unit.task.inputs) * (1 + len(mutations))
        ignore = _ignored(unit)
        calls += len(unit.task.inputs) if not wires and unit.task.asks_again else 0
        samples = [(wire, 0) for wire in wires]
        if unit.task.asks_again:
            samples += [(wire, 1) for wire in wires[:: 1 + len(mutations)]]
        for wire, sample in samples:
            call = BatchCall(wire, ignore, sample=unit.run * RUN_SAMPLES + sample)
            if session.store is not None and call.is_stored(session.store, session.redaction):
                stored += 1
                continue
            found = estimate(wire, prices)
            calls, tokens = calls + 1, tokens + found.tokens
            lows.append(found.low)
            highs.append(found.high)
    return StudyPrice(calls, stored, tokens, summed(lows), summed(highs))


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
    whole = given if isinstance(given, Study) else read_study(Path(given))
    return asyncio.run(_StudyRun(whole, session, concurrency, shard, prices or Prices(), progress).cells())


@dataclass(slots=True)
class RunSession(Session):
    """The session of one run of a study: it asks for answers of its own, and finds them in the store again."""

    run: int = 0

    @classmethod
    def of(cls, session: Session, run: int) -> RunSession:
        """A session like another one, for one run."""
        return cls(**{each.name: getattr(session, each.name) for each in fields(session)}, run=run)

    @property
    def first_sample(self) -> int:
        """The number of the first sample that is asked of each prompt."""
        return self.run * RUN_SAMPLES


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
        self.total = sum(
            len(task.inputs) * (1 + task.asks_again + len(mutations_of(self.changes[task.name])))
            for task, _, _ in self.units
        )
        self.targets: dict[str, Any] = {}
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

    def answered(self) -> None:
        """One more answer is there."""
        self._done += 1
        if self._progress is not None:
            self._progress(min(self._done, self.total), self.total)  # a baseline may be asked once more

    async def _unit(self, unit: StudyUnit) -> list[Cell]:
        task, model, run = unit
        changes = self.changes[task.name]
        rows = _UnitCells(self.study, unit, changes)
        mutations = mutations_of(changes)
        if not mutations:
            return rows.failed("no operator of this task finds a place in its prompt")
        session = RunSession.of(self.session, run)
        session.concurrency = self.concurrency
        settings = {**task.settings, **_ASKS_EVERYTHING, "mutations": mutations}
        settings["baseline_runs"] = 1 + task.asks_again
        options = EvaluateOptions(parameters=model.parameters or None, session=session)
        try:
            asking = _StudiedTarget(self, unit, self.targets[model.name], settings, options)
            result = await make_evaluation(asking)
        except UsageError:
            raise
        except (ConfigurationError, BaselineFailed) as error:
            return rows.failed(_in_a_line(error))
        return rows.of(result, asking)


def _with_connections(target: Any) -> Any:
    """One target for all units where they can share its connections; the others count what each unit asks."""
    try:
        found = resolve(target)
    except PromptfuzzError:
        return target  # each unit that asks it says why it cannot be asked
    return found if hasattr(found, "held_connections") else target


def _in_a_line(error: PromptfuzzError) -> str:
    return " ".join(str(error).split())


class AnsweredAgain(NamedTuple):
    """What the unmutated prompt was answered the second time, and how that compares with the first."""

    outcome: str
    similarity: float | None
    reason: str
    value: Any


class _StudiedEvaluation(Evaluation):
    """An evaluation that tells of each answer whether it is the expected one and how good, while it still knows them.

    Attributes:
        golds: By case and mutation; of the unmutated prompt's second answer under ``AGAIN``.
        qualities: Likewise, what measures gave the unmutated prompt's answer and this one, of changed answers.
        second: The second answers of unmutated prompts, by case.
        measures: The task's own.
    """

    golds: dict[tuple[int, str], bool | None]
    qualities: dict[tuple[int, str], dict[str, tuple[float, float]]]
    second: dict[int, AnsweredAgain]
    measures: Mapping[str, QualityMeasure] = MappingProxyType({})

    def conclude(self) -> Robustness:
        """The result over all cases."""
        self.golds, self.qualities = {}, {}
        self.second = {
            case.number: found for case in self.findings.ended if (found := _second_answer(case)) is not None
        }
        checks = {case.number: gold_check(case) for case in self.findings.ended}
        for case in self.findings.ended:
            self.golds[case.number, ""] = checks[case.number](case.value)
            if case.number in self.second:
                self.golds[case.number, AGAIN] = checks[case.number](self.second[case.number].value)
        for trial in self.findings.trials:
            if trial.case in checks and trial.outcome != "error":
                self.golds[trial.case, trial.id] = checks[trial.case](as_before(trial.mutation, trial.value))
        self._measure()  # before the judge is closed
        return super().conclude()

    def _measure(self) -> None:
        """Grade the answers whose content changed, and the unmutated prompt's beside them."""
        changed: dict[int, dict[str, Any]] = {}
        for trial in self.findings.trials:
            if trial.outcome in CHANGED:
                changed.setdefault(trial.case, {})[trial.id] = trial.value
        for number, found in self.second.items():
            if found.outcome in CHANGED:
                changed.setdefault(number, {})[AGAIN] = found.value
        from pytest_promptfuzz.judging.ratings import Grader

        graded = self.contract.comparison.quality
        for case in self.findings.ended:
            values = changed.get(case.number, {})
            if not values:
                continue
            if graded and case.bench is not None and isinstance(case.bench.judge, Grader):
                case.bench.grades(case.bench.judge, graded, [case.value, *values.values()])
            for name, value in values.items():
                self.qualities[case.number, name] = {
                    **_grades(case, graded, value),
                    **measured_pair(self.measures, case.expected, case.value, value),
                }


CHANGED = ("minor", "deviation")
"""Outcomes of answers whose content changed."""


def _grades(case: Case, measures: Sequence[str], value: Any) -> dict[str, tuple[float, float]]:
    bench = case.bench
    pairs = (
        {}
        if bench is None
        else {each: (bench.grade(each, case.value), bench.grade(each, value)) for each in measures}
    )
    return {name: (one, two) for name, (one, two) in pairs.items() if one is not None and two is not None}


def _second_answer(case: Case) -> AnsweredAgain | None:
    asked = case.asked
    if asked is None or len(asked.answers.matrix.baseline) < 2:
        return None
    value = asked.answers.value(asked.answers.matrix.baseline[1])
    if value is None:
        return None
    try:
        found = asked.judge.compare(case.value, value)
    except (PartError, TargetError):
        return None
    return AnsweredAgain(found.outcome, found.similarity, found.reason, value)


def _spent(watch: Watch, prices: Prices) -> CellSpending:
    """What the calls of one answer took, when they were first answered; ``None`` for what one of them does not tell."""
    calls = watch.calls
    usages = [Usage() if each.response is None else each.response.usage for each in calls]
    return CellSpending(
        None if (took := _sum([each.answered_in for each in calls])) is None else round(took, 6),
        _sum([each.input_tokens for each in usages]),
        _sum([each.output_tokens for each in usages]),
        _sum([_cost(call, usage, prices) for call, usage in zip(calls, usages, strict=True)]),
    )


def _cost(call: Call, usage: Usage, prices: Prices) -> float | None:
    price = prices.of(call.model, call.url)
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return price.cost(usage.input_tokens, usage.output_tokens)


def _sum(numbers: Sequence[Any]) -> Any:
    return None if not numbers or None in numbers else sum(numbers)


class _StudiedTarget(TargetEvaluation):
    """The evaluation of a unit, with what each of its answers took."""

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
        super().__init__(unit.task.prompt, target, settings, options, make=_StudiedEvaluation, where="study")
        self._whole, self._unit = whole, unit
        self.studied.measures = unit.task.measures
        self.took: dict[tuple[int, str], CellSpending] = {}

    @property
    def studied(self) -> _StudiedEvaluation:
        """The evaluation, whose golds and qualities are known once it is concluded."""
        return cast("_StudiedEvaluation", self.evaluation)

    def _sent(self, prompt: Prompt) -> Prompt:
        """What is asked: the prompt, mutated or not, as the model is prompted."""
        task, model, _ = self._unit
        return prompted(super()._sent(prompt), model.prompting, task.examples, task.inputs)

    async def abody(self, prompt: Prompt) -> Any:
        """Ask the target, when there is a place among the calls that are made at once."""
        watch = watch_of_the_run()
        async with self._whole.calls_at_once:
            try:
                return await super().abody(prompt)
            finally:
                settings = watch.settings
                if not settings.sealed:  # the repeat run asks nothing
                    second = settings.part.trial == "" and settings.repeat % RUN_SAMPLES == 1
                    part = AGAIN if second else settings.part.trial
                    self.took[settings.case, part] = _spent(watch, self._whole.prices)
                    self._whole.answered()


class _UnitCells:
    """Makes the cells of one unit."""

    def __init__(self, whole: Study, unit: StudyUnit, changes: Sequence[PlannedChange]) -> None:
        self.study, self.unit, self.changes = whole, unit, changes
        self.inputs = [each.cell_name for each in unit.task.inputs]
        self.expected = dict(
            zip(self.inputs, (_text(each.expected) for each in unit.task.inputs), strict=True)
        )

    def of(self, result: Robustness, asking: _StudiedTarget) -> list[Cell]:
        """The cells of what was asked."""
        trials = {(each.case, each.id): each for each in result.trials}
        return [
            cell
            for number, name in enumerate(self.inputs)
            for cell in (
                self._baseline(number, name, result, asking),
                *(self._changed(number, name, change, trials, asking, result) for change in self.changes),
            )
        ]

    def failed(self, why: str) -> list[Cell]:
        """The cells of a unit that could not be asked."""
        return [
            cell if cell.outcome == NOT_APPLICABLE else cell._replace(outcome="error", error=why)
            for name in self.inputs
            for cell in (self._empty(name, None), *(self._empty(name, change) for change in self.changes))
        ]

    def _baseline(self, number: int, name: str, result: Robustness, asking: _StudiedTarget) -> Cell:
        cell = self._empty(name, None)
        value = result.baselines[number] if number < len(result.baselines) else None
        if value is None:
            return cell._replace(outcome="error", error=_why(result))
        return cell._replace(
            outcome=BASELINE,
            gold=asking.studied.golds.get((number, "")),
            answer=_text(value),
            spent=asking.took.get((number, ""), CellSpending()),
        )

    def _changed(
        self,
        number: int,
        name: str,
        change: PlannedChange,
        trials: Mapping[tuple[int, str], Trial],
        asking: _StudiedTarget,
        result: Robustness,
    ) -> Cell:
        cell = self._empty(name, change)
        if change.operator == AGAIN:
            return self._again(cell, number, asking)
        if change.mutation is None:
            return cell
        key = (number, change.mutation.id)
        trial = trials.get(key)
        if trial is None:
            return cell._replace(outcome="error", error=_why(result))
        return cell._replace(
            outcome=trial.outcome,
            similarity=trial.similarity,
            gold=asking.studied.golds.get(key),
            grades=cell.grades._replace(quality=_json(asking.studied.qualities.get(key))),
            reason="" if trial.comparison is None else trial.comparison.reason,
            answer=_text(trial.value),
            error="" if trial.error is None else f"{trial.error.kind}: {trial.error.message}",
            spent=asking.took.get(key, CellSpending()),
        )

    def _again(self, cell: Cell, number: int, asking: _StudiedTarget) -> Cell:
        found = asking.studied.second.get(number)
        if found is None:
            return cell._replace(error="the unmutated prompt has no second answer")
        key = (number, AGAIN)
        return cell._replace(
            outcome=found.outcome,
            similarity=found.similarity,
            gold=asking.studied.golds.get(key),
            grades=cell.grades._replace(quality=_json(asking.studied.qualities.get(key))),
            reason=found.reason,
            answer=_text(found.value),
            spent=asking.took.get(key, CellSpending()),
        )

    def _empty(self, name: str, change: PlannedChange | None) -> Cell:
        """A cell that was not asked; it stays so where the change finds no place."""
        task, model, run = self.unit
        mutation = None if change is None else change.mutation
        again = change is not None and change.operator == AGAIN
        parameters = dict(model.parameters)
        if model.prompting != ZERO_SHOT:
            parameters[FACTOR] = model.prompting
        return Cell(
            study=self.study.name,
            task=task.name,
            model=model.name,
            parameters=json.dumps(parameters, sort_keys=True) if parameters else "",
            input=name,
            run=run,
            change=CellChange()
            if change is None
            else CellChange(
                change.operator,
                "" if mutation is None else mutation.dimension,
                change.variant,
                "" if mutation is None else mutation.id,
                "" if mutation is None else task.group,
            ),
            outcome=NOT_APPLICABLE if change is not None and mutation is None and not again else "error",
            grades=CellGrades(self.expected[name]),
        )


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json(qualities: Mapping[str, tuple[float, float]] | None) -> str:
    return json.dumps(qualities, sort_keys=True) if qualities else ""


def _why(result: Robustness) -> str:
    return " ".join(result.explanation.split())
