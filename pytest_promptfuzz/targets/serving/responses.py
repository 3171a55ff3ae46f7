"""OpenAI Responses, as the server sees them."""

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
    require_model,
    require_object,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OMITTED = {"input", "instructions", "stream", "stream_options", "text", "tools", "max_output_tokens"}


def read(body: Mapping[str, Any]) -> Request:
    """The request in a Responses body: ``instructions`` become a system message, ``input`` the others.

    Raises:
        InvalidBodyError: For what the provider answers with 400: no model, no input, an item of unknown type.
    """
    require_model(body)
    messages: list[dict[str, Any]] = []
    instructions = body.get("instructions")
    if instructions is not None:
        if not isinstance(instructions, str):
            raise InvalidBodyError("Invalid 'instructions': expected a string.", param="instructions")
        messages.append({"role": "system", "content": instructions})
    given = body.get("input")
    if isinstance(given, str) and given:
        messages.append({"role": "user", "content": given})
    elif isinstance(given, list) and given:
        messages += [_message(each, f"input[{index}]") for index, each in enumerate(given)]
    else:
        raise InvalidBodyError("Missing required parameter: 'input'.", param="input")
    parameters = {k: v for k, v in body.items() if k not in OMITTED}
    limit = positive_integer(body, "max_output_tokens")
    if limit is not None:
        parameters["max_tokens"] = limit
    tools = [_tool(each) for each in body.get("tools") or () if isinstance(each, dict)]
    if tools:
        parameters["tools"] = tools
    text = body.get("text")
    if isinstance(text, dict) and isinstance(text.get("format"), dict):
        parameters["response_format"] = _response_format(text["format"])
    return Request(tuple(messages), parameters)


def encode(response: Response, body: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body of a whole answer."""
    cut = response.finish_reason == "length"
    status = "incomplete" if cut else "completed"
    return {
        **_head(response, body, status),
        "output": _items(response, body, status),
        "usage": _usage(response),
    }


def events(response: Response, body: Mapping[str, Any]) -> Iterator[bytes]:
    """The answer as named server-sent events with sequence numbers, from ``response.created`` to its end."""
    number = -1

    def emit(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        return event({"type": kind, **fields, "sequence_number": number}, kind)

    head = _head(response, body, "in_progress")
    yield emit("response.created", response=head)
    yield emit("response.in_progress", response=head)
    whole = encode(response, body)
    for index, item in enumerate(whole["output"]):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            opening = {**item, "status": "in_progress", "content": []}
            yield emit("response.output_item.added", output_index=index, item=opening)
            yield emit("response.content_part.added", **place, content_index=0, part=part)
            for piece in pieces(response.text):
                yield emit("response.output_text.delta", **place, content_index=0, delta=piece, logprobs=[])
            yield emit("response.output_text.done", **place, content_index=0, text=response.text, logprobs=[])
            done = {**part, "text": response.text}
            yield emit("response.content_part.done", **place, content_index=0, part=done)
        else:
            opening = {**item, "status": "in_progress", "arguments": ""}
            yield emit("response.output_item.added", output_index=index, item=opening)
            for piece in halves(item["arguments"]):
                yield emit("response.function_call_arguments.delta", **place, delta=piece)
            yield emit(
                "response.function_call_arguments.done",
                **place,
                name=item["name"],
                arguments=item["arguments"],
            )
        yield emit("response.output_item.done", output_index=index, item=item)
    yield emit(f"response.{whole['status']}", response=whole)


def _message(each: object, where: str) -> dict[str, Any]:
    """One input item in the chat style."""
    item = require_object(each, where)
    kind = item.get("type", "message")
    if kind == "function_call_output":
        output = item.get("output")
        text = output if isinstance(output, str) else compact(output)
        return {"role": "tool", "tool_call_id": item.get("call_id", ""), "content": text}
    if kind == "function_call":
        function = {"name": item.get("name", ""), "arguments": item.get("arguments", "{}")}
        call = {"id": item.get("call_id", ""), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind == "reasoning":
        return {"role": "assistant", "content": ""}
    if kind != "message":
        raise InvalidBodyError(
            f"Invalid value: {kind!r} is no item this server reads.", param=f"{where}.type"
        )
    if item.get("role") not in ("user", "assistant", "system", "developer"):
        raise InvalidBodyError(f"Invalid value: {item.get('role')!r}.", param=f"{where}.role")
    content = item.get("content")
    if not isinstance(content, str | list):
        raise InvalidBodyError(f"Invalid type for '{where}.content'.", param=f"{where}.content")
    return {"role": item["role"], "content": content}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {k: tool[k] for k in ("name", "description", "parameters", "strict") if k in tool}
    return {"type": tool.get("type", "function"), "function": function}


def _response_format(given: Mapping[str, Any]) -> dict[str, Any]:
    if given.get("type") != "json_schema":
        return dict(given)
    schema = {k: given[k] for k in ("name", "schema", "strict") if k in given}
    return {"type": "json_schema", "json_schema": schema}


def _head(response: Response, body: Mapping[str, Any], status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{digest(body)}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": body.get("instructions"),
        "metadata": body.get("metadata") or {},
        "model": response.model or body["model"],
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "temperature": body.get("temperature", 1.0),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "usage": None,
    }


def _items(response: Response, body: Mapping[str, Any], status: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if response.text or not response.tool_calls:
        content = {"type": "output_text", "text": response.text, "annotations": [], "logprobs": []}
        message = {"id": f"msg_{digest(body)}", "type": "message", "role": "assistant", "status": status}
        items.append({**message, "content": [content]})
    for index, call in enumerate(response.tool_calls):
        items.append(
            {
                "id": call_id("fc_", body, index),
                "type": "function_call",
                "status": "completed",
                "call_id": call.id or call_id("call_", body, index),
                "name": call.name,
                "arguments": compact(call.arguments),
            }
        )
    return items


def _usage(response: Response) -> dict[str, Any]:
    asked, answered = response.usage.input_tokens or 0, response.usage.output_tokens or 0
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": answered,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": asked + answered,
    }
