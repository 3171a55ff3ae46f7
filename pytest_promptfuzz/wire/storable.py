"""What of an answer may be stored: no secret, and no refusal for longer than its test."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Protocol

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.wire.streamed_secrets import hidden_in_stream, without_probabilities

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.model import Response
    from pytest_promptfuzz.wire.redact import Redaction

    class Reader(Protocol):
        """Reads an answer body."""

        def __call__(self, body: bytes, *, streamed: bool) -> Response | None:
            """The response, if it is text; raises ``TargetError`` or ``ValueError`` where the body is no answer."""
            ...


_REFUSALS = frozenset({"refusal", "content_filter"})
_REFUSAL_FIELD = re.compile(r'"refusal"\s*:\s*"[^"]')  # inside a text its quotes would be escaped


def is_refusal(text: str, response: Response | None) -> bool:
    """Whether the provider refused to answer, which it may not do tomorrow."""
    return (response is not None and response.finish_reason in _REFUSALS) or bool(_REFUSAL_FIELD.search(text))


def storable(
    text: str, redaction: Redaction, url: str, read: Reader, *, streamed: bool
) -> tuple[str | None, str]:
    """The body to store, secrets hidden, ``None`` if it may not be; and what the person must know of that.

    Args:
        text: The body of the answer.
        redaction: What is hidden.
        url: Where it came from, redacted.
        read: Reads a body as the answer that it is.
        streamed: Whether it is a stream of events.
    """
    try:
        hidden = _hidden(text, redaction, streamed=streamed)
        clean = not streamed or _is_clean(hidden, redaction, read)
    except RecursionError:
        return None, f"An answer from {url} is nested too deeply to be searched for keys and was not stored."
    if not clean:
        return None, f"A streamed answer from {url} holds something like a key and was not stored."
    return hidden, "" if hidden == text else _HIDDEN.format(url=url)


def _hidden(text: str, redaction: Redaction, *, streamed: bool) -> str:
    if streamed:
        return hidden_in_stream(text, redaction)
    value = json.loads(text)
    hidden = redaction.json(value, names=False)
    return text if hidden == value else json.dumps(without_probabilities(hidden), separators=(",", ":"))


def _is_clean(body: str, redaction: Redaction, read: Reader) -> bool:
    """Whether a stream can be read, and neither it nor what it says holds anything to hide."""
    if redaction.text(body) != body:
        return False
    try:
        response = read(body.encode("utf-8"), streamed=True)
    except (TargetError, ValueError):
        return False
    said = [] if response is None else [response.text, *(each.arguments for each in response.tool_calls)]
    return redaction.json(said, names=False) == said


_HIDDEN = (
    "An answer from {url} holds something like a key; it was stored with that hidden, so a replay "
    "differs there."
)
