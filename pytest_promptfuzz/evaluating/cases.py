"""What the phases of an evaluation share: `Case`, `CaseAnswers`, `RunLedger`, `Findings`, `Refusals`."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import PartError, TargetError
from pytest_promptfuzz.evaluating.judge import (
    failed_by,
    infrastructure_error,
    refused,
    refused_each,
    shown,
    spent_by,
    subject_of,
)
from pytest_promptfuzz.evaluating.session import simulated_backend
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.results.trials import Spent, Trial
from pytest_promptfuzz.running.run import Step
from pytest_promptfuzz.stats.repeats import ALONE
from pytest_promptfuzz.stats.scores import CREDITS, Matrix
from pytest_promptfuzz.storage.recordings.entries import REFUSAL_SAMPLES
from pytest_promptfuzz.wire.calls import NOT_RECORDED
from pytest_promptfuzz.wire.watch import RunRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from pytest_promptfuzz.errors import NotRecordedError
    from pytest_promptfuzz.evaluating.contract import EvaluationSettings
    from pytest_promptfuzz.evaluating.judge import Baseline, Bench, TrialJudge
    from pytest_promptfuzz.evaluating.session import TestWatches
    from pytest_promptfuzz.history.snapshots import FormerSnapshot, Snapshot
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.counterexamples import Counterexample, KnownCounterexample, Replayed
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.stats.regressions import RunEvidence
    from pytest_promptfuzz.stats.repeats import RepeatEvidence, RepeatRequest
    from pytest_promptfuzz.stats.verdict import Judgement
    from pytest_promptfuzz.wire.watch import Watch

    Steps = Generator[list[Step], list[Run], None]
    Epoch = Generator[list[Step], list[Run], list[Trial]]


@dataclass(slots=True)
class RunLedger:
    """What the runs of an evaluation took, and what the person must know of them.

    Attributes:
        counts_runs: Whether a run is itself a call of the target.
        spent: On all runs.
        notes: What the reader must know.
        failures: What the body raised, by the ID of the trial.
        model: The model that answered first.
    """

    counts_runs: bool = False
    spent: Spent = field(default_factory=Spent)
    notes: list[Note | str] = field(default_factory=list)
    failures: dict[str, BaseException] = field(default_factory=dict)
    model: str = ""

    def count(self, run: Run, case: Case) -> None:
        """Note what a run took, and who answered it."""
        answered = case.count(run)
        self.model = self.model or answered
        self.spent += spent_by(run, counts_runs=self.counts_runs)
        self.notes.extend(run.watch.notes)

    def failed(self, trial: Trial, run: Run) -> None:
        """Keep what the body raised in the run of a trial, the first time that it did."""
        if trial.failure is not None and run.exception is not None:
            self.failures.setdefault(trial.id, run.exception)


@dataclass(slots=True)
class Case:
    """One case of an evaluation, one input or example: what is known of it alone, so that cases may take turns.

    Attributes:
        number: From 0, in the order in which they began.
        name: How the input is called; empty where inputs have no names.
        prompt: As it was given; where only the baseline shows what is mutated, it stands for that.
        settings: The evaluation's.
        watches: Of its runs.
        expected: The gold answer, as plain data; ``None`` where there is none.
        shown: The prompt where only the baseline's run showed it; ``None`` where it is the one that was given.
        planned: Its mutations, once they are known.
        controls: The controls that were asked though the test names none.
        unrecorded: Why there is no plan, where only the recording may be used. It is raised once the baseline has run,
            since what that asks, and is not recorded either, shows how the prompt differs.
        value: What the baseline came to, as plain data.
        bench: The judge at work on its answers; ``None`` for none.
        asked: Its answers, once there are some.
        models: By model as asked for, the models that answered.
        renewed: Whether everything was asked again, since two models had answered.
    """

    number: int
    name: str
    prompt: Prompt
    settings: EvaluationSettings
    watches: TestWatches
    expected: Any = None
    shown: Prompt | None = None
    planned: tuple[Mutation, ...] | None = None
    controls: tuple[Mutation, ...] = ()
    unrecorded: NotRecordedError | None = None
    value: Any = None
    bench: Bench | None = None
    asked: CaseAnswers | None = None
    models: dict[str, set[str]] = field(default_factory=dict)
    renewed: bool = False

    @property
    def unmutated(self) -> Prompt:
        """The whole prompt, unmutated."""
        return self.prompt if self.shown is None else self.shown

    @property
    def calls(self) -> int:
        """How many calls a run of the unmutated prompt makes."""
        if self.asked is None:
            return 0
        return len(self.asked.baseline.run.watch.calls) or int(self.settings.body.counts_runs)

    def watch(
        self,
        *,
        repeat: int = 0,
        control: bool = False,
        concurrent: bool = False,
        mutation: Mutation | None = None,
        spare: bool = False,
    ) -> Watch:
        """The watch of one run.

        Args:
            repeat: How often the same prompt was asked before.
            control: Serve what the baseline was answered, and refuse to ask anything else.
            concurrent: Whether other runs overlap this one.
            mutation: The trial's; ``None`` for the baseline.
            spare: Whether the verdict does without it.
        """
        settings = self.settings
        in_flight = None if settings.on_wire is None else settings.on_wire.in_flight(mutation)
        watch = self.watches.watch(
            RunRoute(in_flight=in_flight, simulated=simulated_backend(settings.simulated)),
            repeat=repeat,
            control=control,
            ignore=settings.contract.comparison.ignore,
            concurrent=concurrent,
            mutation=mutation,
            spare=spare,
        )
        watch.settings.case = self.number
        return watch

    def abandoned(self, kind: str, why: Note | str) -> list[Trial]:
        """The trials of a case whose baseline does not hold: none is worth its calls."""
        error = failed_by(kind, why)
        return [Trial(each, "error", error=error, case=self.number) for each in self.planned or ()]

    def count(self, run: Run) -> str:
        """Note which models answered a run; the name of the first."""
        first = ""
        for call in run.watch.calls:
            if call.response is not None and call.response.model:
                self.models.setdefault(call.model, set()).add(call.response.model)
                first = first or call.response.model
        return first


@dataclass(slots=True)
class Findings:
    """What an evaluation came to so far.

    Attributes:
        cases: Those that have begun, in order.
        ended: Those of them all of whose first runs were made, in order.
        trials: Of all cases.
        evidence: What repeated answers show.
        certain: Whether what was not asked could not have changed the outcomes' verdict.
        overruled: A judgement that stands whatever the trials say.
        oracle_only: Whether nothing is compared.
        task: How answers are compared, for reports.
        compared_calls: How many calls are compared, each with the one that asks the same; 0 where one answer is.
    """

    cases: list[Case] = field(default_factory=list)
    ended: list[Case] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    evidence: RepeatEvidence = ALONE
    certain: bool = True
    overruled: Judgement | None = None
    oracle_only: bool = False
    task: str = ""
    compared_calls: int = 0

    @property
    def names(self) -> list[str]:
        """How each case is called."""
        return [each.name for each in self.cases]

    @property
    def asked(self) -> list[CaseAnswers]:
        """The answers of each case that has some and is over."""
        return [each.asked for each in self.ended if each.asked is not None]

    @property
    def breaks(self) -> bool:
        """Whether there is anything to make smaller."""
        return any(each.outcome in {"deviation", "minor"} for each in self.trials)


@dataclass(slots=True)
class KnownCounterexamples:
    """The counterexamples of a test that were known before.

    Attributes:
        known: As they were kept.
        replayed: What became of those that were asked.
        decide: Whether one that still breaks is a find, so that it has to break twice.
    """

    known: Sequence[KnownCounterexample] = ()
    replayed: list[Replayed] = field(default_factory=list)
    decide: bool = False

    def has(self, name: str | None) -> bool:
        """Whether one has this ID."""
        return any(each.id == name for each in self.known)

    @property
    def breaking(self) -> list[Counterexample]:
        """Those that still break the answer, as they are today: a search for what breaks it needs no more."""
        return [each.now for each in self.replayed if each.status == "breaks" and each.now is not None]


# The answers of one case, by number, and what every two of them are to each other.


class _RunAnswer(NamedTuple):
    """What a run came to: what it is compared by, the same as plain data, and whether the body failed."""

    subject: Any
    value: Any
    failed: bool


@dataclass(slots=True)
class _Credits:
    """The credit of two answers by number, each pair of texts compared once.

    It knows nothing of the matrix that asks it, so that what a test leaves behind is gone with its last use.
    """

    judge: TrialJudge
    answers: list[_RunAnswer] = field(default_factory=list)
    _compared: dict[tuple[int, int], int | None] = field(default_factory=dict)

    def __call__(self, one: int, other: int) -> int | None:
        first, second = self.answers[one], self.answers[other]
        if first.failed != second.failed:
            return CREDITS["deviation"]
        if not self.by_text(one, other):
            return CREDITS["equivalent"] if first.value == second.value else CREDITS["deviation"]
        # Equal answers are many, and compared once.
        pair = (self._first_like(one), self._first_like(other))
        if pair not in self._compared:
            self._compared[pair] = CREDITS.get(self.compare(*pair))
        return self._compared[pair]

    def compare(self, one: int, other: int) -> str:
        """The outcome of two answers; ``error`` where a part of the user's own or a judge failed, as a trial says."""
        try:
            return self.judge.likeness(self.answers[one].subject, self.answers[other].subject)
        except (PartError, TargetError):
            return "error"

    def by_text(self, one: int, other: int) -> bool:
        """Whether two runs are compared by what they answered; otherwise one failed, or there is nothing to compare."""
        both = self.answers[one], self.answers[other]
        told = all(each.subject is not None for each in both) and not self.judge.oracle_only
        return told and both[0].failed == both[1].failed

    def _first_like(self, number: int) -> int:
        value = self.answers[number].value
        return next(place for place, each in enumerate(self.answers) if each.value == value)


