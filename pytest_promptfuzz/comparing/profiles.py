"""Task profiles: what counts as the same answer depends on what was asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from pytest_promptfuzz.comparing import code, jsontext, labels, sql
from pytest_promptfuzz.comparing.text import analyse
from pytest_promptfuzz.errors import UsageError, nearest

Kind = Literal["label", "json", "sql", "code", "text"]
GUARDS = (
    "refusal",
    "negation",
    "identifiers",
    "numbers",
    "choices",
    "roles",
    "sequence",
    "names",
    "wording",
)
"""Every guard, in the order in which they are asked."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How answers to one kind of task are compared.

    Attributes:
        name: What ``task=`` calls it.
        kind: The form of the answer, which picks the tiers: a label, JSON, SQL, a program, or text.
        equivalent_at: Similarity (words, or meaning) from which answers are equivalent, 0..1.
        minor_at: Similarity of meaning from which a difference is minor, 0..1; below it is a deviation.
        words_minor_at: Similarity of words from which, without the semantic tier, a difference is minor; below it
            the outcome is undecided, since a faithful rewording may share few words.
        guards: The guards that run, by name.
    """

    name: str
    kind: Kind
    equivalent_at: float
    minor_at: float
    words_minor_at: float = 0.6
    guards: tuple[str, ...] = GUARDS


# 0.95 for classification and 0.85 for generation: the adaptive similarity thresholds of the Quirx paper. The lower
# ones are a choice, checked against tests/comparing/data but not fitted to it.
_PROFILES = {
    profile.name: profile
    for profile in (
        Profile("classification", "label", 0.95, 0.60),
        Profile("extraction", "json", 0.95, 0.70),
        Profile("json", "json", 0.95, 0.70),
        Profile("sql", "sql", 0.95, 0.75),
        Profile("code", "code", 0.95, 0.75),
        Profile("summarization", "text", 0.85, 0.60),
        Profile("generation", "text", 0.85, 0.60),
        Profile("translation", "text", 0.85, 0.60),
        Profile("free", "text", 0.85, 0.60),
    )
}
_OTHER_NAMES = {
    "generation/chat": "generation",
    "chat": "generation",
    "summarisation": "summarization",
    "summary": "summarization",
}
TASKS = tuple(_PROFILES)
"""The names ``task=`` takes."""


def profile_for(
    task: str,
    *,
    equivalent_at: float | None = None,
    minor_at: float | None = None,
) -> Profile:
    """The profile of a task, with similarity thresholds of one's own.

    Args:
        task: One of ``TASKS``.
        equivalent_at: Replaces the profile's, 0..1.
        minor_at: Replaces the profile's, 0..``equivalent_at``; it holds for words as well as for meaning.

    Raises:
        UsageError: The task is unknown, or a threshold is no number within its range.
    """
    if not isinstance(task, str):
        raise UsageError(f"task={task!r} is of type {type(task).__name__}; give one of {', '.join(TASKS)}")
    known = _PROFILES.get(_OTHER_NAMES.get(task, task))
    if known is None:
        raise UsageError(f"task={task!r} is unknown. {nearest(task, TASKS)}")
    return with_thresholds(known, equivalent_at=equivalent_at, minor_at=minor_at)


def with_thresholds(profile: Profile, *, equivalent_at: float | None, minor_at: float | None) -> Profile:
    """A profile with thresholds of one's own; see ``profile_for``."""
    for name, value in (("equivalent_at", equivalent_at), ("minor_at", minor_at)):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise UsageError(f"{name}={value!r} must be a number from 0 to 1")
    if equivalent_at is not None:
        profile = replace(profile, equivalent_at=float(equivalent_at))
        if minor_at is None and profile.minor_at > profile.equivalent_at:
            profile = replace(profile, minor_at=profile.equivalent_at)
    if minor_at is not None:
        profile = replace(profile, minor_at=float(minor_at), words_minor_at=float(minor_at))
    if profile.minor_at > profile.equivalent_at:
        raise UsageError(
            f"minor_at={profile.minor_at:g} must not be above equivalent_at={profile.equivalent_at:g}"
        )
    return profile


def infer_task(value: Any) -> str:
    """The task an answer looks like: ``json``, ``sql``, ``code``, ``classification`` (≤ 3 words) or ``generation``.

    Args:
        value: A baseline as ``plain`` returns it.
    """
    if not isinstance(value, str):
        return "json"
    if jsontext.parse(value) is not jsontext.MISSING:
        return "json"
    if sql.looks_like(value):
        return "sql"
    if code.looks_like(value):
        return "code"
    if len(value) > labels.LONGEST:
        return "generation"
    text = analyse(value)
    return (
        "classification" if len(text.words) <= labels.MAX_WORDS and "\n" not in text.clean else "generation"
    )
