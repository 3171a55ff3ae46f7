"""What becomes of a test whose unmutated prompt fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, TargetError
from pytest_promptfuzz.evaluating.classify import infrastructure_error
from pytest_promptfuzz.evaluating.instability import in_one_line, noisy
from pytest_promptfuzz.evaluating.recorded import refuse_unrecorded
from pytest_promptfuzz.evaluating.unseen import perhaps_unseen, refuse_unreplayable, refuse_unseen
from pytest_promptfuzz.running.run import Step
from pytest_promptfuzz.scoring.trial import TrialError
from pytest_promptfuzz.scoring.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pytest_promptfuzz.evaluating.case import Case
    from pytest_promptfuzz.evaluating.job import Job
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.scoring.trial import Trial
    from pytest_promptfuzz.scoring.verdict import Reason

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
