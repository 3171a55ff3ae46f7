"""`Comparison`, `Tier`, `Observation`: the result of comparing two answers; relations other than "says the same"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

from pytest_promptfuzz.errors import UsageError, not_among

if TYPE_CHECKING:
    from collections.abc import Mapping

Outcome = Literal["equivalent", "minor", "deviation", "undecided"]
VERSION = 3
"""Of how answers are compared: another one where the same two answers may have another outcome than before."""


@dataclass(frozen=True, slots=True, init=False)
class Observation:
    """What was observed of two answers: a code, and the values that a sentence about it names.

    ``str()`` makes the sentence, of the template that ``data/wording/comparisons.tsv`` has for the code.

    Attributes:
        code: Short and stable: ``number-became``.
        values: Texts, figures and other observations; several of a kind are a tuple.

    >>> str(Observation("number-became", 14, 41))
    'number 14 in the baseline became 41'
    """

    code: str
    values: tuple[Any, ...]

    def __init__(self, code: str, *values: Any) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        from pytest_promptfuzz.wording.comparisons import sentence  # few sentences are ever read

        return sentence(self.code, self.values)

    def with_others(self, others: Mapping[str, Observation | str]) -> Observation:
        """The same, with others in the place of the observations within it that have these codes."""
        inner = (
            (others[each.code] if each.code in others else each.with_others(others))
            if isinstance(each, Observation)
            else each
            for each in self.values
        )
        return Observation(self.code, *inner)


class SentenceField:
    """A field that is given as an observation or a sentence, and read as a sentence: it is made then.

    Args:
        default: What is read off the class: the value of a field that is not given; ``None`` where it must be.
    """

    def __init__(self, default: str | None = None) -> None:
        self._default = default

    @overload
    def __get__(self, owner: None, kind: type) -> SentenceField: ...
    @overload
    def __get__(self, owner: Observed, kind: type) -> str: ...
    def __get__(self, owner: Observed | None, kind: type) -> Any:
        if owner is not None:
            return str(owner.observed)
        if self._default is None:
            raise AttributeError
        return self._default

    def __set__(self, owner: Observed, value: Observation | str) -> None:
        owner.__dict__["observed"] = value  # the owners are frozen


SENTENCE = SentenceField()
SENTENCE_OR_NONE = SentenceField("")


class Observed:
    """What has a sentence for people, kept as what was observed.

    Attributes:
        observed: An observation of ours, or the sentence of a part of the user's.
    """

    observed: Observation | str

    @property
    def code(self) -> str:
        """The code of what was observed, such as ``number-became``; empty for a sentence that is not ours."""
        return self.observed.code if isinstance(self.observed, Observation) else ""


@dataclass(frozen=True)
class Tier(Observed):
    """What one tier found: ``similarity`` in 0..1, or ``None`` where it only decides."""

    name: str
    similarity: float | None
    note: SentenceField = SENTENCE_OR_NONE


@dataclass(frozen=True)
class Comparison(Observed):
    """How a response compares with its baseline.

    Attributes:
        outcome: ``equivalent``, ``minor``, ``deviation``, or ``undecided`` where no installed tier can tell.
        similarity: 0..1, of the tier that decided; ``None`` when undecided.
        tiers: Every tier that ran, in order.
        reason: A stable identifier of what decided, e.g. ``exact``, ``json-value``, ``guard:negation``.
        explanation: One sentence for a person.
        code: A stable identifier of what the sentence says, e.g. ``number-became``; empty for a sentence that is not
            ours.
    """

    outcome: Outcome
    similarity: float | None
    reason: str
    explanation: SentenceField = SENTENCE
    tiers: tuple[Tier, ...] = ()

    def but(self, **changes: Any) -> Comparison:
        """The same with other values of some fields: as ``replace``, which would make the sentence."""
        return replace(self, **{"explanation": self.observed, **changes})


def decided(outcome: Outcome, reason: str, observed: Observation | str) -> Comparison:
    """A comparison that one tier decides, named by its reason; its similarity is that of its outcome."""
    similarity = {"equivalent": 1.0, "minor": 0.8, "deviation": 0.0}[outcome]
    name = reason.partition(":")[0]
    return Comparison(outcome, similarity, reason, observed, (Tier(name, similarity, observed),))


# What must hold between baseline and response, where it is not that they say the same.


RELATIONS = ("invariance", "format", "language", "renaming", "not-worse", "must-change")

_CHANGED: dict[Outcome, Outcome] = {
    "equivalent": "deviation",
    "minor": "undecided",
    "deviation": "equivalent",
    "undecided": "undecided",
}
_HAD_TO_CHANGE: dict[Outcome, str] = {
    "deviation": "did-not-change",
    "equivalent": "changed",
    "undecided": "may-have-changed",
}
_TELLS = frozenset({"exact", "normalised", "json-value", "label"})


def check_relation(relation: str | None) -> str:
    """The relation, ``invariance`` for ``None``.

    Raises:
        UsageError: It is none of ``RELATIONS``.
    """
    if relation is None:
        return "invariance"
    if relation not in RELATIONS:
        raise UsageError(not_among(f"relation={relation!r}", relation, RELATIONS))
    return relation


def under(relation: str, found: Comparison) -> Comparison:
    """A comparison made for invariance, read under another relation.

    ``must-change`` turns it round. Under ``renaming`` and ``not-worse`` a difference in words proves nothing, so that
    what is neither equal nor close is undecided. Texts under ``format`` and ``language`` have comparisons of their own,
    ``reformatted`` and ``languages``; what comes here is data and tool calls, of which JSON within prose is as good as
    JSON, and a difference in words again proves nothing.
    """
    if relation == "invariance":
        return found
    if relation == "must-change":
        outcome = _CHANGED[found.outcome]
        return found.but(
            outcome=outcome,
            similarity=None if outcome == "undecided" else found.similarity,
            reason=f"must-change:{found.reason}",
            explanation=Observation(_HAD_TO_CHANGE[outcome], found.observed),
        )
    if relation == "format":
        if found.reason == "json-wrapped":
            return found.but(outcome="equivalent", similarity=1.0)
        if not found.reason.endswith("-format"):
            return found
    if found.outcome == "deviation" and (relation == "not-worse" or found.reason not in _TELLS):
        return found.but(
            outcome="undecided",
            similarity=None,
            reason=f"{relation}:{found.reason}",
            explanation=Observation("proves-no-change", found.observed, relation),
        )
    return found
