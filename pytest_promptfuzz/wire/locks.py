"""Claims by the processes of one machine: a byte of a file is locked for each key. What a dead process held is free."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


class _Places:
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


_files: dict[str, _Places] = {}
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
            self._places = _files.setdefault(os.path.abspath(path), _Places(path.absolute()))  # noqa: PTH100 - no links followed
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
