"""The store of answers on disk: diskcache without its pickle, and without trust in what lies in the file.

diskcache unpickles values and keys of rows marked so (CVE-2025-69872), reads the file a row names, and
deletes the file a replaced row names. A cache directory may come from another machine, so our ``Disk`` does
none of the three.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pytest_promptfuzz.errors import StoreError, unstopped
from pytest_promptfuzz.files import make_directory
from pytest_promptfuzz.storage.answers import StoredAnswer, StoreStats, Tally, decode_answer, encode_answer
from pytest_promptfuzz.storage.claims import FileClaim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


# Damaged and read-only cache files: superseded, salvaged, read without writing.


_CLAIM_SECONDS = 40.0
_WORK = "mending"
_ENTRIES = "SELECT key, value FROM Cache WHERE raw = 1 AND mode = 1 ORDER BY rowid "


def generation(responses: Path, number: int) -> Path:
    """The directory of one generation of a store: a damaged database stays where it is, and the next begins beside it.

    It is never renamed, because processes that have it open would mistake the next one's journal for its own.
    """
    return responses if number == 1 else responses / str(number)


def begun(responses: Path, number: int) -> bool:
    """Whether a generation exists; one that may not be looked at does not."""
    return os.path.exists(generation(responses, number))  # noqa: PTH110 - Path.exists raises PermissionError


def newest(responses: Path) -> int:
    """The number of the generation in use, from 1."""
    number = 1
    while begun(responses, number + 1):
        number += 1
    return number


@contextlib.contextmanager
def claim(responses: Path) -> Iterator[None]:
    """Hold the right to mend a store: one process at a time. What a dead process held is free.

    Raises:
        StoreError: Another process has held it for too long.
        OSError: The directory cannot be written.
    """
    lock = responses / "lock"
    with contextlib.closing(
        sqlite3.connect(lock, timeout=_CLAIM_SECONDS, isolation_level=None)
    ) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"another process has been mending it for too long, or {lock}: {error}"
            ) from None
        yield


@contextlib.contextmanager
def next_generation(responses: Path, number: int) -> Iterator[Path]:
    """A directory to fill, which becomes generation ``number`` when it is done, or vanishes if that fails.

    Call it under :func:`claim`; the database in it must be closed again.
    """
    work = responses / _WORK
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700)
    try:
        yield work
        work.rename(generation(responses, number))
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def is_being_mended(responses: Path) -> bool:
    """Whether somebody is salvaging, or died of it: what is written meanwhile may be missed."""
    return os.path.exists(responses / _WORK)  # noqa: PTH110 - Path.exists raises PermissionError


def is_sound(database: Path) -> bool:
    """Whether SQLite finds the file's structure whole; what entries hold has checksums of its own."""
    try:
        with contextlib.closing(connect(database)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)])
    except (sqlite3.Error, OSError):
        return False


def salvage(database: Path) -> Iterator[tuple[str, bytes]]:
    """The entries of a damaged database that can be read and pass their checksum, each once.

    A scan ends at the first bad page; one from each end reaches everything around a single one.
    """
    seen: set[str] = set()
    for order in ("ASC", "DESC"):
        with (
            contextlib.suppress(sqlite3.Error, OSError),
            contextlib.closing(connect(database)) as connection,
        ):
            for key, value in connection.execute(_ENTRIES + order):
                if not isinstance(key, str) or key in seen:
                    continue
                with contextlib.suppress(StoreError, ValueError):
                    decode_answer(value)
                    seen.add(key)
                    yield key, value


def connect(database: Path, *, options: str = "mode=ro") -> sqlite3.Connection:
    """Open a database file that exists.

    Raises:
        OSError: It does not exist.
        sqlite3.Error: It cannot be opened.
    """
    if not database.exists():
        raise FileNotFoundError(database)
    return sqlite3.connect(f"{database.absolute().as_uri()}?{options}", uri=True, check_same_thread=False)


