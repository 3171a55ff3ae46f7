"""What turns texts into vectors, the likeness of two vectors, and an embedder that embeds each text once."""

from __future__ import annotations

import hashlib
import math
from array import array
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence


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


class CachedEmbedder:
    """An embedder that embeds each text once.

    Args:
        embedder: Whose vectors are kept, in single precision.
        cache: Where to; a mapping from strings to lists of floats. A dictionary of its own by default, a
            ``vectors.VectorFile`` for vectors that outlive the process.
    """

    def __init__(self, embedder: Embedder, cache: MutableMapping[str, list[float]] | None = None) -> None:
        self._embedder = embedder
        self._cache: MutableMapping[str, list[float]] = {} if cache is None else cache

    @property
    def name(self) -> str:
        """The name of the embedder within."""
        return self._embedder.name

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, from the cache where it has it; the embedder within is asked once for the rest."""
        keys = [self._key(text) for text in texts]
        found = {key: self._cache.get(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        if missing:
            for key, fresh in zip(missing, self._embedder.embed(list(missing.values())), strict=True):
                # In the precision in which they are kept on disk, so that a second run computes with the same numbers.
                found[key] = self._cache[key] = array("f", fresh).tolist()
        return [vector for key in keys if (vector := found[key]) is not None]

    def truncates(self, text: str) -> bool:
        """Whether the embedder within cuts the text off."""
        ask = getattr(self._embedder, "truncates", None)
        return bool(ask(text)) if callable(ask) else False

    def _key(self, text: str) -> str:
        parts = (self.name, getattr(self._embedder, "stamp", ""), text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
