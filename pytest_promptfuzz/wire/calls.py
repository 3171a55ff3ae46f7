"""What a trial saw of the wire: calls that were answered, and faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_promptfuzz.wire.faults import NEVER_SENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.targets.model import Response

Price: TypeAlias = "Callable[[], float | None]"
"""Looks up what a call cost, in US dollars, ``None`` where that is not known. The list of prices is slow to load."""


class CallOrder(NamedTuple):
    """Where a call stands in the program of a run, whatever the clock says.

    Attributes:
        number: Which request of the run it is, from 0.
        on_line: Whether the body's own thread or task made it, so that it follows all such calls before it.
        after: The number of the last such call that was made before the thread or task of this one was begun; -1 for
            none, and where that cannot be told.
    """

    number: int = 0
    on_line: bool = True
    after: int = -1


FIRST = CallOrder()


@dataclass(frozen=True, slots=True)
class Call:
    """One model call that was answered.

    Attributes:
        texts: Every text of the request: messages, instructions, system, input, tool results.
        digest: ``request_digest`` of it.
        nth: Which identical request of the trial, from 0.
        hit: Whether it was answered from a store.
        response: The answer as read; ``None`` for what is not text (embeddings) and for a stream that was
            left before its end.
        seconds: From request to the end of the answer; 0.0 for a hit.
        provider: ``openai``, ``anthropic``, ``compatible``, ``simulated``, or an in-process target's name.
        host: The host, with its port where it has one.
        model: The model as asked for.
        price: Looks up its cost; ``None`` for a call that went through no gate.
        order: Where it stands in the program of its run.
        url: Where it went, without secrets.
        body: The request's body as it was sent.
    """

    texts: tuple[str, ...]
    digest: str
    nth: int
    hit: bool
    response: Response | None
    seconds: float
    provider: str
    host: str
    model: str
    price: Price | None = None
    order: CallOrder = FIRST
    url: str = ""
    body: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def cost(self) -> float | None:
        """What it cost in US dollars; ``None`` where that is not known."""
        return None if self.price is None else self.price()


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that went wrong on the wire and says nothing about the prompt.

    Attributes:
        kind: As ``TargetError.kind``, or ``unattributed``: a call that could not be told to be this trial's.
        status: HTTP status, where there was one.
        message: One sentence, redacted.
        digest: ``request_digest`` of the request.
        recovered: Whether the same request was answered later in the same trial.
        nth: Which identical request of the trial.
        begun: Whether its streamed answer had begun, so that it is among the calls as well.
        waiting: Whether it ended while the call waited for its turn, before anything was sent.
    """

    kind: str
    status: int | None
    message: str
    digest: str
    recovered: bool = False
    nth: int = 0
    begun: bool = False
    waiting: bool = False

    @property
    def sent(self) -> bool:
        """Whether the call left: it was neither refused before, nor cancelled while it waited."""
        return not self.waiting and self.kind not in NEVER_SENT
