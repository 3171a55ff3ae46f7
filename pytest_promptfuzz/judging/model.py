"""What a judge is shown and what it says; the protocols of judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from pytest_promptfuzz.errors import UsageError

Preference = Literal["first", "second", "neither"]

RATINGS = (1, 2, 3)
"""3: the same content; 2: minor differences; 1: another answer."""


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two answers to be held against each other.

    Attributes:
        baseline: What was answered to the unchanged prompt.
        response: What was answered to the changed one.
        prompt: What was asked, unchanged; empty where nobody knows.
        relation: What must hold between the answers, as in ``comparing.relations``.
    """

    baseline: str
    response: str
    prompt: str = ""
    relation: str = "invariance"


@dataclass(frozen=True, slots=True)
class Rating:
    """What a judge says of a pair.

    Attributes:
        rating: 3 (the same), 2 (minor differences), 1 (different); ``None`` where it cannot tell.
        explanation: Why, in a sentence.
        orders: By order in which the answers were shown, every rating that was given, one a repeat.
    """

    rating: int | None
    explanation: str = ""
    orders: tuple[tuple[int, ...], ...] = field(default=())

    def __post_init__(self) -> None:
        known = self.rating is None or (not isinstance(self.rating, bool) and self.rating in RATINGS)
        if not known or not isinstance(self.explanation, str):
            raise UsageError(f"Rating({self.rating!r}, …): give 3, 2, 1 or None, and an explanation as text.")


@runtime_checkable
class Judge(Protocol):
    """Rates how far two answers agree."""

    @property
    def name(self) -> str:
        """What reports and messages call it."""
        ...

    def rate(self, pair: JudgedPair) -> Rating | int | None:
        """A rating; 3, 2 or 1 is one without explanation, ``None`` one that leaves the pair undecided."""
        ...


@runtime_checkable
class Grader(Protocol):
    """Grades one answer by one measure of quality; a judge may be one as well."""

    @property
    def name(self) -> str:
        """What reports and messages call it."""
        ...

    def grade(self, measure: str, prompt: str, answer: str) -> int:
        """1 (poor) to 3 (good) of an answer to a prompt, by a measure of ``wording.MEASURES``."""
        ...
