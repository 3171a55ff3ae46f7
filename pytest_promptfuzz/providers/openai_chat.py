"""OpenAI chat completions: the request, the answer, the stream, and what a server makes of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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
    pieces,
    plain_messages,
    plain_parameters,
    positive_integer,
    raise_provider_error,
    require_list,
    require_model,
    require_object,
    said,
    sequence,
    string,
    tool_calls,
    word,
)
from pytest_promptfuzz.providers.requests import Request, Response, Usage
from pytest_promptfuzz.providers.wire_format import WireFormat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_promptfuzz.providers.requests import ToolCall


_ARGUMENTS = ("arguments", "parameters", "input")  # of a call, as hosts name them
_ROLES = ("assistant", "developer", "function", "system", "tool", "user")


# Those of hosts and local servers that copy the protocol as well (Groq, Mistral, Ollama, llama.cpp).
_CALL_FIELDS = (
    *(f"$.{name}" for name in ("id", "created", "usage", "system_fingerprint", "service_tier", "request_id")),
    *(f"$.{name}" for name in ("obfuscation", "timings", "x_groq", "generation_id")),
    *(
        f"$.choices[*].{part}.{name}.id"
        for part in ("message", "delta")
        for name in ("tool_calls[*]", "audio")
    ),
)


class OpenAIChat(WireFormat):
    """OpenAI's chat completions, and those of most others."""

    provider = "openai"
    host = "openai.com"
    path = "/chat/completions"
    answer_field = "choices"
    bounds = ("max_tokens", "max_completion_tokens")
    key_headers = ("api-key", "authorization")
    call_fields = _CALL_FIELDS

    def build_body(self, request: Request, model: str) -> dict[str, Any]:
        """The JSON body, as the SDK sends it: messages as they are, parameters beside them.

        Raises:
            UsageError: For a value that JSON cannot hold, or ``n`` other than 1.
        """
        parameters = plain_parameters(request.parameters)
        if parameters.get("n", 1) not in (1, None):
            msg = (
                f"n={parameters['n']!r} asks for several answers, and only one is read. Use samples= instead."
            )
            raise UsageError(msg)
        return {"model": model, "messages": plain_messages(request.messages), **parameters}

    def parse(self, body: dict[str, Any]) -> Response:
        """The response in a ``chat.completion`` body: its first choice.

        Raises:
            TargetError: ``not-text`` (no choices; null content, no refusal and no tool calls),
                ``malformed`` (wrong types, tool arguments that are not JSON), or the provider's own error.
        """
        if body.get("error"):
            raise_provider_error(body["error"])
        if "choices" not in body:
            malformed("a chat completion with 'choices'", body)
        choices = sequence(body["choices"], "'choices'")
        if not choices:
            not_text("'choices' is empty")
        choice = mapping(choices[0], "a choice")
        finish = word(choice.get("finish_reason"))
        if choice.get("error") or finish == "error":  # a router's word for what went wrong behind it
            raise_provider_error(choice.get("error") or {"type": "error"})
        message = mapping(choice.get("message"), "a choice's message")
        calls = _tool_calls(message)
        text = _text(message)
        if text is None and not calls:
            not_text(f"its content is null, without tool calls (finish_reason {finish or 'missing'!r})")
        usage = body.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Response(
            text=text or "",
            tool_calls=calls,
            usage=Usage(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))),
            model=word(body.get("model")),
            finish_reason=finish,
        )

    def announces(self, chunk: dict[str, Any]) -> bool:
        """Whether a chunk of a stream holds nothing of the answer yet: no more than its role."""
        for entry in sequence(chunk.get("choices") or [], "a chunk's 'choices'"):
            choice = mapping(entry, "a chunk's choice")
            delta = mapping(choice.get("delta") or {}, "a chunk's delta")
            if choice.get("finish_reason") or any(value for key, value in delta.items() if key != "role"):
                return False
        return True

    def fold(self, raw: bytes) -> dict[str, Any] | None:
        """The body that the same answer would have had unstreamed; ``None`` unless it ended with ``[DONE]``.

        Raises:
            TargetError: For an event that is not a chunk, or that reports an error.
        """
        body: dict[str, Any] = {"choices": []}
        message: dict[str, Any] = {"role": "assistant", "content": None}
        calls: list[dict[str, Any]] = []
        for data in events(raw):
            if data.strip() == "[DONE]":
                if calls:
                    message["tool_calls"] = sorted(calls, key=lambda each: int(each["index"]))
                return body
            chunk = event_body(data)
            body["model"] = chunk.get("model") or body.get("model")
            body["usage"] = chunk.get("usage") or body.get("usage")
            for choice in entries(chunk.get("choices"), "a chunk's 'choices'"):
                if choice.get("index", 0) != 0:
                    continue
                if not body["choices"]:
                    body["choices"].append({"message": message, "finish_reason": None})
                for key in ("finish_reason", "error"):
                    body["choices"][0][key] = choice.get(key) or body["choices"][0].get(key)
                _add_delta(message, calls, mapping(choice.get("delta") or {}, "a chunk's delta"))
        return None

    def read_request(self, body: Mapping[str, Any]) -> Request:
        """The request in a chat-completions body.

        Raises:
            InvalidBodyError: For what the provider answers with 400: no model, no messages, an unknown role;
                and for ``n`` above 1.
        """
        require_model(body)
        messages = []
        for index, each in enumerate(require_list(body, "messages")):
            message = require_object(each, f"messages[{index}]")
            if message.get("role") not in _ROLES:
                raise InvalidBodyError(
                    f"Invalid value: {message.get('role')!r}. Supported values are: "
                    + ", ".join(map(repr, _ROLES)),
                    param=f"messages[{index}].role",
                )
            content = message.get("content")
            if not isinstance(content, str | list) and not (
                content is None and message["role"] == "assistant"
            ):
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

    def encode_answer(self, response: Response, body: Mapping[str, Any]) -> dict[str, Any]:
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
        usage = _usage(response)
        return {**_head(response, body, "chat.completion"), "choices": [choice], "usage": usage}

    def stream_answer(self, response: Response, body: Mapping[str, Any]) -> Iterator[bytes]:
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


