"""Which texts a comparison would embed: found by comparing without a model, to embed them all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Wanted:
    """Stands in for an embedder, and takes down what it is asked for. Its vectors say nothing.

    Args:
        name: Of the embedder.

    Attributes:
        texts: What it was asked for, each once and in order.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.texts: dict[str, None] = {}

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """As many vectors as texts, all alike."""
        self.texts.update(dict.fromkeys(texts))
        return [[0.0]] * len(texts)
