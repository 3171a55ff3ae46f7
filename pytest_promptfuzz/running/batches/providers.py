"""The batch interfaces of OpenAI and Anthropic, through their SDKs."""

from __future__ import annotations

import io
import itertools
import json
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pytest_promptfuzz.targets.anthropic import AnthropicTarget
from pytest_promptfuzz.targets.openai import OpenAITarget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_promptfuzz.running.batches.state import Submitted
    from pytest_promptfuzz.targets.model import WireRequest

_OPENAI_PATHS = ("/chat/completions", "/responses", "/embeddings")
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
