"""What a judge is shown and what it says: `JudgedPair`, `Rating`, and the protocols of judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier, under
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.comparison import Outcome


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
        relation: What must hold between the answers, as in ``comparing.comparison``.
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
        """1 (poor) to 3 (good) of an answer to a prompt, by a measure of ``judging.model_judge.MEASURES``."""
        ...


# What a judge may decide, and what comes of its rating.


_OUTCOMES: dict[int, tuple[Outcome, float]] = {
    3: ("equivalent", 1.0),
    2: ("minor", 0.8),
    1: ("deviation", 0.0),
}
_EXACT = frozenset({"exact", "normalised", "json-value", "empty"})
_CUT = "guard:truncation"


def open_to_judge(found: Comparison, relation: str, *, always: bool) -> bool:
    """Whether a judge is asked about a comparison.

    Args:
        found: What cheaper tiers say.
        relation: What must hold.
        always: Whether it is asked about more than what they leave undecided: about everything but answers that are
            equal or empty.

    Returns:
        ``False`` where a guard found a contradiction: it is never overruled.
    """
    reason = found.reason.removeprefix(f"{relation}:")
    if reason.startswith("guard:") and relation != "not-worse" and _contradicted(found, relation):
        return False
    return found.outcome == "undecided" or (always and reason not in _EXACT)


def _contradicted(found: Comparison, relation: str) -> bool:
    """Whether the guard that a comparison names found a contradiction; a doubt is a minor difference."""
    if relation == "must-change":  # the change that had to be; a minor difference is undecided there
        return found.outcome == "equivalent"
    return found.outcome in {"deviation", "undecided"}


def by_judge(found: Comparison, rating: Rating, judge: str, relation: str) -> Comparison:
    """A comparison as the judge decides it."""
    if rating.rating is None:
        tiers = (*found.tiers, Tier("judge", None, rating.explanation))
        text = sentence(Note.of("judges:cannot-tell", judge=judge, why=rating.explanation))
        return Comparison("undecided", None, "judge", text, tiers)
    outcome, similarity = _OUTCOMES[rating.rating]
    note = Note.of("judges:agreement", judge=judge, rating=rating.rating, why=rating.explanation)
    if relation == "not-worse":
        code = "judges:no-worse" if rating.rating == 3 else "judges:worse"
        note = Note.of(code, judge=judge, why=rating.explanation)
    text = sentence(note)
    tiers = (*found.tiers, Tier("judge", similarity, rating.explanation))
    decided = Comparison(outcome, similarity, "judge", text, tiers)
    cut = next((each.observed for each in found.tiers if each.name == _CUT), "")
    if cut and outcome == "equivalent":  # an answer that was cut off is never equivalent to one that was not
        explanation = Observation("and-besides", text, cut)
        decided = decided.but(outcome="minor", similarity=0.99, explanation=explanation)
    return under(relation, decided) if relation == "must-change" else decided
