"""Two answers in sentences: labels within JSON, tool calls, answers that were cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


# Labels within JSON.


def same_label(label: str, explanation: str) -> str:
    """What stands beside the label differs."""
    return f"both answers give the label {label!r}; {explanation}"


def label_unwrapped(label: str) -> str:
    """What reads the baseline's JSON cannot read the response."""
    return f"the baseline gives the label {label!r} within JSON, the response without"


def label_wrapped(label: str) -> str:
    """The response is JSON, and the baseline is the label alone."""
    return f"the response gives the label {label!r} within JSON"


# Tool calls.


def other_calls(before: Sequence[str], now: Sequence[str]) -> str:
    """Other tools are called, or the same in another order."""
    return f"tool calls {', '.join(before) or 'none'} became {', '.join(now) or 'none'}"


def same_calls() -> str:
    """The same tools are called with the same arguments."""
    return "the tool calls are equal by value"


def other_text_beside(explanation: str) -> str:
    """The tool calls are the same, and what is said beside them is not."""
    return f"the tool calls are equal; the text beside them differs: {explanation}"


# Token limits.


def cut_off(*, first: bool) -> str:
    """One of the answers is not whole: the baseline where ``first``, else the response."""
    return f"the {'baseline' if first else 'response'} was cut off at its token limit"


def but(explanation: str, note: str) -> str:
    """What was found, and what is to be known besides."""
    return f"{explanation}; {note}"
