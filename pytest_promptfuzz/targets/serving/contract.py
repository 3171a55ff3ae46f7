"""What the wire formats ask of a model, and the small tools that all of them share."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_promptfuzz.targets.model import Request, Response

PIECE = re.compile(r"\s*\S+\s*\Z|\s*\S+")


class Model(Protocol):
    """Anything that answers a request; ``SimulatedModel`` does."""

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        """The answer to one request; ``sample`` numbers repeats of the same request from 0."""
        ...


class Answer(NamedTuple):
    """An HTTP answer: status, headers, and a payload, whole (bytes) or streamed (an iterator of bytes)."""

    status: int
    headers: dict[str, str]
    payload: bytes | Iterator[bytes]


class InvalidBodyError(Exception):
    """A request body that the provider would answer with status 400.

    Args:
        message: What is wrong, in a sentence.
        param: The field that is wrong, ``messages[0].role``.
    """

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def require_model(body: Mapping[str, Any]) -> str:
    """The model asked for; raises ``InvalidBodyError`` without one."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise InvalidBodyError("you must provide a model parameter", param="model")
    return model


def require_list(body: Mapping[str, Any], name: str) -> list[Any]:
    """A required, non-empty array of the body; raises ``InvalidBodyError`` otherwise."""
    value = body.get(name)
    if value is None:
        raise InvalidBodyError(f"Missing required parameter: '{name}'.", param=name)
    if not isinstance(value, list) or not value:
        raise InvalidBodyError(f"Invalid '{name}': expected a non-empty array.", param=name)
    return value


def require_object(value: object, where: str) -> dict[str, Any]:
    """``value`` as a JSON object; raises ``InvalidBodyError`` naming ``where`` otherwise."""
    if not isinstance(value, dict):
        raise InvalidBodyError(f"Invalid '{where}': expected an object.", param=where)
    return value


def positive_integer(body: Mapping[str, Any], name: str) -> int | None:
    """An optional field that must be an integer of at least 1."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidBodyError(f"Invalid '{name}': expected an integer of at least 1.", param=name)
    return value


def digest(body: Mapping[str, Any], length: int = 24) -> str:
    """Hexadecimal digits that depend on the body alone, for identifiers that replay the same."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def call_id(prefix: str, body: Mapping[str, Any], index: int) -> str:
    """The identifier of the ``index``-th tool call of the answer to ``body``."""
    return f"{prefix}{digest(body, 20)}{index:02d}"


def pieces(text: str) -> Iterator[str]:
    """``text`` in word-sized pieces, as a model streams it; joined they are ``text`` again."""
    if not text:
        return
    end = 0
    for match in PIECE.finditer(text):
        end = match.end()
        yield match.group()
    if end < len(text):
        yield text[end:]


def halves(text: str) -> Iterator[str]:
    """``text`` in two pieces, so that a reader of partial JSON is put to work."""
    middle = len(text) // 2
    for part in (text[:middle], text[middle:]):
        if part:
            yield part


def compact(value: object) -> str:
    """JSON without spaces, in ASCII, so that any text can be sent, lone surrogates included."""
    return json.dumps(value, separators=(",", ":"))


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {compact(data)}\n\n".encode()
