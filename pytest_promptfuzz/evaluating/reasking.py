"""Ask the provider again what is recorded, and compare: does the model still answer as it did?"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.comparing.compare import compare
from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.targets.credentials import credentials_for
from pytest_promptfuzz.targets.formats import parse_answer, parse_stream
from pytest_promptfuzz.targets.formats.reading import parse_json
from pytest_promptfuzz.wire.endpoints import has_text
from pytest_promptfuzz.wire.faults import describe_status
from pytest_promptfuzz.wire.redact import HIDDEN, Redaction, credentials

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.comparing.embedding import Embedder
    from pytest_promptfuzz.targets.model import Response
    from pytest_promptfuzz.wire.answers import StoredAnswer
    from pytest_promptfuzz.wire.recordings.entry import Entry

SECONDS = 60.0
"""How long an answer may take."""


@dataclass(frozen=True, slots=True)
class Reasked:
    """One recorded request that was asked again.

    Attributes:
        entry: What is recorded.
        outcome: ``equivalent``, ``minor``, ``deviation`` or ``undecided``; ``error`` where there is no answer.
        explanation: Why, in a sentence.
        model_before: The model as answered when it was recorded.
        model_now: The model as answered now.
    """

    entry: Entry
    outcome: Literal["equivalent", "minor", "deviation", "undecided", "error"]
    explanation: str
    model_before: str = ""
    model_now: str = ""


def askable(entries: Iterable[Entry]) -> list[Entry]:
    """Those that a provider can be asked again: not in-process, not embeddings, no refusal, nothing hidden in them."""
    return [
        each
        for each in entries
        if each.answer.url.startswith(("https://", "http://"))
        and has_text(each.answer.url)
        and each.answer.status < 400
        and HIDDEN not in json.dumps(each.answer.request)
    ]


def sampled(entries: Iterable[Entry], count: int, seed: int) -> list[Entry]:
    """At most ``count`` of the entries, each request once; the same for the same seed, whatever their order."""
    requests: dict[str, Entry] = {}
    for each in entries:
        requests.setdefault(each.key.partition("-")[0], each)
    ranked = sorted(requests, key=lambda key: hashlib.sha256(f"{seed}\0{key}".encode()).digest())
    return [requests[key] for key in ranked[:count]]


def reask(
    entry: Entry, *, allowed: frozenset[str] = frozenset(), embedder: Embedder | None = None
) -> Reasked:
    """Ask once more, and compare with what is recorded.

    Args:
        entry: One of ``askable``.
        allowed: Hosts that may be asked besides OpenAI's and Anthropic's.
        embedder: For the semantic tier.

    Raises:
        ConfigurationError: The host may not be asked, or its key is not set.
    """
    headers = credentials_for(entry.answer.url, allowed)
    try:
        before = _read(entry.answer.url, entry.answer.body.encode("utf-8"), streamed=entry.answer.streamed)
        now = _read(entry.answer.url, _post(entry.answer, headers), streamed=entry.answer.streamed)
        found: Comparison = compare(before, now, semantic=embedder)
    except (TargetError, UsageError, ValueError) as error:
        said = Redaction(values=credentials(headers)).text(str(error))
        return Reasked(entry, "error", said)
    return Reasked(entry, found.outcome, found.explanation, before.model, now.model)


def _read(url: str, body: bytes, *, streamed: bool) -> Response:
    if not streamed:
        return parse_answer(url, parse_json(body))
    response = parse_stream(url, body)
    if response is None:
        raise TargetError("The stream ended before its end marker.", kind="connection")
    return response


def _post(answer: StoredAnswer, credentials: dict[str, str]) -> bytes:
    import http.client
    import urllib.error
    import urllib.request

    class Stay(urllib.request.HTTPRedirectHandler):
        """A credential is not carried to where an answer points."""

        def redirect_request(self, *_: Any) -> None:
            return None

    request = urllib.request.Request(  # noqa: S310 - http and https only, see askable
        answer.url,
        json.dumps(answer.request).encode("utf-8"),
        {**answer.headers, **credentials, "content-type": "application/json"},
        method="POST",
    )
    try:
        with urllib.request.build_opener(Stay).open(request, timeout=SECONDS) as response:
            body: bytes = response.read()
            return body
    except urllib.error.HTTPError as error:
        raise TargetError(
            describe_status(error.code, error.read()), kind="server", status=error.code
        ) from None
    except (OSError, http.client.HTTPException) as error:
        raise TargetError(f"It could not be asked: {error}.", kind="connection") from None
