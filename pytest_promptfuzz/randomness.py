"""Seeded random numbers that are the same on every machine, process and version of Python.

A counter-based generator: block ``i`` of 256 bits is sha256(key, i), and numbers are read off a block by division.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


T = TypeVar("T")
_FLOOR = (
    1 << 96
)  # a block is renewed while it still holds far more than one draw, so that bias stays below 2**-64


def root_key(seed: int, text: str) -> bytes:
    """What all draws for one prompt and seed descend from: 32 bytes."""
    return hashlib.sha256(f"{seed}\n{text}".encode("utf-8", "surrogatepass")).digest()


class Rng:
    """Draws for one operator on one prompt.

    Args:
        root: What all draws for a prompt and seed descend from.
        purpose: What the draws are for: each purpose has its own.
        intensity: See :attr:`intensity`.

    Attributes:
        unheeded: Whether an intensity is set that nobody has asked for yet.
    """

    __slots__ = ("_counter", "_intensity", "_key", "_pool", "unheeded")

    def __init__(self, root: bytes, purpose: str, *, intensity: float | None = None) -> None:
        self._key = root + purpose.encode()
        self._counter = 0
        self._pool = 0
        self._intensity = intensity
        self.unheeded = intensity is not None

    def child(self, purpose: str, *, intensity: float | None = None) -> Rng:
        """Draws for a part of the purpose: they do not depend on how many were drawn here."""
        return Rng(self._key, "/" + purpose, intensity=intensity)

    @property
    def intensity(self) -> float | None:
        """How many places an operator is to change: an int is a count, a float a share (0 to 1), None its own share."""
        self.unheeded = False
        return self._intensity

    def below(self, bound: int) -> int:
        """An integer in ``[0, bound)``, for a bound of at most 2**32."""
        pool = self._pool
        if pool < _FLOOR:
            digest = hashlib.sha256(self._key + self._counter.to_bytes(8, "big")).digest()
            pool = int.from_bytes(digest, "big")
            self._counter += 1
        self._pool, drawn = divmod(pool, bound)
        return drawn

    def choice(self, items: Sequence[T]) -> T:
        """One of a non-empty sequence."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a random order (Fisher-Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` of the items, in the order they stand."""
        size = len(items)
        if count >= size:
            return list(items)
        if count == 1:
            return [items[self.below(size)]]
        chosen: set[int] = set()
        for top in range(size - count, size):  # Floyd's algorithm: no draw is repeated
            drawn = self.below(top + 1)
            chosen.add(top if drawn in chosen else drawn)
        return [items[i] for i in sorted(chosen)]

    def some(self, items: Sequence[T], share: float) -> list[T]:
        """A share of the items, at least one, in the order they stand.

        Args:
            items: The places an operator could act at.
            share: The operator's own share, 0 to 1; ``intensity`` takes its place when it is set.
        """
        if not items:
            return []
        wanted = self._intensity
        self.unheeded = False
        if wanted is None:
            wanted = share
        if isinstance(wanted, int):
            return self.sample(items, wanted)
        return self.sample(items, max(1, int(len(items) * wanted + 0.5)))

    def draws(self, items: Sequence[T], share: float) -> Iterator[list[T]]:
        """:meth:`some` of the items, one draw after another without end; no draw where there are no items."""
        while items:
            yield self.some(items, share)

    def all_then_some(self, items: Sequence[T]) -> Iterator[list[T]]:
        """All items, then one draw of half of them after another; a single item is drawn once.

        ``intensity`` takes the place of both shares when it is set.
        """
        if items:
            yield self.some(items, 1.0)
        while len(items) > 1:
            yield self.some(items, 0.5)
