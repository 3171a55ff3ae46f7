"""OpenAI chat completions, as the server sees them."""

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

ROLES = ("assistant", "developer", "function", "system", "tool", "user")


def read(body: Mapping[str, Any]) -> Request:
    """The request in a chat-completions body.

    Raises:
        InvalidBodyError: For what the provider answers with 400: no model, no messages, an unknown role;
            and for ``n`` above 1.
    """
    require_model(body)
    messages = []
    for index, each in enumerate(require_list(body, "messages")):
        message = require_object(each, f"messages[{index}]")
        if message.get("role") not in ROLES:
            raise InvalidBodyError(
                f"Invalid value: {message.get('role')!r}. Supported values are: "
                + ", ".join(map(repr, ROLES)),
                param=f"messages[{index}].role",
            )
        content = message.get("content")
        if not isinstance(content, str | list) and not (content is None and message["role"] == "assistant"):
            raise InvalidBodyError(
                f"Invalid type for 'messages[{index}].content': expected a string or an array of parts.",
                param=f"messages[{index}].content",
            )
        messages.append(dict(message))
    if body.get("n") not in {None, 1}:
        raise InvalidBodyError("This server answers one choice: leave 'n' out or set it to 1.", param="n")
    parameters = {k: v for k, v in body.items() if k not in {"messages", "stream", "stream_options"}}
    limit = positive_integer(body, "max_completion_tokens") or positive_integer(body, "max_tokens")
    if limit is not None:
        parameters["max_tokens"] = limit
    return Request(tuple(messages), parameters)


def encode(response: Response, body: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body of a whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": response.text or None, "refusal": None}
    if response.tool_calls:
        message["tool_calls"] = _calls(response, body)
    elif message["content"] is None:
        message["content"] = ""
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": response.finish_reason or "stop",
    }
    return {**_head(response, body, "chat.completion"), "choices": [choice], "usage": _usage(response)}


def events(response: Response, body: Mapping[str, Any]) -> Iterator[bytes]:
    """The answer as server-sent events: deltas, finish reason, usage if asked for, ``[DONE]``."""
    head = _head(response, body, "chat.completion.chunk")
    options = body.get("stream_options")
    wants_usage = isinstance(options, dict) and bool(options.get("include_usage"))
    extra: dict[str, Any] = {"usage": None} if wants_usage else {}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**head, "choices": [choice], **extra})

    yield chunk({"role": "assistant", "content": None if response.tool_calls else "", "refusal": None})
    for piece in pieces(response.text):
        yield chunk({"content": piece})
    for index, call in enumerate(_calls(response, body)):
        function = call["function"]
        opening = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        yield chunk({"tool_calls": [opening]})
        for piece in halves(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, response.finish_reason or "stop")
    if wants_usage:
        yield event({**head, "choices": [], "usage": _usage(response)})
    yield b"data: [DONE]\n\n"


def _head(response: Response, body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{digest(body)}",
        "object": kind,
        "created": 0,
        "model": response.model or body["model"],
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _calls(response: Response, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id or call_id("call_", body, index),
            "type": "function",
            "function": {"name": call.name, "arguments": compact(call.arguments)},
        }
        for index, call in enumerate(response.tool_calls)
    ]


def _usage(response: Response) -> dict[str, Any]:
    asked, answered = response.usage.input_tokens or 0, response.usage.output_tokens or 0
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}
