"""Anthropic Messages: the answer and the stream (``messages_body`` holds the request body)."""

from __future__ import annotations

from typing import Any

from pytest_promptfuzz.targets.formats.messages_body import build_body
from pytest_promptfuzz.targets.formats.reading import (
    count,
    entries,
    event_body,
    events,
    malformed,
    mapping,
    not_text,
    optional,
    raise_provider_error,
    said,
    tool_calls,
    word,
)
from pytest_promptfuzz.targets.model import Response, ToolCall, Usage

__all__ = ["PATH", "announces", "build_body", "fold", "parse"]

PATH = "/messages"
_ANNOUNCEMENTS = {"message_start", "content_block_start", "ping"}
_INPUT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def parse(body: dict[str, Any]) -> Response:
    """The response in a ``message`` body.

    Text blocks are joined without a separator; thinking and tools that the provider ran itself are left out.
    Input tokens are all of them, cached ones included. A refusal without text has the provider's explanation
    as its text, if there is one.

    Raises:
        TargetError: ``not-text`` (no blocks at all, and no refusal), ``malformed``, or the
            provider's own error.
    """
    if body.get("error"):
        raise_provider_error(body["error"])
    if "content" not in body:
        malformed("a message with 'content'", body)
    finish = word(body.get("stop_reason"))
    texts: list[str] = []
    calls: list[ToolCall] = []
    blocks = entries(body["content"], "'content'")
    for block in blocks:
        if block.get("type") == "tool_use":
            calls += tool_calls(block.get("name"), block.get("input"), block.get("id"))
        elif (text := said(block, "a content block")) is not None:
            texts.append(text)
    if finish == "refusal" and not texts:
        details = body.get("stop_details")
        texts.append(word(details.get("explanation") if isinstance(details, dict) else None))
    elif not blocks:
        not_text(f"it holds no content blocks (stop_reason {finish or 'missing'!r})")
    return Response(
        text="".join(texts),
        tool_calls=tuple(calls),
        usage=_usage(body.get("usage")),
        model=word(body.get("model")),
        finish_reason=finish,
    )


def _usage(value: object) -> Usage:
    usage = value if isinstance(value, dict) else {}
    if count(usage.get("input_tokens")) is None:
        return Usage(None, count(usage.get("output_tokens")))
    return Usage(
        sum(count(usage.get(each)) or 0 for each in _INPUT_TOKENS), count(usage.get("output_tokens"))
    )


def announces(event: dict[str, Any]) -> bool:
    """Whether an event of a stream holds nothing of the answer yet.

    Raises:
        TargetError: It reports an error.
    """
    if event.get("type") == "error":
        raise_provider_error(event)
    return word(event.get("type")) in _ANNOUNCEMENTS


def fold(raw: bytes) -> dict[str, Any] | None:
    """The body that the same answer would have had unstreamed; ``None`` unless ``message_stop`` came.

    Raises:
        TargetError: For an event that is none of this protocol, or that reports an error.
    """
    body: dict[str, Any] | None = None
    blocks: list[dict[str, Any]] = []
    for data in events(raw):
        event = event_body(data)
        kind = event.get("type")
        if kind == "error":
            raise_provider_error(event)
        if kind == "message_start":
            body = dict(mapping(event.get("message"), "'message_start' to hold a message"))
            body["usage"] = dict(mapping(body.get("usage") or {}, "a message's usage"))
            continue
        if body is None:
            # Pings may come first; anything else before the start says nothing.
            continue
        if kind == "message_stop":
            if blocks or not body.get("content"):
                body["content"] = [_finished(each) for each in sorted(blocks, key=_place)]
            return body
        if kind == "content_block_start":
            block = mapping(event.get("content_block"), "'content_block_start' to hold a block")
            blocks.append({**block, "_json": "", "_index": _index(event)})
        elif kind == "content_block_delta":
            _add_delta(blocks, event)
        elif kind == "message_delta":
            delta = mapping(event.get("delta") or {}, "a message's delta")
            body.update({key: value for key, value in delta.items() if value is not None})
            usage = mapping(event.get("usage") or {}, "a message's usage")
            body["usage"].update(
                {key: value for key, value in usage.items() if value or key not in body["usage"]}
            )
    return None


def _index(event: dict[str, Any]) -> int:
    index = count(event.get("index"))
    return malformed("a content block to have a number as its index", event) if index is None else index


def _place(block: dict[str, Any]) -> int:
    return int(block["_index"])


def _add_delta(blocks: list[dict[str, Any]], event: dict[str, Any]) -> None:
    index = _index(event)
    # Some servers begin each block under the same index: it is the last of them.
    block = next((each for each in reversed(blocks) if each["_index"] == index), None)
    if block is None:
        malformed("a delta to follow the start of its block", event)
    delta = mapping(event.get("delta"), "a block's delta")
    if delta.get("type") == "text_delta":
        before = optional(block.get("text"), "a text block")
        block["text"] = before + optional(delta.get("text"), "a text delta")
    elif delta.get("type") == "input_json_delta":
        block["_json"] += optional(delta.get("partial_json"), "a tool's input delta")


def _finished(block: dict[str, Any]) -> dict[str, Any]:
    streamed = block["_json"]
    if not streamed or (streamed.strip() in {"{}", "null"} and block.get("input")):
        return block
    return {**block, "input": streamed}