class Answers:
    """Answers of one case, compared only where a score asks for a pair.

    Args:
        judge: Compares them.
        baseline: The run that shows which calls the others are matched with.

    Attributes:
        judge: As above.
        matrix: Their credits.
    """

    def __init__(self, judge: TrialJudge, baseline: Run) -> None:
        self.judge = judge
        self._baseline = baseline
        self._credits = _Credits(judge)
        self.matrix = Matrix(self._credits)

    def add(self, run: Run, trial: Trial | None = None) -> int:
        """The number of the answer of a run; what was compared is known from its trial."""
        subject = None if self.judge.oracle_only else subject_of(run, self.judge.where, self._baseline)
        answers = self._credits.answers
        compared = trial is not None and trial.comparison is not None
        value = trial.value if trial is not None and compared else shown(subject)
        answers.append(_RunAnswer(subject, value, run.exception is not None))
        return len(answers) - 1

    def value(self, number: int) -> Any:
        """An answer as plain data; ``None`` where nothing is compared."""
        return self._credits.answers[number].value

    def aside(self, hide: Callable[[Any], Any]) -> Answers:
        """The same answers as they would be stored, compared without asking a judge."""
        other = Answers(replace(self.judge, bench=None), self._baseline)
        for each in self._credits.answers:
            value = hide(each.value)
            same = value == each.value
            other._credits.answers.append(_RunAnswer(each.subject if same else value, value, each.failed))
        return other

    def stored(self, value: Any, *, failed: bool) -> int:
        """The number of an answer that was stored as plain data."""
        self._credits.answers.append(_RunAnswer(value, value, failed))
        return len(self._credits.answers) - 1

    def between(self, one: int, other: int) -> int | None:
        """The credit of two answers, the first of which is what the other is compared with, in tenths."""
        return self._credits(one, other)

    def held(self) -> list[int]:
        """The answers to the unmutated prompt in whose runs the body did not fail; all where each failed."""
        return [each for each in self.matrix.baseline if not self.failed([each])] or self.matrix.baseline

    def failed(self, numbers: Iterable[int]) -> int:
        """In how many of these runs the body failed."""
        return sum(self._credits.answers[number].failed for number in numbers)

    def ahead(self) -> None:
        """Have a judge asked at once about all pairs that a look at the answers asks for."""
        bench = self.judge.bench
        if bench is None or self.judge.oracle_only:
            return
        matrix = self.matrix
        again = [*matrix.baseline, *(each for answers in matrix.repeated.values() for each in answers)]
        pairs = [*combinations(sorted(again), 2)]
        pairs += [(one, other) for one in matrix.baseline for answers in matrix.mutated for other in answers]
        with bench.ahead():
            for one, other in pairs:
                if self._credits.by_text(one, other):
                    self._credits.compare(one, other)