class ReadOnly:
    """Reads a cache whose directory cannot be written.

    Raises:
        OSError: There is no such file.
        sqlite3.Error: It is no cache.
    """

    def __init__(self, database: Path) -> None:
        # Without write access SQLite cannot make its shared-memory file; immutable does without one.
        self._connection = connect(database, options="mode=ro&immutable=1")
        self._lock = threading.Lock()
        try:
            len(self)
        except sqlite3.Error:
            self.close()
            raise

    def get(self, key: str) -> object:
        """The value under ``key`` as stored, which need not be bytes, or ``None``."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT value FROM Cache WHERE key = ? AND raw = 1 AND mode = 1", (key,)
            ).fetchall()
        return rows[0][0] if rows else None

    def __len__(self) -> int:
        with self._lock:
            return int(self._connection.execute("SELECT COUNT(*) FROM Cache").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


_Result = TypeVar("_Result")

_DATABASE = "cache.db"
_RAW = 1  # diskcache's mode of a value that stands in its row
_BUSY_SECONDS = 30.0
# What diskcache raises while it opens a file whose settings table holds nonsense.
_UNOPENABLE = (ValueError, TypeError, KeyError, AttributeError)
_SETTINGS: dict[str, Any] = {
    "eviction_policy": "none",  # the default limit of 1 GiB would drop answers silently
    "cull_limit": 0,
    "size_limit": 2**62,
    "disk_min_file_size": 2**62,  # values stand in their rows: no file is read because a row names it
    "sqlite_cache_size": 512,  # pages, 2 MiB: a run reads an answer once
    "sqlite_mmap_size": 0,  # a mapped file that is truncated kills the process with SIGBUS
    "statistics": 0,
    "tag_index": 0,
}


class _RefusedError(StoreError):
    """A row that only code-executing or file-reading machinery could read."""


def _disk_type() -> type:
    """Our ``diskcache.Disk``; made here because diskcache is imported on first use only."""
    import diskcache

    class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache is untyped
        """Stores bytes under text keys, in the row, and refuses everything else."""

        def __init__(self, directory: str, min_file_size: int = 0, **_: object) -> None:
            super().__init__(directory, min_file_size=min_file_size)

        def put(self, key: object) -> tuple[str, bool]:
            if type(key) is not str:
                raise _RefusedError(f"keys are text, not {type(key).__name__}")
            return key, True

        def get(self, key: object, raw: object) -> str:
            if type(key) is not str or not raw:
                raise _RefusedError("a key in the cache is not plain text")
            return key

        def store(
            self, value: object, read: object, key: object = None
        ) -> tuple[int, int, None, sqlite3.Binary]:
            del key
            if type(value) is not bytes or read:
                raise _RefusedError(f"values are bytes, not {type(value).__name__}")
            return 0, _RAW, None, sqlite3.Binary(value)

        def fetch(self, mode: object, filename: object, value: object, read: object) -> bytes:
            if mode != _RAW or filename is not None or read or type(value) is not bytes:
                raise _RefusedError("the entry is a pickle or names a file; it was not read")
            return value

        def remove(self, file_path: object) -> None:
            """No row of ours has a file, so a row that names one names somebody else's."""

    return BytesDisk


