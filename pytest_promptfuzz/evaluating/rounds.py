"""What a test asks once every case has begun: the rest of its plan as far as it is needed, and more if it may fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.evaluating.compared import paired_of
from pytest_promptfuzz.evaluating.conclude import says_brittle
from pytest_promptfuzz.evaluating.counterexamples import counterexamples
from pytest_promptfuzz.evaluating.default_controls import controlling
from pytest_promptfuzz.evaluating.drift import drifting
from pytest_promptfuzz.evaluating.instability import of_one_model, refuse_mixed, refuse_refusals
from pytest_promptfuzz.evaluating.pacing import Pace
from pytest_promptfuzz.evaluating.repeating import asking_again, evidence_of, with_repeats
from pytest_promptfuzz.scoring.repeats import ALPHA, EARLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.case import Case
    from pytest_promptfuzz.evaluating.job import Job, Steps
    from pytest_promptfuzz.evaluating.pacing import Part
    from pytest_promptfuzz.scoring.repeats import Evidence


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

    def brittle(evidence: Evidence) -> bool:
        return says_brittle(job.trials, job.contract, evidence, waiting=waiting, paired=paired_of(job))

    def proves(evidence: Evidence) -> bool:
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
