"""What a run's ending means: an oracle's failure, or an error that says nothing about the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, TargetError
from pytest_promptfuzz.scoring.trial import TrialError
from pytest_promptfuzz.wire.network_guard import ConnectionNotAllowedError

if TYPE_CHECKING:
    from pytest_promptfuzz.running.run import Run


def infrastructure_error(run: Run, *, caused: bool = False) -> TrialError | None:
    """The error of a run that failed below the prompt, whatever the body then did; ``None`` if it did not.

    A fault on the wire counts unless the same request was answered later in the run.

    Args:
        run: The run to look at.
        caused: Whether the mutation is known to be what a model refuses (HTTP 400, 413): what the application makes of
            that is then judged like any answer.
    """
    for fault in run.watch.unrecovered():
        if fault.kind == "bad-request" and caused:
            continue
        return TrialError(fault.kind, fault.message)
    error = run.exception
    if run.watch.refused and was_refused(error):
        return TrialError("confined", run.watch.refused[0])
    if isinstance(error, TargetError):
        if error.kind == "bad-request" and caused:
            return None
        return TrialError(error.kind, str(error))
    if isinstance(error, ConfigurationError):
        return TrialError("configuration", str(error))
    if isinstance(error, PromptfuzzError):
        return TrialError("usage", str(error))
    return None


def refused(run: Run) -> str:
    """How a model refused a request of this run (HTTP 400, 413) that was not answered later; empty where none did."""
    said = [fault.message for fault in run.watch.unrecovered() if fault.kind == "bad-request"]
    if isinstance(run.exception, TargetError) and run.exception.kind == "bad-request":
        said.append(str(run.exception))
    return said[0] if said else ""


def was_refused(error: BaseException | None) -> bool:
    """Whether an exception goes back to a connection that the network guard refused."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting:
        each = waiting.pop()
        if not isinstance(each, BaseException) or each in seen:
            continue
        if isinstance(each, ConnectionNotAllowedError):
            return True
        seen.append(each)
        waiting += [
            each.__cause__,
            each.__context__,
            *(arg for arg in each.args if isinstance(arg, BaseException)),
        ]
    return False