# What a model refused (HTTP 400), and whether the mutation is to blame.


_ASKED_AGAIN = 2  # times, before a refusal is taken for the mutation's doing
_ANSWERED = Note.of("trials:answered-again")


@dataclass(slots=True)
class Refusals:
    """What a model refused in a case, and what of it is the mutations' doing.

    Attributes:
        unmutated: How it refused the unmutated prompt when that was asked again; empty where it did not.
        trials: The IDs of the mutations whose requests were refused.
        caused: Those of them that are known to be what it refuses: each was refused whenever it was asked, and the
            unmutated prompt was answered.
        doubted: Why a refusal may not be a mutation's doing, by the mutation's ID.
    """

    unmutated: str = ""
    trials: set[str] = field(default_factory=set)
    caused: set[str] = field(default_factory=set)
    doubted: dict[str, Note] = field(default_factory=dict)
    _doubts: int = 0

    def open(self, made: Iterable[tuple[Mutation, Run]]) -> list[tuple[Mutation | None, int]]:
        """The runs that tell whether mutations are what a model refuses: each twice more, then the unmutated prompt.

        Twice in a row: a provider that refuses every second or third request would else seem to refuse the mutation.

        Returns:
            Of each run its mutation, and how often the same was asked before.
        """
        pairs = [pair for pair in made if pair[0].id not in self.caused and pair[0].id not in self.doubted]
        told = refused_each([run for _, run in pairs])
        refusing = {each.id for (each, _), why in zip(pairs, told, strict=True) if why}
        for (mutation, _), why in zip(pairs, told, strict=True):
            if not why and mutation.id in refusing:
                self.doubted[mutation.id] = _ANSWERED
        asked = {each.id: each for each, _ in pairs if each.id in refusing - self.doubted.keys()}
        if not asked:
            return []
        every = (*itertools.product(asked.values(), range(_ASKED_AGAIN)), (None, 0))
        found = [(each, REFUSAL_SAMPLES + self._doubts + nth) for each, nth in every]
        self._doubts += _ASKED_AGAIN
        return found

    def settle(self, made: Sequence[tuple[Mutation | None, Run]]) -> None:
        """What those runs tell. What a replay does not have was found out when it was recorded."""
        why: Note | None = None
        for mutation, run in reversed(made):  # the unmutated prompt's is the last
            recorded = not any(fault.kind == NOT_RECORDED for fault in run.watch.faults)
            error = infrastructure_error(run, caused=mutation is not None) if recorded else None
            if mutation is None and error is not None:
                is_refused = error.kind == "bad-request"
                why = Note.of("trials:unmutated-failed", message=error.message, refused=is_refused)
            elif mutation is not None and error is not None:
                self.doubted[mutation.id] = Note.of("trials:failed-otherwise", message=error.message)
            elif mutation is not None and recorded and not refused(run):
                self.doubted[mutation.id] = _ANSWERED
            elif mutation is not None and why is not None:
                self.doubted[mutation.id] = why
            elif mutation is not None:
                self.caused.add(mutation.id)
        self.caused -= self.doubted.keys()

    def explained(self, trial: Trial) -> Trial:
        """A trial, with why its refusal may not be its mutation's doing."""
        why = self.doubted.get(trial.mutation.id)
        if trial.error is None or trial.error.kind != "bad-request" or why is None:
            return trial
        doubted = Note.of("trials:refusal-doubted", message=trial.error.message, why=why)
        return replace(trial, error=failed_by("bad-request", doubted))


