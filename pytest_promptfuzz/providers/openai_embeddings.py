"""OpenAI's embeddings, and those of servers that speak its protocol: texts in, vectors out."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import struct
import sys
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.providers.bodies import InvalidBodyError, positive_integer, require_model
from pytest_promptfuzz.providers.requests import Response, Usage
from pytest_promptfuzz.providers.wire_format import WireFormat, WordlessAnswer, content_texts
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_promptfuzz.providers.bodies import Model
    from pytest_promptfuzz.providers.requests import Request
    from pytest_promptfuzz.providers.wire_format import BodyText


PATH = "/embeddings"


def answer_embeddings(body: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The local server's answer to a request, in floats or base64 as ``encoding_format`` says.

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
    if dimensions > _MOST_DIMENSIONS:
        raise InvalidBodyError(f"Invalid 'dimensions': at most {_MOST_DIMENSIONS}.", param="dimensions")
    data = []
    for index, text in enumerate(texts):
        vector: list[float] | str = embed(text, dimensions)
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{dimensions}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    tokens = sum(math.ceil(len(text) / 4) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    name = str(getattr(model, "version", "")) or asked
    return {"object": "list", "model": name, "data": data, "usage": usage}


class OpenAIEmbeddings(WireFormat):
    """OpenAI's embeddings, whose answers are no words."""

    provider = "openai"
    host = "openai.com"
    wordless: ClassVar[dict[str, WordlessAnswer]] = {PATH: WordlessAnswer("data", list, answer_embeddings)}
    fields = ("input",)
    bounds = ()
    call_fields = ("$.id", "$.created", "$.usage")

    def messages(self, body: Mapping[str, Any]) -> Iterator[tuple[str, list[BodyText]]]:
        """A text that is embedded by itself is the user's; a list of them is nobody's."""
        if isinstance(body.get("input"), str):
            yield "user", content_texts(body, "input", "$.input")

    def build_body(self, request: Request, model: str) -> dict[str, Any]:
        """The JSON body, as the SDK sends it: the contents of the messages are the texts."""
        texts = [message["content"] for message in request.messages]
        return {"model": model, "input": texts, **request.parameters}

    def parse(self, body: dict[str, Any]) -> Response:
        """The vectors of an answer, as a JSON list.

        Raises:
            TargetError: ``malformed``: it holds none, or what is no vector.
        """
        tokens = usage.get("prompt_tokens") if isinstance(usage := body.get("usage"), dict) else None
        return Response(
            json.dumps(vectors_in(body)),
            usage=Usage(tokens if isinstance(tokens, int) else None, None),
            model=str(body.get("model") or ""),
        )


OPENAI_EMBEDDINGS = OpenAIEmbeddings()


# The vectors of an answer.


def vectors_in(body: dict[str, Any]) -> list[list[float]]:
    """The vectors of an answer body, in the order of the texts that were asked about.

    Raises:
        TargetError: ``malformed``.
    """
    data = body.get("data")
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise TargetError("The answer holds no list 'data' of embeddings.", kind="malformed")
    places = [each.get("index", place) for place, each in enumerate(data)]
    if sorted(places, key=str) != sorted(range(len(data)), key=str):
        raise TargetError("The embeddings of the answer are not numbered from 0.", kind="malformed")
    found = dict(zip(places, (_vector(each.get("embedding")) for each in data), strict=True))
    vectors = [found[place] for place in range(len(data))]
    if len({len(vector) for vector in vectors}) > 1:
        raise TargetError("The embeddings of the answer differ in length.", kind="malformed")
    return vectors


def _vector(value: object) -> list[float]:
    numbers: Sequence[Any] = []
    if isinstance(value, list):
        numbers = value
    elif isinstance(value, str):
        numbers = _decoded(value)
    usable = [each for each in numbers if isinstance(each, int | float) and not isinstance(each, bool)]
    if not numbers or len(usable) != len(numbers) or not all(map(math.isfinite, usable)):
        raise TargetError("An embedding of the answer is no list of numbers.", kind="malformed")
    return [float(each) for each in usable]


def _decoded(text: str) -> Sequence[float]:
    """Little-endian numbers in single precision, in base64."""
    try:
        data = base64.b64decode(text, validate=True)
        numbers = array("f", data)
    except ValueError:
        return []
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


# What the local server answers: small, deterministic, and honest about what it measures.
#
# A vector counts words and character trigrams, hashed into its dimensions with a sign (Weinberger et al. 2009,
# "Feature hashing for large scale multitask learning"), and has length 1. Texts that share words are near each
# other; no meaning beyond that is claimed.


_MOST_DIMENSIONS = 4096
DIMENSIONS = 256
_WORD = expression(r"\w+")


def embed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A unit vector of ``dimensions`` floats in [-1, 1]; all zeros for a text without words."""
    features: Counter[str] = Counter()
    for word in _WORD.findall(text.casefold()):
        features[word] += 2
        padded = f"<{word}>"
        features.update(padded[start : start + 3] for start in range(len(padded) - 2))
    vector = [0.0] * dimensions
    for feature, count in features.items():
        number = int.from_bytes(hashlib.sha256(feature.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        vector[(number >> 1) % dimensions] += count if number & 1 else -count
    length = math.sqrt(sum(each * each for each in vector))
    return [each / length for each in vector] if length else vector
