"""OpenAI Responses: the request, the answer, the stream, and what a server makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pytest_promptfuzz.providers.bodies import (
    InvalidBodyError,
    call_id,
    compact,
    count,
    digest,
    entries,
    event,
    event_body,
    events,
    halves,
    malformed,
    mapping,
    not_text,
    optional,
    parts_of,
    pieces,
    plain_messages,
    plain_parameters,
    positive_integer,
    raise_provider_error,
    require_model,
    require_object,
    said,
    tool_calls,
    word,
)
from pytest_promptfuzz.providers.requests import Request, Response, ToolCall, Usage
from pytest_promptfuzz.providers.wire_format import WireFormat, WordlessAnswer, content_texts, message_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_promptfuzz.providers.bodies import Model
    from pytest_promptfuzz.providers.wire_format import BodyText


_ENDINGS = {"response.completed", "response.incomplete", "response.failed"}
# Tools of the provider's that the application runs, and where it finds what to do.
_ACTIONS = {
    "computer_call": ("action", "actions"),
    "local_shell_call": ("action",),
    "shell_call": ("action",),
    "apply_patch_call": ("operation",),
}
# What a delta adds to, in its item or in a part of its item's content.
_PIECES = {
    "response.output_text.delta": ("output_text", "text"),
    "response.refusal.delta": ("refusal", "refusal"),
    "response.audio.transcript.delta": ("output_audio", "transcript"),
    "response.function_call_arguments.delta": ("", "arguments"),
    "response.custom_tool_call_input.delta": ("", "input"),
}
_ANNOUNCEMENTS = {
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
}
_OMITTED = {"input", "instructions", "stream", "stream_options", "text", "tools", "max_output_tokens"}


def _count_tokens(body: Mapping[str, Any], model: Model) -> dict[str, Any]:
    response = model.answer(OPENAI_RESPONSES.read_request(body))
    return {"object": "response.input_tokens", "input_tokens": response.usage.input_tokens or 0}


_ITEM_FIELDS = ("id", "call_id", "pending_safety_checks[*].id")
_BODY_FIELDS = (
    *("id", "created_at", "completed_at", "usage", "service_tier", "request_id"),
    *(f"output[*].{name}" for name in _ITEM_FIELDS),
)
_CALL_FIELDS = (
    *(f"$.{name}" for name in _BODY_FIELDS),
    *("$.item_id", "$.response_id", "$.obfuscation"),  # from here on, of events
    *(f"$.item.{name}" for name in _ITEM_FIELDS),
    *(f"$.response.{name}" for name in _BODY_FIELDS),
)


class OpenAIResponses(WireFormat):
    """OpenAI's Responses."""

    provider = "openai"
    host = "openai.com"
    path = "/responses"
    wordless: ClassVar[dict[str, WordlessAnswer]] = {
        "/responses/compact": WordlessAnswer("output", list),
        "/responses/input_tokens": WordlessAnswer("input_tokens", int, _count_tokens),
    }
    system_fields = ("instructions",)
    fields = ("input", "prompt")
    answer_field = "output"
    bounds = ("max_output_tokens",)
    call_fields = _CALL_FIELDS

    def build_body(self, request: Request, model: str) -> dict[str, Any]:
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

    def parse(self, body: dict[str, Any]) -> Response:
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
        texts, calls = _read_output(entries(body["output"], "'output'"))
        finish = status
        if status == "incomplete":
            details = body.get("incomplete_details")
            finish = word(details.get("reason") if isinstance(details, dict) else None) or status
        elif not texts and not calls:
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

    def announces(self, event: dict[str, Any]) -> bool:
        """Whether an event of a stream holds nothing of the answer yet.

        Raises:
            TargetError: It reports an error, or that the answer failed.
        """
        if event.get("type") == "error":
            raise_provider_error(event)
        if event.get("type") == "response.failed":
            self.parse(mapping(event.get("response"), "the event 'response.failed' to hold a response"))
        return word(event.get("type")) in _ANNOUNCEMENTS

    def fold(self, raw: bytes) -> dict[str, Any] | None:
        """The body in the stream's last event; ``None`` unless the stream came to its end.

        What it leaves empty is as the stream had sent it before, item by item or piece by piece.

        Raises:
            TargetError: For an event that is not JSON, or that reports an error.
        """
        items: dict[int, dict[str, Any]] = {}
        for data in events(raw):
            if data.strip() == "[DONE]":
                continue
            event = event_body(data)
            kind = word(event.get("type"))
            if kind == "error":
                raise_provider_error(event)
            if kind in {"response.output_item.added", "response.output_item.done"}:
                item = mapping(event.get("item"), f"the event {kind!r} to hold an item")
                number = count(event.get("output_index"))
                place = len(items) if number is None else number
                items[place] = _filled(item, items.get(place))
            elif kind in _PIECES:
                _add_piece(items, event, *_PIECES[kind])
            elif kind in _ENDINGS:
                body = mapping(event.get("response"), f"the event {event['type']!r} to hold a response")
                sent = [items[place] for place in sorted(items)]
                output = entries(body.get("output"), "'output'")
                if len(output) == len(sent):
                    sent = [_filled(*pair) for pair in zip(output, sent, strict=True)]
                elif _says_something(output):
                    sent = output
                return {**body, "output": sent or output} if "output" in body or sent else body
        return None

    def read_request(self, body: Mapping[str, Any]) -> Request:
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
        parameters = {k: v for k, v in body.items() if k not in _OMITTED}
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

    def encode_answer(self, response: Response, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON body of a whole answer."""
        cut = response.finish_reason == "length"
        status = "incomplete" if cut else "completed"
        return {
            **_head(response, body, status),
            "output": _output_items(response, body, status),
            "usage": _usage(response),
        }

    def stream_answer(self, response: Response, body: Mapping[str, Any]) -> Iterator[bytes]:
        """The answer as named server-sent events with sequence numbers, from ``response.created`` to its end."""
        number = -1

        def emit(kind: str, **fields: Any) -> bytes:
            nonlocal number
            number += 1
            return event({"type": kind, **fields, "sequence_number": number}, kind)

        head = _head(response, body, "in_progress")
        yield emit("response.created", response=head)
        yield emit("response.in_progress", response=head)
        whole = self.encode_answer(response, body)
        for index, item in enumerate(whole["output"]):
            place = {"item_id": item["id"], "output_index": index}
            if item["type"] == "message":
                part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
                opening = {**item, "status": "in_progress", "content": []}
                yield emit("response.output_item.added", output_index=index, item=opening)
                yield emit("response.content_part.added", **place, content_index=0, part=part)
                for piece in pieces(response.text):
                    yield emit(
                        "response.output_text.delta", **place, content_index=0, delta=piece, logprobs=[]
                    )
                yield emit(
                    "response.output_text.done", **place, content_index=0, text=response.text, logprobs=[]
                )
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

    def messages(self, body: Mapping[str, Any]) -> Iterator[tuple[str, list[BodyText]]]:
        """What the system and the user say; of a stored prompt's variables it is not known who says them."""
        yield "system", content_texts(body, "instructions", "$.instructions")
        if isinstance(body.get("input"), str):
            yield "user", content_texts(body, "input", "$.input")
        yield from message_texts(body, "input")

    def fault_event(self, label: str, message: str) -> bytes:
        """An error that a stream reports."""
        return event({"type": "error", "code": label, "message": message, "param": None}, "error")


OPENAI_RESPONSES = OpenAIResponses()


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


def _read_output(output: list[dict[str, Any]]) -> tuple[list[str], list[ToolCall]]:
    """The text of each message, and the tools that the application is to run."""
    texts: list[str] = []
    calls: list[ToolCall] = []
    for item in output:
        kind = item.get("type")
        if kind == "message":
            texts.append(said(item.get("content"), "a message's content") or "")
        elif kind in {"function_call", "mcp_approval_request"}:
            calls += tool_calls(item.get("name"), item.get("arguments"), item.get("call_id"))
        elif kind == "custom_tool_call":
            # A custom tool takes free text; it is kept as the one argument "input".
            arguments = {"input": optional(item.get("input"), "a custom tool call's input")}
            calls += tool_calls(item.get("name"), arguments, item.get("call_id"))
        elif kind in _ACTIONS:
            asked = {key: value for key, value in item.items() if key in _ACTIONS[kind] and value is not None}
            calls += tool_calls(kind, asked, item.get("call_id"))
    return texts, calls


def _says_something(output: list[dict[str, Any]]) -> bool:
    texts, calls = _read_output(output)
    return any(texts) or bool(calls)


def _add_piece(items: dict[int, dict[str, Any]], event: dict[str, Any], kind: str, key: str) -> None:
    number = count(event.get("output_index"))
    whole = items.get(max(items, default=0) if number is None else number)
    if whole is None:
        return
    if kind:
        if not isinstance(whole.get("content"), list):
            whole["content"] = []
        place = count(event.get("content_index")) or 0
        if place >= len(whole["content"]):
            whole["content"].append({"type": kind})
            place = -1
        whole = mapping(whole["content"][place], "a part of a message")
    whole[key] = optional(whole.get(key), f"an item's {key}") + optional(event.get("delta"), "a delta")


def _filled(item: Any, before: Any) -> Any:
    """A value with what it leaves empty as it was before."""
    if isinstance(item, dict) and isinstance(before, dict):
        return {
            key: _filled(item.get(key), before.get(key))
            for key in {**before, **item}
            if key in item or key in {"content", "text", "arguments", "input", "refusal", "transcript"}
        }
    if isinstance(item, list) and isinstance(before, list) and len(item) == len(before):
        return [_filled(*pair) for pair in zip(item, before, strict=True)]
    return before if item in (None, "", [], {}) and before else item


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


def _output_items(response: Response, body: Mapping[str, Any], status: str) -> list[dict[str, Any]]:
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
