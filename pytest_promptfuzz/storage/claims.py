"""Claims on answers: of all that would ask the same at once, one asks and the others wait (file locks, Redis)."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import secrets
import threading
from typing import TYPE_CHECKING, Any, Protocol

from pytest_promptfuzz.clocks import monotonic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_promptfuzz.storage.answers import AnswerStore, StoredAnswer

    Reach = Callable[[Callable[[Any], Any]], Any]


PATIENCE = 600.0
"""Seconds after which a call is made although somebody else seems to make it: as long as an SDK waits for an answer."""
_FIRST_LOOK = 0.01
_BETWEEN_LOOKS = 0.25


class Claim(Protocol):
    """The right to ask for what a store keeps under one key."""

    def take(self) -> bool:
        """Whether it is ours now; where nothing can be claimed, it is."""
        ...

    def release(self) -> None:
        """Let others ask; what is not held stays as it is."""
        ...


def claim_in(store: AnswerStore, key: str) -> Claim | None:
    """The claim on an answer; ``None`` from a store that knows none."""
    begin: Callable[[str], Claim] | None = getattr(store, "claim", None)
    return None if begin is None else begin(key)


class Both:
    """Two claims as one: the second is asked for by the holder of the first alone."""

    def __init__(self, first: Claim, second: Claim) -> None:
        self._first = first
        self._second = second
        self._has_first = False

    def take(self) -> bool:
        """Whether both are ours now."""
        self._has_first = self._has_first or self._first.take()
        return self._has_first and self._second.take()

    def release(self) -> None:
        """Give both back."""
        self._second.release()
        self._first.release()
        self._has_first = False


class Claims:
    """What one run has claimed. Safe to use from several threads."""

    def __init__(self) -> None:
        self._held: dict[str, Claim] = {}
        self._lock = threading.Lock()

    def turn(self, key: str, claim: Claim | None, look: Callable[[], StoredAnswer | None]) -> Turn:
        """The turn of a call whose answer is kept under ``key``."""
        if claim is not None:
            with self._lock:
                self._held[key] = claim
        return Turn(claim, look, functools.partial(self.release, key))

    def release(self, key: str) -> None:
        """The call is over: its answer is stored, or there is none."""
        if self._held:
            with self._lock:
                claim = self._held.pop(key, None)
            if claim is not None:
                claim.release()

    def release_all(self) -> None:
        """The run is over, whatever became of its calls."""
        for key in list(self._held):
            self.release(key)


class Turn:
    """One call's turn to be made.

    Args:
        claim: What has to be had first; ``None`` for nothing.
        look: Looks for the answer once more.
        release: Gives the claim back.

    Attributes:
        answer: What somebody else was answered meanwhile: the call is not made.
    """

    def __init__(
        self, claim: Claim | None, look: Callable[[], StoredAnswer | None], release: Callable[[], None]
    ) -> None:
        self.answer: StoredAnswer | None = None
        self._claim = claim
        self._look = look
        self._release = release
        self._until = monotonic() + PATIENCE
        self._pause = _FIRST_LOOK

    def delay(self) -> float:
        """Seconds to sleep before asking this again; 0.0 once the call is to be made, or ``answer`` is there."""
        if self._claim is None:
            return 0.0
        over = self._claim.take() or monotonic() > self._until
        # Also after it was taken: whoever had it before may have stored an answer since we last looked.
        self.answer = self._look()
        if self.answer is not None:
            self._release()
        elif not over:
            pause, self._pause = self._pause, min(self._pause * 1.5, _BETWEEN_LOOKS)
            return pause
        self._claim = None
        return 0.0


# Claims by the processes of one machine: a byte of a file is locked for each key. What a dead process held is free.


_TAKEN = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK})

try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    def _lock(file: int, place: int) -> None:
        os.lseek(file, place, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]  # Windows only

    def _unlock(file: int, place: int) -> None:
        os.lseek(file, place, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]  # Windows only

else:

    def _lock(file: int, place: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)

    def _unlock(file: int, place: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


class _LockedBytes:
    """The bytes of one file that this process has locked.

    A process that closes a file gives up all its locks on it, so that all stores of a process have to share it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._held: set[int] = set()
        self._file: int | None = None
        self._process = os.getpid()

    def take(self, place: int) -> bool:
        """Whether the byte is ours now.

        Raises:
            OSError: The file cannot be made or locked. This process holds the byte all the same.
        """
        with self._lock:
            if self._process != os.getpid():  # forked: what the parent holds is not ours
                self._held.clear()
                self._process = os.getpid()
            if place in self._held:
                return False
            self._held.add(place)
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                _lock(self._file, place)
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
                self._leave(place)
                return False
            return True

    def free(self, place: int) -> None:
        """Give the byte back."""
        with self._lock:
            if self._file is not None:
                with contextlib.suppress(OSError):
                    _unlock(self._file, place)
            self._leave(place)

    def _leave(self, place: int) -> None:
        self._held.discard(place)
        if not self._held and self._file is not None:
            os.close(self._file)
            self._file = None


_files: dict[str, _LockedBytes] = {}
_files_lock = threading.Lock()


class FileClaim:
    """The claim on one key.

    Args:
        path: The file; its folder exists.
        key: What is claimed.
        failed: Called with what keeps a file from being locked; this process has its own claims in order even then.
    """

    def __init__(self, path: Path, key: str, failed: Callable[[OSError], None]) -> None:
        with _files_lock:
            self._places = _files.setdefault(os.path.abspath(path), _LockedBytes(path.absolute()))  # noqa: PTH100 - no links followed
        self._place = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") >> 1
        self._failed = failed
        self._held = False

    def take(self) -> bool:
        """Whether it is ours now."""
        try:
            self._held = self._held or self._places.take(self._place)
        except OSError as error:
            self._held = True
            self._failed(error)
        return self._held

    def release(self) -> None:
        """Let others ask."""
        if self._held:
            self._held = False
            self._places.free(self._place)


# Claims in Redis: a key with a time to live, renewed while the call lasts, so that a dead host's is free soon.


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
