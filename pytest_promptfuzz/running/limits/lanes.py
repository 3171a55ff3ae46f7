"""`Lane`, one host and model: calls on their way, rate limits read from answers' headers, how long to wait.

Plain data and arithmetic: no clock, no lock, no file. Times are seconds of one monotonic clock, which all processes of
a machine share.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pytest_promptfuzz.providers.formats import limit_headers
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random


WINDOW = 60.0
SOON = 0.02
"""Seconds until to look again where something else has to end first."""
_LEASE = 900.0  # a call that has been on its way for longer is none: its process died without a word
_WAITER = 3.0  # a process that has not asked for its turn for so long has gone
_UNBOUNDED = 64.0  # concurrency above which it is no limit any more


@dataclass(frozen=True, slots=True)
class LaneRule:
    """What a person has set for a lane; ``None`` is no limit.

    Attributes:
        rpm: Requests in any minute.
        tpm: Tokens in any minute, estimated before a call and corrected after it.
        concurrency: Calls on their way at once.
    """

    rpm: int | None = None
    tpm: int | None = None
    concurrency: int | None = None


@dataclass(slots=True)
class Flying:
    """A call on its way: since when, with how many tokens reserved, of which process."""

    since: float
    tokens: float
    process: int


@dataclass(slots=True)
class LimitLevel:
    """What is left of a limit that the provider told, ``at`` some time; ``rate`` of it comes back a second."""

    limit: float
    left: float
    rate: float
    at: float

    def now(self, now: float) -> float:
        """What is left by now."""
        return min(self.limit, self.left + self.rate * (now - self.at))

    def wait(self, amount: float, now: float) -> float:
        """Seconds until ``amount`` is left; 0.0 if it is. More than the limit itself waits for all of it."""
        missing = min(amount, self.limit) - self.now(now)
        if missing <= 0:
            return 0.0
        return missing / self.rate

    def take(self, amount: float, now: float) -> None:
        """Use some of it up."""
        self.left, self.at = self.now(now) - amount, now


@dataclass(slots=True)
class Lane:
    """The calls of one host and model.

    Attributes:
        sent: Calls and tokens of the last minute by second, oldest first: ``[second, calls, tokens]``.
        flying: Calls on their way, by ID.
        concurrency: The most at once, as learned from refusals; ``None`` before the first.
        cut: When it was last cut: refusals of calls sent before say nothing new.
        refusals: Rounds that ended in a refusal, one after the other.
        paused: Until when nothing leaves.
        shut: Until when nothing leaves, and nobody waits for it: the provider says so, or every call fails.
        why: What kind of failure shut it.
        failing: Since when every call has failed; 0.0 where the last one did not.
        failed: When the last call failed.
        levels: By kind, what the provider said.
        turns: By process, since when its first call waits and when it last asked: the oldest goes first.
    """

    sent: list[list[float]] = field(default_factory=list)
    flying: dict[str, Flying] = field(default_factory=dict)
    concurrency: float | None = None
    cut: float = 0.0
    refusals: int = 0
    paused: float = 0.0
    shut: float = 0.0
    why: str = ""
    failing: float = 0.0
    failed: float = 0.0
    levels: dict[str, LimitLevel] = field(default_factory=dict)
    turns: dict[str, list[float]] = field(default_factory=dict)

    def wait(
        self,
        rule: LaneRule,
        tokens: float,
        now: float,
        alive: Callable[[int], bool],
        longest: float = float("inf"),
    ) -> float:
        """Seconds until a call of so many tokens might leave; 0.0 if it may now.

        Args:
            rule: What a person has set.
            tokens: What the call is reckoned to take.
            now: The time.
            alive: Whether a process runs.
            longest: Longer nobody waits for what headers tell: the provider says whether it takes the call.
        """
        if now < self.paused:
            return self.paused - now
        most = min(rule.concurrency or _UNBOUNDED * 1e6, int(self.concurrency or _UNBOUNDED * 1e6))
        if len(self.flying) >= most:
            self._forget_dead(now, alive)
            if len(self.flying) >= most:
                return SOON
        while self.sent and self.sent[0][0] + 1 + WINDOW <= now:
            del self.sent[0]
        told = max(self._told("requests", 1, now), self._told("tokens", tokens, now))
        return max(
            self._window(1, 1, rule.rpm, now),
            self._window(2, tokens, rule.tpm, now),
            told if told <= longest else 0.0,
        )

    def leave(self, call: str, tokens: float, now: float, process: int) -> None:
        """A call leaves."""
        second = float(int(now))
        if not self.sent or self.sent[-1][0] != second:
            self.sent.append([second, 0, 0])
        self.sent[-1][1] += 1
        self.sent[-1][2] += tokens
        self.flying[call] = Flying(now, tokens, process)
        for kind, amount in (("requests", 1.0), ("tokens", tokens)):
            if kind in self.levels:
                self.levels[kind].take(amount, now)

    def land(self, call: str, tokens: float | None) -> None:
        """A call has ended, with so many tokens, where that is known. A second time nothing happens."""
        flew = self.flying.pop(call, None)
        if flew is None or tokens is None:
            return
        for each in self.sent:
            if each[0] == float(int(flew.since)):
                each[2] += tokens - flew.tokens

    def accepted(self) -> None:
        """The provider took a call: it may be one more at once, after a whole round of them."""
        self.refusals = 0
        self.failing = 0.0
        if self.concurrency is not None:
            self.concurrency += 1 / self.concurrency
            if self.concurrency > _UNBOUNDED:
                self.concurrency = None

    def refused(self, call: str, now: float) -> int:
        """The provider refused a call for its limits: half as many at once.

        Returns:
            Rounds refused in a row; 0 if the call belongs to a round that has been counted.
        """
        flew = self.flying.get(call)
        if flew is not None and flew.since < self.cut:
            return 0
        self.concurrency = max(1.0, len(self.flying) / 2)
        self.cut = now
        self.refusals += 1
        return self.refusals

    def patience(self, now: float, most: float) -> float:
        """Seconds for which calls may wait yet, of ``most`` while every call fails.

        After a time without calls it begins anew: nobody has waited.
        """
        if not self.failing or now - self.failed > most:
            return most
        return self.failing + most - now

    def waits(self, wait: float, now: float, most: float) -> bool:
        """A call failed: whether it may wait so long."""
        if self.patience(now, most) == most:
            self.failing = now
        self.failed = now
        return wait <= self.patience(now, most)

    def shut_until(self, until: float, why: str) -> None:
        """Let nothing leave until then, and nobody wait for it."""
        if until > self.shut:
            self.shut, self.why = until, why

    def pause(self, until: float) -> None:
        """Let nothing leave until then."""
        self.paused = max(self.paused, until)

    def told(self, kind: str, told: ReportedLimit, call: str, now: float) -> None:
        """Take over what the provider says is left, less what is on its way and it may not have seen."""
        own = self.flying.get(call)
        others = [each for name, each in self.flying.items() if name != call]
        if own is not None:  # what left before this call has been counted
            others = [each for each in others if each.since >= own.since]
        unseen = len(others) if kind == "requests" else sum(each.tokens for each in others)
        used = told.limit - told.remaining
        # Nothing used yet tells no rate: most limits are for a minute.
        rate = used / told.reset if used > 0 and told.reset > 0 else told.limit / WINDOW
        self.levels[kind] = LimitLevel(told.limit, told.remaining - unseen, rate, now)

    def turn(self, process: str, since: float, now: float) -> bool:
        """Whether it is this process's turn, whose first call waits since then: the longest wait goes first."""
        self.turns[process] = [since, now]
        for name in [name for name, (_, seen) in self.turns.items() if now - seen > _WAITER]:
            del self.turns[name]
        return min(self.turns, key=lambda name: (self.turns[name][0], name)) == process

    def _window(self, column: int, amount: float, most: int | None, now: float) -> float:
        """Seconds until the last minute has room for ``amount`` more; more than ``most`` needs an empty minute."""
        wait = 0.0
        if most is not None:
            excess = sum(each[column] for each in self.sent) + min(amount, most) - most
            for each in self.sent:
                if excess <= 0:
                    break
                excess -= each[column]
                wait = each[0] + 1 + WINDOW - now
        return wait

    def _told(self, kind: str, amount: float, now: float) -> float:
        level = self.levels.get(kind)
        return 0.0 if level is None else level.wait(amount, now)

    def _forget_dead(self, now: float, alive: Callable[[int], bool]) -> None:
        for name in [
            n for n, each in self.flying.items() if now - each.since > _LEASE or not alive(each.process)
        ]:
            del self.flying[name]


