"""Makes the cells of a study's answers: grades them while the evaluation still knows them, and lays them out."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import ConfigurationError, PartError, TargetError, UsageError, without_test
from pytest_promptfuzz.evaluating.evaluation import Evaluation
from pytest_promptfuzz.evaluating.judge import as_before, promised_by
from pytest_promptfuzz.evaluating.phases.baseline import BaselineFailed
from pytest_promptfuzz.evaluating.phases.gold import gold_check
from pytest_promptfuzz.evaluating.session import Session
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.providers.requests import Usage
from pytest_promptfuzz.relay import relayed
from pytest_promptfuzz.running.limits.budget import Prices
from pytest_promptfuzz.storage.redaction import redact_text
from pytest_promptfuzz.studies.cells import (
    AGAIN,
    BASELINE,
    NOT_APPLICABLE,
    Cell,
    CellChange,
    CellGrades,
    CellSpending,
)
from pytest_promptfuzz.studies.conversations import first_changed_turn, turn_name
from pytest_promptfuzz.studies.judge_errors import JUDGED, judge_text
from pytest_promptfuzz.studies.measures import check_expected, measured_pair
from pytest_promptfuzz.studies.prompting import FACTOR, UNEDITED
from pytest_promptfuzz.studies.study import mutations_of
from pytest_promptfuzz.wire.calls import answers_kept_in
from pytest_promptfuzz.wording.sentences import sentence
from pytest_promptfuzz.wording.verdicts import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.cases import Case, Epoch, Steps
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.running.run import Run, Step
    from pytest_promptfuzz.studies.measures import QualityMeasure
    from pytest_promptfuzz.studies.study import PlannedChange, StudyModel
    from pytest_promptfuzz.wire.calls import Call
    from pytest_promptfuzz.wire.watch import Watch


RUN_SAMPLES = 1 << 20
"""How many samples of a prompt lie between two runs: more than an evaluation asks for."""
NO_PLACE = "no operator of this task finds a place in its prompt"
ASKS_EVERYTHING: Mapping[str, Any] = MappingProxyType(
    {"threshold": 0.0, "stop": "never", "shrink": 0, "controls": 0}
)
"""Settings of an evaluation that a study makes: the whole plan is asked, and nothing else."""
CHANGED = ("minor", "deviation")
"""Outcomes of answers whose content changed."""
_LONGEST_REASON = 200
NOT_ASKED = "not-asked"
"""The kind of the error of inputs that are not asked, since the model fails on all before them."""
_OF_ONE_INPUT = {"bad-request", "refused"}
"""How a model refuses an input, such as by a filter of contents; it may answer the next one."""


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


def answer_key(watch: Watch) -> tuple[int, str]:
    """Whose answer a run gives: its case and mutation; ``AGAIN`` for the second of the unmutated prompt."""
    settings = watch.settings
    second = settings.part.trial == "" and settings.repeat % RUN_SAMPLES == 1
    return settings.case, AGAIN if second else settings.part.trial


class ComparedAnswer(NamedTuple):
    """An answer, and how it compares with the unmutated prompt's first one."""

    outcome: str
    similarity: float | None
    reason: str
    value: Any