class ResponseStore:
    """Answers kept in ``<directory>/responses``, for any number of threads and processes.

    Nothing is opened, made or imported before the first use. Whatever is wrong with the directory or the
    file is announced once, and the run goes on: with a new file beside the damaged one, reading only, or
    without storing.

    Args:
        directory: The project's ``.promptfuzz``. It gets a ``.gitignore`` that hides all of it;
            ``responses`` in it is readable by its owner only.
        warn: Called with each announcement, a sentence.

    Attributes:
        notes: All announcements so far.
    """

    def __init__(
        self, directory: str | os.PathLike[str], *, warn: Callable[[str], None] | None = None
    ) -> None:
        self.directory = Path(directory)
        self._tally = Tally(warn)
        self.notes = self._tally.notes
        self._lock = threading.RLock()
        self._cache: Any = None
        self._owner: int | None = None
        self._staying: set[int] = set()
        self._generation = 0  # of the open file
        self._read_only: ReadOnly | None = None
        self._writable = self._usable = True

    @property
    def path(self) -> Path:
        """The database file in use."""
        return generation(self._responses, newest(self._responses)) / _DATABASE

    @property
    def _responses(self) -> Path:
        return self.directory / "responses"

    def get(self, key: str) -> StoredAnswer | None:
        """The answer under ``key``, or ``None``; a damaged or foreign entry is an announced miss."""
        answer = None
        data = self._with_cache(lambda cache: cache.get(key), what="read")
        if data is not None:
            try:
                answer = decode_answer(data)
            except (StoreError, ValueError) as error:
                self._tally.announce(
                    f"An entry of the local cache {self.path} was passed over: {unstopped(error)}. "
                    "The model is asked again."
                )
        self._tally.looked(found=answer is not None)
        return answer

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Keep ``answer`` under ``key``; a full or read-only disk is announced once and ends storing."""
        if not self._writable:
            return
        data = encode_answer(answer)
        done = self._with_cache(lambda cache: cache.set(key, data), what="write")
        if done and self._mended_meanwhile():
            done = self._with_cache(lambda cache: cache.set(key, data), what="write")
        if done:
            self._tally.wrote()

    def claim(self, key: str) -> FileClaim:
        """The right to ask for what is to be stored under ``key``, among the processes that use this directory."""
        return FileClaim(self._responses / "claims", key, self._unclaimable)

    def stats(self) -> StoreStats:
        """Counts since this store was made, and the number of entries it holds now."""
        try:
            made = self.path.exists()
        except OSError:  # a directory that may not even be looked into
            made = False
        return self._tally.stats(self._with_cache(len, what="read") if made else 0)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            for each in (self._cache, self._read_only):
                if each is not None:
                    each.close()
            self._cache = self._owner = self._read_only = None

    @contextlib.contextmanager
    def staying(self) -> Iterator[None]:
        """Keep this thread's connection open inside the block, for a thread that asks and stores much."""
        self._staying.add(threading.get_ident())
        try:
            yield
        finally:
            self._staying.discard(threading.get_ident())
            if self._cache is not None:
                self._cache.close()  # the connection of this thread only

    def _unclaimable(self, error: OSError) -> None:
        if self._writable:  # otherwise nothing is stored, and that was said
            self._tally.announce(
                f"Calls in flight cannot be claimed in {self._responses} ({error.strerror or error}): processes that "
                "ask the same at the same moment each pay for it."
            )

    def _with_cache(self, action: Callable[[Any], _Result], *, what: str) -> _Result | None:
        import diskcache

        # Twice: damage is mended once in between; a file that fails again is given up for this run.
        for attempt in (1, 2):
            cache = self._open()
            if cache is None or (what == "write" and (not self._writable or cache is self._read_only)):
                return None
            try:
                return action(cache)
            except _RefusedError as error:
                self._tally.announce(
                    f"An entry of the local cache {self.path} was refused: {unstopped(error)}."
                )
                return None
            except diskcache.Timeout:
                self._busy()
                return None
            except sqlite3.OperationalError as error:
                self._operational(error)
                return None
            except (sqlite3.DatabaseError, OSError) as error:
                if attempt == 2 or isinstance(error, OSError):
                    self._give_up(error)
                    return None
                self._mend(error)
            finally:
                # A connection belongs to its thread; left open, it would leak when a worker thread ends.
                if cache is self._cache and threading.get_ident() not in {self._owner, *self._staying}:
                    cache.close()
        return None

    def _mended_meanwhile(self) -> bool:
        """Whether another process began a new file while we wrote to the one before."""
        if is_being_mended(self._responses):
            with contextlib.suppress(StoreError, OSError, sqlite3.Error), claim(self._responses):
                pass  # whoever holds it is done
        return self._superseded()

    def _superseded(self) -> bool:
        return begun(self._responses, self._generation + 1)

    def _busy(self) -> None:
        self._tally.announce(
            f"The local cache {self.path} was locked by another process for {_BUSY_SECONDS:.0f} s; "
            "an answer was not stored or not found."
        )

    def _operational(self, error: sqlite3.OperationalError) -> None:
        if _is_busy(error):
            self._busy()
            return
        self._writable = False
        self._tally.announce(
            f"The local cache {self.path} cannot be written ({error}); new answers are not stored in this "
            "run. Free some space, mend its permissions, or choose another directory."
        )

    def _give_up(self, error: Exception) -> None:
        self._usable = self._writable = False
        self._tally.announce(
            f"The local cache {self.path} cannot be used ({error}); this run goes on without it. "
            "Mend its permissions or choose another directory."
        )

    def _open(self) -> Any:
        with self._lock:
            if not self._usable:
                return None
            if self._read_only is not None:
                return self._read_only
            if self._cache is not None:
                if not self._superseded():
                    return self._cache
                self.close()
            import diskcache

            try:
                self._begin()
            except diskcache.Timeout:
                self._busy()
            except (sqlite3.OperationalError, OSError) as error:
                if _is_busy(error):
                    self._busy()
                else:
                    self._open_read_only(error)
            except (sqlite3.DatabaseError, *_UNOPENABLE) as error:
                self._mend(error)
            return self._cache if self._cache is not None else self._read_only

    def _begin(self) -> None:
        make_directory(self.directory)
        self._generation = newest(self._responses)
        self._cache = _cache_in(generation(self._responses, self._generation))
        self._owner = threading.get_ident()

    def _open_read_only(self, error: Exception) -> None:
        """A cache on a read-only disk still answers; one that cannot be read either is given up."""
        try:
            self._read_only = ReadOnly(self.path)
        except (sqlite3.Error, OSError):
            self._give_up(error)
            return
        self._operational(sqlite3.OperationalError(str(error)))

    def _mend(self, error: Exception) -> None:
        """Leave a damaged file where it is, and begin a new one with what can still be read and is whole."""
        with self._lock:
            self.close()
            responses = self._responses
            try:
                with claim(responses):
                    # Another process or thread may have mended it meanwhile.
                    with contextlib.suppress(sqlite3.Error, *_UNOPENABLE):
                        self._begin()
                        if is_sound(self.path):
                            return
                    self.close()
                    damaged = self.path
                    kept = 0
                    with next_generation(responses, newest(responses) + 1) as directory:
                        fresh = _cache_in(directory)
                        try:
                            for key, data in salvage(damaged):
                                kept += bool(fresh.set(key, data))
                        finally:
                            fresh.close()
                    self._begin()
            except (OSError, sqlite3.Error, StoreError) as second:
                self.close()
                self._give_up(second)
                return
            self._tally.announce(
                f"The local cache {damaged} was damaged ({error}). It was left as it is, and a new one begun, "
                f"{self.path.relative_to(self.directory)}, with the {kept} answers that could still be read."
            )


