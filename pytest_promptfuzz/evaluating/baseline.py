"""What becomes of a test whose unmutated prompt fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, TargetError
from pytest_promptfuzz.evaluating.classify import infrastructure_error
from pytest_promptfuzz.evaluating.unseen import refuse_unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.scoring.trial import TrialError

# What is wrong with the configuration when the unmutated prompt is refused.
_MENDS = {
    "authentication": "Check the API key and what it may do.",
    "not-found": "Check the model name and the base URL.",
    "bad-request": "The provider refuses the unmutated request: check the model's parameters.",
    "unpriced": "Without it the budget cannot be kept.",
    "not-simulated": "Add answer=$.path to its line of promptfuzz_endpoints, or name another target.",
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
    error = infrastructure_error(run, baseline=None)
    if error is not None and error.kind in _MENDS:
        raise ConfigurationError(f"{where}: {error.message} {_MENDS[error.kind]}") from raised
    return error
