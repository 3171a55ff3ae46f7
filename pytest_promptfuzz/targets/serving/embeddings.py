"""OpenAI embeddings, as the server sees them: small, deterministic, and honest about what they measure.

A vector counts words and character trigrams, hashed into its dimensions with a sign (Weinberger et al. 2009,
"Feature hashing for large scale multitask learning"), and has length 1. Texts that share words are near each
other; no meaning beyond that is claimed.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import struct
from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.serving.contract import InvalidBodyError, positive_integer, require_model

if TYPE_CHECKING:
    from collections.abc import Mapping

DIMENSIONS = 256
WORD = re.compile(r"\w+")


def embed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A unit vector of ``dimensions`` floats in [-1, 1]; all zeros for a text without words."""
    features: Counter[str] = Counter()
    for word in WORD.findall(text.casefold()):
        features[word] += 2
        padded = f"<{word}>"
        features.update(padded[start : start + 3] for start in range(len(padded) - 2))
    vector = [0.0] * dimensions
    for feature, count in features.items():
        number = int.from_bytes(hashlib.sha256(feature.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        vector[(number >> 1) % dimensions] += count if number & 1 else -count
    length = math.sqrt(sum(each * each for each in vector))
    return [each / length for each in vector] if length else vector


def answer(body: Mapping[str, Any], model: str = "") -> dict[str, Any]:
    """The answer to an embeddings request, in floats or base64 as ``encoding_format`` says.

    Raises:
        InvalidBodyError: No model, or ``input`` that is not a text or a list of texts.
    """
    asked = require_model(body)
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(each, str) for each in texts):
        raise InvalidBodyError(
            "Invalid 'input': expected a text or a non-empty array of texts.", param="input"
        )
    dimensions = positive_integer(body, "dimensions") or DIMENSIONS
    if dimensions > 4096:
        raise InvalidBodyError("Invalid 'dimensions': at most 4096.", param="dimensions")
    data = []
    for index, text in enumerate(texts):
        vector: list[float] | str = embed(text, dimensions)
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{dimensions}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    tokens = sum(math.ceil(len(text) / 4) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": model or asked, "data": data, "usage": usage}
