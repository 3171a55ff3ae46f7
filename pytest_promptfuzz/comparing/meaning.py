"""`Embedder` and `Entailment`: what a comparison asks of a model of meaning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, runtime_checkable

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    An embedder may also have ``truncates(text) -> bool``, and ``stamp``, a text that tells this copy of the model from
    others of its name: vectors on disk are used as long as it stays.
    """

    @property
    def name(self) -> str:
        """The model and its version: vectors of different names are never compared."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, all of one length."""
        ...


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Cosine of two vectors, clipped at 0 and 1; 0.0 where one of them is all zeros."""
    dot = math.fsum(a * b for a, b in zip(first, second, strict=True))
    norm = math.sqrt(math.fsum(a * a for a in first)) * math.sqrt(math.fsum(b * b for b in second))
    return min(1.0, max(0.0, dot / norm)) if norm else 0.0


Label = Literal["entailment", "neutral", "contradiction"]


LABELS: Final[tuple[Label, ...]] = ("entailment", "neutral", "contradiction")


Case = Literal["equivalent", "minor", "deviation", "undecided"]


SURE_AT = 0.5
"""The probability from which a direction counts as entailment or contradiction; below it, it counts as neutral.

At one half no second label can be as likely. Higher values leave more pairs undecided, and err on fewer.
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a model says of a premise and a hypothesis: three probabilities, which sum to 1.

    Attributes:
        entailment: That the hypothesis follows from the premise.
        neutral: That it may be true or not.
        contradiction: That it cannot be true.
        truncated: Whether the two together were longer than the model reads, so that it did not see all of them.
    """

    entailment: float
    neutral: float
    contradiction: float
    truncated: bool = False

    def label(self, sure_at: float = SURE_AT) -> Label:
        """The label that counts: entailment or contradiction with a probability of at least ``sure_at``, else neutral.

        Of texts that were cut off nothing is known to follow: they are neutral, or contradict each other.

        >>> Verdict(0.9, 0.08, 0.02).label(), Verdict(0.45, 0.35, 0.2).label(), Verdict(0.9, 0.1, 0, True).label()
        ('entailment', 'neutral', 'neutral')
        """
        if self.contradiction >= sure_at and self.contradiction >= self.entailment:
            return "contradiction"
        return "entailment" if self.entailment >= sure_at and not self.truncated else "neutral"


@runtime_checkable
class Entailment(Protocol):
    """Tells of each pair whether the second text follows from the first.

    ``name`` is the model and its version. ``stamp`` tells this copy of it from others of its name: verdicts on disk are
    used as long as both stay.
    """

    @property
    def name(self) -> str:
        """The model and its version."""
        ...

    @property
    def stamp(self) -> str:
        """What tells this copy from others of the name."""
        ...

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """A verdict for each pair of a premise and a hypothesis, in their order."""
        ...


def nine_cases(forward: Verdict, backward: Verdict, *, sure_at: float = SURE_AT) -> Case:
    """What both directions say together of two claims.

    ============= ============= ======= =============
    forward       backward
    ------------- -------------------------------------
    ..            entailment    neutral contradiction
    ============= ============= ======= =============
    entailment    equivalent    minor   deviation
    neutral       minor         undecided deviation
    contradiction deviation     deviation deviation
    ============= ============= ======= =============

    Both texts say the same if each follows from the other (Kuhn, Gal and Farquhar 2023, "Semantic uncertainty";
    Farquhar et al. 2024, "Detecting hallucinations in large language models using semantic entropy").

    Args:
        forward: Whether the second follows from the first.
        backward: Whether the first follows from the second.
        sure_at: The probability below which a direction counts as neutral, above 0 and at most 1.

    Raises:
        UsageError: ``sure_at`` is out of range.

    >>> follows, open_ = Verdict(0.9, 0.1, 0.0), Verdict(0.2, 0.7, 0.1)
    >>> nine_cases(follows, follows), nine_cases(follows, open_), nine_cases(open_, open_)
    ('equivalent', 'minor', 'undecided')
    >>> nine_cases(follows, Verdict(0.1, 0.1, 0.8))
    'deviation'
    """
    if not 0 < sure_at <= 1:
        raise UsageError(f"sure_at={sure_at!r:.40} is not a number above 0 and at most 1")
    labels = {forward.label(sure_at), backward.label(sure_at)}
    if "contradiction" in labels:
        return "deviation"
    if labels == {"entailment"}:
        return "equivalent"
    return "minor" if "entailment" in labels else "undecided"
