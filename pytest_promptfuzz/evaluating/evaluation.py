"""`Evaluation`: one evaluation, from settings to verdict, as generators of steps that make no call of their own.

A driver (``running.run.drive``) makes the runs, sync or async; the evaluation says which, and judges them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import NotRecordedError
from pytest_promptfuzz.evaluating.cases import (
    Accepted,
    Case,
    CaseAnswers,
    Findings,
    KnownCounterexamples,
    RunLedger,
)
from pytest_promptfuzz.evaluating.judge import spent_by
from pytest_promptfuzz.evaluating.phases.baseline import (
    BaselineFailed,
    NoBaseline,
    judging,
    may_overlap,
    shown_by,
    unmutated,
)
from pytest_promptfuzz.evaluating.phases.batches import Rounds, mutated, of_one_model
from pytest_promptfuzz.evaluating.phases.controls import controlling, repeat_run
from pytest_promptfuzz.evaluating.phases.gold import with_gold
from pytest_promptfuzz.evaluating.phases.plan import (
    chosen_of,
    first_part,
    plan_to_json,
    planned,
    refuse_too_few,
)
from pytest_promptfuzz.evaluating.phases.verdict import (
    NOTHING,
    Before,
    concluded,
    gate_notes,
    named,
    ruled,
    spent_embedding,
    with_judging,
)
from pytest_promptfuzz.history.entries import digest, outcomes_of
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.wording.verdicts import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.cases import Epoch, Steps
    from pytest_promptfuzz.evaluating.contract import Contract, EvaluationSettings
    from pytest_promptfuzz.evaluating.phases.regressions import ComparedBase
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.history.snapshots import Snapshot
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.counterexamples import Counterexample
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.results.trials import Spent, Trial
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.stats.verdict import Judgement
    from pytest_promptfuzz.wire.network import Network


@dataclass(slots=True)
class Evaluation:
    """The evaluation of one test.

    Each case is asked by itself: ``case`` yields its steps. Once all have begun, ``again`` yields what else is asked,
    and ``conclude`` makes the result.

    Attributes:
        settings: What it is of.
        before: What the gate ``no-worse`` holds the trials against.
        pins: Counterexamples that were known before.
        accepted: Its snapshot.
        find_base: Gives what it is compared with while it runs, by the digest of its prompt; ``None`` for nothing.
        base: What that gave.
        ledger: What its runs took, and what the person must know of them.
        findings: What it came to so far.
        told: Whether the verdict is known, and nothing that is still asked changes it.
        counterexamples: The smallest changes known that break the test.
        mistaken: Whether a call was made early that a run did not ask for.
        network: What it may reach beside its model calls, and what it reached.
    """

    settings: EvaluationSettings
    before: Before = NOTHING
    pins: KnownCounterexamples = field(default_factory=KnownCounterexamples)
    accepted: Accepted = field(default_factory=Accepted)
    find_base: Callable[[str], ComparedBase | None] | None = None
    base: ComparedBase | None = None
    ledger: RunLedger = field(default_factory=RunLedger)
    findings: Findings = field(default_factory=Findings)
    told: bool = False
    counterexamples: list[Counterexample] = field(default_factory=list)
    mistaken: bool = False
    network: Network = field(init=False)
    _plans: dict[Prompt, tuple[tuple[Mutation, ...], tuple[Mutation, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        simulated = self.settings.simulated is not None
        self.network = self.settings.session.network(simulated=simulated)
        self.ledger.counts_runs = self.settings.body.counts_runs

    def check_expected(self, expected: Iterable[tuple[str, Any]]) -> None:
        """Refuse expected answers that cannot be used, before anything is asked; here all can be.

        Args:
            expected: Of each input its name, and the answer.

        Raises:
            UsageError: The first that cannot.
        """

    # The plan

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

    def first_part(self, mutations: Sequence[Mutation]) -> tuple[list[Mutation], list[Mutation]]:
        """The mutations of a case that are asked with its baseline, and those that may turn out not to be needed."""
        return first_part(mutations, self.settings)

    def _planned(self, prompt: Prompt) -> tuple[tuple[Mutation, ...], tuple[Mutation, ...]]:
        if prompt not in self._plans:
            self._plans[prompt] = planned(prompt, self.settings, self.ledger.notes)
        return self._plans[prompt]

    # Each case: baseline, repeat run, known counterexamples, mutations

    def case(self, prompt: Prompt, name: str = "", expected: Any = None) -> Steps:
        """The steps of one example or input. Cases may take turns.

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
        findings, settings = self.findings, self.settings
        watches = settings.session.test(self.network)
        case = Case(len(findings.cases), name, prompt, settings, watches, expected)
        findings.cases.append(case)
        if settings.on_wire is None and (prompt.inputs or not settings.contract.plan.part.wants_input):
            try:
                case.planned = self.plan(prompt)
            except NotRecordedError as error:
                case.unrecorded = error
        else:
            refuse_too_few(settings)
        try:
            trials = yield from self.epoch(case)
        except BaselineFailed:
            self._ended(case, failed=True)
            raise
        trials = yield from of_one_model(case, trials, findings, self.ledger, self.epoch)
        findings.trials = sorted([*findings.trials, *trials], key=lambda trial: trial.case)
        self._ended(case)

    def epoch(self, case: Case) -> Epoch:
        """Baseline, control and mutations, all under the same watches; returns the trials."""
        settings, findings, ledger = self.settings, self.findings, self.ledger
        asks = settings.contract.plan
        case.models.clear()
        run = yield from unmutated(case, ledger)
        if isinstance(run, NoBaseline):
            findings.overruled = run.judgement
            return case.abandoned(run.kind, run.why)
        if case.planned is None:
            case.shown = shown_by(run, case.prompt, asks.part, settings.on_wire, settings.where)
            case.planned = self.plan(case.shown)
        self._find_snapshot(case, run)
        judge, baseline = judging(run, case, findings)
        control = yield from repeat_run(case, baseline, judge)
        if control.again is not None:
            ledger.spent += spent_by(control.again, counts_runs=True)
        if control.note is not None:
            ledger.notes.append(control.note)
        findings.overruled = findings.overruled or control.overruled
        if findings.overruled is not None:
            return case.abandoned(findings.overruled.reason, explained(findings.overruled))
        baseline = baseline._replace(repeatable=control.repeatable, again=control.again)
        concurrent = may_overlap(run, settings.order, ledger.notes)
        runs = max(settings.session.baseline_runs, asks.baseline_runs) if settings.only is None else 1
        case.asked = CaseAnswers(case, baseline, judge, concurrent, runs)
        return (yield from self.begin(case.asked))

    def begin(self, asked: CaseAnswers) -> Epoch:
        """What is asked once the baseline holds: known counterexamples, then the plan, or the first part of it."""
        settings, only = self.settings, self.settings.only
        known = yield from self._replayed(asked)
        if self.pins.has(only):
            return known
        plan = asked.case.planned or ()
        if only is not None:
            plan += self.controls(asked.case.unmutated)
        now, asked.waiting = self.first_part(chosen_of(plan, only, settings.where))
        trials = yield from mutated([(asked, now)], self.ledger)
        # Later this case, or its recording, is over.
        if settings.order.whole or settings.session.records:
            trials += yield from self._controlled(asked, trials)
        return trials

    def _replayed(self, asked: CaseAnswers) -> Epoch:
        """The counterexamples that are known of the case."""
        if not self.pins.known:
            return []
        from pytest_promptfuzz.evaluating.phases.replays import replaying

        return (yield from replaying(asked, self.pins, self.ledger))

    def _controlled(self, asked: CaseAnswers, trials: Sequence[Trial]) -> Epoch:
        """The controls that the test does not name, of the first case."""
        overruled = self.findings.overruled is not None
        if asked.controlled or asked.case.number or self.settings.only is not None or overruled:
            return []
        controls = self.controls(asked.case.unmutated)
        return (yield from controlling(asked, trials, controls, self.ledger))

    def _ended(self, case: Case, *, failed: bool = False) -> None:
        """Every run of the case was made: what is recorded of it is complete."""
        findings, tape = self.findings, self.settings.session.tape
        findings.ended = sorted([*findings.ended, case], key=lambda each: each.number)
        if findings.overruled is not None and findings.overruled.reason == "not-repeatable":
            return
        plan = case.planned if tape is not None and tape.recording else None
        made = plan_to_json((*plan, *case.controls), self.settings.contract) if plan else None
        case.watches.done(made, failed=failed)

    # All cases: the rest of the plan, repeats, controls, flips, drift, shrinking

    def again(self) -> Steps:
        """Once every case has begun: the rest of the plan as far as it is needed, then what else is to be known."""
        findings, settings, ledger = self.findings, self.settings, self.ledger
        yield from Rounds(settings, findings, ledger, self.before, self.epoch).steps()
        for asked in findings.asked:
            findings.trials += yield from self._controlled(asked, [*findings.trials])
        if self.find_base is not None and findings.trials:
            self.base = self.find_base(digest(self.accepted.hide(findings.trials[0].mutation.original)))
        if self.base is not None:
            from pytest_promptfuzz.evaluating.phases.regressions import asking_flips

            yield from asking_flips(findings, settings, self.base, self.accepted, ledger)
        if self.accepted.snapshot is not None:
            from pytest_promptfuzz.evaluating.phases.drift import drifting

            yield from drifting(findings, settings, self.accepted, ledger)
        queries = settings.contract.plan.shrink if settings.only is None else 0
        if queries and findings.breaks and self.judged().verdict == "brittle":
            from pytest_promptfuzz.evaluating.phases.shrinking import shrinking

            self.told = True
            yield from shrinking(findings, queries, self.pins, ledger, self.counterexamples)

    # The verdict

    def judged(self) -> Judgement:
        """What the trials made so far come to."""
        return ruled(self.findings, self.settings, self.before).judgement

    def conclude(self) -> Robustness:
        """The result over all cases."""
        findings, settings, ledger = self.findings, self.settings, self.ledger
        ledger.notes[:0] = gate_notes(findings, settings, self.before)
        ledger.spent += spent_embedding(findings.ended, ledger.notes)
        result = concluded(ruled(findings, settings, self.before), findings, settings, ledger)
        if any(case.expected is not None for case in findings.ended):
            result = with_gold(result, findings.ended)
        result = replace(
            result,
            counterexamples=tuple(self.counterexamples),
            answers=self._answers(),
            compared=settings.contract.comparison.own,
        )
        if self.base is not None:
            result = replace(
                result,
                reasked=self.base.ended,
                against_base=self.base.against,
                beside_base=self.base.beside,
            )
        elif self.find_base is not None:
            result = replace(result, reasked="new")
        if self.pins.replayed:
            from pytest_promptfuzz.evaluating.phases.replays import with_replayed

            result = with_replayed(result, self.pins, settings)
        if self.accepted.snapshot is not None:
            from pytest_promptfuzz.evaluating.phases.drift import with_drift

            result = with_drift(result, findings, settings, self.accepted)
        result = with_judging(result, findings.cases, settings.contract.comparison)
        for case in findings.ended:
            case.asked = None  # each knows the other, and what a test leaves is to be gone with it
        return self.with_unfollowed(result)

    def _answers(self) -> dict[str, list[tuple[Any, int]]]:
        """The answers to each unmutated prompt that was asked more than once, by input."""
        later: Mapping[str, Sequence[Any]] = {} if self.base is None else self.base.later
        found: dict[str, list[tuple[Any, int]]] = {}
        for asked in self.findings.asked:
            name = named(asked.case.number, self.findings.names)
            answers = asked.unmutated_answers(self.accepted.hide, later.get(name, ()))
            if len(answers) > 1 or any(times > 1 for _, times in answers):
                found[name] = answers
        return found

    def with_unfollowed(self, result: Robustness) -> Robustness:
        """The result with what was not followed; from now on nothing is."""
        self.network.over = True
        simulated = self.settings.simulated is not None
        return replace(result, unfollowed=self.network.unfollowed(simulated=simulated))

    # The snapshot

    def accept(self, snapshot: Snapshot) -> None:
        """Hold the test against a snapshot: its trials for the gate ``no-worse``, its counterexamples, its answers."""
        before, self.accepted.snapshot = self.accepted.snapshot, snapshot
        if self.settings.contract.verdict.gate == "no-worse":
            self.before = self.before._replace(outcomes=outcomes_of(snapshot.trials))
        others = () if before is None else before.counterexamples
        kept = [each for each in self.pins.known if each not in others]
        known = {each.id: each for each in (*snapshot.counterexamples, *kept)}
        self.pins.known = tuple(known.values())

    def _find_snapshot(self, case: Case, run: Run) -> None:
        """It is known what the test asks: use the snapshot that it had under another name like its own."""
        if self.accepted.former is tuple:
            return
        from pytest_promptfuzz.evaluating.phases.drift import renamed

        former = renamed(self.accepted, case, run)
        if former is not None:
            self.accepted.moved = former
            self.accept(former.snapshot)
            self.ledger.notes.append(Note.of("evaluations:snapshot-renamed", test=former.snapshot.test))

    # What others ask of it

    @property
    def contract(self) -> Contract:
        """The settings that decide the verdict."""
        return self.settings.contract

    @property
    def session(self) -> Session:
        """What evaluations share."""
        return self.settings.session

    @property
    def notes(self) -> list[Note | str]:
        """What the reader must know."""
        return self.ledger.notes

    @property
    def spent(self) -> Spent:
        """What all runs took."""
        return self.ledger.spent

    @property
    def cases(self) -> int:
        """How many cases have begun."""
        return len(self.findings.cases)
