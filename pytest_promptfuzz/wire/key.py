"""The canonical key of a model call: everything that affects the answer, nothing that is secret.

Every key of the body counts, ``stream``, ``user``, ``metadata`` and ``store`` included: a streamed answer
has another body than a whole one, and what a provider does with the rest is not ours to guess. ``ignore=``
leaves out what changes from run to run (request ids, dates). Of the headers only ``anthropic-version`` and
``*-beta`` count: they choose the protocol; the others carry credentials, client versions and retry counts.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.targets.model import WireRequest
from pytest_promptfuzz.wire.paths import json_diff, without
from pytest_promptfuzz.wire.redact import DEFAULT, Redaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.wire.answers import StoredAnswer

FORMAT = 1  # a part of every key: changing what a key is made of must not make old answers match by chance


def counted_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are part of the key, names in lower case, in order of name.

    >>> counted_headers({"Anthropic-Version": "2023-06-01", "X-Api-Key": "secret"})
    {'anthropic-version': '2023-06-01'}
    """
    lowered = {name.lower(): value.strip() for name, value in headers.items()}
    return {
        name: value
        for name, value in sorted(lowered.items())
        if name == "anthropic-version" or name.endswith("-beta")
    }


def canonical_request(
    wire: WireRequest,
    *,
    ignore: Sequence[str] = (),
    redaction: Redaction = DEFAULT,
) -> dict[str, Any]:
    """What is hashed: ``url``, ``headers`` and ``body``, redacted and without the ignored JSON paths.

    Raises:
        UsageError: A path in ``ignore`` is malformed.
    """
    body: Any = without(redaction.json(wire.body), ignore)
    return {
        "url": redaction.url(wire.url),
        "headers": redaction.json(counted_headers(wire.headers)),
        "body": body,
    }


def request_digest(
    wire: WireRequest,
    *,
    ignore: Sequence[str] = (),
    backend: str = "live",
    redaction: Redaction = DEFAULT,
) -> str:
    """The sha256 of the canonical JSON of a request, 64 hexadecimal digits.

    Args:
        wire: The request; its URL may still hold credentials.
        ignore: JSON paths of the body that do not count (``$.metadata.request_id``).
        backend: Who answers: ``live``, or the simulated model's version, whose answers are no provider's.
        redaction: What is hidden before hashing.

    Raises:
        UsageError: A path in ``ignore`` is malformed.
    """
    whole = {
        "format": FORMAT,
        "backend": backend,
        **canonical_request(wire, ignore=ignore, redaction=redaction),
    }
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def exchange_key(digest: str, repeat: int, nth: int) -> str:
    """The key of one stored answer.

    Args:
        digest: From ``request_digest``.
        repeat: Which sample of the baseline is served, from 0; mutations and the control trial are served
            from 0.
        nth: Which identical request within the trial, from 0.
    """
    return f"{digest}-{repeat}-{nth}"


def request_difference(
    left: WireRequest, right: WireRequest, *, ignore: Sequence[str] = (), redaction: Redaction = DEFAULT
) -> list[str]:
    """The JSON paths at which what is hashed of two requests differs, ``$.body.temperature``."""
    first, second = (canonical_request(each, ignore=ignore, redaction=redaction) for each in (left, right))
    return json_diff(first, second, exact=True)


class Difference(NamedTuple):
    """How a request differs from another.

    Attributes:
        paths: The JSON paths, ``$.body.temperature``.
        known: What is hashed of the other one, redacted.
        asked: What is hashed of the request, redacted.
    """

    paths: list[str]
    known: dict[str, Any]
    asked: dict[str, Any]


def nearest_difference(
    known: Iterable[StoredAnswer],
    wire: WireRequest,
    *,
    ignore: Sequence[str] = (),
    redaction: Redaction = DEFAULT,
) -> Difference | None:
    """How a request differs from the answered one that it is most like; ``None`` without any."""
    asked = canonical_request(wire, ignore=ignore, redaction=redaction)
    answered = (
        canonical_request(
            WireRequest(each.url, each.request, each.headers), ignore=ignore, redaction=redaction
        )
        for each in known
    )
    found = (Difference(json_diff(each, asked, exact=True), each, asked) for each in answered)
    return min(found, key=lambda each: len(each.paths), default=None)
