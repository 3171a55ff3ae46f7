"""How a trial fails: what two failures must have in common to be the same one.

A smaller change that fails in another way has found something else. So failures are told apart rather than taken for
the same: what is left of a change may then be larger than it need be, and is never another failure's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.scoring.trial import Trial

    Kind = tuple[str, ...]

_WORDS = 3  # an answer of no more is a label, whose every word counts
_CHARACTERS = 40
_QUOTED = expression(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_ADDRESS = expression(r"\b0x[0-9a-fA-F]{6,}\b")
_MEASURED = expression(r"where (\d+) = len\(")
_PLACE = expression(r"(?m)^(?!E  )(\S[^\n]*?:\d+): [\w.]+$|^\s*File \"([^\n\"]+\", line \d+)")
_EDGES = " \t\r\n.,;:!?\"'`*_()[]"
# What these compare has parts, and their explanations say which part differs; of the others the reason is enough.
_BY_PART = ("json", "yaml", "sql", "schema")


def kind_of(trial: Trial) -> Kind | None:
    """How a trial fails; ``None`` where it does not.

    An exception of the body: its type, its place where it is known, and its message without what varies from answer to
    answer (prose that it quotes, its length, addresses). A comparison: its reason; of structured answers also which
    part differs, and how. An answer of a word or three is a label, and always counts: another wrong label is another
    failure.
    """
    if trial.outcome not in {"deviation", "minor"}:
        return None
    label = _label(trial.value)
    if trial.failure is not None:
        failure = trial.failure
        said = _said(failure.message, "" if label else trial.value)
        return (trial.outcome, "oracle", failure.type, _place(failure.traceback), said, label)
    if trial.comparison is None:  # an oracle that was to notice, and did not
        return (trial.outcome, "unnoticed", label)
    reason = trial.comparison.reason
    part = trial.comparison.explanation.partition(" (also at ")[0] if reason.startswith(_BY_PART) else ""
    return (trial.outcome, "compared", reason, _masked(part), label)


def same_failure(one: Trial, other: Trial) -> bool:
    """Whether two trials fail, and in the same way."""
    kind = kind_of(one)
    return kind is not None and kind == kind_of(other)


def by_kind(trials: Sequence[Trial]) -> list[list[Trial]]:
    """The trials that fail, those that fail in the same way together: the largest group first, in it the least severe.

    Groups of one size are in the order of their first trials.
    """
    groups: dict[Kind, list[Trial]] = {}
    for trial in trials:
        kind = kind_of(trial)
        if kind is not None:
            groups.setdefault(kind, []).append(trial)
    ranked = sorted(groups.values(), key=len, reverse=True)
    return [sorted(group, key=lambda trial: trial.mutation.severity) for group in ranked]


def in_one_line(trial: Trial) -> str:
    """How a trial fails, for people: the exception with the first line of its message, or why the answer differs."""
    if trial.failure is not None:
        kind, first = trial.failure.type, _first_line(trial.failure.message)
        said = first if first.startswith(kind) or not first else f"{kind}: {first}"
        return said or kind
    return " ".join(trial.comparison.explanation.split()) if trial.comparison is not None else ""


def _label(value: Any) -> str:
    """An answer that is a label, in lower case and without what stands around it; empty for any other."""
    if isinstance(value, bool | int | float):
        return str(value)
    if not isinstance(value, str):
        return ""
    bare = value.strip(_EDGES)
    short = len(bare) <= _CHARACTERS and len(bare.split()) <= _WORDS and "\n" not in bare
    return " ".join(bare.casefold().split()) if short else ""


def _said(message: str, answer: Any) -> str:
    """The first line of a message without what varies from answer to answer."""
    measured = set(_MEASURED.findall(message))
    said = _first_line(message)
    if isinstance(answer, str) and answer.strip():
        said = said.replace(" ".join(answer.split()), "…")
    said = _ADDRESS.sub("0x…", _masked(said))
    for number in sorted(measured):
        said = re.sub(rf"\b{number}\b", "…", said, count=1)
    return said


def _masked(text: str) -> str:
    """The text without the prose that it quotes; a word or three that it quotes stay."""
    return _QUOTED.sub(lambda found: found.group() if _label(found.group()[1:-1]) else "…", text)


def _first_line(text: str) -> str:
    return next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")


def _place(traceback: str) -> str:
    """File and line where a body failed, the innermost that a traceback names; empty where it names none."""
    found = _PLACE.findall(traceback)
    return (found[-1][0] or found[-1][1]) if found else ""
