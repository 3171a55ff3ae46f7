"""`SessionLimits`: every live call waits here for its turn, is tried again, and may be refused for the budget."""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz import clocks
from pytest_promptfuzz.clocks import monotonic
from pytest_promptfuzz.errors import TargetError, UsageError, nearest
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.running.limits.budget import (
    Budget,
    Caps,
    MemoryLedger,
    Price,
    Prices,
    Reserved,
    missing_price,
    runs,
)
from pytest_promptfuzz.running.limits.lanes import (
    ATTEMPTS,
    LIMITED,
    LONGEST_WAIT,
    MAX_WAIT,
    SOON,
    LaneRule,
    asked_wait,
    backoff,
    is_passing,
    pause,
    told_limits,
)
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.providers.requests import Usage
    from pytest_promptfuzz.running.limits.budget import Books, Ledger
    from pytest_promptfuzz.running.limits.lanes import Lane
    from pytest_promptfuzz.wire.calls import Outgoing


# One call's way through the limits: its turn, its tries, and what it took.


_LONGEST_SLEEP = 0.25  # so that whoever is told to stop hears of it
_LONGEST_LOOK = 1.0  # so that other processes see that somebody waits
RATE_LIMIT = "rate-limit"
_CHARACTERS = 4  # of a token, for what is reckoned before a call