def _cache_in(directory: Path) -> Any:
    import diskcache

    cache = diskcache.Cache(str(directory), timeout=_BUSY_SECONDS, disk=_disk_type(), **_SETTINGS)
    with contextlib.suppress(OSError):
        (directory / _DATABASE).chmod(0o600)
    return cache


def _is_busy(error: Exception) -> bool:
    return "locked" in str(error) or "busy" in str(error)


# What lies in a local store: read without changing anything, and removed on request.


_ROWS = "SELECT key, value FROM Cache ORDER BY rowid"


class StoredEntry(NamedTuple):
    """One entry of a local store.

    Attributes:
        key: Its key; of an entry that is not ours, what stands there as text.
        size: Bytes.
        answer: What is kept; ``None`` where it cannot be used.
        why: Why it cannot.
    """

    key: str
    size: int
    answer: StoredAnswer | None
    why: str = ""


def kept_answers(directory: Path) -> Iterator[StoredEntry]:
    """Every entry of the store in a directory (``.promptfuzz``), the oldest first; none where there is no store.

    Raises:
        StoreError: The database cannot be read to its end.
    """
    database = ResponseStore(directory).path
    try:
        if not database.exists():
            return
        for key, value in _rows(database):
            size = len(value) if isinstance(value, bytes | str) else 0
            if not isinstance(key, str):
                yield StoredEntry(repr(key)[:80], size, None, "the key is not text")
                continue
            try:
                yield StoredEntry(key, size, decode_answer(value))
            except (StoreError, ValueError) as error:
                yield StoredEntry(key, size, None, unstopped(error))
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"The local cache {database} cannot be read to its end ({unstopped(error)}). The next test run begins a "
            "new one with what can be read; `promptfuzz cache clear` removes all of it."
        ) from None


def _rows(database: Path) -> Iterator[tuple[object, object]]:
    try:
        connection = connect(database)
        connection.execute("SELECT 1 FROM Cache LIMIT 1")
    except sqlite3.OperationalError:
        # Without write access SQLite cannot make its shared-memory file; immutable does without one.
        connection = connect(database, options="mode=ro&immutable=1")
    with contextlib.closing(connection):
        yield from connection.execute(_ROWS)


def remove(directory: Path, keys: Iterable[str]) -> int:
    """Take entries out of the store in a directory; how many there were.

    Raises:
        StoreError: The database cannot be written.
    """
    database = ResponseStore(directory).path
    try:
        with contextlib.closing(connect(database, options="mode=rw")) as connection, connection:
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000:.0f}")
            return sum(connection.execute("DELETE FROM Cache WHERE key = ?", (key,)).rowcount for key in keys)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"The local cache {database} cannot be written ({unstopped(error)}). Nothing was removed."
        ) from None


def clear_store(directory: Path) -> None:
    """Empty the store in a directory, damaged files that were set aside included.

    Raises:
        StoreError: It cannot be written.
    """
    responses = directory / "responses"
    try:
        if newest(responses) == 1:
            # A run that goes on with the file open keeps what it stores from now on.
            with (
                contextlib.closing(connect(responses / "cache.db", options="mode=rw")) as connection,
                connection,
            ):
                connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000:.0f}")
                connection.execute("DELETE FROM Cache")
            return
    except FileNotFoundError:
        return
    except (OSError, sqlite3.Error):
        pass  # damaged: the whole of it goes
    try:
        shutil.rmtree(responses)
    except OSError as error:
        raise StoreError(f"{responses} cannot be removed ({error.strerror or error}).") from None
