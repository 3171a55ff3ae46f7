"""Every exception and warning that this package raises on purpose, and the hint "Did you mean …?".

A message says what happened, to what (test, file, value), and what to write instead.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class PromptfuzzError(Exception):
    """Base of all errors raised by pytest-promptfuzz."""


class PromptfuzzWarning(UserWarning):
    """Something was done in part: fewer mutations than asked for, and why."""


class UsageError(PromptfuzzError, ValueError):
    """A value given to us is wrong: unknown operator, threshold out of range, empty prompt."""


class ConfigurationError(PromptfuzzError):
    """The environment lacks something a test needs: a target, a key, an extra, a model name."""


class NotRecordedError(ConfigurationError):
    """A test that may use its recording only asks for what is not recorded."""


class StoreError(PromptfuzzError):
    """A cache or recording cannot be read or written; nothing stored was lost."""


class PartError(PromptfuzzError):
    """A tier, a guard or a judge raised, or returned what it must not: the trial says nothing about the prompt.

    Args:
        message: What happened, without a full stop.
        part: ``tier``, ``guard`` or ``judge``; ``judge-answer`` where it is a model that answered.
    """

    def __init__(self, message: str, *, part: str) -> None:
        super().__init__(message)
        self.part = part


class TargetError(PromptfuzzError):
    """A call to a model failed for a reason that says nothing about the prompt.

    Args:
        message: What happened, in a sentence.
        kind: One of ``rate-limit``, ``server``, ``connection``, ``timeout``, ``malformed``,
            ``authentication``, ``billing`` (no credit is left), ``not-found``, ``bad-request`` (400, 413),
            ``refused`` (any other 4xx), ``target-raised``, ``not-text``.
        status: The HTTP status, where there was one.
    """

    def __init__(self, message: str, *, kind: str, status: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status


def unstopped(message: object) -> str:
    """A message without the full stop at its end, to stand before one.

    >>> unstopped(ValueError("no such file."))
    'no such file'
    """
    return str(message).rstrip().removesuffix(".")


def quoted(text: str, width: int = 60) -> str:
    """A text in quotes for a message, cut after a word.

    >>> quoted("Classify the mood of the text.", 20)
    "'Classify the mood…'"
    """
    if len(text) > width:
        head = text[: width + 1]
        kept = head.rpartition(" ")[0].rstrip() or head[:width]
        text = kept + "…"
    return repr(text)


MOST_NAMES = 24
"""The most names that a message lists."""


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names that may be meant, at most three, the likeliest first."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if not close:
        # Written in capitals, no letter is alike.
        lower = {each.lower(): each for each in names}
        close = [lower[each] for each in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    return close


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: `` Did you mean 'upper'?``, or the list of what exists.

    >>> nearest("uper", ["upper", "lower"])
    "Did you mean 'upper'?"
    """
    names = sorted(known)
    close = close_names(name, names)
    if close:
        return "Did you mean " + " or ".join(repr(each) for each in close) + "?"
    rest = len(names) - MOST_NAMES
    return "Known: " + ", ".join(names[:MOST_NAMES]) + (f" and {rest} more." if rest > 0 else ".")
