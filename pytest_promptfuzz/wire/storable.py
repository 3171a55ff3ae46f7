"""What of an answer may be stored: no secret, and no refusal for longer than its test."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.model import Response
    from pytest_promptfuzz.wire.redact import Redaction

_REFUSALS = frozenset({"refusal", "content_filter"})
_REFUSAL_FIELD = re.compile(r'"refusal"\s*:\s*"[^"]')  # inside a text its quotes would be escaped


def is_refusal(text: str, response: Response | None) -> bool:
    """Whether the provider refused to answer, which it may not do tomorrow."""
    return (response is not None and response.finish_reason in _REFUSALS) or bool(_REFUSAL_FIELD.search(text))


def storable(
    text: str, response: Response | None, redaction: Redaction, url: str, *, streamed: bool
) -> tuple[str | None, str]:
    """The body to store, secrets hidden, ``None`` if it may not be; and what the person must know of that.

    Args:
        text: The body of the answer.
        response: The answer as read.
        redaction: What is hidden.
        url: Where it came from, redacted.
        streamed: Whether it is a stream of events.
    """
    if not streamed:
        value = json.loads(text)
        hidden = redaction.json(value, names=False)
        if hidden == value:
            return text, ""
        return json.dumps(hidden, separators=(",", ":")), _HIDDEN.format(url=url)
    said = response.text if response is not None else ""
    if redaction.text(text) == text and redaction.text(said) == said:
        return text, ""
    # A secret may be spread over several events, where it cannot be hidden one by one.
    return None, f"A streamed answer from {url} holds something like a key and was not stored."


_HIDDEN = (
    "An answer from {url} holds something like a key; it was stored with that hidden, so a replay "
    "differs there."
)
