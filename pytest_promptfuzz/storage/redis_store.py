"""The store of answers in Redis, for several machines. What Redis holds is not trusted, and never executed."""

from __future__ import annotations

import functools
import importlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pytest_promptfuzz.clocks import sleep
from pytest_promptfuzz.connections import following
from pytest_promptfuzz.errors import ConfigurationError, StoreError, UsageError, unstopped
from pytest_promptfuzz.storage.answers import StoredAnswer, StoreStats, Tally, decode_answer, encode_answer
from pytest_promptfuzz.storage.claims import RedisClaim, RedisClaims
from pytest_promptfuzz.storage.redaction import without_credentials

if TYPE_CHECKING:
    from collections.abc import Callable


MOST_BYTES = 8 * 1024 * 1024
"""The largest answer that is shared; no answer of a model comes near it, and a planted value may."""

LEASE = 15
"""Seconds for which others wait for a host that does not answer any more."""

_EXAMPLE = "redis://HOST:6379/0?ttl=30d"
_CONNECT_SECONDS = 3.0
_ANSWER_SECONDS = 10.0
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # before a lost connection is made again
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """What a store's URL says.

    Attributes:
        host: The server.
        port: Its port.
        database: The number of the database.
        user: Who asks; ``None`` for the default user.
        password: Never shown.
        tls: Whether the connection is encrypted (``rediss``).
        ttl: Seconds until an answer is forgotten; 0 keeps it as long as the server does.
        prefix: What every key begins with.
        lease: Seconds for which a claim on a call outlives the process that made it.
    """

    host: str
    port: int
    database: int
    user: str | None
    password: str | None
    tls: bool
    ttl: int
    prefix: str
    lease: int = LEASE

    @classmethod
    def of(cls, url: str) -> RedisAddress:
        """Read ``redis[s]://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE][?ttl=30d&prefix=NAME&lease=15s]``.

        Raises:
            UsageError: It is no such URL. The message quotes nothing that may be a password.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise UsageError(
                f"The URL of the store cannot be read. Write {_EXAMPLE}, with / : @ # ? of a password as %2F and so on."
            ) from None
        database = parts.path.strip("/") or "0"
        shown = without_credentials(url)
        if not parts.hostname or not (database.isascii() and database.isdigit()):
            raise UsageError(f"{shown} has no host, or its database is not a number. Write {_EXAMPLE}.")
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        unknown = sorted(set(given) - {"ttl", "prefix", "lease"})
        if unknown:
            # What follows a question mark in a password would be a parameter, too.
            hidden = "@" in parts.query or any(parts.password and parts.password in each for each in unknown)
            named = "other parameters" if hidden else ", ".join(map(repr, unknown))
            raise UsageError(f"{shown} has {named}. Known: ttl, prefix, lease ({_EXAMPLE}).")
        lease = _seconds(given.get("lease", f"{LEASE}s"), "lease")
        if not lease:
            raise UsageError(f"lease=0 is out of range. Write a time such as {LEASE}s.")
        return cls(
            host=parts.hostname,
            port=port or 6379,
            database=int(database),
            user=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            tls=parts.scheme.lower() == "rediss",
            ttl=_seconds(given.get("ttl", "0"), "ttl"),
            prefix=given.get("prefix", "promptfuzz"),
            lease=lease,
        )

    def __str__(self) -> str:
        """The address without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'rediss' if self.tls else 'redis'}://{host}:{self.port}/{self.database}"


def _seconds(text: str, name: str) -> int:
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _SECONDS else (text, "s")
    if not (number.isascii() and number.isdigit()):
        raise UsageError(
            f"{name}={text!r:.40} is not a time. Write a whole number of seconds, or 90m, 12h, 30d."
        )
    return int(number) * _SECONDS[unit]