# What a provider says about its limits in the headers of an answer.


_PIECE = expression(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_KINDS = ("requests", "tokens")


@dataclass(frozen=True, slots=True)
class ReportedLimit:
    """How much of one limit is left.

    Attributes:
        limit: The most at once, requests or tokens.
        remaining: What is left of it now.
        reset: Seconds until all of it is back.
    """

    limit: float
    remaining: float
    reset: float


def told_limits(headers: Mapping[str, str], now: float) -> dict[str, ReportedLimit]:
    """The limits that an answer's headers tell, by kind: ``requests``, ``tokens``. What cannot be read is left out.

    Args:
        headers: Of the answer, found by lower-case name.
        now: Seconds since the epoch, for limits whose reset is a date.
    """
    found: dict[str, ReportedLimit] = {}
    for kind in _KINDS:
        for *amounts, back in limit_headers(kind):  # the first that an answer has counts
            limit, remaining = (_number(headers.get(name)) for name in amounts)
            reset = _until(headers.get(back, ""), now)
            if limit is not None and remaining is not None and reset is not None and limit > 0:
                found[kind] = ReportedLimit(limit, min(remaining, limit), reset)
                break
    return found


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the provider asks to wait: ``retry-after-ms``, else ``Retry-After`` in seconds or as a date.

    Args:
        headers: Of the answer, found by lower-case name.
        now: Seconds since the epoch.

    >>> retry_after({"retry-after-ms": "250", "retry-after": "1"}, 0.0), retry_after({}, 0.0)
    (0.25, None)
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    seconds = _number(text)
    return seconds if seconds is not None else _date(text, now)


def _number(text: str | None) -> float | None:
    # float() takes "nan", "inf" and "1_0" as well, and none of them is a number of seconds or tokens.
    return float(text) if text is not None and re.fullmatch(r"\s*\d{1,12}(\.\d+)?\s*", text) else None


def _until(text: str, now: float) -> float | None:
    """Seconds in ``6m0s``, ``120ms``, ``1.5`` or until an RFC 3339 date."""
    text = text.strip()
    if not text:
        return None
    plain = _number(text)
    if plain is not None:
        return plain
    pieces = _PIECE.findall(text)
    if pieces and "".join(number + unit for number, unit in pieces) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in pieces)
    try:
        when = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return _seconds_to(when, now)


