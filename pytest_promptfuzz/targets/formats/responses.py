"""OpenAI Responses: the request body, the answer, the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.formats.reading import (
    count,
    event_body,
    events,
    malformed,
    mapping,
    not_text,
    raise_provider_error,
    sequence,
    string,
    tool_call,
    word,
)
from pytest_promptfuzz.targets.formats.writing import parts_of, plain_messages, plain_parameters
from pytest_promptfuzz.targets.model import Response, ToolCall, Usage

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.model import Request

PATH = "/responses"
_ENDINGS = {"response.completed", "response.incomplete", "response.failed"}
_ANNOUNCEMENTS = {
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
}


def build_body(request: Request, model: str) -> dict[str, Any]:
    """The JSON body, as the SDK sends it.

    Chat messages become ``input`` items; tool calls and their results the items ``function_call`` and
    ``function_call_output``. Parameters may carry the names of this API or those of chat completions
    (``max_tokens``, ``max_completion_tokens``, ``reasoning_effort``, ``response_format``, nested ``tools``).

    Raises:
        UsageError: For a value that JSON cannot hold.
    """
    items: list[dict[str, Any]] = []
    for message in plain_messages(request.messages):
        items.extend(_items(message))
    return {"model": model, "input": items, **_parameters(plain_parameters(request.parameters))}


def _items(message: dict[str, Any]) -> list[dict[str, Any]]:
    if "role" not in message:
        return [message]
    role = message["role"]
    if role == "tool":
        output = message.get("content")
        return [
            {
                "type": "function_call_output",
                "call_id": message.get("tool_call_id", ""),
                "output": output or "",
            }
        ]
    items: list[dict[str, Any]] = []
    content = message.get("content")
    if content is not None:
        rest = {key: value for key, value in message.items() if key not in {"content", "tool_calls"}}
        items.append({**rest, "content": content if isinstance(content, str) else _parts(content, role)})
    for call in message.get("tool_calls") or []:
        function = call.get("function", {})
        items.append(
            {
                "type": "function_call",
                "call_id": call.get("id", ""),
                "name": function.get("name", ""),
                "arguments": function.get("arguments", ""),
            }
        )
    return items


def _parts(content: list[Any], role: str) -> list[Any]:
    converted: list[Any] = []
    for part in parts_of(content):
        if part.get("type") == "text":
            kind = "output_text" if role == "assistant" else "input_text"
            converted.append({**part, "type": kind})
        elif part.get("type") == "image_url":
            image = part.get("image_url")
            image = image if isinstance(image, dict) else {"url": image}
            item = {
                "type": "input_image",
                "image_url": image.get("url"),
                "detail": image.get("detail", "auto"),
            }
            converted.append(item)
        else:
            converted.append(part)
    return converted


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    parameters = dict(given)
    for other in ("max_completion_tokens", "max_tokens"):
        if other in parameters:
            parameters.setdefault("max_output_tokens", parameters[other])
            del parameters[other]
    if "reasoning_effort" in parameters:
        effort = parameters.pop("reasoning_effort")
        parameters["reasoning"] = {"effort": effort, **(parameters.get("reasoning") or {})}
    if "response_format" in parameters:
        wanted = parameters.pop("response_format")
        if isinstance(wanted, dict) and isinstance(wanted.get("json_schema"), dict):
            wanted = {"type": "json_schema", **wanted["json_schema"]}
        parameters["text"] = {**(parameters.get("text") or {}), "format": wanted}
    if isinstance(parameters.get("tools"), list):
        parameters["tools"] = [_flat(tool) for tool in parameters["tools"]]
    if isinstance(parameters.get("tool_choice"), dict):
        parameters["tool_choice"] = _flat(parameters["tool_choice"])
    return parameters


def _flat(tool: Any) -> Any:
    if isinstance(tool, dict) and tool.get("type") == "function" and isinstance(tool.get("function"), dict):
        return {"type": "function", **tool["function"]}
    return tool


def parse(body: dict[str, Any]) -> Response:
    """The response in a ``response`` body.

    ``finish_reason`` is the provider's status (``completed``), or for an incomplete answer its reason
    (``max_output_tokens``, ``content_filter``).

    Raises:
        TargetError: ``not-text`` (a completed answer without a message and without tool calls),
            ``malformed``, or the provider's own error for a failed answer.
    """
    if body.get("error"):
        raise_provider_error(body["error"])
    status = word(body.get("status"))
    if status in {"failed", "cancelled"}:
        raise_provider_error({"type": status, "message": f"the answer's status is {status!r}"})
    if status in {"queued", "in_progress"}:
        malformed("a finished answer (not a background one)", status)
    if "output" not in body:
        malformed("a response with 'output'", body)
    texts, calls, messages = _read_output(sequence(body["output"], "'output'"))
    finish = status
    if status == "incomplete":
        details = body.get("incomplete_details")
        finish = word(details.get("reason") if isinstance(details, dict) else None) or status
    elif not messages and not calls:
        not_text("its output holds neither a message nor a tool call")
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Response(
        text="".join(texts),
        tool_calls=tuple(calls),
        usage=Usage(count(usage.get("input_tokens")), count(usage.get("output_tokens"))),
        model=word(body.get("model")),
        finish_reason=finish,
    )


def _read_output(output: list[Any]) -> tuple[list[str], list[ToolCall], int]:
    texts: list[str] = []
    calls: list[ToolCall] = []
    messages = 0
    for entry in output:
        item = mapping(entry, "an output item")
        kind = item.get("type")
        if kind == "message":
            messages += 1
            for piece in sequence(item.get("content"), "a message's content"):
                part = mapping(piece, "a part of a message")
                if part.get("type") == "output_text":
                    texts.append(string(part.get("text"), "an output_text's text"))
                elif part.get("type") == "refusal":
                    texts.append(string(part.get("refusal"), "a refusal"))
        elif kind == "function_call":
            calls.append(tool_call(item.get("name"), item.get("arguments"), item.get("call_id")))
        elif kind == "custom_tool_call":
            # A custom tool takes free text; it is kept as the one argument "input".
            arguments = {"input": string(item.get("input"), "a custom tool call's input")}
            calls.append(tool_call(item.get("name"), arguments, item.get("call_id")))
    return texts, calls, messages


def announces(event: dict[str, Any]) -> bool:
    """Whether an event of a stream holds nothing of the answer yet.

    Raises:
        TargetError: It reports an error, or that the answer failed.
    """
    if event.get("type") == "error":
        raise_provider_error(event)
    if event.get("type") == "response.failed":
        parse(mapping(event.get("response"), "the event 'response.failed' to hold a response"))
    return word(event.get("type")) in _ANNOUNCEMENTS


def fold(raw: bytes) -> dict[str, Any] | None:
    """The body in the stream's last event; ``None`` unless the stream came to its end.

    Raises:
        TargetError: For an event that is not JSON, or that reports an error.
    """
    items: list[Any] = []
    for data in events(raw):
        if data.strip() == "[DONE]":
            continue
        event = event_body(data)
        if event.get("type") == "error":
            raise_provider_error(event)
        if event.get("type") == "response.output_item.done":
            items.append(event.get("item"))
        if word(event.get("type")) in _ENDINGS:
            body = mapping(event.get("response"), f"the event {event['type']!r} to hold a response")
            # Some servers leave the output of the last event empty, and had sent it item by item.
            return body if body.get("output") or not items else {**body, "output": items}
    return None
