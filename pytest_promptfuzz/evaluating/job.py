"""One robustness evaluation, from plan to verdict, as a generator of steps that makes no call of its own.

A driver (``running.drive``) makes the runs, sync or async; the job says which, and judges them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.profiles import infer_task
from pytest_promptfuzz.errors import NotRecordedError, UsageError
from pytest_promptfuzz.evaluating.call_matching import ParallelAnswers, said_of_matching
from pytest_promptfuzz.evaluating.contract import plan_to_json, refuse_unrecorded
from pytest_promptfuzz.evaluating.judge import Baseline, TrialJudge, shown, spent_by, subject_of
from pytest_promptfuzz.evaluating.phases.baseline import (
    BaselineFailed,
    begun,
    in_one_line,
    may_overlap,
    of_one_model,
    refuse_mixed,
    refuse_refusals,
    shown_by,
)
from pytest_promptfuzz.evaluating.phases.controls import controlled, controlling
from pytest_promptfuzz.evaluating.phases.counterexamples import (
    KnownCounterexamples,
    counterexamples,
    replaying,
    with_replayed,
)
from pytest_promptfuzz.evaluating.phases.drift import (
    NOTHING,
    Accepted,
    Before,
    drifting,
    met,
    paired_of,
    prompt_of,
    said_of,
    with_drift,
)
from pytest_promptfuzz.evaluating.phases.plan import (
    LeftOut,
    Pace,
    chosen_of,
    first_part,
    in_order,
    planned,
    refuse_too_few,
    saved_by,
    sole,
)
from pytest_promptfuzz.evaluating.phases.resampling import (
    CaseAnswers,
    asking_again,
    confirming,
    credited,
    evidence_of,
    lost_by,
    varying,
    with_repeats,
)
from pytest_promptfuzz.evaluating.phases.verdict import (
    bench_of,
    conclude,
    says_brittle,
    spent_embedding,
    with_gold,
    with_judging,
)
from pytest_promptfuzz.evaluating.session import simulated_backend
from pytest_promptfuzz.providers.requests import Response
from pytest_promptfuzz.results.trials import Spent, Trial, TrialError
from pytest_promptfuzz.running.run import Run, Step
from pytest_promptfuzz.stats.repeats import ALONE, ALPHA, EARLY
from pytest_promptfuzz.wire.watch import RunRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.judge import Bench
    from pytest_promptfuzz.evaluating.phases.plan import Part
    from pytest_promptfuzz.evaluating.role_prompts import OnWire
    from pytest_promptfuzz.evaluating.session import Session, TestWatches
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.counterexamples import Counterexample
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.stats.repeats import RepeatEvidence
    from pytest_promptfuzz.stats.verdict import Judgement
    from pytest_promptfuzz.targets.simulated import SimulatedTarget
    from pytest_promptfuzz.wire.network import Network
    from pytest_promptfuzz.wire.watch import Watch

    Steps = Generator[list[Step], list[Run], None]
    Epoch = Generator[list[Step], list[Run], list[Trial]]


# What a case of an evaluation, one input or example, knows of itself alone, so that cases may take turns.


@dataclass(slots=True)
class Case:
    """One case.

    Attributes:
        number: From 0, in the order in which they began.
        prompt: As it was given; where only the baseline shows what is mutated, it stands for that.
        watches: Of its runs.
        ignore: JSON paths left out of keys.
        simulated: The simulated target, answering in every provider's place, or ``None``.
        on_wire: What is mutated in the body's requests; ``None`` where the prompt is known before.
        shown: The prompt where only the baseline's run showed it; ``None`` where it is the one that was given.
        planned: Its mutations, once they are known.
        controls: The controls that were asked though the test names none.
        asked: Its answers, once there are some.
        models: By model as asked for, the models that answered.
        renewed: Whether everything was asked again, since two models had answered.
        calls: How many calls a run of the unmutated prompt makes.
        expected: The gold answer, as plain data; ``None`` where there is none.
        unrecorded: Why there is no plan, where only the recording may be used. It is raised once the baseline has run,
            since what that asks, and is not recorded either, shows how the prompt differs.
    """

    number: int
    prompt: Prompt
    watches: TestWatches
    ignore: Sequence[str] = ()
    simulated: SimulatedTarget | None = None
    on_wire: OnWire | None = None
    shown: Prompt | None = None
    planned: tuple[Mutation, ...] | None = None
    controls: tuple[Mutation, ...] = ()
    asked: CaseAnswers | None = None
    models: dict[str, set[str]] = field(default_factory=dict)
    renewed: bool = False
    calls: int = 0
    expected: Any = None
    unrecorded: NotRecordedError | None = None

    def plan(self, plan: Callable[[Prompt], tuple[Mutation, ...]]) -> None:
        """Plan the mutations of its prompt, or keep why there is no plan."""
        try:
            self.planned = plan(self.prompt)
        except NotRecordedError as error:
            self.unrecorded = error

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
        in_flight = None if self.on_wire is None else self.on_wire.in_flight(mutation)
        return self.watches.watch(
            RunRoute(in_flight=in_flight, simulated=simulated_backend(self.simulated)),
            repeat=repeat,
            control=control,
            ignore=self.ignore,
            concurrent=concurrent,
            mutation=mutation,
            spare=spare,
        )

    def abandoned(self, kind: str, why: str) -> list[Trial]:
        """The baseline does not hold, so no trial is worth its calls."""
        return [
            Trial(each, "error", error=TrialError(kind, why), case=self.number) for each in self.planned or ()
        ]

    def count(self, run: Run) -> str:
        """Note which models answered a run; the name of the first."""
        first = ""
        for call in run.watch.calls:
            if call.response is not None and call.response.model:
                self.models.setdefault(call.model, set()).add(call.response.model)
                first = first or call.response.model
        return first


# What a test asks once every case has begun: the rest of its plan as far as it is needed, and more if it may fail.


def once_begun(job: Job, cases: Sequence[Case]) -> Steps:
    """The rest of the plan as far as it is needed, more for a test about to fail, then what else is to be known.

    Args:
        job: The test.
        cases: Those that have begun.
    """
    yield from rounds(job, cases)
    for case in cases:
        if case.asked is not None:
            job.trials += yield from controlling(job, case.asked, [*job.trials])
    yield from drifting(job, cases)
    yield from counterexamples(job, cases)


def rounds(job: Job, cases: Sequence[Case]) -> Steps:
    """Batches of the plan until the verdict is told; before that is "brittle", the runs that tell noise from change.

    Where these leave the verdict open after all, the rest of the plan is asked, too.

    Args:
        job: The test. Its trials, evidence and judgement are kept there.
        cases: Those that have begun.
    """
    pace = Pace(job.contract, cases, job.waits)
    alpha = ALPHA / job.session.tests
    while job.overruled is None:
        while job.overruled is None and not pace.ended(job.trials):
            yield from _more(job, pace.next(job.trials))
        if job.overruled is not None or job.only is not None or not pace.asked:
            return
        job.certain = pace.certain(job.trials)
        job.evidence = evidence_of(pace.asked)
        # Of what is allowed to the test, most is kept for the whole plan, should it be asked after all.
        share = alpha * EARLY if pace.waiting else alpha
        yield from _repeated(job, pace, share)
        if job.overruled is not None:
            return
        # What a part of the plan cannot prove, more mutations prove better than more answers.
        open_ = pace.waiting and job.evidence.p is not None and not job.evidence.significant
        if not open_ and pace.settled(job.trials, job.evidence):
            job.notes.extend(pace.said(job.trials))
            return
        if job.evidence.p is not None:
            alpha -= share
        yield from _more(job, pace.rest())


def _more(job: Job, parts: Sequence[Part]) -> Steps:
    """More of the plan."""
    trials = yield from job.ask(parts)
    job.trials.extend(trials)
    for asked, _ in parts:
        case = asked.case
        before = [trial for trial in job.trials if trial.case == case.number]
        after = yield from of_one_model(job, case, before)
        if after is not before:
            job.trials = [trial for trial in job.trials if trial.case != case.number] + after


def _repeated(job: Job, pace: Pace, alpha: float) -> Steps:
    """The runs that tell noise from change, if the test is about to fail."""
    waiting = pace.waiting if job.certain else 0

    def brittle(evidence: RepeatEvidence) -> bool:
        return says_brittle(job.trials, job.contract, evidence, waiting=waiting, paired=paired_of(job))

    def proves(evidence: RepeatEvidence) -> bool:
        return brittle(evidence) and pace.settled(job.trials, evidence)

    if not brittle(job.evidence):
        return
    looks = asking_again(pace.asked, proves, alpha=alpha, steady=pace.waiting > 0, seed=job.contract.seed)
    by_number = {case.number: case for case in pace.cases}
    try:
        steps = next(looks)
        while True:
            runs = yield steps
            for step, run in zip(steps, runs, strict=True):
                job.count(run, by_number[step.case])
            steps = looks.send(runs)
    except StopIteration as stop:
        job.evidence = stop.value
    job.trials = with_repeats(job.trials, pace.asked)
    for asked in pace.asked:
        refuse_refusals(job, asked)
    for case in pace.cases:
        refuse_mixed(job, case)


def _never(_: BaseException) -> bool:
    return False


def _task_of(subject: Any) -> str:
    """What was asked for, by what was answered; all of it where several calls were answered."""
    answers = [each.response for each in subject.each] if isinstance(subject, ParallelAnswers) else [subject]
    said = (each.text if isinstance(each, Response) else each for each in answers)
    return " and ".join(dict.fromkeys(map(infer_task, said)))


@dataclass(slots=True)
class Job:
    """The evaluation of one test.

    Attributes:
        contract: The test's settings.
        session: What evaluations share.
        where: The test's name, for messages.
        target: The target's name, for reports.
        simulated: The simulated target, answering in every provider's place, or ``None``.
        concurrent: Whether runs of a batch may overlap.
        together: Whether cases take turns, so that a baseline may overlap those of others.
        checks: Whether the body is known to check something itself.
        counts_runs: Whether a run is itself a call of the target (the application's own function).
        only_checks: The body makes no call of its own: it is given the response, and asserts.
        only: The ID of the one trial to run, or ``None`` for all.
        on_wire: What is mutated in the body's requests; ``None`` where the prompt is known before.
        skips: Whether an exception is the test runner's skip.
        describe: A traceback for people.
        whole: Whether a case is asked in full when its turn comes, since it cannot be had again.
        waits: Whether each batch is a round of waiting that no other test's calls fill.
        mistaken: Whether a call was made early that a run did not ask for.
        ended: The cases that have begun, in order.
        overruled: A judgement that stands whatever the trials say.
        evidence: What repeated answers show.
        before: What the gate ``no-worse`` holds the trials against.
        given: What a body that failed had been given to check, by the watch of its run.
        certain: Whether what was not asked could not have changed the outcomes' verdict.
        told: Whether the verdict is known, and nothing that is still asked changes it.
        counterexamples: The smallest changes known that break the test.
        pins: Counterexamples that were known before.
        accepted: Its snapshot.
        compared_calls: How many calls are compared, each with the one that asks the same; 0 where one answer is.
        network: What it may reach beside its model calls, and what it reached.
    """

    contract: Contract
    session: Session
    where: str
    target: str = ""
    simulated: SimulatedTarget | None = None
    concurrent: bool = False
    together: bool = False
    checks: bool = False
    counts_runs: bool = False
    only_checks: bool = False
    only: str | None = None
    on_wire: OnWire | None = None
    skips: Callable[[BaseException], bool] = _never
    describe: Callable[[BaseException], str] = in_one_line
    whole: bool = False
    waits: bool = False
    mistaken: bool = False
    trials: list[Trial] = field(default_factory=list)
    failures: dict[str, BaseException] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    cases: int = 0
    ended: list[Case] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    overruled: Judgement | None = None
    evidence: RepeatEvidence = ALONE
    before: Before = NOTHING
    given: dict[Watch, Any] = field(default_factory=dict)
    certain: bool = True
    told: bool = False
    counterexamples: list[Counterexample] = field(default_factory=list)
    pins: KnownCounterexamples = field(default_factory=KnownCounterexamples)
    accepted: Accepted = field(default_factory=Accepted)
    compared_calls: int = 0
    _plans: dict[Prompt, tuple[tuple[Mutation, ...], tuple[Mutation, ...]]] = field(default_factory=dict)
    _baselines: list[Any] = field(default_factory=list)
    _benches: dict[int, Bench] = field(default_factory=dict)
    _model: str = ""
    _task: str = ""
    _oracle_only: bool = False
    _left_out: LeftOut = field(init=False)
    network: Network = field(init=False)

    def __post_init__(self) -> None:
        self.network = self.session.network(simulated=self.simulated is not None)
        self._left_out = LeftOut(self.contract.ignore)

    def case(self, prompt: Prompt, name: str = "", expected: Any = None) -> Steps:
        """The steps of one example or input: baseline, control, then mutations. Cases may take turns.

        Args:
            prompt: The prompt; mutations of the same prompt are planned once.
            name: How the input is called.
            expected: The gold answer, as plain data; ``None`` where there is none.

        Raises:
            UsageError: Nothing to mutate, nothing to judge by, a return value that cannot be compared, or a gate that
                so few mutations cannot pass.
            ConfigurationError: The baseline lacks a target, key, extra or model.
            BaselineFailed: The body fails on the unmutated prompt, twice.
        """
        case = Case(
            self.cases,
            prompt,
            self.session.test(self.network),
            self.contract.ignore,
            self.simulated,
            self.on_wire,
        )
        case.expected = expected
        self.cases += 1
        self.names.append(name)
        self._baselines.append(None)
        if self.on_wire is None and (prompt.inputs or not self.contract.part.wants_input):
            case.plan(self.plan)
        else:
            refuse_too_few(self)
        try:
            trials = yield from self.epoch(case)
        except BaselineFailed:
            self._ended(case, failed=True)
            raise
        self.trials.extend((yield from of_one_model(self, case, trials)))
        self.trials.sort(key=lambda trial: trial.case)
        self._ended(case)

    def first_part(self, mutations: Sequence[Mutation]) -> tuple[list[Mutation], list[Mutation]]:
        """The mutations of a case that are asked with its baseline, and those that may turn out not to be needed."""
        # A recording holds everything, so that its replay finds what it asks, which has no call to save.
        whole = self.whole or self.only or self.session.mode in {"record", "replay"}
        return (list(mutations), []) if whole else first_part(mutations, self.contract, waits=self.waits)

    def plan(self, prompt: Prompt) -> tuple[Mutation, ...]:
        """The mutations of a prompt; asked again for the same prompt, the same.

        Raises:
            UsageError: Nothing to mutate, or a part that the prompt does not have.
            NotRecordedError: Only the recording may be used, and holds no such plan.
        """
        return self._planned(prompt)[0]

    def controls(self, prompt: Prompt) -> tuple[Mutation, ...]:
        """The controls that may be asked though the test names none: the second only if the first tells nothing.

        Raises:
            UsageError: As ``plan``.
            NotRecordedError: As ``plan``.
        """
        return self._planned(prompt)[1]

    def _planned(self, prompt: Prompt) -> tuple[tuple[Mutation, ...], tuple[Mutation, ...]]:
        if prompt not in self._plans:
            self._plans[prompt] = planned(
                prompt,
                self.contract,
                self.session,
                self.where,
                self.notes,
                alone=sole(self),
                on_user=self.on_wire is not None and self.on_wire.role == "user",
            )
        return self._plans[prompt]

    def _ended(self, case: Case, *, failed: bool = False) -> None:
        """Every run of the case was made: what is recorded of it is complete."""
        self.ended = sorted([*self.ended, case], key=lambda each: each.number)
        if self.overruled is not None and self.overruled.reason == "not-repeatable":
            return
        recording = self.session.tape is not None and self.session.tape.recording
        plan = case.planned if recording else None
        plan_ = plan_to_json((*plan, *case.controls), self.contract) if plan else None
        case.watches.done(plan_, failed=failed)

    def epoch(self, case: Case) -> Epoch:
        """Baseline, control and mutations, all under the same watches; returns the trials."""
        prompt, number = case.prompt, case.number
        case.models.clear()
        run = yield from begun(self, case)
        if not isinstance(run, Run):
            return run
        if case.planned is None:
            case.shown = shown_by(run, prompt, self.contract.part, self.on_wire, self.where)
            case.planned = self.plan(case.shown)
        met(self, case)
        judge, baseline = self._judge(run, case)
        # A body that only asserts on a response it is given has nothing that could change.
        if not (self.only_checks and isinstance(run.returned, Response) and len(run.watch.calls) == 1):
            (control,) = yield [Step(prompt, case.watch(control=True), number)]
            baseline = self._control(control, baseline, judge, case)
        if self.overruled is not None:
            return case.abandoned(self.overruled.reason, self.overruled.explanation)
        runs_before = max(self.session.baseline_runs, self.contract.baseline_runs) if self.only is None else 1
        asked = case.asked = CaseAnswers(
            case, prompt, baseline, judge, may_overlap(self, run), runs_before, self.contract.samples
        )
        case.calls = len(run.watch.calls) or int(self.counts_runs)
        return (yield from self.begin(asked))

    def begin(self, asked: CaseAnswers) -> Epoch:
        """What is asked once the baseline holds: known counterexamples, then the plan, or the first part of it."""
        known = yield from replaying(self, asked)
        if self.pins.has(self.only):
            return known
        plan = asked.case.planned or ()
        if self.only is not None:
            plan += self.controls(prompt_of(asked.case))
        now, asked.waiting = self.first_part(chosen_of(plan, self.only, self.where))
        trials = yield from self.ask([(asked, now)])
        if self.whole or self.session.mode == "record":  # later this case, or its recording, is over
            trials += yield from controlling(self, asked, trials)
        return trials

    def ask(self, parts: Sequence[Part]) -> Epoch:
        """The trials of some mutations of some cases."""
        batches = [asked.planned(mutations) for asked, mutations in parts]
        made = iter((yield [step for batch in batches for step in batch]))
        found: list[Trial] = []
        for (asked, mutations), batch in zip(parts, batches, strict=True):
            runs = list(islice(made, len(batch)))
            for run in runs:
                self.count(run, asked.case)
            told = runs[asked.before :]
            refuse_unrecorded(self.session.tape, told)
            pairs = [each for each in mutations for _ in range(asked.samples)]
            yield from confirming(self, asked, zip(pairs, told, strict=True))
            trials = asked.judged(mutations, runs)
            for trial, run in zip(trials, told, strict=True):
                if trial.failure is not None and run.exception is not None:
                    self.failures.setdefault(trial.id, run.exception)
            found += trials
        return found

    def again(self) -> Steps:
        """Once every case has begun: the rest of the plan, as far as it is needed; more for a test about to fail."""
        yield from once_begun(self, self.ended)

    def judged(self, **more: Any) -> Robustness:
        """What the trials made so far come to; ``more`` is what ``conclude`` takes beside what decides the verdict."""
        return conclude(
            in_order(self.trials, self.ended, self.contract.samples),
            self.contract,
            overruled=self.overruled,
            evidence=self.evidence,
            credited=credited([each.asked for each in self.ended if each.asked], self.evidence),
            controls=frozenset(mutation.id for case in self.ended for mutation in case.controls),
            oracle_only=self._oracle_only,
            alone=self.only is not None,
            certain=self.certain,
            paired=paired_of(self),
            **{"spent": self.spent, **more},
        )

    def conclude(self) -> Robustness:
        """The result over all cases."""
        self.notes[:0] = said_of(self)
        self.spent += spent_embedding(self.ended, self.notes)
        trials = in_order(self.trials, self.ended, self.contract.samples)
        for case in self.ended:
            values = [trial.value for trial in trials if trial.case == case.number]
            self._left_out.look(case.watches.fresh.answers(), [self._baselines[case.number], *values])
        result = self.judged(
            baselines=self._baselines,
            cases=self.names if any(self.names) else (),
            spent=self.spent + saved_by(trials, self.ended),
            target=self.target,
            model=self._model,
            task=self._task,
            notes=[
                *varying(self.ended, self.names, self.evidence),
                *said_of_matching(trial.comparison for trial in trials),
                *self.notes,
                *lost_by(self.ended),
                *self._left_out.notes(),
            ],
        )
        result = with_gold(result, self.ended)
        result = with_replayed(replace(result, counterexamples=tuple(self.counterexamples)), self)
        result = with_drift(result, self)
        for case in self.ended:
            case.asked = None  # each knows the other, and what a test leaves is to be gone with it
        return self.with_unfollowed(with_judging(result, self._benches, self.contract, self._baselines))

    def with_unfollowed(self, result: Robustness) -> Robustness:
        """The result with what was not followed; from now on nothing is."""
        self.network.over = True
        return replace(result, unfollowed=self.network.unfollowed(simulated=self.simulated is not None))

    def count(self, run: Run, case: Case) -> None:
        """Note what a run took, and who answered it."""
        answered = case.count(run)
        self._model = self._model or answered
        self.spent += spent_by(run, counts_runs=self.counts_runs)
        self.notes.extend(run.watch.notes)

    def _judge(self, run: Run, case: Case) -> tuple[TrialJudge, Baseline]:
        contract = self.contract
        subject = subject_of(run, self.where)
        if subject is None and contract.compare and not self.checks:
            raise UsageError(
                f"{self.where} has nothing to judge by: it returns nothing, no model response was seen, and it "
                "asserts nothing. Return the answer, call the model through `llm` or an SDK, or assert on the "
                "answer. If a helper does the checking, write compare=False."
            )
        self._oracle_only = subject is None or not contract.compare
        self._baselines[case.number] = shown(subject)
        if isinstance(subject, ParallelAnswers):
            self.compared_calls = max(self.compared_calls, len(subject.each))
        if not self._oracle_only and not self._task:
            self._task = contract.compared_as or f"{_task_of(subject)} (inferred)"
        bench = None if self._oracle_only else bench_of(contract, case.watches, run, case.prompt.text)
        if bench is not None:
            self._benches[case.number] = bench
        judge = TrialJudge(
            contract=contract,
            embedder=case.watches.embedder(),
            oracle_only=self._oracle_only,
            skips=self.skips,
            describe=self.describe,
            counts_runs=self.counts_runs,
            where=self.where,
            checks=self.checks,
            bench=bench,
            entailment=self.session.entailment,
            given=self.given,
        )
        return judge, Baseline(run, subject, shown(subject))

    def _control(self, control: Run, baseline: Baseline, judge: TrialJudge, case: Case) -> Baseline:
        """Look whether the unmutated body, given the same answers, does the same again."""
        found = controlled(control, baseline, judge, case.planned or (), self.on_wire)
        if found.answers:
            self.spent += spent_by(control, counts_runs=True)
        self.overruled = self.overruled or found.overruled
        if found.note:
            self.notes.append(found.note)
        return replace(baseline, repeatable=found.repeatable, again=control if found.answers else None)
