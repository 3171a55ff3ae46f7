"""Anthropic Messages, as the server sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.model import Request, Response
from pytest_promptfuzz.targets.serving.contract import (
    InvalidBodyError,
    call_id,
    compact,
    digest,
    event,
    halves,
    pieces,
    positive_integer,
    require_list,
    require_model,
    require_object,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "stop_sequence": "stop_sequence",
}
OMITTED = {"messages", "system", "stream", "tools", "tool_choice", "stop_sequences"}
CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def read(body: Mapping[str, Any], *, counting: bool = False) -> Request:
    """The request in a Messages body, tools and tool results turned to the OpenAI style.

    Args:
        body: The JSON body.
        counting: Whether it is a request to count tokens, which has no ``max_tokens``.

    Raises:
        InvalidBodyError: For what the provider answers with 400: no model, ``max_tokens`` or messages, an
            unknown role.
    """
    require_model(body)
    limit = positive_integer(body, "max_tokens")
    if limit is None and not counting:
        raise InvalidBodyError("max_tokens: Field required", param="max_tokens")
    messages: list[dict[str, Any]] = []
    if body.get("system"):
        messages.append({"role": "system", "content": _text(body["system"], "system")})
    for index, each in enumerate(require_list(body, "messages")):
        where = f"messages.{index}"
        message = require_object(each, where)
        role = message.get("role")
        if role not in ("user", "assistant"):
            raise InvalidBodyError(
                f"{where}.role: Input should be 'user' or 'assistant', not {role!r}", param=f"{where}.role"
            )
        messages += _messages(role, message.get("content"), where)
    parameters = {k: v for k, v in body.items() if k not in OMITTED}
    tools = [_tool(each) for each in body.get("tools") or () if isinstance(each, dict)]
    if tools:
        parameters["tools"] = tools
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        parameters["tool_choice"] = CHOICES.get(str(choice.get("type")), "auto")
        if choice.get("type") == "tool":
            parameters["tool_choice"] = {"type": "function", "function": {"name": choice.get("name", "")}}
    if body.get("stop_sequences"):
        parameters["stop"] = body["stop_sequences"]
    output = body.get("output_config")
    form = output.get("format") if isinstance(output, dict) else None
    if isinstance(form, dict) and form.get("type") == "json_schema":
        parameters["response_format"] = {"type": "json_schema", "json_schema": {"schema": form.get("schema")}}
    return Request(tuple(messages), parameters)


def encode(response: Response, body: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body of a whole answer."""
    blocks: list[dict[str, Any]] = []
    if response.text or not response.tool_calls:
        blocks.append({"type": "text", "text": response.text, "citations": None})
    for index, call in enumerate(response.tool_calls):
        name = call.id or call_id("toolu_", body, index)
        blocks.append({"type": "tool_use", "id": name, "name": call.name, "input": call.arguments})
    return {
        "id": f"msg_{digest(body)}",
        "type": "message",
        "role": "assistant",
        "model": response.model or body["model"],
        "content": blocks,
        "stop_reason": STOP_REASONS.get(response.finish_reason, "end_turn"),
        "stop_sequence": None,
        "usage": _usage(response),
    }


def events(response: Response, body: Mapping[str, Any]) -> Iterator[bytes]:
    """The answer as named server-sent events, from ``message_start`` to ``message_stop``."""

    def emit(kind: str, **fields: Any) -> bytes:
        return event({"type": kind, **fields}, kind)

    whole = encode(response, body)
    usage = whole["usage"]
    opening = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield emit("message_start", message=opening)
    yield emit("ping")
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            yield emit("content_block_start", index=index, content_block={**block, "text": ""})
            for piece in pieces(block["text"]):
                yield emit("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
        else:
            yield emit("content_block_start", index=index, content_block={**block, "input": {}})
            for piece in halves(compact(block["input"])):
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield emit("content_block_delta", index=index, delta=delta)
        yield emit("content_block_stop", index=index)
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield emit("message_delta", delta=ending, usage={"output_tokens": usage["output_tokens"]})
    yield emit("message_stop")


def _text(content: object, where: str) -> str:
    """The text of a string or of a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [str(each.get("text", "")) for each in content if isinstance(each, dict)]
        return "\n\n".join(part for part in parts if part)
    raise InvalidBodyError(f"{where}: Input should be a string or a list of blocks", param=where)


def _messages(role: str, content: object, where: str) -> list[dict[str, Any]]:
    """One message in the chat style; tool results become messages of their own, before the rest."""
    if not isinstance(content, list):
        return [{"role": role, "content": _text(content, f"{where}.content")}]
    found: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for index, each in enumerate(content):
        block = require_object(each, f"{where}.content.{index}")
        if block.get("type") == "tool_result":
            result = block.get("content")
            text = "" if result is None else _text(result, f"{where}.content.{index}.content")
            found.append({"role": "tool", "tool_call_id": block.get("tool_use_id", ""), "content": text})
        elif block.get("type") == "tool_use":
            function = {"name": block.get("name", ""), "arguments": compact(block.get("input") or {})}
            calls.append({"id": block.get("id", ""), "type": "function", "function": function})
        else:
            texts.append(block)
    if calls:
        found.append({"role": role, "content": _text(texts, where) or None, "tool_calls": calls})
    elif texts:
        found.append({"role": role, "content": _text(texts, where)})
    return found


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {
        "name": tool.get("name", ""),
        "description": tool.get("description", ""),
        "parameters": tool.get("input_schema") or {},
    }
    return {"type": "function", "function": function}


def _usage(response: Response) -> dict[str, Any]:
    return {
        "input_tokens": response.usage.input_tokens or 0,
        "output_tokens": response.usage.output_tokens or 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "service_tier": "standard",
    }
