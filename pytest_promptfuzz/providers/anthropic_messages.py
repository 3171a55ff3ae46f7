"""Anthropic Messages: the request, the answer, the stream, and what a server makes of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_promptfuzz.errors import UsageError
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
    parse_json,
    parts_of,
    pieces,
    plain_messages,
    plain_parameters,
    positive_integer,
    raise_provider_error,
    require_list,
    require_model,
    require_object,
    said,
    tool_calls,
    word,
)
from pytest_promptfuzz.providers.requests import Request, Response, ToolCall, Usage
from pytest_promptfuzz.providers.wire_format import WireFormat, WordlessAnswer
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_promptfuzz.providers.bodies import Model


DEFAULT_MAX_TOKENS = 1024
"""The API insists on a limit; this one is used where the request names none."""
_DATA_URL = expression(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)
_TOOL_CHOICES = {"auto": "auto", "none": "none", "required": "any"}
_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_ANNOUNCEMENTS = {"message_start", "content_block_start", "ping"}
_INPUT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "stop_sequence": "stop_sequence",
}
_OMITTED = {"messages", "system", "stream", "tools", "tool_choice", "stop_sequences"}
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def _count_tokens(body: Mapping[str, Any], model: Model) -> dict[str, Any]:
    response = model.answer(ANTHROPIC_MESSAGES.read_request(body, counting=True))
    return {"input_tokens": response.usage.input_tokens or 0}


_BLOCK_FIELDS = ("id", "tool_use_id")
_CALL_FIELDS = (
    *("$.id", "$.usage", "$.request_id", "$.container.id", "$.container.expires_at"),
    *(f"$.content[*].{name}" for name in _BLOCK_FIELDS),
    *("$.message.id", "$.message.usage"),  # from here on, of events
    *(f"$.content_block.{name}" for name in _BLOCK_FIELDS),
)


class AnthropicMessages(WireFormat):
    """Anthropic's Messages."""

    provider = "anthropic"
    host = "anthropic.com"
    path = "/messages"
    wordless: ClassVar[dict[str, WordlessAnswer]] = {
        "/messages/count_tokens": WordlessAnswer("input_tokens", int, _count_tokens),
    }
    system_fields = ("system",)
    answer_field = "content"
    version_headers = ("anthropic-version",)
    key_headers = ("x-api-key",)
    call_fields = _CALL_FIELDS
    limit_headers = "anthropic-ratelimit-{kind}-{what}"

    def build_body(self, request: Request, model: str) -> dict[str, Any]:
        """The JSON body, as the SDK sends it.

        System and developer messages are lifted to ``system``, assistant tool calls become ``tool_use`` blocks,
        tool messages ``tool_result`` blocks of one user message. Parameters may carry the names of this API or
        those of chat completions (``max_completion_tokens``, ``stop``, nested ``tools``, ``tool_choice``).
        ``max_tokens`` is ``DEFAULT_MAX_TOKENS`` where nothing is said.

        Raises:
            UsageError: For a value that JSON cannot hold, or tool arguments that are not JSON.
        """
        parameters = _parameters(plain_parameters(request.parameters))
        system: list[Any] = []
        messages: list[dict[str, Any]] = []
        for message in plain_messages(request.messages):
            if message.get("role") in ("system", "developer"):
                system.append(message.get("content"))
            else:
                _append(messages, message)
        if not messages:
            msg = "The request holds system messages only, and this API needs a user message. Add one."
            raise UsageError(msg)
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": DEFAULT_MAX_TOKENS,
            "messages": messages,
            **parameters,
        }
        if system:
            if "system" in body:
                msg = "The request has system messages and the parameter system=. Use one of the two."
                raise UsageError(msg)
            body["system"] = _system(system)
        return body

    def parse(self, body: dict[str, Any]) -> Response:
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

    def announces(self, event: dict[str, Any]) -> bool:
        """Whether an event of a stream holds nothing of the answer yet.

        Raises:
            TargetError: It reports an error.
        """
        if event.get("type") == "error":
            raise_provider_error(event)
        return word(event.get("type")) in _ANNOUNCEMENTS

    def fold(self, raw: bytes) -> dict[str, Any] | None:
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

    def read_request(self, body: Mapping[str, Any], *, counting: bool = False) -> Request:
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
                    f"{where}.role: Input should be 'user' or 'assistant', not {role!r}",
                    param=f"{where}.role",
                )
            messages += _messages(role, message.get("content"), where)
        parameters = {k: v for k, v in body.items() if k not in _OMITTED}
        tools = [_read_tool(each) for each in body.get("tools") or () if isinstance(each, dict)]
        if tools:
            parameters["tools"] = tools
        choice = body.get("tool_choice")
        if isinstance(choice, dict):
            parameters["tool_choice"] = _CHOICES.get(str(choice.get("type")), "auto")
            if choice.get("type") == "tool":
                parameters["tool_choice"] = {"type": "function", "function": {"name": choice.get("name", "")}}
        if body.get("stop_sequences"):
            parameters["stop"] = body["stop_sequences"]
        output = body.get("output_config")
        form = output.get("format") if isinstance(output, dict) else None
        if isinstance(form, dict) and form.get("type") == "json_schema":
            parameters["response_format"] = {
                "type": "json_schema",
                "json_schema": {"schema": form.get("schema")},
            }
        return Request(tuple(messages), parameters)

    def encode_answer(self, response: Response, body: Mapping[str, Any]) -> dict[str, Any]:
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
            "stop_reason": _STOP_REASONS.get(response.finish_reason, "end_turn"),
            "stop_sequence": None,
            "usage": _usage_body(response),
        }

    def stream_answer(self, response: Response, body: Mapping[str, Any]) -> Iterator[bytes]:
        """The answer as named server-sent events, from ``message_start`` to ``message_stop``."""

        def emit(kind: str, **fields: Any) -> bytes:
            return event({"type": kind, **fields}, kind)

        whole = self.encode_answer(response, body)
        usage = whole["usage"]
        opening = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        yield emit("message_start", message=opening)
        yield emit("ping")
        for index, block in enumerate(whole["content"]):
            if block["type"] == "text":
                yield emit("content_block_start", index=index, content_block={**block, "text": ""})
                for piece in pieces(block["text"]):
                    yield emit(
                        "content_block_delta", index=index, delta={"type": "text_delta", "text": piece}
                    )
            else:
                yield emit("content_block_start", index=index, content_block={**block, "input": {}})
                for piece in halves(compact(block["input"])):
                    delta = {"type": "input_json_delta", "partial_json": piece}
                    yield emit("content_block_delta", index=index, delta=delta)
            yield emit("content_block_stop", index=index)
        ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield emit("message_delta", delta=ending, usage={"output_tokens": usage["output_tokens"]})
        yield emit("message_stop")

    def error_body(
        self, status: int, message: str, *, param: str | None = None, request_id: str = ""
    ) -> dict[str, Any]:
        """The body of an answer of status 400 or more."""
        del param
        kind = _ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}

    def fault_body(self, label: str, message: str) -> dict[str, Any]:
        """An error that an answer of status 200 reports in the place of an answer."""
        return {"type": "error", "error": {"type": label, "message": message}}

    def fault_event(self, label: str, message: str) -> bytes:
        """An error that a stream reports."""
        return event(self.fault_body(label, message), "error")

    def model_entry(self, name: str) -> dict[str, Any]:
        """A model, as the list of models has it."""
        return {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}

    def model_list(self, entry: dict[str, Any]) -> dict[str, Any]:
        """The list of models, of which there is one."""
        return {"data": [entry], "has_more": False, "first_id": entry["id"], "last_id": entry["id"]}


