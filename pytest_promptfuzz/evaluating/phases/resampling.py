"""Asking again before a test fails: the runs that ``scoring.repeats`` wants, and what came of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import PartError, TargetError
from pytest_promptfuzz.evaluating.judge import infrastructure_error, refused, shown, subject_of
from pytest_promptfuzz.results.trials import TrialError, cluster
from pytest_promptfuzz.running.run import Step
from pytest_promptfuzz.stats.repeats import LOOKS, RepeatEvidence, escalate, known
from pytest_promptfuzz.stats.scores import CREDITS, EQUIVALENT_CREDIT, Matrix
from pytest_promptfuzz.wire.calls import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from pytest_promptfuzz.evaluating.job import Case, Job
    from pytest_promptfuzz.evaluating.judge import Baseline, TrialJudge
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.stats.repeats import RepeatRequest


# The answers of one case, by number, and what every two of them are to each other.


@dataclass(frozen=True, slots=True)
class _RunAnswer:
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

    def add(self, run: Run) -> int:
        """The number of the answer of a run."""
        subject = None if self.judge.oracle_only else subject_of(run, self.judge.where, self._baseline)
        answers = self._credits.answers
        answers.append(_RunAnswer(subject, shown(subject), run.exception is not None))
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


_LOOKED_AT_BY_JUDGES = 8
_DOUBTS = 1 << 16  # repeats of runs that only tell what was refused: no other run has as many before it
_ASKED_AGAIN = 2  # times, before a refusal is taken for the mutation's doing
_ANSWERED = "It was answered when it was asked again."


@dataclass(slots=True)
class CaseAnswers:
    """What was asked in a case, and what came of it.

    Attributes:
        case: The case.
        prompt: Unmutated.
        baseline: What trials are compared with.
        judge: Makes trials of runs.
        concurrent: Whether runs may overlap.
        runs: How often the unmutated prompt is asked with the plan, the baseline's own run counted.
        samples: How often each mutation is.
        answers: What was answered.
        trials: What was asked again, by mutation.
        lost: Why runs that would have told noise from change have no answer, one sentence each.
        mutations: Those whose answers are held against the floor, as they stand in the matrix.
        waiting: Mutations of the plan that were not asked yet, in their order.
        refused: How a model refused the unmutated prompt when it was asked again (HTTP 400); empty where none did.
        refusals: The trials of mutations whose requests were refused, by ID.
        caused: The mutations that are known to be what a model refuses, by ID: each was refused whenever it was asked,
            and the unmutated prompt was answered.
        doubted: Why a refusal may not be a mutation's doing, by the mutation's ID.
        controlled: Whether the time of the controls that the test does not name has come.
    """

    case: Case
    prompt: Prompt
    baseline: Baseline
    judge: TrialJudge
    concurrent: bool = False
    runs: int = 1
    samples: int = 1
    answers: Answers = field(init=False)
    trials: dict[str, list[Trial]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    mutations: list[Mutation] = field(default_factory=list)
    waiting: list[Mutation] = field(default_factory=list)
    refused: str = ""
    refusals: set[str] = field(default_factory=set)
    caused: set[str] = field(default_factory=set)
    doubted: dict[str, str] = field(default_factory=dict)
    controlled: bool = False
    _begun: bool = False
    _doubts: int = 0
    _repeats: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.answers = Answers(self.judge, self.baseline.run)
        self.answers.matrix.baseline.append(self.answers.add(self.baseline.run))
        if self.baseline.again is not None:
            self._sampled(self.baseline.again)

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
        self.judge.ahead(made, self.baseline, repeats, caused=self.caused)
        trials = [
            replace(self.trial(mutation, run), sample=sample)
            for (mutation, sample), run in zip(pairs, runs, strict=True)
        ]
        self.refusals |= {mutation.id for (mutation, _), run in zip(pairs, runs, strict=True) if refused(run)}
        for place, mutation in enumerate(mutations):
            part = slice(place * self.samples, (place + 1) * self.samples)
            told = [
                run for run, trial in zip(runs[part], trials[part], strict=True) if trial.outcome != "error"
            ]
            if mutation.relation == "invariance" and told:  # only it is held against the floor
                self.mutations.append(mutation)
                self.answers.matrix.mutated.append([self.answers.add(run) for run in told])
        return trials

    def steps(self, wanted: RepeatRequest) -> list[tuple[Step, Mutation | None]]:
        """The runs that are wanted of this case, each with its mutation."""
        mutation = None if wanted.mutation is None else self.mutations[wanted.mutation]
        key, before = ("", self.runs) if mutation is None else (mutation.id, self.samples)
        first = self._repeats.get(key, before)
        self._repeats[key] = first + wanted.count
        return [(self._step(mutation, first + each), mutation) for each in range(wanted.count)]

    def unmutated(self, count: int) -> list[Step]:
        """So many more runs of the unmutated prompt, which the verdict does without."""
        first = self._repeats.get("", max(self.runs, len(self.answers.matrix.baseline)))
        self._repeats[""] = first + count
        return [self._step(None, first + each, spare=True) for each in range(count)]

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

    def control(self, mutation: Mutation) -> Step:
        """A run of a control that the test does not name: once, whatever ``samples`` says."""
        step = self._step(mutation, 0)
        step.watch.settings.part = replace(step.watch.settings.part, unscored=True)
        return step

    def ahead(self, runs: Sequence[tuple[Mutation | None, Run]]) -> None:
        """Those runs were made: what judging them needs of models is asked at once."""
        self.judge.ahead(
            [(run, mutation) for mutation, run in runs if mutation is not None],
            self.baseline,
            [run for mutation, run in runs if mutation is None],
            caused=self.caused,
        )

    def ran(self, mutation: Mutation | None, run: Run) -> None:
        """One of those runs was made."""
        if mutation is None:
            self._sampled(run)
            return
        trial = self.trial(mutation, run)
        why = self._nothing(run) or (trial.error.message if trial.error is not None else "")
        if why:
            self.lost.append(why)
            return
        place = self.mutations.index(mutation)
        self.answers.matrix.repeated.setdefault(place, []).append(self.answers.add(run))
        self.trials.setdefault(mutation.id, []).append(trial)

    def _step(self, mutation: Mutation | None, repeat: int, *, spare: bool = False) -> Step:
        prompt = self.prompt if mutation is None else mutation.prompt
        watch = self.case.watch(repeat=repeat, concurrent=self.concurrent, mutation=mutation, spare=spare)
        return Step(prompt, watch, self.case.number)

    def trial(self, mutation: Mutation, run: Run) -> Trial:
        """What a run of a mutation shows."""
        trial = self.judge.trial(
            run,
            mutation,
            mutation.prompt,
            self.baseline,
            case=self.case.number,
            caused=mutation.id in self.caused,
        )
        why = self.doubted.get(mutation.id)
        if trial.error is None or trial.error.kind != "bad-request" or why is None:
            return trial
        return replace(trial, error=TrialError("bad-request", f"{trial.error.message} {why}"))

    def _sampled(self, run: Run) -> None:
        why = self._nothing(run, unmutated=True)
        self.refused = self.refused or refused(run)
        if why:
            self.lost.append(why)
        else:
            self.answers.matrix.baseline.append(self.answers.add(run))

    def doubts(self, made: Iterable[tuple[Mutation, Run]]) -> list[tuple[Step, Mutation | None]]:
        """The runs that tell whether mutations are what a model refuses: each twice more, then the unmutated prompt.

        Twice in a row: a provider that refuses every second or third request would else seem to refuse the mutation.

        Nothing that is stored serves them: only what a provider says now tells whether the account, say, is to blame.
        """
        made = [
            (each, run) for each, run in made if each.id not in self.caused and each.id not in self.doubted
        ]
        for mutation, run in made:
            if not refused(run) and any(refused(other) for each, other in made if each.id == mutation.id):
                self.doubted[mutation.id] = _ANSWERED
        asked = {each.id: each for each, run in made if refused(run) and each.id not in self.doubted}
        if not asked:
            return []
        found: list[tuple[Step, Mutation | None]] = []
        for each, nth in (*itertools.product(asked.values(), range(_ASKED_AGAIN)), (None, 0)):
            step = self._step(each, _DOUBTS + self._doubts + nth)
            step.watch.settings.store = None
            found.append((step, each))
        self._doubts += _ASKED_AGAIN
        return found

    def settle(self, made: Sequence[tuple[Mutation | None, Run]]) -> None:
        """What those runs tell. What a replay does not have was found out when it was recorded."""
        why = ""
        for mutation, run in reversed(made):  # the unmutated prompt's is the last
            recorded = not any(fault.kind == NOT_RECORDED for fault in run.watch.faults)
            error = infrastructure_error(run, caused=mutation is not None) if recorded else None
            if mutation is None and error is not None:
                kind = "refused" if error.kind == "bad-request" else "not answered"
                why = f"The unmutated prompt, asked again, was {kind} as well: {error.message}"
            elif mutation is not None and error is not None:
                self.doubted[mutation.id] = f"Asked again, it got another error: {error.message}"
            elif mutation is not None and recorded and not refused(run):
                self.doubted[mutation.id] = _ANSWERED
            elif mutation is not None and why:
                self.doubted[mutation.id] = why
            elif mutation is not None:
                self.caused.add(mutation.id)
        self.caused -= self.doubted.keys()

    def _nothing(self, run: Run, *, unmutated: bool = False) -> str:
        """Why a run has no answer: it is not recorded, was skipped, or failed on the wire; empty where it has one."""
        if any(fault.kind == NOT_RECORDED for fault in run.watch.faults):
            return "no more is recorded"
        if run.exception is not None and self.judge.skips(run.exception):
            return f"the body skipped: {run.exception}"
        error = infrastructure_error(run, caused=not unmutated)
        return "" if error is None else error.message


def confirming(
    job: Job, asked: CaseAnswers, made: Iterable[tuple[Mutation, Run]]
) -> Generator[list[Step], list[Run], int]:
    """Ask again what a model refused, and the unmutated prompt: is the mutation what it refuses?

    Returns:
        How many runs that took.
    """
    doubts = asked.doubts(made)
    if not doubts:
        return 0
    runs = yield [step for step, _ in doubts]
    for run in runs:
        job.count(run, asked.case)
    asked.settle([(mutation, run) for (_, mutation), run in zip(doubts, runs, strict=True)])
    return len(runs)


def credited(cases: Sequence[CaseAnswers], evidence: RepeatEvidence) -> dict[str, tuple[str, float]]:
    """By mutation, its operators and mean credit with all unmutated answers; nothing where the floor is not known."""
    if not evidence.floor:
        return {}
    found: dict[str, list[float]] = {}
    operators: dict[str, str] = {}
    for case in cases:
        matrix = case.answers.matrix
        for mutation, answers in zip(case.mutations, matrix.mutated, strict=True):
            kept = matrix.agreement(answers)
            if kept is not None:
                found.setdefault(mutation.id, []).append(float(kept))
                operators[mutation.id] = cluster(mutation)
    return {name: (operators[name], sum(all_) / len(all_)) for name, all_ in found.items()}


def evidence_of(cases: Sequence[CaseAnswers]) -> RepeatEvidence:
    """What is known without asking again."""
    for each in cases:
        each.answers.ahead()
    return known([each.answers.matrix for each in cases])


def asking_again(
    cases: Sequence[CaseAnswers],
    proves: Callable[[RepeatEvidence], bool],
    *,
    alpha: float,
    steady: bool,
    seed: int,
) -> Generator[list[Step], list[Run], RepeatEvidence]:
    """The runs that tell noise from change, all that are wanted at once in a batch; returns what they showed.

    The arguments are those of ``escalate``.
    """
    # A judge is asked about every pair that nothing cheaper can tell, and pairs grow with the square of answers.
    judged = any(each.judge.bench is not None and each.judge.bench.said for each in cases)
    most = _LOOKED_AT_BY_JUDGES if judged else LOOKS[-1]
    matrices = [each.answers.matrix for each in cases]
    looks = escalate(matrices, proves, alpha=alpha, most=most, steady=steady, seed=seed)
    try:
        wanted = next(looks)
        while True:
            steps = [(cases[each.case], *step) for each in wanted for step in cases[each.case].steps(each)]
            runs = yield [step for _, step, _ in steps]
            made = [(asked, mutation, run) for (asked, _, mutation), run in zip(steps, runs, strict=True)]
            for each in cases:
                each.ahead([(mutation, run) for asked, mutation, run in made if asked is each])
            for asked, mutation, run in made:
                asked.ran(mutation, run)
            for each in cases:
                each.answers.ahead()
            wanted = next(looks)
    except StopIteration as stop:
        evidence: RepeatEvidence = stop.value
        return evidence


def varying(cases: Iterable[Case], names: Sequence[str], evidence: RepeatEvidence) -> list[str]:
    """How the answers to the unmutated prompt differ, where the first, which trials are shown against, is an odd one.

    Args:
        cases: Those that were asked.
        names: Of the inputs, by the cases' numbers; empty texts where inputs have none.
        evidence: Without a known floor, nothing was compared, and nothing is said.
    """
    if evidence.floor is None:
        return []
    said: list[str] = []
    for case in cases:
        if case.asked is None:
            continue
        matrix, on = (
            case.asked.answers.matrix,
            f" of input {names[case.number]}" if names[case.number] else "",
        )
        every, usual = matrix.baseline, matrix.usual()
        alike = [each for each in every if each == usual or matrix.between(usual, each) == EQUIVALENT_CREDIT]
        whose = f"{len(every)} answers to the unmutated prompt{on}"
        if len(alike) > 1 and every[0] not in alike:
            said.append(
                f"{len(alike)} of {whose} agree with each other; the first differs, and trials are compared with it"
            )
        failed = case.asked.answers.failed(every)
        if failed:
            said.append(f"the test's own check failed on {failed} of {whose}: it is noisy")
    return said


def lost_by(cases: Iterable[Case]) -> list[str]:
    """That runs which would have told noise from change came to nothing, if some did, and why the first one."""
    lost = [why for case in cases if case.asked is not None for why in case.asked.lost]
    if not lost:
        return []
    runs = "1 run" if len(lost) == 1 else f"{len(lost)} runs"
    return [f"{runs} that would tell noise from change came to nothing ({lost[0].rstrip('.')})"]


def with_repeats(trials: Sequence[Trial], cases: Sequence[CaseAnswers]) -> list[Trial]:
    """The trials, with the outcomes of those that were asked again."""
    again = {
        (each.case.number, name): tuple(trial.outcome for trial in found)
        for each in cases
        for name, found in each.trials.items()
    }
    return [replace(trial, again=again.get((trial.case, trial.id), ())) for trial in trials]
