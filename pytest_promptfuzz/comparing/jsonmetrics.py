"""How alike two JSON values are: their keys are aligned first, then the values under them compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.alignment import canonical_key
from pytest_promptfuzz.comparing.jsontext import MISSING
from pytest_promptfuzz.comparing.rouge import rouge_l
from pytest_promptfuzz.embedding.embedder import cosine
from pytest_promptfuzz.wire.paths import equal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.embedding.embedder import Embedder


def aligned(first: Any, second: Any) -> Iterator[tuple[Any, Any]]:
    """The scalars of two values in pairs; ``MISSING`` where only one of them has a place.

    Members pair by key, in any order, ``orderNumber`` with ``order_number``; items of lists by place. Empty objects and
    lists are scalars here.
    """
    if isinstance(first, dict) and isinstance(second, dict) and (first or second):
        one, two = ({canonical_key(str(key)): item for key, item in each.items()} for each in (first, second))
        for key in [*one, *(key for key in two if key not in one)]:
            yield from aligned(one.get(key, MISSING), two.get(key, MISSING))
    elif isinstance(first, list) and isinstance(second, list) and (first or second):
        for place in range(max(len(first), len(second))):
            yield from aligned(*(each[place] if place < len(each) else MISSING for each in (first, second)))
    elif any(isinstance(each, (dict, list)) and each for each in (first, second)):
        # An object or a list against something else: no place of the one is in the other.
        for value in _scalars(first):
            yield value, MISSING
        for value in _scalars(second):
            yield MISSING, value
    else:
        yield first, second


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)) and value:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _scalars(each)
    elif value is not MISSING:
        yield value


def json_rouge(first: Any, second: Any) -> float:
    """Aligned-key JSONRouge of two JSON values, 0..1, symmetric.

    ``(1 / |P|) Σ s(p)`` over the places P that either value has once keys are aligned: s is 1 where the values are
    equal, ROUGE-L F1 where they are texts or a text and a scalar (as JSON writes it), and 0 where they are other
    scalars or only one value has the place.

    Args:
        first: A value of JSON types.
        second: Another one.

    Source: the measure that enterprise benchmarks of prompt sensitivity name JSONRouge; they align keys, then compare
    values by ROUGE-L. What equal, absent and unlike scalars count is defined here.

    >>> json_rouge({"of": "the red lamp", "price": 3}, {"price": 3, "of": "a red lamp"})
    0.8333333333333333
    """
    return _mean(first, second, _by_words)


def json_similarity(first: Any, second: Any, embedder: Embedder) -> float:
    """Aligned-key JSONSimilarity of two JSON values, 0..1, symmetric.

    As ``json_rouge``, with the cosine of the embeddings, clipped at 0, where both values are texts; another scalar is
    equal or not. All texts are embedded in one call.

    Args:
        first: A value of JSON types.
        second: Another one.
        embedder: What embeds the texts.
    """
    pairs = [(one, two) for one, two in aligned(first, second) if _texts(one, two) and one != two]
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}

    def by_meaning(one: Any, two: Any) -> float:
        return cosine(vectors[one], vectors[two]) if _texts(one, two) else 0.0

    return _mean(first, second, by_meaning)


def _mean(first: Any, second: Any, alike: Callable[[Any, Any], float]) -> float:
    values = [
        0.0 if one is MISSING or two is MISSING else 1.0 if equal(one, two) else alike(one, two)
        for one, two in aligned(first, second)
    ]
    return sum(values) / len(values)


def _texts(one: Any, two: Any) -> bool:
    return isinstance(one, str) and isinstance(two, str)


def _by_words(one: Any, two: Any) -> float:
    if not isinstance(one, str) and not isinstance(two, str):
        return 0.0
    return rouge_l(*(each if isinstance(each, str) else json.dumps(each) for each in (one, two)))
