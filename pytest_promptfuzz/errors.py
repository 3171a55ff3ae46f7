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


class UnknownTrialError(UsageError):
    """The one trial that is to run is none of the plan's: another test may have it."""


class ConfigurationError(PromptfuzzError):
    """The environment lacks something a test needs: a target, a key, an extra, a model name.

    Args:
        message: What it lacks, and what to do.
        kind: Of an unmutated prompt that a model refused: how, as of a ``TargetError``.
    """

    def __init__(self, message: str = "", *, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


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


# First words that begin a message and are no names.
_ORDINARY = frozenset(["A", "An", "Cannot", "It", "No", "Target", "The", "There", "This"])


def continued(message: object) -> str:
    """A message as it stands after a colon: it begins with a small letter.

    >>> continued(UsageError("There is no file 'a.txt'."))
    "there is no file 'a.txt'."
    """
    text = str(message)
    return text[:1].lower() + text[1:] if text.partition(" ")[0] in _ORDINARY else text


def without_test(message: str, test: str) -> str:
    """A message without the test that it begins with, for a place that prints the test beside it.

    >>> without_test("UsageError: test_a.py::test_b: threshold=85 is out of range.", "test_a.py::test_b")
    'UsageError: threshold=85 is out of range.'
    """
    kind, found, rest = message.partition(f"{test}: ")
    begins = not kind or kind.removesuffix("Error: ").isalpha()
    return kind + rest if found and begins else message


def quoted(text: str, width: int = 60) -> str:
    """A text in quotes for a message, cut after a word.

    >>> quoted("Classify the mood of the text.", 20)
    "'Classify the mood of…'"
    """
    if len(text) > width:
        head = text[: width + 1]
        kept = head.rpartition(" ")[0].rstrip() or head[:width]
        text = kept + "…"
    return repr(text)


_FEW_NAMES = 10  # of more, one that may be meant says enough


def not_among(given: str, name: object, known: Iterable[str]) -> str:
    """The sentence for a value that is none of a few names, and which one may be meant.

    >>> not_among("gate='sure'", "sure", ["point", "confident"])
    "gate='sure' is not one of point, confident."
    >>> not_among("gate='pont'", "pont", ["point", "confident"])
    "gate='pont' is not one of point, confident. Did you mean 'point'?"
    """
    names = list(known)
    hint = nearest(name, names) if isinstance(name, str) and close_names(name, names) else ""
    if hint and len(names) > _FEW_NAMES:
        return f"{given} is unknown. {hint}"
    return f"{given} is not one of {', '.join(names)}. {hint}".rstrip()


MOST_NAMES = 24
"""The most names that a message lists."""


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names that may be meant, at most three, the likeliest first."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.65)
    if not close:
        # Written in capitals, no letter is alike.
        lower = {each.lower(): each for each in names}
        close = [lower[each] for each in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.65)]
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
