"""Secrets in streamed answers: hidden where they stand, also where one is spread over several events."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.wire.secrets import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.wire.redact import Redaction

    # Owner and key of a text, so that it can be replaced.
    Place = tuple[Any, Any]
    Track = tuple[object, ...]

_EVENT_END = re.compile(r"(\r\n\r\n|\n\n|\r\r)")
_LINE_END = re.compile(r"\r\n|\n|\r")
# What each event says of itself: told apart by it, or the same in all of them. It is no piece of a longer text.
_TELLS_APART = ("type", "index", "output_index", "content_index", "summary_index", "item_id")
_ENVELOPE = frozenset(
    {
        *_TELLS_APART,
        "id",
        "object",
        "model",
        "role",
        "name",
        "call_id",
        "status",
        "finish_reason",
        "stop_reason",
        "system_fingerprint",
        "service_tier",
        "obfuscation",
    }
)


def hidden_in_stream(text: str, redaction: Redaction) -> str:
    """A stream of server-sent events without its secrets; the same text where it holds none.

    The pieces of one text (a choice, a block, the arguments of a tool call) are read together, over all events. A
    secret is hidden in the event in which it begins, and cut out of those in which it goes on, so that the
    events stay what they were: a stream that SDKs read. Token probabilities, which spell the text out once more,
    are left out where anything was hidden.

    Args:
        text: The stream.
        redaction: What is hidden.
    """
    parts = _EVENT_END.split(text)
    events = [_data(block) for block in parts[::2]]
    changed = False
    for event in events:  # fields that repeat what was asked: tools with their headers
        hidden = redaction.json(event[0], names=False, texts=False)
        changed |= hidden != event[0]
        event[0] = hidden
    tracks: dict[Track, list[Place]] = {}
    for event in events:
        for track, place in _texts(event):
            tracks.setdefault(track, []).append(place)
    for places in tracks.values():
        changed |= _hide(places, redaction)
    if not changed:
        return text
    for number, event in enumerate(events):
        if event[0] is not None:
            parts[2 * number] = _block(parts[2 * number], without_probabilities(event[0]))
    return "".join(parts)


def without_probabilities(value: Any) -> Any:
    """A JSON value without token probabilities, which would spell out what is hidden elsewhere."""
    if isinstance(value, dict):
        return {
            name: ([] if isinstance(each, list) else None)
            if name in {"logprobs", "top_logprobs"}
            else without_probabilities(each)
            for name, each in value.items()
        }
    return [without_probabilities(each) for each in value] if isinstance(value, list) else value


def _data(block: str) -> list[Any]:
    """What an event holds, in a list of one, so that it can be replaced: JSON, a text, or nothing."""
    lines = [line[5:].removeprefix(" ") for line in _LINE_END.split(block) if line.startswith("data:")]
    data = "\n".join(lines)
    if not lines or data.strip() == "[DONE]":
        return [None]
    try:
        return [json.loads(data)]
    except (ValueError, RecursionError):
        return [data]


def _block(block: str, value: Any) -> str:
    """An event with other data."""
    data = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    kept = [line for line in _LINE_END.split(block) if not line.startswith("data:")]
    return "\n".join([*kept, *(f"data: {line}" for line in data.split("\n"))])


def _texts(event: list[Any]) -> Iterator[tuple[Track, Place]]:
    """Every text of an event, with what it is a piece of."""
    value = event[0]
    apart = tuple(value.get(name) for name in _TELLS_APART) if isinstance(value, dict) else ()
    yield from _walk(event, 0, (str(apart),))


def _walk(owner: Any, key: Any, track: Track) -> Iterator[tuple[Track, Place]]:
    value = owner[key]
    if isinstance(value, str):
        # An envelope's text is a track of its own: each piece is looked at alone.
        yield (*track, id(owner), key) if key in _ENVELOPE else track, (owner, key)
    elif isinstance(value, dict):
        for name in value:
            yield from _walk(value, name, (*track, name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            number = each.get("index", index) if isinstance(each, dict) else index
            yield from _walk(value, index, (*track, str(number)))


def _hide(places: Sequence[Place], redaction: Redaction) -> bool:
    """Hide the secrets in the texts of a track, read as one; whether there were any."""
    pieces = [owner[key] for owner, key in places]
    whole = "".join(pieces)
    if redaction.redactors:
        name = next((key for _, key in places if isinstance(key, str)), "")
        if (hidden := redaction.text(whole, name)) == whole:
            return False
        # What a project's function made has no places in the text that it was given: the first event says it all.
        for number, (owner, key) in enumerate(places):
            owner[key] = "" if number else hidden
        return True
    spans = redaction.spans(whole)
    if not spans:
        return False
    first = 0  # of the spans that have not ended yet
    for (owner, key), piece, end in zip(places, pieces, accumulate(map(len, pieces)), strict=True):
        begin = end - len(piece)
        kept, at = "", begin
        while first < len(spans) and spans[first][1] <= begin:
            first += 1
        for number in range(first, len(spans)):
            start, stop = spans[number]
            if start >= end:
                break
            kept += piece[at - begin : max(start, begin) - begin] + (HIDDEN if start >= begin else "")
            at = min(stop, end)
        owner[key] = kept + piece[at - begin :]
    return True
