"""The budget of a session: what was spent, what is reserved for calls on their way, what may still be asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable

_LEASE = 900.0  # as a lane's


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that may be spent; ``None`` is no limit.

    Attributes:
        calls: Calls sent, repeated ones included.
        tokens: Tokens in and out.
        cost: US dollars.
        dry: Nothing is asked at all: the run only plans.
        prefix: What the names of the options that set them begin with.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    dry: bool = False
    prefix: str = "--promptfuzz-"


@dataclass(slots=True)
class Reserved:
    """What a call on its way may take."""

    since: float
    process: int
    tokens: float
    cost: float


@dataclass(slots=True)
class Budget:
    """What a session has spent, over all its processes.

    Attributes:
        calls: Calls sent.
        retries: Those of them that repeated a failed one.
        failures: Calls that failed.
        tokens: Tokens of calls that have ended.
        cost: Their price in US dollars; reckoned where it is limited.
        refusals: Calls that were not made because the budget was spent.
        reserved: What calls on their way may take, by ID.
    """

    calls: int = 0
    retries: int = 0
    failures: int = 0
    tokens: float = 0.0
    cost: float = 0.0
    refusals: int = 0
    reserved: dict[str, Reserved] = field(default_factory=dict)

    def must_wait(
        self, caps: Caps, tokens: float, cost: float, now: float, alive: Callable[[int], bool]
    ) -> bool:
        """Whether a call has to wait for others to end before it is known whether it can be afforded.

        Args:
            caps: The limits.
            tokens: The most tokens it may take, or the least where it has no bound.
            cost: The same in US dollars.
            now: The time.
            alive: Whether a process runs.

        Raises:
            TargetError: It cannot be afforded. Its kind is ``budget``, or ``not-allowed`` where nothing ever was.
        """
        if caps.dry:
            raise TargetError("This is a dry run, which asks no model anything.", kind="not-allowed")
        if caps.calls == 0:
            raise TargetError(
                f"Nothing may be asked of a model: {caps.prefix}max-calls is 0, and the store does not hold the "
                "answer.",
                kind="not-allowed",
            )
        if caps.calls is not None and self.calls >= caps.calls:
            raise self._spent(
                f"{caps.prefix}max-calls is {caps.calls:,}, and {self.calls:,} calls were made."
            )
        if caps.tokens is not None and self.tokens + tokens > caps.tokens:
            raise self._spent(
                f"{caps.prefix}max-tokens is {caps.tokens:,}, {self.tokens:,.0f} are spent, and this call may take "
                f"{tokens:,.0f}."
            )
        if caps.cost is not None and self.cost + cost > caps.cost:
            raise self._spent(
                f"{caps.prefix}max-cost is ${caps.cost:g}, ${self.cost:.4f} is spent, and this call may take "
                f"${cost:.4f}."
            )
        if not self._over(caps, tokens, cost):
            return False
        dead = [
            n for n, each in self.reserved.items() if now - each.since > _LEASE or not alive(each.process)
        ]
        for name in dead:
            self.spend(name, self.reserved[name].tokens, self.reserved[name].cost)
        return True

    def holds(self, caps: Caps, calls: int, tokens: float, cost: float) -> bool:
        """Whether so much more can be spent while the calls on their way take what is reserved for them."""
        enough = caps.calls is None or self.calls + calls <= caps.calls
        return enough and not caps.dry and not self._over(caps, tokens, cost)

    def reserve(self, call: str, reserved: Reserved, *, again: bool) -> None:
        """A call leaves."""
        self.calls += 1
        self.retries += again
        self.reserved[call] = reserved

    def spend(self, call: str, tokens: float | None, cost: float | None) -> None:
        """A call has ended; ``None`` spends what was reserved. A second time nothing happens."""
        reserved = self.reserved.pop(call, None)
        if reserved is not None:
            self.tokens += reserved.tokens if tokens is None else tokens
            self.cost += reserved.cost if cost is None else cost

    def _over(self, caps: Caps, tokens: float, cost: float) -> bool:
        waiting = self.reserved.values()
        tokens += self.tokens + sum(each.tokens for each in waiting)
        cost += self.cost + sum(each.cost for each in waiting)
        return (caps.tokens is not None and tokens > caps.tokens) or (
            caps.cost is not None and cost > caps.cost
        )

    def _spent(self, what: str) -> TargetError:
        self.refusals += 1
        return TargetError(f"The budget is spent: {what}", kind="budget")
