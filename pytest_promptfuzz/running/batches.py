"""Batch interfaces of OpenAI and Anthropic (``promptfuzz prefill``): submit once, wait, store the answers."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import sqlite3
import time
import uuid
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import read_text
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.providers.openai_chat import OPENAI_CHAT
from pytest_promptfuzz.providers.openai_embeddings import PATH as EMBEDDINGS_PATH
from pytest_promptfuzz.providers.openai_responses import OPENAI_RESPONSES
from pytest_promptfuzz.storage.answers import exchange_key, request_digest
from pytest_promptfuzz.storage.redaction import is_refusal
from pytest_promptfuzz.targets.sdk_clients import AnthropicTarget, OpenAITarget
from pytest_promptfuzz.wire.exchange import Exchange
from pytest_promptfuzz.wire.watch import RunSettings, Watch
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_promptfuzz.providers.requests import WireRequest
    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.storage.redaction import Redaction


# The batch interfaces of OpenAI and Anthropic, through their SDKs.


_OPENAI_PATHS = (OPENAI_CHAT.path, OPENAI_RESPONSES.path, EMBEDDINGS_PATH)
_OPENAI_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_METADATA = "promptfuzz"
_LISTED = 1000  # batches among which one is looked for


class Result(NamedTuple):
    """What became of one request: its answer, or why there is none; without a name, why its batch failed."""

    name: str
    body: dict[str, Any] | None
    why: str = ""


class Provider(Protocol):
    """A provider that answers batches.

    Attributes:
        name: ``openai`` or ``anthropic``.
        most: The most requests in a batch.
        most_bytes: The most bytes that they may have together.
    """

    name: str
    most: int
    most_bytes: int

    def group(self, wire: WireRequest) -> tuple[str, ...] | None:
        """What the requests of one batch have in common; ``None`` for a request that no batch takes."""
        ...

    def size(self, group: tuple[str, ...], name: str, wire: WireRequest) -> int:
        """Bytes of one request in a batch."""
        ...

    def submit(self, group: tuple[str, ...], requests: Mapping[str, WireRequest], token: str) -> str:
        """Submit a batch, once; its ID."""
        ...

    def latest(self) -> str:
        """The ID of the latest batch, where ``find`` needs it; no clock has to agree with another then."""
        ...

    def find(self, batch: Submitted, known: Sequence[str]) -> str:
        """The ID of a batch whose submission was cut short; empty where it did not arrive."""
        ...

    def ended(self, identity: str) -> bool:
        """Whether a batch has come to its end."""
        ...

    def results(self, identity: str) -> Iterator[Result]:
        """What became of the requests of a batch that has ended, in any order."""
        ...

    def cancel(self, identity: str) -> None:
        """Ask for a batch to be given up; it still ends, with what was answered by then."""
        ...


class OpenAIBatches:
    """``/v1/files`` and ``/v1/batches``."""

    name = "openai"
    most = 50_000
    most_bytes = 200_000_000

    def __init__(self) -> None:
        self._target = OpenAITarget("batch")

    def group(self, wire: WireRequest) -> tuple[str, ...] | None:
        """The endpoint and the model: a batch has one of each."""
        base = self._target.address()
        path = next((each for each in _OPENAI_PATHS if wire.url == base.url(each)), None)
        if path is None or wire.body.get("stream") or wire.headers:
            return None
        return f"/v1{path}", str(wire.body.get("model", ""))

    def size(self, group: tuple[str, ...], name: str, wire: WireRequest) -> int:
        """Of its line in the file."""
        return len(_openai_line(group, name, wire))

    def submit(self, group: tuple[str, ...], requests: Mapping[str, WireRequest], token: str) -> str:
        """Upload the requests, and submit them."""
        with self._target.client() as client:
            data = io.BytesIO(b"".join(_openai_line(group, name, wire) for name, wire in requests.items()))
            file = client.files.create(file=(f"{token}.jsonl", data), purpose="batch")
            made = client.batches.create(
                input_file_id=file.id,
                endpoint=group[0],
                completion_window="24h",
                metadata={_METADATA: token},
            )
            return str(made.id)

    def latest(self) -> str:
        """None is needed."""
        return ""

    def find(self, batch: Submitted, known: Sequence[str]) -> str:
        """By the token in its metadata."""
        del known
        with self._target.client() as client:
            for each in itertools.islice(client.batches.list(limit=100), _LISTED):
                if (each.metadata or {}).get(_METADATA) == batch.token:
                    return str(each.id)
        return ""

    def ended(self, identity: str) -> bool:
        """By its status."""
        with self._target.client() as client:
            return client.batches.retrieve(identity).status in _OPENAI_ENDED

    def results(self, identity: str) -> Iterator[Result]:
        """From the output file and the error file; then why the batch failed, if it did as a whole."""
        with self._target.client() as client:
            batch = client.batches.retrieve(identity)
            for file in filter(None, (batch.output_file_id, batch.error_file_id)):
                for line in client.files.content(file).content.decode("utf-8").splitlines():
                    if line.strip():
                        yield _openai_result(json.loads(line))
            for error in (batch.errors.data if batch.errors else None) or ():
                yield Result("", None, f"{error.message} ({error.code})")

    def cancel(self, identity: str) -> None:
        """As the interface has it."""
        with self._target.client() as client:
            client.batches.cancel(identity)


def _openai_line(group: tuple[str, ...], name: str, wire: WireRequest) -> bytes:
    line = {"custom_id": name, "method": "POST", "url": group[0], "body": wire.body}
    return json.dumps(line).encode("ascii") + b"\n"


def _openai_result(line: dict[str, Any]) -> Result:
    name, response = str(line.get("custom_id", "")), line.get("response") or {}
    body = response.get("body")
    if response.get("status_code") == 200 and isinstance(body, dict):
        return Result(name, body)
    error = line.get("error") or (body or {}).get("error") or {}
    return Result(name, None, str(error.get("message") or f"status {response.get('status_code')}"))


class AnthropicBatches:
    """``/v1/messages/batches``."""

    name = "anthropic"
    most = 100_000
    most_bytes = 250_000_000  # 256 MB are allowed, the frame included

    def __init__(self) -> None:
        self._target = AnthropicTarget("batch")

    def group(self, wire: WireRequest) -> tuple[str, ...] | None:
        """The headers that count: a batch is sent with one set of them."""
        if wire.url != self._target.address().url(AnthropicTarget.path) or wire.body.get("stream"):
            return None
        return tuple(f"{name}: {value}" for name, value in sorted(wire.headers.items()))

    def size(self, group: tuple[str, ...], name: str, wire: WireRequest) -> int:
        """Of its JSON; the SDK writes it no longer."""
        del group
        return len(json.dumps({"custom_id": name, "params": wire.body})) + 2

    def submit(self, group: tuple[str, ...], requests: Mapping[str, WireRequest], token: str) -> str:
        """Submit the requests; the interface has no place for the token."""
        del token
        headers = dict(each.split(": ", 1) for each in group)
        asked = [{"custom_id": name, "params": wire.body} for name, wire in requests.items()]
        with self._target.client() as client:
            return str(client.messages.batches.create(requests=asked, extra_headers=headers).id)

    def latest(self) -> str:
        """The first of the list."""
        with self._target.client() as client:
            return next((str(each.id) for each in client.messages.batches.list(limit=1)), "")

    def find(self, batch: Submitted, known: Sequence[str]) -> str:
        """The one after ``before`` with its number of requests: one that is not ours only makes its results unknown."""
        with self._target.client() as client:
            for each in itertools.islice(client.messages.batches.list(limit=100), _LISTED):
                if each.id == batch.before:
                    break
                counts = each.request_counts
                total = sum(
                    (counts.processing, counts.succeeded, counts.errored, counts.canceled, counts.expired)
                )
                if each.id not in known and total == len(batch.names):
                    return str(each.id)
        return ""

    def ended(self, identity: str) -> bool:
        """By its status."""
        with self._target.client() as client:
            return bool(client.messages.batches.retrieve(identity).processing_status == "ended")

    def results(self, identity: str) -> Iterator[Result]:
        """From the results file."""
        with self._target.client() as client:
            for line in client.messages.batches.results(identity):
                result = line.result.model_dump(mode="json", exclude_unset=True)
                if result["type"] == "succeeded":
                    yield Result(line.custom_id, result["message"])
                    continue
                error = (result.get("error") or {}).get("error") or {}
                yield Result(line.custom_id, None, str(error.get("message") or result["type"]))

    def cancel(self, identity: str) -> None:
        """As the interface has it."""
        with self._target.client() as client:
            client.messages.batches.cancel(identity)


def all_providers() -> tuple[Provider, ...]:
    """Every provider that answers batches."""
    return OpenAIBatches(), AnthropicBatches()


# Which batches are under way: names and IDs in a file, so that another process can go on.


_FORMAT = 1


@dataclass(slots=True)
class Submitted:
    """One batch.

    Attributes:
        provider: ``openai`` or ``anthropic``.
        token: What the batch is called in its metadata.
        names: The IDs of its requests.
        id: The provider's; empty as long as the provider has not said it.
        before: The ID of the provider's latest batch before this one, where the token is of no use.
    """

    provider: str
    token: str
    names: list[str]
    id: str = ""
    before: str = ""


class Underway:
    """The batches under way, in ``<folder>/prefill.json``.

    Args:
        folder: The project's ``.promptfuzz``.

    Raises:
        StoreError: The file cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "prefill.json"
        self.batches: list[Submitted] = []
        if self.path.exists():
            self.batches = self._read()

    def save(self) -> None:
        """Write, whole or not at all; durable when it returns.

        Raises:
            StoreError: It cannot be written; what was there is as it was.
        """
        work = self.path.with_suffix(".new")
        value = {"format": _FORMAT, "batches": [asdict(each) for each in self.batches]}
        try:
            with work.open("w", encoding="utf-8") as file:
                json.dump(value, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            work.replace(self.path)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be written ({error.strerror or error}), and no batch is submitted that it does "
                "not name. Free some space, or change its permissions."
            ) from None

    def _read(self) -> list[Submitted]:
        try:
            value = json.loads(read_text(self.path))
            version, batches = value["format"], [Submitted(**each) for each in value["batches"]]
        except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
            raise self._unreadable(str(error)) from None
        if version != _FORMAT:
            raise self._unreadable(f"its format is {version!r:.20}; this release reads {_FORMAT}")
        if not all(isinstance(each.names, list) and isinstance(each.id, str) for each in batches):
            raise self._unreadable("a batch has no names or no ID")
        return batches

    def _unreadable(self, why: str) -> StoreError:
        return StoreError(
            f"{self.path} cannot be read ({why}). It names the batches under way; delete it to forget them, and what "
            "they were asked is paid for again."
        )


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let no other process prefill from this folder while the block lasts; what a dead one held is free.

    Raises:
        StoreError: Another process does, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(folder / "prefill.lock", timeout=0.2, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise _unwritable(folder, error) from None
    with contextlib.closing(connection):
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if "locked" not in str(error):
                raise _unwritable(folder, error) from None
            raise StoreError(
                f"Another prefill is at work in {folder} ({error}). Wait for it to end."
            ) from None
        yield


def _unwritable(folder: Path, error: Exception) -> StoreError:
    return StoreError(
        f"{folder} cannot be written ({getattr(error, 'strerror', None) or error}), so no batch can be submitted. Free "
        "some space, or change its permissions."
    )


# What is to be asked in a batch, and how its answer gets into the store.


@dataclass(frozen=True, slots=True)
class BatchCall:
    """One call that a test will make, as the baseline's first sample or a mutation's.

    Attributes:
        wire: The request.
        ignore: JSON paths left out of its key.
        test: Who makes it, for messages.
        nth: Which identical request of its run it is, from 0.
        sample: Which sample of the same prompt it is, from 0.
    """

    wire: WireRequest
    ignore: tuple[str, ...] = ()
    test: str = ""
    nth: int = 0
    sample: int = 0

    def key(self, redaction: Redaction) -> str:
        """The key under which a run looks for the answer."""
        return exchange_key(self._digest(redaction), self.sample, self.nth)

    def is_stored(self, store: AnswerStore, redaction: Redaction) -> bool:
        """Whether a run would find the answer."""
        return store.get(self.key(redaction)) is not None

    def keep(self, body: dict[str, Any], store: AnswerStore, redaction: Redaction) -> str:
        """Store an answer as a run would have.

        Args:
            body: The answer's JSON body.
            store: Where it goes.
            redaction: What is hidden.

        Returns:
            Why it is not stored; nothing if it is.

        Raises:
            StoreError: The store did not take it.
        """
        watch = Watch(RunSettings(store=store, ignore=tuple(self.ignore), redaction=redaction))
        for _ in range(self.nth):  # those before it are other calls
            watch.reserve(self._digest(redaction))
        exchange = Exchange(watch, self.wire)
        text = json.dumps(body)
        exchange.answered(200, "application/json", text.encode("ascii"), seconds=0.0)
        if exchange.error is not None:
            return str(exchange.error)
        if self.is_stored(store, redaction):
            return ""
        if is_refusal(text, exchange.response):
            return sentence(Note.of("calls:refused"))
        notes = " ".join(getattr(store, "notes", ()))
        raise StoreError(
            f"{notes or 'The store did not take an answer.'} Its batch stays known: repair the store, and "
            "`promptfuzz prefill --resume` stores what it holds."
        )

    def _digest(self, redaction: Redaction) -> str:
        return request_digest(self.wire, ignore=self.ignore, redaction=redaction)


def name_of(key: str) -> str:
    """The ID of a request in its batch: at most 64 letters, as Anthropic wants it.

    >>> name_of("0" * 64 + "-0-0") == "0" * 48 + "-0-0"
    True
    """
    digest, _, rest = key.partition("-")
    return f"{digest[:48]}-{rest}"


_MOST_REASONS = 3


@dataclass(slots=True)
class Outcome:
    """What a prefill did.

    Attributes:
        submitted: Requests handed in.
        stored: Answers stored.
        live: Requests that no batch takes, by where they go, their test, and why.
        failed: Why a request has no answer, by test; each will be asked when its test runs.
        waiting: Requests still under way.
    """

    submitted: int = 0
    stored: int = 0
    live: dict[tuple[str, str, str], int] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)
    waiting: int = 0