class Queue:
    """The calls of this process that wait for one lane, and when to look again whether the first may leave."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: deque[Ticket] = deque()
        self.next_look = 0.0

    def add(self, ticket: Ticket) -> None:
        """A call waits: before those that came later, also if it failed meanwhile."""
        later = (place for place, each in enumerate(self.waiting) if each.number > ticket.number)
        self.waiting.insert(next(later, len(self.waiting)), ticket)


class Ticket:
    """The passage of one call: see ``wire.calls.Passage``."""

    def __init__(
        self, limits: SessionLimits, queue: Queue, lane: str, outgoing: Outgoing, number: int
    ) -> None:
        self._limits = limits
        self._queue = queue
        self._lane = lane
        self._outgoing = outgoing
        self.number = number
        self._rule = limits.settings.rule_of(lane)
        self._price: Price | None = None
        self._priced = False
        self._tries = 0
        self._not_before = 0.0
        self._since = limits.clock()
        self.queued = False
        self._stage: Literal["waiting", "cleared", "flying"] = "waiting"
        self._refusal: Exception | None = None
        self._why: Note | None = None

    @property
    def _name(self) -> str:
        return f"{os.getpid()}-{self.number}"

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
            if (
                self._stage != "cleared" and self._refusal is None
            ):  # another call of the queue may have seen to it
                if not self.queued:
                    self.queued = True
                    self._queue.add(self)
                    if len(self._queue.waiting) == 1:
                        self._queue.next_look = 0.0
                wait = self._look(now)
        if self._refusal is not None:
            raise self._refusal
        if self._stage != "cleared":
            return wait
        self._stage = "flying"
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
                raise self._shut(lane.shut - now, lane.why)
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
        longest = lane.patience(now, self._limits.settings.max_wait)
        wait = lane.wait(self._rule, self._reckoned(), now, runs, longest)
        if wait > 0:
            self._limits.waits(self._lane, wait)
            return wait
        lane.leave(self._name, self._reckoned(), now, os.getpid())
        lane.turns.pop(process, None)
        budget.reserve(self._name, Reserved(now, os.getpid(), most, cost), again=self._tries > 0)
        self._stage = "cleared"
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
                f"{self._outgoing.host}. {sentence(missing_price(model, self._outgoing.url))}",
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

    def answered(self, status: int, headers: Mapping[str, str], *, lasting: bool = False) -> bool:
        """The provider answered; whether the call is to be made again."""
        now, today = self._limits.clock(), clocks.now()
        again, wait = False, 0.0
        with self._limits.ledger.open(self._lane) as books:
            lane = books.lane
            for kind, told in told_limits(headers, today).items():
                lane.told(kind, told, self._name, now)
            if status < 400:
                lane.accepted()
            else:
                if not lasting and (status in LIMITED or is_passing(status, headers)):
                    again, wait = self._again(lane, status, headers, now, asked_wait(headers, today))
                books.budget.failures += 1
                self._land(books, 0.0, 0.0)
        self._not_before = now + wait
        return again

    def _again(
        self, lane: Lane, status: int, headers: Mapping[str, str], now: float, asked: float | None
    ) -> tuple[bool, float]:
        """Whether a failure that may pass is tried again, and how many seconds after."""
        settings, rng = self._limits.settings, self._limits.rng
        limited = status in LIMITED
        rounds = lane.refused(self._name, now) if limited else 0
        if asked is not None and asked > settings.max_wait:
            self._why = Note.of("calls:asked-to-wait", seconds=asked, **self._longest())
            if limited:
                lane.shut_until(now + asked, RATE_LIMIT)
            return False, 0.0
        wait = asked if asked is not None else backoff(self._tries, rng)
        rest = asked if asked is not None else pause(rounds, rng) if rounds else 0.0
        if not is_passing(status, headers):
            lane.waits(wait, now, settings.max_wait)
            return False, 0.0
        kind = RATE_LIMIT if limited else "server"
        again = self._patient(lane, max(wait, rest) if limited else wait, now, kind, f"HTTP {status}")
        if limited and rest:
            lane.pause(now + rest)
        if limited and not again and lane.refusals >= max(2, settings.attempts):
            # Refused for good: who waits behind it would meet the same.
            lane.shut_until(now + rest, RATE_LIMIT)
        return again, wait

    def _patient(self, lane: Lane, wait: float, now: float, kind: str, said: str) -> bool:
        """Whether a call that failed is made again after so many seconds; when the time is over, nobody else asks."""
        settings = self._limits.settings
        if not lane.waits(wait, now, settings.max_wait):
            if now > lane.failing:
                lane.shut_until(now + max(wait, LONGEST_WAIT), kind)
            elif kind == RATE_LIMIT:
                lane.shut_until(now + wait, kind)
            if self._tries < settings.attempts:
                self._why = Note.of("calls:nothing-answered", **self._longest())
            return False
        if self._tries >= settings.attempts:
            return False
        why = Note.of("calls:failing", what=said, tries=self._tries, attempts=settings.attempts)
        self._limits.waits(self._lane, wait, why, since=now - lane.failing)
        return True

    def _longest(self) -> dict[str, Any]:
        settings = self._limits.settings
        return {"most": settings.max_wait, "option": f"{settings.caps.prefix}max-wait"}

    def failed(self, *, passing: bool) -> bool:
        """No answer came; whether the call is to be made again."""
        now, again = self._limits.clock(), False
        wait = backoff(self._tries, self._limits.rng)
        with self._limits.ledger.open(self._lane) as books:
            books.budget.failures += 1
            if passing:
                again = self._patient(books.lane, wait, now, "connection", "no answer")
            self._land(books, *self._unknown())
        self._not_before = now + wait
        return again

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
        if self._stage != "waiting":
            with self._limits.ledger.open(self._lane) as books:
                self._land(books, *self._unknown())

    def tries(self) -> str:
        """What a failure adds to its message."""
        if self._why is not None:
            return sentence(self._why)
        if self._tries <= 1:
            return ""
        return sentence(Note.of("calls:tried", tries=self._tries, attempts=self._limits.settings.attempts))

    def _land(self, books: Books, tokens: float, cost: float) -> None:
        self._stage = "waiting"
        books.lane.land(self._name, tokens)
        books.budget.spend(self._name, tokens, cost)
        self._queue.next_look = 0.0

    def _unknown(self) -> tuple[float, float]:
        """Tokens and cost of a call whose end nobody saw: its prompt was read, perhaps."""
        tokens = self._outgoing.words / _CHARACTERS
        price = self._price
        return tokens, 0.0 if price is None else price.cost(tokens, 0)

    def _shut(self, seconds: float, why: str) -> TargetError:
        again = " again" if self._tries else ""
        did = "refused" if why == RATE_LIMIT else "failed"
        return TargetError(
            f"Not asked{again}: {self._lane} {did} the calls before this one, and no other is made for "
            f"{max(1, round(seconds))} s.",
            kind=why,
        )


# What a person has set: limits, attempts, the budget, prices.


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person has set.

    Attributes:
        attempts: How often a call is made at the most, 1 or more.
        rule: For every host and model.
        rules: For some, by a pattern of ``host/model``; what they leave open is taken from ``rule``.
        caps: The budget.
        prices: What calls cost.
        max_wait: Seconds for which calls wait while a provider refuses every one of them.
    """

    attempts: int = ATTEMPTS
    rule: LaneRule = field(default_factory=LaneRule)
    rules: Mapping[str, LaneRule] = field(default_factory=dict)
    caps: Caps = field(default_factory=Caps)
    prices: Prices = field(default_factory=Prices)
    max_wait: float = MAX_WAIT

    @classmethod
    def of(
        cls,
        values: Mapping[str, Any],
        *,
        rules: Mapping[str, LaneRule],
        prices: Mapping[str, Price],
        prefix: str,
        dry: bool = False,
    ) -> Settings:
        """What a session's gate is made from.

        Args:
            values: By the names of the settings of limits.
            rules: Limits by a pattern of ``host/model``.
            prices: The user's own, by a pattern of the model.
            prefix: What the options' names begin with, for messages.
            dry: Nothing is asked at all.
        """
        return cls(
            attempts=values["attempts"],
            rule=LaneRule(rpm=values["rpm"], tpm=values["tpm"]),
            rules=rules,
            caps=Caps(
                calls=values["max_calls"],
                tokens=values["max_tokens"],
                cost=values["max_cost"],
                dry=dry,
                prefix=prefix,
            ),
            prices=Prices(prices),
            max_wait=values["max_wait"],
        )

    def rule_of(self, lane: str) -> LaneRule:
        """The rule of ``host/model``: of the first pattern that matches, and the general one."""
        for pattern, rule in self.rules.items():
            if fnmatchcase(lane, pattern):
                return LaneRule(
                    rule.rpm or self.rule.rpm,
                    rule.tpm or self.rule.tpm,
                    rule.concurrency or self.rule.concurrency,
                )
        return self.rule


