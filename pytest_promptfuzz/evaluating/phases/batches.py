"""The mutations in batches: what of a plan is asked next, and when enough of it was asked.

The first part of each case is asked with its baseline; the rest once all cases have begun, in batches over all of them,
so that inputs share it evenly. Both follow from the plan and the answers alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from pytest_promptfuzz.evaluating.judge import failed_by
from pytest_promptfuzz.evaluating.phases.plan import stopping_of
from pytest_promptfuzz.evaluating.phases.resampling import asking_again, confirming, evidence_of, with_repeats
from pytest_promptfuzz.evaluating.phases.verdict import paired_of, says_brittle
from pytest_promptfuzz.evaluating.session import refuse_unrecorded
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.stats.repeats import ALONE, ALPHA, EARLY
from pytest_promptfuzz.stats.scores import Counts
from pytest_promptfuzz.stats.stopping import early_stop, settled
from pytest_promptfuzz.stats.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.cases import Case, CaseAnswers, Epoch, Findings, RunLedger, Steps
    from pytest_promptfuzz.evaluating.contract import Contract, EvaluationSettings
    from pytest_promptfuzz.evaluating.phases.verdict import Before
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.stats.repeats import RepeatEvidence
    from pytest_promptfuzz.stats.scores import TrialOutcome
    from pytest_promptfuzz.stats.stopping import Stopping

    Part = tuple[CaseAnswers, list[Mutation]]


def mutated(parts: Sequence[Part], ledger: RunLedger) -> Epoch:
    """The trials of some mutations of some cases."""
    batches = [asked.planned(mutations) for asked, mutations in parts]
    made = iter((yield [step for batch in batches for step in batch]))
    found: list[Trial] = []
    for (asked, mutations), batch in zip(parts, batches, strict=True):
        runs = list(islice(made, len(batch)))
        for run in runs:
            ledger.count(run, asked.case)
        told = runs[asked.before :]
        refuse_unrecorded(asked.case.settings.session.tape, told)
        pairs = [each for each in mutations for _ in range(asked.samples)]
        yield from confirming(asked, zip(pairs, told, strict=True), ledger)
        trials = asked.judged(mutations, runs)
        for trial, run in zip(trials, told, strict=True):
            ledger.failed(trial, run)
        found += trials
    return found


@dataclass(slots=True)
class Rounds:
    """Batches of the plan until the verdict is told; before that is "brittle", the runs that tell noise from change.

    Where these leave the verdict open after all, the rest of the plan is asked, too.

    Attributes:
        settings: The evaluation's.
        findings: Takes the trials, the evidence, and a judgement that overrules them.
        ledger: Takes what runs took.
        before: A run before, which the gate ``no-worse`` holds the trials against.
        epoch: Asks everything of a case anew.
    """

    settings: EvaluationSettings
    findings: Findings
    ledger: RunLedger
    before: Before
    epoch: Callable[[Case], Epoch]

    def steps(self) -> Steps:
        """All that is needed of the plans of the cases that have begun."""
        findings = self.findings
        pace = Pace(self.settings.contract, findings.ended, self.settings.order.waits)
        alpha = ALPHA / self.settings.session.tests
        while findings.overruled is None:
            while findings.overruled is None and not pace.ended(findings.trials):
                yield from self._more(pace.next(findings.trials))
            if findings.overruled is not None or self.settings.only is not None or not pace.asked:
                return
            findings.certain = pace.certain(findings.trials)
            findings.evidence = evidence_of(pace.asked)
            # Of what is allowed to the test, most is kept for the whole plan, should it be asked after all.
            share = alpha * EARLY if pace.waiting else alpha
            yield from self._repeated(pace, share)
            evidence = findings.evidence
            if findings.overruled is not None:
                return
            # What a part of the plan cannot prove, more mutations prove better than more answers.
            open_ = pace.waiting and evidence.p is not None and not evidence.significant
            if not open_ and pace.settled(findings.trials, evidence):
                self.ledger.notes.extend(pace.said(findings.trials))
                return
            if evidence.p is not None:
                alpha -= share
            yield from self._more(pace.rest())

    def _more(self, parts: Sequence[Part]) -> Steps:
        """More of the plan."""
        findings = self.findings
        trials = yield from mutated(parts, self.ledger)
        findings.trials.extend(trials)
        for asked, _ in parts:
            case = asked.case
            before = [trial for trial in findings.trials if trial.case == case.number]
            after = yield from of_one_model(case, before, findings, self.ledger, self.epoch)
            if after is not before:
                others = [trial for trial in findings.trials if trial.case != case.number]
                findings.trials = others + after

    def _repeated(self, pace: Pace, alpha: float) -> Steps:
        """The runs that tell noise from change, if the test is about to fail."""
        findings, contract = self.findings, self.settings.contract
        waiting = pace.waiting if findings.certain else 0

        def brittle(evidence: RepeatEvidence) -> bool:
            paired = paired_of(findings, self.settings, self.before)
            return says_brittle(findings.trials, contract.verdict, evidence, waiting=waiting, paired=paired)

        def proves(evidence: RepeatEvidence) -> bool:
            return brittle(evidence) and pace.settled(findings.trials, evidence)

        if not brittle(findings.evidence):
            return
        findings.evidence = yield from asking_again(
            pace.asked,
            proves,
            alpha=alpha,
            steady=pace.waiting > 0,
            seed=contract.plan.seed,
            ledger=self.ledger,
        )
        findings.trials = with_repeats(findings.trials, pace.asked)
        for asked in pace.asked:
            refuse_refusals(asked, findings)
        for case in pace.cases:
            refuse_mixed(case, findings)


@dataclass(slots=True)
class Pace:
    """How a test is asked, over all of its cases.

    Attributes:
        contract: Its settings.
        cases: Those whose baseline holds.
        waits: Whether each batch is a round of waiting that nothing else fills.
    """

    contract: Contract
    cases: Sequence[Case]
    waits: bool
    _last: tuple[list[TrialOutcome], int, Stopping | None, Counts] | None = None

    @property
    def asked(self) -> list[CaseAnswers]:
        """What was asked of each case that came so far."""
        return [each.asked for each in self.cases if each.asked is not None]

    @property
    def waiting(self) -> int:
        """Trials that were not asked yet."""
        return self.contract.plan.samples * sum(len(each.waiting) for each in self.asked)

    def ended(self, trials: Sequence[Trial]) -> bool:
        """Whether the trials asked so far suffice."""
        how, counts = self._state(trials)
        return how is None or how.ending(counts) is not None

    def certain(self, trials: Sequence[Trial]) -> bool:
        """Whether the rest of the plan could not change the outcomes' verdict, rather than probably would not."""
        how, counts = self._state(trials)
        return how is None or how.gate.ending(counts) is not None

    def settled(self, trials: Sequence[Trial], evidence: RepeatEvidence) -> bool:
        """Whether the verdict stays as it is, now that it is known what is noise."""
        how, counts = self._state(trials)
        return how is None or settled(how, counts, evidence)

    def said(self, trials: Sequence[Trial]) -> list[Note]:
        """What a person must know where the test was ended on evidence, short of certainty."""
        how, counts = self._state(trials)
        if how is None or self.certain(trials):
            return []
        return [Note.of("evaluations:stopped", found=early_stop(how, counts))]

    def next(self, trials: Sequence[Trial]) -> list[Part]:
        """The next batch: mutations of each case, from those of which most is left."""
        how, counts = self._state(trials)
        if how is None:
            return []
        parts: dict[int, Part] = {}
        for _ in range(-(-how.batch(counts) // self.contract.plan.samples)):
            asked = max(self.asked, key=lambda each: (len(each.waiting), -each.case.number))
            parts.setdefault(asked.case.number, (asked, []))[1].append(asked.waiting.pop(0))
        return [parts[number] for number in sorted(parts)]

    def rest(self) -> list[Part]:
        """All that is left, as one batch."""
        parts = [(each, each.waiting) for each in self.asked if each.waiting]
        for asked, _ in parts:
            asked.waiting = []
        return parts

    def _state(self, trials: Sequence[Trial]) -> tuple[Stopping | None, Counts]:
        """When to stop, ``None`` where nothing is left to ask, and what was answered so far."""
        outcomes = [trial.outcome for trial in trials if trial.mutation.relation == "invariance"]
        waiting = self.waiting
        known = self._last
        if known is None or known[:2] != (outcomes, waiting):
            counts = Counts.of(outcomes)
            planned = counts.total + waiting
            how = stopping_of(planned, self.contract, waits=self.waits) if waiting else None
            known = self._last = (outcomes, waiting, how, counts)
        return known[2:]


# What overrules the trials: answers of two models, a model that refuses the unmutated prompt as well.


def mixed_models(models: Mapping[str, set[str]]) -> Note | None:
    """Which model answered as more than one, if one did: its answers are of different epochs."""
    for asked, answered in models.items():
        if len(answered) > 1:
            return Note.of("evaluations:two-models", asked=asked, answered=sorted(answered))
    return None


def of_one_model(
    case: Case, trials: list[Trial], findings: Findings, ledger: RunLedger, epoch: Callable[[Case], Epoch]
) -> Epoch:
    """The trials of a case; where two models answered, everything is asked again, once, as ``epoch`` does."""
    mixed = mixed_models(case.models)
    if mixed and case.settings.session.mode not in {"replay", "live"} and not case.renewed:
        ledger.notes.insert(0, Note.of("evaluations:asked-anew", models=mixed))
        case.renewed, case.watches, findings.evidence = True, case.watches.again(), ALONE
        trials = yield from epoch(case)
    refuse_mixed(case, findings)
    return trials


def refuse_mixed(case: Case, findings: Findings) -> None:
    """Nothing is concluded from the answers of two models."""
    mixed = mixed_models(case.models)
    if mixed:
        note = Note.of("evaluations:mixed-models", models=mixed)
        findings.overruled = Judgement.noted("inconclusive", "mixed-models", note)


def refuse_refusals(asked: CaseAnswers, findings: Findings) -> None:
    """Nothing is concluded from refused mutations where the unmutated prompt is refused as well, asked again."""
    refusals = asked.refusals
    if not refusals.unmutated or not refusals.trials:
        return
    error = failed_by("bad-request", Note.of("trials:refused-anyway", refusal=refusals.unmutated))
    findings.trials = [
        replace(trial, outcome="error", error=error, comparison=None, failure=None, again=())
        if trial.case == asked.case.number and trial.id in refusals.trials
        else trial
        for trial in findings.trials
    ]
    note = Note.of("evaluations:refused-anyway", refusal=refusals.unmutated)
    findings.overruled = Judgement.noted("inconclusive", "errors-decide", note)
