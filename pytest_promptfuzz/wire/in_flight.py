"""Mutation in flight: what a run's requests say in one role, and other words put in their place."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.formats.roles import Spoken, respoken, spoken
from pytest_promptfuzz.wire.custom import endpoint_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.targets.formats.roles import Places
    from pytest_promptfuzz.wire.watch import Watch

# Headers that say something of the body's bytes; the first two are ours to write anew.
_ABOUT_THE_BODY = (
    "content-length",
    "transfer-encoding",
    "content-md5",
    "digest",
    "content-digest",
    "repr-digest",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came from the application.

    Attributes:
        model: As asked for; empty where the body names none.
        messages: What it says, by role.
    """

    model: str
    messages: tuple[Spoken, ...]


class InFlight:
    """Replaces texts of one role in the requests of one run. Safe to use from several threads.

    Args:
        role: ``system`` or ``user``.
        texts: The new text by the old one; none to look on only.
    """

    def __init__(self, role: str, texts: Mapping[str, str] | None = None) -> None:
        self.role = role
        self._texts = dict(texts or {})
        self._replaced: set[str] = set()
        self._asked: dict[tuple[str, int], Asked] = {}
        self._lock = threading.Lock()

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The run's requests in the order in which they were made; one that was repeated until answered is one."""
        with self._lock:
            return tuple(self._asked.values())

    @property
    def arrived(self) -> bool:
        """Whether there was something to replace, and all of it was found in requests."""
        with self._lock:
            return bool(self._texts) and self._replaced == self._texts.keys()

    def rewritten(self, body: dict[str, Any], url: str = "") -> dict[str, Any]:
        """The body as it is to be asked at a URL: the same object where nothing is replaced."""
        if not self._texts:
            return body
        changed, found = respoken(body, self.role, self._texts, _places_of(url))
        with self._lock:
            self._replaced |= found
        return changed

    def saw(self, digest: str, nth: int, body: dict[str, Any], url: str = "") -> None:
        """Note a request, by its ``request_digest`` and index among identical ones."""
        model = body.get("model")
        asked = Asked(model if isinstance(model, str) else "", spoken(body, _places_of(url)))
        with self._lock:
            self._asked.setdefault((digest, nth), asked)


def _places_of(url: str) -> Places | None:
    endpoint = endpoint_of(url)
    return None if endpoint is None else endpoint.places


def mutated(watch: Watch, url: str, headers: Mapping[str, str], body: dict[str, Any]) -> dict[str, Any]:
    """The body that is asked for a request's own, where its watch mutates what is asked and nobody signed it."""
    if watch.in_flight is None:
        return body
    if headers.get("authorization", "").startswith("AWS4-"):
        watch.note(
            f"The request to {watch.redaction.url(url)} is signed and cannot be changed on the wire: name what is "
            "mutated by an argument or a dotted path."
        )
        return body
    return watch.in_flight.rewritten(body, url)


def resent(library: Any, request: Any, body: dict[str, Any]) -> tuple[Any, bytes]:
    """A request of the HTTP library with another JSON body and headers that are true of it, and the body's bytes."""
    content = json.dumps(body, separators=(",", ":")).encode("ascii")
    headers = [(name, value) for name, value in request.headers.multi_items() if name not in _ABOUT_THE_BODY]
    changed = library.Request(
        request.method, request.url, headers=headers, content=content, extensions=request.extensions
    )
    return changed, content
