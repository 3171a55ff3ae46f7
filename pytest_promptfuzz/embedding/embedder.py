"""What turns texts into vectors, the likeness of two vectors, and an embedder that embeds each text once."""

from __future__ import annotations

import hashlib
import math
from array import array
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pytest_promptfuzz.embedding.vectors import Embedded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.embedding.vectors import Vectors
    from pytest_promptfuzz.wire.watch import Watch


_MOST = 4096
"""Vectors in memory: of MiniLM 7 MB."""


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


@runtime_checkable
class AskingEmbedder(Protocol):
    """An embedder that makes model calls, which belong to a test."""

    @property
    def name(self) -> str:
        """As of any embedder."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """As of any embedder."""
        ...

    def under(self, watch: Watch) -> Embedder:
        """The same for one test, whose calls are seen by ``watch``."""
        ...


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Cosine of two vectors, clipped at 0 and 1; 0.0 where one of them is all zeros."""
    dot = math.fsum(a * b for a, b in zip(first, second, strict=True))
    norm = math.sqrt(math.fsum(a * a for a in first)) * math.sqrt(math.fsum(b * b for b in second))
    return min(1.0, max(0.0, dot / norm)) if norm else 0.0


class CachedEmbedder:
    """An embedder that embeds each text once.

    Args:
        embedder: Whose vectors are kept, in single precision.
        vectors: Where they are kept beyond this process; ``None`` for nowhere.
    """

    def __init__(self, embedder: Embedder, vectors: Vectors | None = None) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._known: dict[str, Embedded] = {}

    @property
    def name(self) -> str:
        """The name of the embedder within."""
        return self._embedder.name

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector for each text; the embedder within is asked once, for all whose vector is not known."""
        keys = [self._key(text) for text in texts]
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if unknown and self._vectors is not None:
            self._known.update(self._vectors.read(unknown))
            unknown = {key: text for key, text in unknown.items() if key not in self._known}
        if unknown:
            found = self._embedder.embed(list(unknown.values()))
            fresh = {
                # In the precision in which it is kept, so that a second run computes with the same numbers.
                key: Embedded(array("f", vector), self._cuts(text))
                for (key, text), vector in zip(unknown.items(), found, strict=True)
            }
            self._known.update(fresh)
            if self._vectors is not None:
                self._vectors.write(fresh)
        vectors: list[Sequence[float]] = [self._known[key].vector for key in keys]
        for key in list(self._known)[: max(0, len(self._known) - _MOST)]:
            del self._known[key]
        return vectors

    def truncates(self, text: str) -> bool:
        """Whether the embedder within cuts the text off."""
        known = self._known.get(self._key(text))
        return self._cuts(text) if known is None else known.cut

    def _cuts(self, text: str) -> bool:
        ask = getattr(self._embedder, "truncates", None)
        return bool(ask(text)) if callable(ask) else False

    def _key(self, text: str) -> str:
        parts = (self.name, getattr(self._embedder, "stamp", ""), text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
