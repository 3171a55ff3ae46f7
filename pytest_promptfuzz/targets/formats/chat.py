"""OpenAI chat completions: the request body, the answer, the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
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
from pytest_promptfuzz.targets.formats.writing import plain_messages, plain_parameters
from pytest_promptfuzz.targets.model import Response, Usage

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.model import Request, ToolCall

PATH = "/chat/completions"


def build_body(request: Request, model: str) -> dict[str, Any]:
    """The JSON body, as the SDK sends it: messages as they are, parameters beside them.

    Raises:
        UsageError: For a value that JSON cannot hold, or ``n`` other than 1.
    """
    parameters = plain_parameters(request.parameters)
    if parameters.get("n", 1) not in (1, None):
        msg = f"n={parameters['n']!r} asks for several answers, and only one is read. Use samples= instead."
        raise UsageError(msg)
    return {"model": model, "messages": plain_messages(request.messages), **parameters}


def parse(body: dict[str, Any]) -> Response:
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
    message = mapping(choice.get("message"), "a choice's message")
    calls = _tool_calls(message)
    finish = word(choice.get("finish_reason"))
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


def _text(message: dict[str, Any]) -> str | None:
    content = message.get("content")
    if isinstance(content, list):
        # Some compatible servers answer in content parts; those that are not text (thinking) are left out.
        parts = [mapping(part, "a part of the content") for part in content]
        texts = [
            string(part.get(kind), f"a {kind} part's {kind}")
            for part in parts
            for kind in ("text", "refusal")
            if part.get("type") == kind
        ]
        content = "".join(texts) if texts else None
    refusal = message.get("refusal")
    if content is None or (content == "" and refusal):
        content = refusal
    return None if content is None else string(content, "the message's content")


def _tool_calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    found = []
    for entry in sequence(message.get("tool_calls") or [], "'tool_calls'"):
        call = mapping(entry, "a tool call")
        if _is_custom(call):
            # A custom tool takes free text; it is kept as the one argument "input".
            custom = mapping(call["custom"], "a custom tool call")
            arguments = {"input": string(custom.get("input"), "a custom tool call's input")}
            found.append(tool_call(custom.get("name"), arguments, call.get("id")))
        else:
            function = mapping(call.get("function"), "a tool call's function")
            found.append(tool_call(function.get("name"), function.get("arguments"), call.get("id")))
    legacy = message.get("function_call")
    if legacy and not any(each.name for each in found):
        function = mapping(legacy, "'function_call'")
        if function.get("name") or (function.get("arguments") and not found):
            found = [tool_call(function.get("name"), function.get("arguments"), "")]
    return tuple(found)


def _is_custom(call: dict[str, Any]) -> bool:
    """Whether a tool call is one of a custom tool; what some servers put beside a function, all empty, is none."""
    custom, function = call.get("custom"), call.get("function")
    if not custom or not function:
        return bool(custom)
    named = [bool(each.get("name")) for each in (custom, function) if isinstance(each, dict)]
    return named == [True, False] or (named == [True, True] and call.get("type") == "custom")


def announces(chunk: dict[str, Any]) -> bool:
    """Whether a chunk of a stream holds nothing of the answer yet: no more than its role."""
    for entry in sequence(chunk.get("choices") or [], "a chunk's 'choices'"):
        choice = mapping(entry, "a chunk's choice")
        delta = mapping(choice.get("delta") or {}, "a chunk's delta")
        if choice.get("finish_reason") or any(value for key, value in delta.items() if key != "role"):
            return False
    return True


def fold(raw: bytes) -> dict[str, Any] | None:
    """The body that the same answer would have had unstreamed; ``None`` unless it ended with ``[DONE]``.

    Raises:
        TargetError: For an event that is not a chunk, or that reports an error.
    """
    body: dict[str, Any] = {"choices": []}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    for data in events(raw):
        if data.strip() == "[DONE]":
            if calls:
                message["tool_calls"] = [calls[index] for index in sorted(calls)]
            return body
        chunk = event_body(data)
        body["model"] = chunk.get("model") or body.get("model")
        body["usage"] = chunk.get("usage") or body.get("usage")
        for entry in sequence(chunk.get("choices") or [], "a chunk's 'choices'"):
            choice = mapping(entry, "a chunk's choice")
            if choice.get("index", 0) != 0:
                continue
            if not body["choices"]:
                body["choices"].append({"message": message, "finish_reason": None})
            if choice.get("finish_reason"):
                body["choices"][0]["finish_reason"] = choice["finish_reason"]
            _add_delta(message, calls, mapping(choice.get("delta") or {}, "a chunk's delta"))
    return None


def _add_delta(message: dict[str, Any], calls: dict[int, dict[str, Any]], delta: dict[str, Any]) -> None:
    for key in ("content", "refusal"):
        if delta.get(key) is not None:
            message[key] = (message.get(key) or "") + string(delta[key], f"a delta's {key}")
    for entry in sequence(delta.get("tool_calls") or [], "a delta's 'tool_calls'"):
        part = mapping(entry, "a delta's tool call")
        index = count(len(calls) if part.get("index") is None else part["index"])
        if index is None:
            malformed("a delta's tool call to have a number as its index", part)
        call = calls.setdefault(index, {"id": "", "function": {"name": "", "arguments": ""}})
        for key in ("id", "type"):
            call[key] = part.get(key) or call.get(key, "")
        _add_call(call, "function", "arguments", part.get("function"))
        _add_call(call, "custom", "input", part.get("custom"))
    _add_call(message, "function_call", "arguments", delta.get("function_call"))


def _add_call(whole: dict[str, Any], key: str, text: str, value: object) -> None:
    """Add what a delta has of a call, if it has anything: the name once, and more of its arguments or its input."""
    part = mapping(value or {}, f"a delta's {key}")
    if not any(part.values()):
        return
    call = whole.setdefault(key, {"name": "", text: ""})
    call["name"] = part.get("name") or call["name"]
    call[text] += string(part.get(text) or "", f"a delta's {text}")
