"""The wire formats, read and written without an SDK: chat completions, Responses, Messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.targets.formats import chat, messages, responses
from pytest_promptfuzz.targets.formats.reading import mapping
from pytest_promptfuzz.targets.formats.texts import request_texts

if TYPE_CHECKING:
    from types import ModuleType

    from pytest_promptfuzz.targets.model import Response

__all__ = ["parse_answer", "parse_stream", "request_texts"]

_FORMATS = (chat, responses, messages)


def _format_of(path: str) -> ModuleType | None:
    place = urlsplit(path).path.rstrip("/")
    return next((each for each in _FORMATS if place.endswith(each.PATH)), None)


def parse_answer(path: str, body: dict[str, Any]) -> Response:
    """The response in an answer body.

    Args:
        path: The request's path or URL; its end tells the format (``/chat/completions``, ``/responses``,
            ``/messages``).
        body: The answer's JSON body.

    Raises:
        TargetError: ``malformed`` or ``not-text``, naming what was there instead; the provider's own error,
            where the body reports one; ``not-text`` for a path of another kind (embeddings).
    """
    known = _format_of(path)
    if known is None:
        msg = f"An answer from {urlsplit(path).path!r} is a response that is not text."
        raise TargetError(msg, kind="not-text")
    found: Response = known.parse(mapping(body, "the answer"))
    return found


def parse_stream(path: str, raw: bytes) -> Response | None:
    """The response in a streamed answer (server-sent events).

    Args:
        path: The request's path or URL, as for ``parse_answer``.
        raw: All bytes of the stream, decompressed.

    Returns:
        The response, or ``None`` if the stream did not come to its end (``[DONE]``, ``response.completed``,
        ``message_stop``) or the path is of another kind.

    Raises:
        TargetError: As ``parse_answer``, and for an error reported in the stream.
    """
    known = _format_of(path)
    if known is None:
        return None
    body = known.fold(raw)
    if body is None:
        return None
    found: Response = known.parse(body)
    return found
