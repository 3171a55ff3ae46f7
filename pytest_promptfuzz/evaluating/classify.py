"""What a run's ending means: an oracle's failure, or an error that says nothing about the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, TargetError
from pytest_promptfuzz.scoring.trial import TrialError

if TYPE_CHECKING:
    from pytest_promptfuzz.running.run import Run


def infrastructure_error(run: Run, *, baseline: Run | None) -> TrialError | None:
    """The error of a run that failed below the prompt, whatever the body then did; ``None`` if it did not.

    A fault on the wire counts unless the same request was answered later in the run. A 400 on a mutation whose
    baseline was accepted was caused by the mutation, and is left to be a deviation.

    Args:
        run: The run to look at.
        baseline: The baseline's run, or ``None`` when ``run`` is the baseline.
    """
    for fault in run.watch.unrecovered():
        if fault.kind == "bad-request" and baseline is not None:
            continue
        return TrialError(fault.kind, fault.message)
    error = run.exception
    if isinstance(error, TargetError):
        if error.kind == "bad-request" and baseline is not None:
            return None
        return TrialError(error.kind, str(error))
    if isinstance(error, ConfigurationError):
        return TrialError("configuration", str(error))
    if isinstance(error, PromptfuzzError):
        return TrialError("usage", str(error))
    return None


def refused(run: Run) -> str:
    """How a model refused a request of this run (HTTP 400) that was not answered later; empty where none did."""
    said = [fault.message for fault in run.watch.unrecovered() if fault.kind == "bad-request"]
    if isinstance(run.exception, TargetError) and run.exception.kind == "bad-request":
        said.append(str(run.exception))
    return said[0] if said else ""