def _date(text: str, now: float) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return _seconds_to(parsedate_to_datetime(text), now)
    except (TypeError, ValueError):
        return None


def _seconds_to(when: datetime, now: float) -> float:
    aware = when if when.tzinfo is not None else when.replace(tzinfo=timezone.utc)
    return max(0.0, aware.timestamp() - now)


# Which failures are tried again, and how long after.


ATTEMPTS = 4
"""How often a call is made at the most, by default."""
MAX_WAIT = 60.0
"""How long calls are waited for while a provider refuses every one of them, in seconds, by default."""
FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0

LIMITED = frozenset({429, 529})
_PASSING = frozenset({408, 409, *LIMITED})


def is_passing(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an error answer may be another the next time: as the SDKs judge, the provider's own word first."""
    said = headers.get("x-should-retry")
    return said == "true" if said in {"true", "false"} else status in _PASSING or status >= 500


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the provider asks to wait, or ``None``; 0 is no answer."""
    return retry_after(headers, now) or None


def backoff(tries: int, rng: Random) -> float:
    """Seconds to wait after so many tries, from 1: exponential, with full jitter."""
    return rng.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (tries - 1)))


def pause(refusals: int, rng: Random) -> float:
    """Seconds for which a lane rests after so many refused rounds, from 1, where the provider names no time."""
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(refusals - 1, 10))
    return rng.uniform(longest / 2, longest)
