"""Embeddings of OpenAI and of servers that speak its protocol, as targets: asked, stored and limited like any other."""

from __future__ import annotations

import base64
import json
import math
import sys
from array import array
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.targets.compatible import CompatibleTarget
from pytest_promptfuzz.targets.model import Request, Response, Usage
from pytest_promptfuzz.targets.openai import OpenAITarget

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PATH = "/embeddings"
_HOW = "Write 'openai:text-embedding-3-small' or 'compatible:MODEL@URL'"


class OpenAIEmbeddings(OpenAITarget):
    """``openai:MODEL`` for embeddings.

    The messages of a request are the texts; the response's text is a JSON list of their vectors.
    """

    path = PATH
    example = "openai:text-embedding-3-small"
    encoding = "base64"

    def _build(self, request: Request) -> dict[str, Any]:
        texts = [message["content"] for message in request.messages]
        return {"model": self.model, "input": texts, "encoding_format": self.encoding, **request.parameters}

    def _method(self, client: Any) -> Callable[..., Any]:
        create: Callable[..., Any] = client.embeddings.with_raw_response.create
        return create

    def parse(self, body: dict[str, Any]) -> Response:
        """The vectors in a stored or fresh answer body.

        Raises:
            TargetError: ``malformed``: it holds none, or what is no vector.
        """
        tokens = usage.get("prompt_tokens") if isinstance(usage := body.get("usage"), dict) else None
        return Response(
            json.dumps(vectors_in(body)),
            usage=Usage(tokens if isinstance(tokens, int) else None, None),
            model=str(body.get("model") or ""),
        )


class CompatibleEmbeddings(OpenAIEmbeddings, CompatibleTarget):
    """``compatible:MODEL@URL`` for embeddings, in floats: not every server knows the shorter form."""

    example = "compatible:nomic-embed-text@http://localhost:11434/v1"
    encoding = "float"


def embeddings(name: str) -> OpenAIEmbeddings:
    """The target that a name means.

    Raises:
        UsageError: It is none of a provider with embeddings, or names no model.
    """
    scheme = name.strip().partition(":")[0]
    if scheme == "openai":
        found = OpenAIEmbeddings.from_name(name.strip())
    elif scheme == "compatible":
        found = CompatibleEmbeddings.from_name(name.strip())
    else:
        raise UsageError(f"{name!r} names no provider of embeddings. {_HOW}.")
    return found  # type: ignore[return-value]  # from_name makes what it is called on


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
