"""Mutation in flight: what a run's requests say in one role, and other words put in their place."""

from __future__ import annotations

import functools
import gzip
import json
import threading
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.formats.roles import Spoken, respoken, spoken
from pytest_promptfuzz.wire.custom import endpoint_of
from pytest_promptfuzz.wire.endpoints import is_json
from pytest_promptfuzz.wire.paths import without
from pytest_promptfuzz.wire.unpacking import MAX_BODY, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.targets.formats.roles import Places
    from pytest_promptfuzz.targets.model import WireRequest
    from pytest_promptfuzz.wire.watch import Watch

# Headers that say something of the body's bytes; the first three are ours to write anew.
_ABOUT_THE_BODY = (
    "content-length",
    "transfer-encoding",
    "content-encoding",
    "content-md5",
    "digest",
    "content-digest",
    "repr-digest",
)
_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": functools.partial(gzip.compress, mtime=0),
    "deflate": zlib.compress,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came from the application.

    Attributes:
        model: As asked for; empty where the body names none.
        messages: What it says, by role. What does not count may change from run to run, and is nothing to mutate.
        left_out: What it says where ``ignore=`` leaves it out.
        on_line: Whether the body's own thread or task made it.
    """

    model: str
    messages: tuple[Spoken, ...]
    left_out: tuple[Spoken, ...] = ()
    on_line: bool = True


class InFlight:
    """Replaces texts of one role in the requests of one run. Safe to use from several threads.

    Args:
        role: ``system`` or ``user``.
        texts: The new text by the old one; none to look on only.

    Attributes:
        unreadable: What is to be said of requests to models whose bodies cannot be read.
        signed: By text of the role, what is to be said of the signed request that holds it.
    """

    def __init__(self, role: str, texts: Mapping[str, str] | None = None) -> None:
        self.role = role
        self._texts = dict(texts or {})
        self._replaced: set[str] = set()
        self._asked: dict[tuple[str, int], Asked] = {}
        self._lock = threading.Lock()
        self.unreadable: list[str] = []
        self.signed: dict[str, str] = {}

    def anew(self) -> InFlight:
        """One that replaces the same, and has seen nothing."""
        return InFlight(self.role, self._texts)

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

    def undone(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The texts of a request as the application wrote them."""
        with self._lock:
            known = {new: old for old, new in self._texts.items()}
        return tuple(known.get(text, text) for text in texts)

    def saw(
        self, digest: str, nth: int, wire: WireRequest, ignore: Sequence[str] = (), *, on_line: bool = True
    ) -> None:
        """Note a request, by its ``request_digest`` and index among identical ones."""
        places = _places_of(wire.url)
        messages = whole = spoken(wire.body, places)
        if ignore:
            messages = spoken(without(wire.body, ignore), places)
        counted = {path for each in messages for path in each.paths}
        model = wire.body.get("model")
        asked = Asked(
            model if isinstance(model, str) else "",
            messages,
            tuple(each.only(lambda path: path not in counted) for each in whole) if ignore else (),
            on_line,
        )
        with self._lock:
            self._asked.setdefault((digest, nth), asked)


def _places_of(url: str) -> Places | None:
    endpoint = endpoint_of(url)
    return None if endpoint is None else endpoint.places


def passed_on(watch: Watch, url: str, headers: Mapping[str, str]) -> None:
    """Say of a request to a model that its body cannot be read, and so is neither stored nor changed."""
    kind, encoding = headers.get("content-type", ""), headers.get("content-encoding", "")
    if encoding not in {"", "identity"}:
        most = shown(MAX_BODY)
        why = (
            f"is encoded with {encoding}, which cannot be undone here (or is more than {most} once unpacked)"
        )
    elif is_json(headers):
        why = "holds no readable JSON object"
    else:
        why = f"is no JSON but {kind.partition(';')[0].strip() or 'of no named type'}"
    said = f"A request to {watch.redaction.url(url)} {why}. It was passed on as it is, unseen."
    watch.note(said)
    if watch.in_flight is not None:
        watch.in_flight.unreadable.append(said)


def mutated(watch: Watch, url: str, headers: Mapping[str, str], body: dict[str, Any]) -> dict[str, Any]:
    """The body that is asked for a request's own, where its watch mutates what is asked and nobody signed it."""
    if watch.in_flight is None:
        return body
    if not _is_signed(url, headers):
        return watch.in_flight.rewritten(body, url)
    said = (
        f"The request to {watch.redaction.url(url)} is signed, and its signature would not fit another body: it cannot "
        "be changed on the wire. Name what is mutated by an argument of the test or a dotted path, or let the "
        "application ask through promptfuzz_proxy, which sends an API key instead (docs/other-programs.md)."
    )
    for each in spoken(body, _places_of(url)):
        if each.role == watch.in_flight.role:
            watch.in_flight.signed.update(dict.fromkeys(each.texts, said))
    return body


def _is_signed(url: str, headers: Mapping[str, str]) -> bool:
    """Whether a signature covers the body: AWS's and its like, or HTTP message signatures (RFC 9421)."""
    scheme = headers.get("authorization", "").partition(" ")[0].upper()
    return (
        "-HMAC-" in scheme
        or scheme.startswith("AWS4-")
        or "signature-input" in headers
        or "X-Amz-Signature=" in url
    )


def resent(library: Any, request: Any, body: dict[str, Any]) -> tuple[Any, bytes]:
    """A request of the HTTP library with another JSON body and headers that are true of it, and the body's bytes.

    The body is compressed as it was, with gzip or deflate; of other encodings it is sent without.
    """
    content = json.dumps(body, separators=(",", ":")).encode("ascii")
    headers = [(name, value) for name, value in request.headers.multi_items() if name not in _ABOUT_THE_BODY]
    encoding = request.headers.get("content-encoding", "").strip().lower()
    sent = content
    if encoding in _ENCODERS:
        headers.append(("content-encoding", encoding))
        sent = _ENCODERS[encoding](content)
    changed = library.Request(
        request.method, request.url, headers=headers, content=sent, extensions=request.extensions
    )
    return changed, content
