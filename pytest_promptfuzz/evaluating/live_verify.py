"""``cache verify --live``: asks the provider again what is recorded, and compares the answers."""

from __future__ import annotations

import hashlib
import http.client
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.providers.bodies import parse_json
from pytest_promptfuzz.providers.formats import (
    has_text,
    host_of,
    output_bound,
    parse_answer,
    parse_stream,
    request_texts,
)
from pytest_promptfuzz.providers.requests import LASTING, status_kind
from pytest_promptfuzz.storage.redaction import Redaction, credentials
from pytest_promptfuzz.storage.secrets import HIDDEN
from pytest_promptfuzz.targets.sdk_clients import credentials_for
from pytest_promptfuzz.wire.calls import Outgoing, describe_status, may_pass, status_of_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from email.message import Message

    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.providers.requests import Response
    from pytest_promptfuzz.storage.answers import StoredAnswer
    from pytest_promptfuzz.storage.recordings.entries import RecordedExchange
    from pytest_promptfuzz.wire.calls import CallGate


SECONDS = 60.0
"""How long an answer may take."""
_UNREADABLE = frozenset({"malformed", "not-text"})


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

    entry: RecordedExchange
    outcome: Literal["equivalent", "minor", "deviation", "undecided", "error"]
    explanation: str
    model_before: str = ""
    model_now: str = ""


def askable(entries: Iterable[RecordedExchange]) -> list[RecordedExchange]:
    """Those that a provider can be asked again: not in-process, not embeddings, no refusal, nothing hidden in them."""
    return [
        each
        for each in entries
        if each.answer.url.startswith(("https://", "http://"))
        and has_text(each.answer.url)
        and each.answer.status < 400
        and HIDDEN not in json.dumps(each.answer.request)
    ]


def sampled(entries: Iterable[RecordedExchange], count: int, seed: int) -> list[RecordedExchange]:
    """At most ``count`` of the entries, each request once; the same for the same seed, whatever their order."""
    requests: dict[str, RecordedExchange] = {}
    for each in entries:
        requests.setdefault(each.key.partition("-")[0], each)
    ranked = sorted(requests, key=lambda key: hashlib.sha256(f"{seed}\0{key}".encode()).digest())
    return [requests[key] for key in ranked[:count]]


def reask(
    entry: RecordedExchange,
    *,
    gate: CallGate,
    allowed: frozenset[str] = frozenset(),
    embedder: Embedder | None = None,
) -> Reasked:
    """Ask once more, and compare with what is recorded.

    Args:
        entry: One of ``askable``.
        gate: What the call passes.
        allowed: Hosts that may be asked besides OpenAI's and Anthropic's.
        embedder: For the semantic tier.

    Raises:
        ConfigurationError: The host may not be asked, or its key is not set.
    """
    headers = credentials_for(entry.answer.url, allowed)
    try:
        before = _read(entry.answer.url, entry.answer.body.encode("utf-8"), streamed=entry.answer.streamed)
        now = _asked(entry.answer, headers, gate)
        found: Comparison = compare(before, now, semantic=embedder or False, entailment=False)
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


def _asked(answer: StoredAnswer, credentials: dict[str, str], gate: CallGate) -> Response:
    """What is answered now; made again as long as the gate lets it."""
    body = json.dumps(answer.request).encode("utf-8")
    model = answer.request.get("model")
    passage = gate.enter(
        Outgoing(
            url=answer.url,
            host=host_of(answer.url),
            model=model if isinstance(model, str) else "",
            size=len(body),
            bound=output_bound(answer.request),
            words=sum(map(len, request_texts(answer.request, answer.url))),
        )
    )
    while True:
        while (delay := passage.delay()) > 0:
            time.sleep(delay)
        try:
            status, headers, content = _post(answer, body, credentials)
        except (OSError, http.client.HTTPException) as error:
            if passage.failed(passing=_may_pass(error)):
                continue
            raise TargetError(
                f"It could not be asked: {error}{passage.tries()}.", kind="connection"
            ) from None
        try:
            response = _response(answer, status, content)
        except TargetError as error:
            # As a status where the answer reports it; what cannot be read is no failure that passes.
            told = (
                status if status >= 400 else 200 if error.kind in _UNREADABLE else status_of_kind(error.kind)
            )
            if passage.answered(told, headers, lasting=error.kind in LASTING):
                continue
            passage.left()
            raise TargetError(f"{error}{passage.tries()}", kind=error.kind, status=error.status) from None
        passage.answered(status, headers)
        passage.settled(response.usage, len(response.text))
        return response


def _response(answer: StoredAnswer, status: int, content: bytes) -> Response:
    if status >= 400:
        kind = status_kind(status, content.decode("utf-8", "replace"))
        raise TargetError(describe_status(status, content), kind=kind, status=status)
    try:
        return _read(answer.url, content, streamed=answer.streamed)
    except ValueError as error:
        raise TargetError(f"The answer is not JSON ({error}).", kind="malformed") from None


def _may_pass(error: Exception) -> bool:
    reason = getattr(error, "reason", error)  # of urllib's own exception
    return isinstance(error, http.client.HTTPException) or may_pass(
        reason if isinstance(reason, BaseException) else error
    )


def _post(
    answer: StoredAnswer, body: bytes, credentials: dict[str, str]
) -> tuple[int, Mapping[str, str], bytes]:
    import urllib.error
    import urllib.request

    class Stay(urllib.request.HTTPRedirectHandler):
        """A credential is not carried to where an answer points."""

        def redirect_request(self, *_: Any) -> None:
            return None

    request = urllib.request.Request(  # noqa: S310 - http and https only, see askable
        answer.url,
        body,
        {**answer.headers, **credentials, "content-type": "application/json"},
        method="POST",
    )
    try:
        with urllib.request.build_opener(Stay).open(request, timeout=SECONDS) as response:
            return response.status, _lower(response.headers), response.read()
    except urllib.error.HTTPError as error:
        return error.code, _lower(error.headers), error.read()


def _lower(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