class StudiedEvaluation(Evaluation):
    """An evaluation that tells of each answer whether it is the expected one and how good, while it still knows them.

    Attributes:
        planner: Makes the changes of a prompt.
        changes: What it made, by prompt.
        golds: By case and mutation; of the unmutated prompt's second answer under ``AGAIN``.
        qualities: Likewise, what measures gave the unmutated prompt's answer and this one, of changed answers.
        second: The second answers of unmutated prompts, by case.
        took: What each answer took, by case and mutation, likewise.
        unmutated_failures: Why there is nothing to compare with, by case: other inputs are asked all the same.
        measures: The task's own.
        prices: Of models.
        drawn: By case, the mutations that are asked of it; empty where all are.
        said: The answers to the turns of conversations, by case and mutation.
        ends: Likewise, after how many calls each turn was answered.
        turns: Likewise, how turns before the last compare with the unmutated conversation's.
    """

    golds: dict[tuple[int, str], bool | None]
    qualities: dict[tuple[int, str], dict[str, tuple[float, float]]]
    second: dict[int, ComparedAnswer]
    turns: dict[tuple[int, str], list[ComparedAnswer | None]]
    planner: Callable[[Prompt], list[PlannedChange]]
    measures: Mapping[str, QualityMeasure] = MappingProxyType({})
    prices: Prices = Prices()
    drawn: Sequence[Sequence[Mutation]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.changes: dict[Prompt, list[PlannedChange]] = {}
        self.took: dict[tuple[int, str], list[CellSpending]] = {}
        self.said: dict[tuple[int, str], list[str]] = {}
        self.ends: dict[tuple[int, str], list[int]] = {}
        self.unmutated_failures: dict[int, str] = {}

    def check_expected(self, expected: Iterable[tuple[str, Any]]) -> None:
        """Refuse expected answers that measures cannot use."""
        for name, answer in expected:
            on = f" on input {name}" if name else ""
            check_expected(self.measures, answer, f"{self.settings.where}{on}")

    def case(self, prompt: Prompt, name: str = "", expected: Any = None) -> Steps:
        """The steps of one input, as of any evaluation. What keeps it from an answer is no matter of the others."""
        self.check_expected([(name, expected)])
        on = f" on input {name}" if name else ""
        number = len(self.findings.cases)
        try:
            yield from relayed(super().case(prompt, name, expected), self._noted)
        except BaselineFailed as failed:
            raised = failed.exception
            self.unmutated_failures[number] = (
                f"the unmutated prompt fails{on}: {in_a_line(f'{type(raised).__name__}: {raised}')}"
            )
        self.findings.overruled = None  # answers of two models: of this input

    def epoch(self, case: Case) -> Epoch:
        """As of any evaluation, with the mutations that were drawn for the case."""
        if self.drawn:
            case.planned = tuple(self.drawn[case.number])
        try:
            trials = yield from super().epoch(case)
        except ConfigurationError as error:
            if error.kind not in {NOT_ASKED, *_OF_ONE_INPUT}:
                raise
            said = without_test(str(error), self.settings.where)
            refused = Note.of("evaluations:no-baseline", name=case.name, message=said)
            why = said if error.kind == NOT_ASKED else refused
            self.unmutated_failures[case.number] = in_one_line(sentence(why))
            return case.abandoned("baseline-error", why)
        overruled = self.findings.overruled
        if overruled is not None:
            self.unmutated_failures[case.number] = in_one_line(explained(overruled))
            self.findings.overruled = None
        return trials

    def again(self) -> Steps:
        """What else is asked, as of any evaluation."""
        yield from relayed(super().again(), self._noted)

    def _noted(self, steps: list[Step]) -> Generator[list[Step], list[Run], list[Run]]:
        """Make runs, and note what their calls took."""
        runs = yield steps
        for run in runs:
            if not run.watch.settings.sealed:  # the repeat run asks nothing
                key, calls = answer_key(run.watch), run.watch.calls
                ends = self.ends.get(key, [len(calls)])
                parts = zip([0, *ends[:-1]], ends, strict=True)
                self.took[key] = [_spent(calls[begin:end], self.prices) for begin, end in parts]
        return runs

    def _planned(self, prompt: Prompt) -> tuple[tuple[Mutation, ...], tuple[Mutation, ...]]:
        if prompt not in self.changes:
            try:
                limited = prompt.limited(self.contract.plan.part)
            except UsageError as error:
                raise UsageError(f"{self.settings.where}: {error}") from None
            with answers_kept_in(self.session.store, self.session.gate):
                self.changes[prompt] = self.planner(limited)
        changes = self.changes[prompt]
        mutations = tuple(mutations_of(changes))
        if not mutations and all(each.operator != AGAIN for each in changes):
            raise UsageError(f"{self.settings.where}: {NO_PLACE}")
        return mutations, ()

    def conclude(self) -> Robustness:
        """The result over all cases."""
        self.golds, self.qualities = {}, {}
        ended = [case for case in self.findings.ended if case.value is not None or case.asked is not None]
        self.second = {case.number: found for case in ended if (found := _second_answer(case)) is not None}
        checks = {case.number: gold_check(case) for case in ended}
        for case in ended:
            self.golds[case.number, ""] = checks[case.number](case.value)
            if case.number in self.second:
                self.golds[case.number, AGAIN] = checks[case.number](self.second[case.number].value)
        for trial in self.findings.trials:
            if trial.case in checks and trial.outcome != "error":
                self.golds[trial.case, trial.id] = checks[trial.case](as_before(trial.mutation, trial.value))
        self._compare_turns()
        self._measure()  # before the judge is closed
        return super().conclude()

    def _compare_turns(self) -> None:
        """Hold the turns before the last against those of the unmutated conversation."""
        self.turns = {}
        mutations = {each.id: each.mutation for each in self.findings.trials}
        cases = {case.number: case for case in self.findings.ended}
        for (number, part), said in self.said.items():
            before = self.said.get((number, ""))
            if part and before is not None and number in cases:
                self.turns[number, part] = [
                    _compared(cases[number], one, other, mutations.get(part))
                    for one, other in zip(before[:-1], said[:-1], strict=True)
                ]

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


def _grades(case: Case, measures: Sequence[str], value: Any) -> dict[str, tuple[float, float]]:
    bench = case.bench
    pairs = (
        {}
        if bench is None
        else {each: (bench.grade(each, case.value), bench.grade(each, value)) for each in measures}
    )
    return {name: (one, two) for name, (one, two) in pairs.items() if one is not None and two is not None}


def _second_answer(case: Case) -> ComparedAnswer | None:
    asked = case.asked
    if asked is None or len(asked.answers.matrix.baseline) < 2:
        return None
    value = asked.answers.value(asked.answers.matrix.baseline[1])
    return None if value is None else _compared(case, case.value, value)


def _compared(case: Case, before: Any, value: Any, mutation: Mutation | None = None) -> ComparedAnswer | None:
    """How an answer compares with another one under what a mutation promises; ``None`` where nothing can tell."""
    if case.asked is None:
        return None
    seen, promised = (value, {}) if mutation is None else (as_before(mutation, value), promised_by(mutation))
    try:
        found = case.asked.judge.compare(before, seen, **promised)
    except (PartError, TargetError):
        return None
    return ComparedAnswer(found.outcome, found.similarity, found.reason, value)


# What answers took


def _spent(calls: Sequence[Call], prices: Prices) -> CellSpending:
    """What the calls of one answer took, when they were first answered; ``None`` for what one of them does not tell."""
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


# Cells


class CellFrame(NamedTuple):
    """What the cells of a unit share.

    Attributes:
        study: The study's name.
        task: The task's.
        model: The model's.
        target: Who is asked, without credentials; empty for who is not known before.
        parameters: Of its requests, a JSON object; empty for none.
        run: Which of the study's runs, from 0.
        group: Of the task's changes; empty where it follows from operators.
    """

    study: str
    task: str
    model: str
    target: str
    parameters: str
    run: int
    group: str = ""

    @classmethod
    def of(cls, study: str, task: str, model: StudyModel, run: int, group: str = "") -> CellFrame:
        """What the cells of a task share that a model is asked in a run."""
        parameters = dict(model.parameters)
        if model.prompting != UNEDITED:
            parameters[FACTOR] = model.prompting
        shown = json.dumps(parameters, sort_keys=True) if parameters else ""
        return cls(study, task, model.name, _named(model.target), shown, run, group)


class CellInput(NamedTuple):
    """An input of a unit: its name, its expected answer, and the changes of its prompt."""

    name: str
    expected: Any
    changes: Sequence[PlannedChange]


class UnitCells:
    """Makes the cells of one unit: a task, a model and a run.

    Args:
        frame: What they share.
        inputs: In the order of the evaluation's cases.
        turns: How many there are of a conversation; 1 for a prompt that is asked at once.
    """

    def __init__(self, frame: CellFrame, inputs: Sequence[CellInput], turns: int = 1) -> None:
        self.frame, self.inputs, self.turns = frame, inputs, turns

    def of(self, result: Robustness, studied: StudiedEvaluation) -> list[Cell]:
        """The cells of what was asked."""
        trials = {(each.case, each.id): each for each in result.trials}
        target = redact_text(result.target) or self.frame.target
        cells = [
            cell._replace(spent=cell.spent._replace(target=target))
            for number, given in enumerate(self.inputs)
            for cell in (
                self._baseline(number, given, result, studied),
                *(self._changed(number, given, change, trials, studied, result) for change in given.changes),
            )
        ]
        return self._with_judge(self._by_turn(cells, studied), studied)

    def _with_judge(self, cells: list[Cell], studied: StudiedEvaluation) -> list[Cell]:
        """The cells, with the judge of those that it decided."""
        settings = studied.contract.comparison
        if settings.judge is None:
            return cells
        measured = settings.judge_agreement
        errors = None if measured is None else measured.errors
        # People rate whether answers say the same; of any other relation the sheet tells nothing.
        others = {
            change.mutation.id
            for given in self.inputs
            for change in given.changes
            if change.mutation is not None and change.mutation.relation != "invariance"
        }
        name = settings.judge.name
        return [
            each._replace(
                grades=each.grades._replace(
                    judge=judge_text(name, None if each.change.mutation in others else errors)
                )
            )
            if each.reason == JUDGED
            else each
            for each in cells
        ]

    def _by_turn(self, cells: list[Cell], studied: StudiedEvaluation | None = None) -> list[Cell]:
        """The cells of a conversation: those of each turn, of which the given ones are the last."""
        if self.turns == 1:
            return cells
        last = [each._replace(task=turn_name(self.frame.task, self.turns)) for each in cells]
        made = mutations_of(change for given in self.inputs for change in given.changes)
        begins = {
            each.id: first_changed_turn(each.source, each.prompt) for each in made if each.source is not None
        }
        return [
            self._at(turn, each, studied, changed=turn >= begins.get(each.change.mutation, 1))
            for turn in range(1, self.turns)
            for each in cells
        ] + last

    def _at(self, turn: int, cell: Cell, studied: StudiedEvaluation | None, *, changed: bool) -> Cell:
        """The cell of a turn before the last; one before the first that is changed says nothing of the change."""
        name = turn_name(self.frame.task, turn)
        bare = cell._replace(task=name, gold=None, grades=CellGrades(), similarity=None, reason="")
        if not changed:
            kept = CellSpending(target=cell.spent.target)
            return bare._replace(outcome=NOT_APPLICABLE, answer="", error="", spent=kept)
        part = AGAIN if cell.operator == AGAIN else cell.change.mutation
        key = ([each.name for each in self.inputs].index(cell.input), part)
        said = None if studied is None else studied.said.get(key)
        if studied is None or said is None or cell.outcome in {"error", NOT_APPLICABLE}:
            return bare._replace(answer="", spent=CellSpending(target=cell.spent.target))
        spent = studied.took[key][turn - 1]._replace(target=cell.spent.target)
        bare = bare._replace(answer=said[turn - 1], spent=spent)
        if cell.outcome == BASELINE:
            return bare
        found = studied.turns[key][turn - 1]
        if found is None:
            return bare._replace(outcome="undecided")
        return bare._replace(outcome=found.outcome, similarity=found.similarity, reason=found.reason)

    def failed(self, why: str) -> list[Cell]:
        """The cells of a unit that could not be asked."""
        cells = [
            cell if cell.outcome == NOT_APPLICABLE else cell._replace(outcome="error", error=why)
            for given in self.inputs
            for cell in (self._empty(given, None), *(self._empty(given, change) for change in given.changes))
        ]
        return self._by_turn(cells)

    def _baseline(
        self, number: int, given: CellInput, result: Robustness, studied: StudiedEvaluation
    ) -> Cell:
        cell = self._empty(given, None)
        value = result.baselines[number] if number < len(result.baselines) else None
        if value is None:
            return cell._replace(outcome="error", error=_why(number, result, studied))
        return cell._replace(
            outcome=BASELINE,
            gold=studied.golds.get((number, "")),
            answer=_text(value),
            spent=_last(studied.took.get((number, ""))),
        )

    def _changed(
        self,
        number: int,
        given: CellInput,
        change: PlannedChange,
        trials: Mapping[tuple[int, str], Trial],
        studied: StudiedEvaluation,
        result: Robustness,
    ) -> Cell:
        cell = self._empty(given, change)
        if change.operator == AGAIN:
            return self._again(cell, number, studied)
        if change.mutation is None:
            return cell
        key = (number, change.mutation.id)
        trial = trials.get(key)
        if trial is None or number in studied.unmutated_failures:
            return cell._replace(outcome="error", error=_why(number, result, studied))
        return cell._replace(
            outcome=trial.outcome,
            similarity=trial.similarity,
            gold=studied.golds.get(key),
            grades=cell.grades._replace(quality=_json(studied.qualities.get(key))),
            reason=_reason(trial),
            answer=_text(trial.value),
            error="" if trial.error is None else f"{trial.error.kind}: {trial.error.message}",
            spent=_last(studied.took.get(key)),
        )

    def _again(self, cell: Cell, number: int, studied: StudiedEvaluation) -> Cell:
        found = studied.second.get(number)
        if found is None:
            why = studied.unmutated_failures.get(number, "the unmutated prompt has no second answer")
            return cell._replace(error=why)
        key = (number, AGAIN)
        return cell._replace(
            outcome=found.outcome,
            similarity=found.similarity,
            gold=studied.golds.get(key),
            grades=cell.grades._replace(quality=_json(studied.qualities.get(key))),
            reason=found.reason,
            answer=_text(found.value),
            spent=_last(studied.took.get(key)),
        )

    def _empty(self, given: CellInput, change: PlannedChange | None) -> Cell:
        """A cell that was not asked; it stays so where the change finds no place."""
        frame = self.frame
        mutation = None if change is None else change.mutation
        again = change is not None and change.operator == AGAIN
        return Cell(
            study=frame.study,
            task=frame.task,
            model=frame.model,
            parameters=frame.parameters,
            input=given.name,
            run=frame.run,
            change=CellChange()
            if change is None
            else CellChange(
                change.operator,
                "" if mutation is None else mutation.dimension,
                change.variant,
                "" if mutation is None else mutation.id,
                "" if mutation is None else frame.group,
            ),
            outcome=NOT_APPLICABLE if change is not None and mutation is None and not again else "error",
            spent=CellSpending(target=frame.target),
            grades=CellGrades(_text(given.expected)),
        )


def unasked_cells(frame: CellFrame, name: str, operators: Sequence[str], why: str) -> list[Cell]:
    """The cells of an input whose prompt was never known: errors, one for each operator."""
    changes = [CellChange(), *(CellChange(each) for each in operators)]
    unplaced = why.endswith(NO_PLACE)
    return [
        Cell(
            frame.study,
            frame.task,
            frame.model,
            frame.parameters,
            name,
            frame.run,
            each,
            NOT_APPLICABLE if unplaced and each.operator not in {"", AGAIN} else "error",
            error="" if unplaced and each.operator not in {"", AGAIN} else why,
            spent=CellSpending(target=frame.target),
        )
        for each in changes
    ]


def _named(target: Any) -> str:
    """Who is asked, as a file of cells may say it."""
    if target is None or isinstance(target, str):
        return redact_text(target or "")
    name = getattr(target, "name", None)
    return (
        redact_text(name) if isinstance(name, str) else f"function:{getattr(target, '__name__', 'function')}"
    )


def _last(spent: Sequence[CellSpending] | None) -> CellSpending:
    return spent[-1] if spent else CellSpending()


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json(qualities: Mapping[str, tuple[float, float]] | None) -> str:
    return json.dumps(qualities, sort_keys=True) if qualities else ""


def _reason(trial: Trial) -> str:
    """What decided an outcome: of a test that failed, what it says."""
    if trial.failure is not None:
        return f"oracle: {in_a_line(f'{trial.failure.type}: {trial.failure.message}')}"
    return "" if trial.comparison is None else trial.comparison.reason


def _why(number: int, result: Robustness, studied: StudiedEvaluation) -> str:
    return studied.unmutated_failures.get(number) or in_one_line(result.explanation)


def in_one_line(text: str) -> str:
    """A text as a cell shows it."""
    return " ".join(text.split())


def in_a_line(text: str) -> str:
    """The beginning of a text, as far as a cell shows it."""
    text = in_one_line(text)
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 1]}…"