_LONG = 2.0  # seconds of waiting that are worth a line
_SELDOM = 5.0  # and a line is not worth more than that


class SessionLimits:
    """The ``Gate`` of a session; safe to use from threads, event loops and, with a shared ledger, processes.

    Calls of one host and model leave in the order in which they came.

    Args:
        settings: What a person has set.
        ledger: Where lanes and budget are kept; by default in memory.
        clock: Seconds, monotonic, of all processes that share the ledger.
        told: Takes a sentence for whoever looks on, when calls begin to wait for a while.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        ledger: Ledger | None = None,
        clock: Callable[[], float] = monotonic,
        told: Callable[[str], object] | None = None,
    ) -> None:
        self.settings = settings if settings is not None else Settings()
        self.ledger: Ledger = ledger if ledger is not None else MemoryLedger()
        self.clock = clock
        self.rng = Random()  # noqa: S311 - jitter: it changes no result, and must differ between processes
        self.stopped = False
        self._told = told
        self._silent_until = 0.0
        self._lock = threading.Lock()
        self._queues: dict[str, Queue] = {}
        self._numbers = itertools.count()

    def enter(self, outgoing: Outgoing) -> Ticket:
        """The passage of one call."""
        lane = f"{outgoing.host}/{outgoing.model}"
        with self._lock:
            queue = self._queues.setdefault(lane, Queue())
            return Ticket(self, queue, lane, outgoing, next(self._numbers))

    def spares(self, calls: Sequence[Outgoing]) -> bool:
        """Whether the budget holds twice what calls may take at the most; always without a budget."""
        caps = self.settings.caps
        if caps == Caps():
            return True
        tokens, cost = 0.0, 0.0
        for each in calls:
            tokens += each.size + (each.bound or 0)
            price = self.settings.prices.of(each.model, each.url) if caps.cost is not None else None
            if caps.cost is not None and price is None:
                return False
            cost += price.cost(each.size, each.bound or 0) if price is not None else 0.0
        return self.budget().holds(caps, 2 * len(calls), 2 * tokens, 2 * cost)

    def waits(self, lane: str, seconds: float, why: Note | None = None, *, since: float = 0.0) -> None:
        """Calls of a lane wait, ``since`` seconds so far; of a long wait whoever looks on is told, not every time."""
        now = self.clock()
        if self._told is None or max(seconds, since) < _LONG or now < self._silent_until:
            return
        self._silent_until = now + max(seconds, _SELDOM)
        why = why or Note.of("calls:limits")
        shown = since if since >= _LONG else 0.0
        note = Note.of("calls:waiting", seconds=seconds, lane=lane, why=why, since=shown)
        self._told(sentence(note))

    def budget(self) -> Budget:
        """What was spent so far."""
        with self.ledger.open("") as books:
            return books.budget

    def stop(self) -> None:
        """Let nobody wait any longer: the session was interrupted."""
        self.stopped = True

    def close(self) -> None:
        """Release files."""
        self.ledger.close()


# Limits and prices as they stand in ``[tool.promptfuzz]`` of pyproject.toml.


_RULE = ("rpm", "tpm", "concurrency")
_PRICE = ("input", "output")
_TOOL = "[tool.promptfuzz.{}] in pyproject.toml"


def rules_and_prices(tables: Mapping[str, Any]) -> tuple[dict[str, LaneRule], dict[str, Price]]:
    """Limits by a pattern of ``host/model``, and prices by one of the model.

    Raises:
        UsageError: They are wrong.
    """
    return (
        rules_from(tables.get("limits", {}), _TOOL.format("limits")),
        prices_from(tables.get("prices", {}), _TOOL.format("prices")),
    )


def rules_from(value: Any, where: str) -> dict[str, LaneRule]:
    """``[tool.promptfuzz.limits]``: by a pattern of ``host/model``, any of ``rpm``, ``tpm`` and ``concurrency``.

    Raises:
        UsageError: An unknown key, or a value that is no whole number of 1 or more.
    """
    rules = {}
    for pattern, given in _table(value, where).items():
        place = f'{where}: "{pattern}"'
        for key, number in _keys(given, _RULE, place).items():
            if not isinstance(number, int) or number < 1:
                raise UsageError(f"{place}: {key} = {number!r} is not a whole number of 1 or more.")
        rules[pattern] = LaneRule(**given)
    return rules


def prices_from(value: Any, where: str) -> dict[str, Price]:
    """``[tool.promptfuzz.prices]``: by a pattern of the model, ``input`` and ``output``, dollars a million tokens.

    Raises:
        UsageError: An unknown key, a missing one, or a value that is no number of 0 or more.
    """
    prices = {}
    for pattern, given in _table(value, where).items():
        place = f'{where}: "{pattern}"'
        numbers = _keys(given, _PRICE, place)
        for key in _PRICE:
            number = numbers.get(key)
            if not isinstance(number, int | float) or not 0 <= number < float("inf"):
                raise UsageError(
                    f"{place}: {key} = {number!r} is not a number of 0 or more, US dollars for a million tokens."
                )
        prices[pattern] = Price(float(given["input"]), float(given["output"]))
    return prices


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be a table.")
    return value


def _keys(given: Any, known: tuple[str, ...], place: str) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise UsageError(f"{place} must be a table with {', '.join(known)}.")
    for key, number in given.items():
        if key not in known:
            raise UsageError(f"{place}: unknown key {key!r}. {nearest(key, known)}")
        if isinstance(number, bool):
            raise UsageError(f"{place}: {key} = {number!r} is not a number.")
    return given
