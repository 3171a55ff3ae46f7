"""``--promptfuzz-store``: which store a URL means; a shared store has the local one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pytest_promptfuzz.errors import (
    ConfigurationError,
    PromptfuzzError,
    UsageError,
    close_names,
    nearest,
    unstopped,
)
from pytest_promptfuzz.storage.claims import Both, claim_in
from pytest_promptfuzz.storage.redaction import without_credentials

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

    from pytest_promptfuzz.storage.answers import AnswerStore, StoredAnswer, StoreStats
    from pytest_promptfuzz.storage.claims import Claim


SCHEMES = ("redis", "rediss")
ENTRY_POINTS = "promptfuzz.stores"
"""The group of entry points by which other packages add stores.

The name is the URL's scheme; the object is called as ``factory(url, warn=function)`` and returns an ``AnswerStore``.
"""


class NearFar:
    """A local store before a shared one: what was found far is kept near, so that a warm run makes no round trip.

    Args:
        near: Asked first.
        far: Asked for what ``near`` does not have.
    """

    def __init__(self, near: AnswerStore, far: AnswerStore) -> None:
        self.near = near
        self.far = far

    def get(self, key: str) -> StoredAnswer | None:
        """The answer under ``key``, or ``None``."""
        answer = self.near.get(key)
        if answer is None:
            answer = self.far.get(key)
            if answer is not None:
                self.near.put(key, answer)
        return answer

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Keep ``answer`` in both."""
        self.near.put(key, answer)
        self.far.put(key, answer)

    def claim(self, key: str) -> Claim | None:
        """The right to ask for what is to be stored under ``key``: on this machine first, then among all."""
        near, far = claim_in(self.near, key), claim_in(self.far, key)
        return near or far if near is None or far is None else Both(near, far)

    def stats(self) -> StoreStats:
        """Those of the local store."""
        return self.near.stats()

    def close(self) -> None:
        """Close both."""
        self.near.close()
        self.far.close()


def open_store(
    url: str | None, directory: str | os.PathLike[str], *, warn: Callable[[str], None] | None = None
) -> AnswerStore:
    """The store of a run.

    Args:
        url: The shared store's; ``None`` or empty for the local one alone.
        directory: The local store's.
        warn: Called with each announcement, a sentence.

    Raises:
        UsageError: A URL that cannot be read, or of an unknown scheme.
        ConfigurationError: A package that the store needs is missing or broken.
    """
    from pytest_promptfuzz.storage.disk_store import ResponseStore

    far = _shared(url, warn)
    near = ResponseStore(directory, warn=warn)
    return near if far is None else NearFar(near, far)


def check_store(url: str | None) -> None:
    """Refuse what ``open_store`` would, before anything runs. Nothing is connected.

    Raises:
        UsageError: As ``open_store``.
        ConfigurationError: As ``open_store``.
    """
    store = _shared(url, None)
    if store is not None:
        store.close()


def shown_store(url: str) -> str:
    """A store's URL as it may be shown: scheme, host, port and path, without user, password and parameters."""
    if url.partition("://")[0].lower() in SCHEMES:
        from pytest_promptfuzz.storage.redis_store import RedisAddress

        return str(RedisAddress.of(url))
    return without_credentials(url)


def password_of(url: str) -> str:
    """The password in a store's URL, to be hidden wherever it appears; empty where there is none."""
    credentials = url.partition("://")[2].rpartition("@")[0]
    return unquote(credentials.partition(":")[2])


def _shared(url: str | None, warn: Callable[[str], None] | None) -> Any:
    if not url or not url.strip():
        return None
    url = url.strip()
    scheme, separator, _ = url.partition("://")
    scheme = scheme.lower()
    if separator and scheme in SCHEMES:
        from pytest_promptfuzz.storage.redis_store import RedisAddress, RedisStore

        return RedisStore(RedisAddress.of(url), warn=warn)
    installed = {each.name: each for each in _installed()}
    if separator and scheme in installed:
        return _made(installed[scheme], url, warn)
    known = sorted({*SCHEMES, *installed})
    # The value itself may be a password that was put in the wrong place.
    given = repr(without_credentials(url)) if separator else repr(url) if url in known else "the value"
    hint = f" {nearest(scheme, known)}" if separator and close_names(scheme, known) else ""
    more = f" Known: {', '.join(f'{each}://' for each in known)}." if not hint else ""
    what = "a URL of a store" if separator else "a URL"
    raise UsageError(f"{given} is not {what}. Write redis://HOST:PORT/DATABASE.{hint}{more}")


def _made(entry: EntryPoint, url: str, warn: Callable[[str], None] | None) -> Any:
    package = entry.dist.name if entry.dist else entry.value
    try:
        store = entry.load()(url, warn=warn)
    except PromptfuzzError:
        raise
    except Exception as error:  # noqa: BLE001 - its chained traceback could show the URL, and a password in it
        message = unstopped(error).replace(url, shown_store(url))
        raise ConfigurationError(
            f"The store {entry.name!r} of package {package!r} cannot be made: {message}."
        ) from None
    missing = [name for name in ("get", "put", "stats", "close") if not callable(getattr(store, name, None))]
    if missing:
        raise ConfigurationError(
            f"The store {entry.name!r} of package {package!r} has no {missing[0]}(): it is no AnswerStore."
        )
    return store


def _installed() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=ENTRY_POINTS), key=lambda each: (each.name, each.value))
