"""Calls in sentences: why one waits or is not made again, and limits that do not hold for all processes."""

from __future__ import annotations

from pytest_promptfuzz.errors import unstopped


def waiting(seconds: float, lane: str, why: str, since: float) -> str:
    """Calls wait; ``since`` is for how many seconds they did so already, 0 where that is not worth telling."""
    before = f", {since:.0f} s so far" if since else ""
    return f"waiting {max(1, round(seconds))} s for {lane} ({why}{before})"


def limits() -> str:
    """Calls wait for their turn."""
    return "its limits"


def failing(what: str, tries: int, attempts: int) -> str:
    """Calls wait after a failure."""
    return f"{what}, try {tries} of {attempts}"


# What a failure adds to its message.


def tried(tries: int, attempts: int) -> str:
    """Which try it was."""
    return f" (try {tries} of {attempts})"


def asked_to_wait(seconds: float, most: float, option: str) -> str:
    """The provider wants more patience than there is."""
    return f" (not tried again: the provider asks to wait {seconds:.0f} s, longer than {_most(most, option)})"


def nothing_answered(most: float, option: str) -> str:
    """Patience is over."""
    return f" (not tried again: no call has been answered for nearly {_most(most, option)})"


def _most(seconds: float, option: str) -> str:
    return f"{seconds:g} s ({option})"


# Files that cannot be used.


def vectors_unusable(path: object, error: object) -> str:
    """Vectors of texts are not kept."""
    return (
        f"The vectors of compared texts in {path} cannot be used ({unstopped(error)}); they are computed anew. "
        "Mend its permissions, or remove it."
    )


def ledger_unusable(path: object, error: object) -> str:
    """Processes cannot share their limits."""
    return (
        f"{path} cannot be used ({error}), so limits and budget hold for each process by itself, not for all of them "
        "together."
    )
