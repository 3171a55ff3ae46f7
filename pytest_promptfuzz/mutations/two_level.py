"""Two-level designs: which runs, what is confounded with what, and the effects that orthogonal contrasts give.

Generators of fractions are those of Box, Hunter and Hunter, "Statistics for Experimenters" (table of 2^(k-p) designs of
highest resolution); the same stand in the NIST/SEMATECH e-Handbook of Statistical Methods, section 5.3.3.4.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_FACTORS = 8
"""The most factors of one design: 256 runs in full."""

# By (k, p): the last p factors are set by products of the first ones, A to H being the factors in order.
_GENERATORS: dict[tuple[int, int], tuple[str, ...]] = {
    (3, 1): ("AB",),
    (4, 1): ("ABC",),
    (5, 1): ("ABCD",),
    (5, 2): ("AB", "AC"),
    (6, 1): ("ABCDE",),
    (6, 2): ("ABC", "BCD"),
    (6, 3): ("AB", "AC", "BC"),
    (7, 1): ("ABCDEF",),
    (7, 2): ("ABCD", "ABDE"),
    (7, 3): ("ABC", "BCD", "ACD"),
    (7, 4): ("AB", "AC", "BC", "ABC"),
    (8, 1): ("ABCDEFG",),
    (8, 2): ("ABCD", "ABEF"),
    (8, 3): ("ABC", "ABD", "BCDE"),
    (8, 4): ("BCD", "ACD", "ABC", "ABD"),
}

Term = tuple[str, ...]
"""Factors whose levels are multiplied: one is a main effect, two are an interaction."""


@dataclass(frozen=True, slots=True)
class TwoLevel:
    """The runs of a full or fractional 2^k design.

    Attributes:
        factors: The names, in order.
        generators: For each factor that a fraction sets by others: its name and theirs. Empty in a full design.
        signs: One row a run, one sign (-1 or 1) a factor; the first factor changes fastest (standard order).
    """

    factors: Term
    generators: tuple[tuple[str, Term], ...]
    signs: tuple[tuple[int, ...], ...]

    @property
    def defining_relation(self) -> tuple[Term, ...]:
        """The products of factors that are 1 in every run, shortest first; empty in a full design."""
        words = self._words()
        return tuple(
            sorted((self._term(word) for word in words), key=lambda term: (len(term), self._places(term)))
        )

    @property
    def resolution(self) -> int | None:
        """The length of the shortest word of the defining relation; None in a full design.

        At III main effects are confounded with interactions of two, at IV these among themselves, at V neither.
        """
        return min(map(len, self.defining_relation), default=None)

    def aliases(self, term: Sequence[str]) -> tuple[Term, ...]:
        """The effects that a fraction cannot tell from that of ``term``, shortest first."""
        mask = self._mask(term)
        found = (self._term(word ^ mask) for word in self._words() if word != mask)
        return tuple(sorted(found, key=lambda other: (len(other), self._places(other))))

    def contrast(self, term: Sequence[str]) -> tuple[int, ...]:
        """The sign of ``term`` in each run: the product of its factors' signs."""
        places = [index for index in range(len(self.factors)) if self._mask(term) >> index & 1]
        return tuple(math.prod(row[index] for index in places) for row in self.signs)

    def effect(self, term: Sequence[str], values: Sequence[float]) -> float:
        """The mean of the values where ``term`` is 1, less the mean where it is -1: ``2/N * sum(sign * value)``.

        Args:
            term: Names of factors, each once.
            values: One number a run, in the order of the runs.

        Raises:
            UsageError: An unknown factor, not one finite number a run, or a term that no run changes.
        """
        numbers = _checked(values, len(self.signs))
        signs = self.contrast(term)
        if len(set(signs)) < 2:
            raise UsageError(
                f"effect: {' × '.join(term) or 'no factor'} has the same sign in every run, so that it cannot be"
                " estimated; run more of the design."
            )
        return math.fsum(sign * value for sign, value in zip(signs, numbers, strict=True)) * 2 / len(signs)

    def terms(self, order: int) -> tuple[Term, ...]:
        """The products of ``order`` factors that change from run to run, in order."""
        words = self._words()
        return tuple(term for term in combinations(self.factors, order) if self._mask(term) not in words)

    def _mask(self, term: Sequence[str]) -> int:
        mask = 0
        for name in term:
            if name not in self.factors:
                raise UsageError(
                    f"There is no factor {name!r} in this design. Known: {', '.join(self.factors)}."
                )
            bit = 1 << self.factors.index(name)
            if mask & bit:
                raise UsageError(f"The factor {name!r} is named twice in {' × '.join(term)}; name it once.")
            mask |= bit
        return mask

    def _term(self, mask: int) -> Term:
        return tuple(name for index, name in enumerate(self.factors) if mask >> index & 1)

    def _places(self, term: Term) -> tuple[int, ...]:
        return tuple(map(self.factors.index, term))

    def _words(self) -> set[int]:
        words = {0}
        for name, term in self.generators:
            word = self._mask((name, *term))
            words |= {word ^ other for other in words}
        return words - {0}


def two_level(factors: Sequence[str], fraction: float | Fraction = 1) -> TwoLevel:
    """A full or fractional 2^k design.

    Args:
        factors: 1 to 8 names.
        fraction: 1 for all ``2**k`` runs, else 1/2, 1/4, 1/8 or 1/16 of them.

    Raises:
        UsageError: Too many factors, a fraction that is no power of two, or one that leaves too few runs to tell the
            factors apart.
    """
    k = len(factors)
    if not 1 <= k <= MOST_FACTORS:
        raise UsageError(f"factors: {k} of them; a design has 1 to {MOST_FACTORS}.")
    p = _halvings(fraction)
    if p and (k, p) not in _GENERATORS:
        possible = [f"1/{2**q}" for q in range(1, k) if (k, q) in _GENERATORS]
        raise UsageError(
            f"fraction={fraction}: {k} factors cannot be told apart in so few runs; give"
            f" {' or '.join(['1', *possible])}."
        )
    generators = tuple(
        (factors[k - p + index], tuple(factors["ABCDEFGH".index(letter)] for letter in word))
        for index, word in enumerate(_GENERATORS[k, p] if p else ())
    )
    rows: list[tuple[int, ...]] = []
    for run in range(2 ** (k - p)):
        row = [1 if run >> index & 1 else -1 for index in range(k - p)]
        for _, term in generators:
            row.append(math.prod(row[factors.index(name)] for name in term))
        rows.append(tuple(row))
    return TwoLevel(tuple(factors), generators, tuple(rows))


def _halvings(fraction: float | Fraction) -> int:
    """How often a design is halved: 0 for 1, 1 for 1/2."""
    if isinstance(fraction, int | float | Fraction) and not isinstance(fraction, bool) and 0 < fraction <= 1:
        inverse = 1 / Fraction(fraction)
        if inverse.denominator == 1 and inverse.numerator & (inverse.numerator - 1) == 0:
            return inverse.numerator.bit_length() - 1
    raise UsageError(f"fraction={fraction!r}: give 1, 1/2, 1/4, 1/8 or 1/16.")


def _checked(values: Sequence[float], runs: int) -> list[float]:
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or len(values) != runs:
        raise UsageError(f"values: give one number for each of the {runs} runs, in their order.")
    for number, value in enumerate(values):
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | Fraction)
            or not math.isfinite(value)
        ):
            raise UsageError(f"values: run {number} has {value!r}; give a finite number for every run.")
    return [float(value) for value in values]
