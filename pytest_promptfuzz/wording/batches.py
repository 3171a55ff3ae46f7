"""Batches in sentences: what was submitted, and why a request has no answer, or no place in a batch."""

from __future__ import annotations

from pytest_promptfuzz.wording.numbers import counted


def submitted(requests: int, provider: str, batch: str) -> str:
    """A provider took a batch."""
    return f"{counted(requests, 'request')} submitted to {provider} as {batch}"


# Why a request is not in a batch.


def streamed() -> str:
    """It asks for a stream."""
    return "a stream"


def not_batched() -> str:
    """There are no batches of such requests."""
    return "no batch takes what is asked there"


def too_large(size: int) -> str:
    """It is larger than any batch."""
    return f"{size:,} bytes are more than a batch takes; it is asked live"


# Why a request has no answer.


def refused() -> str:
    """The model refused."""
    return "the model refused, which is not kept"


def unanswered() -> str:
    """The batch is over, and says nothing of it."""
    return "the batch ended without an answer"


def not_wanted() -> str:
    """Named in the place of a test: none asks for it any more."""
    return "no test asks for it any more"