ANTHROPIC_MESSAGES = AnthropicMessages()


def _system(contents: list[Any]) -> str | list[Any]:
    if all(isinstance(each, str) for each in contents):
        return "\n\n".join(contents)
    return [part for each in contents for part in parts_of(each)]


def _append(messages: list[dict[str, Any]], message: dict[str, Any]) -> None:
    role = message.get("role")
    if role == "tool":
        result = {
            "type": "tool_result",
            "tool_use_id": message.get("tool_call_id", ""),
            "content": _content(message),
        }
        last = messages[-1] if messages else {}
        results = last.get("content")
        # Results of calls made together belong in one user message.
        if last.get("role") == "user" and isinstance(results, list) and _only_results(results):
            results.append(result)
        else:
            messages.append({"role": "user", "content": [result]})
        return
    if message.get("tool_calls"):
        texts = parts_of(message["content"]) if message.get("content") else []
        messages.append(
            {"role": role, "content": [*texts, *(_tool_use(call) for call in message["tool_calls"])]}
        )
        return
    messages.append({**message, "content": _content(message)})


def _only_results(blocks: list[Any]) -> bool:
    return bool(blocks) and all(
        isinstance(each, dict) and each.get("type") == "tool_result" for each in blocks
    )


def _content(message: dict[str, Any]) -> Any:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return [_block(part) for part in parts_of(content)]


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") != "image_url":
        return part
    image = part.get("image_url")
    url = image.get("url", "") if isinstance(image, dict) else str(image)
    found = _DATA_URL.fullmatch(url)
    if not found:
        return {"type": "image", "source": {"type": "url", "url": url}}
    return {"type": "image", "source": {"type": "base64", "media_type": found[1], "data": found[2]}}


