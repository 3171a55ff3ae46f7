"""What is said of a test that does not agree with itself on the unmutated prompt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.scoring.repeats import ALONE
from pytest_promptfuzz.scoring.trial import TrialError
from pytest_promptfuzz.scoring.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.evaluating.case import Case
    from pytest_promptfuzz.evaluating.job import Epoch, Job
    from pytest_promptfuzz.evaluating.repeating import Asked
    from pytest_promptfuzz.scoring.trial import Trial


def mixed_models(models: Mapping[str, set[str]]) -> str:
    """Which model answered as more than one, if one did: its answers are of different epochs."""
    for asked, answered in models.items():
        if len(answered) > 1:
            return f"{asked or 'the model'} answered as {' and as '.join(sorted(answered))}"
    return ""


def of_one_model(job: Job, case: Case, trials: list[Trial]) -> Epoch:
    """The trials of a case; where two models answered, everything is asked again, once."""
    mixed = mixed_models(case.models)
    if mixed and job.session.mode in {"auto", "record"} and not case.renewed:
        job.notes.insert(0, f"{mixed}, so every answer of this test was asked for again")
        case.renewed, case.watches, job.evidence = True, case.watches.again(), ALONE
        trials = yield from job.epoch(case)
    refuse_mixed(job, case)
    return trials


def refuse_mixed(job: Job, case: Case) -> None:
    """Nothing is concluded from the answers of two models."""
    mixed = mixed_models(case.models)
    if mixed:
        job.overruled = Judgement("inconclusive", "mixed-models", f"{mixed}: they cannot be compared.")


def in_one_line(error: BaseException) -> str:
    """An exception, in a few words."""
    return f"{type(error).__name__}: {error}"


def noisy(failure: str) -> Judgement:
    """The baseline failed once, with ``failure``, and passed once."""
    return Judgement(
        "noisy",
        "baseline-mixed",
        "The test's own check failed 1 of 2 times on the unmutated prompt, so a failure under mutation would prove "
        f"nothing. It failed with {failure}",
    )


def not_repeatable(what: str, paths: Sequence[str] = (), mend: str = "") -> Judgement:
    """The control trial differs from the baseline.

    Args:
        what: How, in words.
        paths: The JSON paths at which its result differs.
        mend: What to do about it; by default, leave these paths out.
    """
    named = [*paths]
    mend = mend or (
        f"write ignore={named!r}" if named not in ([], ["$"]) else "take the clock, random or unique part out"
    )
    return Judgement(
        "inconclusive",
        "not-repeatable",
        f"The test is not repeatable: run again on the same prompt with the same answers, {what}. "
        f"A difference under mutation would prove nothing; {mend}.",
    )


def refuse_refusals(job: Job, asked: Asked) -> None:
    """Nothing is concluded from refused mutations where the unmutated prompt is refused as well, asked again."""
    if not asked.refused or not asked.refusals:
        return
    why = f"the unmutated prompt was refused as well when it was asked again ({asked.refused.rstrip('.')})"
    error = TrialError("bad-request", f"{why[0].upper()}{why[1:]}.")
    job.trials = [
        replace(trial, outcome="error", error=error, comparison=None, failure=None, again=())
        if trial.case == asked.case.number and trial.id in asked.refusals
        else trial
        for trial in job.trials
    ]
    job.overruled = Judgement("inconclusive", "errors-decide", f"Mutations were refused, but {why}.")
