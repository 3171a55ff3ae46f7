"""Claims in Redis: a key with a time to live, renewed while the call lasts, so that a dead host's is free soon."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Reach = Callable[[Callable[[Any], Any]], Any]

_RENEWALS = 3  # in the time that a claim lives
_RENEW = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('pexpire', KEYS[1], ARGV[2]) or 0"
_FREE = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0"


class RedisClaims:
    """The claims of one store.

    Args:
        reach: Does something with a client; ``None`` where the server cannot be used.
        seconds: How long a claim outlives the process that held it.
    """

    def __init__(self, reach: Reach, seconds: float) -> None:
        self.reach = reach
        self.milliseconds = int(seconds * 1000)
        self._held: dict[str, str] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._keeper: threading.Thread | None = None

    def keep(self, name: str, token: str) -> None:
        """Renew a claim until it is dropped."""
        with self._lock:
            self._held[name] = token
            if self._keeper is None:
                self._stopped = threading.Event()
                self._keeper = threading.Thread(target=self._renew, name="promptfuzz-claims", daemon=True)
                self._keeper.start()

    def drop(self, name: str) -> None:
        """Renew a claim no longer."""
        with self._lock:
            self._held.pop(name, None)

    def close(self) -> None:
        """Renew nothing any longer."""
        with self._lock:
            keeper, self._keeper = self._keeper, None
            self._held.clear()
            self._stopped.set()
        if keeper is not None:
            keeper.join()

    def _renew(self) -> None:
        stopped = self._stopped
        while not stopped.wait(self.milliseconds / 1000 / _RENEWALS):
            with self._lock:
                held = list(self._held.items())
                if not held:  # nothing is in flight: the next claim begins another thread
                    self._keeper = None
                    return
            for name, token in held:
                self._renewed(name, token)

    def _renewed(self, name: str, token: str) -> None:
        self.reach(lambda client: client.eval(_RENEW, 1, name, token, self.milliseconds))


class RedisClaim:
    """The claim on one key.

    Args:
        claims: Of the store.
        name: The key in Redis.
    """

    def __init__(self, claims: RedisClaims, name: str) -> None:
        self._claims = claims
        self._name = name
        self._token = secrets.token_hex(8)
        self._held = False

    def take(self) -> bool:
        """Whether it is ours now; where Redis cannot be used, it is."""
        if self._held:
            return True
        holder = self._claims.reach(self._ask)
        if holder is None:
            return True
        self._held = holder == self._token.encode()
        if self._held:
            self._claims.keep(self._name, self._token)
        return self._held

    def release(self) -> None:
        """Let others ask; what has expired and is another's by now stays so."""
        if self._held:
            self._held = False
            self._claims.drop(self._name)
            self._claims.reach(lambda client: client.eval(_FREE, 1, self._name, self._token))

    def _ask(self, client: Any) -> Any:
        """Who holds it: us, if nobody did. Asked again after a lost connection, the answer is the same."""
        asked = client.pipeline(transaction=True)
        asked.set(self._name, self._token, nx=True, px=self._claims.milliseconds)
        asked.get(self._name)
        return asked.execute()[1]