class Prefill:
    """One prefill.

    Args:
        wanted: The calls that the suite will make and the store does not answer.
        folder: The project's ``.promptfuzz``.
        store: Where answers go.
        redaction: What is hidden in what is stored and said.
        say: Tells what happens, a sentence at a time.
    """

    def __init__(
        self,
        wanted: Sequence[BatchCall],
        folder: Path,
        store: AnswerStore,
        redaction: Redaction,
        say: Callable[[str], None],
    ) -> None:
        self._wanted = {name_of(each.key(redaction)): each for each in wanted}
        self._folder = folder
        self._store = store
        self._redaction = redaction
        self._say = say
        self._providers = {each.name: each for each in all_providers()}
        self.outcome = Outcome()

    def run(self, *, submit: bool, wait: bool, cancel: bool, poll: float) -> Outcome:
        """Go on with what is under way, submit the rest, and store what has come.

        Args:
            submit: Whether anything new is submitted.
            wait: Whether to wait until every batch has ended.
            cancel: Whether to give up what is under way, and store what was answered by then.
            poll: Seconds between two looks at the batches.

        Raises:
            StoreError: Another prefill is at work, the file of batches cannot be read, or the store takes no answer;
                the batches of which it did not take all stay known.
            ConfigurationError: A key or an SDK is missing.
            TargetError: The provider cannot be reached; what is under way stays known.
        """
        with alone(self._folder):
            underway = Underway(self._folder)
            self._recover(underway)
            if cancel:
                for batch in underway.batches:
                    if not self._providers[batch.provider].ended(batch.id):
                        self._providers[batch.provider].cancel(batch.id)
            elif submit:
                self._submit(underway)
            self._collect(underway)
            while wait and underway.batches:
                time.sleep(poll)
                self._collect(underway)
            self.outcome.waiting = sum(len(each.names) for each in underway.batches)
        return self.outcome

    def _recover(self, underway: Underway) -> None:
        """Find the batches whose submission was cut short, or forget them."""
        for batch in [each for each in underway.batches if not each.id]:
            known = [each.id for each in underway.batches]
            batch.id = self._providers[batch.provider].find(batch, known)
            if not batch.id:
                underway.batches.remove(batch)
        if underway.path.exists():
            underway.save()

    def _submit(self, underway: Underway) -> None:
        asked = {name for batch in underway.batches for name in batch.names}
        groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for name, wanted in self._wanted.items():
            place = self._place(wanted)
            if place is None:
                code = "calls:streamed" if wanted.wire.body.get("stream") else "calls:not-batched"
                left = (self._redaction.url(wanted.wire.url), wanted.test, sentence(Note.of(code)))
                self.outcome.live[left] = self.outcome.live.get(left, 0) + 1
            elif name not in asked:
                groups.setdefault(place, []).append(name)
        for (provider_name, group), names in groups.items():
            provider = self._providers[provider_name]
            for part in self._parts(provider, group, names):
                self._submit_one(underway, provider, group, part)

    def _parts(self, provider: Provider, group: tuple[str, ...], names: list[str]) -> Iterator[list[str]]:
        """The requests of a group in batches that the provider takes."""
        part: list[str] = []
        room = provider.most_bytes
        for name in names:
            size = provider.size(group, name, self._wanted[name].wire)
            if size > provider.most_bytes:
                self._failed(name, Note.of("calls:too-large", size=size))
                continue
            if size > room or len(part) == provider.most:
                yield part
                part, room = [], provider.most_bytes
            part.append(name)
            room -= size
        if part:
            yield part

    def _place(self, wanted: BatchCall) -> tuple[str, tuple[str, ...]] | None:
        for provider in self._providers.values():
            group = provider.group(wanted.wire)
            if group is not None:
                return provider.name, group
        return None

    def _submit_one(
        self, underway: Underway, provider: Provider, group: tuple[str, ...], names: list[str]
    ) -> None:
        batch = Submitted(provider.name, uuid.uuid4().hex, names, before=provider.latest())
        underway.batches.append(batch)
        underway.save()  # before it is submitted: a process that is killed meanwhile leaves a trace of it
        batch.id = provider.submit(group, {name: self._wanted[name].wire for name in names}, batch.token)
        underway.save()
        self.outcome.submitted += len(names)
        note = Note.of("calls:submitted", requests=len(names), provider=provider.name, batch=batch.id)
        self._say(sentence(note))

    def _collect(self, underway: Underway) -> None:
        for batch in list(underway.batches):
            provider = self._providers[batch.provider]
            if not provider.ended(batch.id):
                continue
            missing = dict.fromkeys(batch.names)
            whole: list[str] = []
            for result in provider.results(batch.id):
                if not result.name:
                    whole.append(result.why)
                    continue
                missing.pop(result.name, None)
                self._take(result)
            why = "; ".join(whole[:_MOST_REASONS]) or Note.of("calls:unanswered")
            for name in missing:
                self._failed(name, why)
            underway.batches.remove(batch)
            underway.save()

    def _take(self, result: Result) -> None:
        wanted = self._wanted.get(result.name)
        if result.body is None:
            self._failed(result.name, result.why)
        elif wanted is not None:
            why = wanted.keep(result.body, self._store, self._redaction)
            if why:
                self._failed(result.name, why)
            else:
                self.outcome.stored += 1

    def _failed(self, name: str, why: Note | str) -> None:
        wanted = self._wanted.get(name)
        test = wanted.test if wanted is not None else sentence(Note.of("calls:not-wanted"))
        self.outcome.failed.append((test, self._redaction.text(sentence(why))))
