"""The wire formats, read and written without an SDK: chat completions, Responses, Messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.targets.formats import chat, messages, responses
from pytest_promptfuzz.targets.formats.reading import (
    event_body,
    events,
    mapping,
    parse_json,
    raise_provider_error,
)
from pytest_promptfuzz.targets.formats.texts import request_texts

if TYPE_CHECKING:
    from types import ModuleType

    from pytest_promptfuzz.targets.model import Response

__all__ = ["parse_answer", "parse_stream", "reported_error", "request_texts", "stream_begun"]

_ERROR = re.compile(rb'"error"\s*:\s*[{"]')
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


def stream_begun(path: str, raw: bytes) -> bool:
    """Whether whole events from the beginning of a stream hold any of the answer, or more than announce it.

    Args:
        path: The request's path or URL, as for ``parse_answer``; of another kind, any event does.
        raw: The events.

    Raises:
        TargetError: For an error reported before any of the answer, or an event that cannot be read.
    """
    known = _format_of(path)
    for data in events(raw):
        if known is None or data.strip() == "[DONE]" or not known.announces(event_body(data)):
            return True
    return False


def reported_error(path: str, raw: bytes) -> TargetError | None:
    """The provider's error that a whole body reports in the place of an answer; ``None`` where it reports none.

    Args:
        path: The request's path or URL, as for ``parse_answer``; of another kind, none is known.
        raw: The body, decompressed.

    Raises:
        ValueError: It is not JSON.
    """
    if _format_of(path) is None or _ERROR.search(raw) is None:
        return None
    body = parse_json(raw)
    try:
        if isinstance(body, dict) and body.get("error"):
            raise_provider_error(body["error"])
    except TargetError as error:
        return error
    return None