@dataclass(slots=True)
class CaseAnswers:
    """What was asked in a case, and what came of it.

    Attributes:
        case: The case.
        baseline: What trials are compared with.
        judge: Makes trials of runs.
        concurrent: Whether runs may overlap.
        runs: How often the unmutated prompt is asked with the plan, the baseline's own run counted.
        answers: What was answered.
        trials: What was asked again, by mutation.
        lost: Why runs that would have told noise from change have no answer.
        mutations: Those whose answers are held against the floor, as they stand in the matrix.
        waiting: Mutations of the plan that were not asked yet, in their order.
        refusals: What a model refused.
        controlled: Whether the time of the controls that the test does not name has come.
    """

    case: Case
    baseline: Baseline
    judge: TrialJudge
    concurrent: bool = False
    runs: int = 1
    answers: Answers = field(init=False)
    trials: dict[str, list[Trial]] = field(default_factory=dict)
    lost: list[Note | str] = field(default_factory=list)
    mutations: list[Mutation] = field(default_factory=list)
    waiting: list[Mutation] = field(default_factory=list)
    refusals: Refusals = field(default_factory=Refusals)
    controlled: bool = False
    _begun: bool = False
    _repeats: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.answers = Answers(self.judge, self.baseline.run)
        self.answers.matrix.baseline.append(self.answers.add(self.baseline.run))
        if self.baseline.again is not None:
            self._sampled(self.baseline.again)

    @property
    def prompt(self) -> Prompt:
        """Unmutated, as it is given to the body."""
        return self.case.prompt

    @property
    def samples(self) -> int:
        """How often each mutation is asked."""
        return self.case.settings.contract.plan.samples

    @property
    def before(self) -> int:
        """How many runs of the unmutated prompt come before the next mutations."""
        return 0 if self._begun else max(0, self.runs - len(self.answers.matrix.baseline))

    def planned(self, mutations: Sequence[Mutation]) -> list[Step]:
        """Runs of the plan: the unmutated prompt as often as is wanted, the first time, then these mutations."""
        more = [self._step(None, repeat) for repeat in range(1, 1 + self.before)]
        return more + [
            self._step(mutation, sample) for mutation in mutations for sample in range(self.samples)
        ]

    def judged(self, mutations: Sequence[Mutation], runs: Sequence[Run]) -> list[Trial]:
        """The trials of those runs, in order."""
        before = self.before
        self._begun = True
        repeats, runs = runs[:before], runs[before:]
        for run in repeats:
            self._sampled(run)
        pairs = [(mutation, sample) for mutation in mutations for sample in range(self.samples)]
        made = [(run, each) for (each, _), run in zip(pairs, runs, strict=True)]
        self.judge.ahead(made, self.baseline, repeats, caused=self.refusals.caused)
        judged = self.judge.trials(made, self.baseline, case=self.case.number, caused=self.refusals.caused)
        trials = [
            replace(self.refusals.explained(trial), sample=sample)
            for (_, sample), trial in zip(pairs, judged, strict=True)
        ]
        refusals = refused_each(runs)
        self.refusals.trials |= {each.id for (each, _), why in zip(pairs, refusals, strict=True) if why}
        for place, mutation in enumerate(mutations):
            part = slice(place * self.samples, (place + 1) * self.samples)
            told = [
                (run, trial)
                for run, trial in zip(runs[part], trials[part], strict=True)
                if trial.outcome != "error"
            ]
            if mutation.relation == "invariance" and told:  # only it is held against the floor
                self.mutations.append(mutation)
                self.answers.matrix.mutated.append([self.answers.add(*each) for each in told])
        return trials

    def steps(self, wanted: RepeatRequest) -> list[tuple[Step, Mutation | None]]:
        """The runs that are wanted of this case, each with its mutation."""
        mutation = None if wanted.mutation is None else self.mutations[wanted.mutation]
        key, before = ("", self.runs) if mutation is None else (mutation.id, self.samples)
        first = self._repeats.get(key, before)
        self._repeats[key] = first + wanted.count
        return [(self._step(mutation, first + each), mutation) for each in range(wanted.count)]

    def once_more(self, place: int, count: int) -> list[Step]:
        """So many more runs of a mutation, by its place among those held against the floor."""
        mutation = self.mutations[place]
        first = self._repeats.get(mutation.id, self.samples)
        self._repeats[mutation.id] = first + count
        return [self._step(mutation, first + each) for each in range(count)]

    def unmutated(self, count: int) -> list[Step]:
        """So many more runs of the unmutated prompt, which the verdict does without."""
        first = self._repeats.get("", max(self.runs, len(self.answers.matrix.baseline)))
        self._repeats[""] = first + count
        return [self._step(None, first + each, spare=True) for each in range(count)]

    def unmutated_answers(
        self, hide: Callable[[Any], Any], later: Iterable[Any] = ()
    ) -> list[tuple[Any, int]]:
        """What was answered to the unmutated prompt, as plain data, each answer with how often it came.

        Args:
            hide: Takes out of an answer what is not stored.
            later: What was answered beside that, when the verdict did without it.
        """
        if self.judge.oracle_only:
            return []
        found: dict[str, tuple[Any, int]] = {}
        first = [hide(self.answers.value(number)) for number in self.answers.held()]
        for value in (*first, *later):
            key = json.dumps(value, sort_keys=True)
            found[key] = value, found[key][1] + 1 if key in found else 1
        return [*found.values()]

    def answered(self, run: Run) -> bool:
        """Whether a run of the unmutated prompt has an answer."""
        return not self._nothing(run, unmutated=True)

    def apart(self, mutation: Mutation) -> Step:
        """A run of a mutation of no plan, or of one of the plan once more, which the verdict does without."""
        planned = next((each for each in self.case.planned or () if each.text == mutation.text), None)
        key, before = (mutation.text, 0) if planned is None else (planned.id, self.samples)
        repeat = self._repeats.get(key, before)
        self._repeats[key] = repeat + 1
        return self._step(mutation, repeat, spare=True)

    def afresh(self) -> None:
        """What was asked apart is no part of the plan: its repeats begin with the first ones again.

        Otherwise a run that replays a counterexample would want more answers than the run that found it recorded.
        """
        for mutation in self.case.planned or ():
            self._repeats.pop(mutation.id, None)

    def control(self, mutation: Mutation) -> Step:
        """A run of a control that the test does not name: once, whatever ``samples`` says."""
        step = self._step(mutation, 0)
        step.watch.settings.part = step.watch.settings.part._replace(unscored=True)
        return step

    def ahead(self, runs: Sequence[tuple[Mutation | None, Run]]) -> None:
        """Those runs were made: what judging them needs of models is asked at once."""
        self.judge.ahead(
            [(run, mutation) for mutation, run in runs if mutation is not None],
            self.baseline,
            [run for mutation, run in runs if mutation is None],
            caused=self.refusals.caused,
        )

    def ran(self, mutation: Mutation | None, run: Run) -> None:
        """One of those runs was made."""
        if mutation is None:
            self._sampled(run)
            return
        trial, why = self._again(mutation, run)
        if why:
            self.lost.append(why)
            return
        place = self.mutations.index(mutation)
        self.answers.matrix.repeated.setdefault(place, []).append(self.answers.add(run))
        self.trials.setdefault(mutation.id, []).append(trial)

    def answered_again(self, mutation: Mutation, run: Run) -> Trial | None:
        """The trial of one more run of a mutation, which the verdict does without; ``None`` if it has no answer."""
        trial, why = self._again(mutation, run)
        if why:
            return None
        self.trials.setdefault(mutation.id, []).append(trial)
        return trial

    def _again(self, mutation: Mutation, run: Run) -> tuple[Trial, Note | str]:
        """The trial of one more run, and why it has no answer."""
        trial = self.trial(mutation, run)
        return trial, self._nothing(run) or (trial.error.message if trial.error is not None else "")

    def _step(self, mutation: Mutation | None, repeat: int, *, spare: bool = False) -> Step:
        prompt = self.prompt if mutation is None else mutation.prompt
        watch = self.case.watch(repeat=repeat, concurrent=self.concurrent, mutation=mutation, spare=spare)
        return Step(prompt, watch, self.case.number)

    def trial(self, mutation: Mutation, run: Run) -> Trial:
        """What a run of a mutation shows."""
        caused = mutation.id in self.refusals.caused
        return self.refusals.explained(
            self.judge.trial(
                run, mutation, mutation.prompt, self.baseline, case=self.case.number, caused=caused
            )
        )

    def _sampled(self, run: Run) -> None:
        why = self._nothing(run, unmutated=True)
        self.refusals.unmutated = self.refusals.unmutated or refused(run)
        if why:
            self.lost.append(why)
        else:
            self.answers.matrix.baseline.append(self.answers.add(run))

    def doubts(self, made: Iterable[tuple[Mutation, Run]]) -> list[tuple[Step, Mutation | None]]:
        """The runs that tell whether mutations are what a model refuses.

        Nothing that is stored serves them: only what a provider says now tells whether the account, say, is to blame.
        """
        found: list[tuple[Step, Mutation | None]] = []
        for mutation, repeat in self.refusals.open(made):
            step = self._step(mutation, repeat)
            step.watch.settings.store = None
            found.append((step, mutation))
        return found

    def _nothing(self, run: Run, *, unmutated: bool = False) -> Note | str:
        """Why a run has no answer: it is not recorded, was skipped, or failed on the wire; empty where it has one."""
        if any(fault.kind == NOT_RECORDED for fault in run.watch.faults):
            return Note.of("evaluations:not-recorded")
        if run.exception is not None and self.judge.body.skips(run.exception):
            return Note.of("evaluations:body-skipped", reason=run.exception)
        error = infrastructure_error(run, caused=not unmutated)
        return "" if error is None else error.message


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(slots=True)
class Accepted:
    """What was accepted of a test.

    Attributes:
        snapshot: It; ``None`` where there is none, or none was found yet.
        former: Gives the snapshots of tests with another name, those likest to this test first. One that asks the same
            is this test's under its former name, if there is no other.
        asks: Told whether the test still asks what its own snapshot says.
        moved: Which of those is its snapshot; ``None`` where none is.
        unread: Whether there is one that cannot be used.
        updates: Whether this run writes snapshots: it asks no more than it stores.
        hide: Takes what is not stored out of an answer.
        told: What today's answers are beside those that were accepted; ``None`` where they were not compared.
        untold: Why nothing can be told of them; ``None`` where it can.
        minor: Whether an answer of today is only a minor variation of what was accepted.
        shown: The input that differs most, what was accepted of it, and what it is answered today.
    """

    snapshot: Snapshot | None = None
    former: Callable[[], Sequence[Sequence[FormerSnapshot]]] = tuple
    asks: Callable[[bool], None] = _as_it_is
    moved: FormerSnapshot | None = None
    unread: bool = False
    updates: bool = False
    hide: Callable[[Any], Any] = _as_it_is
    told: RunEvidence | None = None
    untold: Note | str | None = None
    minor: bool = False
    shown: tuple[int, Any, Any] | None = None

    @property
    def too_few(self) -> bool:
        """Whether nothing is claimed since so few answers are known; what nobody can compare is said as drift is."""
        return self.untold is not None and self.told is not None and not self.told.undecided
