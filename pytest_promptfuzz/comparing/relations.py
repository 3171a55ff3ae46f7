"""What must hold between baseline and response, where it is not that they say the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.comparison import Comparison, Outcome

RELATIONS = ("invariance", "format", "language", "renaming", "not-worse", "must-change")

_CHANGED: dict[Outcome, Outcome] = {
    "equivalent": "deviation",
    "minor": "undecided",
    "deviation": "equivalent",
    "undecided": "undecided",
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
        raise UsageError(f"relation={relation!r} is unknown. {nearest(str(relation), RELATIONS)}")
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
        lead = {
            "deviation": "the answer had to change and did not",
            "equivalent": "the answer changed, as it had to",
        }
        start = lead.get(outcome, "the answer had to change, and it cannot be told whether it did")
        explanation = f"{start}: {found.explanation}"
        similarity = None if outcome == "undecided" else found.similarity
        return replace(
            found,
            outcome=outcome,
            similarity=similarity,
            reason=f"must-change:{found.reason}",
            explanation=explanation,
        )
    if relation == "format":
        if found.reason == "json-wrapped":
            return replace(found, outcome="equivalent", similarity=1.0)
        if not found.reason.endswith("-format"):
            return found
    if found.outcome == "deviation" and (relation == "not-worse" or found.reason not in _TELLS):
        explanation = (
            f"{found.explanation}; under the relation {relation!r} this alone proves no change of behaviour"
        )
        return replace(
            found,
            outcome="undecided",
            similarity=None,
            reason=f"{relation}:{found.reason}",
            explanation=explanation,
        )
    return found
