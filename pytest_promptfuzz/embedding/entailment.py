"""Whether one text follows from another: the protocol, the nine cases of both directions, pairs that are asked once."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, runtime_checkable

from pytest_promptfuzz.embedding.vectors import Embedded
from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.embedding.vectors import Vectors

Label = Literal["entailment", "neutral", "contradiction"]
LABELS: Final[tuple[Label, ...]] = ("entailment", "neutral", "contradiction")
Case = Literal["equivalent", "minor", "deviation", "undecided"]

SURE_AT = 0.5
"""The probability from which a direction counts as entailment or contradiction; below it, it counts as neutral.

At one half no second label can be as likely. Higher values leave more pairs undecided, and err on fewer.
"""

_MOST = 16384
"""Verdicts in memory; each takes about half a kilobyte, its key included."""


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
        raise UsageError(f"sure_at={sure_at!r:.40} must be a number above 0 and at most 1")
    labels = {forward.label(sure_at), backward.label(sure_at)}
    if "contradiction" in labels:
        return "deviation"
    if labels == {"entailment"}:
        return "equivalent"
    return "minor" if "entailment" in labels else "undecided"


class CachedEntailment:
    """Asks each pair once.

    Args:
        entailment: Whose verdicts are kept, in single precision.
        kept: Where they are kept beyond this process, beside the vectors of texts; ``None`` for nowhere.
    """

    def __init__(self, entailment: Entailment, kept: Vectors | None = None) -> None:
        self._entailment = entailment
        self._kept = kept
        self._known: dict[str, Verdict] = {}

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self._entailment.name

    @property
    def stamp(self) -> str:
        """The stamp of the model within."""
        return self._entailment.stamp

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """A verdict for each pair; the model within is asked once, for all whose verdict is not known."""
        stamp = self.stamp
        keys = [self._key(stamp, pair) for pair in pairs]
        found = {key: self._known[key] for key in keys if key in self._known}
        unknown = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        if unknown and self._kept is not None:
            read = {key: _verdict(entry) for key, entry in self._kept.read(unknown).items()}
            found.update((key, verdict) for key, verdict in read.items() if verdict is not None)
            unknown = {key: pair for key, pair in unknown.items() if key not in found}
        if unknown:
            said = self._entailment.scores(list(unknown.values()))
            # In the precision in which they are kept, so that a second run decides by the same numbers.
            fresh = {key: _entry(each) for key, each in zip(unknown, said, strict=True)}
            found.update((key, _of_entry(entry)) for key, entry in fresh.items())
            if self._kept is not None:
                self._kept.write(fresh)
        self._known.update(found)
        for key in list(self._known)[: max(0, len(self._known) - _MOST)]:
            self._known.pop(key, None)
        return [found[key] for key in keys]

    def _key(self, stamp: str, pair: tuple[str, str]) -> str:
        parts = json.dumps(["entailment", self.name, stamp, *pair])
        return hashlib.sha256(parts.encode()).hexdigest()


def _entry(verdict: Verdict) -> Embedded:
    return Embedded(
        array("f", (verdict.entailment, verdict.neutral, verdict.contradiction)), verdict.truncated
    )


def _of_entry(entry: Embedded) -> Verdict:
    entailment, neutral, contradiction = entry.vector
    return Verdict(entailment, neutral, contradiction, entry.cut)


def _verdict(entry: Embedded) -> Verdict | None:
    """What is kept of a pair; ``None`` where it is no verdict."""
    numbers = entry.vector
    if len(numbers) != len(LABELS) or not all(0 <= each <= 1 for each in numbers):
        return None
    return _of_entry(entry) if math.isclose(math.fsum(numbers), 1, abs_tol=1e-3) else None
