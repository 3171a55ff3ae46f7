"""Recordings and caches for the tests of ``promptfuzz cache``: made by the parts that make them in a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.providers.requests import WireRequest
from pytest_promptfuzz.storage.answers import StoredAnswer, exchange_key, request_digest
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.storage.recordings.entries import CallPlace, PlanEntry, RecordedExchange
from pytest_promptfuzz.storage.recordings.files import merge, ordered
from pytest_promptfuzz.storage.recordings.places import recording_of

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://api.openai.com/v1/chat/completions"
TIME = 1_760_000_000.0  # 2025-10-09


def answer(asked: str = "Hello", said: str = "BILLING", **changed: Any) -> StoredAnswer:
    body = {
        "model": "gpt-5-mini-2025",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
    }
    values: dict[str, Any] = {
        "url": URL,
        "request": {"model": "gpt-5-mini", "messages": [{"role": "user", "content": asked}]},
        "status": 200,
        "content_type": "application/json",
        "body": json.dumps(body, separators=(",", ":")),
        "created": TIME,
    }
    return StoredAnswer(**{**values, **changed})


def key_of(kept: StoredAnswer, sample: int = 0, nth: int = 0) -> str:
    wire = WireRequest(kept.url, kept.request, kept.headers)
    return exchange_key(request_digest(wire, ignore=kept.ignore, backend=kept.backend), sample, nth)


def entry(test: str, kept: StoredAnswer, *, sample: int = 0, trial: str = "") -> RecordedExchange:
    place = CallPlace(0, None, trial) if trial else CallPlace(0, sample)
    return RecordedExchange(test, place, key_of(kept, sample), kept)


def plan(test: str, *trials: str) -> PlanEntry:
    mutations = [{"id": each, "edits": [[0, 1, ["h"]]], "operators": ["lower-case@1"]} for each in trials]
    return PlanEntry(test, 0, {"prompt": "abc", "asked": {}, "mutations": mutations})


def lines(
    test: str,
    *,
    said: str = "BILLING",
    trial_said: str = "BILLING",
    created: float = TIME,
    trial_asked: str = "hello",
) -> list[bytes]:
    """A plan of one trial, a baseline and the trial's answer."""
    entries = [
        entry(test, answer(f"Hello {test}", said, created=created)),
        entry(test, answer(f"{trial_asked} {test}", trial_said, created=created), trial="t1"),
    ]
    return ordered([plan(test, "t1")], entries)


def record(folder: Path, module: str = "test_it.py", **tests: list[bytes]) -> Path:
    """Write a recording beside a module in ``folder``."""
    path = recording_of(folder / module)
    merge(path, tests)
    return path


def fill(folder: Path, *kept: StoredAnswer) -> list[str]:
    """Put answers into a local cache; their keys."""
    store = ResponseStore(folder)
    keys = [key_of(each) for each in kept]
    for key, each in zip(keys, kept, strict=True):
        store.put(key, each)
    store.close()
    return keys