OPENAI_CHAT = OpenAIChat()


def _text(message: dict[str, Any]) -> str | None:
    """What a message says: its content, a refusal, the transcript of speech; each once."""
    audio = message.get("audio")
    texts = [
        said(message.get("content"), "the message's content"),
        said(message.get("refusal"), "the message's refusal"),
        said(audio.get("transcript") if isinstance(audio, dict) else None, "a transcript"),
    ]
    spoken = [each for each in dict.fromkeys(texts) if each is not None]
    return "\n".join(filter(None, spoken)) if spoken else None


def _tool_calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    found: list[ToolCall] = []
    for call in entries(message.get("tool_calls"), "'tool_calls'"):
        if _is_custom(call):
            # A custom tool takes free text; it is kept as the one argument "input".
            custom = mapping(call["custom"], "a custom tool call")
            arguments = {"input": optional(custom.get("input"), "a custom tool call's input")}
            found += tool_calls(custom.get("name"), arguments, call.get("id"))
        else:
            function = mapping(call.get("function") or call, "a tool call's function")
            if not word(function.get("name")).strip():  # some servers put the name beside an empty function
                function = call if call.get("name") else function
            given = next(
                (function[key] for key in _ARGUMENTS if function.get(key)), function.get("arguments")
            )
            found += tool_calls(function.get("name"), given, call.get("id"))
    legacy = mapping(message.get("function_call") or {}, "'function_call'")
    known = [(each.name, each.arguments) for each in found]
    for older in tool_calls(legacy.get("name"), legacy.get("arguments"), ""):
        if (older.name and (older.name, older.arguments) not in known) or not found:
            found.append(older)
    return tuple(found)


def _is_custom(call: dict[str, Any]) -> bool:
    """Whether a tool call is one of a custom tool; what some servers put beside a function, all empty, is none."""
    custom, function = call.get("custom"), call.get("function")
    if not custom or not function:
        return bool(custom)
    named = [bool(word(each.get("name")).strip()) for each in (custom, function) if isinstance(each, dict)]
    return named == [True, False] or (named == [True, True] and call.get("type") == "custom")


def _add_delta(message: dict[str, Any], calls: list[dict[str, Any]], delta: dict[str, Any]) -> None:
    _add_text(message, "content", delta.get("content"))
    _add_text(message, "refusal", delta.get("refusal"))
    audio = delta.get("audio")
    if isinstance(audio, dict):
        _add_text(message.setdefault("audio", {}), "transcript", audio.get("transcript"))
    for part in entries(delta.get("tool_calls"), "a delta's 'tool_calls'"):
        call = _call_of(calls, part)
        for key in ("id", "type"):
            call[key] = call.get(key) or part.get(key) or ""
        _add_call(call, "function", "arguments", part.get("function"))
        _add_call(call, "custom", "input", part.get("custom"))
    _add_call(message, "function_call", "arguments", delta.get("function_call"))


def _add_text(whole: dict[str, Any], key: str, value: object) -> None:
    text = said(value, f"a delta's {key}")
    if text is not None:
        whole[key] = (whole.get(key) or "") + text


def _call_of(calls: list[dict[str, Any]], part: dict[str, Any]) -> dict[str, Any]:
    """The call that a delta goes on with, or a new one that it begins.

    Some servers give all calls the index 0 (Gemini, Ollama), or none: a second id or name begins another call then.
    """
    index = part.get("index")
    if index is not None and count(index) is None:
        malformed("a delta's tool call to have a number as its index", part)
    same = [each for each in calls if index is None or each["index"] == index]
    named = [each for each in same if part.get("id") and each.get("id") == part["id"]]
    before = (named or same)[-1:]
    if not before or (not named and _begins(before[0], part, numbered=index is not None)):
        before = [{"index": len(calls) if index is None else index}]
        calls += before
    return before[0]


def _begins(found: dict[str, Any], part: dict[str, Any], *, numbered: bool) -> bool:
    """Whether a delta begins another call than the one that came before it in its place."""
    name, before = _name(part), _name(found)
    if not name or not before:
        return False
    if part.get("id") and found.get("id"):  # not the same
        return True
    function = found.get("function") or {}
    try:
        complete = bool(function.get("arguments")) and parse_json(function["arguments"]) is not None
    except ValueError:
        complete = False
    return (complete or not numbered) and (
        name != before or bool((part.get("function") or {}).get("arguments"))
    )


def _name(call: dict[str, Any]) -> str:
    found = [mapping(call.get(each) or {}, f"a delta's {each}") for each in ("function", "custom")]
    return next(filter(None, (word(each.get("name")) for each in found)), "")


def _add_call(whole: dict[str, Any], key: str, text: str, value: object) -> None:
    """Add what a delta has of a call, if it has anything: its name, and more of its arguments or its input."""
    part = mapping(value or {}, f"a delta's {key}")
    if not any(part.values()):
        return
    call = whole.setdefault(key, {"name": "", text: ""})
    name = optional(part.get("name"), "a delta's name")
    # In pieces, or the whole of it once more.
    call["name"] = name if name.startswith(call["name"]) else call["name"] + name
    more = part.get(text) or ""
    call[text] += json.dumps(more) if isinstance(more, dict) else string(more, f"a delta's {text}")


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
