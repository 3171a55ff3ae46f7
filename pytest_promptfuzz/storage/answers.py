"""`StoredAnswer` and the `AnswerStore` protocol; the canonical key, by which the answer to a request is found."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pytest_promptfuzz.errors import ConfigurationError, StoreError
from pytest_promptfuzz.providers.formats import is_counted
from pytest_promptfuzz.providers.requests import WireRequest
from pytest_promptfuzz.storage.redaction import DEFAULT, Redaction, hidden_in_stream
from pytest_promptfuzz.storage.secrets import OLD, RULES
from pytest_promptfuzz.text.json_paths import json_diff, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


FORMAT = 1
_HEADER = b"promptfuzz-answer"


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One complete answer of a model, with the request it answers, as kept by a store.

    Attributes:
        url: Where it was asked, without credentials.
        request: The request body, redacted; for people to read, never sent again.
        status: HTTP status, 200 to 299.
        content_type: ``application/json``, or ``text/event-stream`` for a streamed answer.
        body: The decoded body, redacted; of a stream the whole of its events.
        created: When it was answered, seconds since the epoch.
        backend: Who answered: ``live``, or the version of the simulated model.
        headers: The request's headers that are part of its key.
        ignore: The JSON paths of the request that are not.
        rules: The version of the redaction rules under which its key was computed.
        seconds: How long it took to come; ``None`` where that was not kept.
    """

    url: str
    request: dict[str, Any]
    status: int
    content_type: str
    body: str
    created: float
    backend: str = "live"
    headers: dict[str, str] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    rules: int = RULES.version
    seconds: float | None = None

    @property
    def streamed(self) -> bool:
        """Whether the body is a stream of events."""
        return self.content_type.startswith("text/event-stream")


class StoreStats(NamedTuple):
    """How a store was used since it was made, and what it holds.

    Attributes:
        hits: Answers found.
        misses: Answers looked for in vain.
        writes: Answers stored.
        entries: Answers held now; ``None`` where that cannot be told.
    """

    hits: int
    misses: int
    writes: int
    entries: int | None


