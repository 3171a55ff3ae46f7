"""Designs of studies that ask a part of what could be asked: balanced cells, fractions of combinations."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, gcd
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.factorial import GENERATORS, two_level

if TYPE_CHECKING:
    from pytest_promptfuzz.randomness import Rng


def read_share(given: Any, where: str) -> float:
    """A share of cells: ``"20%"``, or a number above 0, at most 1.

    Raises:
        UsageError: It is none.
    """
    share = given
    if isinstance(given, str):
        try:
            share = float(given.strip().removesuffix("%")) / (100 if given.strip().endswith("%") else 1)
        except ValueError:
            share = None
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise UsageError(
            f"{where}={given!r:.40}; give a share of the cells above 0% and up to 100%, such as 20%."
        )
    return float(share)


def balanced_cells(changes: int, inputs: int, share: float, rng: Rng) -> list[tuple[int, int]]:
    """Cells of a table of changes and inputs, so that each change has as many as any other, and each input: ± 1.

    They lie on diagonals of the table, whose rows and columns are in a random order. A larger share has the cells of
    a smaller one.

    Args:
        changes: How many rows there are.
        inputs: How many columns there are.
        share: Of all cells; what it comes to is rounded up.
        rng: Draws the order.

    Returns:
        Numbers of a row and a column each.
    """
    if not changes or not inputs:
        return []
    diagonals = gcd(changes, inputs)
    length = changes * inputs // diagonals
    rows, columns, shifts = (rng.shuffled(range(each)) for each in (changes, inputs, diagonals))
    count = ceil(share * changes * inputs - 1e-9)
    return [(rows[at % changes], columns[(at + shifts[at // length]) % inputs]) for at in range(count)]


RESOLUTIONS = (3, 4, 5)


def fraction_of(factors: int, resolution: int | None) -> Fraction:
    """The smallest fraction of all combinations of some two-level factors that has at least a resolution.

    Args:
        factors: How many there are.
        resolution: 3 keeps the factors' effects apart from each other, 4 from what two factors do together, 5 also
            keeps what any two do together apart; ``None`` for all combinations.

    Returns:
        1 where no fraction has that resolution.

    Raises:
        UsageError: Another resolution.
    """
    if resolution is None:
        return Fraction(1)
    if isinstance(resolution, bool) or resolution not in RESOLUTIONS:
        raise UsageError(
            f"resolution={resolution!r:.40}; give 3, 4 or 5, or leave it out for all combinations."
        )
    names = [str(each) for each in range(factors)]
    for halvings in range(factors - 1, 0, -1):
        if (factors, halvings) in GENERATORS:
            found = two_level(names, Fraction(1, 2**halvings))
            if found.resolution is not None and found.resolution >= resolution:
                return Fraction(1, 2**halvings)
    return Fraction(1)
