"""One line of a recording: an exchange or a plan, as JSON that a person can review."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, TypeGuard

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import to_json
from pytest_promptfuzz.wire.answers import StoredAnswer
from pytest_promptfuzz.wire.secrets import OLD

VERSION = 1
KIND = "calls"
HEADER = {"promptfuzz": KIND, "version": VERSION}

_STREAM = "text/event-stream"
_JSON = "application/json"
_CHECK_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a test a call was made.

    Attributes:
        case: Which example or input of the test, from 0.
        sample: Which sample of the baseline, from 0; of a trial ``None`` for the first, then from 1.
        trial: The trial's ID; empty in a baseline.
        call: Which call of the run, from 0.
    """

    case: int
    sample: int | None = None
    trial: str = ""
    call: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A recorded exchange: where it was made first, the key that finds it, and the answer with its request."""

    test: str
    place: Place
    key: str
    answer: StoredAnswer


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """The plan of mutations that a case's exchanges answer.

    Attributes:
        test: The test, as pytest names it within its module.
        case: Which example or input of it, from 0.
        plan: ``prompt`` (digest of the prompt), ``asked`` (the settings it was made from), ``begun`` (when) and
            ``mutations``, in order.
    """

    test: str
    case: int
    plan: dict[str, Any]


def to_line(entry: Entry | PlanEntry) -> bytes:
    """A whole line, its end included. ``from_line`` reverses it."""
    if isinstance(entry, PlanEntry):
        return sealed({"test": entry.test, "case": entry.case, "plan": entry.plan})
    place = entry.place
    where: dict[str, Any] = {"trial": place.trial} if place.trial else {}
    if place.sample is not None:
        where["sample"] = place.sample
    head = {"test": entry.test, "case": place.case, **where, "call": place.call}
    return sealed({**head, **answer_to_json(entry.key, entry.answer)})


class EditedError(StoreError):
    """A line was changed after it was written. ``value`` is what stands there now, which nothing vouches for."""

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__("the entry was changed after it was recorded: its checksum does not match")
        self.value = value

    def entry(self) -> Entry | PlanEntry | None:
        """The entry that the line is now; ``None`` where it is none any more."""
        try:
            return _entry(self.value)
        except StoreError:
            return None


def from_line(line: bytes) -> Entry | PlanEntry:
    """The entry in a line.

    Raises:
        StoreError: It is none, is cut off, or (as ``EditedError``) was changed after it was written.
    """
    return _entry(unsealed(line))


def _entry(value: dict[str, Any]) -> Entry | PlanEntry:
    test, case = value.get("test"), value.get("case")
    if not isinstance(test, str) or not _is_index(case):
        raise StoreError("the entry names no test")
    if "plan" in value:
        plan = value["plan"]
        if not isinstance(plan, dict) or not isinstance(plan.get("mutations"), list):
            raise StoreError("the plan is no plan")
        return PlanEntry(test, case, plan)
    trial, sample, call = value.get("trial", ""), value.get("sample"), value.get("call")
    if not isinstance(trial, str) or not _is_index(call) or not _is_place(trial, sample):
        raise StoreError("the entry does not say which call it is")
    return Entry(test, Place(case, sample, trial, call), *answer_of_json(value))


def _is_place(trial: str, sample: Any) -> bool:
    if trial:
        return sample is None or (_is_index(sample) and sample > 0)
    return _is_index(sample)


def sealed(value: dict[str, Any]) -> bytes:
    """A line of JSON with a checksum, so that a change by hand or by a bad merge is noticed."""
    return _dumps({**value, "check": _check(value)}) + b"\n"


def unsealed(line: bytes) -> dict[str, Any]:
    """The JSON object in a sealed line, without its checksum.

    Raises:
        StoreError: It is none, is cut off, or (as ``EditedError``) was changed after it was written.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        cut = not line.endswith(b"\n")
        raise StoreError("the line is cut off" if cut else "the line is no JSON") from None
    if not isinstance(value, dict):
        raise StoreError("the line is no JSON object")
    check = value.pop("check", None)
    if check != _check(value):
        raise EditedError(value)
    return value


def answer_to_json(key: str, answer: StoredAnswer) -> dict[str, Any]:
    """An answer and its request as JSON: what people read first, nothing where it is as usual."""
    value: dict[str, Any] = {"url": answer.url}
    if answer.headers:
        value["headers"] = dict(sorted(answer.headers.items()))
    value["request"] = _sorted(answer.request)
    value["status"] = answer.status
    value["answer"] = answer.body if answer.streamed else _readable(answer.body)
    if answer.streamed:
        value["stream"] = True
    if answer.ignore:
        value["ignore"] = list(answer.ignore)
    if answer.backend != "live":
        value["backend"] = answer.backend
    if answer.rules != OLD.version:
        value["redaction"] = answer.rules
    return {**value, "answered": to_time(answer.created), "key": key}


def answer_of_json(value: dict[str, Any]) -> tuple[str, StoredAnswer]:
    """The key and the answer that ``answer_to_json`` wrote.

    Raises:
        StoreError: A part is missing or of another type.
    """
    body = value.get("answer")
    found = {
        "key": value.get("key"),
        "url": value.get("url"),
        "request": value.get("request"),
        "status": value.get("status"),
        "headers": value.get("headers", {}),
        "ignore": value.get("ignore", []),
        "backend": value.get("backend", "live"),
        "redaction": value.get("redaction", OLD.version),
    }
    kinds = {
        "key": str,
        "url": str,
        "request": dict,
        "status": int,
        "headers": dict,
        "ignore": list,
        "backend": str,
        "redaction": int,
    }
    for name, kind in kinds.items():
        if not isinstance(found[name], kind):
            raise StoreError(
                f"the entry's {name} is {'missing' if found[name] is None else 'of another type'}"
            )
    if not isinstance(body, str | dict):
        raise StoreError("the entry's answer is missing")
    return found["key"], StoredAnswer(
        url=found["url"],
        request=found["request"],
        status=found["status"],
        content_type=_STREAM if value.get("stream") is True else _JSON,
        body=body if isinstance(body, str) else json.dumps(body, separators=(",", ":")),
        created=from_time(value.get("answered")),
        backend=found["backend"],
        headers=found["headers"],
        ignore=tuple(found["ignore"]),
        rules=found["redaction"],
    )


def to_time(seconds: float) -> str:
    """Seconds since the epoch as a person reads them, UTC.

    >>> to_time(0.9)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def from_time(text: object) -> float:
    """The seconds since the epoch that ``to_time`` wrote.

    Raises:
        StoreError: It is no such time.
    """
    try:
        return datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except (ValueError, OverflowError):
        raise StoreError(f"the entry's time is {text!r:.40}") from None


def _check(value: dict[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_CHECK_DIGITS]


def _dumps(value: Any) -> bytes:
    return to_json(value).encode("utf-8")


def _sorted(value: Any) -> Any:
    """A JSON value with the keys of its objects in order; a request's key does not depend on it."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _readable(body: str) -> Any:
    """A body as a JSON object, in its own order of keys; as text where an object would not be the same."""
    try:
        value = json.loads(body, object_pairs_hook=_once)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return body
    return value if isinstance(value, dict) else body


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