class AnswerStore(Protocol):
    """Keeps answers by key. What is stored raises nothing: damage is a miss, and announced."""

    def get(self, key: str) -> StoredAnswer | None:
        """The answer under ``key``, or ``None``."""
        ...

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Keep ``answer`` under ``key``, replacing what was there."""
        ...

    def stats(self) -> StoreStats:
        """Counts since the store was made."""
        ...

    def close(self) -> None:
        """Release files; the store may be used again afterwards."""
        ...


class MemoryStore:
    """Answers for the life of the process: for runs without a cache, and a test's own fresh answers."""

    def __init__(self) -> None:
        self._answers: dict[str, StoredAnswer] = {}
        self._lock = threading.Lock()
        self._hits = self._misses = self._writes = 0

    def get(self, key: str) -> StoredAnswer | None:
        """The answer under ``key``, or ``None``."""
        with self._lock:
            answer = self._answers.get(key)
            self._hits += answer is not None
            self._misses += answer is None
            return answer

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Keep ``answer`` under ``key``."""
        with self._lock:
            self._answers[key] = answer
            self._writes += 1

    def answers(self) -> list[StoredAnswer]:
        """Every answer, in the order in which they came."""
        return [answer for _, answer in self.items()]

    def items(self) -> list[tuple[str, StoredAnswer]]:
        """Every key and its answer, in the order in which they came."""
        with self._lock:
            return list(self._answers.items())

    def stats(self) -> StoreStats:
        """Counts since the store was made."""
        with self._lock:
            return StoreStats(self._hits, self._misses, self._writes, len(self._answers))

    def close(self) -> None:
        """Nothing to release."""


def encode_answer(answer: StoredAnswer) -> bytes:
    """Bytes to store: a line with format version and sha256, then JSON. ``decode_answer`` reverses it."""
    text = json.dumps(asdict(answer), ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return b"%s %d %s\n%s" % (_HEADER, FORMAT, hashlib.sha256(text).hexdigest().encode("ascii"), text)


def decode_answer(data: object) -> StoredAnswer:
    """The answer in stored bytes.

    Raises:
        StoreError: They are no answer, of another format version, or fail their checksum.
    """
    if not isinstance(data, bytes):
        raise StoreError(f"the entry is {type(data).__name__}, not bytes")
    header, _, text = data.partition(b"\n")
    words = header.split(b" ")
    if len(words) != 3 or words[0] != _HEADER:
        raise StoreError("the entry is not a stored answer")
    if words[1] != str(FORMAT).encode("ascii"):
        version = words[1][:20].decode("ascii", "replace")
        raise StoreError(f"the entry has format version {version}; this release reads {FORMAT}")
    if words[2] != hashlib.sha256(text).hexdigest().encode("ascii"):
        raise StoreError("the entry fails its checksum")
    return answer_from_json(json.loads(text))


_TYPES: dict[str, type | tuple[type, ...]] = {
    "url": str,
    "request": dict,
    "status": int,
    "content_type": str,
    "body": str,
    "created": (int, float),
    "backend": str,
    "headers": dict,
    "ignore": list,
    "rules": int,
    "seconds": (int, float, type(None)),
}


def answer_from_json(value: object) -> StoredAnswer:
    """The answer in a JSON object with the attributes of ``StoredAnswer``.

    Raises:
        StoreError: An attribute is missing, unknown or of the wrong type.
    """
    names = {each.name for each in fields(StoredAnswer)}
    if isinstance(value, dict):
        value = {"rules": OLD.version, "seconds": None, **value}
    if not isinstance(value, dict) or set(value) != names:
        raise StoreError("the entry lacks parts of an answer, or holds more")
    for name, kind in _TYPES.items():
        if not isinstance(value[name], kind) or isinstance(value[name], bool):
            raise StoreError(f"the entry's {name} is a {type(value[name]).__name__}")
    return StoredAnswer(**{**value, "ignore": tuple(value["ignore"])})


# What a store counts, and what it has to say: each sentence once.


class Tally:
    """Counts and announcements of one store, for any number of threads.

    Args:
        warn: Called with each announcement, a sentence.

    Attributes:
        notes: All announcements so far.
    """

    def __init__(self, warn: Callable[[str], None] | None = None) -> None:
        self.notes: list[str] = []
        self._warn = warn
        self._lock = threading.Lock()
        self._hits = self._misses = self._writes = 0

    def looked(self, *, found: bool) -> None:
        """An answer was looked for."""
        with self._lock:
            self._hits += found
            self._misses += not found

    def wrote(self) -> None:
        """An answer was stored."""
        with self._lock:
            self._writes += 1

    def stats(self, entries: int | None) -> StoreStats:
        """The counts, with the number of answers held now; ``None`` where that cannot be told."""
        with self._lock:
            return StoreStats(self._hits, self._misses, self._writes, entries)

    def announce(self, note: str) -> None:
        """Say a sentence, unless it was said."""
        with self._lock:
            if note in self.notes:
                return
            self.notes.append(note)
        if self._warn is not None:
            self._warn(note)


# The canonical key of a model call: everything that affects the answer, nothing that is secret.
#
# Every key of the body counts, ``stream``, ``user``, ``metadata`` and ``store`` included: a streamed answer
# has another body than a whole one, and what a provider does with the rest is not ours to guess. ``ignore=``
# leaves out what changes from run to run (request ids, dates). Of the headers only ``anthropic-version`` and
# ``*-beta`` count: they choose the protocol; the others carry credentials, client versions and retry counts.


# a part of every key: changing what a key is made of must not make old answers match by chance


def counted_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are part of the key, names in lower case, in order of name.

    >>> counted_headers({"Anthropic-Version": "2023-06-01", "X-Api-Key": "secret"})
    {'anthropic-version': '2023-06-01'}
    """
    lowered = {name.lower(): value.strip() for name, value in headers.items()}
    return {name: value for name, value in sorted(lowered.items()) if is_counted(name)}


class HiddenRequest(NamedTuple):
    """A request, redacted.

    Attributes:
        url: Where it goes.
        headers: Those that count.
        body: Its body, the whole of it.
    """

    url: str
    headers: dict[str, str]
    body: dict[str, Any]

    @classmethod
    def of(cls, wire: WireRequest, redaction: Redaction = DEFAULT) -> HiddenRequest:
        """A request as it may be kept."""
        return cls(*redaction.request(wire.url, counted_headers(wire.headers), wire.body))

    def canonical(self, ignore: Sequence[str]) -> dict[str, Any]:
        """What is hashed: ``url``, ``headers`` and ``body``, without the ignored JSON paths.

        Raises:
            UsageError: A path in ``ignore`` is malformed.
        """
        body = without(self.body, ignore) if ignore else self.body
        return {"url": self.url, "headers": self.headers, "body": body}

    def digest(self, ignore: Sequence[str], backend: str) -> str:
        """As ``request_digest``."""
        whole = {"format": FORMAT, "backend": backend, **self.canonical(ignore)}
        text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()


