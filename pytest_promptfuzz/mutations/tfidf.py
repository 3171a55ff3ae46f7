"""How alike short texts are, by the words they share, rare ones weighing more."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD = expression(r"[^\W_]+")


class TfIdf:
    """Texts as vectors of words, weighted ``tf * (1 + ln((1 + n) / (1 + df)))`` and of length 1.

    The weight is the smoothed TF-IDF in common use (Salton and Buckley, 1988).

    Args:
        texts: What is compared; ``n`` of them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_WORD.findall(text.lower())) for text in texts]
        documents: Counter[str] = Counter()
        for each in counts:
            documents.update(each.keys())
        total = 1 + len(texts)
        self._vectors: list[dict[str, float]] = []
        for each in counts:
            vector = {
                word: count * (1.0 + math.log(total / (1 + documents[word])))
                for word, count in sorted(each.items())
            }
            norm = math.sqrt(math.fsum(weight * weight for weight in vector.values()))
            self._vectors.append({word: weight / norm for word, weight in vector.items()})

    def similarity(self, first: int, second: int) -> float:
        """The cosine of two of the texts, 0 to 1, to nine places; 0 for a text without words."""
        one, two = self._vectors[first], self._vectors[second]
        return round(math.fsum(weight * two[word] for word, weight in one.items() if word in two), 9)