def _tool_use(call: Any) -> dict[str, Any]:
    function = call.get("function", {}) if isinstance(call, dict) else {}
    name, arguments = function.get("name", ""), function.get("arguments") or "{}"
    try:
        value = parse_json(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        msg = f"The arguments of tool call {name!r} in the messages are not JSON: {arguments[:80]!r}."
        raise UsageError(msg) from None
    return {"type": "tool_use", "id": call.get("id", ""), "name": name, "input": value}


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    parameters = dict(given)
    for other in ("max_completion_tokens", "max_output_tokens"):
        if other in parameters:
            parameters.setdefault("max_tokens", parameters[other])
            del parameters[other]
    if "stop" in parameters:
        stop = parameters.pop("stop")
        if stop is not None:
            parameters["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    if isinstance(parameters.get("tools"), list):
        parameters["tools"] = [_tool(tool) for tool in parameters["tools"]]
    choice = parameters.get("tool_choice")
    if isinstance(choice, str):
        parameters["tool_choice"] = {"type": _TOOL_CHOICES.get(choice, choice)}
    elif isinstance(choice, dict) and isinstance(choice.get("function"), dict):
        parameters["tool_choice"] = {"type": "tool", "name": choice["function"].get("name", "")}
    return parameters


def _tool(tool: Any) -> Any:
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    if not isinstance(function, dict):
        return tool
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    converted = {"name": function.get("name", ""), "input_schema": schema}
    for key in ("description", "strict"):
        if key in function:
            converted[key] = function[key]
    return converted


def _usage(value: object) -> Usage:
    usage = value if isinstance(value, dict) else {}
    if count(usage.get("input_tokens")) is None:
        return Usage(None, count(usage.get("output_tokens")))
    return Usage(
        sum(count(usage.get(each)) or 0 for each in _INPUT_TOKENS), count(usage.get("output_tokens"))
    )


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


def _read_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {
        "name": tool.get("name", ""),
        "description": tool.get("description", ""),
        "parameters": tool.get("input_schema") or {},
    }
    return {"type": "function", "function": function}


def _usage_body(response: Response) -> dict[str, Any]:
    return {
        "input_tokens": response.usage.input_tokens or 0,
        "output_tokens": response.usage.output_tokens or 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "service_tier": "standard",
    }