def is_hidden(answer: StoredAnswer, redaction: Redaction) -> bool:
    """Whether nothing in an answer, and in the request that is kept with it, is left to hide.

    Args:
        answer: It was hidden when it was kept, maybe under other patterns.
        redaction: What is hidden today.
    """
    asked = answer.url, answer.headers, answer.request
    try:
        if HiddenRequest.of(WireRequest(answer.url, answer.request, answer.headers), redaction) != asked:
            return False
        if answer.streamed:
            return hidden_in_stream(answer.body, redaction) == redaction.text(answer.body) == answer.body
        body = json.loads(answer.body)
        return not json_diff(body, redaction.json(body, names=False), exact=True)
    except (ConfigurationError, ValueError, RecursionError):
        return False  # a function of the project's own failed for it, or nobody can look into it


def request_digest(
    wire: WireRequest,
    *,
    ignore: Sequence[str] = (),
    backend: str = "live",
    redaction: Redaction = DEFAULT,
) -> str:
    """The sha256 of the canonical JSON of a request, 64 hexadecimal digits.

    Args:
        wire: The request; its URL may still hold credentials.
        ignore: JSON paths of the body that do not count (``$.metadata.request_id``).
        backend: Who answers: ``live``, or the simulated model's version, whose answers are no provider's.
        redaction: What is hidden before hashing.

    Raises:
        UsageError: A path in ``ignore`` is malformed.
    """
    return HiddenRequest.of(wire, redaction).digest(ignore, backend)


def hidden_and_digest(
    wire: WireRequest, *, ignore: Sequence[str], backend: str, redaction: Redaction, keying: Redaction
) -> tuple[HiddenRequest, str]:
    """A request as it may be kept, and its ``request_digest``, before which ``keying`` hides what it hides."""
    hidden = HiddenRequest.of(wire, redaction)
    keyed = hidden if keying is redaction else HiddenRequest.of(wire, keying)
    return hidden, keyed.digest(ignore, backend)


@lru_cache(maxsize=1024)
def exchange_key(digest: str, repeat: int, nth: int) -> str:
    """The key of one stored answer.

    Args:
        digest: From ``request_digest``.
        repeat: Which sample of the baseline is served, from 0; mutations and the repeat run are served
            from 0.
        nth: Which identical request within the trial, from 0.
    """
    return f"{digest}-{repeat}-{nth}"


def request_difference(
    left: WireRequest, right: WireRequest, *, ignore: Sequence[str] = (), redaction: Redaction = DEFAULT
) -> list[str]:
    """The JSON paths at which what is hashed of two requests differs, ``$.body.temperature``."""
    first, second = (HiddenRequest.of(each, redaction).canonical(ignore) for each in (left, right))
    return json_diff(first, second, exact=True)


class RequestDifference(NamedTuple):
    """How a request differs from another.

    Attributes:
        paths: The JSON paths, ``$.body.temperature``.
        known: What is hashed of the other one, redacted.
        asked: What is hashed of the request, redacted.
    """

    paths: list[str]
    known: dict[str, Any]
    asked: dict[str, Any]


def nearest_difference(
    known: Iterable[StoredAnswer],
    wire: WireRequest,
    *,
    ignore: Sequence[str] = (),
    redaction: Redaction = DEFAULT,
) -> RequestDifference | None:
    """How a request differs from the answered one that it is most like; ``None`` without any."""
    asked = HiddenRequest.of(wire, redaction).canonical(ignore)
    requests = (WireRequest(each.url, each.request, each.headers) for each in known)
    answered = (HiddenRequest.of(each, redaction).canonical(ignore) for each in requests)
    found = (RequestDifference(json_diff(each, asked, exact=True), each, asked) for each in answered)
    return min(found, key=lambda each: len(each.paths), default=None)
