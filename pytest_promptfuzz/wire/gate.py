"""What a live model call passes on its way out: it may wait, be refused, and be made again.

The wire only asks; who decides is given to each ``Watch`` (``running.limits``). Nothing here sleeps, so that one gate
serves threads and event loops alike.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.targets.model import Usage
    from pytest_promptfuzz.wire.calls import Price

_BOUNDS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A model call about to leave the process.

    Attributes:
        url: Where it goes, without credentials.
        host: The host, with its port where it has one.
        model: The model as asked for.
        size: Bytes of its body.
        bound: The most tokens that its answer may have, as the request itself says; ``None`` if it does not.
        words: Characters of all its texts.
    """

    url: str
    host: str
    model: str
    size: int
    bound: int | None
    words: int


class Passage(Protocol):
    """One call's way through a gate. After a failure that is to be tried again, it starts over with ``delay``."""

    def delay(self) -> float:
        """Seconds to sleep before asking this again; 0.0 once the call may be made.

        Raises:
            TargetError: The call may not be made at all: the budget is spent, say.
        """
        ...

    def answered(self, status: int, headers: Mapping[str, str], *, lasting: bool = False) -> bool:
        """The provider answered; whether the call is to be made again. ``lasting`` is what no other try mends."""
        ...

    def failed(self, *, passing: bool) -> bool:
        """No answer came; whether the call is to be made again. ``passing`` is what another try might mend."""
        ...

    def begun(self) -> None:
        """A streamed answer has begun: the call is not made again, and its end may be a long time off."""
        ...

    def settled(self, usage: Usage | None, words: int) -> Price:
        """The answer is here: its tokens where the provider says, and the characters of its text.

        Returns:
            What looks up its cost, ``None`` where price or tokens are not known.
        """
        ...

    def left(self) -> None:
        """Whoever asked went away: the call was cancelled or interrupted. After ``settled``, nothing."""
        ...

    def tries(self) -> str:
        """What a last failure adds to its message, ``" (tried 4 times)"``; empty after a first try."""
        ...


class Gate(Protocol):
    """Lets model calls out."""

    def enter(self, outgoing: Outgoing) -> Passage:
        """The passage of one call. Nothing is waited for or counted yet."""
        ...

    def spares(self, calls: Sequence[Outgoing]) -> bool:
        """Whether calls that may turn out to be needless can be made, and as much again be asked after them."""
        ...


class LateGate:
    """A gate that is made when the first call leaves: a run from the store loads nothing for it.

    Args:
        make: Makes it.

    Attributes:
        made: The gate, once there is one.
    """

    def __init__(self, make: Callable[[], Gate]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: Gate | None = None

    def enter(self, outgoing: Outgoing) -> Passage:
        """The passage of one call."""
        return self._gate().enter(outgoing)

    def spares(self, calls: Sequence[Outgoing]) -> bool:
        """Whether calls that may turn out to be needless can be made."""
        return self._gate().spares(calls)

    def _gate(self) -> Gate:
        with self._lock:
            if self.made is None:
                self.made = self._make()
        return self.made


def output_bound(body: Mapping[str, Any]) -> int | None:
    """The most output tokens that a request allows, over all the choices it asks for; ``None`` without a bound.

    >>> output_bound({"max_tokens": 100, "n": 2}), output_bound({"model": "any"})
    (200, None)
    """
    bounds = [count for each in _BOUNDS if (count := _count(body.get(each)))]
    return min(bounds) * (_count(body.get("n")) or 1) if bounds else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
