"""One call's way through the limits: its turn, its tries, and what it took."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.running.limits.budget import Budget, Reserved
from pytest_promptfuzz.running.limits.headers import told_limits
from pytest_promptfuzz.running.limits.lane import SOON
from pytest_promptfuzz.running.limits.ledger import runs
from pytest_promptfuzz.running.limits.retries import (
    LIMITED,
    MOST_ASKED,
    asked_wait,
    backoff,
    is_passing,
    pause,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_promptfuzz.running.limits.ledger import Books
    from pytest_promptfuzz.running.limits.limits import Limits
    from pytest_promptfuzz.running.limits.prices import Price
    from pytest_promptfuzz.targets.model import Usage
    from pytest_promptfuzz.wire.gate import Outgoing

_LONGEST_SLEEP = 0.25  # so that whoever is told to stop hears of it
_LONGEST_LOOK = 1.0  # so that other processes see that somebody waits
_CHARACTERS = 4  # of a token, for what is reckoned before a call


class Queue:
    """The calls of this process that wait for one lane, and when to look again whether the first may leave."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: deque[Ticket] = deque()
        self.next_look = 0.0


class Ticket:
    """The passage of one call: see ``wire.gate.Passage``."""

    def __init__(self, limits: Limits, queue: Queue, lane: str, outgoing: Outgoing, name: str) -> None:
        self._limits = limits
        self._queue = queue
        self._lane = lane
        self._outgoing = outgoing
        self._name = name
        self._rule = limits.settings.rule_of(lane)
        self._price: Price | None = None
        self._priced = False
        self._tries = 0
        self._not_before = 0.0
        self._since = limits.clock()
        self.queued = False
        self._may_leave = self._flying = False
        self._refusal: Exception | None = None
        self._why = ""

    # Before the call

    def delay(self) -> float:
        """Seconds to sleep before asking this again; 0.0 once the call may be made.

        Raises:
            TargetError: The budget is spent, or the provider asks to wait for too long.
        """
        if self._limits.stopped:
            self.left()
            raise TargetError("The session was interrupted.", kind="interrupted")
        now = self._limits.clock()
        if now < self._not_before:
            return min(self._not_before - now, _LONGEST_SLEEP)
        with self._queue.lock:
            wait = 0.0
            if not self._may_leave and self._refusal is None:  # another call of the queue may have seen to it
                if not self.queued:
                    self.queued = True
                    self._queue.waiting.append(self)
                    if len(self._queue.waiting) == 1:
                        self._queue.next_look = 0.0
                wait = self._look(now)
        if self._refusal is not None:
            raise self._refusal
        if not self._may_leave:
            return wait
        self._may_leave, self._flying = False, True
        self._tries += 1
        return 0.0

    def _look(self, now: float) -> float:
        """Let out whoever may leave, from the front of the queue; until when to sleep. The queue's lock is held."""
        queue = self._queue
        if queue.waiting and now >= queue.next_look:
            with self._limits.ledger.open(self._lane) as books:
                while queue.waiting:
                    first = queue.waiting[0]
                    wait = first.ask(books, now)
                    if wait > 0:
                        queue.next_look = now + min(wait, _LONGEST_LOOK)
                        break
                    queue.waiting.popleft()
                    first.queued = False
        return max(SOON / 2, min(queue.next_look - now, _LONGEST_SLEEP))

    def ask(self, books: Books, now: float) -> float:
        """Seconds until the first of a queue may leave; 0.0 if it leaves now, or never will."""
        lane, budget = books
        process = str(os.getpid())
        try:
            if now < lane.shut:
                raise self._shut(lane.shut - now)
            most = self._most()
            cost = self._cost(most, budget)
            if not lane.turn(process, self._since, now):
                return SOON * 2
            if budget.must_wait(self._limits.settings.caps, most, cost, now, runs):
                return SOON
        except TargetError as error:
            self._refusal = error
            lane.turns.pop(process, None)
            return 0.0
        wait = lane.wait(self._rule, self._reckoned(), now, runs)
        if wait > 0:
            return wait
        lane.leave(self._name, self._reckoned(), now, os.getpid())
        lane.turns.pop(process, None)
        budget.reserve(self._name, Reserved(now, os.getpid(), most, cost), again=self._tries > 0)
        self._may_leave = True
        return 0.0

    def _reckoned(self) -> float:
        """Tokens that the call is likely to take, for limits by the minute."""
        return self._outgoing.words / _CHARACTERS + (self._outgoing.bound or 0)

    def _most(self) -> float:
        """Tokens that the call takes at the most where its answer is bounded: no token is shorter than a byte."""
        return self._outgoing.size + (self._outgoing.bound or 0)

    def _cost(self, tokens: float, budget: Budget) -> float:
        """US dollars for so many tokens of this call at the most; 0.0 where nobody has set a limit.

        Raises:
            TargetError: There is a limit, and the model has no price.
        """
        if self._limits.settings.caps.cost is None:
            return 0.0
        price = self.price()
        if price is None:
            budget.refusals += 1
            model = self._outgoing.model
            raise TargetError(
                f"{self._limits.settings.caps.prefix}max-cost is set, and no price is known of the model {model!r} at "
                f"{self._outgoing.host}. "
                f'Write it under [tool.promptfuzz.prices] in pyproject.toml, "{model}" = '
                "{ input = 0.25, output = 2.0 } (US dollars for a million tokens), or install the extra 'prices' if "
                "the provider is a known one.",
                kind="unpriced",
            )
        bound = self._outgoing.bound or 0
        return price.cost(tokens - bound, bound)

    def price(self) -> Price | None:
        """The price of the model, looked up once."""
        if not self._priced:
            self._price = self._limits.settings.prices.of(self._outgoing.model, self._outgoing.url)
            self._priced = True
        return self._price

    # After the call

    def answered(self, status: int, headers: Mapping[str, str]) -> bool:
        """The provider answered; whether the call is to be made again."""
        now, today = self._limits.clock(), time.time()
        again, wait = False, 0.0
        with self._limits.ledger.open(self._lane) as books:
            lane = books.lane
            for kind, told in told_limits(headers, today).items():
                lane.told(kind, told, self._name, now)
            if status < 400:
                lane.accepted()
            else:
                asked = asked_wait(headers, today)
                rounds = lane.refused(self._name, now) if status in LIMITED else 0
                if asked is not None and asked > MOST_ASKED:
                    self._why = _TOO_LONG.format(asked=asked, most=MOST_ASKED)
                    if status in LIMITED:
                        lane.shut = max(lane.shut, now + asked)
                elif is_passing(status, headers):
                    again = self._tries < self._limits.settings.attempts
                    wait = asked if asked is not None else backoff(self._tries, self._limits.rng)
                    if status in LIMITED and (asked is not None or rounds):
                        lane.pause(now + (asked if asked is not None else pause(rounds, self._limits.rng)))
                books.budget.failures += 1
                self._land(books, 0.0, 0.0)
        self._not_before = now + wait
        return again

    def failed(self, *, passing: bool) -> bool:
        """No answer came; whether the call is to be made again."""
        with self._limits.ledger.open(self._lane) as books:
            books.budget.failures += 1
            self._land(books, *self._unknown())
        self._not_before = self._limits.clock() + backoff(self._tries, self._limits.rng)
        return passing and self._tries < self._limits.settings.attempts

    def begun(self) -> None:
        """A streamed answer has begun. Nobody waits for its end: whoever reads it may be waiting here."""
        with self._limits.ledger.open(self._lane) as books:
            books.lane.land(self._name, None)
            reserved = books.budget.reserved.get(self._name)
            if reserved is not None:
                reserved.since = float("-inf")

    def settled(self, usage: Usage | None, words: int) -> Callable[[], float | None]:
        """The answer is here; what looks up its price in US dollars, if that is known.

        It is looked up at once only where it is limited: other answers may be waiting to be read.
        """
        read = usage.input_tokens if usage is not None else None
        written = usage.output_tokens if usage is not None else None
        tokens_in = self._outgoing.words / _CHARACTERS if read is None else read
        tokens_out = words / _CHARACTERS if written is None else written
        limited = self.price() if self._limits.settings.caps.cost is not None else None
        cost = 0.0 if limited is None else limited.cost(tokens_in, tokens_out)
        with self._limits.ledger.open(self._lane) as books:
            self._land(books, tokens_in + tokens_out, cost)

        def looked_up() -> float | None:
            price = None if read is None or written is None else self.price()
            return None if price is None else price.cost(tokens_in, tokens_out)

        return looked_up

    def left(self) -> None:
        """Whoever asked went away."""
        with self._queue.lock:
            if self.queued:
                self._queue.waiting.remove(self)
                self._queue.next_look = 0.0
                self.queued = False
                with self._limits.ledger.open(self._lane) as books:
                    books.lane.turns.pop(str(os.getpid()), None)
        if self._flying or self._may_leave:
            self._may_leave = False
            with self._limits.ledger.open(self._lane) as books:
                self._land(books, *self._unknown())

    def tries(self) -> str:
        """What a failure adds to its message."""
        if self._why:
            return self._why
        attempts = self._limits.settings.attempts
        return f" (try {self._tries} of {attempts})" if self._tries > 1 else ""

    def _land(self, books: Books, tokens: float, cost: float) -> None:
        self._flying = False
        books.lane.land(self._name, tokens)
        books.budget.spend(self._name, tokens, cost)
        self._queue.next_look = 0.0

    def _unknown(self) -> tuple[float, float]:
        """Tokens and cost of a call whose end nobody saw: its prompt was read, perhaps."""
        tokens = self._outgoing.words / _CHARACTERS
        price = self._price
        return tokens, 0.0 if price is None else price.cost(tokens, 0)

    def _shut(self, seconds: float) -> TargetError:
        return TargetError(
            f"Not asked: the provider wants no call of {self._lane} for another {seconds:.0f} s.",
            kind="rate-limit",
        )


_TOO_LONG = " (not tried again: the provider asks to wait {asked:.0f} s, and at most {most:.0f} s are waited)"