class RedisStore:
    """Answers under ``PREFIX:1:KEY``, each with its checksum. Nothing is imported or connected before the first use.

    A lost connection is made again, for some seconds: the server may be starting anew. A server that cannot be reached
    is announced once and left alone from then on: the model is asked for what no other store has, and no test notices.
    A damaged or foreign value is an announced miss.

    Args:
        address: Where Redis is.
        warn: Called with each announcement, a sentence.

    Attributes:
        address: As above.
        notes: All announcements so far.

    Raises:
        ConfigurationError: The library ``redis`` is not installed.
    """

    def __init__(self, address: RedisAddress, *, warn: Callable[[str], None] | None = None) -> None:
        from importlib.util import find_spec

        if find_spec("redis") is None:
            raise ConfigurationError(
                f"The store {address} needs the package 'redis': pip install 'pytest-promptfuzz[redis]'"
            )
        self.address = address
        self._tally = Tally(warn)
        self.notes = self._tally.notes
        self._lock = threading.RLock()
        self._client: Any = None
        self._usable = True
        self._answered = False
        self._claims = RedisClaims(functools.partial(self._with_client, what="claimed"), address.lease)

    def get(self, key: str) -> StoredAnswer | None:
        """The answer under ``key``, or ``None``."""
        # One byte more than is allowed, so that what is too large is seen and never fetched whole.
        data = self._with_client(lambda client: client.getrange(self._name(key), 0, MOST_BYTES), what="read")
        answer = None
        if data:
            try:
                answer = _decoded(data)
            except (StoreError, ValueError, RecursionError) as error:
                self._tally.announce(
                    f"An entry of the shared store {self.address} was passed over: {unstopped(error)}. "
                    "The model is asked again."
                )
        self._tally.looked(found=answer is not None)
        return answer

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Keep ``answer`` under ``key``, for as long as the address says."""
        data = encode_answer(answer)
        if len(data) > MOST_BYTES:
            self._tally.announce(
                f"An answer of {len(data)} bytes was not shared through {self.address}: the most is {MOST_BYTES}."
            )
            return
        ttl = self.address.ttl or None
        if self._with_client(lambda client: client.set(self._name(key), data, ex=ttl), what="written"):
            self._tally.wrote()

    def claim(self, key: str) -> RedisClaim:
        """The right to ask for what is to be stored under ``key``, among all who share the server."""
        return RedisClaim(self._claims, f"{self.address.prefix}:claim:{key}")

    def stats(self) -> StoreStats:
        """Counts since this store was made; how many answers the server holds is not asked."""
        return self._tally.stats(None)

    def close(self) -> None:
        """Close the connections; the next use opens one."""
        self._claims.close()
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _name(self, key: str) -> str:
        return f"{self.address.prefix}:1:{key}"

    def _with_client(self, action: Callable[[Any], Any], *, what: str) -> Any:
        redis = importlib.import_module("redis")
        for pause in (*_PAUSES, None):
            if not self._usable:
                break
            try:
                with following():
                    done = action(self._connected(redis))
            except redis.exceptions.AuthenticationError:
                self._give_up("it does not accept the user or password")
            except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, OSError) as error:
                # One that never answered is not there; one that did may be starting anew.
                if pause is None or not self._answered or isinstance(error, redis.exceptions.TimeoutError):
                    self._give_up(f"it cannot be reached ({type(error).__name__})")
                    break
                self._connected(redis).connection_pool.disconnect(inuse_connections=False)
                sleep(pause)
                continue
            except redis.exceptions.RedisError as error:
                self._refused(redis, error, what)
            else:
                self._answered = True
                return done
            break
        return None

    def _refused(self, redis: Any, error: Exception, what: str) -> None:
        """The server answered, and not as hoped."""
        if isinstance(error, redis.exceptions.OutOfMemoryError):
            self._tally.announce(f"The shared store {self.address} is full: an answer was not {what}.")
        elif isinstance(error, redis.exceptions.NoPermissionError | redis.exceptions.ReadOnlyError):
            self._tally.announce(
                f"The shared store {self.address} lets nothing be {what} ({type(error).__name__})."
            )
        elif "AUTH" in str(error).upper():
            self._give_up("it asks for a password")
        elif isinstance(error, redis.exceptions.ResponseError):
            self._tally.announce(
                f"An entry of the shared store {self.address} could not be {what}: it is no text "
                f"({str(error).partition(' ')[0]})."
            )
        else:
            self._give_up(f"it cannot be reached ({type(error).__name__})")

    def _connected(self, redis: Any) -> Any:
        with self._lock:
            if self._client is None:
                address = self.address
                self._client = redis.Redis(
                    host=address.host,
                    port=address.port,
                    db=address.database,
                    username=address.user,
                    password=address.password,
                    ssl=address.tls,
                    socket_connect_timeout=_CONNECT_SECONDS,
                    socket_timeout=_ANSWER_SECONDS,
                    retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0),  # ours is above, and says so
                )
            return self._client

    def _give_up(self, why: str) -> None:
        self._usable = False
        self._tally.announce(
            f"The shared store {self.address} is not used from here on: {why}. Answers are kept on this machine only."
        )


def _decoded(data: bytes) -> StoredAnswer:
    if len(data) > MOST_BYTES:
        raise StoreError(f"the entry is larger than {MOST_BYTES} bytes")
    return decode_answer(data)
