"""What words leave open, settled by entailment in both directions, claim by claim."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.claims.residue import unmatched
from pytest_promptfuzz.comparing.claims.verdict import LONGEST, SETTLE, WITHOUT_MODEL
from pytest_promptfuzz.comparing.comparison import Comparison, Tier
from pytest_promptfuzz.comparing.reading.answer import read
from pytest_promptfuzz.comparing.text import shown
from pytest_promptfuzz.embedding.entailment import nine_cases

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.comparison import Outcome
    from pytest_promptfuzz.comparing.reading.answer import Answer, Statement
    from pytest_promptfuzz.embedding.entailment import Entailment

_WINDOW = 2
"""Statements of the other answer that a claim is held against: those that share the most telling words with it."""
_FEWEST = 2
"""Words from which a statement is a claim; headings and marks are none."""
_SURE = 0.9
"""Probability from which a claim follows or contradicts: an answer has many claims, and one of them decides."""
_SIMILARITIES = {"equivalent": 1.0, "minor": 0.8, "deviation": 0.0}
_OPEN = frozenset({"claims", "no-semantic-tier", "semantic"})
"""Reasons of an undecided comparison of texts that were read, not given up as too long or of no kind."""


def settled(first: str, second: str, found: Comparison, entailment: Entailment) -> Comparison:
    """An undecided comparison of two answers, settled where a model tells entailment.

    Each claim of an answer is a hypothesis, the statements of the other that speak of it are the premise. All claims of
    both following: equivalent. One that contradicts, both ways: deviation. All of one answer following, and some of
    the other's left open: minor, one of them says more. Otherwise undecided. What has the same words of meaning in
    another arrangement is never made equivalent or minor: small models do not see it.
    """
    if found.reason not in _OPEN or max(len(first), len(second)) > LONGEST:
        return found
    one, two = read(first), read(second)
    ahead, back = _questions(two, one), _questions(one, two)
    if not ahead or not back:
        return found
    asked = [*ahead, *back]
    verdicts = entailment.scores([(each.premise, each.claim) for each in asked])
    contradicted = [
        each for each, verdict in zip(asked, verdicts, strict=True) if verdict.label(_SURE) == "contradiction"
    ]
    if contradicted:
        # What contradicts is contradicted in turn: one of many claims is easily misjudged one way, seldom both ways.
        turned = entailment.scores([(each.claim, each.nearest) for each in contradicted])
        for each, verdict in zip(contradicted, turned, strict=True):
            if verdict.label(_SURE) == "contradiction":
                return _told(found, "deviation", f"{shown(each.claim)} contradicts {shown(each.nearest)}")
        return _untold(found)
    follow = [verdict.label(_SURE) == "entailment" for verdict in verdicts]
    if not (unmatched(one, two) or unmatched(two, one)):
        return _untold(found)
    # The claim that follows least stands for its answer.
    weakest = [
        min(range(*span), key=lambda index: verdicts[index].entailment)
        for span in ((0, len(ahead)), (len(ahead), len(asked)))
    ]
    outcome = nine_cases(*(verdicts[index] for index in weakest), sure_at=_SURE)
    if outcome == "equivalent":
        return _told(found, outcome, "each claim of either answer follows from the other")
    if outcome == "minor":
        which, index = ("response", weakest[1]) if follow[weakest[0]] else ("baseline", weakest[0])
        return _told(found, outcome, f"only the {which} says {shown(asked[index].claim)}")
    return _untold(found)


class _Question(NamedTuple):
    """Whether a claim follows from the statements of the other answer that speak of it; the nearest of them."""

    premise: str
    claim: str
    nearest: str


def _questions(premises: Answer, claims: Answer) -> list[_Question]:
    return [
        _question(statement, premises)
        for statement in claims.statements
        if sum(token.kind in {"word", "figure"} for token in statement.pieces) >= _FEWEST
    ]


def _question(claim: Statement, answer: Answer) -> _Question:

    def shared(index: int) -> int:
        return len(claim.keys & answer.statements[index].keys)

    ranked = sorted(range(len(answer.statements)), key=lambda index: (-shared(index), index))[:_WINDOW]
    texts = [_text(answer.statements[index]) for index in sorted(ranked)]
    return _Question(" ".join(texts), _text(claim), _text(answer.statements[ranked[0]]))


def _text(statement: Statement) -> str:
    return f"{statement.heading}: {statement.text}" if statement.heading else statement.text


def _told(found: Comparison, outcome: Outcome, said: str) -> Comparison:
    similarity = _SIMILARITIES[outcome]
    tiers = (*found.tiers, Tier("entailment", similarity, said))
    return Comparison(outcome, similarity, "entailment", said, tiers)


def _untold(found: Comparison) -> Comparison:
    """What stays undecided, without the advice to ask the model that was asked."""
    explanation = found.explanation
    if explanation.endswith(SETTLE):
        explanation = (
            f"{explanation.removesuffix(SETTLE)}the entailment model cannot tell either; {WITHOUT_MODEL}"
        )
    return replace(found, explanation=explanation, tiers=(*found.tiers, Tier("entailment", None)))
