"""What becomes of a test whose unmutated prompt fails."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, TargetError, UsageError
from pytest_promptfuzz.evaluating.contract import refuse_unrecorded
from pytest_promptfuzz.evaluating.judge import infrastructure_error
from pytest_promptfuzz.evaluating.role_prompts import perhaps_unseen, refuse_unreplayable, refuse_unseen
from pytest_promptfuzz.results.trials import TrialError
from pytest_promptfuzz.running.run import Step
from pytest_promptfuzz.stats.repeats import ALONE
from pytest_promptfuzz.stats.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from pytest_promptfuzz.evaluating.job import Case, Epoch, Job
    from pytest_promptfuzz.evaluating.phases.resampling import CaseAnswers
    from pytest_promptfuzz.evaluating.role_prompts import OnWire
    from pytest_promptfuzz.prompts.messages import MutatedPart
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.stats.verdict import Reason


# What is said of a test that does not agree with itself on the unmutated prompt.


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


def refuse_refusals(job: Job, asked: CaseAnswers) -> None:
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


# What is wrong with the configuration when the unmutated prompt is refused.
_MENDS = {
    "authentication": "Check the API key and what it may do.",
    "billing": "Check the account's credit and its limits of spending.",
    "refused": "Check the base URL, the model and what the account may do.",
    "not-found": "Check the model name and the base URL.",
    "bad-request": "The provider refuses the unmutated request: check the model's parameters.",
    "unpriced": "Without it the budget cannot be kept.",
    "not-simulated": "Add answer=$.path to its line of promptfuzz_endpoints, or name another target.",
    "confined": "",
    "not-allowed": "Record the answers first, or allow calls.",
}


class BaselineFailed(PromptfuzzError):  # noqa: N818 - nothing is wrong with the program: the baseline failed
    """The body fails on the unmutated prompt, twice: an ordinary test failure.

    ``exception`` is the body's, ``case`` the name of the input it failed on, if inputs have names.
    """

    def __init__(self, exception: BaseException, case: str = "") -> None:
        on = f" on input {case}" if case else ""
        super().__init__(f"the unmutated prompt already fails{on}: {type(exception).__name__}: {exception}")
        self.exception = exception
        self.case = case


def baseline_error(run: Run, where: str, skips: Callable[[BaseException], bool]) -> TrialError | None:
    """The error that kept the unmutated prompt from being answered; ``None`` if there was none.

    Args:
        run: The baseline's.
        where: The test, for messages.
        skips: Whether an exception is the test runner's skip.

    Raises:
        ConfigurationError: The provider refuses key, model or request, or was asked where it is not seen.
        BaseException: What the body raised, where it skips or is used in the wrong way.
    """
    raised = run.exception
    if raised is not None and skips(raised):
        raise raised
    if isinstance(raised, PromptfuzzError) and not isinstance(raised, TargetError):
        raise raised
    refuse_unseen(run, where)
    error = infrastructure_error(run)
    if error is None and raised is not None and run.watch.refused:
        error = TrialError("confined", f"{run.watch.refused[0]} (the body then raised {in_one_line(raised)})")
    if error is not None and error.kind in _MENDS:
        raise ConfigurationError(f"{where}: {error.message} {_MENDS[error.kind]}".rstrip()) from raised
    return error


def begun(job: Job, case: Case) -> Generator[list[Step], list[Run], Run | list[Trial]]:
    """Ask the unmutated prompt of a case; where its own check fails, once more.

    Returns:
        The run that trials are compared with; or, where there is none, the case's trials, none of which was made. Why
        is kept in the job's judgement.

    Raises:
        BaselineFailed: The body fails twice.
        ConfigurationError: As ``baseline_error``.
        NotRecordedError: Only the recording may be used, and has no answer or no plan.
    """
    prompt, name = case.prompt, job.names[case.number]
    (run,) = yield [Step(prompt, case.watch(concurrent=job.together), case.number)]
    job.count(run, case)
    refuse_unreplayable(job.session.tape, run, case.unrecorded, job.where)
    refuse_unrecorded(job.session.tape, [run])
    if case.unrecorded is not None:
        raise case.unrecorded
    error = baseline_error(run, job.where, job.skips)
    job.notes += perhaps_unseen(run)
    if error is None and run.exception is not None:
        (again,) = yield [Step(prompt, case.watch(repeat=1), case.number)]
        job.count(again, case)
        refuse_unrecorded(job.session.tape, [again])
        error = baseline_error(again, job.where, job.skips)
        if error is None and again.exception is not None:
            raise BaselineFailed(run.exception, name) from run.exception
        if error is None:
            job.overruled = noisy(in_one_line(run.exception))
            return case.abandoned("baseline-mixed", "The unmutated prompt failed and passed.")
    if error is None:
        return run
    on = f" of input {name}" if name else ""
    message = f"We could not get the baseline{on}: {error.message}"
    reason: Reason = "budget-spent" if error.kind == "budget" else "baseline-error"
    job.overruled = Judgement("inconclusive", reason, f"{message} ({error.kind})")
    return case.abandoned(reason, message)


def may_overlap(job: Job, baseline: Run) -> bool:
    """Whether the runs after this one may overlap; calls that could not be told apart then make them run in turn."""
    if job.concurrent and baseline.watch.unattributed:
        job.notes.append(
            "model calls came from threads that do not carry the test's context, so the trials ran in sequence"
        )
        job.concurrent = False
    return job.concurrent


# The prompt where only the baseline's run shows it: what it asked with, or the input that it filled in.


def shown_by(baseline: Run, prompt: Prompt, part: MutatedPart, on_wire: OnWire | None, where: str) -> Prompt:
    """The prompt to plan over: on the wire the text of a role, else the prompt with its input.

    Raises:
        UsageError: The baseline shows none, or several.
    """
    if on_wire is not None:
        return on_wire.prompt(baseline, where)
    return _filled_by(baseline, prompt, part, where)


def _filled_by(baseline: Run, prompt: Prompt, part: MutatedPart, where: str) -> Prompt:
    """The prompt with the input that the baseline's body gave it.

    Args:
        baseline: The run of the unmutated prompt.
        prompt: The template.
        part: What is mutated, for messages.
        where: The test, for messages.

    Raises:
        UsageError: The body filled no slots, or filled them with several inputs.
    """
    named = f"part={part.shown!r}"
    if not baseline.fillings:
        raise UsageError(
            f"{where}: {named} mutates what the test puts into the prompt's slots, and it filled none. Let it "
            "call format() of a Prompt that has slots, or name the input by itself with mutate=."
        )
    if len(baseline.fillings) > 1:
        raise UsageError(
            f"{where}: {named} needs one input, and the test filled the prompt with {len(baseline.fillings)} "
            "different ones. Parametrize the test over them."
        )
    return prompt.fill(**baseline.fillings[0])
