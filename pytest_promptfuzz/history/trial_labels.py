"""What a trial is called where people read it: its operator and the words that it changes.

Unlike its ID, a label does not depend on the rest of the prompt: a change elsewhere leaves it as it is.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_SHOWN = 2  # changes of a trial; the next ones are three dots
_LONGEST = 36  # characters of one side of a change
_SPACE = str.maketrans({"\n": "⏎", "\t": "⇥", " ": "␣"})


def label_of(operators: Iterable[str], diff: Iterable[Sequence[str]]) -> str:
    """The label of a trial.

    Args:
        operators: Each as ``name@version``.
        diff: ``("=", same)``, ``("-", removed)`` and ``("+", added)``, in order.

    >>> label_of(["misspelling@1"], [("=", "Answer "), ("-", "with"), ("+", "wiht"), ("=", " one word")])
    'misspelling: with → wiht'
    """
    names = " + ".join(each.partition("@")[0] for each in operators)
    changes = [_change(list(group)) for same, group in groupby(diff, lambda each: each[0] == "=") if not same]
    more = [*changes[:_SHOWN], *(["…"] if len(changes) > _SHOWN else [])]
    return f"{names}: {', '.join(more)}" if more else names


def labels_of(
    trials: Iterable[tuple[str, str, Iterable[str], Iterable[Sequence[str]]]],
    hide: Callable[[str], str] = lambda text: text,
) -> dict[str, dict[str, str]]:
    """The labels of trials by input and ID, each once in its input: a number tells those that are alike apart.

    Args:
        trials: Of each its input, ID, operators and diff, in the order of the plan.
        hide: Takes what is not to be stored out of a text.
    """
    found: dict[str, dict[str, str]] = {}
    for case, trial, operators, diff in trials:
        known = found.setdefault(case, {})
        if trial in known:
            continue
        label = wanted = hide(label_of(operators, diff))
        taken = set(known.values())
        number = 1
        while label in taken:
            number += 1
            label = f"{wanted} ({number})"
        known[trial] = label
    return found


def _change(pieces: Sequence[Sequence[str]]) -> str:
    """A change of some words that stand together."""
    removed, added = ("".join(text for sign, text in pieces if sign == which) for which in "-+")
    if removed.split() == added.split():  # white space alone
        return (
            f"{_visible(removed)} → {_visible(added)}"
            if removed and added
            else _one(removed, added, _visible)
        )
    return f"{_words(removed)} → {_words(added)}" if removed and added else _one(removed, added, _words)


def _one(removed: str, added: str, shown: Callable[[str], str]) -> str:
    return f"- {shown(removed)}" if removed else f"+ {shown(added)}"


def _words(text: str) -> str:
    return _cut(" ".join(text.split()) or _visible(text))


def _visible(text: str) -> str:
    return _cut(text.translate(_SPACE))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
