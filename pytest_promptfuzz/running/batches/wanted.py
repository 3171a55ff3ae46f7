"""What is to be asked in a batch, and how its answer gets into the store."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.wire.exchange import Exchange
from pytest_promptfuzz.wire.key import exchange_key, request_digest
from pytest_promptfuzz.wire.storable import is_refusal
from pytest_promptfuzz.wire.watch import Watch

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.model import WireRequest
    from pytest_promptfuzz.wire.answers import AnswerStore
    from pytest_promptfuzz.wire.redact import Redaction


@dataclass(frozen=True, slots=True)
class Wanted:
    """One call that a test will make, as the baseline's first sample or a mutation's.

    Attributes:
        wire: The request.
        ignore: JSON paths left out of its key.
        test: Who makes it, for messages.
        nth: Which identical request of its run it is, from 0.
    """

    wire: WireRequest
    ignore: tuple[str, ...] = ()
    test: str = ""
    nth: int = 0

    def key(self, redaction: Redaction) -> str:
        """The key under which a run looks for the answer."""
        return exchange_key(self._digest(redaction), 0, self.nth)

    def is_stored(self, store: AnswerStore, redaction: Redaction) -> bool:
        """Whether a run would find the answer."""
        return store.get(self.key(redaction)) is not None

    def keep(self, body: dict[str, Any], store: AnswerStore, redaction: Redaction) -> str:
        """Store an answer as a run would have.

        Args:
            body: The answer's JSON body.
            store: Where it goes.
            redaction: What is hidden.

        Returns:
            Why it is not stored; nothing if it is.

        Raises:
            StoreError: The store did not take it.
        """
        watch = Watch(store=store, ignore=self.ignore, redaction=redaction)
        for _ in range(self.nth):  # those before it are other calls
            watch.reserve(self._digest(redaction))
        exchange = Exchange(watch, self.wire)
        text = json.dumps(body)
        exchange.answered(200, "application/json", text.encode("ascii"), seconds=0.0)
        if exchange.error is not None:
            return str(exchange.error)
        if self.is_stored(store, redaction):
            return ""
        if is_refusal(text, exchange.response):
            return "the model refused, which is not kept"
        said = " ".join(getattr(store, "notes", ())) or "The store did not take an answer."
        raise StoreError(
            f"{said} Its batch stays known: mend the store, and `promptfuzz prefill --resume` stores what it holds."
        )

    def _digest(self, redaction: Redaction) -> str:
        return request_digest(self.wire, ignore=self.ignore, redaction=redaction)


def name_of(key: str) -> str:
    """The ID of a request in its batch: at most 64 letters, as Anthropic wants it.

    >>> name_of("0" * 64 + "-0-0") == "0" * 48 + "-0-0"
    True
    """
    digest, _, rest = key.partition("-")
    return f"{digest[:48]}-{rest}"
