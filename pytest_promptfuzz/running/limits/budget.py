"""Budget and prices: what a session spent and reserved, what calls cost, and the ledger that workers share."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import os
import sqlite3
import sys
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.providers.formats import output_bound, request_texts
from pytest_promptfuzz.running.limits.lanes import Flying, Lane, LimitLevel
from pytest_promptfuzz.wire.network import is_local
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pytest_promptfuzz.providers.requests import WireRequest


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


# Where lanes and budget are kept, for one process or for several that share a ledger.


class Books(NamedTuple):
    """One lane and the budget, to be read and changed while nobody else does."""

    lane: Lane
    budget: Budget


class Ledger(Protocol):
    """Keeps lanes and budget."""

    def open(self, lane: str) -> AbstractContextManager[Books]:
        """The books of a lane; what is changed in the block is kept."""
        ...

    def close(self) -> None:
        """Release files."""
        ...


class MemoryLedger:
    """For one process.

    Args:
        lanes: By name, where they go on from an earlier session; the budget is new.
    """

    def __init__(self, lanes: dict[str, Lane] | None = None) -> None:
        self._lanes: dict[str, Lane] = {} if lanes is None else lanes
        self._budget = Budget()
        self._lock = threading.Lock()

    @contextmanager
    def open(self, lane: str) -> Iterator[Books]:
        """The books of a lane."""
        with self._lock:
            yield Books(self._lanes.setdefault(lane, Lane()), self._budget)

    def close(self) -> None:
        """Nothing to release."""


def runs(process: int) -> bool:
    """Whether a process of this machine runs; where that cannot be asked without harm, it is taken to."""
    if os.name != "posix" or process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


# Lanes and budget in a file that the processes of one run share.


_BUSY_SECONDS = 20.0
_BUDGET = "budget"


class SharedLedger:
    """For the processes of one run on one machine: a small SQLite file, gone with the run.

    Where the file cannot be used, each process goes on with books of its own, and says so.

    Args:
        path: The file; its folder is made.
        warn: Called once with what keeps the books from being shared.
    """

    def __init__(self, path: Path, warn: Callable[[str], object]) -> None:
        self._path = path
        self._warn = warn
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._alone: MemoryLedger | None = None

    @contextmanager
    def open(self, lane: str) -> Iterator[Books]:
        """The books of a lane."""
        with self._lock:
            books = self._read(lane) if self._alone is None else None
            if books is not None:
                try:
                    yield books
                finally:
                    self._write(lane, books)
                return
        if self._alone is not None:
            with self._alone.open(lane) as own:
                yield own

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _read(self, lane: str) -> Books | None:
        try:
            connection = self._connect()
            if connection.in_transaction:  # somebody was interrupted in the middle of it
                connection.rollback()
            connection.execute("BEGIN IMMEDIATE")
            asked = "SELECT name, value FROM books WHERE name IN (?, ?)"
            rows = dict(connection.execute(asked, (lane, _BUDGET)))
            return Books(
                _lane(json.loads(rows.get(lane, "{}"))), _budget(json.loads(rows.get(_BUDGET, "{}")))
            )
        except (sqlite3.Error, OSError, ValueError, TypeError, AttributeError) as error:
            self._part(error)
            return None

    def _write(self, lane: str, books: Books) -> None:
        kept = [(lane, json.dumps(asdict(books.lane))), (_BUDGET, json.dumps(asdict(books.budget)))]
        try:
            connection = self._connect()
            connection.executemany("REPLACE INTO books VALUES (?, ?)", kept)
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self._part(error)

    def _part(self, error: Exception) -> None:
        self._alone = MemoryLedger()
        self._warn(sentence(Note.of("calls:ledger-unusable", path=self._path, error=error)))

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            # Of no use after the run, so it need not survive a crash of the machine.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS books (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"
            )
            self._connection = connection
        return self._connection


def _lane(value: dict[str, Any]) -> Lane:
    lane = Lane(**value)
    lane.flying = {name: Flying(**each) for name, each in value.get("flying", {}).items()}
    lane.levels = {name: LimitLevel(**each) for name, each in value.get("levels", {}).items()}
    return lane


def _budget(value: dict[str, Any]) -> Budget:
    budget = Budget(**value)
    budget.reserved = {name: Reserved(**each) for name, each in value.get("reserved", {}).items()}
    return budget


# What calls cost: the user's own prices, else those that ``genai-prices`` knows.


MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, in and out."""

    input: float
    output: float

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """US dollars for so many tokens."""
        return (self.input * input_tokens + self.output * output_tokens) / MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model.

    Attributes:
        own: The user's, by a pattern of the model's name (``"gpt-5*"``); the first that matches counts.
    """

    own: Mapping[str, Price] = field(default_factory=dict)

    def of(self, model: str, url: str) -> Price | None:
        """The price of a model at an address; ``None`` where it is not known.

        Args:
            model: The model as asked for.
            url: Where it is asked; ``genai-prices`` knows providers by their address.
        """
        for pattern, price in self.own.items():
            if fnmatchcase(model, pattern):
                return price
        # The list is slow to load, and knows of nobody's own machine.
        return _listed(model, url) if model and not is_local(urlsplit(url).hostname or "") else None


def missing_price(model: str, url: str) -> Note:
    """What to do about a model without a price: install the list of prices, or write one.

    Args:
        model: The model as asked for.
        url: Where it is asked.
    """
    listed = is_local(urlsplit(url).hostname or "") or importlib.util.find_spec("genai_prices") is not None
    return Note.of("calls:price", model=model, is_listed=listed, is_old_python=sys.version_info < (3, 11))


@functools.lru_cache(maxsize=256)
def _listed(model: str, url: str) -> Price | None:
    """The price that ``genai-prices`` has, if it is installed and knows the provider and the model.

    Prices that rise with the length of the prompt are taken at a thousand tokens.
    """
    try:
        library: Any = importlib.import_module("genai_prices")
    except ImportError:
        return None
    tokens = 1000
    try:
        first = library.calc_price(
            library.Usage(input_tokens=tokens, output_tokens=0), model, provider_api_url=url
        )
        second = library.calc_price(
            library.Usage(input_tokens=0, output_tokens=tokens), model, provider_api_url=url
        )
    except LookupError:
        return None
    share = MILLION / tokens
    return Price(float(first.total_price) * share, float(second.total_price) * share)


# What a call will cost, reckoned before it is made.


CHARACTERS = 4
"""Characters a token, about."""
SHORTEST, LONGEST = 1, 1000
"""Tokens that an answer without a bound is reckoned to have, at the least and at the most."""


class Estimate(NamedTuple):
    """Tokens of a request, and its cost in US dollars at the least and at the most; ``None`` where it is not known."""

    tokens: int
    low: float | None
    high: float | None


def estimate(wire: WireRequest, prices: Prices) -> Estimate:
    """What a call costs at its provider's ordinary price."""
    tokens = sum(map(tokens_of, request_texts(wire.body, wire.url)))
    model: Any = wire.body.get("model")
    price = prices.of(model if isinstance(model, str) else "", wire.url)
    if price is None:
        return Estimate(tokens, None, None)
    bound = output_bound(wire.body) or LONGEST
    most = len(json.dumps(wire.body))  # no token is shorter than a byte
    return Estimate(
        tokens, price.cost(tokens, min(SHORTEST, bound)), price.cost(min(most, tokens * 2), bound)
    )


def tokens_of(text: str) -> int:
    """About how many tokens a text has."""
    return -(-len(text) // CHARACTERS)


def summed(costs: list[float | None]) -> float | None:
    """Their sum; ``None`` if one of them is not known."""
    known = [each for each in costs if each is not None]
    return sum(known) if len(known) == len(costs) else None
