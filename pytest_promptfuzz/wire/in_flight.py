"""`InFlight` (``mutate="role:…"``): puts a mutation into a run's requests, in the place of one role's text."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.providers.formats import (
    Spoken,
    places_of,
    respoken,
    spoken,
)
from pytest_promptfuzz.text.json_paths import without

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.providers.requests import WireRequest


@dataclass(frozen=True, slots=True)
class ApplicationRequest:
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
        self._asked: dict[tuple[str, int], ApplicationRequest] = {}
        self._lock = threading.Lock()
        self.unreadable: list[str] = []
        self.signed: dict[str, str] = {}

    def anew(self) -> InFlight:
        """One that replaces the same, and has seen nothing."""
        return InFlight(self.role, self._texts)

    @property
    def asked(self) -> tuple[ApplicationRequest, ...]:
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
        changed, found = respoken(body, self.role, self._texts, url, places_of(url))
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
        places = places_of(wire.url)
        messages = whole = spoken(wire.body, wire.url, places)
        if ignore:
            messages = spoken(without(wire.body, ignore), wire.url, places)
        counted = {path for each in messages for path in each.paths}
        model = wire.body.get("model")
        asked = ApplicationRequest(
            model if isinstance(model, str) else "",
            messages,
            tuple(each.only(lambda path: path not in counted) for each in whole) if ignore else (),
            on_line,
        )
        with self._lock:
            self._asked.setdefault((digest, nth), asked)
